/* SPDX-License-Identifier: MIT */
#include "cli/feed.h"

#include "client/client.h"

enum { MESSAGES_PER_TURN = 64 }; /* then signals and timers have their turn */

static void take(void *ctx)
{
    struct cli_feed *f = ctx;
    for (int i = 0; i < MESSAGES_PER_TURN && !f->paused && !f->lost; i++) {
        struct client_message m;
        int rc = client_next(f->client, 0, &m, &f->err);
        if (rc == 0)
            return;
        if (rc < 0) {
            f->lost = true;
            ev_fd_stop(&f->watch);
        }
        f->on_message(rc < 0 ? NULL : &m, f->ctx);
    }
    cli_feed_poke(f);
}

static void on_readable(void *ctx, unsigned events)
{
    (void)events;
    take(ctx);
}

int cli_feed_init(struct cli_feed *f, struct ev *ev, struct client *client, struct err *err)
{
    f->ev = ev;
    f->client = client;
    ev_timer_init(ev, &f->turn, take, f);
    int rc = ev_fd_init(ev, &f->watch, client_fd(client), on_readable, f);
    if (rc < 0)
        return err_set(err, -rc, "watch the daemon's socket");
    ev_fd_start(&f->watch, EV_READ);
    cli_feed_poke(f);
    return 0;
}

void cli_feed_poke(struct cli_feed *f)
{
    if (!f->paused && !f->lost)
        ev_timer_start(&f->turn, 0);
}

void cli_feed_pause(struct cli_feed *f, bool paused)
{
    if (f->paused == paused || f->lost)
        return;
    f->paused = paused;
    ev_fd_start(&f->watch, paused ? 0 : EV_READ);
    cli_feed_poke(f);
}

void cli_feed_done(struct cli_feed *f)
{
    ev_timer_close(&f->turn);
    ev_fd_close(&f->watch);
}
