/* SPDX-License-Identifier: MIT */
/*
 * Makes and removes directories with all above or below them.
 *
 * Removal keeps only the current directory open, whatever the depth, and goes back up
 * by ".."; the inode it must arrive at was noted on the way down, so that a directory
 * which somebody moves in the meantime does not lead it out of the tree.
 */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/own.h"

enum { OPEN_DIR = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK };

/* A directory on the way from the top to the current one. */
struct level {
    struct level *up;
    dev_t dev; /* of the directory that holds this one */
    ino_t ino;
    char name[]; /* in it */
};

static void close_dir(DIR *dir)
{
    if (dir)
        (void)closedir(dir); /* was read only */
}
DEFINE_AUTO(DIR *, close_dir)

/* Gives the owner all rights on a directory, through a descriptor that needs none. */
static int open_up(int dirfd, const char *name)
{
    auto_close int fd = openat(dirfd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    char link[64];
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    return chmod(link, S_IRWXU) < 0 ? -errno : 0;
}

/* NULL on failure, with errno. */
static DIR *open_dir(int dirfd, const char *name)
{
    auto_close int fd = openat(dirfd, name, OPEN_DIR);
    if (fd < 0 && errno == EACCES && open_up(dirfd, name) == 0)
        fd = openat(dirfd, name, OPEN_DIR);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (dir)
        (void)take_fd(&fd); /* belongs to dir now */
    return dir;
}

/* unlinkat() that opens up the directory dirfd where that is what is missing. */
static int unlink_in(int dirfd, const char *name, int flags)
{
    if (unlinkat(dirfd, name, flags) == 0 || errno == ENOENT)
        return 0;
    if (errno != EACCES)
        return -errno;
    if (fchmod(dirfd, S_IRWXU) < 0)
        return -EACCES;
    return unlinkat(dirfd, name, flags) == 0 || errno == ENOENT ? 0 : -errno;
}

/*
 * Unlinks what is no directory. 1 and a name as soon as there is a directory to go
 * into, 0 if nothing is left.
 */
static int empty_dir(DIR *dir, char ret_sub[NAME_MAX + 1])
{
    bool found = true;
    while (found) {
        found = false;
        rewinddir(dir); /* what was unlinked may have made the walk skip others */
        for (errno = 0;; errno = 0) {
            const struct dirent *entry = readdir(dir);
            if (!entry && errno)
                return -errno;
            if (!entry)
                break;
            if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
                continue;
            found = true;
            int rc = entry->d_type == DT_DIR ? -EISDIR : unlink_in(dirfd(dir), entry->d_name, 0);
            if (rc == -EISDIR) {
                (void)snprintf(ret_sub, NAME_MAX + 1, "%s", entry->d_name);
                return 1;
            }
            if (rc < 0)
                return rc;
        }
    }
    return 0;
}

/* Makes name, in *dir, the current directory. */
static int go_down(DIR **dir, const char *name, struct level **top)
{
    struct stat here;
    if (fstat(dirfd(*dir), &here) < 0)
        return -errno;
    DIR *sub = open_dir(dirfd(*dir), name);
    if (!sub)
        return -errno;

    size_t size = strlen(name) + 1;
    struct level *level = xmalloc(sizeof(*level) + size);
    *level = (struct level){.up = *top, .dev = here.st_dev, .ino = here.st_ino};
    memcpy(level->name, name, size);
    *top = level;
    close_dir(*dir);
    *dir = sub;
    return 0;
}

/* Goes back to the directory above and removes the one that was left. */
static int go_up(DIR **dir, struct level **top)
{
    struct level *level = *top;
    struct stat there;
    assert(level);
    AUTO(close_dir) DIR *up = open_dir(dirfd(*dir), "..");
    if (!up)
        return -errno;
    if (fstat(dirfd(up), &there) < 0)
        return -errno;
    if (there.st_dev != level->dev || there.st_ino != level->ino)
        return -ESTALE;
    int rc = unlink_in(dirfd(up), level->name, AT_REMOVEDIR);
    if (rc < 0)
        return rc;

    close_dir(*dir);
    *dir = take_ptr(up);
    *top = level->up;
    free(level);
    return 0;
}

static int remove_content(DIR **dir, struct level **top)
{
    char sub[NAME_MAX + 1];
    for (;;) {
        int rc = empty_dir(*dir, sub);
        if (rc < 0 || (rc == 0 && !*top))
            return rc;
        bool down = rc == 1;
        rc = down ? go_down(dir, sub, top) : go_up(dir, top);
        if (rc < 0 && !(down && rc == -ENOENT)) /* somebody else removed it: look again */
            return rc;
    }
}

int io_remove_tree(int dirfd, const char *name)
{
    if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR)
        return -errno;

    DIR *dir = open_dir(dirfd, name);
    if (!dir)
        return errno == ENOENT ? 0 : -errno;

    struct level *top = NULL;
    int rc = remove_content(&dir, &top);
    close_dir(dir);
    while (top) {
        struct level *up = top->up;
        free(top);
        top = up;
    }
    if (rc < 0)
        return rc;
    return unlinkat(dirfd, name, AT_REMOVEDIR) == 0 || errno == ENOENT ? 0 : -errno;
}

int io_mkdir_p(const char *path, mode_t mode, struct err *err)
{
    char part[PATH_MAX];
    size_t len = strlen(path);
    if (len == 0)
        return err_set(err, ENOENT, "create the directory ''");
    if (len >= sizeof(part))
        return err_set(err, ENAMETOOLONG, "create the directory '%.64s...'", path);
    memcpy(part, path, len + 1);

    for (size_t at = 1; at <= len; at++) {
        if (part[at] != '/' && part[at] != '\0')
            continue;
        part[at] = '\0';
        if (mkdir(part, mode) < 0 && errno != EEXIST)
            return err_set(err, errno, "create the directory '%s'", part);
        part[at] = path[at];
    }

    struct stat st;
    if (stat(path, &st) < 0)
        return err_set(err, errno, "create the directory '%s'", path);
    return S_ISDIR(st.st_mode) ? 0 : err_set(err, ENOTDIR, "create the directory '%s'", path);
}
