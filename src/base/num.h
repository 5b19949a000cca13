/* SPDX-License-Identifier: MIT */
/*
 * base/num - numbers in text, strictly: decimal digits from the first byte to the last,
 * no blanks, no '+'.
 */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include <stdbool.h>
#include <stdint.h>

/* 0 and the value, or -ERR_INVALID (and *ret untouched) if text is no number in range. */
int num_parse_i64(const char *text, int64_t min, int64_t max, int64_t *ret);
int num_parse_u64(const char *text, uint64_t max, uint64_t *ret);

/* Digits with up to nine after a point, as in "1.5": value / 10^n_fraction. */
struct num_decimal {
    uint64_t value;
    unsigned n_fraction;
};

/* Reads a decimal at *text and moves behind it; false if there is none, or it is too long. */
bool num_read_decimal(const char **text, struct num_decimal *ret);

/* d times unit; false if that is no whole number or more than an int64_t holds. */
bool num_scale(struct num_decimal d, uint64_t unit, uint64_t *ret);

#endif
