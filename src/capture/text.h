/* SPDX-License-Identifier: MIT */
/*
 * capture/text - cutting a byte stream into events that split no character.
 *
 * Chunks arrive cut anywhere. What is complete is given at once, a prompt without
 * newline too; at most the 3 bytes that begin a character wait for its end. Bytes
 * that are no UTF-8 are given at once as well, and said to be none.
 *
 * One splitter per stream. A zeroed one is ready for use; nothing is allocated.
 */
#ifndef CAPTURE_TEXT_H
#define CAPTURE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct capture_utf8 {
    char held[4];      /* the beginning of a character */
    char given[4];     /* what was held before, and is given now */
    unsigned char len; /* bytes there, at most 3 between calls */
};

struct capture_text {
    const char *bytes; /* in the chunk or in the splitter: valid until the next call */
    size_t len;        /* never 0 */
    bool utf8;         /* else the event wants base64 */
};

enum { CAPTURE_TEXT_PARTS = 2 };

/* Takes a chunk and gives what can be said now as 0 to 2 parts, in order: their number. */
int capture_utf8_feed(struct capture_utf8 *u, const void *p, size_t n,
                      struct capture_text ret[CAPTURE_TEXT_PARTS]);

/*
 * Gives what is held, at the end of the stream or when nothing followed for as long
 * as the caller likes to wait: 0 or 1 part, which is no UTF-8.
 */
int capture_utf8_flush(struct capture_utf8 *u, struct capture_text *ret);

#endif
