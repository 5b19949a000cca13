/* SPDX-License-Identifier: MIT */
/* base/size - amounts of bytes as people write them. */
#ifndef BASE_SIZE_H
#define BASE_SIZE_H

#include <stdint.h>

struct err;

enum { SIZE_TEXT_SIZE = 24 };

/*
 * Bytes of "4096", "64K", "64KiB", "1M", "1.5GiB" (powers of 1024) or "10kB", "2MB"
 * (powers of 1000). Letters of either case; must come to whole bytes and fit an
 * int64_t. -ERR_INVALID with a reason.
 */
int size_parse(const char *text, uint64_t *ret_bytes, struct err *err);

/* The shortest exact form with a binary unit: "64KiB", "1000B"; returns buf. */
char *size_format(uint64_t bytes, char buf[SIZE_TEXT_SIZE]);

#endif
