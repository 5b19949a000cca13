/* SPDX-License-Identifier: MIT */
/*
 * A uv handle closes in a later turn, while an owner wants to free its memory at
 * once. So each watcher borrows a handle, and closed handles are used again.
 *
 * Stopping is lazy: it only notes that nothing is wanted. Owners stop and start
 * around each message, and for libuv either takes system calls; the handle is
 * really stopped when something arrives that nobody wants.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "ev/ev.h"
#include "ev/ev_priv.h"

struct ev_poll {
    uv_poll_t uv; /* first: the same address */
    struct ev *ev;
    ev_fd_fn cb;
    void *ctx;
    unsigned wanted; /* EV_READ | EV_WRITE, by the owner */
    unsigned armed;  /* what libuv looks for, a superset of wanted unless an error stopped it */
    bool closed;     /* the owner is gone */
    struct ev_poll *next; /* while it is free */
};

static void on_event(uv_poll_t *uv, int status, int uv_events);

static void arm(struct ev_poll *p, unsigned events)
{
    int uv_events = (events & EV_READ ? UV_READABLE : 0) | (events & EV_WRITE ? UV_WRITABLE : 0);
    int rc = uv_events ? uv_poll_start(&p->uv, uv_events, on_event) : uv_poll_stop(&p->uv);
    assert(rc == 0);
    p->armed = events;
}

static void on_event(uv_poll_t *uv, int status, int uv_events)
{
    struct ev_poll *p = (struct ev_poll *)uv;
    unsigned ready =
        (uv_events & UV_READABLE ? EV_READ : 0U) | (uv_events & UV_WRITABLE ? EV_WRITE : 0U);
    if (status < 0) { /* an error condition: libuv has stopped the handle */
        p->armed = 0;
        ready = EV_READ | EV_WRITE;
    }
    unsigned told = ready & p->wanted;
    if (told)
        p->cb(p->ctx, told);
    if (p->closed)
        return;
    if (p->armed == 0 ? p->wanted != 0 : told != ready)
        arm(p, p->wanted);
}

static void set_wanted(struct ev_poll *p, unsigned events)
{
    if (!p->wanted != !events)
        p->ev->n_active += events ? 1 : (size_t)-1;
    p->wanted = events;
}

int ev_fd_init(struct ev *ev, struct ev_fd *f, int fd, ev_fd_fn cb, void *ctx)
{
    struct ev_poll *p = ev->free_polls;
    if (p)
        ev->free_polls = p->next;
    else
        p = xnew(struct ev_poll);
    *p = (struct ev_poll){.ev = ev, .cb = cb, .ctx = ctx};
    int rc = uv_poll_init(&ev->loop, &p->uv, fd);
    if (rc < 0) {
        p->next = ev->free_polls;
        ev->free_polls = p;
        return rc; /* libuv's codes are negative errnos */
    }
    f->poll = p;
    return 0;
}

void ev_fd_start(struct ev_fd *f, unsigned events)
{
    struct ev_poll *p = f->poll;
    assert(p && !(events & ~(unsigned)(EV_READ | EV_WRITE)));
    set_wanted(p, events);
    if (events & ~p->armed)
        arm(p, events);
}

void ev_fd_stop(struct ev_fd *f)
{
    if (f->poll)
        set_wanted(f->poll, 0);
}

static void recycle(uv_handle_t *uv)
{
    struct ev_poll *p = (struct ev_poll *)uv;
    p->next = p->ev->free_polls;
    p->ev->free_polls = p;
}

void ev_fd_close(struct ev_fd *f)
{
    struct ev_poll *p = f->poll;
    if (!p)
        return;
    f->poll = NULL;
    set_wanted(p, 0);
    p->closed = true;
    uv_close((uv_handle_t *)&p->uv, recycle);
}

void ev_polls_free(struct ev *ev)
{
    while (ev->free_polls) {
        struct ev_poll *p = ev->free_polls;
        ev->free_polls = p->next;
        free(p);
    }
}
