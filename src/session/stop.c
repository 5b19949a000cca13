/* SPDX-License-Identifier: MIT */
#include "session/stop.h"

#include "base/err.h"
#include "ev/ev.h"
#include "session/kind.h"
#include "session/session.h"

/* What a tree gets to vanish after KILL: a task in uninterruptible sleep needs its time. */
enum { KILL_WAIT_MS = 10000 };

static void on_timer(void *ctx);

static void arm(struct command *c, int64_t ms)
{
    if (!c->timer.ev)
        ev_timer_init(c->session->ev, &c->timer, on_timer, c);
    ev_timer_start(&c->timer, (uint64_t)ms);
}

static void climb(struct command *c)
{
    if (c->stop_stage >= SESSION_STOP_LOST)
        return;
    c->stop_stage++;
    if (c->stop_stage != SESSION_STOP_LOST)
        arm(c, c->stop_stage == SESSION_STOP_KILL ? KILL_WAIT_MS : c->grace_ms);
    /* Last, since the kind may report the end at once and c may be gone then. */
    c->session->kind->stop(c, (enum session_stop_stage)c->stop_stage);
}

static void on_timer(void *ctx)
{
    struct command *c = ctx;
    if (command_state_is_final(c->state) || !c->session)
        return;
    if (!c->stop_stage)
        (void)session_stop(c, COMMAND_TIMED_OUT, NULL); /* it runs, so this cannot fail */
    else
        climb(c);
}

void session_stop_arm_limit(struct command *c)
{
    if (!command_state_is_final(c->state) && c->timeout_ms > 0)
        arm(c, c->timeout_ms);
}

int session_stop(struct command *c, enum command_state end, struct err *err)
{
    if (command_state_is_final(c->state))
        return err_set(err, ERR_EXITED, "command '%s' has already ended: %s, exit code %d", c->id,
                       command_state_name(c->state), c->exit_code);
    struct session *s = c->session;
    if (!s)
        return err_set(err, ERR_CLOSED, "the session of command '%s' is closed", c->id);
    if (!c->background && s->current != c) { /* still queued */
        list_remove(&c->link);
        s->n_queued--;
        c->session = NULL;
        command_finish(c, end, 130, 0);
        command_quiet(c);
        command_unref(c);
        return 0;
    }
    if (!c->stop_stage)
        c->stop_state = end;
    climb(c);
    return 0;
}
