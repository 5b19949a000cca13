/* SPDX-License-Identifier: MIT */
#include "cli/out.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/io.h"
#include "cli/stdio.h"

enum {
    QUEUE_MARK = 1024 * 1024,      /* from here on the writer should wait */
    QUEUE_MAX = 256 * 1024 * 1024, /* here it has to */
    WAIT_MS = 100,                 /* per mark that is queued */
    WAIT_MAX_MS = 1000,
};

static void break_off(struct cli_out *o, int error)
{
    o->error = error;
    buf_done(&o->queue);
    ev_fd_close(&o->watch);
    if (o->on_room)
        o->on_room(o->ctx);
}

/* As much as goes without waiting; the bytes written. */
static size_t write_some(struct cli_out *o, const char *p, size_t n)
{
    size_t done = 0;
    while (done < n && !o->error) {
        ssize_t k = write(o->fd, p + done, n - done);
        if (k >= 0)
            done += (size_t)k;
        else if (errno == EAGAIN)
            break;
        else if (errno != EINTR)
            break_off(o, errno);
    }
    return done;
}

/* Writes from the queue; watches for more room while something is left. */
static void drain(struct cli_out *o)
{
    bool was_full = cli_out_is_full(o);
    size_t n = write_some(o, o->queue.data, o->queue.len);
    if (o->error)
        return;
    buf_consume(&o->queue, n);
    ev_fd_start(&o->watch, o->queue.len ? EV_WRITE : 0);
    if (was_full && !cli_out_is_full(o) && o->on_room)
        o->on_room(o->ctx);
}

/* One poll for room and one write: false if there was no room in time, or a signal came. */
static bool wait_once(struct cli_out *o, int ms)
{
    struct pollfd p = {.fd = o->fd, .events = POLLOUT};
    if (poll(&p, 1, ms) <= 0)
        return false;
    drain(o);
    return true;
}

static void on_writable(void *ctx, unsigned events)
{
    (void)events;
    drain(ctx);
}

void cli_out_init(struct cli_out *o, struct ev *ev, int fd)
{
    *o = (struct cli_out){.ev = ev, .fd = fd, .queue = BUF_INIT(QUEUE_MAX)};
    int copy = cli_stdio_open(fd, true);
    if (copy < 0)
        return;
    o->fd = copy;
    o->owns_fd = true;
    o->blocks = ev_fd_init(ev, &o->watch, copy, on_writable, o) == 0;
    if (!o->blocks) /* /dev/null and the like, which are always ready */
        (void)io_set_nonblock(copy, false);
}

void cli_out_write(struct cli_out *o, const void *p, size_t n)
{
    if (o->error)
        return;
    if (!o->blocks) {
        int rc = io_write_all(o->fd, p, n);
        if (rc < 0)
            break_off(o, -rc);
        return;
    }
    size_t done = o->queue.len ? 0 : write_some(o, p, n);
    if (o->error || done == n)
        return;
    const char *rest = (const char *)p + done;
    while (!o->error && buf_append(&o->queue, rest, n - done) < 0)
        (void)wait_once(o, -1);
    if (!o->error)
        ev_fd_start(&o->watch, EV_WRITE);
}

bool cli_out_is_full(const struct cli_out *o)
{
    return o->queue.len >= QUEUE_MARK;
}

void cli_out_wait(struct cli_out *o)
{
    while (cli_out_is_full(o)) {
        size_t ms = o->queue.len / QUEUE_MARK * WAIT_MS;
        if (!wait_once(o, ms < WAIT_MAX_MS ? (int)ms : WAIT_MAX_MS))
            return;
    }
}

void cli_out_done(struct cli_out *o)
{
    ev_fd_close(&o->watch);
    buf_done(&o->queue);
    if (o->owns_fd)
        own_close_fd(&o->fd);
}
