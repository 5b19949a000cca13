/* SPDX-License-Identifier: MIT */
#include "capture/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "lib/test.h"

static const char text[] = "a\u00e9\u20ac\U0001f600z\n\U0001f601\u20ac\u00e9";

/* Adds the parts to what was given; each must be what it says it is. */
static void add_parts(struct buf *given, const struct capture_text *parts, int n, bool all_text)
{
    for (int i = 0; i < n; i++) {
        CHECK(parts[i].len > 0);
        CHECK_INT(parts[i].utf8, utf8_is_valid(parts[i].bytes, parts[i].len));
        if (all_text)
            CHECK(parts[i].utf8);
        CHECK_INT(buf_append(given, parts[i].bytes, parts[i].len), 0);
    }
}

TEST(no_event_splits_a_character)
{
    size_t len = sizeof(text) - 1;
    for (size_t a = 0; a <= len; a++)
        for (size_t b = a; b <= len; b++) {
            struct capture_utf8 u = {.len = 0};
            struct capture_text parts[CAPTURE_TEXT_PARTS];
            auto_buf struct buf given = BUF_INIT(100);
            const size_t cuts[] = {0, a, b, len};
            for (int i = 0; i < 3; i++) {
                int n = capture_utf8_feed(&u, text + cuts[i], cuts[i + 1] - cuts[i], parts);
                add_parts(&given, parts, n, true);
                CHECK_INT(given.len, utf8_valid_prefix(text, cuts[i + 1])); /* all that can be */
            }
            CHECK_INT(capture_utf8_flush(&u, parts), 0);
            CHECK_MEM(given.data, given.len, text, len);
        }
}

TEST(byte_by_byte)
{
    struct capture_utf8 u = {.len = 0};
    struct capture_text parts[CAPTURE_TEXT_PARTS];
    auto_buf struct buf given = BUF_INIT(100);
    for (size_t i = 0; i + 1 < sizeof(text); i++)
        add_parts(&given, parts, capture_utf8_feed(&u, text + i, 1, parts), true);
    CHECK_MEM(given.data, given.len, text, sizeof(text) - 1);
}

TEST(prompt_is_given_at_once)
{
    struct capture_utf8 u = {.len = 0};
    struct capture_text parts[CAPTURE_TEXT_PARTS];
    CHECK_INT(capture_utf8_feed(&u, "name? ", 6, parts), 1);
    CHECK_MEM(parts[0].bytes, parts[0].len, "name? ", 6);
    CHECK(parts[0].utf8);
    CHECK_INT(capture_utf8_feed(&u, "", 0, parts), 0);
    CHECK_INT(capture_utf8_flush(&u, parts), 0);
}

TEST(held_and_rest_come_apart)
{
    struct capture_utf8 u = {.len = 0};
    struct capture_text parts[CAPTURE_TEXT_PARTS];
    CHECK_INT(capture_utf8_feed(&u, "x\xE2\x82", 3, parts), 1);
    CHECK_INT(parts[0].len, 1);
    CHECK_INT(capture_utf8_feed(&u, "\xAC!\xF0\x9F", 4, parts), 2);
    CHECK_MEM(parts[0].bytes, parts[0].len, "\u20ac", 3);
    CHECK_MEM(parts[1].bytes, parts[1].len, "!", 1);
    CHECK_INT(capture_utf8_flush(&u, parts), 1);
    CHECK_MEM(parts[0].bytes, parts[0].len, "\xF0\x9F", 2);
    CHECK(!parts[0].utf8);
    CHECK_INT(capture_utf8_flush(&u, parts), 0);
}

TEST(invalid_bytes_do_not_wait)
{
    struct capture_utf8 u = {.len = 0};
    struct capture_text parts[CAPTURE_TEXT_PARTS];
    CHECK_INT(capture_utf8_feed(&u, "a\n\0\nb\n\377\376", 8, parts), 1);
    CHECK_MEM(parts[0].bytes, parts[0].len, "a\n\0\nb\n\377\376", 8);
    CHECK(!parts[0].utf8);
    /* A beginning that is not continued is given before what comes instead. */
    CHECK_INT(capture_utf8_feed(&u, "\xE2\x82", 2, parts), 0);
    CHECK_INT(capture_utf8_feed(&u, "ok", 2, parts), 2);
    CHECK_MEM(parts[0].bytes, parts[0].len, "\xE2\x82", 2);
    CHECK(!parts[0].utf8);
    CHECK_MEM(parts[1].bytes, parts[1].len, "ok", 2);
    CHECK(parts[1].utf8);
}

TEST(any_bytes_come_through)
{
    srand(3);
    for (int round = 0; round < 3000; round++) {
        static const unsigned char some[] = {'a', 0x80, 0x82, 0xAC, 0xC3, 0xE2, 0xF0, 0x9F, 0xFF};
        char bytes[40];
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (char)some[(size_t)rand() % sizeof(some)];
        struct capture_utf8 u = {.len = 0};
        struct capture_text parts[CAPTURE_TEXT_PARTS];
        auto_buf struct buf given = BUF_INIT(100);
        for (size_t at = 0; at < sizeof(bytes);) {
            size_t n = 1 + (size_t)rand() % 5;
            if (n > sizeof(bytes) - at)
                n = sizeof(bytes) - at;
            add_parts(&given, parts, capture_utf8_feed(&u, bytes + at, n, parts), false);
            at += n;
            CHECK(given.len + 3 >= at); /* no more than three bytes wait */
        }
        add_parts(&given, parts, capture_utf8_flush(&u, parts), false);
        CHECK_MEM(given.data, given.len, bytes, sizeof(bytes));
    }
}
