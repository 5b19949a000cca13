/* SPDX-License-Identifier: MIT */
/*
 * test_priv - what the runner, the assertions and the leak checks share.
 *
 * The verdict lies in memory that the runner shares with every process of the
 * test, so that a report arrives even if the test closed all its descriptors,
 * and a check that fails in a child of the test counts.
 */
#ifndef TESTS_LIB_TEST_PRIV_H
#define TESTS_LIB_TEST_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { TEST_EXIT_FAILED = 99, TEST_REPORT_MAX = 64 * 1024 };

struct test_verdict {
    bool finished; /* the body returned and the checks after it passed */
    bool failed;
    bool skipped;
    char reason[256]; /* of the skip */
    size_t report_len;
    char report[TEST_REPORT_MAX];
};

extern struct test_verdict *test_verdict;

/* Appends to the report and marks the test as failed. One or more whole lines, no last newline. */
void test_report(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

struct leak_state; /* what a process holds: descriptors, threads */

/* Taken before the body of a test; leak_check() compares, reports, and frees it. */
struct leak_state *leak_state_take(void);
bool leak_check(struct leak_state *before);

/* Calls fn for each process whose parent is pid, zombies too. */
void leak_each_child(pid_t pid, void (*fn)(pid_t child, char state, void *arg), void *arg);

/* "123 (sleep 100)", from /proc; in buf. */
const char *leak_describe(pid_t pid, char *buf, size_t size);

#endif
