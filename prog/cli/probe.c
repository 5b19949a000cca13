/* SPDX-License-Identifier: MIT */
#include "cli/probe.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "client/client.h"
#include "ev/ev.h"
#include "proc/spawn.h"
#include "sandbox/plan.h"

enum { LIMIT_MS = 5000, CONNECT_MS = 2000, PATH_BYTES_MAX = 64 * 1024 };

/* One process in a box: waiting -> ended | failed. */
struct attempt {
    struct ev *ev;
    struct proc_zygote *zygote;
    struct proc_box *box;
    struct ev_timer limit;
    bool over;
    struct err err;
};

static void on_failed(void *ctx, uint32_t tag, const char *step, const struct err *err)
{
    (void)tag;
    struct attempt *a = ctx;
    (void)err_set(&a->err, err->code, "%s: %s", step, err->text);
    a->over = true;
}

static void on_exit_seen(void *ctx, uint32_t tag, pid_t pid, const struct proc_exit *exit)
{
    (void)tag;
    (void)pid;
    struct attempt *a = ctx;
    if (exit->status != 0)
        (void)err_set(&a->err, ERR_SPAWN, "a shell that does nothing ended with status %d",
                      exit->status);
    a->over = true;
}

static void on_gone(void *ctx, bool lost)
{
    struct attempt *a = ctx;
    if (lost && !a->over)
        (void)err_set(&a->err, ERR_SPAWN, "its supervisor died");
    a->over = true;
}

static void on_limit(void *ctx)
{
    struct attempt *a = ctx;
    (void)err_set(&a->err, ERR_TIMEOUT, "no answer within %d s", LIMIT_MS / 1000);
    a->over = true;
}

static int try_box(struct attempt *a, struct err *err)
{
    static const struct proc_box_events events = {
        .on_failed = on_failed, .on_exit = on_exit_seen, .on_gone = on_gone};
    static const char *const argv[] = {"sh", "-c", ":", NULL};
    const struct proc_spec spec = {.path = "/bin/sh", .argv = argv, .umask = -1};
    struct sandbox_plan plan;
    sandbox_plan_init(&plan);
    int rc = proc_box_open(a->zygote, &plan, &events, a, &a->box, err);
    if (rc == 0)
        rc = proc_box_spawn(a->box, &spec, 0, err);
    if (rc < 0)
        return rc;
    ev_timer_start(&a->limit, LIMIT_MS);
    while (!a->over)
        (void)ev_run_once(a->ev, true);
    if (a->err.code)
        *err = a->err;
    return -a->err.code;
}

/* The program that really runs, whichever way it was found. */
static void name_program(pid_t pid, char *ret, size_t size)
{
    char exe[64], program[4096];
    (void)snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)pid);
    ssize_t n = readlink(exe, program, sizeof(program) - 1);
    (void)snprintf(ret, size, "%.*s starts processes", n > 0 ? (int)n : 11,
                   n > 0 ? program : "nacre-spawn");
}

int cli_probe_spawn(char *ret, size_t size, struct err *err)
{
    struct attempt a = {.ev = ev_new()};
    if (!a.ev)
        return err_set(err, EMFILE, "make an event loop");
    ev_timer_init(a.ev, &a.limit, on_limit, &a);
    int rc = proc_zygote_new(a.ev, &a.zygote, err);
    if (rc == 0) {
        name_program(proc_zygote_pid(a.zygote), ret, size);
        rc = try_box(&a, err);
    }
    proc_box_free(a.box);
    proc_zygote_free(a.zygote);
    ev_timer_close(&a.limit);
    ev_free(a.ev);
    return rc;
}

int cli_probe_daemon(char *ret, size_t size, struct err *err)
{
    AUTO(client_free) struct client *client = NULL;
    auto_buf struct buf socket = BUF_INIT(PATH_BYTES_MAX);
    auto_buf struct buf program = BUF_INIT(PATH_BYTES_MAX);
    const struct client_options options = {.no_start = true, .timeout_ms = CONNECT_MS};
    int rc = client_socket_path(&socket, err);
    if (rc == 0)
        rc = client_connect(&options, &client, err);
    if (rc == 0) {
        (void)snprintf(ret, size, "version %s runs as process %lld at %s",
                       client_daemon_version(client), (long long)client_daemon_pid(client),
                       buf_cstr(&socket));
        return 0;
    }
    if (rc != -ERR_CLOSED)
        return rc;
    rc = client_find_daemon(&program, err);
    if (rc == 0)
        (void)snprintf(ret, size, "not running; %s is started when it is needed, at %s",
                       buf_cstr(&program), buf_cstr(&socket));
    return rc;
}
