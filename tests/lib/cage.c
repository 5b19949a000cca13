/* SPDX-License-Identifier: MIT */
#include "cage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"

enum {
    PROCESSES_MAX = 2000,
    FILE_MAX = 256 * 1024 * 1024,
    CHECK_MS = 100,
    EXIT_TOO_MANY = 99,
};

static pid_t runner_pid;
static char missing[160] = "cage_enter() was not called";

static bool fail(const char *what)
{
    (void)snprintf(missing, sizeof(missing), "no namespaces to run in: %.64s: %s", what,
                   strerror(errno));
    return false;
}

const char *cage_missing(void)
{
    return *missing ? missing : NULL;
}

static void each_process(void (*fn)(pid_t pid, void *ctx), void *ctx)
{
    DIR *dir = opendir("/proc");
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (*e->d_name >= '1' && *e->d_name <= '9')
            fn((pid_t)strtol(e->d_name, NULL, 10), ctx);
    if (dir)
        (void)closedir(dir);
}

static void count(pid_t pid, void *ctx)
{
    (void)pid;
    (*(int *)ctx)++;
}

struct visit {
    void (*fn)(pid_t pid, void *ctx);
    void *ctx;
};

static void visit(pid_t pid, void *ctx)
{
    const struct visit *v = ctx;
    if (pid != 1 && pid != runner_pid && pid != getpid())
        v->fn(pid, v->ctx);
}

void cage_each(void (*fn)(pid_t pid, void *ctx), void *ctx)
{
    each_process(visit, &(struct visit){fn, ctx});
}

int cage_count(void)
{
    int n = 0;
    cage_each(count, &n);
    return n;
}

/* ---- what it sees ---- */

static bool write_text(const char *path, const char *text)
{
    auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd >= 0 && io_write_all(fd, text, strlen(text)) == 0;
}

/* Whoever is not root gets a user namespace, in which it may do the rest. */
static bool unshare_all(void)
{
    char uids[64], gids[64];
    (void)snprintf(uids, sizeof(uids), "%u %u 1", geteuid(), geteuid());
    (void)snprintf(gids, sizeof(gids), "%u %u 1", getegid(), getegid());
    if (geteuid() != 0) {
        if (unshare(CLONE_NEWUSER) < 0)
            return fail("user namespace");
        if (!write_text("/proc/self/setgroups", "deny") ||
            !write_text("/proc/self/uid_map", uids) || !write_text("/proc/self/gid_map", gids))
            return fail("user map");
    }
    if (unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC) < 0)
        return fail("unshare");
    return true;
}

static bool make_read_only(void)
{
    struct { /* struct mount_attr, which not every C library has */
        uint64_t set, clear, propagation, userns_fd;
    } attr = {.set = 1 /* MOUNT_ATTR_RDONLY */};
    enum { RECURSIVE = 0x8000 /* AT_RECURSIVE */ };
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return fail("private mounts");
    if (syscall(SYS_mount_setattr, -1, "/", RECURSIVE, &attr, sizeof(attr)) < 0)
        return fail("mount_setattr");
    return true;
}

static const struct {
    const char *path, *options;
} new_file_systems[] = {
    {"/tmp",     "mode=1777,size=1g"  },
    {"/var/tmp", "mode=1777,size=64m" },
    {"/dev/shm", "mode=1777,size=512m"},
    {"/run",     "mode=755,size=64m"  },
};

