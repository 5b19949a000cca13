/* SPDX-License-Identifier: MIT */
/*
 * The runtime within this process: its loop turns inside the calls that wait.
 *
 * Between the return of rt_exec() and that of nacre_exec() lie the turns of the
 * loop, one callback, and one allocation for the result; nothing else.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/rundir.h"
#include "capture/log.h"
#include "ev/ev.h"
#include "json/write.h"
#include "nacre/priv.h"
#include "native/native.h"
#include "rt/rt.h"

enum {
    WAIT_STEP_MS = 24 * 3600 * 1000,
};

struct embedded {
    struct nacre base;
    struct ev *ev;
    struct native *native;
    struct rt *rt;
    const struct session_kind *kinds[2]; /* borrowed by rt */
    struct rundir run_dir;
};

static const struct rt_caller caller = {.origin = "library"};

static struct embedded *of(const struct nacre *n)
{
    return (struct embedded *)(uintptr_t)n;
}

static void turn(struct embedded *e, bool wait)
{
    e->base.in_turn = true;
    (void)ev_run_once(e->ev, wait);
    e->base.in_turn = false;
}

static void turn_until(struct embedded *e, const bool *done)
{
    while (!*done)
        turn(e, true);
}

static void set_true(void *ctx)
{
    *(bool *)ctx = true;
}

static int finish_json(const struct json_w *w, struct err *err)
{
    int rc = json_w_finish(w);
    return rc < 0 ? err_set(err, -rc, "write JSON: %s", err_describe(rc)) : 0;
}

/* ---- life ---- */

static void embedded_close(struct nacre *n)
{
    struct embedded *e = of(n);
    rt_free(e->rt);
    native_free(e->native);
    ev_free(e->ev);
    if (e->run_dir.path)
        rundir_close(&e->run_dir);
}

static int check_dir(const char *name, const char *path, struct err *err)
{
    if (path && *path != '/')
        return err_set(err, ERR_INVALID, "%s '%.200s': expected an absolute path", name, path);
    if (path && access(path, W_OK | X_OK) < 0)
        return err_set(err, errno, "%s '%.200s'", name, path);
    return 0;
}

static int start(struct embedded *e, const struct nacre_options *o, struct err *err)
{
    int rc = check_dir("run_dir", o->run_dir, err);
    if (rc == 0)
        rc = check_dir("state_dir", o->state_dir, err);
    if (rc < 0)
        return rc;
    rc = rundir_open(o->run_dir, &e->run_dir, err);
    if (rc < 0)
        return rc;
    e->ev = ev_new();
    if (!e->ev)
        return err_set(err, errno, "make an event loop");

    struct native_options native = {
        .run_dir = e->run_dir.path,
        .pool_size = o->pool,
    };
    rc = native_new(e->ev, &native, &e->native, err);
    if (rc < 0)
        return rc;
    e->kinds[0] = native_kind(e->native);
    struct rt_options options = {
        .kinds = e->kinds,
        .run_dir = native.run_dir,
        .state_dir = o->state_dir,
        .timeout_default_ms = o->timeout_ms,
        .timeout_max_ms = o->timeout_max_ms,
        .session_idle_ms = o->session_idle_ms,
        .keep_results = o->keep_results,
    };
    return rt_new(e->ev, &options, &e->rt, err);
}

static int embedded_poll_fd(const struct nacre *n)
{
    return ev_poll_fd(of(n)->ev);
}

static int embedded_poll_timeout(const struct nacre *n)
{
    return ev_poll_timeout(of(n)->ev);
}

static int embedded_dispatch(struct nacre *n, struct err *err)
{
    (void)err;
    turn(of(n), false);
    return 0;
}

/* ---- sessions ---- */

static int embedded_session_open(struct nacre *n, const struct nacre_session_options *o,
                                 char *ret_id, struct err *err)
{
    struct rt_session_spec spec = {
        .id = o->id, .cwd = o->cwd, .env = o->env, .may_exist = o->may_exist};
    return rt_session_open(of(n)->rt, &caller, &spec, ret_id, err);
}

