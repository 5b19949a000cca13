/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "capture/log_priv.h"

enum { WINDOW_SIZE = 64 * 1024 };

/* A part of a stream's file. Lines that alternate between streams need few reads this way. */
struct window {
    char *data; /* WINDOW_SIZE bytes; NULL until needed */
    uint64_t at;
    size_t len;
};

struct reader {
    struct capture_log *log;
    int which;
    uint64_t at, end;
    size_t left; /* bytes that may still be given */
    struct capture_walk walk;
    struct window windows[2];
};

/* The run at r->at. */
static int next_run(struct reader *r, struct capture_run *ret)
{
    if (r->which == CAPTURE_OUTPUT)
        return capture_walk_next(&r->walk, ret);
    *ret = (struct capture_run){.s = r->which - 1, .sub = r->at, .len = r->end - r->at};
    return 0;
}

/* How many bytes from the start of the run on share one fate: *ret_held says which. */
static uint64_t same_fate(const struct capture_log *log, const struct capture_run *run,
                          bool *ret_held)
{
    *ret_held = false;
    if (run->s < 0)
        return run->len;
    const struct capture_stream *stream = &log->stream[run->s];
    uint64_t tail = stream->total - (log->tail ? log->tail->ring[run->s].len : 0);
    uint64_t until = stream->total;
    if (run->sub < stream->head) {
        *ret_held = true;
        until = stream->head;
    } else if (run->sub < tail) {
        until = tail;
    } else {
        *ret_held = true;
    }
    return until - run->sub < run->len ? until - run->sub : run->len;
}

/* Points *ret at bytes of a stream's file, at most n: how many, or -errno. */
static ssize_t look_into_file(struct reader *r, int s, uint64_t sub, uint64_t n, const char **ret)
{
    const struct capture_stream *stream = &r->log->stream[s];
    struct window *w = &r->windows[s];
    if (sub < w->at || sub - w->at >= w->len) {
        if (!w->data)
            w->data = xmalloc(WINDOW_SIZE);
        uint64_t want = stream->head - sub < WINDOW_SIZE ? stream->head - sub : WINDOW_SIZE;
        ssize_t rc;
        do
            rc = pread(stream->fd, w->data, (size_t)want, (off_t)sub);
        while (rc < 0 && errno == EINTR);
        if (rc <= 0)
            return rc < 0 ? -errno : -EUCLEAN; /* somebody has cut the file */
        w->at = sub;
        w->len = (size_t)rc;
    }
    size_t from = (size_t)(sub - w->at);
    *ret = w->data + from;
    return (ssize_t)(w->len - from < n ? w->len - from : n);
}

/* Points *ret at held bytes, at most n: how many, or -errno. */
static ssize_t look(struct reader *r, int s, uint64_t sub, uint64_t n, const char **ret)
{
    const struct capture_stream *stream = &r->log->stream[s];
    if (sub < stream->head) {
        if (r->log->spilled)
            return look_into_file(r, s, sub, n, ret);
        *ret = stream->mem + sub;
        return (ssize_t)n;
    }
    const struct ring *ring = &r->log->tail->ring[s];
    struct iovec parts[2];
    int n_parts = ring_parts(ring, parts);
    size_t from = (size_t)(sub - (stream->total - ring->len));
    int part = from >= parts[0].iov_len;
    assert(part < n_parts);
    if (part)
        from -= parts[0].iov_len;
    *ret = (const char *)parts[part].iov_base + from;
    return (ssize_t)(parts[part].iov_len - from < n ? parts[part].iov_len - from : n);
}

/* Gives n bytes piece by piece: 1 when the reader has had enough. */
static int give(struct reader *r, struct capture_run run, uint64_t n, capture_piece_fn fn,
                void *ctx)
{
    while (n > 0) {
        struct capture_piece piece = {.stream = run.s + 1, .at = r->at};
        ssize_t len = look(r, run.s, run.sub, n < r->left ? n : r->left, &piece.bytes);
        if (len < 0)
            return (int)len;
        piece.len = (size_t)len;
        int rc = fn(&piece, ctx);
        if (rc < 0)
            return rc;
        r->at += piece.len;
        r->left -= piece.len;
        run.sub += piece.len;
        n -= piece.len;
        if (rc > 0 || r->left == 0)
            return 1;
    }
    return 0;
}

/* Reads on until the end, a gap behind bytes, or enough. */
static int read_on(struct reader *r, capture_piece_fn fn, void *ctx, struct capture_read *ret)
{
    bool given = false;
    while (r->at < r->end) {
        struct capture_run run;
        int rc = next_run(r, &run);
        if (rc < 0)
            return rc;
        while (run.len > 0) {
            bool held;
            uint64_t n = same_fate(r->log, &run, &held);
            if (!held && given)
                return 0;
            if (held) {
                given = true;
                rc = give(r, run, n, fn, ctx);
                if (rc != 0)
                    return rc < 0 ? rc : 0;
            } else {
                r->at += n;
                ret->gap_to = r->at;
            }
            run.sub += n;
            run.len -= n;
        }
    }
    return 0;
}

static int read_log(struct reader *r, capture_piece_fn fn, void *ctx, struct capture_read *ret)
{
    if (r->at == r->end)
        return 0;
    int rc = capture_spill_open(r->log);
    if (rc == 0 && r->which == CAPTURE_OUTPUT)
        rc = capture_walk_start(&r->walk, r->log, r->at);
    if (rc == 0)
        rc = read_on(r, fn, ctx, ret);
    if (r->log->finished)
        capture_spill_close(r->log);
    return rc;
}

/* Keeps the answers of the caller's function apart from those of the storage. */
struct guard {
    capture_piece_fn fn;
    void *ctx;
    int rc;
};

static int guarded(const struct capture_piece *piece, void *ctx)
{
    struct guard *guard = ctx;
    guard->rc = guard->fn(piece, guard->ctx);
    return guard->rc;
}

int capture_log_read(struct capture_log *log, const struct capture_request *request,
                     capture_piece_fn fn, void *ctx, struct capture_read *ret, struct err *err)
{
    uint64_t end = capture_log_bytes(log, request->which);
    if (request->cursor > end)
        return err_set(err, ERR_INVALID, "cursor %ju is beyond the end of the output, %ju",
                       (uintmax_t)request->cursor, (uintmax_t)end);

    struct reader r = {
        .log = log,
        .which = request->which,
        .at = request->cursor,
        .end = end,
        .left = request->max ? request->max : SIZE_MAX,
    };
    struct capture_read result = {.gap_from = r.at, .gap_to = r.at};
    struct guard guard = {.fn = fn, .ctx = ctx};
    int rc = read_log(&r, guarded, &guard, &result);
    free(r.windows[0].data);
    free(r.windows[1].data);
    if (guard.rc < 0)
        return guard.rc;
    if (rc < 0) {
        capture_storage_failed(log, -rc);
        return err_set(err, ERR_STORAGE, "read stored output '%s': %s", log->spill_name,
                       err_describe(rc));
    }
    result.next = r.at;
    *ret = result;
    return 0;
}