/* The programs under test may lie where a new file system comes to lie: they are moved there. */
static int open_programs(char *path, size_t size)
{
    const char *program = getenv("NACRE_SPAWN");
    const char *end = program ? strrchr(program, '/') : NULL;
    if (!end)
        return -1;
    (void)snprintf(path, size, "%.*s", (int)(end - program), program);
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static bool restore_programs(int fd, const char *path)
{
    char from[64];
    if (fd < 0 || access(path, F_OK) == 0)
        return true;
    (void)snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
    if (io_mkdir_p(path, 0755, NULL) < 0 || mount(from, path, NULL, MS_BIND, NULL) < 0)
        return fail(path);
    return true;
}

static const char *const devices[] = {"full", "null", "random", "tty", "urandom", "zero"};
enum { N_DEVICES = sizeof(devices) / sizeof(devices[0]) };

/* A /dev that leads to no disk. */
static bool mount_dev(void)
{
    char path[64], from[64];
    int fds[N_DEVICES];
    for (int i = 0; i < N_DEVICES; i++) {
        (void)snprintf(path, sizeof(path), "/dev/%s", devices[i]);
        fds[i] = open(path, O_PATH | O_CLOEXEC);
    }
    if (mount("tmpfs", "/dev", "tmpfs", MS_NOSUID, "mode=755,size=64k") < 0)
        return fail("/dev");
    bool ok = true;
    for (int i = 0; i < N_DEVICES && ok; i++) {
        (void)snprintf(path, sizeof(path), "/dev/%s", devices[i]);
        (void)snprintf(from, sizeof(from), "/proc/self/fd/%d", fds[i]);
        int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        own_close(&file);
        if (fds[i] >= 0 && mount(from, path, NULL, MS_BIND, NULL) < 0)
            ok = fail(path);
        own_close_fd(&fds[i]);
    }
    (void)symlink("/proc/self/fd", "/dev/fd");
    (void)symlink("/proc/self/fd/0", "/dev/stdin");
    (void)symlink("/proc/self/fd/1", "/dev/stdout");
    (void)symlink("/proc/self/fd/2", "/dev/stderr");
    (void)mkdir("/dev/shm", 0755);
    return ok;
}

static bool mount_all(void)
{
    char path[4096];
    if (!make_read_only() || !mount_dev())
        return false;
    auto_close int programs = open_programs(path, sizeof(path));
    for (size_t i = 0; i < sizeof(new_file_systems) / sizeof(new_file_systems[0]); i++) {
        const char *at = new_file_systems[i].path;
        if (access(at, F_OK) == 0 &&
            mount("tmpfs", at, "tmpfs", MS_NOSUID | MS_NODEV, new_file_systems[i].options) < 0)
            return fail(at);
    }
    if (!restore_programs(programs, path))
        return false;
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
        return fail("/proc");
    return true;
}

/* ---- what it may do ---- */

static const int kept_capabilities[] = {
    CAP_CHOWN,  CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID,
    CAP_SETGID, CAP_SETUID,       CAP_KILL,   CAP_SETPCAP,
};

static bool drop_capabilities(void)
{
    uint64_t kept = 0;
    for (size_t i = 0; i < sizeof(kept_capabilities) / sizeof(kept_capabilities[0]); i++)
        kept |= UINT64_C(1) << kept_capabilities[i];
    for (int cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
        if (!(kept >> cap & 1) && prctl(PR_CAPBSET_DROP, cap) < 0)
            return fail("bounding set");
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {0};
    if (syscall(SYS_capget, &head, data) < 0)
        return fail("capget");
    for (int i = 0; i < 2; i++) {
        data[i].permitted &= (uint32_t)(kept >> 32 * i);
        data[i].effective &= data[i].permitted;
        data[i].inheritable = 0;
    }
    if (syscall(SYS_capset, &head, data) < 0)
        return fail("capset");
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 || fail("no_new_privs");
}

static bool set_limits(void)
{
    const struct rlimit file = {FILE_MAX, FILE_MAX}, core = {0, 0};
    struct rlimit processes = {PROCESSES_MAX, PROCESSES_MAX}; /* does not bind root */
    (void)setrlimit(RLIMIT_CORE, &core);
    if (geteuid() != 0)
        (void)setrlimit(RLIMIT_NPROC, &processes);
    return setrlimit(RLIMIT_FSIZE, &file) == 0 || fail("file size limit");
}

/* ---- its life ---- */

/* The first process: reaps, and counts. */
static _Noreturn void serve(pid_t runner)
{
    sigset_t chld;
    (void)sigemptyset(&chld);
    (void)sigaddset(&chld, SIGCHLD);
    for (;;) {
        int status;
        pid_t ended;
        while ((ended = waitpid(-1, &status, WNOHANG | __WALL)) > 0)
            if (ended == runner)
                _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
        int n = 0;
        each_process(count, &n);
        if (n > PROCESSES_MAX) {
            static const char text[] = "Bail out! too many processes in the cage\n";
            (void)io_write_all(STDOUT_FILENO, text, sizeof(text) - 1);
            _exit(EXIT_TOO_MANY);
        }
        struct timespec wait = {.tv_nsec = CHECK_MS * 1000000L};
        (void)sigtimedwait(&chld, NULL, &wait);
    }
}

/* The outermost process has nothing to do but to end like the one inside. */
static _Noreturn void follow(pid_t first)
{
    int status = 0;
    while (waitpid(first, &status, 0) < 0 && errno == EINTR)
        ;
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

void cage_enter(void)
{
    *missing = '\0';
    (void)fflush(stdout);
    if (!unshare_all())
        return;
    pid_t first = fork();
    if (first < 0) {
        (void)fail("fork");
        return;
    }
    if (first > 0)
        follow(first);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigset_t chld;
    (void)sigemptyset(&chld);
    (void)sigaddset(&chld, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &chld, NULL);
    (void)umask(022);
    if (mount_all() && set_limits())
        (void)drop_capabilities();
    (void)setenv("TMPDIR", "/tmp", 1);
    pid_t runner = fork();
    if (runner < 0)
        _exit(1);
    if (runner > 0)
        serve(runner);
    runner_pid = getpid();
}
