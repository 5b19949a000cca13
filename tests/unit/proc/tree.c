/* SPDX-License-Identifier: MIT */
#include "proc/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/own.h"
#include "lib/test.h"
#include "proc/pty.h"

/* A process that no longer is. */
static pid_t dead_pid(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    return pid;
}

static pid_t fork_or_fail(void)
{
    pid_t pid = fork();
    CHECK(pid >= 0);
    return pid;
}

static void end_child(pid_t pid)
{
    CHECK_INT(kill(pid, SIGKILL), 0);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
}

TEST(a_process_is_described)
{
    struct proc_info info;
    CHECK_INT(prctl(PR_SET_NAME, ") R 1 (x\n"), 0);
    CHECK_INT(proc_info_read(getpid(), &info), 0);
    CHECK_INT(info.pid, getpid());
    CHECK_INT(info.ppid, getppid());
    CHECK_INT(info.pgid, getpgrp());
    CHECK_INT(info.sid, getsid(0));
    CHECK_INT(info.state, 'R');
    CHECK_STR(info.comm, ") R 1 (x\n");
    CHECK(info.starttime > 0);
    CHECK_INT(proc_info_read(dead_pid(), &info), -ESRCH);
}

TEST(descendants_are_listed_parents_first)
{
    int fds[2];
    CHECK_INT(io_pipe(fds), 0);
    pid_t child = fork_or_fail();
    if (child == 0) {
        if (fork() == 0) {
            (void)setsid();
            (void)io_write_all(fds[1], "x", 1);
        }
        for (;;)
            (void)pause();
    }
    char byte;
    CHECK_INT(read(fds[0], &byte, 1), 1);
    struct proc_list list = {0};
    pid_t root = getpid();
    CHECK_INT(proc_tree_list(&root, 1, &list), 0);
    CHECK_INT(list.n_items, 2);
    CHECK_INT(list.items[0].pid, child);
    CHECK_INT(list.items[0].ppid, root);
    CHECK_INT(list.items[1].ppid, child);
    CHECK_INT(list.items[1].sid, list.items[1].pid);

    CHECK_INT(proc_tree_list(NULL, 0, &list), 0);
    CHECK_INT(list.n_items, 2);
    proc_list_clear(&list); /* a root below another is not listed twice */
    pid_t roots[] = {root, child};
    CHECK_INT(proc_tree_list(roots, 2, &list), 0);
    CHECK_INT(list.n_items, 1);
    proc_list_clear(&list);
    CHECK_INT(proc_tree_list(&root, 1, &list), 0);
    CHECK_INT(proc_tree_kill(&list, SIGKILL, NULL, NULL), 2);
    CHECK_INT(waitpid(child, NULL, 0), child);
    proc_list_clear(&list);
    pid_t gone = child;
    CHECK_INT(proc_tree_list(&gone, 1, &list), 0);
    CHECK_INT(list.n_items, 0);
    proc_list_done(&list);
    (void)close(fds[0]);
    (void)close(fds[1]);
}

static bool is_pid(const struct proc_info *info, void *ctx)
{
    return info->pid == *(pid_t *)ctx;
}

TEST(signals_spare_who_is_skipped_and_who_is_another)
{
    pid_t pids[2];
    for (int i = 0; i < 2; i++) {
        pids[i] = fork_or_fail();
        if (pids[i] == 0)
            for (;;)
                (void)pause();
    }
    struct proc_list list = {0};
    pid_t root = getpid();
    CHECK_INT(proc_tree_list(&root, 1, &list), 0);
    CHECK_INT(list.n_items, 2);
    CHECK_INT(proc_kill(pids[0], list.items[0].starttime + 1, SIGKILL), -ESRCH);
    CHECK_INT(proc_tree_kill(&list, SIGKILL, is_pid, &pids[0]), 1);
    int status;
    CHECK_INT(wait(&status), pids[1]);
    CHECK_INT(proc_tree_kill(&list, 0, NULL, NULL), 1); /* the other is no more */
    CHECK_INT(proc_kill(pids[1], list.items[1].starttime, SIGKILL), -ESRCH);
    end_child(pids[0]);
    proc_list_done(&list);
}

