/* SPDX-License-Identifier: MIT */
/*
 * proc/spawn - starting processes and hearing of their end, from the event loop.
 *
 * The runtime never forks itself. A zygote (the program nacre-spawn) forks one
 * small supervisor per box; a box is the set of processes started through it
 * and everything that descends from them, however it detaches itself. When a
 * box is closed, its supervisor dies or the runtime dies, all of them end.
 *
 * A box is open -> closing (proc_box_close) -> gone. It is gone when no process
 * of it is left. All calls and callbacks belong to the loop's thread. No
 * callback comes from within a call of this header.
 */
#ifndef PROC_SPAWN_H
#define PROC_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct ev;
struct sandbox_plan;

struct proc_zygote;
struct proc_box;

enum { PROC_FDS_MAX = 64 };

/* Flags of a spec. */
enum {
    PROC_SETSID = 1 << 0, /* a session of its own */
    PROC_CTTY = 1 << 1,   /* its descriptor 0 becomes the controlling terminal; needs PROC_SETSID */
    PROC_PGRP = 1 << 2,   /* a process group of its own; implied by PROC_SETSID */
};

struct proc_fd {
    int fd;     /* here; borrowed for the call */
    int target; /* there */
};

/* How one process is to be started. Borrowed for the call. */
struct proc_spec {
    const char *path;          /* NULL: argv[0]; without a slash: looked up in PATH of envp */
    const char *const *argv;   /* NULL-terminated, at least one */
    const char *const *envp;   /* NULL-terminated; NULL: empty */
    const char *cwd;           /* absolute; NULL: "/" */
    const struct proc_fd *fds; /* what is not named here is closed, 0 to 2 are /dev/null */
    size_t n_fds;
    unsigned flags;
    int umask; /* -1: as the plan says */
};

struct proc_exit {
    int status;       /* as of wait(2) */
    uint64_t user_us; /* CPU, with the children it waited for */
    uint64_t system_us;
    uint64_t maxrss_bytes; /* of the largest of them */
};

/* Any of them may be NULL. All may free the box by proc_box_free(). */
struct proc_box_events {
    /* Execution has begun: exec itself succeeded. */
    void (*on_spawned)(void *ctx, uint32_t tag, pid_t pid);

    /*
     * It was not started. `step` names what failed: "open" (the supervisor), "namespaces", "root",
     * "rules" or "filter" (the plan of the box), "request", "fork", "descriptors", "session",
     * "terminal", "sandbox", "chdir" or "exec". err has the errno and says it in words.
     */
    void (*on_failed)(void *ctx, uint32_t tag, const char *step, const struct err *err);

    /* It ended. Always after its on_spawned. */
    void (*on_exit)(void *ctx, uint32_t tag, pid_t pid, const struct proc_exit *exit);

    /*
     * No process of the box is left; nothing more is told. `lost`: the supervisor died or could
     * not be started, so that processes may have ended without an on_exit.
     */
    void (*on_gone)(void *ctx, bool lost);
};

/*
 * Starts the zygote: the program named by NACRE_SPAWN, else nacre-spawn beside /proc/self/exe,
 * else the one that was installed. If it dies, the next proc_box_open() starts it again; open boxes
 * live on.
 */
int proc_zygote_new(struct ev *ev, struct proc_zygote **ret_zygote, struct err *err);

/* Ends every process of every box, waits for that, and frees. All boxes must have been freed. */
void proc_zygote_free(struct proc_zygote *z);

pid_t proc_zygote_pid(const struct proc_zygote *z);

/*
 * Asks for a new supervisor. Processes may be spawned at once; if the supervisor cannot be had,
 * they fail and on_gone(lost) follows. `plan` is copied, `events` must outlive the box.
 */
int proc_box_open(struct proc_zygote *z, const struct sandbox_plan *plan,
                  const struct proc_box_events *events, void *ctx, struct proc_box **ret_box,
                  struct err *err);

/*
 * The same inside the namespaces of another box, whose plan it shares: processes that see those of
 * the other box and its files, but end by themselves. It ends with the other box at the latest.
 */
int proc_box_open_inside(struct proc_box *outer, const struct proc_box_events *events, void *ctx,
                         struct proc_box **ret_box, struct err *err);

/*
 * Asks for a process. The answer is on_spawned or on_failed with the same tag, which is the
 * caller's. The descriptors of spec may be closed on return. -EPIPE once the box is closing or
 * gone, -EINVAL for a spec that is not well-formed.
 */
int proc_box_spawn(struct proc_box *box, const struct proc_spec *spec, uint32_t tag,
                   struct err *err);

/* Kills all processes of the box; on_gone(false) follows. */
void proc_box_close(struct proc_box *box);

/* Forgets the box, killing what is left of it without waiting. NULL is fine. */
void proc_box_free(struct proc_box *box);

/* The supervisor: all processes of the box descend from it. 0 while it is not known yet. */
pid_t proc_box_pid(const struct proc_box *box);

/* Why its plan could not be applied: another box with it would fail as well. NULL: it could. */
const struct err *proc_box_refusal(const struct proc_box *box);

bool proc_box_is_gone(const struct proc_box *box);

#endif
