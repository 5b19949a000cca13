/* SPDX-License-Identifier: MIT */
#include "sandbox/box.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "sandbox/child.h"
#include "sandbox/kill.h"
#include "sandbox/plan.h"
#include "sandbox/proto.h"
#include "sandbox/root.h"
#include "sandbox/rules.h"
#include "sandbox/space.h"
#include "sandbox/spec.h"

/* A process that was asked for, as opposed to its descendants. */
struct entry {
    pid_t pid;
    uint32_t tag;
    bool is_box; /* the supervisor of an inner box, whose tag it is */
};

struct box {
    int sock;
    int end_fd;
    int signal_fd;
    const struct sandbox_plan *plan;
    struct sandbox_means means;
    bool inner; /* in the namespaces of another box */
    bool ending;
    struct entry *entries;
    size_t n_entries;
    size_t cap;
    struct sandbox_killer killer;
};

/*
 * Waits for room. A failure means that the runtime is gone, which the socket's end tells as well.
 */
static void tell(const struct box *box, struct sandbox_msg *msg)
{
    (void)sandbox_msg_send(box->sock, msg, NULL, 0, 0);
}

/* The same about a process, whose number outside may not be known here. */
static void tell_of(const struct box *box, struct sandbox_msg *msg)
{
    if (!(box->plan->layers & SANDBOX_PID) || sandbox_msg_send_pid(box->sock, msg) < 0)
        tell(box, msg);
}

static void tell_ready(const struct box *box)
{
    struct sandbox_msg ready = {.type = SANDBOX_MSG_READY, .pid = getpid()};
    tell_of(box, &ready);
}

static void tell_failed(const struct box *box, enum sandbox_msg_type type, uint32_t tag, int code,
                        const char *step, const struct err *err)
{
    struct sandbox_msg msg = sandbox_msg_failure(type, tag, code, step, err);
    tell(box, &msg);
}

static void add_entry(struct box *box, pid_t pid, uint32_t tag, bool is_box)
{
    if (box->n_entries == box->cap) {
        box->cap = box->cap ? 2 * box->cap : 16;
        box->entries = xreallocarray(box->entries, box->cap, sizeof(*box->entries));
    }
    box->entries[box->n_entries++] = (struct entry){.pid = pid, .tag = tag, .is_box = is_box};
}

static int start_child(struct box *box, const struct sandbox_fds *fds, pid_t *ret_pid,
                       const char **ret_step, struct err *err)
{
    *ret_step = "request";
    if (fds->n_fds == 0)
        return err_set(err, EPROTO, "request without a specification");
    struct sandbox_block block;
    int rc = sandbox_block_map(fds->fds[0], &block, err);
    if (rc < 0)
        return rc;
    int moved[SANDBOX_FDS_MAX];
    memcpy(moved, fds->fds + 1, (fds->n_fds - 1) * sizeof(int));
    if (block.spec.n_targets == fds->n_fds - 1) {
        struct sandbox_child child = {
            .plan = box->plan, .means = &box->means, .spec = &block.spec, .fds = moved};
        rc = sandbox_child_start(&child, ret_pid, ret_step, err);
    } else {
        rc = err_set(err, EPROTO, "request with %zu descriptors for %zu targets", fds->n_fds - 1,
                     block.spec.n_targets);
    }
    sandbox_block_done(&block);
    return rc;
}

static void spawn(struct box *box, uint32_t tag, struct sandbox_fds *fds)
{
    pid_t pid = 0;
    const char *step = NULL;
    struct err err = {0};
    int rc = start_child(box, fds, &pid, &step, &err);
    sandbox_fds_done(fds); /* before anything else: the user's descriptors are not ours to hold */
    if (rc < 0) {
        tell_failed(box, SANDBOX_MSG_FAILED, tag, -rc, step, &err);
        return;
    }
    add_entry(box, pid, tag, false);
    struct sandbox_msg msg = {.type = SANDBOX_MSG_SPAWNED, .tag = tag, .pid = pid};
    tell_of(box, &msg);
}

