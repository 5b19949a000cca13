/* SPDX-License-Identifier: MIT */
/*
 * cgroup/system - which control groups this process may make, and why not others.
 *
 * Linux has one version 2 tree and any number of version 1 hierarchies; a controller belongs to
 * exactly one of them. All layouts are used as they are: version 2 alone, version 1 alone, and the
 * hybrid, where the version 2 tree has few controllers or none, but still counts CPU time and
 * kills whole groups. Nothing is mounted or unmounted.
 *
 * In every tree our groups are below a directory "nacre", which is made in the parent: our own
 * group, so that limits around us hold for what we start, or the root of the mount where our own
 * cannot have groups with controllers ("no internal processes", cgroup-v2.rst).
 *
 * Groups refer to the system: it is freed after them. Not thread-safe.
 */
#ifndef CGROUP_SYSTEM_H
#define CGROUP_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/list.h"
#include "base/own.h"

enum cgroup_controller {
    CGROUP_CPU,
    CGROUP_CPUACCT, /* version 1 only: counts CPU time */
    CGROUP_MEMORY,
    CGROUP_PIDS,
    CGROUP_IO,      /* "blkio" in version 1 */
    CGROUP_FREEZER, /* version 1 only */
    CGROUP_CONTROLLER_END
};

enum cgroup_version { CGROUP_NONE, CGROUP_V1, CGROUP_V2 };

enum { CGROUP_TREES_MAX = 1 + CGROUP_CONTROLLER_END };

/* A controller as a member of a set. */
#define CGROUP_BIT(controller) (1U << (controller))

/* One tree. The paths are NULL where they are not known. */
struct cgroup_tree {
    enum cgroup_version version; /* CGROUP_NONE: there is no such tree */
    unsigned controllers;        /* it has, of those above */
    unsigned usable;             /* of these, the ones that groups of ours get */
    char *mount;                 /* where it is mounted */
    char *own;                   /* the directory of the group that we were found in */
    char *parent;                /* where "nacre" is */
    int fd;                      /* of the parent; -1: we can make no groups in this tree */
    char *leaf;                  /* where we moved ourselves to */
    unsigned enabled;            /* controllers that we turned on in the parent */
    struct err why;              /* the first thing that failed; code 0: nothing did */
};

struct cgroup_system {
    struct cgroup_tree trees[CGROUP_TREES_MAX]; /* the first is that of version 2 */
    size_t n_trees;
    bool has_kill;       /* cgroup.kill is there (Linux 5.14) */
    int watch_fd;        /* see cgroup_system_watch() */
    struct list watched; /* cgroup.link */
};

struct cgroup_settings {
    /*
     * Moves this process and its children into a leaf of their own where that is what it takes to
     * have controllers: in a delegated group, or in a container. Moved back when the system is
     * freed. It is not done when the group holds processes of others.
     */
    bool may_move;
};

/*
 * Looks at what there is, and tries it: makes "nacre" and turns controllers on. That there is
 * nothing is no failure; it is seen in the trees. settings may be NULL.
 */
int cgroup_system_open(const struct cgroup_settings *settings, struct cgroup_system **ret_system,
                       struct err *err);

/* Removes "nacre" where nobody uses it. NULL is fine. */
void cgroup_system_free(struct cgroup_system *system);

DEFINE_AUTO(struct cgroup_system *, cgroup_system_free)

/* Which version limits this in groups of ours; CGROUP_NONE: it cannot be limited. */
enum cgroup_version cgroup_system_version(const struct cgroup_system *system,
                                          enum cgroup_controller controller);

/* Why it cannot, for people: "no tree has it", "make '/sys/fs/cgroup/nacre': Permission denied". */
const char *cgroup_system_why(const struct cgroup_system *system,
                              enum cgroup_controller controller);

/* "memory", "pids", ... as the kernel has it in this version. */
const char *cgroup_controller_name(enum cgroup_controller controller, enum cgroup_version version);

/* "cgroup2", "cgroup1", or NULL for CGROUP_NONE. */
const char *cgroup_version_name(enum cgroup_version version);

/*
 * A descriptor that becomes readable when a group that is watched (cgroup_watch()) may have become
 * empty; cgroup_system_dispatch() is to be called then. It belongs to the system. -ERR_UNSUPPORTED
 * without version 2.
 */
int cgroup_system_watch(struct cgroup_system *system, struct err *err);

/* Tells those that are empty. Groups may be ended and freed from within. */
void cgroup_system_dispatch(struct cgroup_system *system);

#endif
