/* SPDX-License-Identifier: MIT */
/*
 * Using up what others need. Each stops at OVER times its limit, and at a bound of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attack.h"

enum {
    OVER = 2,
    MIB = 1 << 20,
    PROCESSES_MAX = 1500,
    MEMORY_MAX = 1536, /* MiB */
    DISK_MAX = 512,    /* MiB */
    PATH_SIZE = 256,
};

/* What to try for a limit: a little more than it; -1 if there is none. */
static long target(const char *variable, long most)
{
    long limit = attack_number(variable);
    if (limit < 0)
        return -1;
    return limit * OVER < most ? limit * OVER : most;
}

static enum attack_result verdict(long done, const char *variable)
{
    return done > attack_number(variable) ? ATTACK_ESCAPED : ATTACK_BLOCKED;
}

/* ---- processes ---- */

/* Ends the caller with its parent, which may be gone already. */
static void end_with(pid_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
}

static long fork_many(long n, void (*child)(void))
{
    const pid_t parent = getpid();
    long done = 0;
    for (; done < n; done++) {
        pid_t pid = fork();
        if (pid < 0)
            break;
        if (pid == 0) {
            end_with(parent);
            child();
            _exit(0);
        }
    }
    return done;
}

static void wait_for_ever(void)
{
    for (;;)
        (void)pause();
}

static void end_at_once(void)
{
}

static void detach(void)
{
    (void)setsid();
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    wait_for_ever();
}

static enum attack_result fork_case(void (*child)(void))
{
    long n = target("ATTACK_PROCESSES", PROCESSES_MAX);
    return n < 0 ? ATTACK_NOT_APPLICABLE : verdict(fork_many(n, child), "ATTACK_PROCESSES");
}

static enum attack_result fork_bomb(void)
{
    return fork_case(wait_for_ever);
}

static enum attack_result fork_detached(void)
{
    return fork_case(detach);
}

/* Nobody waits for those that end. */
static enum attack_result zombies(void)
{
    return fork_case(end_at_once);
}

static void *sleep_in_thread(void *arg)
{
    (void)arg;
    wait_for_ever();
    return NULL;
}

static enum attack_result threads(void)
{
    long n = target("ATTACK_PROCESSES", PROCESSES_MAX), done = 0;
    if (n < 0)
        return ATTACK_NOT_APPLICABLE;
    pthread_attr_t attr;
    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, 64UL << 10);
    for (pthread_t thread; done < n; done++)
        if (pthread_create(&thread, &attr, sleep_in_thread, NULL) != 0)
            break;
    return verdict(done, "ATTACK_PROCESSES");
}

/* ---- memory ---- */

static long touch(long mib, int flags)
{
    long done = 0;
    for (; done < mib; done++) {
        char *at = mmap(NULL, MIB, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED)
            break;
        for (long i = 0; i < MIB; i += 4096)
            at[i] = 1;
    }
    return done;
}

static enum attack_result memory_anonymous(void)
{
    long n = target("ATTACK_MEMORY_MIB", MEMORY_MAX);
    return n < 0 ? ATTACK_NOT_APPLICABLE : verdict(touch(n, MAP_PRIVATE), "ATTACK_MEMORY_MIB");
}

static enum attack_result memory_shared(void)
{
    long n = target("ATTACK_MEMORY_MIB", MEMORY_MAX);
    return n < 0 ? ATTACK_NOT_APPLICABLE : verdict(touch(n, MAP_SHARED), "ATTACK_MEMORY_MIB");
}

/* Each of eight keeps within what one may have. */
static enum attack_result memory_many(void)
{
    enum { PARTS = 8 };
    long n = target("ATTACK_MEMORY_MIB", MEMORY_MAX), done = 0;
    int pipe_fds[2];
    if (n < 0 || pipe(pipe_fds) < 0)
        return ATTACK_NOT_APPLICABLE;
    const pid_t parent = getpid();
    for (int i = 0; i < PARTS; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            end_with(parent);
            long part = touch(n / PARTS, MAP_PRIVATE);
            (void)!write(pipe_fds[1], &part, sizeof(part));
            wait_for_ever();
        }
    }
    (void)close(pipe_fds[1]);
    for (int i = 0; i < PARTS; i++) {
        long part;
        if (read(pipe_fds[0], &part, sizeof(part)) != sizeof(part))
            break;
        done += part;
    }
    /* Those that were killed have not written, or do not live any more. */
    for (int status; waitpid(-1, &status, WNOHANG) > 0;)
        done -= n / PARTS;
    return verdict(done, "ATTACK_MEMORY_MIB");
}

static long fill(int fd, long mib)
{
    static char block[MIB];
    memset(block, 1, sizeof(block));
    long done = 0;
    while (done < mib && write(fd, block, sizeof(block)) == (ssize_t)sizeof(block))
        done++;
    return done;
}

static enum attack_result memory_file(void)
{
    long n = target("ATTACK_MEMORY_MIB", MEMORY_MAX);
    int fd = memfd_create("attack", MFD_CLOEXEC);
    return n < 0 || fd < 0 ? ATTACK_NOT_APPLICABLE : verdict(fill(fd, n), "ATTACK_MEMORY_MIB");
}

