/* SPDX-License-Identifier: MIT */
/*
 * Timers are kept here, not in libuv: they need no handle that closes later, and
 * the same heap serves the real clock and the fake one.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "ev/ev.h"
#include "ev/ev_priv.h"

enum { NS_PER_MS = 1000000 };

static bool is_before(const struct ev_timer *a, const struct ev_timer *b)
{
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->seq < b->seq;
}

static void put(struct ev *ev, size_t i, struct ev_timer *t)
{
    ev->heap[i] = t;
    t->slot = i + 1;
}

static void sift_up(struct ev *ev, size_t i, struct ev_timer *t)
{
    while (i > 0 && is_before(t, ev->heap[(i - 1) / 2])) {
        put(ev, i, ev->heap[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    put(ev, i, t);
}

static void sift_down(struct ev *ev, size_t i, struct ev_timer *t)
{
    for (;;) {
        size_t child = 2 * i + 1;
        if (child + 1 < ev->n_timers && is_before(ev->heap[child + 1], ev->heap[child]))
            child++;
        if (child >= ev->n_timers || is_before(t, ev->heap[child]))
            break;
        put(ev, i, ev->heap[child]);
        i = child;
    }
    put(ev, i, t);
}

static void insert(struct ev *ev, struct ev_timer *t)
{
    if (ev->n_timers == ev->heap_cap) {
        ev->heap_cap = ev->heap_cap ? 2 * ev->heap_cap : 16;
        ev->heap = xreallocarray(ev->heap, ev->heap_cap, sizeof(struct ev_timer *));
    }
    t->seq = ev->next_seq++;
    ev->n_timers++;
    sift_up(ev, ev->n_timers - 1, t);
}

static void start(struct ev_timer *t, uint64_t ms, uint64_t period_ms)
{
    assert(t->ev);
    ev_timer_stop(t);
    uint64_t now = ev_now_ns(t->ev);
    bool far = ms > (UINT64_MAX - now) / NS_PER_MS;
    t->due_ns = far ? UINT64_MAX : now + ms * NS_PER_MS;
    t->period_ns = period_ms * NS_PER_MS;
    insert(t->ev, t);
}

static void wake_loop(uv_timer_t *driver)
{
    struct ev *ev = uv_handle_get_data((uv_handle_t *)driver);
    ev->driver_due_ns = 0; /* the timers themselves are fired after the wait */
    /* uv_run() runs this before it waits if the time has come by then: it must not wait any more.
     */
    uv_stop(&ev->loop);
}

void ev_timers_arm(struct ev *ev)
{
    uint64_t due = ev_timers_next(ev);
    if (due == UINT64_MAX)
        due = 0;
    if (due == ev->driver_due_ns)
        return;
    ev->driver_due_ns = due;
    if (due == 0) {
        (void)uv_timer_stop(&ev->driver);
        return;
    }
    uint64_t now = ev_now_ns(ev);
    uint64_t wait_ms = due > now ? (due - now + NS_PER_MS - 1) / NS_PER_MS : 0;
    uv_update_time(&ev->loop); /* uv counts from its own idea of now, which may be old */
    uv_handle_set_data((uv_handle_t *)&ev->driver, ev);
    (void)uv_timer_start(&ev->driver, wake_loop, wait_ms, 0);
}

void ev_timers_fire(struct ev *ev, uint64_t now_ns)
{
    uint64_t end_seq = ev->next_seq;
    while (ev->n_timers > 0) {
        struct ev_timer *t = ev->heap[0];
        if (t->due_ns > now_ns || t->seq >= end_seq)
            break;
        ev_timer_stop(t);
        if (t->period_ns > 0) {
            /* Periods that were missed altogether are skipped. */
            uint64_t missed = (now_ns - t->due_ns) / t->period_ns;
            t->due_ns += (missed + 1) * t->period_ns;
            insert(ev, t);
        }
        t->cb(t->ctx); /* may have freed t */
    }
}

uint64_t ev_timers_next(const struct ev *ev)
{
    return ev->n_timers > 0 ? ev->heap[0]->due_ns : UINT64_MAX;
}

void ev_timer_init(struct ev *ev, struct ev_timer *t, ev_fn cb, void *ctx)
{
    *t = (struct ev_timer){.ev = ev, .cb = cb, .ctx = ctx};
}

void ev_timer_start(struct ev_timer *t, uint64_t ms)
{
    start(t, ms, 0);
}

void ev_timer_repeat(struct ev_timer *t, uint64_t ms)
{
    assert(ms > 0);
    start(t, ms, ms);
}

bool ev_timer_active(const struct ev_timer *t)
{
    return t->slot > 0;
}

void ev_timer_stop(struct ev_timer *t)
{
    if (t->slot == 0)
        return;
    struct ev *ev = t->ev;
    size_t i = t->slot - 1;
    assert(i < ev->n_timers && ev->heap[i] == t);
    struct ev_timer *last = ev->heap[--ev->n_timers];
    t->slot = 0;
    if (last == t)
        return;
    if (i > 0 && is_before(last, ev->heap[(i - 1) / 2]))
        sift_up(ev, i, last);
    else
        sift_down(ev, i, last);
}

void ev_timer_close(struct ev_timer *t)
{
    ev_timer_stop(t);
    t->ev = NULL;
}
