/* SPDX-License-Identifier: MIT */
/* profile/punycode_priv - RFC 3492, the form in which DNS carries labels that are not ASCII. */
#ifndef PROFILE_PUNYCODE_PRIV_H
#define PROFILE_PUNYCODE_PRIV_H

#include <stddef.h>

/*
 * Encodes a label of valid UTF-8 (without the "xn--") into ret, which gets a NUL behind it.
 * -ERR_INVALID if it does not fit size.
 */
int punycode_encode(const char *text, size_t len, char *ret, size_t size);

#endif
