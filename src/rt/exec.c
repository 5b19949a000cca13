/* SPDX-License-Identifier: MIT */
/*
 * The gate: decide, record, run, record.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "capture/log.h"
#include "json/write.h"
#include "rt/priv.h"
#include "session/kind.h"

static int record(struct rt *rt, const char *kind, const struct rt_caller *caller,
                  struct command *c, struct err *err)
{
    if (!rt->o.record.append)
        return 0;
    return rt->o.record.append(kind, caller, c, &c->audit_index, err, rt->o.record.ctx);
}

static int decide(struct rt *rt, const struct rt_caller *caller, const struct rt_exec *exec,
                  struct err *err)
{
    if (!rt->o.policy.decide)
        return 0;
    struct err reason = {0};
    switch (rt->o.policy.decide(caller, exec->session_id, &exec->spec, &reason, rt->o.policy.ctx)) {
    case RT_ALLOW:
        return 0;
    case RT_DENY:
        return err_set(err, ERR_DENIED, "%s", reason.code ? reason.text : "denied by policy");
    case RT_ASK:
        return err_set(err, ERR_DENIED, "%s", reason.code ? reason.text : "needs an approval");
    }
    return err_set(err, ERR_DENIED, "the policy gave no decision");
}

static void on_output(struct command *c, int stream, const void *p, size_t n, void *ctx)
{
    struct rt_command *rc = ctx;
    if (rc->events.on_output && !command_state_is_final(c->state))
        rc->events.on_output(c->id, stream, p, n, rc->events.ctx);
    LIST_FOREACH(link, &rc->observers)
    {
        struct rt_observer *o = list_entry(link, struct rt_observer, link);
        o->on_output(o, stream, p, n);
    }
}

static int put_result(const struct rt_command *rc, struct err *err)
{
    struct rt *rt = rc->rt;
    if (!rt->o.store.put_command)
        return 0;
    auto_buf struct buf json = BUF_INIT(RT_RESULT_MAX);
    struct json_w w;
    json_w_init(&w, &json);
    rt_result_write(rc, &w);
    int ret = json_w_finish(&w);
    if (ret < 0)
        return err_set(err, -ret, "result of command '%s' as JSON", rc->c->id);
    return rt->o.store.put_command(rc->c->id, rc->session_id, json.data, json.len, err,
                                   rt->o.store.ctx);
}

static void store_result(struct rt_command *rc)
{
    struct err err = {0};
    int ret = put_result(rc, &err);
    if (ret < 0) /* the result itself is right: that it could not be kept is a field of it */
        rc->storage_error = xstrdup(err.code ? err.text : err_describe(ret));
}

/*
 * Somebody has been told of a command that goes on. Should this process die before its end, the
 * store must know it too: it is given now what would then have become of the command.
 */
static void store_forecast(struct rt_command *rc)
{
    if (rc->has_forecast)
        return;
    rc->has_forecast = true;
    struct command lost = *rc->c;
    struct rt_command as_lost = *rc;
    lost.state = COMMAND_SESSION_LOST;
    lost.exit_code = 128 + SIGKILL;
    lost.why = (char[]){"the runtime died before the command ended"};
    as_lost.c = &lost;
    (void)put_result(&as_lost, NULL); /* the end is told again */
}

/* Survivors may still write into the log: what they add to it is no part of the result. */
static void fix_result(struct rt_command *rc)
{
    const struct command *c = rc->c;
    if (!c->n_survivors && !c->open_tails && !c->background)
        return;
    buf_init(&rc->fixed, RT_RESULT_MAX);
    struct json_w w;
    json_w_init(&w, &rc->fixed);
    rt_result_write(rc, &w);
    if (json_w_finish(&w) < 0)
        buf_done(&rc->fixed);
    rc->fixed_bytes = capture_log_bytes(c->log, CAPTURE_OUTPUT);
}

