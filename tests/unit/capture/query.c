/* SPDX-License-Identifier: MIT */
#include "capture/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "lib/test.h"

static void scan_in_two(const char *in, size_t len, size_t cut, struct buf *ret)
{
    AUTO(capture_query_free) struct capture_query *query = capture_query_new();
    CHECK_INT(capture_query_scan(query, in, cut, ret), 0);
    char *copy = xmemdup(in + cut, len - cut);
    CHECK_INT(capture_query_scan(query, copy, len - cut, ret), 0);
    free(copy);
    CHECK_INT(capture_query_flush(query, ret), 0);
}

/* The same result wherever the input is cut. */
static void check_scan(const char *in, const char *want)
{
    size_t len = strlen(in);
    for (size_t cut = 0; cut <= len; cut++) {
        auto_buf struct buf out = BUF_INIT(1 << 16);
        scan_in_two(in, len, cut, &out);
        CHECK_STR(buf_cstr(&out), want);
    }
}

/* acceptance F12 */
TEST(queries_are_removed)
{
    static const char *const queries[] = {
        "\033[6n",
        "\033[5n",
        "\033[?6n",
        "\033[?15n",
        "\033[c",
        "\033[0c",
        "\033[>c",
        "\033[>0c",
        "\033[=c",
        "\033Z",
        "\005",
        "\033]11;?\007",
        "\033]10;?\033\\",
        "\033]4;1;?\007",
        "\033]52;c;?\007",
        "\033]21;foreground=?\033\\",
        "\033P$qm\033\\",
        "\033P+q544e\033\\",
        "\033[?2026$p",
        "\033[4$p",
        "\033[>q",
        "\033[>0q",
        "\033[14t",
        "\033[18t",
        "\033[21t",
        "\033[?u",
        "\033[x",
        "\033[1x",
        "\033[?4m",
        "\033[?1;1;0S",
        "\033_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\033\\",
        "\033[1$w",
        "\033[1;1;1;1;1;1*y",
        "\033]99;i=1:p=?;\033\\",
        "\x9B\x36n",
        "\x9D\x31\x31;?\x9C",
        "\x90$qm\x9C",
        "\033]1337;ReportCellSize\007",
    };
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
        char in[100];
        (void)snprintf(in, sizeof(in), "a%sb", queries[i]);
        check_scan(in, "ab");
        (void)snprintf(in, sizeof(in), "\033[1mx%s%s\033[m\n", queries[i], queries[i]);
        check_scan(in, "\033[1mx\033[m\n");
    }
}

TEST(everything_else_stays)
{
    static const char *const others[] = {
        "text \u00e9\u20ac\U0001f600\n",
        "\033[1;31mred\033[0m",
        "\033[38:2::1:2:3m\033[?25l\033[?1049h\033[2J\033[H\033[K",
        "\033]0;what? title\007\033]2;a;?;b\033\\",
        "\033]8;;https://example.com/?q\033\\link\033]8;;\033\\",
        "\033]11;#102030\007\033]52;c;aGk=\007",
        "\033P0;1|17/ab\033\\\033Pq#0~~\n\033\\",
        "\033_Ga=T,f=24;AAAA\033\\",
        "\033[>4;1m\033[1 q\033[8;24;80t\033[22;0t\033[>1u\033[?1;2;3S",
        "\033(B\033)0\0337\0338\033=\033>\033c\033D\033M",
        "\u00db\u00dd",
        "caf\xE9 \xFF\xFE \x80",
        "\033[1\030x\033\033[1mx",
        "a\rb\bc\td\007",
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        check_scan(others[i], others[i]);
    AUTO(capture_query_free) struct capture_query *query = capture_query_new();
    auto_buf struct buf out = BUF_INIT(100);
    CHECK_INT(capture_query_scan(query, "a\0b", 3, &out), 0);
    CHECK_MEM(out.data, out.len, "a\0b", 3);
}

TEST(queries_among_other_things)
{
    check_scan("\033[3\n1m", "\n\033[31m"); /* the control is carried out first */
    check_scan("\033[6\nn", "\n");
    check_scan("\033]0;t\033[6nx", "\033]0;tx"); /* a string ended by another sequence */
    check_scan("\033]11;?\033[1mx", "\033[1mx");
    check_scan("\033[6\033[6nx", "\033[6x");
    check_scan("\033[6", "\033[6"); /* truncated */
    check_scan("\033]11;?", "\033]11;?");
    check_scan("\033", "\033");
    check_scan("\xE2\x82\x9B"
               "6n",
               "\xE2\x82\x9B"
               "6n"); /* part of a character */
}

TEST(waiting_bytes_can_be_flushed)
{
    AUTO(capture_query_free) struct capture_query *query = capture_query_new();
    auto_buf struct buf out = BUF_INIT(100);
    CHECK_INT(capture_query_scan(query, "prompt\033", 7, &out), 0);
    CHECK_STR(buf_cstr(&out), "prompt");
    CHECK_INT(capture_query_flush(query, &out), 0);
    CHECK_STR(buf_cstr(&out), "prompt\033");
    CHECK_INT(capture_query_scan(query, "[1mx\033[6ny", 9, &out), 0);
    CHECK_STR(buf_cstr(&out), "prompt\033[1mxy");
}

TEST(long_strings_go_through)
{
    enum { LEN = 3 * CAPTURE_QUERY_HELD_MAX };
    for (size_t len = CAPTURE_QUERY_HELD_MAX - 10; len < LEN; len += 7) {
        auto_buf struct buf in = BUF_INIT(1 << 20);
        auto_buf struct buf want = BUF_INIT(1 << 20);
        auto_buf struct buf out = BUF_INIT(1 << 20);
        (void)buf_append_str(&in, "\033]52;c;");
        while (in.len < len)
            (void)buf_append_byte(&in, 'A');
        (void)buf_append(&want, in.data, in.len);
        (void)buf_append_str(&in, "\033[6n\033]52;\033\\x");
        (void)buf_append_str(&want, "\033]52;\033\\x");
        scan_in_two(in.data, in.len, len + 1, &out); /* between ESC and what follows it */
        CHECK_MEM(out.data, out.len, want.data, want.len);
        buf_clear(&out);
        scan_in_two(in.data, in.len, len / 2, &out);
        CHECK_MEM(out.data, out.len, want.data, want.len);
    }
}

TEST(output_that_does_not_fit_is_an_error)
{
    AUTO(capture_query_free) struct capture_query *query = capture_query_new();
    auto_buf struct buf small = BUF_INIT(3);
    CHECK_INT(capture_query_scan(query, "1234", 4, &small), -ERR_LIMIT);
}
