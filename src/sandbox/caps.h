/* SPDX-License-Identifier: MIT */
/*
 * sandbox/caps - giving up capabilities(7), for good.
 */
#ifndef SANDBOX_CAPS_H
#define SANDBOX_CAPS_H

#include <stdint.h>

struct err;

/*
 * Leaves the calling thread those of the capabilities in keep (1 << CAP_…) that it is permitted,
 * and takes all others out of its five sets; a program that it executes has the same ones, also as
 * root. What it did not have stays out. The bounding set can be emptied only by who has
 * CAP_SETPCAP; with no_new_privs it makes no difference to others. May be called again.
 * Allocates nothing: for the child between fork and exec.
 */
int sandbox_caps_drop(uint64_t keep, struct err *err);

#endif
