/* SPDX-License-Identifier: MIT */
/*
 * isolate - a plan with every layer, for sessions of tests.
 *
 * System directories are read-only, /tmp is the session's own, and the scratch
 * directory of the test is writable under its own name. With NACRE_TEST_ISOLATED=1
 * every session of lib/fixture.h has it, so that whatever holds without isolation
 * is seen to hold with it.
 */
#ifndef TESTS_LIB_ISOLATE_H
#define TESTS_LIB_ISOLATE_H

#include <stdbool.h>

struct err;
struct sandbox_plan;
struct session;

bool isolate_wanted(void);

/* A native_plan_fn. */
int isolate_plan(void *ctx, const struct session *s, struct sandbox_plan *plan, struct err *err);

#endif
