/* SPDX-License-Identifier: MIT */
/*
 * base/base64 - RFC 4648, strictly.
 *
 * base64_* use the standard alphabet with padding, base64url_* the URL alphabet
 * without. Decoding takes the canonical form only: no blanks, no missing or extra
 * padding, no stray bits in the last character.
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stddef.h>

struct buf;

/* Append to ret; -ERR_LIMIT if it cannot hold the text. */
int base64_encode(const void *data, size_t len, struct buf *ret);
int base64url_encode(const void *data, size_t len, struct buf *ret);

/* Append to ret; -ERR_INVALID if text is not canonical (ret is as before). */
int base64_decode(const char *text, size_t len, struct buf *ret);
int base64url_decode(const char *text, size_t len, struct buf *ret);

/* Length of the padded form of len bytes; SIZE_MAX if it has none. */
size_t base64_encoded_len(size_t len);

#endif
