/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

#include <string.h>

#include "lib/test.h"

#define SNAIL   "\xF0\x9F\x90\x9A"
#define EURO    "\xE2\x82\xAC"
#define E_ACUTE "\xC3\xA9"

/* Copies a word without its NUL. */
static void put(char *at, const char *word)
{
    while (*word)
        *at++ = *word++;
}

TEST(every_scalar_value_round_trips)
{
    for (uint32_t c = 0; c <= 0x110000; c++) {
        char text[UTF8_CHAR_MAX];
        uint32_t back = 0xFFFFFFFF;
        size_t n = utf8_encode(c, text);
        if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) {
            CHECK_INT(n, 0);
            continue;
        }
        CHECK_INT(n, c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4);
        CHECK_INT(utf8_decode(text, n, &back), n);
        CHECK_INT(back, c);
        CHECK(utf8_is_valid(text, n));
        CHECK(n == 1 || !utf8_is_valid(text, n - 1));
        CHECK_INT(utf8_incomplete_tail(text, n), 0);
        for (size_t part = 1; part < n; part++) {
            CHECK_INT(utf8_decode(text, part, &back), 0);
            CHECK_INT(utf8_incomplete_tail(text, part), part);
            CHECK_INT(utf8_valid_prefix(text, part), 0);
        }
    }
}

/* Table 3-7 of the Unicode standard, written out for two and three bytes. */
static int is_well_formed(const unsigned char *b, size_t n)
{
    if (n == 2)
        return b[0] >= 0xC2 && b[0] <= 0xDF && b[1] >= 0x80 && b[1] <= 0xBF;
    int second = b[0] == 0xE0   ? b[1] >= 0xA0 && b[1] <= 0xBF
                 : b[0] == 0xED ? b[1] >= 0x80 && b[1] <= 0x9F
                                : b[1] >= 0x80 && b[1] <= 0xBF;
    return b[0] >= 0xE0 && b[0] <= 0xEF && second && b[2] >= 0x80 && b[2] <= 0xBF;
}

TEST(all_pairs_and_triples_of_high_bytes)
{
    unsigned char b[3];
    for (unsigned x = 0x80; x < 0x100; x++) {
        for (unsigned y = 0; y < 0x100; y++) {
            b[0] = (unsigned char)x;
            b[1] = (unsigned char)y;
            CHECK_INT(utf8_is_valid((char *)b, 2), is_well_formed(b, 2));
            for (unsigned z = 0x70; z < 0xD0 && y >= 0x80; z++) {
                b[2] = (unsigned char)z;
                int both = is_well_formed(b, 3) || (is_well_formed(b, 2) && z < 0x80);
                CHECK_INT(utf8_is_valid((char *)b, 3), both);
            }
        }
    }
}

TEST(four_byte_limits)
{
    CHECK(utf8_is_valid("\xF0\x90\x80\x80", 4) && utf8_is_valid("\xF4\x8F\xBF\xBF", 4));
    CHECK(!utf8_is_valid("\xF0\x8F\xBF\xBF", 4) && !utf8_is_valid("\xF4\x90\x80\x80", 4));
    CHECK(!utf8_is_valid("\xF5\x80\x80\x80", 4) && !utf8_is_valid("\xF1\x80\x80\xC0", 4));
    CHECK(!utf8_is_valid("\xF8\x88\x80\x80\x80", 5) && !utf8_is_valid("\xFE", 1));
}

TEST(valid_prefix_at_every_distance)
{
    char text[200];
    for (size_t at = 0; at < 100; at++) {
        memset(text, 'a', sizeof(text));
        CHECK_INT(utf8_valid_prefix(text, sizeof(text)), sizeof(text));
        text[at] = '\xFF';
        CHECK_INT(utf8_valid_prefix(text, sizeof(text)), at);
        CHECK_INT(utf8_valid_prefix(text, at), at);
        put(text + at, SNAIL);
        CHECK_INT(utf8_valid_prefix(text, sizeof(text)), sizeof(text));
        CHECK_INT(utf8_valid_prefix(text, at + 3), at);
        CHECK_INT(utf8_incomplete_tail(text, at + 3), 3);
    }
    CHECK_INT(utf8_valid_prefix(NULL, 0), 0);
    CHECK(utf8_is_valid("a\0b", 3));
}

TEST(incomplete_tail)
{
    CHECK_INT(utf8_incomplete_tail("", 0), 0);
    CHECK_INT(utf8_incomplete_tail("abc", 3), 0);
    CHECK_INT(utf8_incomplete_tail("ab\xC3", 3), 1);
    CHECK_INT(utf8_incomplete_tail("a\xE2\x82", 3), 2);
    CHECK_INT(utf8_incomplete_tail("\xF0\x9F\x90", 3), 3);
    CHECK_INT(utf8_incomplete_tail("\xE0\x80", 2), 0); /* can become nothing */
    CHECK_INT(utf8_incomplete_tail("\xED\xA0", 2), 0);
    CHECK_INT(utf8_incomplete_tail("\xF4\x90", 2), 0);
    CHECK_INT(utf8_incomplete_tail("\xC0", 1), 0);
    CHECK_INT(utf8_incomplete_tail("\xFF", 1), 0);
    CHECK_INT(utf8_incomplete_tail("\x80\x80\x80", 3), 0);
    CHECK_INT(utf8_incomplete_tail("\x80\x80", 2), 0);
    CHECK_INT(utf8_incomplete_tail("\xC3\x28", 2), 0);
}

TEST(floor_and_ceil)
{
    const char *text = "a" E_ACUTE EURO SNAIL "z";
    static const size_t floors[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11};
    static const size_t ceils[] = {0, 1, 3, 3, 6, 6, 6, 10, 10, 10, 10, 11};
    for (size_t at = 0; at <= 11; at++) {
        CHECK_INT(utf8_floor(text, 11, at), floors[at]);
        CHECK_INT(utf8_ceil(text, 11, at), ceils[at]);
    }
    CHECK_INT(utf8_floor(text, 11, 99), 11);
    CHECK_INT(utf8_ceil(text, 11, 99), 11);
}

TEST(floor_and_ceil_leave_invalid_bytes_alone)
{
    const char *text = "\x80\x80\xC3(\xF0\x9F\x90";
    for (size_t at = 0; at <= 7; at++) {
        CHECK_INT(utf8_floor(text, 7, at), at);
        CHECK_INT(utf8_ceil(text, 7, at), at);
    }
}

TEST(count)
{
    CHECK_INT(utf8_count("a" E_ACUTE EURO SNAIL "z", 11), 5);
    CHECK_INT(utf8_count("\xFF\xFF" E_ACUTE, 4), 3);
    CHECK_INT(utf8_count("", 0), 0);
}
