/* SPDX-License-Identifier: MIT */
#include "base/num.h"

#include "base/err.h"

enum { FRACTION_MAX = 9 };

/* value * 10 + digit, or false if that overflows. */
static bool add_digit(uint64_t *value, char digit)
{
    return !__builtin_mul_overflow(*value, 10, value) &&
           !__builtin_add_overflow(*value, (uint64_t)(digit - '0'), value);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

int num_parse_u64(const char *text, uint64_t max, uint64_t *ret)
{
    uint64_t value = 0;
    if (!is_digit(*text))
        return -ERR_INVALID;
    for (; *text; text++)
        if (!is_digit(*text) || !add_digit(&value, *text))
            return -ERR_INVALID;
    if (value > max)
        return -ERR_INVALID;
    *ret = value;
    return 0;
}

int num_parse_i64(const char *text, int64_t min, int64_t max, int64_t *ret)
{
    bool negative = *text == '-';
    uint64_t magnitude;
    uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : INT64_MAX;
    int rc = num_parse_u64(text + negative, limit, &magnitude);
    if (rc < 0)
        return rc;
    int64_t value = (int64_t)(negative ? 0 - magnitude : magnitude);
    if (value < min || value > max)
        return -ERR_INVALID;
    *ret = value;
    return 0;
}

bool num_read_decimal(const char **text, struct num_decimal *ret)
{
    const char *at = *text;
    struct num_decimal d = {0};
    if (!is_digit(*at))
        return false;
    for (; is_digit(*at); at++)
        if (!add_digit(&d.value, *at))
            return false;
    if (*at == '.') {
        if (!is_digit(*++at))
            return false;
        for (; is_digit(*at); at++, d.n_fraction++)
            if (d.n_fraction == FRACTION_MAX || !add_digit(&d.value, *at))
                return false;
    }
    *text = at;
    *ret = d;
    return true;
}

/* Divides by a small prime the first of the two that it divides. */
static bool divide_one(uint64_t *a, uint64_t *b, unsigned prime)
{
    uint64_t *x = *a % prime == 0 ? a : b;
    if (*x % prime)
        return false;
    *x /= prime;
    return true;
}

bool num_scale(struct num_decimal d, uint64_t unit, uint64_t *ret)
{
    for (unsigned i = 0; i < d.n_fraction; i++)
        if (!divide_one(&d.value, &unit, 2) || !divide_one(&d.value, &unit, 5))
            return false;
    uint64_t product;
    if (__builtin_mul_overflow(d.value, unit, &product) || product > INT64_MAX)
        return false;
    *ret = product;
    return true;
}
