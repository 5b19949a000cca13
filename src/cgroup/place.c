/* SPDX-License-Identifier: MIT */
/*
 * Where in a tree our groups go. A place is tried by doing: "nacre" is made in it and, in version
 * 2, controllers are turned on for it, which fails while the place holds processes.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/own.h"
#include "cgroup/priv.h"

enum { PROCS_MAX = 4096, ANCESTORS_MAX = 256, TRIES = 8 };

static const char leaf_name[] = CGROUP_BASE ".self";

/* The word of each controller that is in a list of version 2. */
static unsigned read_set(const struct cgroup_tree *tree, const char *dir, const char *file)
{
    char text[CGROUP_TEXT_SIZE];
    if (cgroup_file_read(tree, dir, file, text, sizeof(text)) < 0)
        return 0;
    unsigned set = 0;
    for (enum cgroup_controller c = 0; c < CGROUP_CONTROLLER_END; c++) {
        const char *name = cgroup_controller_name(c, CGROUP_V2);
        if (name && cgroup_text_has(text, name))
            set |= CGROUP_BIT(c);
    }
    return set;
}

/* One by one, so that each is had that can be. */
static int switch_set(const struct cgroup_tree *tree, const char *dir, unsigned set, char sign)
{
    int rc = 0;
    for (enum cgroup_controller c = 0; c < CGROUP_CONTROLLER_END; c++) {
        if (!(set & CGROUP_BIT(c)))
            continue;
        int failed = cgroup_file_printf(tree, dir, "cgroup.subtree_control", "%c%s", sign,
                                        cgroup_controller_name(c, CGROUP_V2));
        rc = rc ? rc : failed;
    }
    return rc;
}

/* All groups but the top have a type. */
static bool has_processes_inside(const struct cgroup_tree *tree, const char *dir)
{
    char text[32];
    return cgroup_file_exists(tree, dir, "cgroup.type") &&
           cgroup_file_read(tree, dir, "cgroup.procs", text, sizeof(text)) > 0;
}

unsigned cgroup_enable(struct cgroup_tree *tree, const char *dir, unsigned controllers)
{
    if (tree->version == CGROUP_V1)
        return controllers;
    unsigned on = read_set(tree, dir, "cgroup.subtree_control");
    unsigned missing = controllers & ~on;
    /*
     * With processes inside, the kernel refuses memory and io only. cpu and pids would turn the
     * group into one of threads, in which ours have nothing ("Threads", cgroup-v2.rst).
     */
    int rc =
        missing && has_processes_inside(tree, dir) ? -EBUSY : switch_set(tree, dir, missing, '+');
    if (rc < 0 && !tree->why.code) {
        const char *hint = rc == -EBUSY ? ", which holds processes itself" : "";
        (void)err_set(&tree->why, -rc, "turn controllers on in '%s/%s'%s", tree->parent, dir, hint);
    }
    return read_set(tree, dir, "cgroup.subtree_control") & controllers;
}

