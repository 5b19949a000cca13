/* SPDX-License-Identifier: MIT */
#include "base/rundir.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/rand.h"

static const char prefix[] = "rt-";

static bool is_in_memory(const char *path)
{
    struct statfs fs;
    return statfs(path, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

static int make_own(const char *path, struct err *err)
{
    struct stat st;
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return err_set(err, errno, "make the directory '%s'", path);
    if (lstat(path, &st) < 0)
        return err_set(err, errno, "look at the directory '%s'", path);
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
        return err_set(err, ERR_DENIED,
                       "'%s' is not a directory that only this user may write: remove it, or set "
                       "XDG_RUNTIME_DIR",
                       path);
    return 0;
}

int rundir_find(char **ret_path, struct err *err)
{
    const char *xdg = getenv("XDG_RUNTIME_DIR");
    auto_free char *path = NULL;
    if (xdg && *xdg == '/' && is_in_memory(xdg))
        path = xasprintf("%s/nacre", xdg);
    else if (geteuid() == 0 && is_in_memory("/run"))
        path = xstrdup("/run/nacre");
    else if (is_in_memory("/dev/shm") && access("/dev/shm", W_OK) == 0)
        path = xasprintf("/dev/shm/nacre-%u", geteuid());
    else
        path = xasprintf("/tmp/nacre-%u", geteuid());
    int rc = make_own(path, err);
    if (rc == 0)
        *ret_path = take_ptr(path);
    return rc;
}

/* A locked descriptor of the directory, or -errno: -EWOULDBLOCK while its runtime lives. */
static int lock_dir(const char *path)
{
    auto_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
        return -errno;
    return take_fd(&fd);
}

/* Removes the directories whose lock is free. */
static void sweep(const char *base)
{
    DIR *dir = opendir(base);
    if (!dir)
        return;
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        if (strncmp(e->d_name, prefix, sizeof(prefix) - 1) != 0)
            continue;
        auto_free char *path = xasprintf("%s/%s", base, e->d_name);
        auto_close int fd = lock_dir(path);
        if (fd >= 0)
            (void)io_remove_tree(AT_FDCWD, path); /* what cannot be removed stays for the next */
    }
    closedir(dir);
}

/* 1 when it was made, 0 when the name is taken or a sweep came between making and locking. */
static int make_locked(const char *base, struct rundir *ret, struct err *err)
{
    char id[RAND_ID_SIZE];
    struct stat st;
    auto_free char *path = xasprintf("%s/%s%.4s", base, prefix, rand_id(id, sizeof(id), ""));
    if (mkdir(path, 0700) < 0)
        return errno == EEXIST ? 0 : err_set(err, errno, "make the directory '%s'", path);
    auto_close int lock = lock_dir(path);
    if (lock < 0 && lock != -EWOULDBLOCK && lock != -ENOENT)
        return err_set(err, -lock, "lock the directory '%s'", path);
    if (lock < 0 || fstat(lock, &st) < 0 || st.st_nlink == 0)
        return 0;
    ret->path = take_ptr(path);
    ret->lock = take_fd(&lock);
    return 1;
}

int rundir_open(const char *base, struct rundir *ret, struct err *err)
{
    auto_free char *found = NULL;
    int rc = base ? 0 : rundir_find(&found, err);
    if (rc < 0)
        return rc;
    base = base ? base : found;
    assert(base);
    sweep(base);
    do {
        rc = make_locked(base, ret, err);
    } while (rc == 0);
    return rc < 0 ? rc : 0;
}

void rundir_close(struct rundir *dir)
{
    if (!dir->path)
        return;
    (void)io_remove_tree(AT_FDCWD, dir->path); /* nobody is left to tell */
    own_close_fd(&dir->lock);
    free(take_ptr(dir->path));
}
