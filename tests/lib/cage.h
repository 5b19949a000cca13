/* SPDX-License-Identifier: MIT */
/*
 * cage - a test program in namespaces of its own, so that what it runs can harm nobody.
 *
 * In a cage all file systems are read-only, /tmp, /var/tmp, /dev/shm, /run and /dev are
 * new and empty (but for the usual devices), /proc shows the processes of the cage
 * alone, there is no network, and whoever is root has lost the capabilities
 * that reach beyond. Its first process ends with the program, and everything
 * else then; it also ends everything when the processes become too many.
 */
#ifndef TESTS_LIB_CAGE_H
#define TESTS_LIB_CAGE_H

#include <sys/types.h>

/*
 * Puts the calling program into a cage; to be called before anything else, from
 * test_collect(). The caller goes on inside, as another process. What cannot be had is told by
 * cage_missing().
 */
void cage_enter(void);

/* Why there is no cage ("unshare: Operation not permitted"), NULL inside one. */
const char *cage_missing(void);

/* Calls fn for the processes of the cage but its first one, the runner and the caller. */
void cage_each(void (*fn)(pid_t pid, void *ctx), void *ctx);
int cage_count(void);

#endif
