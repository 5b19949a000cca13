/* SPDX-License-Identifier: MIT */
/*
 * sandbox/plan - what confines the processes of one box, as plain data.
 *
 * A plan holds no pointers and is copied by assignment. It is made by the
 * runtime, carried to nacre-spawn by sandbox/proto, and acted upon in the child
 * between fork and exec by sandbox_apply(). A zeroed plan is not valid: start
 * from sandbox_plan_init(), which isolates nothing.
 */
#ifndef SANDBOX_PLAN_H
#define SANDBOX_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

enum { SANDBOX_PLAN_VERSION = 1, SANDBOX_RLIMITS = 16 };

/* Isolation layers, as bits. Their names are what a result's `isolation` lists. */
enum sandbox_layer {
    SANDBOX_NO_NEW_PRIVS = 1 << 0, /* "no-new-privs" */
};

struct sandbox_rlimit {
    bool set;
    uint64_t soft; /* RLIM_INFINITY as in setrlimit(2) */
    uint64_t hard; /* clamped to the limit in force if it may not be raised */
};

struct sandbox_plan {
    uint32_t version;
    uint32_t layers;                                /* enum sandbox_layer, or-ed */
    struct sandbox_rlimit rlimits[SANDBOX_RLIMITS]; /* by RLIMIT_… */
    int32_t umask;                                  /* -1: 022 */
    int32_t nice;                                   /* added to the runtime's niceness */
};

/* No isolation, no limits of its own, umask 022. */
void sandbox_plan_init(struct sandbox_plan *plan);

/* -EINVAL, with the reason, for a plan that could not be applied. */
int sandbox_plan_check(const struct sandbox_plan *plan, struct err *err);

/* The name of the i-th layer of the plan, for i from 0; NULL after the last. */
const char *sandbox_plan_layer(const struct sandbox_plan *plan, size_t i);

/*
 * Applies the plan to the calling process. For the child between fork (or vfork) and exec: it
 * allocates nothing and changes nothing but the process itself. After an error the process is of no
 * more use.
 */
int sandbox_apply(const struct sandbox_plan *plan, struct err *err);

#endif
