/* SPDX-License-Identifier: MIT */
#include "sandbox/walk.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "lib/test.h"

enum { WIDE = 1200 }; /* more than a page of numbers */

static _Noreturn void *fork_and_pause(void *arg)
{
    if (fork() == 0)
        (void)write(*(int *)arg, "x", 1);
    for (;;)
        (void)pause();
}

/*
 * A tree of four: the test's child, a child of its second thread, and one below the other. Each
 * that is complete writes a byte.
 */
static pid_t start_tree(int fd)
{
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid > 0)
        return pid;
    pthread_t thread;
    (void)pthread_create(&thread, NULL, fork_and_pause, &fd);
    if (fork() == 0) {
        if (fork() == 0)
            (void)write(fd, "x", 1);
        for (;;)
            (void)pause();
    }
    for (;;)
        (void)pause();
}

static void kill_all(const struct sandbox_pids *pids)
{
    for (size_t i = 0; i < pids->n_items; i++)
        CHECK_INT(kill(pids->items[i], SIGKILL), 0);
}

static void check_tree(enum sandbox_walk_way way)
{
    int fds[2];
    char bytes[2];
    CHECK_INT(io_pipe(fds), 0);
    pid_t root = start_tree(fds[1]);
    CHECK_INT(io_read_full(fds[0], bytes, 2), 2);

    AUTO(sandbox_pids_done) struct sandbox_pids pids = {0};
    sandbox_walk_children(&pids, getpid(), way);
    CHECK_INT(pids.n_items, 1);
    CHECK_INT(pids.items[0], root);
    sandbox_walk(&pids, 0, way, NULL, NULL);
    CHECK_INT(pids.n_items, 4);
    kill_all(&pids);
    CHECK_INT(waitpid(root, NULL, 0), root);
    (void)close(fds[0]);
    (void)close(fds[1]);
}

TEST(a_tree_is_found_by_lists_of_children)
{
    check_tree(SANDBOX_WALK_FAST);
}

TEST(a_tree_is_found_by_reading_all_of_proc)
{
    check_tree(SANDBOX_WALK_SCAN);
}

static void count(pid_t pid, void *ctx)
{
    (void)pid;
    ++*(int *)ctx;
}

TEST(many_children_are_all_found)
{
    for (int i = 0; i < WIDE; i++) {
        if (fork() == 0) {
            for (;;)
                (void)pause();
        }
    }
    for (int way = 0; way < 2; way++) {
        AUTO(sandbox_pids_done) struct sandbox_pids pids = {0};
        int n_visits = 0;
        sandbox_pids_add(&pids, getpid());
        sandbox_walk(&pids, 0, (enum sandbox_walk_way)way, count, &n_visits);
        CHECK_INT(pids.n_items, WIDE + 1);
        CHECK_INT(n_visits, WIDE + 1);
    }
    AUTO(sandbox_pids_done) struct sandbox_pids few = {.max = 10};
    sandbox_walk_children(&few, getpid(), SANDBOX_WALK_FAST);
    CHECK_INT(few.n_items, 10);
    AUTO(sandbox_pids_done) struct sandbox_pids all = {0};
    sandbox_walk_children(&all, getpid(), SANDBOX_WALK_FAST);
    kill_all(&all);
    for (int i = 0; i < WIDE; i++)
        CHECK(wait(NULL) > 0);
}

TEST(a_process_that_has_ended_has_no_children)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    AUTO(sandbox_pids_done) struct sandbox_pids pids = {0};
    sandbox_walk_children(&pids, pid, SANDBOX_WALK_FAST);
    sandbox_walk_children(&pids, pid, SANDBOX_WALK_SCAN);
    CHECK_INT(pids.n_items, 0);
}
