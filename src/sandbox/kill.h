/* SPDX-License-Identifier: MIT */
/*
 * sandbox/kill - ending all descendants of the calling process.
 *
 * The caller is a child subreaper: what a dying process leaves behind becomes its
 * child, so nothing can get away by detaching itself. The caller has to reap, and
 * to make passes until wait(2) says that there are no children. One pass need not
 * find everything, since processes can fork while it looks.
 *
 * Processes are signalled by number. One that was read may end and be reaped
 * before it is killed, but the kernel hands numbers out in turn, so the number is
 * not given to another process within the milliseconds of a pass.
 */
#ifndef SANDBOX_KILL_H
#define SANDBOX_KILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/walk.h"

typedef bool (*sandbox_keep_fn)(pid_t child, void *ctx);

/* The state between passes. Zeroed: none was made yet. */
struct sandbox_killer {
    struct sandbox_pids pids; /* scratch */
    int64_t next_ns;          /* when the next pass may be made */
    int64_t pause_ns;
};

/*
 * Kills the children of the caller for which `keep` (may be NULL) is false, and all their
 * descendants. Returns how many processes it found, those already dying included.
 */
size_t sandbox_kill_pass(struct sandbox_pids *pids, sandbox_keep_fn keep, void *ctx);

/*
 * Makes a pass if it is time for one. Passes are paced, to let those that were killed die. Returns
 * whether that pass found nothing any more.
 */
bool sandbox_killer_run(struct sandbox_killer *killer, sandbox_keep_fn keep, void *ctx);

/* Milliseconds until the next pass may be made, for poll(2). */
int sandbox_killer_wait_ms(const struct sandbox_killer *killer);

void sandbox_killer_done(struct sandbox_killer *killer);

#endif
