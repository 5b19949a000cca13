/* SPDX-License-Identifier: MIT */
/*
 * One inotify descriptor for all groups: their number per user is small, that of watches is not.
 * kernfs tells a change of cgroup.events as IN_MODIFY.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "cgroup/priv.h"

int cgroup_events_fd(struct cgroup *group, struct err *err)
{
    const struct cgroup_tree *tree = cgroup_v2_of(group);
    if (!tree)
        return err_set(err, ERR_UNSUPPORTED, "no version 2 group");
    if (group->events_fd >= 0)
        return group->events_fd;
    char path[CGROUP_PATH_SIZE];
    (void)snprintf(path, sizeof(path), "%s/cgroup.events", group->path);
    group->events_fd = openat(tree->fd, path, O_RDONLY | O_CLOEXEC);
    return group->events_fd < 0 ? err_set(err, errno, "open '%s/%s'", tree->parent, path)
                                : group->events_fd;
}

int cgroup_system_watch(struct cgroup_system *system, struct err *err)
{
    if (system->trees[0].fd < 0)
        return err_set(err, ERR_UNSUPPORTED, "no version 2 groups");
    if (system->watch_fd < 0)
        system->watch_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    return system->watch_fd < 0 ? err_set(err, errno, "watch control groups") : system->watch_fd;
}

static void unwatch(struct cgroup *group)
{
    if (group->wd >= 0) /* fails if the directory is gone, and the watch with it */
        (void)inotify_rm_watch(group->system->watch_fd, group->wd);
    group->wd = -1;
    group->on_empty = NULL;
    list_remove(&group->link);
}

int cgroup_watch(struct cgroup *group, cgroup_empty_fn fn, void *ctx, struct err *err)
{
    unwatch(group);
    if (!fn)
        return 0;
    int fd = cgroup_system_watch(group->system, err);
    const struct cgroup_tree *tree = cgroup_v2_of(group);
    if (fd < 0 || !tree)
        return fd < 0 ? fd : err_set(err, ERR_UNSUPPORTED, "no version 2 group");
    auto_free char *path = xasprintf("%s/%s/cgroup.events", tree->parent, group->path);
    group->wd = inotify_add_watch(fd, path, IN_MODIFY);
    if (group->wd < 0)
        return err_set(err, errno, "watch '%s'", path);
    group->on_empty = fn;
    group->ctx = ctx;
    list_add_tail(&group->system->watched, &group->link);
    return 0;
}

static struct cgroup *find(struct cgroup_system *system, int wd)
{
    LIST_FOREACH(link, &system->watched)
    {
        struct cgroup *group = list_entry(link, struct cgroup, link);
        if (group->wd == wd)
            return group;
    }
    return NULL;
}

void cgroup_system_dispatch(struct cgroup_system *system)
{
    char events[64 * sizeof(struct inotify_event)]; /* of a file: they have no names */
    for (;;) {
        ssize_t len = read(system->watch_fd, events, sizeof(events));
        if (len <= 0)
            return;
        for (size_t at = 0; at + sizeof(struct inotify_event) <= (size_t)len;) {
            struct inotify_event event;
            memcpy(&event, events + at, sizeof(event));
            at += sizeof(event) + event.len;
            struct cgroup *group = find(system, event.wd);
            if (group && !cgroup_is_populated(group))
                group->on_empty(group, group->ctx);
        }
    }
}
