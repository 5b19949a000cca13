/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/own.h"
#include "proc/spawn.h"
#include "proc/spawn_priv.h"
#include "proc/tree.h"
#include "sandbox/plan.h"
#include "sandbox/proto.h"
#include "sandbox/spec.h"

_Static_assert((int)PROC_FDS_MAX == (int)SANDBOX_TARGETS_MAX, "as many descriptors");
_Static_assert((int)PROC_SETSID == (int)SANDBOX_SETSID, "the same flags");
_Static_assert((int)PROC_CTTY == (int)SANDBOX_CTTY, "the same flags");
_Static_assert((int)PROC_PGRP == (int)SANDBOX_PGRP, "the same flags");

enum { CLOSE_MS = 5000 }; /* for a supervisor; then the zygote does its work */

struct proc_box {
    struct list link; /* proc_zygote.boxes */
    struct proc_zygote *zygote;
    uint64_t run;           /* of the zygote that started it */
    struct proc_box *outer; /* that it is inside of, while there is one */
    uint32_t id;
    struct chan chan;
    struct ev_timer timer; /* while closing */
    const struct proc_box_events *events;
    void *ctx;
    pid_t pid;          /* 0: not known yet */
    uint64_t starttime; /* with the pid, names the supervisor; 0: not known */

    uint32_t *pending; /* tags that were not answered, oldest first */
    size_t n_pending;
    size_t cap;

    bool closing;
    bool clean;        /* the supervisor died, and the zygote says that nothing is left */
    int lost_code;     /* then: as in SANDBOX_MSG_LOST */
    char step[16];     /* of the plan, which could not be applied */
    struct err broken; /* then: why */
    bool gone;
    bool in_callback;
    bool freed; /* in a callback; the memory goes when it returns */
};

static void free_now(struct proc_box *box)
{
    free(box->pending);
    free(box);
}

/* After a callback: false if it has freed the box. */
static bool leave_callback(struct proc_box *box)
{
    box->in_callback = false;
    if (!box->freed)
        return true;
    free_now(box);
    return false;
}

static void add_pending(struct proc_box *box, uint32_t tag)
{
    if (box->n_pending == box->cap) {
        box->cap = box->cap ? 2 * box->cap : 8;
        box->pending = xreallocarray(box->pending, box->cap, sizeof(*box->pending));
    }
    box->pending[box->n_pending++] = tag;
}

static void remove_pending(struct proc_box *box, uint32_t tag)
{
    size_t i = 0;
    while (i < box->n_pending && box->pending[i] != tag)
        i++;
    if (i == box->n_pending)
        return;
    box->n_pending--;
    memmove(&box->pending[i], &box->pending[i + 1], (box->n_pending - i) * sizeof(*box->pending));
}

static bool fail(struct proc_box *box, uint32_t tag, const char *step, const struct err *err)
{
    if (!box->events->on_failed)
        return true;
    box->in_callback = true;
    box->events->on_failed(box->ctx, tag, step, err);
    return leave_callback(box);
}

/*
 * A box whose supervisor died is gone when both are known: that its socket has ended, so that all
 * it had to tell was told, and that nothing is left of it.
 */
static bool is_over(const struct proc_box *box)
{
    return box->chan.sock < 0 && (box->clean || !proc_zygote_is_run(box->zygote, box->run));
}

static struct proc_box *find_inner(const struct proc_box *outer)
{
    LIST_FOREACH(link, &outer->zygote->boxes)
    if (proc_box_of_link(link)->outer == outer)
        return proc_box_of_link(link);
    return NULL;
}

static void become_gone(struct proc_box *box, bool lost);

/* Nothing can be left in a box inside of one that is gone; what it had to tell may still come. */
static bool let_go_of_inner(struct proc_box *outer)
{
    outer->in_callback = true;
    for (struct proc_box *box = find_inner(outer); box; box = find_inner(outer)) {
        box->outer = NULL;
        box->clean = true;
        if (is_over(box))
            become_gone(box, true);
    }
    return leave_callback(outer);
}

