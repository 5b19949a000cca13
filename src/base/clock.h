/* SPDX-License-Identifier: MIT */
/* base/clock - the time now, and times as text. Tests inject time above this: see ev. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum { CLOCK_ISO8601_SIZE = 32 };

/* Nanoseconds that only go forward (CLOCK_MONOTONIC). */
int64_t clock_mono_ns(void);

/* Milliseconds since 1970-01-01T00:00Z. */
int64_t clock_wall_ms(void);

/*
 * "2026-01-31T08:05:09.123Z" from milliseconds since 1970; returns buf. Times
 * outside the years 0000-9999 become the first or last that can be written.
 */
char *clock_iso8601(int64_t ms, char buf[CLOCK_ISO8601_SIZE]);

/*
 * The reverse; takes "Z" or "+hh:mm", and 0-9 digits of a second's fraction
 * (beyond milliseconds they are dropped). False, and *ret_ms untouched, if text is no
 * such time.
 */
bool clock_parse_iso8601(const char *text, int64_t *ret_ms);

#endif
