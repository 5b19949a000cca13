/* SPDX-License-Identifier: MIT */
#include "cgroup/group.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/path.h"
#include "cgroup/priv.h"

enum { TRIES = 8 }; /* against another runtime that just removes "nacre" */

const struct cgroup_tree *cgroup_of(const struct cgroup *group, enum cgroup_controller controller)
{
    const struct cgroup_tree *tree = cgroup_tree_of(group->system, controller);
    return tree && (group->trees & 1U << (tree - group->system->trees)) ? tree : NULL;
}

const struct cgroup_tree *cgroup_v2_of(const struct cgroup *group)
{
    return group->trees & 1U ? &group->system->trees[0] : NULL;
}

struct cgroup *cgroup_new(struct cgroup_system *system, struct cgroup *parent, char *path,
                          unsigned trees)
{
    struct cgroup *group = xnew(struct cgroup);
    group->system = system;
    group->parent = parent;
    group->path = path;
    group->trees = trees;
    group->fd = group->events_fd = group->wd = -1;
    return group;
}

void cgroup_free(struct cgroup *group)
{
    if (!group)
        return;
    (void)cgroup_watch(group, NULL, NULL, NULL);
    own_close_fd(&group->fd);
    own_close_fd(&group->events_fd);
    free(group->path);
    free(group);
}

const char *cgroup_path(const struct cgroup *group)
{
    return group->path;
}

unsigned cgroup_limited(const struct cgroup *group)
{
    return group->limited;
}

bool cgroup_is_v2_only(const struct cgroup *group)
{
    return group->trees == 1;
}

/* ---- making ---- */

static int make_dir(struct cgroup *group, size_t i, struct err *err)
{
    struct cgroup_tree *tree = &group->system->trees[i];
    if (mkdirat(tree->fd, group->path, 0755) < 0) {
        int code = errno == EEXIST ? ERR_EXISTS : errno;
        return err_set(err, code, "make the group '%s/%s'", tree->parent, group->path);
    }
    group->trees |= 1U << i;
    if (!group->parent) /* whoever made "nacre" may not have come to it yet */
        (void)cgroup_enable(tree, CGROUP_BASE, tree->usable);
    if (group->holds_groups)
        (void)cgroup_enable(tree, group->path, tree->usable); /* missing ones show at limits */
    return 0;
}

/* Makes the directory of a group that exists in other trees, and those around it. */
static int need_tree(struct cgroup *group, size_t i, struct err *err)
{
    if (!group || (group->trees & 1U << i))
        return 0;
    int rc = need_tree(group->parent, i, err);
    if (rc == 0)
        rc = make_dir(group, i, err);
    if (rc != -ENOENT || group->parent)
        return rc;
    /* "nacre" is gone with the last group of another runtime. */
    struct cgroup_tree *tree = &group->system->trees[i];
    for (int try = 0; try < TRIES && rc == -ENOENT; try++) {
        if (mkdirat(tree->fd, CGROUP_BASE, 0755) < 0 && errno != EEXIST)
            return err_set(err, errno, "make the group '%s/" CGROUP_BASE "'", tree->parent);
        rc = make_dir(group, i, err);
    }
    return rc;
}

static void remove_dirs(struct cgroup *group)
{
    for (size_t i = 0; i < group->system->n_trees; i++) {
        if (group->trees & 1U << i) /* just made, and empty */
            (void)unlinkat(group->system->trees[i].fd, group->path, AT_REMOVEDIR);
    }
}

static int make_dirs(struct cgroup *group, unsigned trees, struct err *err)
{
    for (size_t i = 0; i < group->system->n_trees; i++) {
        int rc = trees & 1U << i ? need_tree(group, i, err) : 0;
        if (rc < 0) {
            remove_dirs(group);
            return rc;
        }
    }
    return 0;
}

/* The first tree that works at all, for an instance. */
static unsigned any_tree(const struct cgroup_system *system)
{
    for (size_t i = 0; i < system->n_trees; i++) {
        if (system->trees[i].fd >= 0)
            return 1U << i;
    }
    return 0;
}

int cgroup_instance_open(struct cgroup_system *system, const char *name, struct cgroup **ret_group,
                         struct err *err)
{
    if (!path_is_safe_name(name))
        return err_set(err, ERR_INVALID, "'%s' cannot name a group", name);
    unsigned trees = any_tree(system);
    if (!trees)
        return err_set(err, ERR_UNSUPPORTED, "no control groups: %s",
                       cgroup_system_why(system, CGROUP_MEMORY));
    AUTO(cgroup_free)
    struct cgroup *group = cgroup_new(system, NULL, xasprintf(CGROUP_BASE "/%s", name), 0);
    group->holds_groups = true;
    int rc = make_dirs(group, trees, err);
    if (rc == 0)
        *ret_group = take_ptr(group);
    return rc;
}

/* The trees that a group with these options needs: what is missing is told by cgroup_limit(). */
static unsigned choose_trees(const struct cgroup_system *system,
                             const struct cgroup_options *options)
{
    bool has_v2 = system->trees[0].fd >= 0;
    unsigned needs = cgroup_limits_set(&options->limits) | options->account;
    needs |= has_v2 ? 0 : CGROUP_BIT(CGROUP_CPUACCT);
    needs |= system->has_kill ? 0 : CGROUP_BIT(CGROUP_FREEZER);
    unsigned trees = has_v2 ? 1 : 0;
    for (enum cgroup_controller c = 0; c < CGROUP_CONTROLLER_END; c++) {
        const struct cgroup_tree *tree = needs & CGROUP_BIT(c) ? cgroup_tree_of(system, c) : NULL;
        trees |= tree ? 1U << (tree - system->trees) : 0;
    }
    return trees ? trees : any_tree(system);
}

int cgroup_create(struct cgroup *parent, const struct cgroup_options *options,
                  struct cgroup **ret_group, struct err *err)
{
    assert(parent->holds_groups);
    if (!path_is_safe_name(options->name))
        return err_set(err, ERR_INVALID, "'%s' cannot name a group", options->name);
    AUTO(cgroup_free)
    struct cgroup *group =
        cgroup_new(parent->system, parent, xasprintf("%s/%s", parent->path, options->name), 0);
    group->holds_groups = options->holds_groups;
    int rc = make_dirs(group, choose_trees(group->system, options), err);
    if (rc < 0)
        return rc;
    rc = cgroup_limit(group, &options->limits, options->optional, err);
    if (rc < 0) {
        remove_dirs(group);
        return rc;
    }
    *ret_group = take_ptr(group);
    return 0;
}

/* ---- members ---- */

int cgroup_fd(struct cgroup *group, struct err *err)
{
    const struct cgroup_tree *tree = cgroup_v2_of(group);
    if (!tree)
        return err_set(err, ERR_UNSUPPORTED, "no version 2 group");
    if (group->fd < 0)
        group->fd = openat(tree->fd, group->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return group->fd < 0 ? err_set(err, errno, "open the group '%s'", group->path) : group->fd;
}

int cgroup_attach(struct cgroup *group, pid_t pid, struct err *err)
{
    for (size_t i = 0; i < group->system->n_trees; i++) {
        const struct cgroup_tree *tree = &group->system->trees[i];
        if (!(group->trees & 1U << i))
            continue;
        int rc = cgroup_file_printf(tree, group->path, "cgroup.procs", "%d", pid);
        if (rc < 0)
            return err_set(err, -rc, "move process %d to the group '%s/%s'", pid, tree->parent,
                           group->path);
    }
    return 0;
}