void rt_forget_old(void *ctx)
{
    struct rt *rt = ctx;
    LIST_FOREACH(link, &rt->finished)
    {
        if (rt->n_finished <= rt->o.keep_results)
            break;
        struct rt_command *old = list_entry(link, struct rt_command, link);
        if (!list_empty(&old->observers) || !old->c->quiet)
            continue; /* a server that lives on does not keep the rest */
        rt->n_finished--;
        rt_command_free(old);
    }
}

static void on_final(struct command *c, void *ctx)
{
    struct rt_command *rc = ctx;
    struct rt *rt = rc->rt;
    ev_timer_stop(&rc->yield);
    if (!c->limit && c->log && capture_log_is_capped(c->log))
        c->limit = "output";
    (void)record(rt, "result", NULL, c, NULL);
    store_result(rc);
    fix_result(rc);
    list_add_tail(&rt->finished, &rc->link);
    rt->n_finished++;
    LIST_FOREACH(link, &rc->observers)
    {
        struct rt_observer *o = list_entry(link, struct rt_observer, link);
        o->on_final(o);
    }
    struct rt_command_events events = rc->events;
    rc->events = (struct rt_command_events){0};
    if (events.on_result)
        events.on_result(c->id, false, events.ctx);
    rt_forget_old(rt);
}

static void on_quiet(struct command *c, void *ctx)
{
    struct rt_command *rc = ctx;
    if (rc->fixed.len && capture_log_bytes(c->log, CAPTURE_OUTPUT) == rc->fixed_bytes)
        buf_done(&rc->fixed); /* nothing came: the log says the same */
    rt_spill_add(rc);
    LIST_FOREACH(link, &rc->observers)
    {
        struct rt_observer *o = list_entry(link, struct rt_observer, link);
        o->on_quiet(o);
    }
}

static void on_yield(void *ctx)
{
    struct rt_command *rc = ctx;
    struct rt_command_events events = rc->events;
    rc->events = (struct rt_command_events){0};
    if (events.on_result)
        events.on_result(rc->c->id, true, events.ctx);
}

static struct rt_command *new_command(struct rt *rt, struct rt_session *rs,
                                      const struct rt_exec *exec)
{
    struct rt_command *rc = rt_command_new(rt, &exec->spec, rs->kind->name);
    rc->events = exec->events;
    memcpy(rc->session_id, rs->id, sizeof(rs->id));
    rc->c->on_output = on_output;
    rc->c->on_final = on_final;
    rc->c->on_quiet = on_quiet;
    rc->c->ctx = rc;
    return rc;
}

/* Decides and records: the request, or that it was denied. */
static int let_in(struct rt *rt, const struct rt_caller *caller, const struct rt_exec *exec,
                  struct rt_command *cmd, struct err *err)
{
    int rc = decide(rt, caller, exec, err);
    if (rc < 0) {
        cmd->c->state = COMMAND_DENIED;
        (void)record(rt, "denied", caller, cmd->c, NULL); /* it is denied with or without */
        return rc;
    }
    rc = map_set(&rt->commands, cmd->c->id, cmd);
    if (rc < 0)
        return err_set(err, ERR_LIMIT, "more than %d commands are known", RT_COMMANDS_MAX);
    return record(rt, "request", caller, cmd->c, err);
}

static int submit(struct rt_session *rs, struct rt_command *cmd, struct err *err)
{
    int rc = rt_session_wake(rs, err);
    if (rc < 0)
        return rc;
    cmd->isolation = rs->s->isolation;
    rs->n_commands++;
    return session_submit(rs->s, cmd->c, err);
}

