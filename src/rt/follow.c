/* SPDX-License-Identifier: MIT */
/*
 * Followers read a command's log from a cursor and go on as it grows. A paused
 * one falls behind; it is caught up from the log, so nothing is lost or doubled.
 */
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "capture/log.h"
#include "rt/priv.h"

enum { CATCH_UP_BYTES = 256 * 1024 }; /* a step; a consumer may pause between two */

struct rt_follower {
    struct rt_observer observer;
    struct ev *ev;
    struct command *c; /* a reference */
    struct rt_follow_events events;
    uint64_t cursor;
    bool paused, ended;
    bool busy; /* in a callback: freeing waits */
    bool freed;
};

static struct rt_follower *of(struct rt_observer *o)
{
    return list_entry(o, struct rt_follower, observer);
}

/* Bytes up to there are no longer held; told before what follows them. */
static void skip_to(struct rt_follower *f, uint64_t cursor)
{
    uint64_t from = f->cursor;
    if (cursor <= from)
        return;
    f->cursor = cursor;
    if (f->events.on_gap)
        f->events.on_gap(f->c->id, from, cursor, f->events.ctx);
}

static int on_piece(const struct capture_piece *piece, void *ctx)
{
    struct rt_follower *f = ctx;
    skip_to(f, piece->at);
    if (f->paused || f->freed)
        return 1;
    f->cursor = piece->at + piece->len;
    f->events.on_bytes(f->c->id, piece->stream, piece->at, piece->bytes, piece->len, f->events.ctx);
    return f->paused || f->freed ? 1 : 0;
}

/* Tells what the log holds from the cursor on, until it is caught up or must not go on. */
static int catch_up(struct rt_follower *f, struct err *err)
{
    while (!f->paused && !f->freed && f->cursor < capture_log_bytes(f->c->log, CAPTURE_OUTPUT)) {
        struct capture_request request = {CAPTURE_OUTPUT, f->cursor, CATCH_UP_BYTES};
        struct capture_read got;
        int rc = capture_log_read(f->c->log, &request, on_piece, f, &got, err);
        if (rc < 0)
            return rc;
        if (!f->paused && !f->freed)
            skip_to(f, got.next);
    }
    return 0;
}

static bool is_over(const struct rt_follower *f)
{
    return command_state_is_final(f->c->state) && f->c->quiet &&
           f->cursor >= capture_log_bytes(f->c->log, CAPTURE_OUTPUT);
}

static void release(struct rt_follower *f)
{
    rt_unobserve(&f->observer);
    ev_defer_cancel(f->ev, f);
    command_unref(f->c);
    free(f);
}

/* One round: catch up, and say so when that was all. */
static void go_on(struct rt_follower *f)
{
    if (f->busy || f->ended)
        return;
    f->busy = true;
    /* Bytes that are there but cannot be read (a failing disk) are gone for this reader. */
    if (catch_up(f, NULL) < 0 && !f->freed)
        skip_to(f, capture_log_bytes(f->c->log, CAPTURE_OUTPUT));
    if (!f->freed && !f->paused && is_over(f)) {
        f->ended = true;
        if (f->events.on_end)
            f->events.on_end(f->c->id, f->cursor, f->events.ctx);
    }
    f->busy = false;
    if (f->freed)
        release(f);
}

static void on_output(struct rt_observer *o, int stream, const void *p, size_t n)
{
    (void)stream, (void)p, (void)n;
    go_on(of(o));
}

static void on_change(struct rt_observer *o)
{
    go_on(of(o));
}

static void go_on_later(void *ctx)
{
    go_on(ctx);
}

int rt_follow(struct rt *rt, const char *id, uint64_t cursor, bool follow,
              const struct rt_follow_events *events, struct rt_follower **ret_f, struct err *err)
{
    struct rt_command *rc = rt_get_command(rt, id, err);
    if (!rc)
        return -ERR_NOT_FOUND;
    uint64_t end = capture_log_bytes(rc->c->log, CAPTURE_OUTPUT);
    if (cursor > end)
        return err_set(err, ERR_INVALID, "cursor %llu: the log of '%s' ends at %llu",
                       (unsigned long long)cursor, id, (unsigned long long)end);
    struct rt_follower *f = xnew(struct rt_follower);
    f->ev = rt->ev;
    f->c = command_ref(rc->c);
    f->events = *events;
    f->cursor = cursor;
    f->observer =
        (struct rt_observer){.on_output = on_output, .on_final = on_change, .on_quiet = on_change};
    if (follow) {
        rt_observe(rc, &f->observer);
        *ret_f = f;
        go_on(f);
        return 0;
    }
    int ret = catch_up(f, err);
    if (ret == 0 && events->on_end)
        events->on_end(id, f->cursor, events->ctx);
    *ret_f = NULL;
    release(f);
    return ret;
}

void rt_follow_pause(struct rt_follower *f, bool paused)
{
    bool resumed = f->paused && !paused;
    f->paused = paused;
    if (resumed)
        ev_defer(f->ev, go_on_later, f);
}

void rt_follow_free(struct rt_follower *f)
{
    if (!f)
        return;
    f->freed = true;
    if (!f->busy)
        release(f);
}
