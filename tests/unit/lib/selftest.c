/* SPDX-License-Identifier: MIT */
/*
 * The checks of the test library, checked: each bad test below must be reported
 * as a failure that says what was wrong. They run in a second runner.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/test.h"

enum { QUICK_S = 10 };

/* --- bad tests ----------------------------------------------------------------- */

TEST_HIDDEN(bad_fd, QUICK_S)
{
    CHECK(open("/dev/zero", O_RDONLY | O_CLOEXEC) >= 0);
}

TEST_HIDDEN(bad_closed_fd, QUICK_S)
{
    (void)close(STDIN_FILENO);
}

TEST_HIDDEN(bad_replaced_fd, QUICK_S)
{
    int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    CHECK_INT(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    (void)close(fd);
}

TEST_HIDDEN(bad_child, QUICK_S)
{
    if (fork() == 0) {
        (void)execl("/bin/sleep", "sleep", "1234", (char *)NULL);
        _exit(1);
    }
    (void)usleep(100 * 1000); /* until it is called sleep */
}

TEST_HIDDEN(bad_zombie, QUICK_S)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(3);
    siginfo_t info;
    CHECK(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
}

/* A daemon: its parent is gone, its group and session are its own. */
static void start_orphan(unsigned seconds)
{
    pid_t pid = fork();
    if (pid == 0) {
        if (fork() == 0) {
            (void)setsid();
            (void)sleep(seconds);
        }
        _exit(0);
    }
    CHECK_INT(waitpid(pid, NULL, 0), pid);
}

TEST_HIDDEN(bad_orphan, QUICK_S)
{
    start_orphan(1000);
}

static void *wait_for_ever(void *arg)
{
    (void)arg;
    for (;;)
        (void)pause();
    return NULL;
}

TEST_HIDDEN(bad_thread, QUICK_S)
{
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, wait_for_ever, NULL), 0);
}

TEST_HIDDEN(bad_file, QUICK_S)
{
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s/forgotten", test_env("TMPDIR"));
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    (void)close(fd);
}

TEST_HIDDEN(bad_crash, QUICK_S)
{
    abort();
}

TEST_HIDDEN(bad_exit, QUICK_S)
{
    exit(0);
}

TEST_HIDDEN(bad_time, 1)
{
    (void)signal(SIGTERM, SIG_IGN);
    for (;;)
        (void)pause();
}

TEST_HIDDEN(bad_check, QUICK_S)
{
    printf("said before\n");
    CHECK(2 + 2 == 5);
}

TEST_HIDDEN(bad_int, QUICK_S)
{
    CHECK_INT(2 + 2, 5);
}

TEST_HIDDEN(bad_str, QUICK_S)
{
    CHECK_STR("a\nb", "a\nc");
}

TEST_HIDDEN(bad_null_str, QUICK_S)
{
    CHECK_STR(NULL, "");
}

TEST_HIDDEN(bad_mem, QUICK_S)
{
    CHECK_MEM("abc\0def", 7, "abc\0dxf", 7);
}

TEST_HIDDEN(bad_check_in_child, QUICK_S)
{
    pid_t pid = fork();
    if (pid == 0)
        FAIL("in the child");
    CHECK_INT(waitpid(pid, NULL, 0), pid);
}

TEST_HIDDEN(bad_forked_return, QUICK_S)
{
    pid_t pid = fork();
    if (pid == 0)
        return;
    CHECK_INT(waitpid(pid, NULL, 0), pid);
}

TEST_HIDDEN(good_skip, QUICK_S)
{
    SKIP("no %s", "moon");
}

TEST_HIDDEN(good_untidy, QUICK_S)
{
    /* Allowed: an orphan that ends, and a full, locked scratch directory. */
    start_orphan(0);
    CHECK_INT(mkdir("locked", 0700), 0);
    CHECK_INT(mkdir("locked/in", 0700), 0);
    CHECK_INT(chmod("locked", 0), 0);
}

/* --- and what must be said of them ----------------------------------------------- */

