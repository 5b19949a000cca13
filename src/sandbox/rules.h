/* SPDX-License-Identifier: MIT */
/*
 * sandbox/rules - the Landlock rules that follow from the mounts of a plan.
 *
 * They say once more, by another mechanism, what may be written and what may be
 * run; where there is no root of its own, they are what hides the rest.
 */
#ifndef SANDBOX_RULES_H
#define SANDBOX_RULES_H

struct err;
struct sandbox_plan;

/* For who sees the files as the payload will: a descriptor for sandbox_landlock_restrict(). */
int sandbox_rules_open(const struct sandbox_plan *plan, int *ret_fd, struct err *err);

#endif
