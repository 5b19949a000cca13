/* SPDX-License-Identifier: MIT */
#include "base/buf.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "lib/test.h"

TEST(append_in_all_ways)
{
    auto_buf struct buf b = BUF_INIT(100);
    CHECK_INT(buf_append(&b, "ab\0c", 4), 0);
    CHECK_INT(buf_append_str(&b, "def"), 0);
    CHECK_INT(buf_append_byte(&b, '!'), 0);
    CHECK_INT(buf_printf(&b, "%d%s", 12, "x"), 0);
    CHECK_INT(buf_append(&b, NULL, 0), 0);
    CHECK_MEM(b.data, b.len, "ab\0cdef!12x", 11);
    CHECK_MEM(buf_cstr(&b), 12, "ab\0cdef!12x\0", 12);
}

TEST(limit_is_exact_and_appends_are_whole)
{
    auto_buf struct buf b = BUF_INIT(5);
    CHECK_INT(buf_append_str(&b, "abc"), 0);
    CHECK_INT(buf_append_str(&b, "def"), -ERR_LIMIT);
    CHECK_INT(buf_printf(&b, "%s", "def"), -ERR_LIMIT);
    CHECK_STR(buf_cstr(&b), "abc");
    CHECK_INT(buf_printf(&b, "%s", "de"), 0);
    CHECK_STR(buf_cstr(&b), "abcde");
    CHECK_INT(buf_append_byte(&b, 'f'), -ERR_LIMIT);
    CHECK_INT(b.len, 5);
}

TEST(zeroed_holds_nothing)
{
    struct buf b = {0};
    CHECK_INT(buf_append_byte(&b, 'x'), -ERR_LIMIT);
    CHECK_STR(buf_cstr(&b), "");
    CHECK_INT(buf_append(&b, "", 0), 0);
    CHECK_INT(buf_printf(&b, "%s", ""), 0);
    CHECK_STR(buf_cstr(&b), "");
    buf_consume(&b, 0);
    buf_truncate(&b, 0);
    buf_done(&b);
    buf_done(NULL);
}

TEST(absurd_sizes_are_refused)
{
    auto_buf struct buf b = BUF_INIT(SIZE_MAX);
    char *at;
    CHECK_INT(buf_append_str(&b, "x"), 0);
    CHECK_INT(buf_reserve(&b, SIZE_MAX - 1, &at), -ENOMEM);
    CHECK_INT(buf_reserve(&b, SIZE_MAX, &at), -ERR_LIMIT);
    CHECK_STR(buf_cstr(&b), "x");
}

TEST(reserve_and_commit)
{
    auto_buf struct buf b = BUF_INIT(1000);
    char *at;
    CHECK_INT(buf_append_str(&b, "ab"), 0);
    CHECK_INT(buf_reserve(&b, 998, &at), 0);
    memset(at, 'z', 998);
    buf_commit(&b, 0);
    CHECK_STR(buf_cstr(&b), "ab");
    CHECK_INT(buf_reserve(&b, 998, &at), 0);
    memset(at, 'z', 998);
    buf_commit(&b, 998);
    CHECK_INT(b.len, 1000);
    CHECK_INT(strlen(buf_cstr(&b)), 1000);
    CHECK_INT(buf_reserve(&b, 1, &at), -ERR_LIMIT);
    CHECK_INT(buf_reserve(&b, 0, &at), 0);
}

TEST(consume_and_truncate)
{
    auto_buf struct buf b = BUF_INIT(100);
    (void)buf_append_str(&b, "0123456789");
    buf_consume(&b, 3);
    CHECK_STR(buf_cstr(&b), "3456789");
    buf_truncate(&b, 4);
    CHECK_STR(buf_cstr(&b), "3456");
    buf_consume(&b, 4);
    CHECK_STR(buf_cstr(&b), "");
    (void)buf_append_str(&b, "again");
    buf_clear(&b);
    CHECK_INT(b.len, 0);
    CHECK(b.cap > 0);
}

TEST(take_moves_the_content)
{
    struct buf b = BUF_INIT(10);
    char *nothing = buf_take(&b);
    CHECK_STR(nothing, "");
    free(nothing);
    (void)buf_append_str(&b, "0123456789");
    char *text = buf_take(&b);
    CHECK_STR(text, "0123456789");
    free(text);
    CHECK(b.data == NULL && b.len == 0 && b.max == 10);
    CHECK_INT(buf_append_str(&b, "0123456789"), 0);
    buf_done(&b);
}

TEST(grows_byte_by_byte)
{
    auto_buf struct buf b = BUF_INIT(100000);
    for (int i = 0; i < 100000; i++)
        CHECK_INT(buf_append_byte(&b, (char)i), 0);
    for (int i = 0; i < 100000; i++)
        CHECK_INT(b.data[i], (char)i);
    CHECK_INT(b.cap, 100001);
}

TEST(printf_at_every_fill)
{
    for (size_t fill = 0; fill < 140; fill++) {
        auto_buf struct buf b = BUF_INIT(200);
        for (size_t i = 0; i < fill; i++)
            (void)buf_append_byte(&b, 'x');
        CHECK_INT(buf_printf(&b, "<%s>", "0123456789"), 0);
        CHECK_INT(b.len, fill + 12);
        CHECK_STR(buf_cstr(&b) + fill, "<0123456789>");
    }
}
