/* SPDX-License-Identifier: MIT */
#include "base/ring.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

enum { CAP_MIN = 1024 };

/* Copies all content, in order, to ret. */
static void unroll(const struct ring *ring, char *ret)
{
    struct iovec parts[2];
    int n = ring_parts(ring, parts);
    for (int i = 0; i < n; i++) {
        memcpy(ret, parts[i].iov_base, parts[i].iov_len);
        ret += parts[i].iov_len;
    }
}

/* Room for len bytes in all, as far as max lets it. */
static void grow(struct ring *ring, size_t len)
{
    if (len > ring->max)
        len = ring->max;
    if (len <= ring->cap)
        return;
    size_t cap = ring->cap < CAP_MIN ? CAP_MIN : ring->cap;
    while (cap < len)
        cap = cap > ring->max / 2 ? ring->max : cap * 2;
    if (cap > ring->max)
        cap = ring->max;

    char *data = xmalloc(cap);
    unroll(ring, data);
    free(ring->data);
    ring->data = data;
    ring->cap = cap;
    ring->start = 0;
}

void ring_init(struct ring *ring, size_t max)
{
    assert(max > 0);
    *ring = (struct ring){.max = max};
}

void ring_write(struct ring *ring, const void *data, size_t len)
{
    const char *from = data;
    ring->total += len;
    if (len > ring->max) { /* only its end will be left */
        from += len - ring->max;
        len = ring->max;
    }
    if (len == 0)
        return;
    grow(ring, len > ring->max - ring->len ? ring->max : ring->len + len);
    if (len > ring->cap - ring->len)
        ring_consume(ring, len - (ring->cap - ring->len));

    size_t at = (ring->start + ring->len) % ring->cap;
    size_t first = len < ring->cap - at ? len : ring->cap - at;
    memcpy(ring->data + at, from, first);
    memcpy(ring->data, from + first, len - first);
    ring->len += len;
}

size_t ring_peek(const struct ring *ring, size_t at, void *ret, size_t len)
{
    if (at >= ring->len)
        return 0;
    if (len > ring->len - at)
        len = ring->len - at;
    size_t from = (ring->start + at) % ring->cap;
    size_t first = len < ring->cap - from ? len : ring->cap - from;
    if (len) {
        memcpy(ret, ring->data + from, first);
        memcpy((char *)ret + first, ring->data, len - first);
    }
    return len;
}

int ring_parts(const struct ring *ring, struct iovec ret[2])
{
    if (ring->len == 0)
        return 0;
    size_t first = ring->cap - ring->start;
    if (first > ring->len)
        first = ring->len;
    ret[0] = (struct iovec){.iov_base = ring->data + ring->start, .iov_len = first};
    if (first == ring->len)
        return 1;
    ret[1] = (struct iovec){.iov_base = ring->data, .iov_len = ring->len - first};
    return 2;
}

int ring_append_to(const struct ring *ring, struct buf *ret)
{
    char *to;
    int rc = buf_reserve(ret, ring->len, &to);
    if (rc < 0)
        return rc;
    unroll(ring, to);
    buf_commit(ret, ring->len);
    return 0;
}

void ring_consume(struct ring *ring, size_t len)
{
    if (len > ring->len)
        len = ring->len;
    if (len == 0)
        return;
    ring->start = (ring->start + len) % ring->cap;
    ring->len -= len;
}

uint64_t ring_dropped(const struct ring *ring)
{
    return ring->total - ring->len;
}

void ring_clear(struct ring *ring)
{
    ring->start = ring->len = 0;
    ring->total = 0;
}

void ring_done(struct ring *ring)
{
    if (!ring)
        return;
    free(ring->data);
    *ring = (struct ring){.max = ring->max};
}
