/* SPDX-License-Identifier: MIT */
/*
 * sandbox/child - starting one process from the supervisor.
 */
#ifndef SANDBOX_CHILD_H
#define SANDBOX_CHILD_H

#include <sys/types.h>

struct err;
struct sandbox_plan;
struct sandbox_spec;

struct sandbox_child {
    const struct sandbox_plan *plan;
    const struct sandbox_means *means;
    const struct sandbox_spec *spec;
    int *fds; /* one for each target of the spec, close-on-exec; the child's copy may be changed */
};

/*
 * Starts the process and returns when its program runs. On failure nothing is left of it, the
 * result is -errno and *ret_step a literal that names what failed. Descriptors 0 to 2 that are no
 * target are those of the caller; all others that are no target are closed. The process gets
 * SIGKILL when the calling thread ends.
 */
int sandbox_child_start(const struct sandbox_child *child, pid_t *ret_pid, const char **ret_step,
                        struct err *err);

#endif
