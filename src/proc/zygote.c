/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "proc/spawn.h"
#include "proc/spawn_priv.h"
#include "proc/tree.h"
#include "sandbox/proto.h"

enum {
    ZYGOTE_FD = 3,
    END_MS = 10000, /* a zygote that has not ended by then is killed */
};

static char *find_program(void)
{
    const char *given = getenv("NACRE_SPAWN");
    if (given && *given)
        return xstrdup(given);
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (n > 0) {
        self[n] = '\0';
        *strrchr(self, '/') = '\0';
        auto_free char *beside = xasprintf("%s/nacre-spawn", self);
        if (access(beside, X_OK) == 0)
            return take_ptr(beside);
    }
    return xstrdup(NACRE_HELPER_DIR "/nacre-spawn");
}

/* Does not copy this process, however large it is: posix_spawn(3) shares memory until exec. */
static int start_program(const char *program, int sock, pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc != 0)
        return -rc;
    rc = posix_spawnattr_init(&attr);
    if (rc != 0) {
        (void)posix_spawn_file_actions_destroy(&actions);
        return -rc;
    }
    char *argv[] = {(char[]){"nacre-spawn"}, (char[]){"--zygote"}, (char[]){"3"}, NULL};
    char *envp[] = {NULL};
    /* A session of its own from the start: a terminal's signals are not for it. */
    rc = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&actions, sock, ZYGOTE_FD);
    if (rc == 0)
        rc = posix_spawn(ret_pid, program, &actions, &attr, argv, envp);
    (void)posix_spawnattr_destroy(&attr);
    (void)posix_spawn_file_actions_destroy(&actions);
    return -rc;
}

static void forget_zygote(struct proc_zygote *z)
{
    chan_close(&z->chan);
    if (z->pid > 0)
        (void)waitpid(z->pid, NULL, 0); /* ended, or about to; somebody else may have reaped it */
    z->pid = 0;
}

/* Begins again after each that is gone, since its callback may have freed any other. */
static bool check_boxes(struct proc_zygote *z)
{
    LIST_FOREACH(link, &z->boxes)
    if (proc_box_check(proc_box_of_link(link)))
        return true;
    return false;
}

static void on_end(void *ctx)
{
    struct proc_zygote *z = ctx;
    (void)kill(z->pid, SIGKILL); /* in case it is only the socket that ended */
    forget_zygote(z);
    while (check_boxes(z))
        ;
}

static bool on_msg(void *ctx, const struct sandbox_msg *msg)
{
    struct proc_zygote *z = ctx;
    if (msg->type != SANDBOX_MSG_LOST)
        return true;
    LIST_FOREACH(link, &z->boxes)
    {
        struct proc_box *box = proc_box_of_link(link);
        if (proc_box_id(box) == msg->tag) {
            proc_box_lost(box, msg->code);
            break;
        }
    }
    return true;
}

bool proc_zygote_is_run(const struct proc_zygote *z, uint64_t run)
{
    return z->pid > 0 && z->run == run;
}

int proc_zygote_ensure(struct proc_zygote *z, struct err *err)
{
    if (z->pid > 0)
        return 0;
    int socks[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0)
        return err_set(err, errno, "make a socket for nacre-spawn");
    auto_close int ours = socks[0];
    auto_close int theirs = socks[1];
    auto_free char *program = find_program();
    pid_t pid = 0;
    int rc = start_program(program, theirs, &pid);
    if (rc < 0)
        return err_set(err, -rc, "start '%s'", program);
    rc = chan_open(&z->chan, z->ev, take_fd(&ours), on_msg, on_end, z);
    if (rc < 0) {
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
        return err_set(err, -rc, "watch the socket of nacre-spawn");
    }
    z->pid = pid;
    z->run++;
    return 0;
}

int proc_zygote_new(struct ev *ev, struct proc_zygote **ret_zygote, struct err *err)
{
    int rc = proc_check(err);
    if (rc < 0)
        return rc;
    struct proc_zygote *z = xnew(struct proc_zygote);
    z->ev = ev;
    z->chan.sock = -1;
    list_init(&z->boxes);
    rc = proc_zygote_ensure(z, err);
    if (rc < 0) {
        free(z);
        return rc;
    }
    *ret_zygote = z;
    return 0;
}

void proc_zygote_free(struct proc_zygote *z)
{
    if (!z)
        return;
    assert(list_empty(&z->boxes));
    chan_close(&z->chan); /* which it takes for our end, and ends all */
    auto_close int pidfd = z->pid > 0 ? pidfd_open(z->pid, 0) : -1;
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    int rc;
    do
        rc = pidfd < 0 ? 1 : poll(&ended, 1, END_MS);
    while (rc < 0 && errno == EINTR);
    if (rc == 0)
        (void)kill(z->pid, SIGKILL);
    forget_zygote(z);
    free(z);
}

pid_t proc_zygote_pid(const struct proc_zygote *z)
{
    return z->pid;
}