/* The last callback. The box may be freed in it. */
static void become_gone(struct proc_box *box, bool lost)
{
    if (!let_go_of_inner(box))
        return;
    chan_close(&box->chan);
    ev_timer_close(&box->timer);
    list_remove(&box->link);
    box->gone = true;
    struct err err = box->broken;
    int code = box->lost_code > 0 ? box->lost_code : ERR_LOST;
    if (err.code == 0)
        (void)err_set(&err, code, "start a process: its supervisor is gone");
    char step[sizeof(box->step)]; /* outlives the box */
    (void)snprintf(step, sizeof(step), "%s", box->broken.code ? box->step : "open");
    while (box->n_pending > 0) {
        uint32_t tag = box->pending[0];
        remove_pending(box, tag);
        if (!fail(box, tag, step, &err))
            return;
    }
    if (!box->events->on_gone)
        return;
    box->in_callback = true;
    box->events->on_gone(box->ctx, lost);
    (void)leave_callback(box);
}

static void note_supervisor(struct proc_box *box, pid_t pid)
{
    struct proc_info info;
    box->pid = pid;
    if (proc_info_read(pid, &info) == 0)
        box->starttime = info.starttime;
}

static bool tell_spawned(struct proc_box *box, const struct sandbox_msg *msg)
{
    remove_pending(box, msg->tag);
    if (!box->events->on_spawned)
        return true;
    box->in_callback = true;
    box->events->on_spawned(box->ctx, msg->tag, msg->pid);
    return leave_callback(box);
}

static bool tell_failed(struct proc_box *box, const struct sandbox_msg *msg)
{
    struct err err = {.code = msg->code};
    memcpy(err.text, msg->text, sizeof(err.text));
    remove_pending(box, msg->tag);
    return fail(box, msg->tag, msg->step, &err);
}

/* Its end is told by the zygote; until then nothing is started. */
static void note_broken(struct proc_box *box, const struct sandbox_msg *msg)
{
    memcpy(box->step, msg->step, sizeof(box->step));
    box->broken.code = msg->code;
    memcpy(box->broken.text, msg->text, sizeof(box->broken.text));
}

static bool tell_exited(struct proc_box *box, const struct sandbox_msg *msg)
{
    struct proc_exit exit = {.status = msg->code,
                             .user_us = msg->user_us,
                             .system_us = msg->system_us,
                             .maxrss_bytes = msg->maxrss_bytes};
    if (!box->events->on_exit)
        return true;
    box->in_callback = true;
    box->events->on_exit(box->ctx, msg->tag, msg->pid, &exit);
    return leave_callback(box);
}

static bool tell_lost_inner(struct proc_box *outer, const struct sandbox_msg *msg)
{
    LIST_FOREACH(link, &outer->zygote->boxes)
    {
        struct proc_box *box = proc_box_of_link(link);
        if (box->outer != outer || box->id != msg->tag)
            continue;
        outer->in_callback = true;
        proc_box_lost(box, msg->code);
        return leave_callback(outer);
    }
    return true; /* it was freed, or has told its end itself */
}

static bool on_msg(void *ctx, const struct sandbox_msg *msg)
{
    struct proc_box *box = ctx;
    switch (msg->type) {
    case SANDBOX_MSG_READY:
        note_supervisor(box, msg->pid);
        return true;
    case SANDBOX_MSG_SPAWNED:
        return tell_spawned(box, msg);
    case SANDBOX_MSG_FAILED:
        return tell_failed(box, msg);
    case SANDBOX_MSG_EXITED:
        return tell_exited(box, msg);
    case SANDBOX_MSG_LOST:
        return tell_lost_inner(box, msg);
    case SANDBOX_MSG_BROKEN:
        note_broken(box, msg);
        return true;
    case SANDBOX_MSG_GONE:
        become_gone(box, false);
        return false;
    default: /* not for us: a number of the other direction, or of no message */
        return true;
    }
}

