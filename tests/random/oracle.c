/* SPDX-License-Identifier: MIT */
#include "oracle.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "lib/test.h"
#include "proc/tree.h"

enum {
    OUTPUT_MAX = 64 * 1024 * 1024,
    DRAIN_MS = 20, /* as a session waits for what the last children print */
    CHUNK = 65536,
};

struct oracle {
    int sock;
    pid_t pid;
};

struct request {
    size_t len;
    int limit_ms;
};

struct reply {
    int code;
    bool timed_out;
    size_t out_len, err_len;
};

/* ---- the process of the oracle ---- */

struct run {
    pid_t pid;
    int pidfd;
    int fd[2];
    struct buf text[2];
};

static int spawn(const char *dir, const char *const *env, char *text, const int out[2], pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t all, none;
    (void)sigfillset(&all);
    (void)sigemptyset(&none);
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawnattr_init(&attr);
    (void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETSIGMASK);
    (void)posix_spawnattr_setsigdefault(&attr, &all);
    (void)posix_spawnattr_setsigmask(&attr, &none);
    (void)posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&actions, out[0], 1);
    (void)posix_spawn_file_actions_adddup2(&actions, out[1], 2);
    (void)posix_spawn_file_actions_addchdir_np(&actions, dir);
    char *argv[] = {(char[]){"bash"}, (char[]){"-c"}, text, NULL};
    int rc = posix_spawnp(ret, "bash", &actions, &attr, argv, (char *const *)env);
    (void)posix_spawnattr_destroy(&attr);
    (void)posix_spawn_file_actions_destroy(&actions);
    return -rc;
}

/* Reads what is there; false at the end. */
static bool read_some(int fd, struct buf *text)
{
    for (;;) {
        char *room;
        if (buf_reserve(text, CHUNK, &room) < 0)
            return false;
        ssize_t n = read(fd, room, CHUNK);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0;
        buf_commit(text, (size_t)n);
    }
}

/* Reads until the process has ended, or the time has. True if it ended. */
static bool watch(struct run *run, int64_t until_ns)
{
    for (;;) {
        if (run->pidfd < 0 && run->fd[0] < 0 && run->fd[1] < 0)
            return true;
        struct pollfd fds[] = {
            {.fd = run->fd[0], .events = POLLIN},
            {.fd = run->fd[1], .events = POLLIN},
            {.fd = run->pidfd, .events = POLLIN},
        };
        int64_t left = (until_ns - clock_mono_ns()) / 1000000;
        if (left < 0)
            return false;
        if (poll(fds, 3, (int)left + 1) < 0 && errno != EINTR)
            return false;
        for (int i = 0; i < 2; i++)
            if (run->fd[i] >= 0 && !read_some(run->fd[i], &run->text[i]))
                own_close_fd(&run->fd[i]);
        if (run->pidfd >= 0 && fds[2].revents & POLLIN)
            return true;
    }
}

static void end_descendants(void)
{
    while (waitpid(-1, NULL, WNOHANG | __WALL) >= 0) {
        struct proc_list list = {0};
        pid_t self = getpid();
        (void)proc_tree_list(&self, 1, &list);
        (void)proc_tree_kill(&list, SIGKILL, NULL, NULL);
        (void)proc_tree_kill(&list, SIGCONT, NULL, NULL);
        proc_list_done(&list);
        (void)usleep(500);
    }
}

