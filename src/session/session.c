/* SPDX-License-Identifier: MIT */
#include "session/session.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/strv.h"
#include "capture/log.h"
#include "ev/ev.h"
#include "session/kind.h"
#include "session/stop.h"

/* Starts the next foreground command if the shell is free. */
static void pump(struct session *s)
{
    while (s->ready && !s->closing && !s->current && !list_empty(&s->queue)) {
        struct command *c = list_entry(s->queue.next, struct command, link);
        list_remove(&c->link);
        s->n_queued--;
        s->current = c; /* the queue's reference goes with it */
        s->ready = false;

        struct err err = {0};
        int rc = s->kind->start(s, c, &err);
        if (rc < 0) {
            s->current = NULL;
            s->ready = true;
            c->why = xstrdup(err.text);
            command_finish(c, COMMAND_SPAWN_FAILED, 126, 0);
            command_quiet(c);
            command_unref(c);
            continue;
        }
        session_stop_arm_limit(c);
    }
}

int session_open(struct ev *ev, const struct session_kind *kind, const struct session_spec *spec,
                 const struct session_events *events, struct session **ret_s, struct err *err)
{
    if (!path_is_safe_name(spec->id))
        return err_set(err, ERR_INVALID,
                       "session id '%.80s': expected 1-64 letters, digits, '.', '_' or '-', not "
                       "starting with '.'",
                       spec->id);
    struct session *s = xnew(struct session);
    memcpy(s->id, spec->id, strlen(spec->id) + 1);
    s->kind = kind;
    s->ev = ev;
    s->cwd = spec->cwd ? xstrdup(spec->cwd) : NULL;
    strv_init(&s->env, (size_t)2 * COMMAND_ENV_MAX);
    s->run_dir = xstrdup(spec->run_dir);
    s->spill_dir = spec->spill_dir;
    s->spill_budget = spec->spill_budget;
    s->queue_max = spec->queue_max ? spec->queue_max : SESSION_QUEUE_MAX;

    s->timeout_max_ms = spec->timeout_max_ms ? spec->timeout_max_ms : COMMAND_TIMEOUT_MAX;
    s->timeout_default_ms =
        spec->timeout_default_ms ? spec->timeout_default_ms : COMMAND_TIMEOUT_DEFAULT;
    s->events = *events;
    list_init(&s->queue);
    list_init(&s->background);
    if (spec->state) {
        s->state = xmemdup(spec->state, spec->state_len);
        s->state_len = spec->state_len;
        s->must_restore = spec->must_restore;
    }
    s->last_used_ns = (uint64_t)clock_mono_ns();

    int rc = spec->env ? strv_push_all(&s->env, spec->env) : 0;
    if (rc < 0)
        err_set(err, -rc, "environment of session '%s'", s->id);
    else
        rc = kind->open(s, err);
    if (rc < 0) {
        session_free(s);
        return rc;
    }
    *ret_s = s;
    return 0;
}

/* Where large output goes; one directory a command. */
static struct capture_log *new_log(const struct session *s, const struct command *c)
{
    struct capture_options o = CAPTURE_OPTIONS_INIT;
    o.spill_dir = s->spill_dir;
    o.spill_name = c->id;
    o.budget = s->spill_budget;
    return capture_log_new(&o);
}

static void set_timeout(struct command *c, const struct session *s)
{
    if (c->background) { /* the limits of foreground commands are not for servers */
        if (c->timeout_ms == 0)
            c->timeout_ms = COMMAND_BACKGROUND_MAX;
        return;
    }
    if (c->timeout_ms == 0)
        c->timeout_ms = s->timeout_default_ms;
    if (c->timeout_ms > s->timeout_max_ms) {
        c->timeout_ms = s->timeout_max_ms;
        c->timeout_clamped = true;
    }
}

static int submit_background(struct session *s, struct command *c, struct err *err)
{
    if (s->n_background >= SESSION_BACKGROUND_MAX)
        return err_set(err, ERR_BUSY, "session '%s' has %zu background commands, the maximum",
                       s->id, s->n_background);
    c->session = s;
    c->log = new_log(s, c);
    list_add_tail(&s->background, &command_ref(c)->link);
    s->n_background++;
    int rc = s->kind->start_background(s, c, err);
    if (rc < 0) {
        list_remove(&c->link);
        s->n_background--;
        c->session = NULL;
        command_unref(c);
        return rc;
    }
    session_stop_arm_limit(c);
    return 0;
}

