/* SPDX-License-Identifier: MIT */
/*
 * ev/ev - the event loop: descriptors, timers, signals, wake-ups from threads.
 *
 * A thin layer over libuv. Watchers are embedded by value in their owner and
 * need no allocation per event. Closing one is immediate: once x_close() has
 * returned its callback is not called again and the owner may free the memory,
 * also from within that very callback.
 *
 * A watcher has the states unused (zeroed) -> idle (x_init) <-> started ->
 * unused (x_close). x_stop and x_close accept a watcher in any state.
 *
 * Time is CLOCK_MONOTONIC, or a fake clock that only ev_advance() moves.
 *
 * One loop belongs to one thread; ev_wake_send() alone may be called from any.
 */
#ifndef EV_EV_H
#define EV_EV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ev;

/* What ev_fd_start() asks for and what an ev_fd_fn is told. */
enum {
    EV_READ = 1 << 0,
    EV_WRITE = 1 << 1,
};

typedef void (*ev_fn)(void *ctx);
typedef void (*ev_fd_fn)(void *ctx, unsigned events);
typedef void (*ev_signal_fn)(void *ctx, int signo);

/* The fields of these structs are private to ev. */
struct ev_fd {
    struct ev_poll *poll; /* NULL when unused */
};

struct ev_timer {
    struct ev *ev; /* NULL when unused */
    ev_fn cb;
    void *ctx;
    uint64_t due_ns;
    uint64_t period_ns; /* 0: fires once */
    uint64_t seq;       /* keeps timers of one instant in the order they were started */
    size_t slot;        /* index in the heap + 1; 0 when idle */
};

struct ev_signal {
    struct ev_sig *sig; /* NULL when unused */
};

struct ev_wake {
    struct ev_async *async; /* NULL when unused */
};

/* A new loop, or NULL when the process is out of descriptors. */
struct ev *ev_new(void);

/* Frees ev, which may be NULL. All watchers must have been closed, deferred calls are dropped. */
void ev_free(struct ev *ev);

/*
 * One turn: handles what is ready, then the deferred calls. With `wait` it sleeps until there is
 * something; without, it only looks. Returns whether a watcher is left that could ever fire.
 */
bool ev_run_once(struct ev *ev, bool wait);

/* Turns until ev_stop() is called or nothing is left to wait for. */
void ev_run(struct ev *ev);

/* Makes the ev_run() in progress, or the next one, return at the end of its turn. */
void ev_stop(struct ev *ev);

/*
 * For a loop around this one: a descriptor, of which only readability counts, and the milliseconds
 * (-1: any time) after which ev_run_once(ev, false) is to be called even if it is not readable. The
 * time holds until the next call of ev; it is 0 while the descriptor does not know yet what is
 * waited for.
 */
int ev_poll_fd(const struct ev *ev);
int ev_poll_timeout(struct ev *ev);

/* Nanoseconds of CLOCK_MONOTONIC now (not of the turn's begin), or of the fake clock. */
uint64_t ev_now_ns(const struct ev *ev);

/*
 * Stops the clock; only ev_advance() moves it from here on. For tests; to be called before the
 * first timer is started. With a fake clock ev_run_once() does not wait for timers.
 */
void ev_set_fake_clock(struct ev *ev);

/*
 * Moves the fake clock on by ms, firing every timer that comes due on the way at its own time and
 * in order, each followed by the deferred calls.
 */
void ev_advance(struct ev *ev, uint64_t ms);

/*
 * Watches fd, which becomes non-blocking and must stay open until ev_fd_close(). One watcher per
 * descriptor (-EEXIST); -EPERM for what cannot be waited for, such as a regular file.
 *
 * The callback gets the wanted events that are ready. Hang-up and error are told as every wanted
 * event: the next read or write says what happened. It is level-triggered.
 */
int ev_fd_init(struct ev *ev, struct ev_fd *f, int fd, ev_fd_fn cb, void *ctx);

/* Waits for `events` (EV_READ | EV_WRITE), in place of what was waited for; 0 stops. Cheap. */
void ev_fd_start(struct ev_fd *f, unsigned events);
void ev_fd_stop(struct ev_fd *f);

/* Forgets the descriptor, without closing it. To be called before close(fd). */
void ev_fd_close(struct ev_fd *f);

void ev_timer_init(struct ev *ev, struct ev_timer *t, ev_fn cb, void *ctx);

/* Fires once after ms (0: in the next turn), or every ms. Replaces an earlier start. */
void ev_timer_start(struct ev_timer *t, uint64_t ms);
void ev_timer_repeat(struct ev_timer *t, uint64_t ms);
bool ev_timer_active(const struct ev_timer *t);
void ev_timer_stop(struct ev_timer *t);
void ev_timer_close(struct ev_timer *t);

/*
 * Calls cb(ctx) at the end of this turn, or of the next if none is in progress: never from within
 * ev_defer(). Calls deferred by deferred calls come in the same turn.
 */
void ev_defer(struct ev *ev, ev_fn cb, void *ctx);

/* Drops every deferred call with this ctx. */
void ev_defer_cancel(struct ev *ev, const void *ctx);

/* Calls cb when the process gets signo. Several watchers of one signal are all told. */
int ev_signal_init(struct ev *ev, struct ev_signal *s, int signo, ev_signal_fn cb, void *ctx);
void ev_signal_close(struct ev_signal *s);

/*
 * A wake-up that other threads may send. Sends that come before the callback ran are merged. It
 * keeps ev_run() going until it is closed.
 */
int ev_wake_init(struct ev *ev, struct ev_wake *w, ev_fn cb, void *ctx);

/* Thread-safe and async-signal-safe; w must not be closed at the same time. */
void ev_wake_send(struct ev_wake *w);
void ev_wake_close(struct ev_wake *w);

#endif
