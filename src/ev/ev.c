/* SPDX-License-Identifier: MIT */
#include "ev/ev.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "ev/ev_priv.h"

struct ev *ev_new(void)
{
    struct ev *ev = xnew(struct ev);
    if (uv_loop_init(&ev->loop) < 0) {
        free(ev);
        return NULL;
    }
    (void)uv_timer_init(&ev->loop, &ev->driver); /* cannot fail */
    return ev;
}

void ev_free(struct ev *ev)
{
    if (!ev)
        return;
    assert(!ev->in_turn);
    uv_close((uv_handle_t *)&ev->driver, NULL);
    /* Handles of closed watchers finish closing in a few turns; one that was not closed is a bug.
     */
    int rc = UV_EBUSY;
    for (int turns = 0; rc == UV_EBUSY && turns < 100; turns++) {
        (void)uv_run(&ev->loop, UV_RUN_NOWAIT);
        rc = uv_loop_close(&ev->loop);
    }
    assert(rc == 0);
    ev_polls_free(ev);
    free(ev->calls);
    free(ev->heap);
    free(ev);
}

void ev_run_deferred(struct ev *ev)
{
    while (ev->next_call < ev->n_calls) {
        struct ev_call call = ev->calls[ev->next_call++];
        if (call.cb)
            call.cb(call.ctx);
    }
    ev->next_call = ev->n_calls = 0;
}

static bool has_work(const struct ev *ev)
{
    /* With a fake clock a timer needs ev_advance(): nothing that the loop could wait for. */
    return ev->n_active > 0 || ev->n_calls > 0 || (ev->n_timers > 0 && !ev->fake);
}

bool ev_run_once(struct ev *ev, bool wait)
{
    assert(!ev->in_turn);
    ev->in_turn = true;
    if (!ev->fake)
        ev_timers_arm(ev);
    bool sleep = wait && has_work(ev) && ev->n_calls == 0;
    (void)uv_run(&ev->loop, sleep ? UV_RUN_ONCE : UV_RUN_NOWAIT);
    if (!ev->fake && ev->n_timers > 0)
        ev_timers_fire(ev, ev_now_ns(ev));
    ev_run_deferred(ev);
    ev->in_turn = false;
    return has_work(ev);
}

void ev_run(struct ev *ev)
{
    while (!ev->stopping && ev_run_once(ev, true))
        ;
    ev->stopping = false;
}

void ev_stop(struct ev *ev)
{
    ev->stopping = true;
}

int ev_poll_fd(const struct ev *ev)
{
    return uv_backend_fd(&ev->loop);
}

int ev_poll_timeout(struct ev *ev)
{
    if (!has_work(ev))
        return -1;
    if (ev->n_calls > 0)
        return 0;
    if (!ev->fake)
        ev_timers_arm(ev);
    uv_update_time(&ev->loop); /* what is left is counted from there */
    return uv_backend_timeout(&ev->loop);
}

uint64_t ev_now_ns(const struct ev *ev)
{
    return ev->fake ? ev->fake_ns : (uint64_t)clock_mono_ns();
}

void ev_set_fake_clock(struct ev *ev)
{
    assert(ev->n_timers == 0);
    if (!ev->fake)
        ev->fake_ns = (uint64_t)clock_mono_ns();
    ev->fake = true;
}

void ev_advance(struct ev *ev, uint64_t ms)
{
    assert(ev->fake && !ev->in_turn);
    ev->in_turn = true;
    uint64_t end_ns = ev->fake_ns + ms * 1000000;
    for (uint64_t due = ev_timers_next(ev); due <= end_ns; due = ev_timers_next(ev)) {
        if (due > ev->fake_ns)
            ev->fake_ns = due;
        ev_timers_fire(ev, ev->fake_ns);
        ev_run_deferred(ev);
    }
    ev->fake_ns = end_ns;
    ev->in_turn = false;
}

void ev_defer(struct ev *ev, ev_fn cb, void *ctx)
{
    assert(cb);
    if (ev->n_calls == ev->calls_cap) {
        ev->calls_cap = ev->calls_cap ? 2 * ev->calls_cap : 16;
        ev->calls = xreallocarray(ev->calls, ev->calls_cap, sizeof(*ev->calls));
    }
    ev->calls[ev->n_calls++] = (struct ev_call){.cb = cb, .ctx = ctx};
}

void ev_defer_cancel(struct ev *ev, const void *ctx)
{
    for (size_t i = ev->next_call; i < ev->n_calls; i++)
        if (ev->calls[i].ctx == ctx)
            ev->calls[i].cb = NULL;
}
