/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_priv.h"

struct open_fd {
    int fd;
    char target[256];
};

struct leak_state {
    size_t n_threads;
    size_t n_fds;
    struct open_fd *fds;
};

/*
 * libuv keeps a pipe for signals and a pool of threads for the whole process.
 * They are no leak of a test, but look like one; so end them where it is linked.
 */
extern void uv_library_shutdown(void) __attribute__((weak));

static bool is_number(const char *s)
{
    return *s && strspn(s, "0123456789") == strlen(s);
}

static void take_fds(struct leak_state *state)
{
    DIR *dir = opendir("/proc/self/fd");
    if (!dir) {
        test_report("cannot list /proc/self/fd: %s", strerror(errno));
        return;
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        int fd = is_number(entry->d_name) ? (int)strtol(entry->d_name, NULL, 10) : -1;
        if (fd < 0 || fd == dirfd(dir))
            continue;
        struct open_fd *fds = realloc(state->fds, (state->n_fds + 1) * sizeof(*fds));
        if (!fds)
            abort();
        state->fds = fds;

        struct open_fd *open_fd = &fds[state->n_fds++];
        *open_fd = (struct open_fd){.fd = fd};
        ssize_t len =
            readlinkat(dirfd(dir), entry->d_name, open_fd->target, sizeof(open_fd->target) - 1);
        if (len < 0)
            (void)snprintf(open_fd->target, sizeof(open_fd->target), "?");
    }
    (void)closedir(dir);
}

static size_t count_threads(void)
{
    DIR *dir = opendir("/proc/self/task");
    if (!dir)
        return 0;
    size_t n = 0;
    for (struct dirent *entry; (entry = readdir(dir));)
        n += is_number(entry->d_name);
    (void)closedir(dir);
    return n;
}

struct leak_state *leak_state_take(void)
{
    struct leak_state *state = calloc(1, sizeof(*state));
    if (!state)
        abort();
    state->n_threads = count_threads();
    take_fds(state);
    return state;
}

static void free_state(struct leak_state *state)
{
    free(state->fds);
    free(state);
}

static const struct open_fd *find_fd(const struct leak_state *state, int fd)
{
    for (size_t i = 0; i < state->n_fds; i++)
        if (state->fds[i].fd == fd)
            return &state->fds[i];
    return NULL;
}

static bool check_fds(const struct leak_state *before, const struct leak_state *after)
{
    bool ok = true;
    for (size_t i = 0; i < after->n_fds; i++) {
        const struct open_fd *now = &after->fds[i];
        const struct open_fd *old = find_fd(before, now->fd);
        if (!old)
            test_report("leaked file descriptor %d -> %s", now->fd, now->target);
        else if (strcmp(old->target, now->target) != 0)
            test_report("file descriptor %d was %s and is %s", now->fd, old->target, now->target);
        else
            continue;
        ok = false;
    }
    for (size_t i = 0; i < before->n_fds; i++) {
        if (find_fd(after, before->fds[i].fd))
            continue;
        test_report("closed file descriptor %d -> %s, which it had not opened", before->fds[i].fd,
                    before->fds[i].target);
        ok = false;
    }
    return ok;
}

void leak_each_child(pid_t pid, void (*fn)(pid_t child, char state, void *arg), void *arg)
{
    DIR *dir = opendir("/proc");
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (!is_number(entry->d_name))
            continue;
        char path[64], stat[512];
        (void)snprintf(path, sizeof(path), "/proc/%.20s/stat", entry->d_name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        ssize_t len = read(fd, stat, sizeof(stat) - 1);
        (void)close(fd);
        if (len <= 0)
            continue;
        stat[len] = '\0';

        /* "pid (name) state ppid ...", and the name may hold anything. */
        const char *after_name = strrchr(stat, ')');
        if (!after_name || strlen(after_name) < 5)
            continue;
        if ((pid_t)strtol(after_name + 4, NULL, 10) == pid)
            fn((pid_t)strtol(entry->d_name, NULL, 10), after_name[2], arg);
    }
    (void)closedir(dir);
}

const char *leak_describe(pid_t pid, char *buf, size_t size)
{
    char path[64], text[512];
    ssize_t len = 0;
    (void)snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        len = read(fd, text, sizeof(text) - 1);
        (void)close(fd);
    }
    while (len > 0 && text[len - 1] == '\0')
        len--;
    for (ssize_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < 0x20)
            text[i] = ' ';
    text[len > 0 ? len : 0] = '\0';
    (void)snprintf(buf, size, "%d (%s)", (int)pid, len > 0 ? text : "no command line");
    return buf;
}

static void report_child(pid_t child, char state, void *arg)
{
    (void)arg;
    char text[600];
    test_report("leaked child process %s, state %c", leak_describe(child, text, sizeof(text)),
                state);
}

static bool check_children(void)
{
    bool ok = true;
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG | __WALL);
        if (pid < 0 && errno == ECHILD)
            return ok;
        ok = false;
        if (pid <= 0) {
            leak_each_child(getpid(), report_child, NULL);
            return false;
        }
        if (WIFSIGNALED(status))
            test_report("child process %d was not waited for (ended by signal %d)", (int)pid,
                        WTERMSIG(status));
        else
            test_report("child process %d was not waited for (exit status %d)", (int)pid,
                        WEXITSTATUS(status));
    }
}

bool leak_check(struct leak_state *before)
{
    if (uv_library_shutdown)
        uv_library_shutdown();

    bool ok = check_children();
    struct leak_state *after = leak_state_take();
    ok &= check_fds(before, after);
    if (after->n_threads > before->n_threads) {
        test_report("leaked threads: %zu before, %zu now", before->n_threads, after->n_threads);
        ok = false;
    }
    free_state(after);
    free_state(before);
    return ok;
}