static int embedded_session_close(struct nacre *n, const char *id, struct err *err)
{
    bool done = false;
    int rc = rt_session_close(of(n)->rt, id, set_true, &done, err);
    if (rc == 0)
        turn_until(of(n), &done);
    return rc;
}

static int embedded_session_reset(struct nacre *n, const char *id, struct err *err)
{
    return rt_session_reset(of(n)->rt, id, err);
}

static int embedded_session_fork(struct nacre *n, const char *id, const char *new_id, char *ret_id,
                                 struct err *err)
{
    return rt_session_fork(of(n)->rt, &caller, id, new_id, ret_id, err);
}

static int embedded_session_snapshot(struct nacre *n, const char *id, const char *name,
                                     struct err *err)
{
    return rt_session_snapshot(of(n)->rt, id, name, err);
}

static int embedded_session_restore(struct nacre *n, const char *id, const char *name,
                                    struct err *err)
{
    return rt_session_restore(of(n)->rt, id, name, err);
}

static int embedded_session_export(struct nacre *n, const char *id, struct buf *ret,
                                   struct err *err)
{
    return rt_session_export(of(n)->rt, id, ret, err);
}

struct importing {
    bool done;
    struct err err;
};

static void on_imported(void *ctx, const struct err *err)
{
    struct importing *i = ctx;
    i->done = true;
    if (err)
        i->err = *err;
}

static int embedded_session_import(struct nacre *n, const char *file, size_t len,
                                   const char *new_id, char *ret_id, struct err *err)
{
    struct importing i = {0};
    const struct rt_import import = {
        .file = file, .len = len, .new_id = new_id, .cb = on_imported, .ctx = &i};
    int rc = rt_session_import(of(n)->rt, &caller, &import, ret_id, err);
    if (rc < 0)
        return rc;
    turn_until(of(n), &i.done);
    return i.err.code ? err_set(err, i.err.code, "%s", i.err.text) : 0;
}

static int embedded_session_show(struct nacre *n, const char *id, struct buf *ret_json,
                                 struct err *err)
{
    struct json_w w;
    json_w_init(&w, ret_json);
    int rc = rt_session_show(of(n)->rt, id, &w, err);
    return rc < 0 ? rc : finish_json(&w, err);
}

static int embedded_session_list(struct nacre *n, struct buf *ret_json, struct err *err)
{
    struct json_w w;
    json_w_init(&w, ret_json);
    rt_session_list(of(n)->rt, &w);
    return finish_json(&w, err);
}

/* ---- commands ---- */

static void on_output(const char *id, int stream, const void *p, size_t len, void *ctx)
{
    (void)id;
    nacre_command_output(ctx, stream, p, len);
}

static void on_result(const char *id, bool running, void *ctx)
{
    (void)running;
    struct nacre_command *c = ctx;
    const struct command *command = rt_find_command(of(c->nacre)->rt, id);
    nacre_command_ended(c, nacre_result_of_command(c->nacre, c->session_id, command));
}

static int embedded_start(struct nacre_session *s, const struct command_spec *spec,
                          int64_t yield_ms, struct nacre_command *c, struct err *err)
{
    struct rt_exec exec = {
        .session_id = s->id,
        .spec = *spec,
        .yield_ms = yield_ms,
        .events = {.on_output = c->on_output ? on_output : NULL, .on_result = on_result, .ctx = c},
    };
    return rt_exec(of(s->nacre)->rt, &caller, &exec, c->id, err);
}

static int embedded_run(struct nacre_command *c, struct err *err)
{
    (void)err;
    while (!c->result)
        turn(of(c->nacre), true);
    return 0;
}

static void embedded_detach(struct nacre_command *c)
{
    rt_detach(of(c->nacre)->rt, c->id);
}

static int embedded_json(struct nacre *n, const char *id, struct buf *ret_json, struct err *err)
{
    struct json_w w;
    json_w_init(&w, ret_json);
    int rc = rt_result(of(n)->rt, id, &w, err);
    return rc < 0 ? rc : finish_json(&w, err);
}

