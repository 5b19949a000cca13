/* SPDX-License-Identifier: MIT */
/*
 * What the sources of capture/log share.
 *
 * A stream is a head (its first bytes, in memory or in a file) and, once the head
 * could not take everything, a ring with its last bytes. The head never grows
 * again after that, so what is held is always one prefix and one suffix.
 *
 * The order of arrival is held in the same two ways: as segments from the start,
 * in memory or in a file, and after those as one bit per byte of the last bytes
 * of the output. Segments are small for what usual commands print; bits have a
 * fixed size however often the streams alternate.
 */
#ifndef CAPTURE_LOG_PRIV_H
#define CAPTURE_LOG_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ring.h"
#include "capture/log.h"

/* Where a segment starts. Files hold it as two little-endian numbers. */
struct capture_seg {
    uint64_t at;  /* in the output */
    uint64_t sub; /* in its stream; CAPTURE_SEG_STDERR says which */
};

#define CAPTURE_SEG_STDERR (UINT64_C(1) << 63)
#define CAPTURE_NO_END     UINT64_MAX

enum { CAPTURE_SEG_SIZE = 16 };

struct capture_stream {
    uint64_t total; /* bytes printed */
    uint64_t head;  /* the first of them that are in mem, or in the file */
    char *mem;      /* NULL when empty or spilled */
    uint32_t cap;   /* of mem */
    int fd;         /* the file while it is open, or -1 */
};

struct capture_tail {
    struct ring ring[2]; /* what came after the heads */
};

/* Bit (number of the byte) % max tells its stream: set for stderr. */
struct capture_bits {
    size_t max; /* multiple of 64 */
    uint64_t words[];
};

struct capture_log {
    struct capture_stream stream[2]; /* stdout, stderr */
    uint64_t order_end;              /* where segments end and bits begin, or CAPTURE_NO_END */
    struct capture_seg first;        /* segment 0 */
    struct capture_seg *segs;        /* 1 and up, in memory; NULL when spilled */
    struct capture_tail *tail;       /* NULL until a head is full */
    struct capture_bits *bits;       /* NULL until order_end is set */
    uint64_t spill_max;
    uint64_t claimed;              /* of the budget */
    struct capture_budget *budget; /* can be NULL */
    uint32_t n_segs;               /* with the first */
    uint32_t segs_cap;
    uint32_t view_max, memory_max, tail_max;
    int order_fd;
    int spill_dir;
    int storage_errno;
    bool stderr_last; /* stream of the last segment */
    bool may_spill;
    bool spilled;
    bool finished; /* the files are opened for each read only */
    bool partial;
    bool capped;
    char spill_name[]; /* empty: none */
};

static inline uint64_t capture_total(const struct capture_log *log)
{
    return log->stream[0].total + log->stream[1].total;
}

/* Remembers the first failure (an errno). */
void capture_storage_failed(struct capture_log *log, int code);

/* A log with these options and nothing in it. */
struct capture_log *capture_log_alloc(const struct capture_options *options);

/* Claims n bytes in files: how many may be written. What then is not written is given back. */
size_t capture_claim(struct capture_log *log, size_t n);
void capture_give_back(struct capture_log *log, uint64_t n);

/* ---- order.c ---- */

/* Notes that n bytes of the stream (0, 1) come next. */
void capture_order_note(struct capture_log *log, int s, size_t n);

struct capture_bits *capture_bits_new(size_t max);

/* Sequential walk over the order, from a place in the output. */
struct capture_walk {
    struct capture_log *log;
    uint64_t at;
    uint64_t sub[2];   /* the same place in the streams, once in_bits */
    uint32_t seg;      /* index of the segment at `at` */
    uint32_t block_at; /* index of block[0] */
    uint32_t n_block;
    bool in_bits;
    struct capture_seg block[64];
};

/* A stretch of the output that is of one stream, or of which that is not known (s = -1). */
struct capture_run {
    int s;
    uint64_t sub; /* its start in the stream */
    uint64_t len;
};

/* 0 or -errno; spilled order must be open. */
int capture_walk_start(struct capture_walk *walk, struct capture_log *log, uint64_t at);
/* Gives the run at walk->at, which must be before the end, and moves behind it. */
int capture_walk_next(struct capture_walk *walk, struct capture_run *ret);

/* ---- spill.c ---- */

/* Moves all to files. False, with all still in memory, if that fails; it never will then. */
bool capture_spill_start(struct capture_log *log);

/* Writes bytes of a stream behind its head; how many could be written. */
size_t capture_spill_write(struct capture_log *log, struct capture_stream *stream, const char *p,
                           size_t n);

/* Writes segments from number i on; false if that fails. */
bool capture_spill_segs(struct capture_log *log, uint32_t i, const struct capture_seg *segs,
                        uint32_t n);

/* Writes one behind the others, if the budget lets it. */
bool capture_spill_add_seg(struct capture_log *log, const struct capture_seg *seg);

/* Reads up to n segments from number i on: their number or -errno. */
int capture_spill_read_segs(struct capture_log *log, uint32_t i, struct capture_seg *ret,
                            uint32_t n);

/* Opens the files if they are closed: 0 or -errno. A log without files has nothing to open. */
int capture_spill_open(struct capture_log *log);
void capture_spill_close(struct capture_log *log);

/* Before an append to a finished log: `meta` will be wrong. */
void capture_spill_reopen(struct capture_log *log);

/* Makes `meta` hold this, or leaves it out: 0 or -errno. */
int capture_spill_put_meta(struct capture_log *log, const struct buf *meta);

/* ---- little-endian numbers ---- */

static inline void capture_put_u64(char *p, uint64_t v)
{
    for (int i = 0; i < 8; i++, v >>= 8)
        p[i] = (char)(v & 0xFF);
}

static inline uint64_t capture_get_u64(const char *p)
{
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--)
        v = v << 8 | (unsigned char)p[i];
    return v;
}

#endif
