/* SPDX-License-Identifier: MIT */
/*
 * capture/view - the part of an output that is shown.
 *
 * What fits view_max is shown whole, byte for byte. Of the rest the view keeps a
 * head (3/8) and a tail (5/8), cut so that no UTF-8 character is split. The tail
 * is larger since the end of an output says how it went (the error, the summary
 * of a test run), while the head says only what began.
 *
 * The three views have a budget each, so a flood on stdout leaves stderr whole.
 */
#ifndef CAPTURE_VIEW_H
#define CAPTURE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/own.h"

struct buf;
struct capture_log;

struct capture_view {
    const char *head; /* all of it if nothing was left out; never NULL */
    size_t head_len;
    const char *tail; /* empty if nothing was left out; never NULL */
    size_t tail_len;
    uint64_t total;   /* bytes of the raw output */
    uint64_t omitted; /* of these, between head and tail: total - head_len - tail_len */
    bool truncated;   /* omitted > 0 */
    bool utf8;        /* head and tail are valid UTF-8; else they want base64 */
    char *owned;      /* memory of head and tail, or NULL where they are the log's own */
};

/*
 * Makes the view of CAPTURE_OUTPUT, CAPTURE_STDOUT or CAPTURE_STDERR. It may point
 * into log: use it before the next append or free, and release it with
 * capture_view_done(). Bytes that storage has lost count as omitted.
 */
void capture_log_view(struct capture_log *log, int which, struct capture_view *ret);

void capture_view_done(struct capture_view *view);

/*
 * Appends the text form: head, tail, and between them, if anything was omitted, a
 * line "[... 12345 bytes omitted ...]" that counts in no field. -ERR_LIMIT.
 */
int capture_view_text(const struct capture_view *view, struct buf *ret);

/* Writes that line with its newlines into ret (CAPTURE_MARKER_MAX bytes): its length. */
size_t capture_view_marker(uint64_t omitted, char *ret);

DEFINE_AUTO_DONE(struct capture_view, capture_view_done)

#endif