static int embedded_result(struct nacre_command *c, struct nacre_result **ret_result,
                           struct err *err)
{
    auto_buf struct buf json = BUF_INIT(NACRE_JSON_MAX);
    int rc = embedded_json(c->nacre, c->id, &json, err);
    return rc < 0 ? rc : nacre_result_of_json(c->nacre, json.data, json.len, ret_result, err);
}

static int embedded_find(struct nacre_command *c, struct err *err)
{
    if (rt_find_command(of(c->nacre)->rt, c->id))
        return 0;
    auto_buf struct buf json = BUF_INIT(NACRE_JSON_MAX);
    return embedded_json(c->nacre, c->id, &json, err);
}

static int embedded_list(struct nacre *n, const char *session_id, bool all, struct buf *ret_json,
                         struct err *err)
{
    if (session_id && !rt_session_exists(of(n)->rt, session_id))
        return err_set(err, ERR_NOT_FOUND, "no session '%.80s'", session_id);
    struct json_w w;
    json_w_init(&w, ret_json);
    rt_command_list(of(n)->rt, session_id, all, &w);
    return finish_json(&w, err);
}

static int embedded_input(struct nacre_command *c, const void *data, size_t len, struct err *err)
{
    return rt_input(of(c->nacre)->rt, c->id, data, len, err);
}

static int embedded_input_end(struct nacre_command *c, struct err *err)
{
    return rt_input_end(of(c->nacre)->rt, c->id, err);
}

static int embedded_resize(struct nacre_command *c, uint16_t rows, uint16_t cols, struct err *err)
{
    return rt_resize(of(c->nacre)->rt, c->id, rows, cols, err);
}

static int embedded_signal(struct nacre_command *c, int signal, struct err *err)
{
    return rt_signal(of(c->nacre)->rt, c->id, signal, err);
}

static int embedded_stop(struct nacre_command *c, struct err *err)
{
    return rt_stop(of(c->nacre)->rt, c->id, err);
}

/* ---- waits ---- */

struct waiting {
    bool done;
    enum rt_wait_end end;
    char *line;
};

static void on_waited(enum rt_wait_end end, const char *line, size_t len, void *ctx)
{
    struct waiting *w = ctx;
    w->done = true;
    w->end = end;
    w->line = line ? xstrndup(line, len) : NULL;
}

/* Waits for what is described; *ret_line (may be NULL) gets the line that matched. */
static int wait_for(struct nacre_command *c, struct rt_wait *what, char **ret_line, struct err *err)
{
    struct embedded *e = of(c->nacre);
    struct waiting w = {0};
    struct rt_waiter *waiter; /* frees itself when it tells */
    what->id = c->id;
    what->cb = on_waited;
    what->ctx = &w;
    if (what->timeout_ms == 0)
        what->timeout_ms = 1; /* the least that gives it a turn; 0 is a default there */
    int rc = rt_wait(e->rt, what, &waiter, err);
    if (rc < 0)
        return rc;
    turn_until(e, &w.done);

    auto_free char *line = w.line;
    switch (w.end) {
    case RT_WAIT_MET:
        if (ret_line)
            *ret_line = take_ptr(line);
        return 0;
    case RT_WAIT_TIMEOUT:
        return err_set(err, ERR_TIMEOUT, "command '%s': waited %lld ms in vain", c->id,
                       (long long)what->timeout_ms);
    case RT_WAIT_EXITED:
        return err_set(err, ERR_EXITED, "command '%s' has ended without it", c->id);
    }
    return err_set(err, ERR_INTERNAL, "command '%s': unknown end of a wait", c->id);
}

static int embedded_wait(struct nacre_command *c, int64_t timeout_ms, struct err *err)
{
    int rc;
    do {
        struct rt_wait what = {
            .what = RT_WAIT_EXIT,
            .timeout_ms = timeout_ms < 0 ? WAIT_STEP_MS : timeout_ms,
        };
        rc = wait_for(c, &what, NULL, err);
    } while (rc == -ERR_TIMEOUT && timeout_ms < 0);
    return rc;
}

static int embedded_wait_log(struct nacre_command *c, const char *pattern, bool is_regex,
                             int64_t timeout_ms, char **ret_line, struct err *err)
{
    struct rt_wait what = {
        .what = RT_WAIT_LOG, .pattern = pattern, .is_regex = is_regex, .timeout_ms = timeout_ms};
    return wait_for(c, &what, ret_line, err);
}

