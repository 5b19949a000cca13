/* SPDX-License-Identifier: MIT */
/*
 * Waits: for the end of a command, for a line of its log, for a port.
 */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "capture/log.h"
#include "match/scan.h"
#include "rt/priv.h"

enum {
    TIMEOUT_MS = 60000,
    PORT_EVERY_MS = 25,
    PORT_TRY_MS = 1000, /* one attempt to connect */
};

struct rt_waiter {
    struct rt_observer observer;
    struct rt *rt;
    struct command *c; /* a reference */
    enum rt_wait_what what;
    void (*cb)(enum rt_wait_end end, const char *line, size_t len, void *ctx);
    void *ctx;
    struct ev_timer timeout;
    /* RT_WAIT_LOG */
    struct scan *scan[2]; /* stdout, stderr: a line is of one stream */
    /* RT_WAIT_PORT */
    struct sockaddr_storage addr;
    socklen_t addr_len;
    int fd;
    struct ev_fd watch;
    struct ev_timer again;
    enum rt_wait_end end;
    char *line;
    size_t line_len;
};

static struct rt_waiter *of(struct rt_observer *o)
{
    return list_entry(o, struct rt_waiter, observer);
}

void rt_wait_cancel(struct rt_waiter *w)
{
    if (!w)
        return;
    rt_unobserve(&w->observer);
    ev_defer_cancel(w->rt->ev, w);
    ev_timer_close(&w->timeout);
    ev_timer_close(&w->again);
    ev_fd_close(&w->watch);
    own_close_fd(&w->fd);
    scan_free(w->scan[0]);
    scan_free(w->scan[1]);
    command_unref(w->c);
    free(w->line);
    free(w);
}

static void tell(void *ctx)
{
    struct rt_waiter *w = ctx;
    auto_free char *line = take_ptr(w->line);
    size_t len = w->line_len;
    enum rt_wait_end end = w->end;
    void (*cb)(enum rt_wait_end, const char *, size_t, void *) = w->cb;
    void *cb_ctx = w->ctx;
    rt_wait_cancel(w);
    cb(end, line, len, cb_ctx);
}

/* The answer comes from the loop, never from within a call. */
static void finish(struct rt_waiter *w, enum rt_wait_end end, const char *line, size_t len)
{
    if (!w->observer.rc)
        return; /* told already */
    rt_unobserve(&w->observer);
    ev_timer_stop(&w->timeout);
    ev_timer_stop(&w->again);
    ev_fd_close(&w->watch);
    own_close_fd(&w->fd);
    w->end = end;
    w->line = line ? xmemdup(line, len) : NULL;
    w->line_len = line ? len : 0;
    ev_defer(w->rt->ev, tell, w);
}

static void on_timeout(void *ctx)
{
    finish(ctx, RT_WAIT_TIMEOUT, NULL, 0);
}

/* ---- a line ---- */

static bool feed(struct rt_waiter *w, int stream, const char *p, size_t n)
{
    struct scan *scan = w->scan[stream == CAPTURE_STDERR];
    struct scan_hit hit;
    if (scan_feed(scan, p, n, &hit, NULL) > 0 || scan_partial(scan, &hit) > 0) {
        finish(w, RT_WAIT_MET, hit.line, hit.len);
        return true;
    }
    return false;
}

static int on_piece(const struct capture_piece *piece, void *ctx)
{
    return feed(ctx, piece->stream, piece->bytes, piece->len) ? 1 : 0;
}

static void on_output(struct rt_observer *o, int stream, const void *p, size_t n)
{
    struct rt_waiter *w = of(o);
    if (w->what == RT_WAIT_LOG)
        (void)feed(w, stream, p, n);
}

static void on_final(struct rt_observer *o)
{
    struct rt_waiter *w = of(o);
    if (w->what == RT_WAIT_EXIT)
        finish(w, RT_WAIT_MET, NULL, 0);
    else if (!w->c->n_survivors)
        finish(w, RT_WAIT_EXITED, NULL, 0);
}

static void on_quiet(struct rt_observer *o)
{
    struct rt_waiter *w = of(o);
    if (w->what == RT_WAIT_LOG)
        finish(w, RT_WAIT_EXITED, NULL, 0);
}

static int start_log(struct rt_waiter *w, const struct rt_wait *wait, struct err *err)
{
    struct scan_options o = {.pattern = wait->pattern, .is_regex = wait->is_regex};
    for (int i = 0; i < 2; i++) {
        int rc = scan_new(&o, &w->scan[i], err);
        if (rc < 0)
            return rc;
    }
    /* The log so far: the line may have been printed before anybody asked. */
    struct capture_request request = {CAPTURE_OUTPUT, 0, 0};
    struct capture_read got;
    return capture_log_read(w->c->log, &request, on_piece, w, &got, err);
}