static void on_end(void *ctx)
{
    struct proc_box *box = ctx;
    chan_close(&box->chan);
    if (is_over(box))
        become_gone(box, true);
}

void proc_box_lost(struct proc_box *box, int code)
{
    box->clean = true;
    box->lost_code = code;
    if (is_over(box))
        become_gone(box, true);
}

bool proc_box_check(struct proc_box *box)
{
    if (!is_over(box))
        return false;
    become_gone(box, true);
    return true;
}

uint32_t proc_box_id(const struct proc_box *box)
{
    return box->id;
}

struct proc_box *proc_box_of_link(struct list *link)
{
    return list_entry(link, struct proc_box, link);
}

/* A supervisor that was stopped, or hangs. What it leaves is ended by the zygote. */
static void on_close_timeout(void *ctx)
{
    struct proc_box *box = ctx;
    if (box->starttime > 0)
        (void)proc_kill(box->pid, box->starttime, SIGKILL);
}

/* To the zygote, with a plan, or to the supervisor that it is to be inside of. */
static int send_open(struct proc_zygote *z, struct proc_box *outer, uint32_t id, int theirs,
                     const struct sandbox_plan *plan, struct err *err)
{
    struct sandbox_msg msg = {.type = SANDBOX_MSG_OPEN, .tag = id};
    if (outer) {
        int rc = chan_send(&outer->chan, &msg, &theirs, 1);
        return rc < 0 ? err_set(err, -rc, "ask for a supervisor") : 0;
    }
    auto_close int plan_fd = io_memfd("nacre-plan", plan, sandbox_plan_size(plan));
    if (plan_fd < 0)
        return err_set(err, -plan_fd, "make a file for the plan");
    int rc = chan_send(&z->chan, &msg, (int[]){theirs, plan_fd}, 2);
    return rc < 0 ? err_set(err, -rc, "ask for a supervisor") : 0;
}

static int open_box(struct proc_zygote *z, struct proc_box *outer, const struct sandbox_plan *plan,
                    const struct proc_box_events *events, void *ctx, struct proc_box **ret_box,
                    struct err *err)
{
    int socks[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0)
        return err_set(err, errno, "make a socket for a supervisor");
    auto_close int ours = socks[0];
    auto_close int theirs = socks[1];
    if (setsockopt(ours, SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int)) < 0)
        return err_set(err, errno, "ask for credentials on the socket of a supervisor");

    auto_free struct proc_box *box = xnew(struct proc_box);
    box->zygote = z;
    box->outer = outer;
    box->run = outer ? outer->run : z->run;
    box->id = ++z->next_box;
    box->events = events;
    box->ctx = ctx;
    int rc = chan_open(&box->chan, z->ev, take_fd(&ours), on_msg, on_end, box);
    if (rc < 0)
        return err_set(err, -rc, "watch the socket of a supervisor");
    rc = send_open(z, outer, box->id, theirs, plan, err);
    if (rc < 0) {
        chan_close(&box->chan);
        return rc;
    }
    ev_timer_init(z->ev, &box->timer, on_close_timeout, box);
    list_add_tail(&z->boxes, &box->link);
    *ret_box = take_ptr(box);
    return 0;
}

int proc_box_open(struct proc_zygote *z, const struct sandbox_plan *plan,
                  const struct proc_box_events *events, void *ctx, struct proc_box **ret_box,
                  struct err *err)
{
    int rc = sandbox_plan_check(plan, err);
    if (rc == 0)
        rc = proc_zygote_ensure(z, err);
    return rc < 0 ? rc : open_box(z, NULL, plan, events, ctx, ret_box, err);
}