int session_submit(struct session *s, struct command *c, struct err *err)
{
    if (s->closing)
        return err_set(err, ERR_CLOSED, "session '%s' is closing", s->id);
    set_timeout(c, s);
    s->last_used_ns = (uint64_t)clock_mono_ns();
    if (c->background)
        return submit_background(s, c, err);

    if (s->n_queued >= s->queue_max)
        return err_set(err, ERR_BUSY, "session '%s' has %zu commands waiting, the maximum", s->id,
                       s->n_queued);
    c->session = s;
    c->log = new_log(s, c);
    list_add_tail(&s->queue, &command_ref(c)->link);
    s->n_queued++;
    pump(s);
    return 0;
}

static int check_running(const struct command *c, struct err *err)
{
    if (command_state_is_final(c->state))
        return err_set(err, ERR_EXITED, "command '%s' has already ended: %s, exit code %d", c->id,
                       command_state_name(c->state), c->exit_code);
    if (!c->session)
        return err_set(err, ERR_CLOSED, "the session of command '%s' is closed", c->id);
    return 0;
}

int session_input(struct command *c, const void *p, size_t n, struct err *err)
{
    int rc = check_running(c, err);
    if (rc < 0)
        return rc;
    if (!c->stdin_open)
        return err_set(err, ERR_CLOSED, "standard input of command '%s' is closed", c->id);
    return c->session->kind->input(c, p, n, err);
}

int session_input_end(struct command *c, struct err *err)
{
    int rc = check_running(c, err);
    if (rc < 0)
        return rc;
    if (!c->stdin_open)
        return 0; /* the end was said before: saying it twice does no harm */
    rc = c->session->kind->input_end(c, err);
    if (rc == 0)
        c->stdin_open = false;
    return rc;
}

int session_resize(struct command *c, uint16_t rows, uint16_t cols, struct err *err)
{
    int rc = check_running(c, err);
    if (rc < 0)
        return rc;
    if (!c->pty)
        return err_set(err, ERR_INVALID, "command '%s' has no terminal to resize", c->id);
    if (!rows || !cols)
        return err_set(err, ERR_INVALID, "terminal size %ux%u: expected at least 1x1", cols, rows);
    return c->session->kind->resize(c, rows, cols, err);
}

int session_signal(struct command *c, int signal, struct err *err)
{
    int rc = check_running(c, err);
    if (rc < 0)
        return rc;
    if (c->state != COMMAND_RUNNING)
        return err_set(err, ERR_INVALID, "command '%s' is not running yet: %s", c->id,
                       command_state_name(c->state));
    return c->session->kind->signal(c, signal, err);
}

char *session_why(struct command *c, bool *ret_needs_input)
{
    *ret_needs_input = false;
    if (c->state != COMMAND_RUNNING || !c->session || !c->session->kind->why)
        return NULL;
    return c->session->kind->why(c, ret_needs_input);
}

int session_kill_survivors(struct command *c, struct err *err)
{
    if (!c->session)
        return 0;
    return c->session->kind->kill_survivors(c, err);
}

const char *session_state(const struct session *s, size_t *ret_len)
{
    *ret_len = s->state_len;
    return s->state;
}

int session_restore(struct session *s, const char *state, size_t len, struct err *err)
{
    if (s->closing)
        return err_set(err, ERR_CLOSED, "session '%s' is closing", s->id);
    if (s->current || s->n_queued)
        return err_set(err, ERR_BUSY, "session '%s' is running a command", s->id);
    return s->kind->restore(s, state, len, err);
}

/* Ends what waits, so that nobody waits for ever: with a reason it failed, else it is cancelled. */
static void empty_queue(struct session *s, const struct err *reason)
{
    while (!list_empty(&s->queue)) {
        struct command *c = list_entry(s->queue.next, struct command, link);
        list_remove(&c->link);
        s->n_queued--;
        c->session = NULL;
        if (reason)
            c->why = xstrdup(reason->text);
        command_finish(c, reason ? COMMAND_SPAWN_FAILED : COMMAND_CANCELLED, reason ? 126 : 130, 0);
        command_quiet(c);
        command_unref(c);
    }
}

/* Whatever end of c is told from here on comes from the closing of its session. */
static void cancel_by_close(struct command *c)
{
    if (!c->stop_stage)
        c->stop_state = COMMAND_CANCELLED;
    c->stop_stage = SESSION_STOP_KILL;
}