static void answer(int sock, const char *dir, const char *const *env, const struct request *request)
{
    auto_free char *text = xmalloc(request->len + 1);
    if (io_read_full(sock, text, request->len) != (ssize_t)request->len)
        _exit(0);
    text[request->len] = '\0';
    (void)io_remove_tree(AT_FDCWD, dir);
    int out[2], errp[2], status = 0;
    struct run run = {
        .text = {BUF_INIT(OUTPUT_MAX), BUF_INIT(OUTPUT_MAX)}
    };
    if (io_mkdir_p(dir, 0755, NULL) < 0 || io_pipe(out) < 0 || io_pipe(errp) < 0)
        _exit(2);
    if (spawn(dir, env, text, (int[]){out[1], errp[1]}, &run.pid) < 0)
        _exit(3);
    (void)close(out[1]);
    (void)close(errp[1]);
    run.fd[0] = out[0];
    run.fd[1] = errp[0];
    (void)io_set_nonblock(run.fd[0], true);
    (void)io_set_nonblock(run.fd[1], true);
    run.pidfd = pidfd_open(run.pid, 0);

    struct reply reply = {0};
    reply.timed_out = !watch(&run, clock_mono_ns() + request->limit_ms * INT64_C(1000000));
    if (reply.timed_out)
        (void)kill(run.pid, SIGKILL);
    while (waitpid(run.pid, &status, __WALL) < 0 && errno == EINTR)
        ;
    own_close_fd(&run.pidfd);
    (void)watch(&run, clock_mono_ns() + DRAIN_MS * INT64_C(1000000));
    end_descendants();
    own_close_fd(&run.fd[0]);
    own_close_fd(&run.fd[1]);

    reply.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    reply.out_len = run.text[0].len;
    reply.err_len = run.text[1].len;
    (void)io_write_all(sock, &reply, sizeof(reply)); /* who asked may be gone: seen at the next */
    (void)io_write_all(sock, run.text[0].data, run.text[0].len);
    (void)io_write_all(sock, run.text[1].data, run.text[1].len);
    buf_done(&run.text[0]);
    buf_done(&run.text[1]);
}

static _Noreturn void serve(int sock, const char *dir, const char *const *env)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)dup2(sock, 3);
    (void)close_range(4, ~0U, 0);
    (void)fcntl(3, F_SETFD, FD_CLOEXEC);
    struct request request;
    while (io_read_full(3, &request, sizeof(request)) == (ssize_t)sizeof(request))
        answer(3, dir, env, &request);
    end_descendants();
    _exit(0);
}

/* ---- the side of the test ---- */

struct oracle *oracle_new(const char *dir, const char *const *env)
{
    int socks[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks) < 0)
        FAIL("socketpair: %s", strerror(errno));
    struct oracle *o = xnew(struct oracle);
    o->pid = fork();
    if (o->pid == 0)
        serve(socks[1], dir, env);
    if (o->pid < 0)
        FAIL("fork: %s", strerror(errno));
    (void)close(socks[1]);
    o->sock = socks[0];
    return o;
}

void oracle_ask(struct oracle *o, const char *text, size_t len, int limit_ms)
{
    struct request request = {len, limit_ms};
    CHECK_INT(io_write_all(o->sock, &request, sizeof(request)), 0);
    CHECK_INT(io_write_all(o->sock, text, len), 0);
}

static void take_bytes(struct oracle *o, struct buf *text, size_t len)
{
    char *room;
    buf_init(text, OUTPUT_MAX);
    if (!len)
        return;
    CHECK_INT(buf_reserve(text, len, &room), 0);
    CHECK_INT(io_read_full(o->sock, room, len), (ssize_t)len);
    buf_commit(text, len);
}

void oracle_take(struct oracle *o, struct oracle_answer *ret)
{
    struct reply reply;
    ssize_t n = io_read_full(o->sock, &reply, sizeof(reply));
    if (n != (ssize_t)sizeof(reply))
        FAIL("the oracle has ended");
    ret->code = reply.code;
    ret->timed_out = reply.timed_out;
    take_bytes(o, &ret->out, reply.out_len);
    take_bytes(o, &ret->err, reply.err_len);
}

void oracle_answer_done(struct oracle_answer *a)
{
    buf_done(&a->out);
    buf_done(&a->err);
}

void oracle_free(struct oracle *o)
{
    if (!o)
        return;
    (void)close(o->sock);
    while (waitpid(o->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    free(o);
}
