/* SPDX-License-Identifier: MIT */
/*
 * The end of all members. cgroup.kill does it in one write, and nothing can fork away from it.
 * Before Linux 5.14 and in version 1 the group is frozen first, so that what is listed is all there
 * is; where that is not to be had either, passes over the list are made until it is empty.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/io.h"
#include "cgroup/priv.h"

enum {
    PAUSE_MIN_NS = 1000000,
    PAUSE_MAX_NS = 100000000,
    FREEZE_MS = 20, /* what cannot be frozen by then is killed as it runs */
    PROCS_MAX = 1 << 24,
};

static void pause_ms(int ms)
{
    struct timespec pause = {.tv_nsec = ms * 1000000L};
    (void)nanosleep(&pause, NULL); /* a signal ends it early: no harm */
}

/* ---- killing ---- */

/* The process is listed by number: it may be another one only if 4 million forks came between. */
static int kill_listed(const struct cgroup_tree *tree, const char *dir, void *ctx)
{
    char path[CGROUP_PATH_SIZE + sizeof("/cgroup.procs")];
    auto_buf struct buf text = BUF_INIT(PROCS_MAX);
    (void)snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
    if (io_read_file(tree->fd, path, PROCS_MAX, &text, NULL) < 0)
        return 0;
    char *end;
    for (const char *at = buf_cstr(&text); *at; at = end + (*end == '\n')) {
        pid_t pid = (pid_t)strtol(at, &end, 10);
        if (end == at)
            break;
        if (pid > 0) { /* 0: in a PID namespace that is not ours */
            (void)kill(pid, SIGKILL);
            ++*(size_t *)ctx;
        }
    }
    return 0;
}

/* Kills once all that is listed in the group and below; returns how many. */
static size_t kill_pass(const struct cgroup *group, const struct cgroup_tree *tree)
{
    size_t n = 0;
    (void)cgroup_walk(tree, group->path, kill_listed, &n); /* what is missed shows later */
    return n;
}

static bool is_frozen(const struct cgroup *group, const struct cgroup_tree *tree)
{
    char text[CGROUP_TEXT_SIZE];
    const char *file = tree->version == CGROUP_V2 ? "cgroup.events" : "freezer.state";
    uint64_t frozen = 0;
    if (cgroup_file_read(tree, group->path, file, text, sizeof(text)) < 0)
        return true; /* nothing to wait for */
    if (tree->version == CGROUP_V1)
        return strcmp(text, "FROZEN\n") == 0;
    return !cgroup_text_find(text, "frozen", &frozen) || frozen;
}

static void set_frozen(const struct cgroup *group, const struct cgroup_tree *tree, bool frozen)
{
    bool is_v2 = tree->version == CGROUP_V2;
    const char *text = is_v2 ? (frozen ? "1" : "0") : (frozen ? "FROZEN" : "THAWED");
    /* Best effort: without it the kill is a race that the passes win in the end. */
    (void)cgroup_file_write(tree, group->path, is_v2 ? "cgroup.freeze" : "freezer.state", text);
}

/*
 * Frozen, killed, thawed. A task that is frozen by version 1 dies only when it is thawed; for those
 * of version 2 it makes no difference.
 */
static void kill_frozen(const struct cgroup *group, const struct cgroup_tree *tree)
{
    set_frozen(group, tree, true);
    for (int ms = 0; ms < FREEZE_MS && !is_frozen(group, tree); ms++)
        pause_ms(1);
    (void)kill_pass(group, tree);
    set_frozen(group, tree, false);
}

/* Without a freezer, forks are stopped where they can be. */
static void kill_running(const struct cgroup *group)
{
    const struct cgroup_tree *pids = cgroup_of(group, CGROUP_PIDS);
    if (pids)
        (void)cgroup_file_write(pids, group->path, "pids.max", "0"); /* may be read-only: no loss */
    for (size_t i = 0; i < group->system->n_trees; i++) {
        if (group->trees & 1U << i)
            (void)kill_pass(group, &group->system->trees[i]);
    }
}

void cgroup_kill(struct cgroup *group)
{
    const struct cgroup_tree *v2 = cgroup_v2_of(group);
    const struct cgroup_tree *freezer = cgroup_of(group, CGROUP_FREEZER);
    if (v2 && group->system->has_kill &&
        cgroup_file_write(v2, group->path, "cgroup.kill", "1") == 0)
        return;
    if (v2 && cgroup_file_exists(v2, group->path, "cgroup.freeze"))
        kill_frozen(group, v2);
    else if (freezer)
        kill_frozen(group, freezer);
    else
        kill_running(group);
}

/* ---- who is left ---- */

static int find_listed(const struct cgroup_tree *tree, const char *dir, void *ctx)
{
    (void)ctx;
    char text[32];
    return cgroup_file_read(tree, dir, "cgroup.procs", text, sizeof(text)) > 0;
}

