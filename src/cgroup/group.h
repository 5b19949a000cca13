/* SPDX-License-Identifier: MIT */
/*
 * cgroup/group - groups of processes: limits, membership, the end of all members.
 *
 * A runtime opens one instance, makes a group for each session in it, and groups for commands in
 * those. Limits hold for a group and all below it together, and they are in force before anything
 * runs. On disk a group is a directory in the version 2 tree, if there is one, and in those
 * version 1 hierarchies that its limits and accounts need.
 *
 * A group has the states open -> gone (cgroup_end() returned 0); a failed end leaves it open.
 * Groups are ended before the group around them. cgroup_free() releases memory alone: what was not
 * ended stays on disk until a sweep.
 *
 * cgroup-v2.rst: "Basic Operations", "Controllers"; cgroup-v1/{memory,pids,freezer-subsystem}.rst,
 * scheduler/sched-bwc.rst.
 */
#ifndef CGROUP_GROUP_H
#define CGROUP_GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/own.h"

struct cgroup;
struct cgroup_system;
struct cgroup_usage;
struct err;

/* Zero is "no limit", but for swap_bytes. */
struct cgroup_limits {
    uint64_t memory_bytes;
    uint64_t swap_bytes;  /* on top, if memory is limited; 0: none; UINT64_MAX: no limit */
    uint64_t pids;        /* processes and threads */
    unsigned cpu_percent; /* of one CPU: 50 is half of one, 200 is two */
    uint64_t io_read_bps, io_write_bps; /* bytes per second */
    dev_t io_device;                    /* st_dev of a file; 0: every disk */
    bool oom_group; /* out of memory ends all of the group, not one process (version 2 only) */
};

struct cgroup_options {
    const char *name; /* path_is_safe_name() */
    struct cgroup_limits limits;
    unsigned optional; /* CGROUP_BIT()s: limits that may be missing; see cgroup_limited() */
    unsigned account;  /* CGROUP_BIT()s: usage to be known even where nothing is limited */
    /*
     * Groups will be made in it. With version 2 it then has no processes of its own: these go to
     * groups in it.
     */
    bool holds_groups;
};

/*
 * The group of one runtime, which holds all others. The name is one that no other runtime has, and
 * that says to is_alive() of cgroup_sweep() that the runtime lives, already before this call.
 * -ERR_UNSUPPORTED, with the reason, where there can be no groups; -ERR_EXISTS.
 */
int cgroup_instance_open(struct cgroup_system *system, const char *name, struct cgroup **ret_group,
                         struct err *err);

/*
 * A group inside parent, which holds groups and outlives it. A limit that cannot be had, and is
 * not optional, is -ERR_UNSUPPORTED with the reason; -ERR_EXISTS if the name is taken; nothing is
 * left behind then.
 */
int cgroup_create(struct cgroup *parent, const struct cgroup_options *options,
                  struct cgroup **ret_group, struct err *err);

/* Releases the memory. NULL is fine. */
void cgroup_free(struct cgroup *group);

DEFINE_AUTO(struct cgroup *, cgroup_free)

/* Replaces the limits, also while processes run. Those in force after a failure may be mixed. */
int cgroup_limit(struct cgroup *group, const struct cgroup_limits *limits, unsigned optional,
                 struct err *err);

/* CGROUP_BIT()s of the limits that are in force. */
unsigned cgroup_limited(const struct cgroup *group);

/* "nacre/INSTANCE/NAME..." below the parent of each tree. */
const char *cgroup_path(const struct cgroup *group);

/*
 * The directory in the version 2 tree, for CLONE_INTO_CGROUP; it belongs to the group.
 * -ERR_UNSUPPORTED where there is none. cgroup_attach() is needed besides if cgroup_is_v2_only()
 * is false.
 */
int cgroup_fd(struct cgroup *group, struct err *err);
bool cgroup_is_v2_only(const struct cgroup *group);

/*
 * Moves a process (0: the caller) into the group. What it has started stays where it is, so it is
 * to wait until this returned.
 */
int cgroup_attach(struct cgroup *group, pid_t pid, struct err *err);

/* Whether a process of the group, or of a group in it, lives. Zombies do not count. */
bool cgroup_is_populated(struct cgroup *group);

/*
 * cgroup.events of the version 2 tree: poll(2) tells POLLPRI when `populated` may have changed
 * since the last cgroup_is_populated(). It is always readable, so that a loop that knows no
 * POLLPRI needs cgroup_watch(). Belongs to the group; -ERR_UNSUPPORTED without version 2.
 */
int cgroup_events_fd(struct cgroup *group, struct err *err);

/*
 * Calls fn from cgroup_system_dispatch() whenever the group is found empty; NULL ends that.
 * -ERR_UNSUPPORTED without version 2.
 */
typedef void (*cgroup_empty_fn)(struct cgroup *group, void *ctx);
int cgroup_watch(struct cgroup *group, cgroup_empty_fn fn, void *ctx, struct err *err);

/*
 * Kills every process in the group and in groups in it. They may not be gone yet, and without
 * cgroup.kill may have left some: cgroup_end() goes on. Takes 35 us per process.
 */
void cgroup_kill(struct cgroup *group);

/*
 * Makes a pass at ending the group: kills what lives; when nothing does, reads the last usage (may
 * be NULL) and removes the group and groups in it. 0: it is gone. -ERR_BUSY: not yet; to be called
 * again after cgroup_wait_ms(), or earlier when it is told to be empty.
 */
int cgroup_end(struct cgroup *group, struct cgroup_usage *ret_usage, struct err *err);
int cgroup_wait_ms(const struct cgroup *group);

/* The same until it is gone; -ERR_TIMEOUT if that takes longer than timeout_ms. */
int cgroup_end_wait(struct cgroup *group, int timeout_ms, struct cgroup_usage *ret_usage,
                    struct err *err);

/*
 * Ends the instances, in all trees, that are not alive. Returns how many are gone; -ERR_TIMEOUT
 * when one was not within timeout_ms, after all others were tried. Runtimes that know nothing of
 * each other may have instances side by side: is_alive() says true of a name that it cannot judge.
 * What a runtime left below another group than ours is not found.
 */
typedef bool (*cgroup_alive_fn)(const char *instance, void *ctx);
int cgroup_sweep(struct cgroup_system *system, cgroup_alive_fn is_alive, void *ctx, int timeout_ms,
                 struct err *err);

#endif