static pid_t parent_of(pid_t pid)
{
    char path[32], text[512];
    (void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (len <= 0)
        return 0;
    text[len] = '\0';
    const char *at = strrchr(text, ')'); /* behind the name, which may hold anything */
    return at && strlen(at) > 4 ? (pid_t)strtol(at + 4, NULL, 10) : 0;
}

static bool is_ours(pid_t pid)
{
    for (int i = 0; i < ANCESTORS_MAX && pid > 0; i++) {
        if (pid == getpid())
            return true;
        pid = parent_of(pid);
    }
    return false;
}

/* Moves what runs in `from` to `to`: ourselves and our children, or nobody. */
static int move_all(const struct cgroup_tree *tree, const char *from, const char *to)
{
    auto_free char *text = xmalloc(PROCS_MAX);
    ssize_t len = cgroup_file_read(tree, from, "cgroup.procs", text, PROCS_MAX);
    if (len < 0 || len == PROCS_MAX - 1)
        return len < 0 ? (int)len : -E2BIG;
    char *end;
    for (char *at = text; *at; at = end + 1) {
        if (!is_ours((pid_t)strtol(at, &end, 10)))
            return -EBUSY;
    }
    for (char *at = text; *at; at = end + 1) {
        int rc = cgroup_file_printf(tree, to, "cgroup.procs", "%ld", strtol(at, &end, 10));
        if (rc < 0 && rc != -ESRCH)
            return rc;
    }
    return 0;
}

static bool move_out(struct cgroup_tree *tree)
{
    if (mkdirat(tree->fd, leaf_name, 0755) < 0 && errno != EEXIST)
        return false;
    if (move_all(tree, ".", leaf_name) < 0) {
        (void)unlinkat(tree->fd, leaf_name, AT_REMOVEDIR); /* stays if it is in use */
        return false;
    }
    tree->leaf = xstrdup(leaf_name);
    return true;
}

void cgroup_place_leave(struct cgroup_tree *tree)
{
    if (tree->fd < 0)
        return;
    bool removed = unlinkat(tree->fd, CGROUP_BASE, AT_REMOVEDIR) == 0;
    if (!removed || !tree->leaf)
        return;
    /* Best effort: it fails where others have made groups here by now. */
    if (switch_set(tree, ".", tree->enabled, '-') == 0 && move_all(tree, tree->leaf, ".") == 0)
        (void)unlinkat(tree->fd, tree->leaf, AT_REMOVEDIR);
}

/* Leaves a place that was tried, for the next. */
static void drop(struct cgroup_tree *tree)
{
    cgroup_place_leave(tree);
    own_close_fd(&tree->fd);
    free(take_ptr(tree->parent));
    free(take_ptr(tree->leaf));
    tree->usable = tree->enabled = 0;
}

static void enable_place(struct cgroup_tree *tree, const struct cgroup_settings *settings)
{
    unsigned available = read_set(tree, ".", "cgroup.controllers");
    unsigned before = read_set(tree, ".", "cgroup.subtree_control");
    unsigned got = cgroup_enable(tree, ".", available);
    if (got != available && tree->why.code == EBUSY && settings->may_move && move_out(tree)) {
        err_clear(&tree->why);
        got = cgroup_enable(tree, ".", available);
    }
    tree->enabled |= got & ~before;
    tree->usable = cgroup_enable(tree, CGROUP_BASE, got);
    if (tree->usable != tree->controllers && !tree->why.code)
        (void)err_set(&tree->why, ERR_UNSUPPORTED, "the groups around '%s' do not hand it down",
                      tree->parent);
}

static int make_base(struct cgroup_tree *tree)
{
    if (mkdirat(tree->fd, CGROUP_BASE, 0755) < 0 && errno != EEXIST)
        return -errno;
    return faccessat(tree->fd, CGROUP_BASE, W_OK, AT_EACCESS) < 0 ? -errno : 0;
}

static void set_up(struct cgroup_tree *tree, const struct cgroup_settings *settings)
{
    err_clear(&tree->why);
    if (tree->version == CGROUP_V2) {
        enable_place(tree, settings);
        return;
    }
    tree->usable = tree->controllers;
    if (tree->controllers & CGROUP_BIT(CGROUP_MEMORY)) /* before 5.11 it is not for granted */
        (void)cgroup_file_write(tree, CGROUP_BASE, "memory.use_hierarchy", "1");
}

/*
 * 0 if groups can be made in dir; tree->usable says with which controllers. Another runtime may
 * remove "nacre" meanwhile, as its last user: then all is done again.
 */
static int try_place(struct cgroup_tree *tree, const char *dir,
                     const struct cgroup_settings *settings)
{
    tree->parent = xstrdup(dir);
    tree->fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = tree->fd < 0 ? -errno : -ENOENT;
    for (int i = 0; i < TRIES && tree->fd >= 0 && rc == -ENOENT; i++) {
        rc = make_base(tree);
        if (rc < 0)
            continue;
        set_up(tree, settings);
        rc = faccessat(tree->fd, CGROUP_BASE, F_OK, 0) < 0 ? -errno : 0;
    }
    if (rc == 0)
        return 0;
    (void)err_set(&tree->why, -rc, "make the group '%s/" CGROUP_BASE "'", dir);
    own_close_fd(&tree->fd);
    free(take_ptr(tree->parent));
    tree->usable = 0;
    return rc;
}

/* Whether systemd has left this group to us (Delegate=). */
static bool is_delegated(const char *dir)
{
    char value[2];
    return getxattr(dir, "trusted.delegate", value, sizeof(value)) > 0 ||
           getxattr(dir, "user.delegate", value, sizeof(value)) > 0;
}

/*
 * The places of a tree, the best first. With systemd's DelegateSubgroup= we are in a leaf below
 * what is delegated.
 */
static size_t list_places(const struct cgroup_tree *tree, char *places[3])
{
    size_t n = 0;
    if (tree->own && strcmp(tree->own, tree->mount) != 0) {
        char *above = xstrndup(tree->own, (size_t)(strrchr(tree->own, '/') - tree->own));
        if (tree->version == CGROUP_V2 && !is_delegated(tree->own) && is_delegated(above))
            places[n++] = take_ptr(above);
        free(above);
        places[n++] = xstrdup(tree->own);
    }
    places[n++] = xstrdup(tree->mount);
    return n;
}

void cgroup_place_find(struct cgroup_tree *tree, const struct cgroup_settings *settings)
{
    if (tree->version == CGROUP_NONE)
        return;
    if (tree->version == CGROUP_V2) { /* the top has them all */
        tree->fd = open(tree->mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        tree->controllers = read_set(tree, ".", "cgroup.controllers");
        own_close_fd(&tree->fd);
    }
    char *places[3];
    size_t n = list_places(tree, places);
    size_t best = n;
    unsigned most = 0;
    struct err why = {0}; /* of the first place: the one that should have done */
    for (size_t i = 0; i < n; i++) {
        err_clear(&tree->why);
        int rc = try_place(tree, places[i], settings);
        if (!why.code)
            why = tree->why;
        if (rc < 0)
            continue;
        unsigned got = (unsigned)__builtin_popcount(tree->usable);
        if (best == n || got > most) {
            best = i;
            most = got;
        }
        if (tree->usable == tree->controllers)
            break;
        if (i + 1 < n || best != i)
            drop(tree);
    }
    if (tree->fd < 0 && best < n)
        (void)try_place(tree, places[best], settings);
    tree->why = tree->fd >= 0 && tree->usable == tree->controllers ? (struct err){0} : why;
    for (size_t i = 0; i < n; i++)
        free(places[i]);
}
