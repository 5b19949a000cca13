/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/strv.h"
#include "cgroup/priv.h"

enum { NAMES_MAX = 1 << 20 };

/* Adds the names of all instances in the tree that are not listed yet. */
static void list_instances(const struct cgroup_tree *tree, struct strv *names)
{
    int fd = tree->fd < 0 ? -1 : openat(tree->fd, CGROUP_BASE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        own_close(&fd);
        return;
    }
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        if (e->d_type == DT_DIR && path_is_safe_name(e->d_name) && !strv_has(names, e->d_name))
            (void)strv_push(names, e->d_name); /* too many: the next sweep goes on */
    }
    (void)closedir(d); /* it was only read */
}

/* The group as it is on disk. */
static struct cgroup *find(struct cgroup_system *system, const char *name)
{
    unsigned trees = 0;
    char *path = xasprintf(CGROUP_BASE "/%s", name);
    for (size_t i = 0; i < system->n_trees; i++) {
        if (system->trees[i].fd >= 0 && faccessat(system->trees[i].fd, path, F_OK, 0) == 0)
            trees |= 1U << i;
    }
    return cgroup_new(system, NULL, path, trees);
}

int cgroup_sweep(struct cgroup_system *system, cgroup_alive_fn is_alive, void *ctx, int timeout_ms,
                 struct err *err)
{
    auto_strv struct strv names = STRV_INIT(NAMES_MAX);
    for (size_t i = 0; i < system->n_trees; i++)
        list_instances(&system->trees[i], &names);

    /* The names were listed before they are judged: an instance that is new is alive already. */
    int n = 0, rc = 0;
    int64_t end = clock_mono_ns() + (int64_t)timeout_ms * 1000000;
    for (size_t i = 0; i < names.n; i++) {
        if (is_alive(names.items[i], ctx))
            continue;
        int64_t left = (end - clock_mono_ns()) / 1000000;
        AUTO(cgroup_free) struct cgroup *group = find(system, names.items[i]);
        int one = cgroup_end_wait(group, left > 0 ? (int)left : 0, NULL, rc ? NULL : err);
        if (one == 0)
            n++;
        else if (rc == 0)
            rc = one;
    }
    return rc ? rc : n;
}
