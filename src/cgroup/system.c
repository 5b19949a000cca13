/* SPDX-License-Identifier: MIT */
#include "cgroup/system.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/mem.h"
#include "cgroup/priv.h"

enum { PROC_MAX = 1 << 20 };

static const struct {
    const char *v1, *v2; /* NULL: not in this version */
} names[CGROUP_CONTROLLER_END] = {
    [CGROUP_CPU] = {"cpu",     "cpu"   },
      [CGROUP_CPUACCT] = {"cpuacct", NULL    },
    [CGROUP_MEMORY] = {"memory",  "memory"},
      [CGROUP_PIDS] = {"pids",    "pids"  },
    [CGROUP_IO] = {"blkio",   "io"    },
      [CGROUP_FREEZER] = {"freezer", NULL    },
};

const char *cgroup_controller_name(enum cgroup_controller controller, enum cgroup_version version)
{
    return version == CGROUP_V1 ? names[controller].v1 : names[controller].v2;
}

const char *cgroup_version_name(enum cgroup_version version)
{
    static const char *const texts[] = {NULL, "cgroup1", "cgroup2"};
    return texts[version];
}

const struct cgroup_tree *cgroup_tree_of(const struct cgroup_system *system,
                                         enum cgroup_controller controller)
{
    for (size_t i = 0; i < system->n_trees; i++) {
        if (system->trees[i].usable & CGROUP_BIT(controller))
            return &system->trees[i];
    }
    return NULL;
}

enum cgroup_version cgroup_system_version(const struct cgroup_system *system,
                                          enum cgroup_controller controller)
{
    const struct cgroup_tree *tree = cgroup_tree_of(system, controller);
    return tree ? tree->version : CGROUP_NONE;
}

const char *cgroup_system_why(const struct cgroup_system *system, enum cgroup_controller controller)
{
    if (system->n_trees == 1 && system->trees[0].version == CGROUP_NONE)
        return "no control groups are mounted";
    for (size_t i = 0; i < system->n_trees; i++) {
        const struct cgroup_tree *tree = &system->trees[i];
        if ((tree->controllers & CGROUP_BIT(controller)) && tree->why.code)
            return tree->why.text;
    }
    const struct cgroup_tree *v2 = &system->trees[0];
    return v2->fd < 0 && v2->why.code ? v2->why.text : "no tree has it";
}

int cgroup_system_open(const struct cgroup_settings *settings, struct cgroup_system **ret_system,
                       struct err *err)
{
    auto_buf struct buf mounts = BUF_INIT(PROC_MAX);
    auto_buf struct buf own = BUF_INIT(PROC_MAX);
    int rc = io_read_file(AT_FDCWD, "/proc/self/mountinfo", PROC_MAX, &mounts, err);
    if (rc == 0)
        rc = io_read_file(AT_FDCWD, "/proc/self/cgroup", PROC_MAX, &own, NULL);
    if (rc < 0 && mounts.len == 0)
        return rc;

    struct cgroup_system *system = xnew(struct cgroup_system);
    list_init(&system->watched);
    system->watch_fd = -1;
    for (size_t i = 0; i < CGROUP_TREES_MAX; i++)
        system->trees[i].fd = -1;
    cgroup_mounts_parse(system, buf_cstr(&mounts), buf_cstr(&own));
    for (size_t i = 0; i < system->n_trees; i++)
        cgroup_place_find(&system->trees[i], settings ? settings : &(struct cgroup_settings){0});
    const struct cgroup_tree *v2 = &system->trees[0];
    system->has_kill = v2->fd >= 0 && cgroup_file_exists(v2, CGROUP_BASE, "cgroup.kill");
    *ret_system = system;
    return 0;
}

void cgroup_system_free(struct cgroup_system *system)
{
    if (!system)
        return;
    assert(list_empty(&system->watched));
    for (size_t i = 0; i < system->n_trees; i++) {
        struct cgroup_tree *tree = &system->trees[i];
        cgroup_place_leave(tree);
        own_close_fd(&tree->fd);
        free(tree->mount);
        free(tree->own);
        free(tree->parent);
        free(tree->leaf);
    }
    own_close_fd(&system->watch_fd);
    free(system);
}
