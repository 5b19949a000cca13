/* SPDX-License-Identifier: MIT */
#include "capture/log.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "capture/log_priv.h"

enum {
    MEM_MIN = 64,
    LIMIT_MAX = 1 << 30, /* of what is kept in memory */
};

/* An option of bytes in memory, or its default. */
static uint32_t limit(size_t value, uint32_t fallback)
{
    if (value == 0)
        return fallback;
    return value > LIMIT_MAX ? LIMIT_MAX : (uint32_t)value;
}

struct capture_log *capture_log_alloc(const struct capture_options *options)
{
    static const struct capture_options defaults = CAPTURE_OPTIONS_INIT;
    if (!options)
        options = &defaults;
    const char *name = options->spill_name && options->spill_dir >= 0 ? options->spill_name : "";
    size_t name_len = strlen(name);

    struct capture_log *log = xcalloc(1, sizeof(*log) + name_len + 1);
    memcpy(log->spill_name, name, name_len);
    log->view_max = limit(options->view_max, CAPTURE_VIEW_MAX);
    log->memory_max = limit(options->memory_max, CAPTURE_MEMORY_MAX);
    log->tail_max = limit(options->tail_max, log->view_max);
    if (log->tail_max < log->view_max)
        log->tail_max = log->view_max;
    log->spill_max = options->spill_max ? options->spill_max : CAPTURE_SPILL_MAX;
    log->spill_dir = options->spill_dir;
    log->budget = options->budget;
    log->may_spill = name_len > 0;
    log->order_end = CAPTURE_NO_END;
    log->order_fd = log->stream[0].fd = log->stream[1].fd = -1;
    return log;
}

struct capture_log *capture_log_new(const struct capture_options *options)
{
    return capture_log_alloc(options);
}

void capture_log_free(struct capture_log *log)
{
    if (!log)
        return;
    if (log->spilled)
        capture_spill_close(log);
    for (int s = 0; s < 2; s++)
        free(log->stream[s].mem);
    if (log->tail) {
        ring_done(&log->tail->ring[0]);
        ring_done(&log->tail->ring[1]);
        free(log->tail);
    }
    free(log->segs);
    free(log->bits);
    free(log);
}

void capture_storage_failed(struct capture_log *log, int code)
{
    if (log->storage_errno == 0)
        log->storage_errno = code;
}

size_t capture_claim(struct capture_log *log, size_t n)
{
    struct capture_budget *b = log->budget;
    if (!b)
        return n;
    if ((b->used > b->max || n > b->max - b->used) && b->make_room)
        b->make_room(b, n);
    uint64_t room = b->max > b->used ? b->max - b->used : 0;
    if (n > room) {
        n = (size_t)room;
        log->capped = true;
    }
    b->used += n;
    log->claimed += n;
    return n;
}

void capture_give_back(struct capture_log *log, uint64_t n)
{
    if (!log->budget)
        return;
    log->budget->used -= n;
    log->claimed -= n;
}

/* Bytes that the head may still take when both heads together may have max. */
static size_t head_room(const struct capture_log *log, const struct capture_stream *stream,
                        uint64_t max)
{
    uint64_t own = max - max / 8; /* the rest is for the other stream */
    uint64_t both = log->stream[0].head + log->stream[1].head;
    if (stream->head >= own || both >= max)
        return 0;
    uint64_t room = own - stream->head < max - both ? own - stream->head : max - both;
    return room > SIZE_MAX ? SIZE_MAX : (size_t)room;
}

/* Adds to the head in memory. */
static size_t store_in_memory(struct capture_stream *stream, const char *p, size_t n, size_t max)
{
    size_t len = (size_t)stream->head;
    if (n == 0)
        return 0;
    if (n > stream->cap - len) {
        size_t cap = (size_t)stream->cap * 2;
        if (cap > max)
            cap = max;
        if (cap < len + n)
            cap = len + n;
        if (cap < MEM_MIN)
            cap = MEM_MIN;
        stream->mem = xrealloc(stream->mem, cap);
        stream->cap = (uint32_t)cap;
    }
    memcpy(stream->mem + len, p, n);
    stream->head += n;
    return n;
}