/* ---- a port ---- */

static void on_connected(void *ctx, unsigned events)
{
    (void)events;
    struct rt_waiter *w = ctx;
    int error = 0;
    socklen_t len = sizeof(error);
    (void)getsockopt(w->fd, SOL_SOCKET, SO_ERROR, &error, &len);
    if (error == 0) {
        finish(w, RT_WAIT_MET, NULL, 0);
        return;
    }
    ev_fd_close(&w->watch);
    own_close_fd(&w->fd);
    ev_timer_start(&w->again, PORT_EVERY_MS);
}

static void try_port(void *ctx)
{
    struct rt_waiter *w = ctx;
    ev_fd_close(&w->watch); /* an attempt that took too long */
    own_close_fd(&w->fd);
    w->fd = socket(w->addr.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    ev_timer_start(&w->again, PORT_EVERY_MS);
    if (w->fd < 0)
        return;
    int rc = connect(w->fd, (const struct sockaddr *)&w->addr, w->addr_len);
    if (rc == 0) {
        finish(w, RT_WAIT_MET, NULL, 0);
    } else if (errno == EINPROGRESS &&
               ev_fd_init(w->rt->ev, &w->watch, w->fd, on_connected, w) == 0) {
        ev_fd_start(&w->watch, EV_WRITE);
        ev_timer_start(&w->again, PORT_TRY_MS);
    } else {
        own_close_fd(&w->fd);
    }
}

static int start_port(struct rt_waiter *w, const struct rt_wait *wait, struct err *err)
{
    if (!wait->port)
        return err_set(err, ERR_INVALID, "port: expected 1-65535");
    char port[8];
    (void)snprintf(port, sizeof(port), "%u", wait->port);
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
                             .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    const char *host = wait->host ? wait->host : "127.0.0.1";
    if (getaddrinfo(host, port, &hints, &found) != 0)
        return err_set(err, ERR_INVALID, "host '%.80s': expected a numeric address", host);
    memcpy(&w->addr, found->ai_addr, found->ai_addrlen);
    w->addr_len = found->ai_addrlen;
    freeaddrinfo(found);
    ev_timer_init(w->rt->ev, &w->again, try_port, w);
    try_port(w);
    return 0;
}

/* ---- all ---- */

static int start(struct rt_waiter *w, const struct rt_wait *wait, struct err *err)
{
    bool final = command_state_is_final(w->c->state);
    switch (wait->what) {
    case RT_WAIT_EXIT:
        if (final)
            finish(w, RT_WAIT_MET, NULL, 0);
        return 0;
    case RT_WAIT_LOG: {
        if (!wait->pattern || !*wait->pattern)
            return err_set(err, ERR_INVALID, "pattern: expected a text to wait for");
        int rc = start_log(w, wait, err);
        if (rc == 0 && final && w->c->quiet)
            finish(w, RT_WAIT_EXITED, NULL, 0);
        return rc;
    }
    case RT_WAIT_PORT: {
        int rc = start_port(w, wait, err);
        if (rc == 0 && final && !w->c->n_survivors)
            finish(w, RT_WAIT_EXITED, NULL, 0);
        return rc;
    }
    }
    return err_set(err, ERR_INVALID, "wait: expected an exit, a log line or a port");
}

int rt_wait(struct rt *rt, const struct rt_wait *wait, struct rt_waiter **ret_w, struct err *err)
{
    struct rt_command *rc = rt_get_command(rt, wait->id, err);
    if (!rc)
        return -ERR_NOT_FOUND;
    if (wait->timeout_ms < 0)
        return err_set(err, ERR_INVALID, "timeoutMs: expected a positive number, not %lld",
                       (long long)wait->timeout_ms);
    struct rt_waiter *w = xnew(struct rt_waiter);
    w->rt = rt;
    w->c = command_ref(rc->c);
    w->what = wait->what;
    w->cb = wait->cb;
    w->ctx = wait->ctx;
    w->fd = -1;
    w->observer =
        (struct rt_observer){.on_output = on_output, .on_final = on_final, .on_quiet = on_quiet};
    rt_observe(rc, &w->observer);
    ev_timer_init(rt->ev, &w->timeout, on_timeout, w);
    ev_timer_start(&w->timeout, (uint64_t)(wait->timeout_ms ? wait->timeout_ms : TIMEOUT_MS));
    int ret = start(w, wait, err);
    if (ret < 0) {
        rt_wait_cancel(w);
        return ret;
    }
    *ret_w = w;
    return 0;
}
