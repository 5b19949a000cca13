/* SPDX-License-Identifier: MIT */
#include "capture/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/utf8.h"
#include "capture/log_priv.h"

/* The part of a view that its head gets; the reason is in the header. */
enum { HEAD_PARTS = 3, ALL_PARTS = 8 };

/* A cut needs to see the character it might split. */
enum { CUT_SLACK = UTF8_CHAR_MAX - 1 };

/* Bytes that are collected for a view. */
struct part {
    char *data;
    size_t len, max;
};

static int add_piece(const struct capture_piece *piece, void *ctx)
{
    struct part *part = ctx;
    size_t n = piece->len < part->max - part->len ? piece->len : part->max - part->len;
    memcpy(part->data + part->len, piece->bytes, n);
    part->len += n;
    return 0;
}

/* Reads up to part->max bytes from `from` on; false if storage fails. */
static bool read_part(struct capture_log *log, int which, uint64_t from, struct part *part,
                      struct capture_read *ret)
{
    struct capture_request request = {.which = which, .cursor = from, .max = part->max};
    return capture_log_read(log, &request, add_piece, part, ret, NULL) == 0;
}

/* The head: up to `budget` bytes from the start, up to the first gap. */
static size_t read_head(struct capture_log *log, int which, size_t budget, char *data)
{
    uint64_t total = capture_log_bytes(log, which);
    struct part part = {.data = data, .max = budget + CUT_SLACK};
    struct capture_read read;
    if (!read_part(log, which, 0, &part, &read) || read.gap_from < read.gap_to)
        return 0;
    if (part.len == total && total <= budget)
        return part.len;
    if (part.len > budget)
        return utf8_floor(data, part.len, budget);
    return part.len - utf8_incomplete_tail(data, part.len);
}

/* Bytes at the start that can only be the rest of a character. */
static size_t rest_of_char(const char *data, size_t len)
{
    size_t n = 0;
    while (n < len && n < CUT_SLACK && ((unsigned char)data[n] & 0xC0) == 0x80)
        n++;
    return n;
}

/*
 * The tail: up to `budget` bytes before the end, from the last gap on, none before
 * `from`. It is at data + *ret_at.
 */
static size_t read_tail(struct capture_log *log, int which, uint64_t from, size_t budget,
                        char *data, size_t *ret_at)
{
    uint64_t total = capture_log_bytes(log, which);
    uint64_t cut = total - from > budget ? total - budget : from;
    uint64_t at = cut - from > CUT_SLACK ? cut - CUT_SLACK : from;
    struct part part = {.data = data, .max = budget + CUT_SLACK};
    bool gap = false;
    *ret_at = 0;
    while (at < total) {
        struct capture_read read;
        uint64_t asked = at;
        if (part.len > 0) { /* what was held before a gap is no part of the tail */
            gap = true;
            part.len = 0;
        }
        if (!read_part(log, which, at, &part, &read))
            return 0;
        if (read.gap_from < read.gap_to)
            gap = true;
        at = read.next;
        if (at <= asked)
            break;
    }
    uint64_t start = total - part.len;
    if (start < cut)
        *ret_at = utf8_ceil(data, part.len, (size_t)(cut - start));
    else if (gap)
        *ret_at = rest_of_char(data, part.len);
    return part.len - *ret_at;
}

/* Cuts bytes that are all in memory. */
static void cut_in_place(const char *data, size_t total, size_t max, struct capture_view *ret)
{
    size_t head = total, tail = total;
    if (total > max) {
        size_t budget = max / ALL_PARTS * HEAD_PARTS;
        head = utf8_floor(data, total, budget);
        tail = utf8_ceil(data, total, total - (max - budget));
    }
    ret->head = data;
    ret->head_len = head;
    ret->tail = data + tail;
    ret->tail_len = total - tail;
}

static void collect(struct capture_log *log, int which, struct capture_view *ret)
{
    size_t max = log->view_max;
    bool fits = ret->total <= max;
    size_t head_size = fits ? (size_t)ret->total : max / ALL_PARTS * HEAD_PARTS;
    size_t tail_budget = fits ? (size_t)ret->total : max - head_size;

    char *data = xmalloc(head_size + tail_budget + 2 * (size_t)CUT_SLACK);
    ret->owned = data;
    ret->head = data;
    ret->head_len = read_head(log, which, head_size, data);
    if (ret->head_len < ret->total) {
        char *tail = data + head_size + CUT_SLACK;
        size_t at;
        ret->tail_len = read_tail(log, which, ret->head_len, tail_budget, tail, &at);
        ret->tail = tail + at;
    }
}

/* Whether these are the bytes of one stream, and in one piece. */
static bool is_in_memory(const struct capture_log *log, int which)
{
    if (which == CAPTURE_OUTPUT)
        return false;
    const struct capture_stream *stream = &log->stream[which - 1];
    return stream->mem && stream->head == stream->total;
}

void capture_log_view(struct capture_log *log, int which, struct capture_view *ret)
{
    *ret = (struct capture_view){.head = "", .tail = ""};
    ret->total = capture_log_bytes(log, which);
    if (which == CAPTURE_OUTPUT && log->stream[1].total == 0)
        which = CAPTURE_STDOUT;
    else if (which == CAPTURE_OUTPUT && log->stream[0].total == 0)
        which = CAPTURE_STDERR;

    if (is_in_memory(log, which))
        cut_in_place(log->stream[which - 1].mem, (size_t)ret->total, log->view_max, ret);
    else if (ret->total > 0)
        collect(log, which, ret);

    ret->omitted = ret->total - ret->head_len - ret->tail_len;
    ret->truncated = ret->omitted > 0;
    ret->utf8 = utf8_is_valid(ret->head, ret->head_len) && utf8_is_valid(ret->tail, ret->tail_len);
}

void capture_view_done(struct capture_view *view)
{
    if (!view)
        return;
    free(view->owned);
    *view = (struct capture_view){.head = "", .tail = ""};
}

size_t capture_view_marker(uint64_t omitted, char *ret)
{
    return (size_t)snprintf(ret, CAPTURE_MARKER_MAX, "\n[... %" PRIu64 " byte%s omitted ...]\n",
                            omitted, omitted == 1 ? "" : "s");
}

int capture_view_text(const struct capture_view *view, struct buf *ret)
{
    char marker[CAPTURE_MARKER_MAX];
    size_t before = ret->len;
    int rc = buf_append(ret, view->head, view->head_len);
    if (rc == 0 && view->truncated)
        rc = buf_append(ret, marker, capture_view_marker(view->omitted, marker));
    if (rc == 0)
        rc = buf_append(ret, view->tail, view->tail_len);
    if (rc < 0)
        buf_truncate(ret, before);
    return rc;
}
