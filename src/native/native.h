/* SPDX-License-Identifier: MIT */
/*
 * native - sessions of kind `bash`: a real, persistent bash.
 *
 * An engine owns the zygote and a small pool of shells that are started ahead.
 * How a command runs, ends and is stopped: docs/contracts/session-execution.md.
 */
#ifndef NATIVE_NATIVE_H
#define NATIVE_NATIVE_H

#include <stddef.h>

struct err;
struct ev;
struct native;
struct sandbox_plan;
struct session;
struct session_kind;

/*
 * Adds to a plan that isolates nothing what a session is to have; the engine adds what it needs
 * itself. A failure is that of opening the session.
 */
typedef int (*native_plan_fn)(void *ctx, const struct session *s, struct sandbox_plan *plan,
                              struct err *err);

struct native_options {
    const char *bash;    /* path; NULL: bash from PATH, then /bin/bash */
    const char *run_dir; /* existing, private; borrowed for the life of the engine */
    size_t pool_size;    /* shells started ahead; 0: none */
    native_plan_fn plan; /* NULL: nothing is isolated; otherwise no shell can be started ahead */
    void *plan_ctx;
};

/* SIGPIPE is set to be ignored if it was at its default. */
int native_new(struct ev *ev, const struct native_options *options, struct native **ret_n,
               struct err *err);
/* The kind to hand to the runtime; lives as long as the engine. */
const struct session_kind *native_kind(struct native *n);
/* All sessions must have been freed. NULL is fine. */
void native_free(struct native *n);

#endif
