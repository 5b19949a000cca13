/* SPDX-License-Identifier: MIT */
/*
 * capture/log - what one command printed: two streams and their order of arrival.
 *
 * Bytes are numbered from 0, in each stream and in the output (both streams as
 * they came). The number of the next byte is a cursor: reading on from a cursor
 * loses nothing and doubles nothing, and bytes that are no longer held are said
 * to be missing.
 *
 *   memory     all bytes, up to memory_max; most commands end here
 *   spilled    all bytes, in files, up to spill_max
 *   truncated  the first bytes stay (head), the last ones are kept in a ring
 *              (tail), the middle is only counted
 *
 * A stream is truncated by itself: one that floods never costs the other its
 * bytes. A write that fails (disk full) makes the log go on in the last state and
 * is a fact to report, never a failure: capture_log_storage_error().
 *
 * Files, in the directory <spill_dir>/<name>: `stdout` and `stderr` hold raw
 * bytes, `order` the segments, `meta` the rest (when finished). Without `meta`,
 * after a crash, what is there is still readable.
 *
 * Programs that spill under RLIMIT_FSIZE ignore SIGXFSZ. Not thread-safe.
 */
#ifndef CAPTURE_LOG_H
#define CAPTURE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/own.h"

struct buf;
struct err;
struct capture_log;

/* The numbers of the streams, and of both together. */
enum capture_which { CAPTURE_OUTPUT = 0, CAPTURE_STDOUT = 1, CAPTURE_STDERR = 2 };

enum {
    CAPTURE_VIEW_MAX = 64 * 1024,
    CAPTURE_MEMORY_MAX = 64 * 1024,
    CAPTURE_SPILL_MAX = 64 * 1024 * 1024,
    CAPTURE_MARKER_MAX = 64, /* bytes of the line that stands for what was left out */
};

/*
 * Bytes that several logs may have in files, all together. Full means for a log what a full disk
 * does: it goes on in its last state. Outlives the logs.
 */
struct capture_budget {
    uint64_t max, used;
    /* n more do not fit: files may be removed, and used lowered. Can be NULL. */
    void (*make_room)(struct capture_budget *budget, uint64_t n);
    void *ctx;
};

struct capture_options {
    size_t view_max;   /* bytes of each view; 0: CAPTURE_VIEW_MAX */
    size_t memory_max; /* bytes (with order) in memory before files are made; 0: the default */
    size_t tail_max;   /* bytes kept of the end of a truncated stream; at least view_max */
    /* Bytes of both streams in files, of which one can take 7/8; the order adds at most 1/8. */
    uint64_t spill_max;            /* 0: the default */
    int spill_dir;                 /* borrowed, outlives the log; -1: memory only */
    const char *spill_name;        /* copied; a safe file name; NULL: memory only */
    struct capture_budget *budget; /* borrowed; NULL: none but spill_max */
};

/* Memory only, defaults. */
/* clang-format off */
#define CAPTURE_OPTIONS_INIT {.spill_dir = -1}
/* clang-format on */

/* An empty log; NULL options are the defaults, memory only. One small allocation. */
struct capture_log *capture_log_new(const struct capture_options *options);

/* Closes; files stay. NULL is accepted. */
void capture_log_free(struct capture_log *log);

/* Adds bytes of a stream (CAPTURE_STDOUT or CAPTURE_STDERR). Never fails. */
void capture_log_append(struct capture_log *log, int stream, const void *p, size_t n);

/* Counts n bytes of a stream as printed next, but no longer held. */
void capture_log_skip(struct capture_log *log, int stream, uint64_t n);

/*
 * Says that no more is expected: closes the files, writes `meta`, gives spare
 * memory back. The log can be read as before; an append opens it again.
 */
void capture_log_finish(struct capture_log *log);

/* ---- facts ---- */

/* Bytes printed: of a stream, or of both (the cursor of the end). */
uint64_t capture_log_bytes(const struct capture_log *log, int which);

/* Bytes printed that are no longer held. For the output: of either stream. */
uint64_t capture_log_dropped(const struct capture_log *log, int which);

/* Name of the directory that holds the bytes, or NULL while they are in memory. */
const char *capture_log_spill_name(const struct capture_log *log);

/* Bytes in files that were counted in the budget; they stay so when the log is freed. */
uint64_t capture_log_claimed(const struct capture_log *log);

/* Whether files hold less than they would but for spill_max or the budget. */
bool capture_log_is_capped(const struct capture_log *log);

/* Whether the log was opened after a crash, so that its end may be missing. */
bool capture_log_is_partial(const struct capture_log *log);

/* 0, or the errno of the first failure of storage; *ret_text (may be NULL) describes it. */
int capture_log_storage_error(const struct capture_log *log, const char **ret_text);

/* ---- reading on from a cursor ---- */

/* Consecutive bytes of one stream; valid during the call that gets them. */
struct capture_piece {
    int stream;
    const char *bytes;
    size_t len;
    uint64_t at; /* number of the first byte, in the numbering that is being read */
};

/* Takes a piece. Negative: stop and fail with it; positive: stop after this piece. */
typedef int (*capture_piece_fn)(const struct capture_piece *piece, void *ctx);

struct capture_read {
    uint64_t next; /* where to go on */
    /* Bytes that are no longer held, before the first piece; equal if there are none. */
    uint64_t gap_from, gap_to;
};

struct capture_request {
    int which; /* CAPTURE_OUTPUT numbers both streams together, a stream its own bytes */
    uint64_t cursor;
    size_t max; /* bytes; 0: no limit */
};

/*
 * Gives the pieces from the cursor on: at most max bytes, fewer only at the end,
 * before a gap, or when fn stops it. A cursor beyond the end: -ERR_INVALID; files
 * that cannot be read: -ERR_STORAGE. ret is set on success only.
 */
int capture_log_read(struct capture_log *log, const struct capture_request *request,
                     capture_piece_fn fn, void *ctx, struct capture_read *ret, struct err *err);

/* ---- keeping ---- */

/* Appends the log to ret: all of it, or all but what is in files. -ERR_LIMIT. */
int capture_log_save(struct capture_log *log, struct buf *ret);

/* Makes a log of saved bytes; files are looked for as the options say. -ERR_INVALID. */
int capture_log_load(const struct capture_options *options, const void *p, size_t n,
                     struct capture_log **ret_log, struct err *err);

/* Opens a spilled log from its directory. -ERR_NOT_FOUND, -ERR_STORAGE. */
int capture_log_open(const struct capture_options *options, struct capture_log **ret_log,
                     struct err *err);

/* Removes the directory of a spilled log: 0 (also if there is none) or -errno. */
int capture_log_remove(int spill_dir, const char *spill_name);

DEFINE_AUTO(struct capture_log *, capture_log_free)

#endif