static _Noreturn void serve(struct box *box);
static void become_supervisor(struct box *box);

static _Noreturn void run_inner(struct box *outer, int sock)
{
    struct box box = {.sock = sock,
                      .end_fd = outer->end_fd,
                      .plan = outer->plan,
                      .means = outer->means,
                      .inner = true};
    (void)close(outer->sock);
    (void)close(outer->signal_fd);
    free(outer->entries);
    become_supervisor(&box);
    tell_ready(&box);
    serve(&box);
}

/* What an inner supervisor leaves behind when it is killed becomes ours, and ends with us. */
static void open_inner(struct box *box, uint32_t tag, struct sandbox_fds *fds)
{
    pid_t pid = fds->n_fds == 1 ? fork() : -1;
    int code = fds->n_fds == 1 ? errno : EPROTO;
    if (pid == 0)
        run_inner(box, fds->fds[0]);
    sandbox_fds_done(fds);
    if (pid > 0) {
        add_entry(box, pid, tag, true);
        return;
    }
    struct sandbox_msg lost = {.type = SANDBOX_MSG_LOST, .tag = tag, .code = code};
    tell(box, &lost);
}

static void handle_request(struct box *box)
{
    struct sandbox_msg msg;
    struct sandbox_fds fds;
    int rc = sandbox_msg_recv(box->sock, &msg, &fds, MSG_DONTWAIT);
    if (rc == -EAGAIN)
        return;
    if (rc == 1 && msg.type == SANDBOX_MSG_SPAWN) {
        spawn(box, msg.tag, &fds);
        return;
    }
    if (rc == 1 && msg.type == SANDBOX_MSG_OPEN) {
        open_inner(box, msg.tag, &fds);
        return;
    }
    sandbox_fds_done(&fds);
    box->ending = true; /* asked for, the runtime is gone, or it makes no sense any more */
}

/* As wait(2) would have put it. */
static int wait_status(const siginfo_t *info)
{
    if (info->si_code == CLD_EXITED)
        return W_EXITCODE(info->si_status, 0);
    return W_EXITCODE(0, info->si_status) | (info->si_code == CLD_DUMPED ? WCOREFLAG : 0);
}

static uint64_t microseconds(const struct timeval *t)
{
    return (uint64_t)t->tv_sec * 1000000 + (uint64_t)t->tv_usec;
}

static void tell_exited(struct box *box, pid_t pid, int status, const struct rusage *usage)
{
    for (size_t i = 0; i < box->n_entries; i++) {
        if (box->entries[i].pid != pid)
            continue;
        if (box->entries[i].is_box) {
            struct sandbox_msg lost = {.type = SANDBOX_MSG_LOST, .tag = box->entries[i].tag};
            box->entries[i] = box->entries[--box->n_entries];
            tell(box, &lost);
            return;
        }
        struct sandbox_msg msg = {.type = SANDBOX_MSG_EXITED,
                                  .tag = box->entries[i].tag,
                                  .pid = pid,
                                  .code = status,
                                  .user_us = microseconds(&usage->ru_utime),
                                  .system_us = microseconds(&usage->ru_stime),
                                  .maxrss_bytes = (uint64_t)usage->ru_maxrss * 1024};
        box->entries[i] = box->entries[--box->n_entries];
        tell_of(box, &msg);
        return;
    }
    /* An orphan that came to us. */
}

/*
 * Reaps all that have ended. False when there are no children at all. In a PID namespace a process
 * is told of before it is reaped, while its number can still be translated; elsewhere after it, so
 * that it is gone for whoever hears of its end.
 */
