/* SPDX-License-Identifier: MIT */
/*
 * base/utf8 - where characters begin and end.
 *
 * Valid means Unicode's well-formed UTF-8: shortest forms, no surrogates, at most
 * U+10FFFF. NUL is a character like others. Nothing here allocates.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UTF8_CHAR_MAX = 4, UTF8_REPLACEMENT = 0xFFFD };

bool utf8_is_valid(const char *text, size_t len);

/* Bytes of the longest prefix that is made of complete valid characters. */
size_t utf8_valid_prefix(const char *text, size_t len);

/* Bytes (0 to 3) at the end that begin a character and could still become one. */
size_t utf8_incomplete_tail(const char *text, size_t len);

/*
 * The nearest cut at or before (floor), at or after (ceil) the offset `at` that
 * splits no valid character. Bytes that are part of none are units of their own.
 */
size_t utf8_floor(const char *text, size_t len, size_t at);
size_t utf8_ceil(const char *text, size_t len, size_t at);

/* Decodes the character at text: its bytes (1 to 4), or 0 if there is no valid one. */
size_t utf8_decode(const char *text, size_t len, uint32_t *ret_char);

/* Encodes c into ret: bytes written, or 0 if c is no Unicode scalar value. */
size_t utf8_encode(uint32_t c, char ret[UTF8_CHAR_MAX]);

/* Number of characters; each byte that is part of none counts as one. */
size_t utf8_count(const char *text, size_t len);

#endif