/* Adds to the head what it can take; how much that is. */
static size_t store(struct capture_log *log, struct capture_stream *stream, const char *p, size_t n)
{
    if (stream->head != stream->total)
        return 0;
    if (!log->spilled) {
        uint64_t used =
            log->stream[0].head + log->stream[1].head + (uint64_t)log->n_segs * CAPTURE_SEG_SIZE;
        if (n <= log->memory_max && used + n <= (uint64_t)log->memory_max + CAPTURE_SEG_SIZE)
            return store_in_memory(stream, p, n, log->memory_max);
        if (!log->may_spill || !capture_spill_start(log)) {
            size_t room = head_room(log, stream, log->memory_max);
            return store_in_memory(stream, p, n < room ? n : room, log->memory_max);
        }
    }
    size_t room = head_room(log, stream, log->spill_max);
    if (n > room) {
        n = room;
        log->capped = true;
    }
    return capture_spill_write(log, stream, p, n);
}

/* Adds to the ring, which is made when it is first needed. */
static void keep_tail(struct capture_log *log, int s, const char *p, size_t n)
{
    if (!log->tail) {
        log->tail = xnew(struct capture_tail);
        ring_init(&log->tail->ring[0], log->tail_max);
        ring_init(&log->tail->ring[1], log->tail_max);
    }
    ring_write(&log->tail->ring[s], p, n);
}

void capture_log_append(struct capture_log *log, int stream, const void *p, size_t n)
{
    assert(stream == CAPTURE_STDOUT || stream == CAPTURE_STDERR);
    if (n == 0)
        return;
    if (log->finished) {
        log->finished = false;
        if (log->spilled)
            capture_spill_reopen(log);
    }

    int s = stream - 1;
    struct capture_stream *to = &log->stream[s];
    capture_order_note(log, s, n);
    size_t stored = store(log, to, p, n);
    to->total += n;
    if (stored < n)
        keep_tail(log, s, (const char *)p + stored, n - stored);
}

void capture_log_skip(struct capture_log *log, int stream, uint64_t n)
{
    assert(stream == CAPTURE_STDOUT || stream == CAPTURE_STDERR);
    if (n == 0)
        return;
    int s = stream - 1;
    capture_order_note(log, s, n);
    log->stream[s].total += n;
    keep_tail(log, s, "", 0);
    ring_clear(&log->tail->ring[s]); /* what is held is one prefix and one suffix */
}

/* Gives back what the memory of a head has to spare. */
static void shrink(struct capture_stream *stream)
{
    size_t len = (size_t)stream->head;
    if (!stream->mem || stream->cap - len < stream->cap / 4)
        return;
    size_t cap = len < MEM_MIN ? MEM_MIN : len;
    stream->mem = xrealloc(stream->mem, cap);
    stream->cap = (uint32_t)cap;
}

void capture_log_finish(struct capture_log *log)
{
    if (log->finished)
        return;
    log->finished = true;
    if (!log->spilled) {
        shrink(&log->stream[0]);
        shrink(&log->stream[1]);
        return;
    }

    auto_buf struct buf meta = BUF_INIT(SIZE_MAX);
    int rc = capture_log_save(log, &meta);
    if (rc == 0)
        rc = capture_spill_put_meta(log, &meta);
    if (rc == 0 && log->budget) { /* little, and not to be left out */
        log->budget->used += meta.len;
        log->claimed += meta.len;
    }
    if (rc < 0)
        capture_storage_failed(log, -rc);
    capture_spill_close(log);
}

/* Bytes of a stream that are neither in its head nor in its tail. */
static uint64_t dropped(const struct capture_log *log, int s)
{
    const struct capture_stream *stream = &log->stream[s];
    return stream->total - stream->head - (log->tail ? log->tail->ring[s].len : 0);
}

uint64_t capture_log_bytes(const struct capture_log *log, int which)
{
    assert(which >= CAPTURE_OUTPUT && which <= CAPTURE_STDERR);
    return which == CAPTURE_OUTPUT ? capture_total(log) : log->stream[which - 1].total;
}

uint64_t capture_log_dropped(const struct capture_log *log, int which)
{
    assert(which >= CAPTURE_OUTPUT && which <= CAPTURE_STDERR);
    return which == CAPTURE_OUTPUT ? dropped(log, 0) + dropped(log, 1) : dropped(log, which - 1);
}

const char *capture_log_spill_name(const struct capture_log *log)
{
    return log->spilled ? log->spill_name : NULL;
}

uint64_t capture_log_claimed(const struct capture_log *log)
{
    return log->claimed;
}

bool capture_log_is_capped(const struct capture_log *log)
{
    return log->capped;
}

bool capture_log_is_partial(const struct capture_log *log)
{
    return log->partial;
}

int capture_log_storage_error(const struct capture_log *log, const char **ret_text)
{
    if (log->storage_errno && ret_text) {
        const char *text = strerrordesc_np(log->storage_errno);
        *ret_text = text ? text : "unknown error";
    }
    return log->storage_errno;
}