int proc_box_open_inside(struct proc_box *outer, const struct proc_box_events *events, void *ctx,
                         struct proc_box **ret_box, struct err *err)
{
    if (outer->closing || outer->chan.sock < 0)
        return err_set(err, EPIPE, "open a box inside of one that is closed");
    return open_box(outer->zygote, outer, NULL, events, ctx, ret_box, err);
}

static int make_block(const struct proc_spec *spec, const int *targets, struct err *err)
{
    static const char *const no_env[] = {NULL};
    struct sandbox_spec block = {.path = spec->path ? spec->path : spec->argv[0],
                                 .cwd = spec->cwd ? spec->cwd : "/",
                                 .argv = spec->argv,
                                 .envp = spec->envp ? spec->envp : no_env,
                                 .targets = targets,
                                 .n_targets = spec->n_fds,
                                 .flags = spec->flags,
                                 .umask = spec->umask};
    auto_buf struct buf text = BUF_INIT(SANDBOX_SPEC_MAX);
    int rc = sandbox_spec_encode(&block, &text, err);
    if (rc < 0)
        return rc;
    int fd = io_memfd("nacre-spec", text.data, text.len);
    return fd < 0 ? err_set(err, -fd, "make a file for the request") : fd;
}

int proc_box_spawn(struct proc_box *box, const struct proc_spec *spec, uint32_t tag,
                   struct err *err)
{
    if (box->closing || box->chan.sock < 0)
        return err_set(err, EPIPE, "start a process: its box is closed");
    if (!spec->argv || !spec->argv[0])
        return err_set(err, EINVAL, "start a process: no argv[0]");
    if (spec->n_fds > PROC_FDS_MAX)
        return err_set(err, EINVAL, "start a process: more than %d descriptors", PROC_FDS_MAX);
    int fds[SANDBOX_FDS_MAX];
    int targets[SANDBOX_TARGETS_MAX];
    for (size_t i = 0; i < spec->n_fds; i++) {
        fds[i + 1] = spec->fds[i].fd;
        targets[i] = spec->fds[i].target;
    }
    auto_close int block = make_block(spec, targets, err);
    if (block < 0)
        return err_wrap(err, block, "start a process");
    fds[0] = block;
    struct sandbox_msg msg = {.type = SANDBOX_MSG_SPAWN, .tag = tag};
    int rc = chan_send(&box->chan, &msg, fds, spec->n_fds + 1);
    if (rc < 0)
        return err_set(err, -rc, "ask the supervisor for a process");
    add_pending(box, tag);
    return 0;
}

void proc_box_close(struct proc_box *box)
{
    if (box->closing || box->gone)
        return;
    box->closing = true;
    if (box->chan.sock < 0)
        return; /* its end is on the way */
    struct sandbox_msg msg = {.type = SANDBOX_MSG_CLOSE};
    (void)chan_send(&box->chan, &msg, NULL, 0); /* without descriptors it cannot fail */
    if (box->starttime > 0)
        (void)proc_kill(box->pid, box->starttime, SIGCONT); /* one that was stopped hears nothing */
    ev_timer_repeat(&box->timer, CLOSE_MS);
}

void proc_box_free(struct proc_box *box)
{
    if (!box)
        return;
    /* One that was stopped could not see that its socket ends. */
    if (!box->gone && box->starttime > 0)
        (void)proc_kill(box->pid, box->starttime, SIGCONT);
    for (struct proc_box *inner = find_inner(box); inner; inner = find_inner(box)) {
        inner->outer = NULL;
        inner->clean = true; /* by the time its socket ends: they end together */
    }
    chan_close(&box->chan);
    ev_timer_close(&box->timer);
    list_remove(&box->link);
    if (box->in_callback)
        box->freed = true;
    else
        free_now(box);
}

pid_t proc_box_pid(const struct proc_box *box)
{
    return box->pid;
}

const struct err *proc_box_refusal(const struct proc_box *box)
{
    return box->broken.code ? &box->broken : NULL;
}

bool proc_box_is_gone(const struct proc_box *box)
{
    return box->gone;
}
