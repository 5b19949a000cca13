/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/utf8.h"
#include "profile/punycode_priv.h"

/* The names and numbers are those of RFC 3492, section 5. */
enum { BASE = 36, TMIN = 1, TMAX = 26, SKEW = 38, DAMP = 700, BIAS = 72, FIRST = 0x80 };

enum { CHARS_MAX = 63 };

static uint32_t adapt(uint32_t delta, uint32_t n, bool first)
{
    uint32_t k = 0;
    delta = first ? delta / DAMP : delta / 2;
    for (delta += delta / n; delta > (BASE - TMIN) * TMAX / 2; k += BASE)
        delta /= BASE - TMIN;
    return k + (BASE - TMIN + 1) * delta / (delta + SKEW);
}

struct output {
    char *text;
    size_t len, size;
};

/* What does not fit is counted and found at the end. */
static void put(struct output *out, char c)
{
    if (out->len < out->size)
        out->text[out->len] = c;
    out->len++;
}

static void put_digit(struct output *out, uint32_t digit)
{
    put(out, (char)(digit < 26 ? 'a' + digit : '0' + digit - 26));
}

static void put_number(struct output *out, uint32_t number, uint32_t bias)
{
    for (uint32_t k = BASE;; k += BASE) {
        uint32_t t = k <= bias ? TMIN : k >= bias + TMAX ? TMAX : k - bias;
        if (number < t) {
            put_digit(out, number);
            return;
        }
        put_digit(out, t + (number - t) % (BASE - t));
        number = (number - t) / (BASE - t);
    }
}

/* The smallest of the characters that is at least this one. */
static uint32_t next_char(const uint32_t *chars, size_t n, uint32_t least)
{
    uint32_t found = UINT32_MAX;
    for (size_t i = 0; i < n; i++)
        if (chars[i] >= least && chars[i] < found)
            found = chars[i];
    return found;
}

/* Numbers stay far below 2^32: at most 63 characters below 2^21. */
static void encode(const uint32_t *chars, size_t n_chars, struct output *out)
{
    for (size_t i = 0; i < n_chars; i++)
        if (chars[i] < FIRST)
            put(out, (char)chars[i]);
    uint32_t basic = (uint32_t)out->len, done = basic, delta = 0, bias = BIAS, c = FIRST;
    if (basic)
        put(out, '-');
    while (done < n_chars) {
        uint32_t next = next_char(chars, n_chars, c);
        delta += (next - c) * (done + 1);
        c = next;
        for (size_t i = 0; i < n_chars; i++) {
            delta += chars[i] < c;
            if (chars[i] != c)
                continue;
            put_number(out, delta, bias);
            bias = adapt(delta, done + 1, done == basic);
            delta = 0;
            done++;
        }
        delta++;
        c++;
    }
}

/* NOLINTNEXTLINE(readability-non-const-parameter): it is written to, by way of out */
int punycode_encode(const char *text, size_t len, char *ret, size_t size)
{
    uint32_t chars[CHARS_MAX];
    size_t n = 0;
    while (len) {
        if (n == CHARS_MAX)
            return -ERR_INVALID;
        size_t used = utf8_decode(text, len, &chars[n++]);
        if (used == 0)
            return -ERR_INVALID;
        text += used;
        len -= used;
    }
    struct output out = {.text = ret, .size = size};
    encode(chars, n, &out);
    put(&out, '\0');
    return out.len <= size ? 0 : -ERR_INVALID;
}
