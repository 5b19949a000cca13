/* SPDX-License-Identifier: MIT */
/*
 * Output of a command on its way to a channel, live or from its log: always read by
 * cursor, so that pausing a slow reader loses and doubles nothing.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "capture/log.h"
#include "control/priv.h"

void stream_pause(struct channel *ch, bool paused)
{
    if (ch->stream && ch->stream->follower)
        rt_follow_pause(ch->stream->follower, paused);
}

static void tell_gap(struct channel *ch, uint64_t from, uint64_t to)
{
    struct answer a;
    struct json_w *w = event_begin(&a, ch, "gap");
    json_w_kuint(w, "from", from);
    json_w_kuint(w, "to", to);
    event_end(&a);
}

static bool is_over(const struct control_stream *s)
{
    return s->left == 0 || s->cursor >= s->target;
}

/* Frees the stream, and may free the channel. */
static void check_end(struct channel *ch)
{
    if (ch->stream->is_logs) {
        if (is_over(ch->stream))
            logs_finish(ch);
    } else if (ch->run) {
        run_check(ch->run);
    }
}

static void on_bytes(const char *id, int stream, uint64_t cursor, const void *p, size_t n,
                     void *ctx)
{
    (void)id;
    struct channel *ch = ctx;
    struct control_stream *s = ch->stream;
    if (!s || ch->conn->dead)
        return;
    size_t len = n;
    if (s->target - cursor < len)
        len = (size_t)(s->target - cursor);
    if (s->filter == CAPTURE_OUTPUT || s->filter == stream) {
        if (s->left < len)
            len = (size_t)s->left;
        s->left -= len;
        conn_put_output(ch, stream == CAPTURE_STDERR ? WIRE_STDERR : WIRE_STDOUT, cursor, p, len);
    }
    s->cursor = cursor + len;
    if (ch->conn->full)
        stream_pause(ch, true);
    check_end(ch);
}

static void on_gap(const char *id, uint64_t from, uint64_t to, void *ctx)
{
    (void)id;
    struct channel *ch = ctx;
    struct control_stream *s = ch->stream;
    if (!s || ch->conn->dead)
        return;
    s->cursor = to < s->target ? to : s->target;
    tell_gap(ch, from, s->cursor);
    check_end(ch);
}

static void on_end(const char *id, uint64_t cursor, void *ctx)
{
    (void)id, (void)cursor;
    struct channel *ch = ctx;
    if (!ch->stream || ch->conn->dead)
        return;
    ch->stream->left = 0;
    check_end(ch);
}

int stream_start(struct channel *ch, const char *id, const struct control_stream *stream,
                 struct err *err)
{
    struct rt_follow_events events = {on_bytes, on_gap, on_end, ch};
    ch->stream = xnew(struct control_stream);
    *ch->stream = *stream;
    (void)snprintf(ch->stream->id, sizeof(ch->stream->id), "%s", id);
    /* The follower is there before the first byte; afterwards the channel may be gone. */
    return rt_follow(ch->conn->control->rt, id, stream->cursor, true, &events,
                     &ch->stream->follower, err);
}

void stream_stop(struct channel *ch)
{
    struct control_stream *s = ch->stream;
    if (!s)
        return;
    ch->stream = NULL;
    rt_follow_free(s->follower);
    free(s);
}
