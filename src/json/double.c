/* SPDX-License-Identifier: MIT */
/*
 * The shortest decimal that reads back as a given double, laid out as ECMAScript's
 * Number::toString does (and RFC 8785 asks for).
 */
#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/write.h"

enum { DIGITS_MAX = 17, WHOLE_MAX = 21, FRACTION_ZEROS_MAX = 6 };

static const double exact_integers = 9007199254740992; /* 2^53: all below are doubles */

/* 0.d1d2d3... * 10^point */
struct shortest {
    char digits[DIGITS_MAX + 1];
    int n;
    int point;
};

static void drop_zeros(struct shortest *s)
{
    while (s->n > 1 && s->digits[s->n - 1] == '0')
        s->n--;
}

/*
 * Numbers with few decimals: the smallest k for which value * 10^k is whole. Whole number
 * and power are exact, so the division rounds once, as reading the text will.
 */
static bool find_by_division(double value, struct shortest *ret)
{
    double power = 1;
    for (int k = 0; k <= DIGITS_MAX; k++) {
        double whole = nearbyint(value * power);
        if (whole >= exact_integers / 10)
            return false;
        if (whole / power == value) {
            ret->n = snprintf(ret->digits, sizeof(ret->digits), "%.0f", whole);
            ret->point = ret->n - k;
            drop_zeros(ret);
            return true;
        }
        power *= 10;
    }
    return false;
}

/* The nearest decimal of n digits, as printf(3) rounds; the radix character is skipped. */
static void round_to(double value, int n, struct shortest *ret)
{
    char text[64];
    (void)snprintf(text, sizeof(text), "%.*e", n - 1, value);
    const char *at = text;
    ret->n = 0;
    for (; *at != 'e'; at++)
        if (*at >= '0' && *at <= '9')
            ret->digits[ret->n++] = *at;
    ret->digits[ret->n] = '\0';
    ret->point = (int)strtol(at + 1, NULL, 10) + 1;
}

static bool reads_back(const struct shortest *s, double value)
{
    char text[64];
    (void)snprintf(text, sizeof(text), "%se%d", s->digits, s->point - s->n);
    return strtod(text, NULL) == value; /* no radix character, so no locale matters */
}

/*
 * One unit up in the last place. Below a power of two doubles lie closer than above, so
 * the nearest decimal can be off where the next one up is not.
 */
static bool step_up(struct shortest *s)
{
    int last = s->n - 1;
    if (s->digits[last] == '9')
        return false;
    s->digits[last]++;
    return true;
}

/*
 * Any decimal of 15 digits survives a normal double, so a shorter one is that without its
 * zeros; subnormal ones hold fewer.
 */
static void find_by_trial(double value, struct shortest *ret)
{
    int exponent;
    bool is_power = frexp(value, &exponent) == 0.5;
    for (int n = value < DBL_MIN ? 1 : DBL_DIG; n < DIGITS_MAX; n++) {
        round_to(value, n, ret);
        if (reads_back(ret, value) || (is_power && step_up(ret) && reads_back(ret, value))) {
            drop_zeros(ret);
            return;
        }
    }
    round_to(value, DIGITS_MAX, ret); /* always enough, IEEE 754 */
    drop_zeros(ret);
}

/* ECMA-262 6.1.6.1.20; value is not negative. */
static size_t lay_out(const struct shortest *s, char ret[JSON_DOUBLE_SIZE])
{
    static const char zeros[] = "00000000000000000000";
    int point = s->point, n = s->n, len;
    if (n <= point && point <= WHOLE_MAX)
        len = snprintf(ret, JSON_DOUBLE_SIZE, "%.*s%.*s", n, s->digits, point - n, zeros);
    else if (0 < point && point <= WHOLE_MAX)
        len = snprintf(ret, JSON_DOUBLE_SIZE, "%.*s.%.*s", point, s->digits, n - point,
                       s->digits + point);
    else if (-FRACTION_ZEROS_MAX < point && point <= 0)
        len = snprintf(ret, JSON_DOUBLE_SIZE, "0.%.*s%.*s", -point, zeros, n, s->digits);
    else
        len = snprintf(ret, JSON_DOUBLE_SIZE, "%c%s%.*se%+d", s->digits[0], n > 1 ? "." : "", n - 1,
                       s->digits + 1, point - 1);
    return (size_t)len;
}

size_t json_format_double(double value, char ret[JSON_DOUBLE_SIZE])
{
    assert(isfinite(value));
    if (value == 0) { /* -0 too, as ECMAScript has it */
        memcpy(ret, "0", 2);
        return 1;
    }
    size_t sign = value < 0;
    if (sign)
        *ret++ = '-';
    struct shortest s = {.n = 0};
    value = fabs(value);
    if (!find_by_division(value, &s))
        find_by_trial(value, &s);
    return sign + lay_out(&s, ret);
}
