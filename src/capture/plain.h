/* SPDX-License-Identifier: MIT */
/*
 * capture/plain - output as a reader without a terminal wants it.
 *
 * The filter takes terminal output in chunks cut anywhere and gives valid UTF-8
 * text: what a terminal would show, line by line, without what steers it.
 *
 *   removed    CSI, OSC (the text of a link stays), DCS, APC, PM, SOS, titles,
 *              single escapes, 8-bit forms that are part of no character, and all
 *              controls but newline and tab; queries go with them
 *   folded     \r, backspace, and cursor and erase sequences within a line: what
 *              was overwritten is gone, what a shorter text left over stays
 *   broken     where the cursor goes to another row, the line ends; form feed and
 *              vertical tab are newlines
 *   collapsed  the 4th and further equal lines: "[previous line repeated N times]"
 *   replaced   bytes that are no UTF-8, by U+FFFD
 *
 * A line is held until its newline, up to CAPTURE_PLAIN_LINE_MAX bytes; a longer
 * one is given in parts. How the input was cut never changes the result.
 */
#ifndef CAPTURE_PLAIN_H
#define CAPTURE_PLAIN_H

#include <stddef.h>

#include "base/own.h"

struct buf;
struct capture_plain;

enum {
    CAPTURE_PLAIN_LINE_MAX = 64 * 1024,
    CAPTURE_PLAIN_SAME_LINES = 3, /* shown of a run of equal lines */
    CAPTURE_PLAIN_PAD_MAX = 256,  /* columns that moving right alone can reach */
};

struct capture_plain *capture_plain_new(void);
void capture_plain_free(struct capture_plain *plain);

/*
 * Filters a chunk and appends to ret what is settled. If ret cannot take it all:
 * -ERR_LIMIT, and the filter is of no use any more but to be freed.
 */
int capture_plain_feed(struct capture_plain *plain, const void *p, size_t n, struct buf *ret);

/*
 * Gives the unfinished line as it stands, for a reader who wants to see a prompt.
 * What overwrites it later begins a line of its own.
 */
int capture_plain_flush(struct capture_plain *plain, struct buf *ret);

/* Gives the rest; an unfinished sequence is dropped. The filter is as new afterwards. */
int capture_plain_end(struct capture_plain *plain, struct buf *ret);

/* All of it in one: filters a whole output. */
int capture_plain_text(const void *p, size_t n, struct buf *ret);

DEFINE_AUTO(struct capture_plain *, capture_plain_free)

#endif
