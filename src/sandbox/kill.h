/* SPDX-License-Identifier: MIT */
/*
 * sandbox/kill - ending all descendants of the calling process.
 *
 * The caller is a child subreaper: what a dying process leaves behind becomes its
 * child, so nothing can get away by detaching itself. The caller has to reap, and
 * to make passes until wait(2) says that there are no children. One pass need not
 * find everything, since processes fork and end while it looks; but whatever it
 * misses is a child of the caller soon. So a process that was killed once need not
 * be looked at again, which is what makes the passes fast enough to win against
 * processes that do nothing but fork.
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
    uint64_t *killed;         /* a bit for each number; see sandbox_killer_forget() */
    size_t n_words;
    unsigned n_passes;
    int64_t next_ns; /* when the next pass may be made */
    int64_t pause_ns;
};

/*
 * Makes a pass if it is time for one: kills the children of the caller for which `keep` (may be
 * NULL) is false, and their descendants. Passes that find nothing new are paced, to let those that
 * were killed die. Returns whether no such child is left.
 */
bool sandbox_killer_run(struct sandbox_killer *killer, sandbox_keep_fn keep, void *ctx);

/* To be told of every process that the caller reaps: its number may come again. */
void sandbox_killer_forget(struct sandbox_killer *killer, pid_t pid);

/* Milliseconds until the next pass may be made, for poll(2). */
int sandbox_killer_wait_ms(const struct sandbox_killer *killer);

void sandbox_killer_done(struct sandbox_killer *killer);

#endif