TEST(children_are_seen_through_one_descriptor)
{
    auto_close int fd = proc_children_open(getpid());
    if (fd == -EOPNOTSUPP)
        SKIP("lists of children in /proc");
    CHECK(fd >= 0);
    CHECK_INT(proc_has_children(fd), 0);
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork_or_fail();
        if (pid == 0)
            for (;;)
                (void)pause();
        CHECK_INT(proc_has_children(fd), 1);
        end_child(pid);
        CHECK_INT(proc_has_children(fd), 0);
    }
    CHECK_INT(proc_children_open(dead_pid()), -ESRCH);

    pid_t pid = fork_or_fail();
    if (pid == 0)
        for (;;)
            (void)pause();
    auto_close int of_child = proc_children_open(pid);
    CHECK_INT(proc_has_children(of_child), 0);
    end_child(pid);
    CHECK(proc_has_children(of_child) <= 0); /* 0 or -ESRCH, never a stranger's */
}

TEST(holders_of_a_pipe_are_found)
{
    int fds[2];
    CHECK_INT(io_pipe(fds), 0);
    struct stat st;
    CHECK_INT(fstat(fds[1], &st), 0);
    CHECK_INT(proc_holds_file(getpid(), st.st_dev, st.st_ino), 1);
    (void)close(fds[0]);
    (void)close(fds[1]);
    CHECK_INT(proc_holds_file(getpid(), st.st_dev, st.st_ino), 0);
    CHECK_INT(mkfifo("fifo", 0600), 0);
    int fifo = open("fifo", O_RDWR | O_CLOEXEC);
    CHECK_INT(fstat(fifo, &st), 0);
    CHECK_INT(proc_holds_file(getpid(), st.st_dev, st.st_ino), 1);
    (void)close(fifo);
    CHECK_INT(proc_holds_file(dead_pid(), st.st_dev, st.st_ino), -ESRCH);
}