void session_close(struct session *s)
{
    if (s->closing)
        return;
    s->closing = true;
    empty_queue(s, NULL);
    if (s->current)
        cancel_by_close(s->current);
    LIST_FOREACH(link, &s->background)
    cancel_by_close(list_entry(link, struct command, link));
    s->kind->close(s);
}

/* The end of a command whose session goes away under it; lost: why, if nobody asked for that. */
static void abandon(struct command *c, bool is_gone, const struct err *lost)
{
    enum command_state end = lost ? COMMAND_SESSION_LOST : COMMAND_CANCELLED;
    if (c->kind_data && c->session)
        c->session->kind->forget(c);
    c->session = NULL;
    c->killed = is_gone;
    c->timed_out = c->stop_stage && c->stop_state == COMMAND_TIMED_OUT;
    if (lost && !c->why)
        c->why = xstrdup(lost->text);
    command_finish(c, c->stop_stage ? c->stop_state : end, c->timed_out ? 124 : 137, 9);
    command_quiet(c);
    command_unref(c);
}

static void abandon_all(struct session *s, bool is_gone, const struct err *lost)
{
    empty_queue(s, lost);
    if (s->current) {
        struct command *c = s->current;
        s->current = NULL;
        abandon(c, is_gone, lost);
    }
    while (!list_empty(&s->background)) {
        struct command *c = list_entry(s->background.next, struct command, link);
        list_remove(&c->link);
        s->n_background--;
        abandon(c, is_gone, lost);
    }
}

void session_discard(struct session *s)
{
    s->closing = true;
    s->events = (struct session_events){0};
}

void session_free(struct session *s)
{
    if (!s)
        return;
    s->closing = true;
    abandon_all(s, false, NULL);
    if (s->kind_data)
        s->kind->free(s);
    free(s->cwd);
    strv_done(&s->env);
    free(s->run_dir);
    free(s->state);
    free(s);
}

/* ---- what kinds report ---- */

static void finish_outcome(struct command *c, const struct session_outcome *o)
{
    c->killed = o->killed;
    if (o->spawn_failed) {
        command_finish(c, COMMAND_SPAWN_FAILED, o->exit_code, 0);
    } else if (c->stop_stage) {
        c->timed_out = c->stop_state == COMMAND_TIMED_OUT;
        command_finish(c, c->stop_state, c->timed_out ? 124 : o->exit_code, o->signal);
    } else if (o->lost) {
        command_finish(c, COMMAND_SESSION_LOST, o->exit_code, o->signal);
    } else if (o->signal) {
        command_finish(c, COMMAND_SIGNALED, 128 + o->signal, o->signal);
    } else {
        command_finish(c, COMMAND_EXITED, o->exit_code, 0);
    }
}

void session_kind_done(struct command *c, const struct session_outcome *outcome)
{
    struct session *s = c->session;
    assert(s);
    s->last_used_ns = (uint64_t)clock_mono_ns();
    if (c->background) {
        list_remove(&c->link);
        list_init(&c->link);
        s->n_background--;
    } else {
        assert(s->current == c);
        s->current = NULL;
        free(c->result_cwd);
        c->result_cwd = s->cwd ? xstrdup(s->cwd) : NULL;
    }
    finish_outcome(c, outcome);
    command_unref(c);
}

void session_kind_ready(struct session *s)
{
    s->ready = true;
    if (s->must_restore) {
        s->must_restore = false;
        if (s->events.on_restored)
            s->events.on_restored(s, s->events.ctx);
    }
    pump(s);
}

void session_kind_state(struct session *s, const char *state, size_t len)
{
    if (s->state && s->state_len == len && memcmp(s->state, state, len) == 0)
        return;
    char *copy = xmemdup(state, len);
    free(s->state);
    s->state = copy;
    s->state_len = len;
    if (s->events.on_state)
        s->events.on_state(s, s->events.ctx);
}

void session_kind_cwd(struct session *s, const char *cwd)
{
    if (s->cwd && strcmp(s->cwd, cwd) == 0)
        return;
    free(s->cwd);
    s->cwd = xstrdup(cwd);
}

void session_kind_lost(struct session *s, const struct err *err)
{
    s->closing = true;
    abandon_all(s, false, err);
    if (s->events.on_lost)
        s->events.on_lost(s, err, s->events.ctx);
}

void session_kind_closed(struct session *s)
{
    abandon_all(s, true, NULL);
    if (s->events.on_closed)
        s->events.on_closed(s, s->events.ctx);
}
