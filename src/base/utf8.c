/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

#include <string.h>

static unsigned byte_at(const char *text, size_t at)
{
    return (unsigned char)text[at];
}

/* Bytes of the character that a byte begins; 0 if it begins none. */
static size_t length_by_lead(unsigned lead)
{
    if (lead < 0x80)
        return 1;
    if (lead < 0xC2) /* continuation, or an overlong form */
        return 0;
    if (lead < 0xE0)
        return 2;
    if (lead < 0xF0)
        return 3;
    return lead < 0xF5 ? 4 : 0;
}

/* Whether the second byte may follow this lead (Unicode, table 3-7). */
static bool is_second(unsigned lead, unsigned byte)
{
    unsigned low = 0x80, high = 0xBF;
    if (lead == 0xE0)
        low = 0xA0;
    else if (lead == 0xED)
        high = 0x9F;
    else if (lead == 0xF0)
        low = 0x90;
    else if (lead == 0xF4)
        high = 0x8F;
    return byte >= low && byte <= high;
}

/*
 * How many of the bytes at text belong to one character: *ret_need is how many it has,
 * 0 if there is none.
 */
static size_t look_at(const char *text, size_t len, size_t *ret_need)
{
    unsigned lead = byte_at(text, 0);
    size_t need = length_by_lead(lead);
    size_t got = need > 0;
    while (got < need && got < len) {
        unsigned byte = byte_at(text, got);
        if (got == 1 ? !is_second(lead, byte) : (byte & 0xC0) != 0x80) {
            need = 0;
            break;
        }
        got++;
    }
    *ret_need = need;
    return got;
}

/* Length of the character at text (len > 0), or 0. */
static size_t char_len(const char *text, size_t len)
{
    size_t need;
    size_t got = look_at(text, len, &need);
    return got == need ? need : 0;
}

/* Bytes at text that are ASCII for sure, by whole words. */
static size_t skip_ascii(const char *text, size_t len)
{
    size_t at = 0;
    while (len - at >= 16) {
        uint64_t word[2];
        memcpy(word, text + at, sizeof(word));
        if ((word[0] | word[1]) & 0x8080808080808080)
            break;
        at += 16;
    }
    return at;
}

size_t utf8_valid_prefix(const char *text, size_t len)
{
    size_t at = 0;
    while (at < len) {
        if (byte_at(text, at) < 0x80) {
            size_t n = skip_ascii(text + at, len - at);
            at += n ? n : 1;
            continue;
        }
        size_t n = char_len(text + at, len - at);
        if (n == 0)
            break;
        at += n;
    }
    return at;
}

bool utf8_is_valid(const char *text, size_t len)
{
    return utf8_valid_prefix(text, len) == len;
}

size_t utf8_incomplete_tail(const char *text, size_t len)
{
    for (size_t back = 1; back < UTF8_CHAR_MAX && back <= len; back++) {
        if ((byte_at(text, len - back) & 0xC0) == 0x80)
            continue;
        size_t need;
        size_t got = look_at(text + len - back, back, &need);
        return got == back && need > back ? back : 0;
    }
    return 0;
}

/* Start of the character that has the offset inside it; `at` if none has. */
static size_t start_around(const char *text, size_t len, size_t at)
{
    for (size_t back = 1; back < UTF8_CHAR_MAX && back <= at; back++)
        if (char_len(text + at - back, len - at + back) > back)
            return at - back;
    return at;
}

size_t utf8_floor(const char *text, size_t len, size_t at)
{
    return at >= len ? len : start_around(text, len, at);
}

size_t utf8_ceil(const char *text, size_t len, size_t at)
{
    if (at >= len)
        return len;
    size_t start = start_around(text, len, at);
    return start == at ? at : start + char_len(text + start, len - start);
}

size_t utf8_decode(const char *text, size_t len, uint32_t *ret_char)
{
    static const unsigned char lead_bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    size_t n = len ? char_len(text, len) : 0;
    if (n == 0)
        return 0;
    uint32_t c = byte_at(text, 0) & lead_bits[n];
    for (size_t i = 1; i < n; i++)
        c = c << 6 | (byte_at(text, i) & 0x3F);
    *ret_char = c;
    return n;
}

size_t utf8_encode(uint32_t c, char ret[UTF8_CHAR_MAX])
{
    static const unsigned char lead_mark[] = {0, 0, 0xC0, 0xE0, 0xF0};
    if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        return 0;
    size_t n = 1;
    if (c >= 0x80)
        n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; c >>= 6)
        ret[i] = (char)(0x80 | (c & 0x3F));
    ret[0] = (char)(lead_mark[n] | c);
    return n;
}

size_t utf8_count(const char *text, size_t len)
{
    size_t n = 0;
    for (size_t at = 0; at < len; n++) {
        size_t bytes = char_len(text + at, len - at);
        at += bytes ? bytes : 1;
    }
    return n;
}
