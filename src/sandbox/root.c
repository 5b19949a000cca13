/* SPDX-License-Identifier: MIT */
#include "sandbox/root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/own.h"
#include "sandbox/space.h"

enum {
    FRAME_INODES = 4096, /* of the root and of /dev: only directories and places for mounts */
    SHM_SIZE = 64 << 20, /* of /dev/shm where the plan does not say */
};

#define FRAME_SIZE "1m"

/* ---- mounts that are attached nowhere ---- */

static int set_attributes(int fd, uint64_t attributes, unsigned flags, struct err *err,
                          const char *what)
{
    struct mount_attr attr = {.attr_set = attributes};
    if (mount_setattr(fd, "", AT_EMPTY_PATH | flags, &attr, sizeof(attr)) < 0)
        return err_set(err, errno, "set the attributes of the mount of '%s'", what);
    return 0;
}

/* A new file system; options are pairs of name and value, and a NULL. Attributes: MOUNT_ATTR_… */
static int make_fs(const char *type, const char *const *options, unsigned attributes,
                   struct err *err)
{
    auto_close int fs = fsopen(type, FSOPEN_CLOEXEC);
    if (fs < 0)
        return err_set(err, errno, "open a file system of type %s", type);
    for (; *options; options += 2)
        if (fsconfig(fs, FSCONFIG_SET_STRING, options[0], options[1], 0) < 0)
            return err_set(err, errno, "set %s=%s of a %s", options[0], options[1], type);
    if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
        return err_set(err, errno, "make a %s", type);
    int fd = fsmount(fs, FSMOUNT_CLOEXEC, attributes);
    return fd < 0 ? err_set(err, errno, "mount a %s", type) : fd;
}

static int make_tmpfs(uint64_t size, uint32_t inodes, unsigned mode, unsigned attributes,
                      struct err *err)
{
    char size_text[24], inodes_text[16], mode_text[8];
    (void)snprintf(size_text, sizeof(size_text), "%llu", (unsigned long long)size);
    (void)snprintf(inodes_text, sizeof(inodes_text), "%u", inodes);
    (void)snprintf(mode_text, sizeof(mode_text), "%o", mode & 07777);
    const char *options[] = {"mode",      mode_text,   "size", size_text,
                             "nr_inodes", inodes_text, NULL}; /* 0: no limit */
    return make_fs("tmpfs", options, attributes, err);
}

static unsigned attributes_of(const struct sandbox_mount *mount)
{
    unsigned attributes = MOUNT_ATTR_NOSUID;
    if (!(mount->flags & SANDBOX_DEVICES))
        attributes |= MOUNT_ATTR_NODEV;
    if (mount->flags & SANDBOX_READ_ONLY)
        attributes |= MOUNT_ATTR_RDONLY;
    if (mount->flags & SANDBOX_NO_EXEC)
        attributes |= MOUNT_ATTR_NOEXEC;
    return attributes;
}

/* ---- sources ---- */

static int map_owner(const struct sandbox_plan *plan, const struct sandbox_mount *mount, int fd,
                     struct err *err)
{
    const char *source = sandbox_plan_text(plan, mount->source);
    int userns = sandbox_space_owner_map(plan, mount->owner, mount->owner_gid, err);
    if (userns < 0)
        return userns;
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (unsigned)userns};
    if (mount_setattr(fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) == 0)
        return 0;
    /* A file system below that cannot do it stays as it is: its files are somebody else's. */
    if (mount_setattr(fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)) == 0)
        return 0;
    return err_set(err, errno, "map the owner of '%s'", source);
}

