/* SPDX-License-Identifier: MIT */
/* A system, an instance of its own, and processes in groups; what crashed before is swept. */
#ifndef TESTS_UNIT_CGROUP_UTIL_H
#define TESTS_UNIT_CGROUP_UTIL_H

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "cgroup/group.h"
#include "cgroup/system.h"
#include "cgroup/usage.h"
#include "lib/test.h"

enum { END_MS = 20000 };

struct world {
    struct cgroup_system *system;
    struct cgroup *instance;
    char name[64];
};

/* In the rig: its kernel takes 100 times as long for a fork, or a page. */
static inline bool is_slow(void)
{
    return getenv("NACRE_RIG") != NULL;
}

/* Names of others are not ours to judge. */
static inline bool world_is_alive(const char *name, void *ctx)
{
    (void)ctx;
    static const char prefix[] = "test-";
    if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
        return true;
    long pid = strtol(name + sizeof(prefix) - 1, NULL, 10);
    return pid <= 0 || kill((pid_t)pid, 0) == 0;
}

static inline void world_open(struct world *w)
{
    CHECK_INT(cgroup_system_open(NULL, &w->system, NULL), 0);
    bool usable = false;
    for (size_t i = 0; i < w->system->n_trees; i++)
        usable |= w->system->trees[i].fd >= 0;
    if (!usable) {
        struct cgroup_system *system = w->system;
        static char why[512];
        (void)snprintf(why, sizeof(why), "%s", cgroup_system_why(system, CGROUP_MEMORY));
        cgroup_system_free(system);
        SKIP("no control groups: %s", why);
    }
    CHECK(cgroup_sweep(w->system, world_is_alive, NULL, END_MS, NULL) >= 0);
    (void)snprintf(w->name, sizeof(w->name), "test-%d", getpid());
}

static inline void world_begin(struct world *w)
{
    struct err err = {0};
    if (cgroup_instance_open(w->system, w->name, &w->instance, &err) < 0)
        FAIL("%s", err.text);
}

static inline void world_close(struct world *w)
{
    struct err err = {0};
    if (w->instance && cgroup_end_wait(w->instance, END_MS, NULL, &err) < 0)
        FAIL("%s", err.text);
    cgroup_free(w->instance);
    cgroup_system_free(w->system);
}

/* As where there is no version 2 tree. */
static inline void world_hide_v2(struct world *w)
{
    struct cgroup_tree *v2 = &w->system->trees[0];
    if (v2->fd < 0)
        return;
    (void)unlinkat(v2->fd, "nacre", AT_REMOVEDIR); /* others may be in it */
    own_close_fd(&v2->fd);
    v2->usable = 0;
    w->system->has_kill = false;
}

static inline void world_need(struct world *w, enum cgroup_controller controller)
{
    if (cgroup_system_version(w->system, controller) != CGROUP_NONE)
        return;
    static char why[512];
    (void)snprintf(why, sizeof(why), "%s", cgroup_system_why(w->system, controller));
    world_close(w);
    SKIP("no %s controller: %s", cgroup_controller_name(controller, CGROUP_V1), why);
}

static inline struct cgroup *make_group(struct cgroup *parent, const struct cgroup_options *options)
{
    struct err err = {0};
    struct cgroup *group;
    if (cgroup_create(parent, options, &group, &err) < 0)
        FAIL("%s", err.text);
    return group;
}

static inline void end_group(struct cgroup *group, struct cgroup_usage *ret_usage)
{
    struct err err = {0};
    if (cgroup_end_wait(group, END_MS, ret_usage, &err) < 0)
        FAIL("%s", err.text);
    cgroup_free(group);
}

/* A child that runs fn in the group, and nothing before it is in there. */
static inline pid_t start_in(struct cgroup *group, int (*fn)(void))
{
    int gate[2];
    CHECK_INT(pipe2(gate, O_CLOEXEC), 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        char byte;
        (void)close(gate[1]);
        _exit(read(gate[0], &byte, 1) == 0 ? fn() : 99);
    }
    struct err err = {0};
    if (cgroup_attach(group, pid, &err) < 0)
        FAIL("%s", err.text);
    (void)close(gate[0]);
    (void)close(gate[1]);
    return pid;
}

static inline int wait_for(pid_t pid)
{
    int status;
    CHECK_INT(waitpid(pid, &status, 0), pid);
    return status;
}

static inline int run_in(struct cgroup *group, int (*fn)(void))
{
    return wait_for(start_in(group, fn));
}

#endif