/* Pipes and sockets hold memory of the kernel. */
static enum attack_result memory_buffers(void)
{
    enum { SMALL = 64 << 10 };
    static char block[SMALL];
    long n = target("ATTACK_MEMORY_MIB", MEMORY_MAX), done = 0; /* KiB */
    if (n < 0)
        return ATTACK_NOT_APPLICABLE;
    for (int fds[2];
         done < n * 1024 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0;)
        for (ssize_t w; done < n * 1024 && (w = write(fds[0], block, sizeof(block))) > 0;)
            done += w / 1024;
    return verdict(done / 1024, "ATTACK_MEMORY_MIB");
}

/* ---- descriptors and objects of the kernel ---- */

static enum attack_result descriptors(void)
{
    long n = target("ATTACK_FILES", 100000), done = 0;
    if (n < 0)
        return ATTACK_NOT_APPLICABLE;
    while (done < n && dup(STDIN_FILENO) >= 0)
        done++;
    return verdict(done, "ATTACK_FILES");
}

static enum attack_result timers(void)
{
    enum { TIMERS = 20000 };
    int done = 0;
    struct sigevent none = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    for (timer_t timer; done < TIMERS && timer_create(CLOCK_MONOTONIC, &none, &timer) == 0;)
        done++;
    return done < TIMERS ? ATTACK_BLOCKED : ATTACK_ESCAPED;
}

static enum attack_result watches(void)
{
    enum { INSTANCES = 5000 };
    int done = 0;
    while (done < INSTANCES && inotify_init1(IN_CLOEXEC) >= 0)
        done++;
    return done < INSTANCES ? ATTACK_BLOCKED : ATTACK_ESCAPED;
}

static enum attack_result core_file(void)
{
    struct rlimit limit = {1, 1};
    (void)getrlimit(RLIMIT_CORE, &limit);
    limit.rlim_cur = limit.rlim_max = RLIM_INFINITY;
    return attack_refused(setrlimit(RLIMIT_CORE, &limit));
}

/* ---- disks ---- */

static enum attack_result fill_directory(const char *dir, const char *variable)
{
    char path[PATH_SIZE];
    long n = target(variable, DISK_MAX);
    if (n < 0)
        return ATTACK_NOT_APPLICABLE;
    (void)signal(SIGXFSZ, SIG_IGN);
    long done = 0;
    int files = 0;
    for (; done < n && files < 64; files++) { /* several: one is limited by RLIMIT_FSIZE */
        (void)snprintf(path, sizeof(path), "%s/attack-%d-%d", dir, getpid(), files);
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        long part = fd < 0 ? 0 : fill(fd, n - done);
        (void)close(fd);
        if (part == 0)
            break;
        done += part;
    }
    for (; files >= 0; files--) {
        (void)snprintf(path, sizeof(path), "%s/attack-%d-%d", dir, getpid(), files);
        (void)unlink(path);
    }
    return verdict(done, variable);
}

static enum attack_result fill_tmp(void)
{
    return fill_directory("/tmp", "ATTACK_TMP_MIB");
}

static enum attack_result fill_shm(void)
{
    return fill_directory("/dev/shm", "ATTACK_MEMORY_MIB");
}

static enum attack_result fill_work(void)
{
    return fill_directory(".", "ATTACK_WORK_MIB");
}

/* Directories within directories, deeper than a path can be. */
static enum attack_result deep_directories(void)
{
    enum { DEPTH = 5000 };
    int depth = 0;
    if (attack_number("ATTACK_TMP_MIB") < 0 || chdir("/tmp") < 0)
        return ATTACK_NOT_APPLICABLE;
    while (depth < DEPTH && mkdir("d", 0700) == 0 && chdir("d") == 0)
        depth++;
    for (int i = 0; i < depth && chdir("..") == 0; i++)
        (void)rmdir("d");
    return depth < DEPTH ? ATTACK_BLOCKED : ATTACK_ESCAPED;
}

static enum attack_result many_files(void)
{
    enum { FILES = 200000 };
    char path[PATH_SIZE];
    int n = 0;
    if (attack_number("ATTACK_TMP_MIB") < 0)
        return ATTACK_NOT_APPLICABLE;
    for (; n < FILES; n++) {
        (void)snprintf(path, sizeof(path), "/tmp/attack-%d-%d", getpid(), n);
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0)
            break;
        (void)close(fd);
    }
    for (int i = 0; i < n; i++) {
        (void)snprintf(path, sizeof(path), "/tmp/attack-%d-%d", getpid(), i);
        (void)unlink(path);
    }
    return n < FILES ? ATTACK_BLOCKED : ATTACK_ESCAPED;
}

static const struct attack_case cases[] = {
    {"fork-bomb",        fork_bomb,        0, {0}},
    {"fork-detached",    fork_detached,    0, {0}},
    {"zombies",          zombies,          0, {0}},
    {"threads",          threads,          0, {0}},
    {"memory-anonymous", memory_anonymous, 0, {0}},
    {"memory-shared",    memory_shared,    0, {0}},
    {"memory-many",      memory_many,      0, {0}},
    {"memory-file",      memory_file,      0, {0}},
    {"memory-buffers",   memory_buffers,   0, {0}},
    {"descriptors",      descriptors,      0, {0}},
    {"timers",           timers,           0, {0}},
    {"watches",          watches,          0, {0}},
    {"core-file",        core_file,        0, {0}},
    {"fill-tmp",         fill_tmp,         0, {0}},
    {"fill-shm",         fill_shm,         0, {0}},
    {"fill-work",        fill_work,        0, {0}},
    {"deep-directories", deep_directories, 0, {0}},
    {"many-files",       many_files,       0, {0}},
};

const struct attack_group attack_limits = {cases, sizeof(cases) / sizeof(cases[0])};