static int open_source(const struct sandbox_plan *plan, const struct sandbox_mount *mount,
                       struct err *err)
{
    const char *source = sandbox_plan_text(plan, mount->source);
    auto_close int fd =
        open_tree(AT_FDCWD, source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    if (fd < 0) {
        bool missing = errno == ENOENT || errno == ENOTDIR;
        if (missing && mount->flags & SANDBOX_OPTIONAL)
            return -ENOENT;
        return err_set(err, errno, "bind '%s'", source);
    }
    int rc = set_attributes(fd, attributes_of(mount), AT_RECURSIVE, err, source);
    if (rc == 0 && mount->flags & SANDBOX_OWNED && sandbox_space_is_privileged(plan))
        rc = map_owner(plan, mount, fd, err);
    return rc < 0 ? rc : take_fd(&fd);
}

static void forget(struct sandbox_trees *trees)
{
    for (size_t i = 0; i < SANDBOX_MOUNTS; i++)
        trees->fds[i] = -1;
}

int sandbox_trees_open(const struct sandbox_plan *plan, struct sandbox_trees *ret_trees,
                       struct err *err)
{
    forget(ret_trees);
    for (uint32_t i = 0; i < plan->n_mounts; i++) {
        const struct sandbox_mount *mount = &plan->mounts[i];
        if (mount->type != SANDBOX_BIND)
            continue;
        int fd = open_source(plan, mount, err);
        if (fd == -ENOENT && mount->flags & SANDBOX_OPTIONAL)
            continue;
        if (fd < 0) {
            sandbox_trees_close(ret_trees);
            return fd;
        }
        ret_trees->fds[i] = fd;
    }
    return 0;
}

void sandbox_trees_close(struct sandbox_trees *trees)
{
    for (size_t i = 0; i < SANDBOX_MOUNTS; i++)
        own_close_fd(&trees->fds[i]);
}

/* ---- places ---- */

struct root {
    int fd;
    dev_t frame[8]; /* the file systems that we made, in which places can be made */
    size_t n_frames;
};

static void add_frame(struct root *root, int fd)
{
    struct stat st;
    if (root->n_frames < sizeof(root->frame) / sizeof(root->frame[0]) && fstat(fd, &st) == 0)
        root->frame[root->n_frames++] = st.st_dev;
}

static bool is_in_frame(const struct root *root, int fd)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return false;
    for (size_t i = 0; i < root->n_frames; i++)
        if (root->frame[i] == st.st_dev)
            return true;
    return false;
}

/*
 * Opens name in dir, O_PATH. What is not there is made if that is a place of ours: a directory, or
 * an empty file.
 */
static int open_part(const struct root *root, int dir, const char *name, bool is_dir, bool make)
{
    int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC | (is_dir ? O_DIRECTORY : 0);
    int fd = openat(dir, name, flags);
    if (fd >= 0 || errno != ENOENT || !make || !is_in_frame(root, dir))
        return fd < 0 ? -errno : fd;
    if (is_dir) {
        if (mkdirat(dir, name, 0755) < 0)
            return -errno;
    } else {
        int file = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (file < 0)
            return -errno;
        (void)close(file);
    }
    fd = openat(dir, name, flags);
    return fd < 0 ? -errno : fd;
}

/* Opens the directory of path, and gives its last part. */
static int open_parent(const struct root *root, const char *path, bool make,
                       char ret_name[NAME_MAX + 1])
{
    auto_close int dir = fcntl(root->fd, F_DUPFD_CLOEXEC, 0);
    if (dir < 0)
        return -errno;
    for (;;) {
        size_t len = strcspn(++path, "/");
        if (len > NAME_MAX)
            return -ENAMETOOLONG;
        memcpy(ret_name, path, len);
        ret_name[len] = '\0';
        path += len;
        if (*path == '\0')
            return take_fd(&dir);
        int next = open_part(root, dir, ret_name, true, make);
        if (next < 0)
            return next;
        (void)close(dir);
        dir = next;
    }
}

static int open_place(const struct root *root, const char *path, bool is_dir, bool make,
                      struct err *err)
{
    char name[NAME_MAX + 1];
    auto_close int dir = open_parent(root, path, make, name);
    if (dir < 0)
        return err_set(err, -dir, "find the place '%s' of a mount", path);
    int fd = open_part(root, dir, name, is_dir, make);
    return fd < 0 ? err_set(err, -fd, "find the place '%s' of a mount", path) : fd;
}