/* Version 1 has no more than the lists. */
static bool is_listed(const struct cgroup *group, const struct cgroup_tree *tree)
{
    return cgroup_walk(tree, group->path, find_listed, NULL) == 1;
}

/* The tree in which a process lives, or NULL. */
static const struct cgroup_tree *find_populated(struct cgroup *group)
{
    const struct cgroup_tree *v2 = cgroup_v2_of(group);
    if (v2) {
        /* Read by the descriptor that may be polled, which thereby waits for the next change. */
        char text[CGROUP_TEXT_SIZE];
        int fd = cgroup_events_fd(group, NULL);
        ssize_t len = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);
        uint64_t populated = 0;
        if (len > 0) {
            text[len] = '\0';
            (void)cgroup_text_find(text, "populated", &populated); /* it is in every kernel */
        }
        if (populated)
            return v2;
    }
    for (size_t i = 1; i < group->system->n_trees; i++) {
        const struct cgroup_tree *tree = &group->system->trees[i];
        if ((group->trees & 1U << i) && is_listed(group, tree))
            return tree;
    }
    return NULL;
}

bool cgroup_is_populated(struct cgroup *group)
{
    return find_populated(group) != NULL;
}

/* ---- removing ---- */

static int remove_dir(const struct cgroup_tree *tree, const char *dir, void *ctx)
{
    (void)ctx;
    return unlinkat(tree->fd, dir, AT_REMOVEDIR) == 0 || errno == ENOENT ? 0 : -errno;
}

/* Removes what can be removed; the first failure is told. */
static int remove_all(struct cgroup *group, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; i < group->system->n_trees; i++) {
        const struct cgroup_tree *tree = &group->system->trees[i];
        if (!(group->trees & 1U << i))
            continue;
        int one = cgroup_walk(tree, group->path, remove_dir, NULL);
        if (one == 0 || one == -ENOENT)
            group->trees &= ~(1U << i);
        else if (rc == 0)
            rc = err_set(err, one == -EBUSY ? ERR_BUSY : -one, "remove the group '%s/%s'",
                         tree->parent, group->path);
    }
    return rc;
}

static void close_all(struct cgroup *group)
{
    (void)cgroup_watch(group, NULL, NULL, NULL); /* ending a watch cannot fail */
    own_close_fd(&group->fd);
    own_close_fd(&group->events_fd);
}

static int not_yet(struct cgroup *group)
{
    int64_t pause = group->pause_ns + group->pause_ns / 4;
    if (pause < PAUSE_MIN_NS)
        pause = PAUSE_MIN_NS;
    if (pause > PAUSE_MAX_NS)
        pause = PAUSE_MAX_NS;
    group->pause_ns = pause;
    group->next_ns = clock_mono_ns() + pause;
    return -ERR_BUSY;
}

int cgroup_end(struct cgroup *group, struct cgroup_usage *ret_usage, struct err *err)
{
    const struct cgroup_tree *tree = find_populated(group);
    if (tree) {
        if (clock_mono_ns() >= group->next_ns) {
            cgroup_kill(group);
            if (tree->version == CGROUP_V1) /* it may be in no group that was killed */
                (void)kill_pass(group, tree);
            (void)not_yet(group);
        }
        return err_set(err, ERR_BUSY, "processes of the group '%s' live", group->path);
    }
    struct cgroup_past past = {0};
    if (group->parent)
        past = cgroup_past_read(group);
    if (ret_usage)
        cgroup_usage_read(group, ret_usage);
    int rc = remove_all(group, err);
    if (rc < 0)
        return rc == -ERR_BUSY ? not_yet(group) : rc;
    if (group->parent) {
        group->parent->past.oom_kills += past.oom_kills;
        group->parent->past.pids_refused += past.pids_refused;
    }
    close_all(group);
    return 0;
}

int cgroup_wait_ms(const struct cgroup *group)
{
    int64_t left = group->next_ns - clock_mono_ns();
    return left > 0 ? (int)(left / 1000000) + 1 : 0;
}

int cgroup_end_wait(struct cgroup *group, int timeout_ms, struct cgroup_usage *ret_usage,
                    struct err *err)
{
    int64_t end = clock_mono_ns() + (int64_t)timeout_ms * 1000000;
    for (;;) {
        int rc = cgroup_end(group, ret_usage, err);
        if (rc != -ERR_BUSY)
            return rc;
        int64_t left = (end - clock_mono_ns()) / 1000000;
        if (left <= 0)
            return err_set(err, ERR_TIMEOUT, "the group '%s' is not empty after %d ms", group->path,
                           timeout_ms);
        int wait = cgroup_wait_ms(group);
        struct pollfd events = {.fd = group->events_fd, .events = POLLPRI};
        (void)poll(&events, 1, wait < left ? wait : (int)left); /* looks again in any case */
    }
}