int rt_exec(struct rt *rt, const struct rt_caller *caller, const struct rt_exec *exec, char *ret_id,
            struct err *err)
{
    struct rt_session *rs = rt_get_session(rt, exec->session_id, err);
    if (!rs)
        return -ERR_NOT_FOUND;
    if (rs->closing)
        return err_set(err, ERR_CLOSED, "session '%s' is closing", rs->id);
    int rc = command_spec_check(&exec->spec, err);
    if (rc < 0)
        return rc;
    struct rt_command *cmd = new_command(rt, rs, exec);
    rc = let_in(rt, caller, exec, cmd, err);
    if (rc == 0) {
        if (ret_id)
            memcpy(ret_id, cmd->c->id, sizeof(cmd->c->id));
        rc = submit(rs, cmd, err);
        if (rc < 0) /* the request stands in the record: that nothing ran must, too */
            (void)record(rt, "refused", caller, cmd->c, NULL);
    }
    if (rc < 0) {
        rt_command_free(cmd);
        return rc;
    }
    if (exec->yield_ms > 0 && !command_state_is_final(cmd->c->state)) {
        ev_timer_init(rt->ev, &cmd->yield, on_yield, cmd);
        ev_timer_start(&cmd->yield, (uint64_t)exec->yield_ms);
    }
    return 0;
}

void rt_detach(struct rt *rt, const char *id)
{
    struct rt_command *rc = map_get(&rt->commands, id);
    if (!rc)
        return;
    rc->events = (struct rt_command_events){0};
    ev_timer_stop(&rc->yield);
}

int rt_input(struct rt *rt, const char *id, const void *p, size_t n, struct err *err)
{
    struct rt_command *rc = rt_get_command(rt, id, err);
    return rc ? session_input(rc->c, p, n, err) : -ERR_NOT_FOUND;
}

int rt_input_end(struct rt *rt, const char *id, struct err *err)
{
    struct rt_command *rc = rt_get_command(rt, id, err);
    return rc ? session_input_end(rc->c, err) : -ERR_NOT_FOUND;
}

int rt_resize(struct rt *rt, const char *id, uint16_t rows, uint16_t cols, struct err *err)
{
    struct rt_command *rc = rt_get_command(rt, id, err);
    return rc ? session_resize(rc->c, rows, cols, err) : -ERR_NOT_FOUND;
}

int rt_signal(struct rt *rt, const char *id, int signal, struct err *err)
{
    struct rt_command *rc = rt_get_command(rt, id, err);
    if (!rc)
        return -ERR_NOT_FOUND;
    return session_signal(rc->c, signal, err);
}

int rt_stop(struct rt *rt, const char *id, struct err *err)
{
    struct rt_command *rc = rt_get_command(rt, id, err);
    if (!rc)
        return -ERR_NOT_FOUND;
    if (command_state_is_final(rc->c->state) && rc->c->n_survivors && rc->c->session)
        return session_kill_survivors(rc->c, err) < 0 ? -ERR_LOST : 0;
    return session_stop(rc->c, COMMAND_CANCELLED, err);
}

int rt_result(struct rt *rt, const char *id, struct json_w *w, struct err *err)
{
    struct rt_command *rc = id ? map_get(&rt->commands, id) : NULL;
    if (rc && rc->fixed.len) {
        json_w_raw(w, rc->fixed.data, rc->fixed.len);
        return 0;
    }
    if (rc) {
        if (!command_state_is_final(rc->c->state))
            store_forecast(rc);
        rt_result_write(rc, w);
        return 0;
    }
    if (!rt->o.store.get_command)
        return err_set(err, ERR_NOT_FOUND, "no command '%.80s'", id);
    auto_buf struct buf json = BUF_INIT(RT_RESULT_MAX);
    int ret = rt->o.store.get_command(id, &json, err, rt->o.store.ctx);
    if (ret < 0)
        return ret;
    rt_spill_check(rt, id, &json);
    json_w_raw(w, json.data, json.len);
    return ret;
}

void rt_command_list(struct rt *rt, const char *session_id, bool all, struct json_w *w)
{
    size_t cursor = 0;
    void *value;
    json_w_arr(w);
    while (map_next(&rt->commands, &cursor, NULL, &value)) {
        struct rt_command *rc = value;
        const struct command *c = rc->c;
        if (rc->is_stored)
            continue; /* listed or not must not depend on who looked at it */
        if (session_id && strcmp(session_id, rc->session_id) != 0)
            continue;
        if (!all && command_state_is_final(c->state) && (c->quiet || !c->n_survivors))
            continue;
        rt_command_summary(rc, w);
    }
    json_w_arr_end(w);
}
