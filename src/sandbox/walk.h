/* SPDX-License-Identifier: MIT */
/*
 * sandbox/walk - finding the descendants of a process.
 *
 * Linux lists the children of each thread in /proc; where a kernel lacks that
 * (CONFIG_PROC_CHILDREN) all of /proc is read for parents. Either is a picture
 * with holes while processes start and end: a caller that must find all of them
 * walks until nothing new turns up.
 */
#ifndef SANDBOX_WALK_H
#define SANDBOX_WALK_H

#include <stddef.h>
#include <sys/types.h>

#include "base/own.h"

struct sandbox_pids {
    pid_t *items;
    size_t n_items;
    size_t cap;
    size_t max; /* what is found beyond it is dropped; 0: no limit */
};

typedef void (*sandbox_visit_fn)(pid_t pid, void *ctx);

enum sandbox_walk_way {
    SANDBOX_WALK_FAST, /* through the lists of children if there are any */
    SANDBOX_WALK_SCAN, /* through all of /proc */
};

void sandbox_pids_add(struct sandbox_pids *pids, pid_t pid);

/* Appends the children of pid. */
void sandbox_walk_children(struct sandbox_pids *pids, pid_t pid, enum sandbox_walk_way way);

/*
 * Takes items[from] and all after it as roots and appends their descendants, parents before
 * children. Roots and descendants are passed to visit (may be NULL), the fast way before their own
 * children are looked up. A process that changes its parent meanwhile can be there twice.
 */
void sandbox_walk(struct sandbox_pids *pids, size_t from, enum sandbox_walk_way way,
                  sandbox_visit_fn visit, void *ctx);

void sandbox_pids_done(struct sandbox_pids *pids);

DEFINE_AUTO_DONE(struct sandbox_pids, sandbox_pids_done)

#endif
