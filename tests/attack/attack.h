/* SPDX-License-Identifier: MIT */
/*
 * attack - attempts to get out of a sandbox, or to use up what is not given.
 *
 * A case is one attempt. It is bounded by itself: it stops a little above what the
 * sandbox should allow, and does nothing irreversible where it succeeds (calls that
 * would end a system are made with arguments that cannot work, and count as
 * escaped when they fail for that and not for want of permission). A sandbox that
 * dies under a case was not held up by it: whoever runs the program has to look.
 *
 * What is to be attacked outside, and the limits of the sandbox, are told by the
 * environment; without it such a case does not apply:
 *
 *   ATTACK_PID          a process outside, of the same user if that can be
 *   ATTACK_PID_NAMESPACE  set: process 1 is the sandbox's own, and may be attacked
 *   ATTACK_ABSTRACT     the name of an abstract socket outside that accepts
 *   ATTACK_SOCKET       the path of a listening Unix socket of somebody outside
 *   ATTACK_TCP          a TCP port of 127.0.0.1 outside that accepts
 *   ATTACK_SHMID        System V shared memory of somebody outside
 *   ATTACK_SECRET       the path of a file that must not be readable
 *   ATTACK_MEMORY_MIB   what all processes together may use
 *   ATTACK_PROCESSES    how many there may be
 *   ATTACK_FILES        how many descriptors each may have
 *   ATTACK_TMP_MIB      what /tmp may hold
 *   ATTACK_WORK_MIB     what the working directory may hold
 */
#ifndef TESTS_ATTACK_H
#define TESTS_ATTACK_H

#include <stddef.h>

/* Also the exit status of the program. */
enum attack_result { ATTACK_BLOCKED = 0, ATTACK_ESCAPED = 1, ATTACK_NOT_APPLICABLE = 2 };

/* Runs in a process of its own, which may be killed: that counts as blocked. */
typedef enum attack_result (*attack_fn)(void);

struct attack_case {
    const char *name;
    attack_fn run; /* NULL: make the call below, see attack_denied() */
    long number;
    long args[6];
};

struct attack_group {
    const struct attack_case *cases;
    size_t n_cases;
};

extern const struct attack_group attack_files;
extern const struct attack_group attack_processes;
extern const struct attack_group attack_kernel;
extern const struct attack_group attack_network;
extern const struct attack_group attack_limits;

/* Blocked if rc is negative, whatever errno is. */
enum attack_result attack_refused(long rc);

/* Blocked if rc is negative and errno says that it is not permitted, or not there. */
enum attack_result attack_denied(long rc);

/* A number from the environment, or -1. */
long attack_number(const char *variable);

/* Runs fn in a child: its result; blocked if it was killed. */
enum attack_result attack_in_child(attack_fn fn);

/* Whether path can be opened with the flags; closes it again. */
enum attack_result attack_open(const char *path, int flags);

#endif
