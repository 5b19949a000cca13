/* SPDX-License-Identifier: MIT */
/*
 * base/ring - keeps the last bytes of a stream.
 *
 * Memory grows with the content up to the size given at the start; after that the
 * oldest bytes make room for new ones.
 */
#ifndef BASE_RING_H
#define BASE_RING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/own.h"

struct buf;

struct ring {
    char *data;
    size_t cap;     /* bytes allocated */
    size_t max;     /* bytes kept at most */
    size_t start;   /* offset of the oldest byte in data */
    size_t len;     /* bytes kept */
    uint64_t total; /* bytes ever written; the oldest kept has the number total - len */
};

/* An empty ring that keeps the last max bytes (at least 1); allocates nothing yet. */
void ring_init(struct ring *ring, size_t max);

/* Adds len bytes. */
void ring_write(struct ring *ring, const void *data, size_t len);

/* Copies up to len bytes from the offset `at` (0 = oldest kept) to ret: bytes copied. */
size_t ring_peek(const struct ring *ring, size_t at, void *ret, size_t len);

/* The content as at most two parts, in order: their number. Valid until the next change. */
int ring_parts(const struct ring *ring, struct iovec ret[2]);

/* Appends the content to ret: 0 or what buf_append() returns. */
int ring_append_to(const struct ring *ring, struct buf *ret);

/* Drops up to len of the oldest bytes. */
void ring_consume(struct ring *ring, size_t len);

/* Bytes that were written and are no longer kept. */
uint64_t ring_dropped(const struct ring *ring);

void ring_clear(struct ring *ring);
void ring_done(struct ring *ring);

DEFINE_AUTO_DONE(struct ring, ring_done)

#endif
