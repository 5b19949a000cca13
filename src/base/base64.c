/* SPDX-License-Identifier: MIT */
#include "base/base64.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"

enum { PAD = '=', NO_VALUE = 0xFF };

struct alphabet {
    char digits[65];
    bool padded;
};

static const struct alphabet standard = {
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", true};
static const struct alphabet url = {
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", false};

static void fill_values(const struct alphabet *alphabet, unsigned char values[256])
{
    memset(values, NO_VALUE, 256);
    for (unsigned i = 0; i < 64; i++)
        values[(unsigned char)alphabet->digits[i]] = (unsigned char)i;
}

/* The last one or two bytes: as many digits as they need, then padding. */
static size_t encode_rest(const struct alphabet *alphabet, const unsigned char *in, size_t len,
                          char *out)
{
    unsigned bits = (unsigned)in[0] << 16 | (len > 1 ? (unsigned)in[1] << 8 : 0);
    size_t n = len + 1;
    for (size_t i = 0; i < n; i++)
        out[i] = alphabet->digits[bits >> (18 - 6 * i) & 63];
    while (alphabet->padded && n < 4)
        out[n++] = PAD;
    return n;
}

static int encode(const struct alphabet *alphabet, const void *data, size_t len, struct buf *ret)
{
    char *out;
    size_t room = base64_encoded_len(len);
    if (!alphabet->padded && len % 3)
        room -= 3 - len % 3;
    int rc = room == SIZE_MAX ? -ERR_LIMIT : buf_reserve(ret, room, &out);
    if (rc < 0)
        return rc;

    const unsigned char *in = data;
    char *at = out;
    for (; len >= 3; len -= 3, in += 3, at += 4) {
        unsigned bits = (unsigned)in[0] << 16 | (unsigned)in[1] << 8 | in[2];
        at[0] = alphabet->digits[bits >> 18];
        at[1] = alphabet->digits[bits >> 12 & 63];
        at[2] = alphabet->digits[bits >> 6 & 63];
        at[3] = alphabet->digits[bits & 63];
    }
    if (len)
        at += encode_rest(alphabet, in, len, at);
    buf_commit(ret, (size_t)(at - out));
    return 0;
}

/* n digits (2 to 4) to n - 1 bytes; false if one is none or bits are left over. */
static bool decode_group(const unsigned char values[256], const char *in, size_t n, char *out)
{
    unsigned bits = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned value = values[(unsigned char)in[i]];
        if (value == NO_VALUE)
            return false;
        bits |= value << (18 - 6 * i);
    }
    for (size_t i = 0; i + 1 < n; i++)
        out[i] = (char)(bits >> (16 - 8 * i) & 0xFF);
    return n == 4 || (bits & (0xFFFFFFU >> 8 * (n - 1))) == 0;
}

static int decode(const struct alphabet *alphabet, const char *text, size_t len, struct buf *ret)
{
    if (alphabet->padded) {
        if (len % 4)
            return -ERR_INVALID;
        for (int i = 0; i < 2 && len && text[len - 1] == PAD; i++)
            len--;
    }
    if (len % 4 == 1)
        return -ERR_INVALID;

    unsigned char values[256];
    fill_values(alphabet, values);
    char *out;
    size_t room = len / 4 * 3 + (len % 4 ? len % 4 - 1 : 0);
    int rc = buf_reserve(ret, room, &out);
    if (rc < 0)
        return rc;
    for (size_t left = len; left > 0; text += 4, out += 3) {
        size_t n = left < 4 ? left : 4;
        if (!decode_group(values, text, n, out))
            return -ERR_INVALID;
        left -= n;
    }
    buf_commit(ret, room);
    return 0;
}

int base64_encode(const void *data, size_t len, struct buf *ret)
{
    return encode(&standard, data, len, ret);
}

int base64url_encode(const void *data, size_t len, struct buf *ret)
{
    return encode(&url, data, len, ret);
}

int base64_decode(const char *text, size_t len, struct buf *ret)
{
    return decode(&standard, text, len, ret);
}

int base64url_decode(const char *text, size_t len, struct buf *ret)
{
    return decode(&url, text, len, ret);
}

size_t base64_encoded_len(size_t len)
{
    if (len > SIZE_MAX / 4 * 3 - 3)
        return SIZE_MAX;
    return (len + 2) / 3 * 4;
}
