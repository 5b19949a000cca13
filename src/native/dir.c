/* SPDX-License-Identifier: MIT */
/*
 * The shell's directory, in which runtime and bash meet. The commands of the session can change
 * everything in it, and may have fewer rights than the runtime has. So nothing there is taken for
 * what it was when it was made: no link is followed, and no open waits.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"
#include "base/own.h"
#include "native/priv.h"
#include "sandbox/plan.h"

enum { OPEN_FLAGS = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC };

static int open_kind(int dirfd, const char *name, int flags, mode_t kind)
{
    auto_close int fd = openat(dirfd, name, flags | OPEN_FLAGS);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return -errno;
    return (st.st_mode & S_IFMT) == kind ? take_fd(&fd) : -EINVAL;
}

int native_dir_read(int dirfd, const char *name, size_t max, struct buf *ret)
{
    auto_close int fd = open_kind(dirfd, name, O_RDONLY, S_IFREG);
    return fd < 0 ? fd : io_read_fd(fd, max, ret);
}

int native_dir_fifo(int dirfd, const char *name, int flags)
{
    return open_kind(dirfd, name, flags, S_IFIFO);
}

int shell_give_fd(const struct shell *sh, int fd)
{
    if (sh->owner < 0)
        return 0;
    return fchown(fd, (uid_t)sh->owner, (gid_t)sh->owner_gid) < 0 ? -errno : 0;
}

int shell_make_fifo(struct shell *sh, const char *name, struct err *err)
{
    int rc = mkfifoat(sh->dirfd, name, 0600);
    if (rc < 0 && errno == EEXIST) {
        (void)io_remove_tree(sh->dirfd, name);
        rc = mkfifoat(sh->dirfd, name, 0600);
    }
    if (rc == 0 && sh->owner >= 0)
        rc = fchownat(sh->dirfd, name, (uid_t)sh->owner, (gid_t)sh->owner_gid, AT_SYMLINK_NOFOLLOW);
    return rc < 0 ? err_set(err, errno, "make the pipe '%s/%s'", sh->dir, name) : 0;
}
