/* SPDX-License-Identifier: MIT */
/*
 * A box used synchronously: calls turn the loop until the answer is there.
 */
#ifndef TESTS_UNIT_PROC_BOX_UTIL_H
#define TESTS_UNIT_PROC_BOX_UTIL_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"
#include "ev/ev.h"
#include "lib/test.h"
#include "proc/spawn.h"
#include "sandbox/plan.h"

enum { TAGS_MAX = 1024, OUTPUT_MAX = 8 << 20 };

/* What was told about one request. */
struct told {
    pid_t pid; /* 0: not spawned */
    bool failed;
    char step[32];
    struct err err;
    bool exited;
    struct proc_exit exit;
};

struct fixture {
    struct ev *ev;
    struct proc_zygote *zygote;
    struct proc_box *box;
    struct sandbox_plan plan;
    struct told told[TAGS_MAX]; /* by tag */
    int n_spawned, n_failed, n_exited;
    int n_gone;
    bool lost;
};

static inline void fixture_on_spawned(void *ctx, uint32_t tag, pid_t pid)
{
    struct fixture *f = ctx;
    f->told[tag].pid = pid;
    f->n_spawned++;
}

static inline void fixture_on_failed(void *ctx, uint32_t tag, const char *step,
                                     const struct err *err)
{
    struct fixture *f = ctx;
    struct told *told = &f->told[tag];
    told->failed = true;
    (void)snprintf(told->step, sizeof(told->step), "%s", step);
    told->err = *err;
    f->n_failed++;
}

static inline void fixture_on_exit(void *ctx, uint32_t tag, pid_t pid, const struct proc_exit *exit)
{
    struct fixture *f = ctx;
    CHECK_INT(f->told[tag].pid, pid); /* never before it was spawned */
    CHECK(!f->told[tag].exited);
    f->told[tag].exited = true;
    f->told[tag].exit = *exit;
    f->n_exited++;
}

static inline void fixture_on_gone(void *ctx, bool lost)
{
    struct fixture *f = ctx;
    f->n_gone++;
    f->lost = lost;
}

static const struct proc_box_events fixture_events = {
    .on_spawned = fixture_on_spawned,
    .on_failed = fixture_on_failed,
    .on_exit = fixture_on_exit,
    .on_gone = fixture_on_gone,
};

static inline void fixture_open_box(struct fixture *f)
{
    struct err err;
    if (proc_box_open(f->zygote, &f->plan, &fixture_events, f, &f->box, &err) < 0)
        FAIL("open a box: %s", err.text);
}

/* On the heap, and reached from here, so that sanitizers see its end. */
static inline struct fixture *fixture_new(void)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct err err;
    CHECK(f);
    f->ev = ev_new();
    CHECK(f->ev);
    sandbox_plan_init(&f->plan);
    if (proc_zygote_new(f->ev, &f->zygote, &err) < 0)
        FAIL("start the zygote: %s", err.text);
    fixture_open_box(f);
    return f;
}

static inline void fixture_wait(struct fixture *f, const int *count, int target)
{
    bool more = true;
    while (*count < target) {
        CHECK(more); /* else nothing is left that could make it true */
        more = ev_run_once(f->ev, true);
    }
}

/* The pid, or 0 if it failed. */
static inline pid_t fixture_spawn(struct fixture *f, const struct proc_spec *spec, uint32_t tag)
{
    struct err err;
    memset(&f->told[tag], 0, sizeof(f->told[tag]));
    if (proc_box_spawn(f->box, spec, tag, &err) < 0)
        FAIL("ask for a process: %s", err.text);
    while (f->told[tag].pid == 0 && !f->told[tag].failed)
        CHECK(ev_run_once(f->ev, true));
    return f->told[tag].pid;
}

/* Waits for its end: the wait status. */
static inline int fixture_wait_exit(struct fixture *f, uint32_t tag)
{
    while (!f->told[tag].exited)
        CHECK(ev_run_once(f->ev, true));
    return f->told[tag].exit.status;
}

/* Runs argv with stdout (and stderr) going to ret; the wait status. */
static inline int fixture_run(struct fixture *f, const struct proc_spec *spec, struct buf *ret)
{
    int fds[2];
    CHECK_INT(io_pipe(fds), 0);
    struct proc_fd out[] = {
        {fds[1], 1},
        {fds[1], 2}
    };
    struct proc_spec with_output = *spec;
    with_output.fds = out;
    with_output.n_fds = 2;
    if (fixture_spawn(f, &with_output, 0) == 0)
        FAIL("%s: %s", f->told[0].step, f->told[0].err.text);
    (void)close(fds[1]);
    CHECK_INT(io_read_fd(fds[0], OUTPUT_MAX, ret), 0);
    (void)close(fds[0]);
    return fixture_wait_exit(f, 0);
}

/* Runs a script of sh and waits for its first line, which ends in '\n'; stays running. */
static inline pid_t fixture_start_script(struct fixture *f, const char *script, uint32_t tag)
{
    static const char *const env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", NULL};
    int fds[2];
    CHECK_INT(io_pipe(fds), 0);
    struct proc_fd out[] = {
        {fds[1], 9}
    };
    const char *argv[] = {"sh", "-c", script, NULL};
    struct proc_spec spec = {.argv = argv, .envp = env, .fds = out, .n_fds = 1, .umask = -1};
    pid_t pid = fixture_spawn(f, &spec, tag);
    if (pid == 0)
        FAIL("%s: %s", f->told[tag].step, f->told[tag].err.text);
    (void)close(fds[1]);
    char c = 0;
    while (c != '\n')
        CHECK_INT(read(fds[0], &c, 1), 1);
    (void)close(fds[0]);
    return pid;
}

static inline void fixture_close_box(struct fixture *f)
{
    int before = f->n_gone;
    proc_box_close(f->box);
    fixture_wait(f, &f->n_gone, before + 1);
    proc_box_free(f->box);
    f->box = NULL;
}

static inline void fixture_free(struct fixture *f)
{
    proc_box_free(f->box);
    proc_zygote_free(f->zygote);
    ev_free(f->ev);
    free(f);
}

#endif
