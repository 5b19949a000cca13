/* SPDX-License-Identifier: MIT */
/*
 * ev/ev_priv - the inside of a loop, shared by the files of ev.
 */
#ifndef EV_EV_PRIV_H
#define EV_EV_PRIV_H

#include <uv.h>

#include "ev/ev.h"

struct ev_call {
    ev_fn cb; /* NULL: was cancelled */
    void *ctx;
};

struct ev {
    uv_loop_t loop;
    bool stopping;
    bool in_turn;
    size_t n_active; /* watchers that could fire, other than timers */

    /* Deferred calls, in the order of ev_defer(); those before next_call were made. */
    struct ev_call *calls;
    size_t n_calls, next_call, calls_cap;

    /* A binary heap by (due_ns, seq), and the one uv timer that wakes the loop for its root. */
    struct ev_timer **heap;
    size_t n_timers, heap_cap;
    uint64_t next_seq;
    uv_timer_t driver;
    uint64_t driver_due_ns; /* 0: the driver is idle */

    bool fake;
    uint64_t fake_ns;

    struct ev_poll *free_polls;
};

/* Makes the uv timer end the coming wait when the first timer is due. */
void ev_timers_arm(struct ev *ev);

/* Fires what is due by now_ns, in order; not what those callbacks start. */
void ev_timers_fire(struct ev *ev, uint64_t now_ns);

/* When the first timer is due; UINT64_MAX if there is none. */
uint64_t ev_timers_next(const struct ev *ev);

/* Frees the closed polls that are kept for re-use. */
void ev_polls_free(struct ev *ev);

/* Makes the deferred calls, with those that they add. */
void ev_run_deferred(struct ev *ev);

#endif
