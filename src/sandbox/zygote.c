/* SPDX-License-Identifier: MIT */
#include "sandbox/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "sandbox/box.h"
#include "sandbox/kill.h"
#include "sandbox/plan.h"
#include "sandbox/proto.h"
#include "sandbox/root.h"
#include "sandbox/seccomp.h"
#include "sandbox/space.h"

enum {
    GRACE_MS = 3000,     /* for the supervisors, when everything ends */
    NO_SUPERVISOR = 111, /* exit status of a fork that could not become one */
};

struct entry {
    pid_t pid; /* 0: it died, and its box is not clean yet */
    uint32_t box;
};

struct zygote {
    int sock;
    int signal_fd;
    int end_fd; /* an eventfd that all supervisors watch */
    bool ending;
    int64_t grace_end_ns;
    bool orphans; /* a supervisor died: there may be some */
    struct entry *entries;
    size_t n_entries;
    size_t cap;
    struct sandbox_killer killer;
};

static void tell_lost(struct zygote *z, uint32_t box, int code)
{
    struct sandbox_msg msg = {.type = SANDBOX_MSG_LOST, .tag = box, .code = code};
    (void)sandbox_msg_send(z->sock, &msg, NULL, 0, 0); /* fails when the runtime is gone */
}

/* Of a plan only what means something is sent. */
static int read_plan(int fd, struct sandbox_plan *ret_plan)
{
    memset(ret_plan, 0, sizeof(*ret_plan));
    ssize_t n = pread(fd, ret_plan, sizeof(*ret_plan), 0);
    if (n < (ssize_t)offsetof(struct sandbox_plan, text))
        return -EPROTO;
    int rc = sandbox_plan_check(ret_plan, NULL);
    return rc == 0 && (size_t)n < sandbox_plan_size(ret_plan) ? -EPROTO : rc;
}

/* What the fork keeps of the zygote is memory only: every descriptor but its own is closed. */
static _Noreturn void run_supervisor(struct zygote *z, int box_sock,
                                     const struct sandbox_plan *plan,
                                     const struct sandbox_means *means, struct sandbox_trees *trees)
{
    (void)close(z->sock);
    (void)close(z->signal_fd);
    free(z->entries);
    sandbox_killer_done(&z->killer);
    sandbox_box_serve(box_sock, z->end_fd, plan, means, trees);
}

/* The same message that a supervisor sends about what fails inside. */
static void tell_broken(int box_sock, int code, const char *step, const struct err *err)
{
    struct sandbox_msg msg = sandbox_msg_failure(SANDBOX_MSG_BROKEN, 0, code, step, err);
    (void)sandbox_msg_send(box_sock, &msg, NULL, 0, MSG_DONTWAIT);
}

/* Compiling a filter takes longer than all else together, so it is done once for each kind. */
static int make_means(const struct sandbox_plan *plan, struct sandbox_means *ret, struct err *err)
{
    static struct sandbox_filter kept[SANDBOX_FILTER_FLAGS + 1];
    if (!(plan->layers & SANDBOX_SECCOMP))
        return 0;
    struct sandbox_filter *filter = &kept[plan->filter];
    ret->filter = filter;
    return filter->n_items ? 0 : sandbox_filter_compile(plan->filter, filter, err);
}

static pid_t fork_supervisor(struct zygote *z, int box_sock, const struct sandbox_plan *plan)
{
    struct err err = {0};
    struct sandbox_means means = {0};
    int made = make_means(plan, &means, &err);
    if (made < 0) {
        tell_broken(box_sock, -made, "filter", &err);
        return made;
    }
    struct sandbox_trees trees;
    bool opened = plan->layers & SANDBOX_MOUNT && sandbox_space_is_privileged(plan);
    if (opened) {
        int rc = sandbox_trees_open(plan, &trees, &err);
        if (rc < 0) {
            tell_broken(box_sock, -rc, "root", &err);
            return rc;
        }
    }
    pid_t pid = sandbox_space_fork(plan, &err);
    if (pid == 0)
        run_supervisor(z, box_sock, plan, &means, opened ? &trees : NULL);
    if (opened)
        sandbox_trees_close(&trees);
    if (pid < 0)
        tell_broken(box_sock, -pid, "namespaces", &err);
    return pid;
}

static int open_box(struct zygote *z, uint32_t id, struct sandbox_fds *fds)
{
    if (fds->n_fds != 2)
        return -EPROTO;
    struct sandbox_plan plan;
    int rc = read_plan(fds->fds[1], &plan);
    if (rc < 0)
        return rc;
    own_close_fd(&fds->fds[1]);
    pid_t pid = fork_supervisor(z, fds->fds[0], &plan);
    if (pid < 0)
        return pid;
    if (z->n_entries == z->cap) {
        z->cap = z->cap ? 2 * z->cap : 16;
        z->entries = xreallocarray(z->entries, z->cap, sizeof(*z->entries));
    }
    z->entries[z->n_entries++] = (struct entry){.pid = pid, .box = id};
    return 0;
}

