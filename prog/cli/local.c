/* SPDX-License-Identifier: MIT */
#include "cli/local.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/rundir.h"
#include "cli/end.h"
#include "cli/live.h"
#include "cli/report.h"
#include "ev/ev.h"
#include "json/write.h"
#include "native/native.h"
#include "rt/rt.h"
#include "session/session.h"

enum { RESULT_MAX = 8 * 1024 * 1024 };

struct local {
    const struct cli_args *args;
    struct rundir dir;
    struct ev *ev;
    struct native *native;
    const struct session_kind *kinds[2]; /* borrowed by the runtime for its life */
    struct rt *rt;
    struct cli_live live;
    char session[SESSION_ID_MAX];
    char id[COMMAND_ID_MAX];
    bool ended;
    int status;
};

/* ---- what the command needs from us ---- */

static int give_input(const void *p, size_t n, struct err *err, void *ctx)
{
    struct local *l = ctx;
    return rt_input(l->rt, l->id, p, n, err);
}

static int end_input(struct err *err, void *ctx)
{
    struct local *l = ctx;
    return rt_input_end(l->rt, l->id, err);
}

static void resize(uint16_t rows, uint16_t cols, void *ctx)
{
    struct local *l = ctx;
    (void)rt_resize(l->rt, l->id, rows, cols, NULL); /* fails only when the command has ended */
}

static void stop(bool at_once, void *ctx)
{
    struct local *l = ctx;
    (void)rt_stop(l->rt, l->id, NULL);
    if (at_once) /* the first call went one rung up, to TERM; this one goes on to KILL */
        (void)rt_stop(l->rt, l->id, NULL);
}

static const struct cli_live_calls calls = {
    .input = give_input, .input_end = end_input, .resize = resize, .stop = stop};

static void on_output(const char *id, int stream, const void *p, size_t n, void *ctx)
{
    (void)id;
    struct local *l = ctx;
    cli_live_output(&l->live, stream, p, n);
    cli_live_wait(&l->live); /* what is not taken slows the command down */
}

static void on_result(const char *id, bool running, void *ctx)
{
    (void)id;
    (void)running; /* always ended: there is no yield here */
    struct local *l = ctx;
    l->ended = true;
}

/* ---- the steps ---- */

static int open_runtime(struct local *l, struct err *err)
{
    int rc = rundir_open(NULL, &l->dir, err);
    if (rc < 0)
        return rc;
    l->ev = ev_new();
    if (!l->ev)
        return err_set(err, EMFILE, "make an event loop");
    struct native_options native = {.run_dir = l->dir.path};
    rc = native_new(l->ev, &native, &l->native, err);
    if (rc < 0)
        return rc;
    l->kinds[0] = native_kind(l->native);
    struct rt_options options = {.kinds = l->kinds, .run_dir = l->dir.path};
    return rt_new(l->ev, &options, &l->rt, err);
}

static int start(struct local *l, const struct command_spec *spec, struct err *err)
{
    const struct rt_caller caller = {.origin = "cli"};
    auto_free char *cwd = getcwd(NULL, 0);
    struct rt_session_spec session = {.kind = l->args->kind, .cwd = cwd};
    int rc = rt_session_open(l->rt, &caller, &session, l->session, err);
    if (rc < 0)
        return rc;
    struct rt_exec exec = {
        .session_id = l->session,
        .spec = *spec,
        .events = {.on_output = l->args->json ? NULL : on_output, .on_result = on_result, .ctx = l},
    };
    return rt_exec(l->rt, &caller, &exec, l->id, err);
}

static int print_result(struct local *l)
{
    auto_buf struct buf text = BUF_INIT(RESULT_MAX);
    struct json_w w;
    struct err err;
    json_w_init(&w, &text);
    int rc = rt_result(l->rt, l->id, &w, &err);
    if (rc == 0)
        rc = json_w_finish(&w);
    if (rc < 0) {
        (void)err_set(&err, -rc, "write the result");
        return cli_fail(l->args, &err);
    }
    cli_print_bytes(text.data, text.len);
    cli_print("\n");
    return cli_flush(l->args, l->status);
}

static int report_end(struct local *l)
{
    const struct command *c = rt_find_command(l->rt, l->id);
    struct cli_end end = cli_end_of_command(c);
    l->status = cli_end_status(&end, l->live.signo);
    if (l->args->json)
        return print_result(l);
    int error = cli_live_write_error(&l->live);
    if (error && error != EPIPE) {
        struct err err;
        (void)err_set(&err, error, "write to standard output");
        return cli_fail(l->args, &err);
    }
    if (!error)
        cli_end_note(l->args, &end);
    return l->status;
}

static int run(struct local *l, const struct command_spec *spec)
{
    struct err err;
    struct cli_live_options options = {
        .input = spec->stdin_open, .pty = spec->pty && !l->args->json, .plain = l->args->plain};
    int rc = open_runtime(l, &err);
    if (rc == 0)
        rc = cli_live_init(&l->live, l->ev, &options, &calls, l, &err);
    if (rc == 0)
        rc = start(l, spec, &err);
    if (rc < 0)
        return cli_fail(l->args, &err);
    cli_live_start(&l->live);
    while (!l->ended)
        (void)ev_run_once(l->ev, true);
    cli_live_finish(&l->live);
    return report_end(l);
}

int cli_local_exec(const struct cli_args *args, const struct command_spec *spec)
{
    struct local l = {.args = args, .dir = {.lock = -1}};
    int status = run(&l, spec);
    bool broken = l.live.ev && cli_live_write_error(&l.live) == EPIPE;
    cli_live_done(&l.live);
    rt_free(l.rt);
    native_free(l.native);
    ev_free(l.ev);
    rundir_close(&l.dir);
    if (broken)
        cli_broken_pipe();
    return status;
}
