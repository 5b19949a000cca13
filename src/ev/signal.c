/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/mem.h"
#include "ev/ev.h"
#include "ev/ev_priv.h"

struct ev_sig {
    uv_signal_t uv; /* first: the same address */
    struct ev *ev;
    ev_signal_fn cb;
    void *ctx;
};

static void on_signal(uv_signal_t *uv, int signo)
{
    struct ev_sig *sig = (struct ev_sig *)uv;
    sig->cb(sig->ctx, signo);
}

static void release(uv_handle_t *uv)
{
    free((struct ev_sig *)uv);
}

int ev_signal_init(struct ev *ev, struct ev_signal *s, int signo, ev_signal_fn cb, void *ctx)
{
    struct ev_sig *sig = xnew(struct ev_sig);
    sig->ev = ev;
    sig->cb = cb;
    sig->ctx = ctx;
    int rc = uv_signal_init(&ev->loop, &sig->uv);
    if (rc < 0) {
        free(sig);
        return rc;
    }
    rc = uv_signal_start(&sig->uv, on_signal, signo);
    if (rc < 0) {
        uv_close((uv_handle_t *)&sig->uv, release);
        return rc;
    }
    ev->n_active++;
    s->sig = sig;
    return 0;
}

void ev_signal_close(struct ev_signal *s)
{
    if (!s->sig)
        return;
    s->sig->ev->n_active--;
    uv_close((uv_handle_t *)&s->sig->uv, release);
    s->sig = NULL;
}
