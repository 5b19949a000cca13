/* SPDX-License-Identifier: MIT */
#include "base/ring.h"

#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "lib/test.h"

static void check_content(const struct ring *ring, const char *want)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    CHECK_INT(ring_append_to(ring, &b), 0);
    CHECK_STR(buf_cstr(&b), want);
    CHECK_INT(ring->len, strlen(want));
}

TEST(keeps_the_last_bytes)
{
    AUTO(ring_done) struct ring ring;
    ring_init(&ring, 5);
    check_content(&ring, "");
    ring_write(&ring, "abc", 3);
    check_content(&ring, "abc");
    ring_write(&ring, "de", 2);
    check_content(&ring, "abcde");
    ring_write(&ring, "fg", 2);
    check_content(&ring, "cdefg");
    ring_write(&ring, "", 0);
    check_content(&ring, "cdefg");
    ring_write(&ring, "0123456789", 10);
    check_content(&ring, "56789");
    CHECK_INT(ring.total, 17);
    CHECK_INT(ring_dropped(&ring), 12);
}

TEST(one_byte)
{
    AUTO(ring_done) struct ring ring;
    ring_init(&ring, 1);
    ring_write(&ring, "abc", 3);
    check_content(&ring, "c");
    ring_write(&ring, "d", 1);
    check_content(&ring, "d");
}

TEST(peek_across_the_seam)
{
    AUTO(ring_done) struct ring ring;
    ring_init(&ring, 6);
    ring_write(&ring, "abcdef", 6);
    ring_write(&ring, "ghi", 3);
    char text[10] = "";
    CHECK_INT(ring_peek(&ring, 0, text, 10), 6);
    CHECK_MEM(text, 6, "defghi", 6);
    CHECK_INT(ring_peek(&ring, 2, text, 3), 3);
    CHECK_MEM(text, 3, "fgh", 3);
    CHECK_INT(ring_peek(&ring, 5, text, 10), 1);
    CHECK_INT(text[0], 'i');
    CHECK_INT(ring_peek(&ring, 6, text, 10), 0);
    CHECK_INT(ring_peek(&ring, 0, text, 0), 0);
    struct iovec parts[2];
    CHECK_INT(ring_parts(&ring, parts), 2);
    CHECK_MEM(parts[0].iov_base, parts[0].iov_len, "def", 3);
    CHECK_MEM(parts[1].iov_base, parts[1].iov_len, "ghi", 3);
}

TEST(consume_from_the_front)
{
    AUTO(ring_done) struct ring ring;
    ring_init(&ring, 4);
    ring_consume(&ring, 5);
    ring_write(&ring, "abcd", 4);
    ring_consume(&ring, 3);
    check_content(&ring, "d");
    ring_write(&ring, "efg", 3);
    check_content(&ring, "defg");
    CHECK_INT(ring_dropped(&ring), 3);
    ring_consume(&ring, 99);
    check_content(&ring, "");
    struct iovec parts[2];
    CHECK_INT(ring_parts(&ring, parts), 0);
    ring_write(&ring, "h", 1);
    check_content(&ring, "h");
}

TEST(grows_as_needed_and_keeps_order)
{
    AUTO(ring_done) struct ring ring;
    ring_init(&ring, 100000);
    ring_write(&ring, "x", 1);
    CHECK(ring.cap < 2000);
    char chunk[700];
    for (int i = 0; i < 1000; i++) {
        memset(chunk, 'a' + i % 26, sizeof(chunk));
        ring_write(&ring, chunk, sizeof(chunk));
        if (i == 0)
            ring_consume(&ring, 500); /* so that it grows while it is wound around */
    }
    CHECK_INT(ring.cap, 100000);
    CHECK_INT(ring.len, 100000);
    for (size_t at = 0; at < ring.len; at++) {
        char c;
        CHECK_INT(ring_peek(&ring, at, &c, 1), 1);
        uint64_t number = ring_dropped(&ring) + at - 1; /* the first byte was 'x' */
        CHECK_INT(c, 'a' + (int)(number / 700 % 26));
    }
}

TEST(append_to_a_full_buffer)
{
    AUTO(ring_done) struct ring ring;
    ring_init(&ring, 10);
    ring_write(&ring, "abc", 3);
    auto_buf struct buf b = BUF_INIT(2);
    CHECK_INT(ring_append_to(&ring, &b), -ERR_LIMIT);
    CHECK_INT(b.len, 0);
}

TEST(clear_and_done)
{
    struct ring ring;
    ring_init(&ring, 10);
    ring_write(&ring, "abc", 3);
    ring_clear(&ring);
    CHECK_INT(ring.total, 0);
    check_content(&ring, "");
    ring_write(&ring, "abc", 3);
    ring_done(&ring);
    check_content(&ring, "");
    ring_write(&ring, "abc", 3);
    check_content(&ring, "abc");
    ring_done(&ring);
    ring_done(NULL);
}
