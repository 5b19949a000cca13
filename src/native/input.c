/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "native/priv.h"

enum { RETRY_MS = 1 };

void input_init(struct input *in, struct native *n)
{
    *in = (struct input){.n = n, .fd = -1};
    buf_init(&in->pending, INPUT_MAX);
}

void input_close(struct input *in)
{
    ev_timer_close(&in->retry);
    ev_fd_close(&in->watch);
    own_close_fd(&in->fd);
    if (in->command)
        in->command->stdin_pending = 0;
    in->command = NULL;
    in->end = false;
    buf_done(&in->pending);
    free(in->path);
    in->path = NULL;
}

/* Writes what the pipe takes. */
static void flush(struct input *in)
{
    while (in->fd >= 0 && in->pending.len) {
        ssize_t n = write(in->fd, in->pending.data, in->pending.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) { /* the reader is gone: the rest has nowhere to go */
            buf_clear(&in->pending);
            break;
        }
        buf_consume(&in->pending, (size_t)n);
    }
    if (in->command)
        in->command->stdin_pending = in->pending.len;
    if (in->fd < 0)
        return;
    if (in->pending.len)
        ev_fd_start(&in->watch, EV_WRITE);
    else
        ev_fd_stop(&in->watch);
    if (in->end && !in->pending.len) {
        ev_fd_close(&in->watch);
        own_close_fd(&in->fd);
    }
}

static void on_writable(void *ctx, unsigned events)
{
    (void)events;
    flush(ctx);
}

void input_open_fd(struct input *in, struct command *c, int fd)
{
    in->command = c;
    in->fd = fd;
    if (ev_fd_init(in->n->ev, &in->watch, fd, on_writable, in) < 0) {
        own_close_fd(&in->fd);
        return;
    }
    flush(in);
}

/* ENXIO says that the command has not opened its end yet. */
static void try_open(void *ctx)
{
    struct input *in = ctx;
    int fd = native_dir_fifo(AT_FDCWD, in->path, O_WRONLY);
    if (fd >= 0)
        input_open_fd(in, in->command, fd);
    else if (fd == -ENXIO)
        ev_timer_start(&in->retry, RETRY_MS);
}

void input_open_fifo(struct input *in, struct command *c, const char *path)
{
    in->command = c;
    in->path = xstrdup(path);
    ev_timer_init(in->n->ev, &in->retry, try_open, in);
    ev_timer_start(&in->retry, 0);
}

int input_write(struct input *in, const void *p, size_t n, struct err *err)
{
    if (in->end)
        return err_set(err, ERR_CLOSED, "standard input is closed");
    if (buf_append(&in->pending, p, n) < 0)
        return err_set(err, ERR_BUSY, "%zu bytes of input wait to be read, the maximum is %d",
                       in->pending.len, INPUT_MAX);
    flush(in);
    return 0;
}

void input_end(struct input *in)
{
    in->end = true;
    flush(in);
}

void input_take_back(struct input *in)
{
    struct command *c = in->command;
    if (!c)
        return;
    free(c->stdin_data);
    c->stdin_len = in->pending.len;
    c->stdin_data = c->stdin_len ? buf_take(&in->pending) : NULL;
    input_close(in);
}
