/* SPDX-License-Identifier: MIT */
/*
 * sandbox/root - a box's own view of the files, made of mounts.
 *
 * Nothing of the host is there but what the plan binds. All is built on a file
 * system in memory that becomes the root and then read-only, so that no directory
 * for a mount is ever made in a tree of the user's. Symbolic links are not
 * followed in targets; in sources they are, as seen from outside.
 *
 * Source: mount_namespaces(7), open_tree(2), move_mount(2), mount_setattr(2),
 * pivot_root(2).
 */
#ifndef SANDBOX_ROOT_H
#define SANDBOX_ROOT_H

#include "sandbox/plan.h"

struct err;

/* The sources of a plan, as mounts that are attached nowhere yet. */
struct sandbox_trees {
    int fds[SANDBOX_MOUNTS]; /* by the mount's place in the plan; -1: none, or left out */
};

/*
 * Copies the sources from the caller's view of the files. Who has the payload's files mapped to
 * another owner does that before it enters the namespaces, where it may not see them any more. On
 * failure nothing is held.
 */
int sandbox_trees_open(const struct sandbox_plan *plan, struct sandbox_trees *ret_trees,
                       struct err *err);
void sandbox_trees_close(struct sandbox_trees *trees);

/*
 * Makes the view and enters it: the working directory is its root. For the first process in new
 * namespaces. Takes the trees, whatever comes of it.
 */
int sandbox_root_enter(const struct sandbox_plan *plan, struct sandbox_trees *trees,
                       struct err *err);

#endif
