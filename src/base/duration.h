/* SPDX-License-Identifier: MIT */
/* base/duration - spans of time as people write them. */
#ifndef BASE_DURATION_H
#define BASE_DURATION_H

#include <stdint.h>

struct err;

enum { DURATION_SIZE = 48 };

/*
 * Milliseconds of "30s", "1500ms", "2m", "1.5h", "1h30m", "2d" or "250" (no unit:
 * milliseconds). At most about 292 years, so that nanoseconds fit an int64_t. What
 * is finer than a millisecond is refused, not dropped. -ERR_INVALID with a reason.
 */
int duration_parse(const char *text, int64_t *ret_ms, struct err *err);

/* The shortest exact form that duration_parse() reads: "1h30m", "250ms"; returns buf. */
char *duration_format(int64_t ms, char buf[DURATION_SIZE]);

#endif