static bool reap(struct box *box)
{
    bool tell_first = box->plan->layers & SANDBOX_PID;
    int options = WEXITED | WNOHANG | (tell_first ? WNOWAIT : 0);
    for (;;) {
        siginfo_t info = {0};
        struct rusage usage;
        long rc = syscall(SYS_waitid, P_ALL, 0, &info, options, &usage);
        if (rc == 0 && info.si_pid == 0)
            return true;
        if (rc == 0) {
            sandbox_killer_forget(&box->killer, info.si_pid);
            tell_exited(box, info.si_pid, wait_status(&info), &usage);
            if (tell_first)
                (void)waitpid(info.si_pid, NULL, WNOHANG);
        } else if (errno != EINTR) {
            return false;
        }
    }
}

static void handle_signals(struct box *box)
{
    struct signalfd_siginfo info;
    ssize_t n = read(box->signal_fd, &info, sizeof(info));
    (void)n; /* it only says that somebody ended */
    (void)reap(box);
}

static void become_supervisor(struct box *box)
{
    (void)setsid();
    (void)prctl(PR_SET_NAME, "nacre-box");
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigset_t chld;
    (void)sigemptyset(&chld);
    (void)sigaddset(&chld, SIGCHLD);
    box->signal_fd = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
    assert(box->signal_fd >= 0);
}

static int make_root(const struct sandbox_plan *plan, struct sandbox_trees *trees, struct err *err)
{
    if (!(plan->layers & SANDBOX_MOUNT))
        return 0;
    struct sandbox_trees own;
    if (!trees) {
        int rc = sandbox_trees_open(plan, &own, err);
        if (rc < 0)
            return rc;
        trees = &own;
    }
    return sandbox_root_enter(plan, trees, err);
}

/* Applies what concerns the box as a whole; what does not work ends it, with the reason told. */
static void apply_plan(struct box *box, struct sandbox_trees *trees)
{
    struct err err = {0};
    const char *step = "namespaces";
    int rc = sandbox_space_settle(box->plan, &err);
    if (rc == 0) {
        step = "root";
        rc = make_root(box->plan, trees, &err);
    }
    if (rc == 0 && box->plan->layers & SANDBOX_LANDLOCK) {
        step = "rules";
        rc = sandbox_rules_open(box->plan, &box->means.landlock_fd, &err);
    }
    if (rc < 0) {
        tell_failed(box, SANDBOX_MSG_BROKEN, 0, -rc, step, &err);
        _exit(1);
    }
    tell_ready(box);
}

static bool is_init(const struct box *box)
{
    return box->plan->layers & SANDBOX_PID && !box->inner;
}

/* The first process of a PID namespace reaches all others at once, and none of them can escape. */
static void kill_all(struct box *box)
{
    if (is_init(box))
        (void)kill(-1, SIGKILL);
    else
        (void)sandbox_killer_run(&box->killer, NULL, NULL); /* reap() says when all are gone */
}

static int kill_wait_ms(const struct box *box)
{
    return is_init(box) ? 10 : sandbox_killer_wait_ms(&box->killer);
}

static _Noreturn void serve(struct box *box)
{
    while (!box->ending || reap(box)) {
        if (box->ending)
            kill_all(box);
        struct pollfd fds[] = {
            {.fd = box->signal_fd,                 .events = POLLIN},
            {.fd = box->ending ? -1 : box->sock,   .events = POLLIN},
            {.fd = box->ending ? -1 : box->end_fd, .events = POLLIN},
        };
        int timeout = box->ending ? kill_wait_ms(box) : -1;
        if (poll(fds, 3, timeout) <= 0)
            continue;
        if (fds[0].revents)
            handle_signals(box);
        if (fds[1].revents)
            handle_request(box);
        if (fds[2].revents)
            box->ending = true;
    }
    struct sandbox_msg gone = {.type = SANDBOX_MSG_GONE};
    tell(box, &gone);
    _exit(0);
}

void sandbox_box_serve(int sock, int end_fd, const struct sandbox_plan *plan,
                       const struct sandbox_means *means, struct sandbox_trees *trees)
{
    struct box box = {.sock = sock, .end_fd = end_fd, .plan = plan, .means = *means};
    become_supervisor(&box);
    apply_plan(&box, trees);
    serve(&box);
}