static void begin_end(struct zygote *z)
{
    uint64_t one = 1;
    ssize_t n = write(z->end_fd, &one, sizeof(one));
    (void)n; /* cannot fail: the counter is 0 */
    /* One that a process of its box has stopped could not hear it. */
    for (size_t i = 0; i < z->n_entries; i++)
        if (z->entries[i].pid > 0)
            (void)kill(z->entries[i].pid, SIGCONT);
    z->ending = true;
    z->grace_end_ns = clock_mono_ns() + (int64_t)GRACE_MS * 1000000;
}

static void handle_request(struct zygote *z)
{
    struct sandbox_msg msg;
    struct sandbox_fds fds;
    int rc = sandbox_msg_recv(z->sock, &msg, &fds, MSG_DONTWAIT);
    if (rc == -EAGAIN)
        return;
    if (rc == 1 && msg.type == SANDBOX_MSG_OPEN) {
        rc = open_box(z, msg.tag, &fds);
        sandbox_fds_done(&fds);
        if (rc < 0)
            tell_lost(z, msg.tag, -rc);
        return;
    }
    sandbox_fds_done(&fds);
    begin_end(z);
}

/* Notes the end of a child; one that is in no entry was an orphan. */
static void note_end(struct zygote *z, pid_t pid, int status)
{
    for (size_t i = 0; i < z->n_entries; i++) {
        if (z->entries[i].pid != pid)
            continue;
        if (status == 0) {
            z->entries[i] = z->entries[--z->n_entries];
        } else {
            z->entries[i].pid = 0;
            z->orphans = true;
        }
        return;
    }
}

/* Reaps all that have ended. False when there are no children at all. */
static bool reap(struct zygote *z)
{
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid == 0)
            return true;
        if (pid > 0) {
            sandbox_killer_forget(&z->killer, pid);
            note_end(z, pid, status);
        } else if (errno != EINTR) {
            return false;
        }
    }
}

static bool is_supervisor(pid_t pid, void *ctx)
{
    const struct zygote *z = ctx;
    for (size_t i = 0; i < z->n_entries; i++)
        if (z->entries[i].pid == pid)
            return true;
    return false;
}

/* All that is not under a living supervisor was left by a dead one. */
static void kill_orphans(struct zygote *z)
{
    if (!sandbox_killer_run(&z->killer, is_supervisor, z))
        return;
    z->orphans = false;
    sandbox_killer_done(&z->killer);
    for (size_t i = z->n_entries; i > 0; i--) {
        if (z->entries[i - 1].pid > 0)
            continue;
        tell_lost(z, z->entries[i - 1].box, 0);
        z->entries[i - 1] = z->entries[--z->n_entries];
    }
}

/* Those that did not end in time are killed; their processes become ours to kill. */
static void enforce_end(struct zygote *z)
{
    if (clock_mono_ns() < z->grace_end_ns)
        return;
    for (size_t i = 0; i < z->n_entries; i++)
        if (z->entries[i].pid > 0)
            (void)kill(z->entries[i].pid, SIGKILL);
}

/*
 * What we got ignored would stay ignored in every program that is started. By the bare call, since
 * the C library refuses the two signals that it uses itself; all zeros is SIG_DFL.
 */
static void reset_signals(void)
{
    static const uint64_t sigaction_default[8];
    for (int signo = 1; signo < NSIG; signo++)
        (void)syscall(SYS_rt_sigaction, signo, sigaction_default, NULL, NSIG / 8);
}

static int become_zygote(struct zygote *z)
{
    (void)setsid(); /* fails if it leads a session already */
    (void)prctl(PR_SET_NAME, "nacre-zygote");
    (void)prctl(PR_SET_DUMPABLE, 0);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (chdir("/") < 0)
        return -errno;

    reset_signals();
    struct sigaction quiet = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP};
    (void)sigaction(SIGCHLD, &quiet, NULL);
    sigset_t all;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);

    sigset_t chld;
    (void)sigemptyset(&chld);
    (void)sigaddset(&chld, SIGCHLD);
    z->signal_fd = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
    z->end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return z->signal_fd < 0 || z->end_fd < 0 ? -errno : 0;
}

static int wait_ms(const struct zygote *z)
{
    if (z->orphans)
        return sandbox_killer_wait_ms(&z->killer);
    return z->ending ? GRACE_MS / 10 : -1;
}

static void drain_signals(const struct zygote *z)
{
    struct signalfd_siginfo info;
    ssize_t n = read(z->signal_fd, &info, sizeof(info));
    (void)n; /* it only says that somebody ended */
}

int sandbox_zygote_serve(int sock)
{
    struct zygote z = {.sock = sock};
    if (become_zygote(&z) < 0)
        return NO_SUPERVISOR;
    for (;;) {
        bool children = reap(&z);
        if (z.orphans)
            kill_orphans(&z);
        if (z.ending && !children)
            return 0;
        if (z.ending)
            enforce_end(&z);
        struct pollfd fds[] = {
            {.fd = z.signal_fd,            .events = POLLIN},
            {.fd = z.ending ? -1 : z.sock, .events = POLLIN},
        };
        if (poll(fds, 2, wait_ms(&z)) <= 0)
            continue;
        if (fds[0].revents)
            drain_signals(&z);
        if (fds[1].revents)
            handle_request(&z);
    }
}