TEST(directory_and_command_line_are_read)
{
    char *text;
    CHECK_INT(proc_cwd(getpid(), &text), 0);
    CHECK_STR(text, test_dir());
    free(text);
    CHECK_INT(proc_cwd(dead_pid(), &text), -ESRCH);
    CHECK_INT(proc_cmdline(dead_pid(), &text), -ESRCH);

    int fds[2];
    CHECK_INT(io_pipe(fds), 0);
    pid_t pid = fork_or_fail();
    if (pid == 0) {
        (void)dup2(fds[0], 0);
        (void)execl("/bin/cat", "cat", "-", "a b", NULL);
        _exit(1);
    }
    (void)close(fds[0]);
    int64_t end = clock_mono_ns() + 5000000000;
    do { /* until it has executed */
        CHECK_INT(proc_cmdline(pid, &text), 0);
        bool done = strncmp(text, "cat ", 4) == 0;
        if (done)
            CHECK_STR(text, "cat - a b");
        free(text);
        if (done)
            break;
    } while (clock_mono_ns() < end);
    end_child(pid);
    (void)close(fds[1]);

    pid = fork_or_fail();
    if (pid == 0)
        _exit(0);
    siginfo_t info;
    CHECK_INT(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    CHECK_INT(proc_cmdline(pid, &text), 0); /* a zombie has none */
    CHECK_INT(text[0], '[');
    free(text);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
}

static void burn(int64_t ns)
{
    struct timespec t;
    do
        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    while (t.tv_sec * 1000000000 + t.tv_nsec < ns);
}

TEST(cpu_time_is_read_with_that_of_waited_children)
{
    struct proc_cpu cpu;
    CHECK_INT(proc_cpu_read(getpid(), &cpu), 0);
    CHECK_INT(cpu.children_user_us + cpu.children_system_us, 0);
    pid_t pid = fork_or_fail();
    if (pid == 0) {
        burn(100000000);
        _exit(0);
    }
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    burn(50000000);
    CHECK_INT(proc_cpu_read(getpid(), &cpu), 0);
    CHECK(cpu.user_us + cpu.system_us >= 30000);
    CHECK(cpu.children_user_us + cpu.children_system_us >= 80000);
    CHECK_INT(proc_cpu_read(dead_pid(), &cpu), -ESRCH);
}

/* --- what is waited for ----------------------------------------------------------- */

/* Reads until it is no longer PROC_WAIT_NONE, that is until the process has got there. */
static struct proc_wait read_wait(pid_t pid)
{
    struct proc_wait wait = {.kind = PROC_WAIT_NONE};
    int64_t end = clock_mono_ns() + 10000000000;
    while (wait.kind == PROC_WAIT_NONE && clock_mono_ns() < end)
        CHECK_INT(proc_wait_read(pid, &wait), 0);
    return wait;
}

static void check_wait(void (*body)(int fd), int fd, enum proc_wait_kind kind, int want_fd)
{
    pid_t pid = fork_or_fail();
    if (pid == 0) {
        body(fd);
        _exit(0);
    }
    /* On the way it may be seen in other waits, as for memory. */
    struct proc_wait wait = read_wait(pid);
    int64_t end = clock_mono_ns() + 10000000000;
    while (wait.kind != kind && clock_mono_ns() < end)
        wait = read_wait(pid);
    CHECK_INT(wait.kind, kind);
    CHECK_INT(wait.fd, want_fd);
    CHECK_INT(wait.tid, pid);
    struct proc_list list = {0};
    CHECK_INT(proc_tree_list(&pid, 1, &list), 0);
    (void)proc_tree_kill(&list, SIGKILL, NULL, NULL);
    proc_list_done(&list);
    end_child(pid);
}

static void read_byte(int fd)
{
    char byte;
    (void)read(fd, &byte, 1);
}

static void fill(int fd)
{
    char zeros[65536] = {0};
    for (;;)
        (void)write(fd, zeros, sizeof(zeros));
}

static void wait_for_child(int fd)
{
    if (fork() == 0)
        read_byte(fd);
    (void)wait(NULL);
}

static void sleep_long(int fd)
{
    (void)fd;
    struct timespec t = {.tv_sec = 1000};
    (void)nanosleep(&t, NULL);
}

static void lock_twice(int fd)
{
    (void)fd;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    (void)pthread_mutex_lock(&mutex);
    (void)pthread_mutex_lock(&mutex);
}

static void stop_itself(int fd)
{
    (void)fd;
    (void)raise(SIGSTOP);
}

static void *read_in_thread(void *arg)
{
    read_byte(*(int *)arg);
    return NULL;
}

TEST(waits_are_told_apart)
{
    int fds[2], socks[2], master, slave;
    CHECK_INT(io_pipe(fds), 0);
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks), 0);
    CHECK_INT(proc_pty_open(24, 80, &master, &slave, NULL), 0);
    check_wait(read_byte, fds[0], PROC_WAIT_PIPE, fds[0]);
    check_wait(read_byte, slave, PROC_WAIT_TTY, slave);
    check_wait(read_byte, socks[0], PROC_WAIT_SOCKET, socks[0]);
    check_wait(fill, fds[1], PROC_WAIT_WRITE, fds[1]);
    check_wait(wait_for_child, socks[0], PROC_WAIT_CHILD, -1);
    check_wait(sleep_long, -1, PROC_WAIT_TIMER, -1);
    check_wait(lock_twice, -1, PROC_WAIT_LOCK, -1);
    check_wait(stop_itself, -1, PROC_WAIT_STOPPED, -1);
    int all[] = {fds[0], fds[1], socks[0], socks[1], master, slave};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        (void)close(all[i]);
}

TEST(the_thread_that_reads_speaks_for_its_process)
{
    int fds[2];
    CHECK_INT(io_pipe(fds), 0);
    pid_t pid = fork_or_fail();
    if (pid == 0) {
        pthread_t thread;
        (void)pthread_create(&thread, NULL, read_in_thread, &fds[0]);
        sleep_long(-1);
    }
    struct proc_wait wait;
    int64_t end = clock_mono_ns() + 10000000000;
    do
        wait = read_wait(pid);
    while (wait.kind != PROC_WAIT_PIPE && clock_mono_ns() < end);
    CHECK_INT(wait.kind, PROC_WAIT_PIPE);
    CHECK(wait.tid != pid);
    end_child(pid);
    (void)close(fds[0]);
    (void)close(fds[1]);
}

TEST(a_running_process_and_an_ended_one_wait_for_nothing)
{
    struct proc_wait wait;
    CHECK_INT(proc_wait_read(getpid(), &wait), 0);
    CHECK_INT(wait.kind, PROC_WAIT_NONE);
    pid_t pid = fork_or_fail();
    if (pid == 0)
        _exit(0);
    siginfo_t info;
    CHECK_INT(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    CHECK_INT(proc_wait_read(pid, &wait), 0);
    CHECK_INT(wait.kind, PROC_WAIT_ENDED);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    CHECK_INT(proc_wait_read(pid, &wait), -ESRCH);
}