static int attach(int tree, int place, const char *path, struct err *err)
{
    if (move_mount(tree, "", place, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
        return err_set(err, errno, "mount on '%s'", path);
    return 0;
}

static int attach_at(const struct root *root, int tree, const char *path, struct err *err)
{
    struct stat st;
    if (fstat(tree, &st) < 0)
        return err_set(err, errno, "look at what comes to '%s'", path);
    auto_close int place = open_place(root, path, S_ISDIR(st.st_mode), true, err);
    return place < 0 ? place : attach(tree, place, path, err);
}

/* ---- kinds of mounts ---- */

static int mount_tmpfs(struct root *root, const struct sandbox_mount *mount, const char *target,
                       struct err *err)
{
    auto_close int fd =
        make_tmpfs(mount->size, mount->inodes, mount->mode, attributes_of(mount), err);
    if (fd < 0)
        return fd;
    int rc = attach_at(root, fd, target, err);
    if (rc == 0)
        add_frame(root, fd);
    return rc;
}

static int cover_in(const struct root *root, const char *path, struct err *err)
{
    char name[NAME_MAX + 1];
    auto_close int dir = open_parent(root, path, false, name);
    if (dir < 0)
        return 0; /* it is not there, so there is nothing to hide */
    auto_close int place = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    if (place < 0 || fstat(place, &st) < 0 || S_ISLNK(st.st_mode))
        return 0; /* what a link leads to is reached by its own name, or not at all */
    if (S_ISDIR(st.st_mode)) {
        auto_close int fd = make_tmpfs(4096, 1, 0555, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC, err);
        return fd < 0 ? fd : attach(fd, place, path, err);
    }
    auto_close int fd = open_tree(AT_FDCWD, "/dev/null", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (fd < 0)
        return err_set(err, errno, "bind '/dev/null'");
    int rc = set_attributes(fd, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC, 0, err, path);
    return rc < 0 ? rc : attach(fd, place, path, err);
}

static int make_read_only(int proc, const char *name, const struct root *root, const char *target,
                          struct err *err)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof(path), "%s/%s", target, name);
    auto_close int fd = open_tree(proc, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : err_set(err, errno, "bind '%s'", path);
    int rc = set_attributes(fd, MOUNT_ATTR_RDONLY, 0, err, path);
    return rc < 0 ? rc : attach_at(root, fd, path, err);
}

static int mount_proc(struct root *root, const char *target, struct err *err)
{
    static const char *const none[] = {NULL};
    static const char *const read_only[] = {"sys", "irq", "bus", "fs"};
    static const char *const hidden[] = {"sysrq-trigger", "kcore",       "kmsg", "keys",
                                         "timer_list",    "sched_debug", "scsi", "acpi"};
    auto_close int fd =
        make_fs("proc", none, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, err);
    if (fd < 0)
        return fd;
    int rc = attach_at(root, fd, target, err);
    for (size_t i = 0; rc == 0 && i < sizeof(read_only) / sizeof(read_only[0]); i++)
        rc = make_read_only(fd, read_only[i], root, target, err);
    for (size_t i = 0; rc == 0 && i < sizeof(hidden) / sizeof(hidden[0]); i++) {
        char path[PATH_MAX];
        (void)snprintf(path, sizeof(path), "%s/%s", target, hidden[i]);
        rc = cover_in(root, path, err);
    }
    return rc;
}

static int bind_device(const struct root *root, const char *target, const char *name,
                       struct err *err)
{
    char from[64], to[PATH_MAX];
    (void)snprintf(from, sizeof(from), "/dev/%s", name);
    (void)snprintf(to, sizeof(to), "%s/%s", target, name);
    auto_close int fd = open_tree(AT_FDCWD, from, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (fd < 0)
        return err_set(err, errno, "bind '%s'", from);
    int rc = set_attributes(fd, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, 0, err, from);
    return rc < 0 ? rc : attach_at(root, fd, to, err);
}

static int mount_dev(struct root *root, const struct sandbox_mount *mount, const char *target,
                     struct err *err)
{
    static const char *const devices[] = {"null", "zero", "full", "random", "urandom", "tty"};
    static const char *const links[][2] = {
        {"/proc/self/fd",   "fd"    },
        {"/proc/self/fd/0", "stdin" },
        {"/proc/self/fd/1", "stdout"},
        {"/proc/self/fd/2", "stderr"},
        {"pts/ptmx",        "ptmx"  },
    };
    static const char *const pts_options[] = {"ptmxmode", "0666", "mode", "0620", NULL};

    auto_close int dev = make_tmpfs(64 << 10, FRAME_INODES, 0755, MOUNT_ATTR_NOSUID, err);
    if (dev < 0)
        return dev;
    int rc = attach_at(root, dev, target, err);
    if (rc < 0)
        return rc;
    add_frame(root, dev);
    for (size_t i = 0; rc == 0 && i < sizeof(devices) / sizeof(devices[0]); i++)
        rc = bind_device(root, target, devices[i], err);
    for (size_t i = 0; rc == 0 && i < sizeof(links) / sizeof(links[0]); i++)
        if (symlinkat(links[i][0], dev, links[i][1]) < 0)
            rc = err_set(err, errno, "make '%s/%s'", target, links[i][1]);
    if (rc < 0)
        return rc;

    char path[PATH_MAX];
    (void)snprintf(path, sizeof(path), "%s/pts", target);
    auto_close int pts = make_fs("devpts", pts_options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, err);
    rc = pts < 0 ? pts : attach_at(root, pts, path, err);
    if (rc < 0)
        return rc;
    (void)snprintf(path, sizeof(path), "%s/shm", target);
    auto_close int shm = make_tmpfs(mount->size ? mount->size : SHM_SIZE, mount->inodes, 01777,
                                    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, err);
    rc = shm < 0 ? shm : attach_at(root, shm, path, err);
    if (rc == 0)
        add_frame(root, shm);
    return rc < 0 ? rc : set_attributes(dev, MOUNT_ATTR_RDONLY, 0, err, target);
}

/* The directory that something of the plan is to be made in, which has to be ours. */
static int open_frame(const struct root *root, const char *target, char ret_name[NAME_MAX + 1],
                      struct err *err)
{
    auto_close int dir = open_parent(root, target, true, ret_name);
    if (dir < 0)
        return err_set(err, -dir, "find the place '%s'", target);
    if (!is_in_frame(root, dir))
        return err_set(err, EROFS, "make '%s' in a tree that is not the sandbox's", target);
    return take_fd(&dir);
}

static int make_dir(const struct root *root, const struct sandbox_mount *mount, const char *target,
                    struct err *err)
{
    char name[NAME_MAX + 1];
    auto_close int dir = open_frame(root, target, name, err);
    if (dir < 0)
        return dir;
    if (mkdirat(dir, name, mount->mode & 07777) < 0)
        return err_set(err, errno, "make '%s'", target);
    return 0;
}

static int make_symlink(const struct root *root, const char *source, const char *target,
                        struct err *err)
{
    char name[NAME_MAX + 1];
    auto_close int dir = open_frame(root, target, name, err);
    if (dir < 0)
        return dir;
    if (symlinkat(source, dir, name) < 0)
        return err_set(err, errno, "make '%s'", target);
    return 0;
}

static int make_mount(struct root *root, const struct sandbox_plan *plan,
                      const struct sandbox_mount *mount, int tree, struct err *err)
{
    const char *target = sandbox_plan_text(plan, mount->target);
    switch ((enum sandbox_mount_type)mount->type) {
    case SANDBOX_BIND:
        return tree < 0 ? 0 : attach_at(root, tree, target, err);
    case SANDBOX_TMPFS:
        return mount_tmpfs(root, mount, target, err);
    case SANDBOX_PROC:
        return mount_proc(root, target, err);
    case SANDBOX_DEV:
        return mount_dev(root, mount, target, err);
    case SANDBOX_DIR:
        return make_dir(root, mount, target, err);
    case SANDBOX_SYMLINK:
        return make_symlink(root, sandbox_plan_text(plan, mount->source), target, err);
    case SANDBOX_MASK:
        return cover_in(root, target, err);
    }
    return err_set(err, EINVAL, "mount of an unknown kind on '%s'", target);
}

/* ---- the whole ---- */

/* On top of the old root, where it is out of every path's way until it takes that one's place. */
static int start_root(struct root *root, struct err *err)
{
    static const char *const options[] = {"mode", "0755", "size", FRAME_SIZE, NULL};
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return err_set(err, errno, "keep mounts from being told outside");
    root->fd = make_fs("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, err);
    if (root->fd < 0)
        return root->fd;
    add_frame(root, root->fd);
    if (move_mount(root->fd, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) < 0)
        return err_set(err, errno, "mount the new root");
    return 0;
}

static int enter(const struct root *root, struct err *err)
{
    int rc = set_attributes(root->fd, MOUNT_ATTR_RDONLY, 0, err, "/");
    if (rc < 0)
        return rc;
    if (fchdir(root->fd) < 0)
        return err_set(err, errno, "enter the new root");
    if (syscall(SYS_pivot_root, ".", ".") < 0)
        return err_set(err, errno, "change the root");
    if (umount2(".", MNT_DETACH) < 0)
        return err_set(err, errno, "leave the old root");
    if (chdir("/") < 0)
        return err_set(err, errno, "enter '/'");
    return 0;
}

int sandbox_root_enter(const struct sandbox_plan *plan, struct sandbox_trees *trees,
                       struct err *err)
{
    struct root root = {.fd = -1};
    mode_t mask = umask(0);
    int rc = start_root(&root, err);
    for (uint32_t i = 0; rc == 0 && i < plan->n_mounts; i++)
        rc = make_mount(&root, plan, &plan->mounts[i], trees->fds[i], err);
    if (rc == 0)
        rc = enter(&root, err);
    (void)umask(mask);
    own_close_fd(&root.fd);
    sandbox_trees_close(trees);
    return rc;
}