/* Runs one hidden test in a runner of its own; its TAP in text. */
static int run_hidden(const char *name, char *text, size_t size)
{
    int out[2];
    CHECK_INT(pipe2(out, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(out[1], STDOUT_FILENO);
        (void)setenv("TEST_TIMEOUT_SCALE", "1", 1);
        (void)execl("/proc/self/exe", "selftest", name, (char *)NULL);
        _exit(127);
    }
    (void)close(out[1]);
    size_t len = 0;
    for (ssize_t n; len + 1 < size && (n = read(out[0], text + len, size - len - 1)) > 0;)
        len += (size_t)n;
    text[len] = '\0';
    (void)close(out[0]);

    int status = -1;
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void expect(const char *name, int status, const char *const *texts)
{
    static char tap[256 * 1024];
    int got = run_hidden(name, tap, sizeof(tap));
    printf("%s", tap);
    for (; *texts; texts++)
        if (!strstr(tap, *texts))
            FAIL("%s does not report: %s", name, *texts);
    CHECK_INT(got, status);
}

#define EXPECT(name, status, ...) expect(name, status, (const char *const[]){__VA_ARGS__, NULL})

TEST(reports_descriptors)
{
    EXPECT("bad_fd", 1, "1..1\nnot ok 1 - bad_fd\n", "leaked file descriptor", "-> /dev/zero");
    EXPECT("bad_closed_fd", 1, "not ok 1", "closed file descriptor 0 -> /dev/null");
    EXPECT("bad_replaced_fd", 1, "not ok 1", "file descriptor 0 was /dev/null and is /dev/zero");
}

TEST(reports_processes)
{
    EXPECT("bad_child", 1, "not ok 1", "leaked child process ", "(sleep 1234)");
    EXPECT("bad_zombie", 1, "not ok 1", "was not waited for (exit status 3)");
    EXPECT("bad_orphan", 1, "not ok 1", "leaked process ", "selftest bad_orphan");
    EXPECT("bad_forked_return", 1, "not ok 1", "a forked child returned");
}

TEST(reports_threads)
{
    EXPECT("bad_thread", 1, "not ok 1", "leaked threads: 1 before, 2 now");
}

TEST(reports_files)
{
    EXPECT("bad_file", 1, "not ok 1", "left a file in TMPDIR: forgotten");
}

TEST(reports_ends)
{
    EXPECT("bad_crash", 1, "not ok 1", "ended by signal 6 (Aborted)");
    EXPECT("bad_exit", 1, "not ok 1", "exit(0) before the end");
    EXPECT("bad_time", 1, "not ok 1", "timed out after ");
}

TEST(reports_checks)
{
    EXPECT("bad_check", 1, "not ok 1", "selftest.c:", "CHECK(2 + 2 == 5)",
           "--- output\n#   said before\n");
    EXPECT("bad_int", 1, "not ok 1", "2 + 2 is 4, not 5, which is 5");
    EXPECT("bad_str", 1, "not ok 1", "is       \"a\\nb\"", "expected \"a\\nc\"");
    EXPECT("bad_null_str", 1, "not ok 1", "is       NULL", "expected \"\"");
    EXPECT("bad_mem", 1, "not ok 1", "differs from byte 5", "- 00000000  61 62 63 00 64 65 66",
           "+ 00000000  61 62 63 00 64 78 66");
    EXPECT("bad_check_in_child", 1, "not ok 1", "in the child");
}

TEST(accepts_what_is_right)
{
    EXPECT("good_skip", 0, "ok 1 - good_skip # SKIP no moon\n");
    EXPECT("good_untidy", 0, "1..1\nok 1 - good_untidy\n");
}

TEST(passes_equal_values)
{
    CHECK_INT(-1, -1);
    CHECK_STR(NULL, NULL);
    CHECK_STR("", "");
    CHECK_MEM("a\0b", 4, "a\0b", 4);
    CHECK_MEM(NULL, 0, "", 0);
}

TEST(starts_in_an_empty_directory)
{
    char cwd[4096];
    CHECK(getcwd(cwd, sizeof(cwd)) != NULL);
    CHECK_STR(cwd, test_dir());
    CHECK_STR(test_env("TEST_TMP"), test_dir());
    CHECK_INT(rmdir(test_dir()), 0);
    CHECK_INT(mkdir(test_dir(), 0700), 0);
    CHECK_INT(getpgrp(), getpid());
}
