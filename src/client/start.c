/* SPDX-License-Identifier: MIT */
/*
 * The daemon's program returns when the daemon is ready, or says on stderr why there
 * is none. A lock beside the socket lets one of many starters do it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/path.h"
#include "base/strv.h"
#include "client/priv.h"

enum {
    LOCK_RETRY_MS = 2,
    MESSAGE_MAX = 400, /* of what the daemon says; a struct err holds little more */
    PATH_BYTES_MAX = 8192,
    ARGS_MAX = 64 * 1024,
};

static bool is_program(const char *path)
{
    return access(path, X_OK) == 0;
}

static int find_beside(struct buf *ret)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (n <= 0)
        return -ERR_NOT_FOUND;
    self[n] = '\0';
    buf_clear(ret);
    int rc = buf_append(ret, self, (size_t)(path_basename(self) - self));
    return rc < 0 ? rc : buf_append_str(ret, "nacred");
}

static int find_in_path(struct buf *ret)
{
    const char *path = getenv("PATH");
    for (const char *dir = path ? path : ""; *dir;) {
        size_t len = strcspn(dir, ":");
        buf_clear(ret);
        if (*dir == '/' && buf_append(ret, dir, len) == 0 && buf_append_str(ret, "/nacred") == 0 &&
            is_program(buf_cstr(ret)))
            return 0;
        dir += len + (dir[len] == ':');
    }
    return -ERR_NOT_FOUND;
}

int client_find_daemon(struct buf *ret, struct err *err)
{
    const char *given = getenv("NACRED");
    if (given && *given) {
        buf_clear(ret);
        if (!is_program(given))
            return err_set(err, ERR_NOT_FOUND, "NACRED is '%s': %s", given, strerror(errno));
        return buf_append_str(ret, given);
    }
    if (find_beside(ret) == 0 && is_program(buf_cstr(ret)))
        return 0;
    if (path_join(NACRE_HELPER_DIR, "nacred", ret) == 0 && is_program(buf_cstr(ret)))
        return 0;
    if (find_in_path(ret) == 0)
        return 0;
    return err_set(err, ERR_NOT_FOUND,
                   "no program 'nacred' beside this one, in %s or in PATH; set NACRED to its path",
                   NACRE_HELPER_DIR);
}

static int lock_start(const char *path, int64_t deadline, struct err *err)
{
    auto_free char *name = xasprintf("%s.start", path);
    auto_close int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_set(err, errno, "open '%s'", name);
    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return err_set(err, errno, "lock '%s'", name);
        if (client_poll_ms(deadline) == 0)
            return err_set(err, ERR_TIMEOUT, "another process takes too long to start the daemon");
        (void)poll(NULL, 0, LOCK_RETRY_MS);
    }
    return take_fd(&fd);
}

/* No signal of our terminal, mask or disposition reaches the daemon. */
static int set_attributes(posix_spawnattr_t *attr)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    short flags = POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    int rc = posix_spawnattr_setflags(attr, flags);
    if (rc == 0)
        rc = posix_spawnattr_setsigmask(attr, &none);
    return rc ? rc : posix_spawnattr_setsigdefault(attr, &all);
}

static int set_streams(posix_spawn_file_actions_t *actions, int errors_fd)
{
    int rc = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDWR, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(actions, 0, 1);
    return rc ? rc : posix_spawn_file_actions_adddup2(actions, errors_fd, 2);
}

static int spawn(char *const *argv, int errors_fd, pid_t *ret_pid)
{
    posix_spawnattr_t attr;
    posix_spawn_file_actions_t actions;
    (void)posix_spawnattr_init(&attr); /* neither fails on Linux */
    (void)posix_spawn_file_actions_init(&actions);
    int rc = set_attributes(&attr);
    if (rc == 0)
        rc = set_streams(&actions, errors_fd);
    if (rc == 0)
        rc = posix_spawn(ret_pid, argv[0], &actions, &attr, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attr);
    return -rc;
}

/* The exit status, or a negative code. ECHILD: somebody else of this process has reaped it. */
static int wait_for(pid_t pid, int64_t deadline)
{
    auto_close int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd p = {.fd = pidfd, .events = POLLIN};
    int status = 0;
    for (;;) {
        pid_t got = waitpid(pid, &status, WNOHANG);
        if (got == pid)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (got < 0 && errno != EINTR)
            return errno == ECHILD ? 0 : -errno;
        int ms = client_poll_ms(deadline);
        if (ms == 0)
            return -ERR_TIMEOUT;
        (void)poll(&p, pidfd >= 0, pidfd >= 0 ? ms : LOCK_RETRY_MS);
    }
}

/* What the daemon said, without the newline at its end. */
static const char *read_errors(int fd, char ret[MESSAGE_MAX])
{
    ssize_t n = pread(fd, ret, MESSAGE_MAX - 1, 0);
    while (n > 0 && ret[n - 1] == '\n')
        n--;
    ret[n > 0 ? n : 0] = '\0';
    return ret;
}

static int run_daemon(char *const *argv, int64_t deadline, struct err *err)
{
    auto_close int errors_fd = memfd_create("nacred-stderr", MFD_CLOEXEC);
    if (errors_fd < 0)
        return err_set(err, errno, "make a memory file");
    pid_t pid = 0;
    int rc = spawn(argv, errors_fd, &pid);
    if (rc < 0)
        return err_set(err, ERR_SPAWN, "start the daemon '%s': %s", argv[0], strerror(-rc));
    rc = wait_for(pid, deadline);
    if (rc == -ERR_TIMEOUT) {
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
        return err_set(err, ERR_TIMEOUT, "the daemon '%s' takes too long to start", argv[0]);
    }
    char text[MESSAGE_MAX];
    if (rc > 0)
        return err_set(err, ERR_SPAWN, "start the daemon '%s': %s (exit status %d)", argv[0],
                       read_errors(errors_fd, text), rc);
    return rc < 0 ? err_set(err, -rc, "wait for the daemon '%s'", argv[0]) : 0;
}

static int build_args(const struct client_options *options, const char *path, struct strv *args,
                      struct err *err)
{
    auto_buf struct buf found = BUF_INIT(PATH_BYTES_MAX);
    int rc =
        options->nacred ? buf_append_str(&found, options->nacred) : client_find_daemon(&found, err);
    if (rc == 0)
        rc = strv_push(args, buf_cstr(&found));
    if (rc == 0)
        rc = strv_pushf(args, "--socket=%s", path);
    if (rc == 0 && options->state_dir)
        rc = strv_pushf(args, "--state-dir=%s", options->state_dir);
    if (rc == 0 && options->idle_exit_s > 0)
        rc = strv_pushf(args, "--idle-exit=%lld", (long long)options->idle_exit_s);
    return rc;
}

int client_start_daemon(const struct client_options *options, const char *path, int64_t deadline,
                        struct err *err)
{
    auto_free char *dir = xstrndup(path, (size_t)(path_basename(path) - path));
    int rc = *dir ? io_mkdir_p(dir, 0700, err) : 0;
    if (rc < 0)
        return rc;
    auto_close int lock = lock_start(path, deadline, err);
    if (lock < 0)
        return lock;
    auto_close int fd = client_try_connect(path, deadline, err);
    if (fd != -ERR_CLOSED)
        return fd < 0 ? fd : 0; /* started by another meanwhile */

    auto_strv struct strv args = STRV_INIT(ARGS_MAX);
    rc = build_args(options, path, &args, err);
    return rc < 0 ? rc : run_daemon(strv_items(&args), deadline, err);
}
