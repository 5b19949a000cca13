/* SPDX-License-Identifier: MIT */
#ifndef CGROUP_PRIV_H
#define CGROUP_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cgroup/group.h"
#include "cgroup/system.h"
#include "cgroup/usage.h"

enum {
    CGROUP_TEXT_SIZE = 4096, /* more than any of the files that are read into an array */
    CGROUP_PATH_SIZE = 512,  /* of a path below a parent */
    CGROUP_DEPTH_MAX = 32,
};

#define CGROUP_BASE "nacre"

/* The events that a file of version 1 counts for one group alone, and forgets with it. */
struct cgroup_past {
    uint64_t oom_kills, pids_refused;
};

struct cgroup {
    struct cgroup_system *system;
    struct cgroup *parent; /* NULL: an instance */
    char *path;            /* "nacre/..." */
    unsigned trees;        /* 1 << i: it has a directory in system->trees[i] */
    unsigned limited;      /* CGROUP_BIT()s */
    bool holds_groups;
    int fd, events_fd;         /* -1 until asked for */
    uint64_t memory_peak;      /* the largest value of memory.current that was seen */
    struct cgroup_past past;   /* of groups in it that are gone */
    int64_t next_ns, pause_ns; /* of cgroup_end() */

    struct list link; /* system->watched */
    int wd;
    cgroup_empty_fn on_empty;
    void *ctx;
};

/* ---- files: all paths are relative to the parent of a tree ---- */

/* The text of dir/file, with a NUL behind it: its length or -errno. */
ssize_t cgroup_file_read(const struct cgroup_tree *tree, const char *dir, const char *file,
                         char *text, size_t size);
/* 0 or -errno. */
int cgroup_file_write(const struct cgroup_tree *tree, const char *dir, const char *file,
                      const char *text);
int cgroup_file_printf(const struct cgroup_tree *tree, const char *dir, const char *file,
                       const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* One number; "max" is UINT64_MAX. 0 or -errno. */
int cgroup_file_u64(const struct cgroup_tree *tree, const char *dir, const char *file,
                    uint64_t *ret);
bool cgroup_file_exists(const struct cgroup_tree *tree, const char *dir, const char *file);
/* The number behind "key " at the start of a line. */
bool cgroup_text_find(const char *text, const char *key, uint64_t *ret);
/* Whether a word is in a list separated by blanks. */
bool cgroup_text_has(const char *text, const char *word);

/*
 * Calls fn for the directory and for all below it, the deepest first, until it returns other than
 * 0. -ENOENT if there is no such directory.
 */
typedef int (*cgroup_walk_fn)(const struct cgroup_tree *tree, const char *dir, void *ctx);
int cgroup_walk(const struct cgroup_tree *tree, const char *dir, cgroup_walk_fn fn, void *ctx);

/* ---- system ---- */

/* Fills the trees from the texts of /proc/self/mountinfo and /proc/self/cgroup. */
void cgroup_mounts_parse(struct cgroup_system *system, const char *mountinfo, const char *own);

/* Finds the parent in a tree, and opens it. */
void cgroup_place_find(struct cgroup_tree *tree, const struct cgroup_settings *settings);
/* Removes "nacre" if it is empty, and undoes what cgroup_place_find() did in the parent. */
void cgroup_place_leave(struct cgroup_tree *tree);
/* Lets groups in dir have these controllers, as far as possible; returns which do. */
unsigned cgroup_enable(struct cgroup_tree *tree, const char *dir, unsigned controllers);

/* The tree with this controller in groups of ours, or NULL. */
const struct cgroup_tree *cgroup_tree_of(const struct cgroup_system *system,
                                         enum cgroup_controller controller);
/* The same if the group has a directory in it. */
const struct cgroup_tree *cgroup_of(const struct cgroup *group, enum cgroup_controller controller);
/* Its version 2 tree, or NULL. */
const struct cgroup_tree *cgroup_v2_of(const struct cgroup *group);

/* ---- groups ---- */

/* An open group of which nothing is known but its path (taken) and trees. */
struct cgroup *cgroup_new(struct cgroup_system *system, struct cgroup *parent, char *path,
                          unsigned trees);

/* CGROUP_BIT()s of what a set of limits limits. */
unsigned cgroup_limits_set(const struct cgroup_limits *limits);
/* Past events of the group's files, for the group around it. */
struct cgroup_past cgroup_past_read(struct cgroup *group);

#endif
