/* SPDX-License-Identifier: MIT */
#include "cli/source.h"

#include <errno.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "cli/stdio.h"

enum { PIECE = 64 * 1024 };

static void read_piece(struct cli_source *s)
{
    char piece[PIECE];
    ssize_t n = read(s->fd, piece, sizeof(piece));
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0) {
        s->on_data(piece, (size_t)n, s->ctx);
        return;
    }
    int error = n < 0 ? errno : 0;
    s->ended = true;
    cli_source_pause(s);
    s->on_end(error, s->ctx);
}

static void on_readable(void *ctx, unsigned events)
{
    (void)events;
    read_piece(ctx);
}

static void on_turn(void *ctx)
{
    struct cli_source *s = ctx;
    ev_timer_start(&s->turn, 0); /* first, since the callbacks may pause */
    read_piece(s);
}

void cli_source_init(struct cli_source *s, struct ev *ev)
{
    *s = (struct cli_source){.ev = ev, .fd = STDIN_FILENO};
    int copy = cli_stdio_open(STDIN_FILENO, false);
    if (copy >= 0) {
        s->fd = copy;
        s->owns_fd = true;
        s->polls = ev_fd_init(ev, &s->watch, copy, on_readable, s) == 0;
    }
    ev_timer_init(ev, &s->turn, on_turn, s);
}

void cli_source_resume(struct cli_source *s)
{
    if (s->ended || !s->ev)
        return;
    if (s->polls)
        ev_fd_start(&s->watch, EV_READ);
    else
        ev_timer_start(&s->turn, 0);
}

void cli_source_pause(struct cli_source *s)
{
    ev_fd_stop(&s->watch);
    ev_timer_stop(&s->turn);
}

void cli_source_done(struct cli_source *s)
{
    ev_fd_close(&s->watch);
    ev_timer_close(&s->turn);
    if (s->owns_fd)
        own_close_fd(&s->fd);
}
