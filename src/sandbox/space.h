/* SPDX-License-Identifier: MIT */
/*
 * sandbox/space - the namespaces of a box.
 *
 * Source: clone(2), user_namespaces(7), pid_namespaces(7).
 */
#ifndef SANDBOX_SPACE_H
#define SANDBOX_SPACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct sandbox_plan;

/*
 * Forks into the namespaces of the plan: as fork(2), 0 in the child. There the ids are mapped, the
 * process has all capabilities in its namespaces, and is user 0 in them if there is one. For a
 * process with one thread. On failure -errno, and there is no child.
 */
pid_t sandbox_space_fork(const struct sandbox_plan *plan, struct err *err);

/*
 * What only can be done inside: the host name, the loopback device up, no further user namespaces,
 * the time namespace of children. Before the root is changed.
 */
int sandbox_space_settle(const struct sandbox_plan *plan, struct err *err);

/* Whether the payload has an id of its own outside, which only a privileged caller can give it. */
bool sandbox_space_is_privileged(const struct sandbox_plan *plan);

/*
 * A user namespace in which `owner` and `owner_gid` stand for the payload's ids outside, for
 * MOUNT_ATTR_IDMAP. Kept for the next call; the caller must not close it. -errno.
 */
int sandbox_space_owner_map(const struct sandbox_plan *plan, uint32_t owner, uint32_t owner_gid,
                            struct err *err);

#endif
