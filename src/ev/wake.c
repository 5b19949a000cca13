/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "ev/ev.h"
#include "ev/ev_priv.h"

struct ev_async {
    uv_async_t uv; /* first: the same address */
    struct ev *ev;
    ev_fn cb;
    void *ctx;
};

static void on_wake(uv_async_t *uv)
{
    struct ev_async *async = (struct ev_async *)uv;
    async->cb(async->ctx);
}

static void release(uv_handle_t *uv)
{
    free((struct ev_async *)uv);
}

int ev_wake_init(struct ev *ev, struct ev_wake *w, ev_fn cb, void *ctx)
{
    struct ev_async *async = xnew(struct ev_async);
    async->ev = ev;
    async->cb = cb;
    async->ctx = ctx;
    int rc = uv_async_init(&ev->loop, &async->uv, on_wake);
    if (rc < 0) {
        free(async);
        return rc;
    }
    ev->n_active++;
    w->async = async;
    return 0;
}

void ev_wake_send(struct ev_wake *w)
{
    int rc = uv_async_send(&w->async->uv);
    assert(rc == 0);
    (void)rc;
}

void ev_wake_close(struct ev_wake *w)
{
    if (!w->async)
        return;
    w->async->ev->n_active--;
    uv_close((uv_handle_t *)&w->async->uv, release);
    w->async = NULL;
}