static int embedded_wait_port(struct nacre_command *c, const char *host, uint16_t port,
                              int64_t timeout_ms, struct err *err)
{
    struct rt_wait what = {
        .what = RT_WAIT_PORT, .host = host, .port = port, .timeout_ms = timeout_ms};
    return wait_for(c, &what, NULL, err);
}

/* ---- logs ---- */

static void on_log_bytes(const char *id, int stream, uint64_t cursor, const void *p, size_t n,
                         void *ctx)
{
    (void)id;
    struct nacre_log *log = ctx;
    log->cursor = cursor + n;
    log->bytes += n;
    if (log->on_output)
        log->on_output(log->ctx, (enum nacre_stream)stream, p, n);
}

static void on_log_gap(const char *id, uint64_t from, uint64_t to, void *ctx)
{
    (void)id;
    struct nacre_log *log = ctx;
    log->cursor = to;
    log->lost += to - from;
}

static void on_log_end(const char *id, uint64_t cursor, void *ctx)
{
    (void)id;
    struct nacre_log *log = ctx;
    log->cursor = cursor;
    log->ended = true;
}

/* Until there is something, the command has ended, or the time has passed. */
static int embedded_log(struct nacre_command *c, struct nacre_log *log, struct err *err)
{
    struct embedded *e = of(c->nacre);
    struct rt_follow_events events = {
        .on_bytes = on_log_bytes, .on_gap = on_log_gap, .on_end = on_log_end, .ctx = log};
    struct rt_follower *f = NULL;
    bool late = log->wait_ms == 0;
    struct ev_timer timer;
    e->base.in_turn = true; /* what is there already comes from within the call */
    int rc = rt_follow(e->rt, c->id, log->cursor, true, &events, &f, err);
    e->base.in_turn = false;
    if (rc < 0)
        return rc;
    ev_timer_init(e->ev, &timer, set_true, &late);
    if (log->wait_ms > 0)
        ev_timer_start(&timer, (uint64_t)log->wait_ms);
    while (!log->bytes && !log->lost && !log->ended && !late)
        turn(e, true);
    ev_timer_close(&timer);
    rt_follow_free(f);
    return 0;
}

static const struct nacre_ops embedded_ops = {
    .close = embedded_close,
    .poll_fd = embedded_poll_fd,
    .poll_timeout = embedded_poll_timeout,
    .dispatch = embedded_dispatch,
    .session_open = embedded_session_open,
    .session_close = embedded_session_close,
    .session_reset = embedded_session_reset,
    .session_fork = embedded_session_fork,
    .session_snapshot = embedded_session_snapshot,
    .session_restore = embedded_session_restore,
    .session_export = embedded_session_export,
    .session_import = embedded_session_import,
    .session_show = embedded_session_show,
    .session_list = embedded_session_list,
    .start = embedded_start,
    .run = embedded_run,
    .detach = embedded_detach,
    .find = embedded_find,
    .list = embedded_list,
    .input = embedded_input,
    .input_end = embedded_input_end,
    .resize = embedded_resize,
    .signal = embedded_signal,
    .stop = embedded_stop,
    .wait = embedded_wait,
    .wait_log = embedded_wait_log,
    .wait_port = embedded_wait_port,
    .result = embedded_result,
    .json = embedded_json,
    .log = embedded_log,
};

int nacre_open(const struct nacre_options *options, struct nacre **ret_nacre,
               struct nacre_error **ret_error)
{
    struct err err = {0};
    struct nacre_options o = {0};
    int rc = nacre_take_options(options, &o, sizeof(o), &err);
    if (rc < 0)
        return nacre_error_give(rc, &err, ret_error);
    struct embedded *e = xnew(struct embedded);
    nacre_init(&e->base, &embedded_ops);
    rc = start(e, &o, &err);
    if (rc < 0)
        nacre_close(&e->base);
    else
        *ret_nacre = &e->base;
    return nacre_error_give(rc, &err, ret_error);
}
