/* SPDX-License-Identifier: MIT */
/* The values of numbers, from their text. */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "json/node_priv.h"
#include "json/read.h"

enum { EXPONENT_MAX = 1000000, EXACT_POWER = 22 };

static const uint64_t exact_digits = UINT64_C(1) << 53;

/* A number as digits * 10^exponent, without zeros at either end of the digits. */
struct decimal {
    uint64_t digits;
    int64_t exponent;
    bool negative;
    bool too_long; /* there are more digits than fit */
};

/* The exponent's digits; what is absurd either way is cut, and stays absurd. */
static int64_t read_exponent(const char *text)
{
    bool negative = *text == '-';
    int64_t value = 0;
    for (text += *text == '-' || *text == '+'; *text; text++)
        if (value < EXPONENT_MAX)
            value = value * 10 + (*text - '0');
    return negative ? -value : value;
}

/* One more digit; zeros wait in n_zeros until another digit follows. */
static void add_digit(struct decimal *d, int64_t *n_zeros, unsigned digit)
{
    if (digit == 0) {
        *n_zeros += d->digits != 0;
        return;
    }
    for (; *n_zeros > 0 && !d->too_long; (*n_zeros)--)
        d->too_long = __builtin_mul_overflow(d->digits, 10, &d->digits);
    *n_zeros = 0;
    d->too_long |= __builtin_mul_overflow(d->digits, 10, &d->digits) ||
                   __builtin_add_overflow(d->digits, digit, &d->digits);
}

/* Takes text apart, which follows JSON's grammar. */
static struct decimal read_decimal(const char *text)
{
    struct decimal d = {.negative = *text == '-'};
    int64_t n_zeros = 0, n_fraction = 0;
    bool in_fraction = false;
    for (text += d.negative; *text && *text != 'e' && *text != 'E'; text++) {
        if (*text == '.') {
            in_fraction = true;
            continue;
        }
        n_fraction += in_fraction;
        add_digit(&d, &n_zeros, (unsigned)(*text - '0'));
    }
    d.exponent = n_zeros - n_fraction + (*text ? read_exponent(text + 1) : 0);
    return d;
}

/* The number's size if it is a whole number that fits. */
static int whole(const struct json_node *node, uint64_t *ret, bool *ret_negative)
{
    if (json_type(node) != JSON_NUMBER)
        return -ERR_INVALID;
    struct decimal d = read_decimal(node->value.text);
    if (d.too_long || (d.digits && d.exponent < 0))
        return -ERR_INVALID;
    for (; d.digits && d.exponent > 0; d.exponent--)
        if (__builtin_mul_overflow(d.digits, 10, &d.digits))
            return -ERR_INVALID;
    *ret = d.digits;
    *ret_negative = d.negative;
    return 0;
}

int json_u64(const struct json_node *node, uint64_t *ret)
{
    bool negative;
    uint64_t value;
    int rc = whole(node, &value, &negative);
    if (rc < 0)
        return rc;
    if (negative && value)
        return -ERR_INVALID;
    *ret = value;
    return 0;
}

int json_i64(const struct json_node *node, int64_t *ret)
{
    bool negative;
    uint64_t value;
    int rc = whole(node, &value, &negative);
    if (rc < 0)
        return rc;
    if (value > (uint64_t)INT64_MAX + negative)
        return -ERR_INVALID;
    *ret = (int64_t)(negative ? 0 - value : value);
    return 0;
}

/* Few digits and a small power of ten are exact, so that one operation rounds correctly. */
static bool double_by_hand(struct decimal d, double *ret)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (d.too_long || d.digits > exact_digits)
        return false;
    if (d.exponent < -EXACT_POWER || d.exponent > EXACT_POWER)
        return false;
    double value = (double)d.digits;
    value = d.exponent < 0 ? value / powers[-d.exponent] : value * powers[d.exponent];
    *ret = d.negative ? -value : value;
    return true;
}

int json_double(const struct json_node *node, double *ret)
{
    if (json_type(node) != JSON_NUMBER)
        return -ERR_INVALID;
    if (double_by_hand(read_decimal(node->value.text), ret))
        return 0;
    locale_t plain = newlocale(LC_ALL_MASK, "C", NULL); /* a constant, nothing to free */
    double value = strtod_l(node->value.text, NULL, plain);
    if (!isfinite(value))
        return -ERR_INVALID;
    *ret = value;
    return 0;
}

int json_bool(const struct json_node *node, bool *ret)
{
    if (json_type(node) != JSON_BOOL)
        return -ERR_INVALID;
    *ret = node->value.truth;
    return 0;
}
