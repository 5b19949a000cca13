/* SPDX-License-Identifier: MIT */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"
#include "base/rand.h"

enum { READ_STEP = 64 * 1024 };

/* Whether the call that just failed should be made again; waits where it must. */
static bool may_retry(int fd, short events)
{
    if (errno == EINTR)
        return true;
    if (errno != EAGAIN)
        return false;
    struct pollfd wait = {.fd = fd, .events = events};
    return poll(&wait, 1, -1) >= 0 || errno == EINTR;
}

ssize_t io_read_full(int fd, void *data, size_t len)
{
    size_t done = 0;
    while (done < len) {
        ssize_t n = read(fd, (char *)data + done, len - done);
        if (n == 0)
            break;
        if (n > 0)
            done += (size_t)n;
        else if (!may_retry(fd, POLLIN))
            return -errno;
    }
    return (ssize_t)done;
}

int io_write_all(int fd, const void *data, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = write(fd, (const char *)data + done, len - done);
        if (n >= 0)
            done += (size_t)n;
        else if (!may_retry(fd, POLLOUT))
            return -errno;
    }
    return 0;
}

/* Steps over len bytes that have been written; returns the parts that are done with. */
static int advance(struct iovec *iov, int n_iov, size_t len)
{
    int i = 0;
    while (i < n_iov && len >= iov[i].iov_len)
        len -= iov[i++].iov_len;
    if (i < n_iov) {
        iov[i].iov_base = (char *)iov[i].iov_base + len;
        iov[i].iov_len -= len;
    }
    return i;
}

int io_writev_all(int fd, struct iovec *iov, int n_iov)
{
    int first = advance(iov, n_iov, 0); /* empty parts at the start */
    while (first < n_iov) {
        int n_parts = n_iov - first > IOV_MAX ? IOV_MAX : n_iov - first;
        ssize_t n = writev(fd, iov + first, n_parts);
        if (n >= 0)
            first += advance(iov + first, n_iov - first, (size_t)n);
        else if (!may_retry(fd, POLLOUT))
            return -errno;
    }
    return 0;
}

/* Whether there is nothing more to read: 1, or 0, or -errno. */
static int is_at_end(int fd)
{
    char extra;
    ssize_t n = io_read_full(fd, &extra, 1);
    return n < 0 ? (int)n : n == 0;
}

int io_read_fd(int fd, size_t max, struct buf *ret)
{
    size_t before = ret->len;
    size_t room = ret->max - ret->len < max ? ret->max - ret->len : max;

    for (size_t step = READ_STEP; ret->len - before < room; step *= 2) {
        size_t left = room - (ret->len - before);
        size_t len = step < left ? step : left;
        char *at;
        int rc = buf_reserve(ret, len, &at);
        ssize_t n = rc < 0 ? rc : io_read_full(fd, at, len);
        if (n < 0) {
            buf_truncate(ret, before);
            return (int)n;
        }
        buf_commit(ret, (size_t)n);
        if ((size_t)n < len)
            return 0;
    }

    int rc = is_at_end(fd);
    if (rc == 1)
        return 0;
    buf_truncate(ret, before);
    return rc < 0 ? rc : -ERR_LIMIT;
}

int io_read_file(int dirfd, const char *path, size_t max, struct buf *ret, struct err *err)
{
    auto_close int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return err_set(err, errno, "open '%s'", path);

    size_t before = ret->len;
    struct stat st;
    char *at;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && (size_t)st.st_size <= max)
        (void)buf_reserve(ret, (size_t)st.st_size, &at); /* saves growing by steps, no more */

    int rc = io_read_fd(fd, max, ret);
    if (rc == -ERR_LIMIT) {
        size_t room = ret->max - before < max ? ret->max - before : max;
        return err_set(err, ERR_LIMIT, "'%s' is larger than %zu bytes", path, room);
    }
    return rc < 0 ? err_set(err, -rc, "read '%s'", path) : 0;
}

/* Opens the directory that name lies in; *ret_base is the part after it. */
static int open_parent(int dirfd, const char *name, const char **ret_base)
{
    const char *slash = strrchr(name, '/');
    *ret_base = slash ? slash + 1 : name;

    char dir[PATH_MAX] = ".";
    size_t len = slash ? (size_t)(slash - name) : 0;
    if (len >= sizeof(dir))
        return -ENAMETOOLONG;
    if (slash == name)
        len = 1;
    if (len) {
        memcpy(dir, name, len);
        dir[len] = '\0';
    }
    int fd = openat(dirfd, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* Creates the file and puts it on disk. */
static int write_new(int dirfd, const char *name, const void *data, size_t len, mode_t mode)
{
    auto_close int fd =
        openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -errno;
    int rc = io_write_all(fd, data, len);
    if (rc == 0 && (fchmod(fd, mode) < 0 || fsync(fd) < 0))
        rc = -errno;
    return rc;
}

int io_write_file(int dirfd, const char *name, const void *data, size_t len, mode_t mode,
                  struct err *err)
{
    const char *base;
    auto_close int parent = open_parent(dirfd, name, &base);
    if (parent < 0)
        return err_set(err, -parent, "open the directory of '%s'", name);

    char temp[RAND_ID_SIZE];
    rand_id(temp, sizeof(temp), ".tmp-");
    int rc = write_new(parent, temp, data, len, mode);
    if (rc == 0 && renameat(parent, temp, parent, base) < 0)
        rc = -errno;
    if (rc < 0) {
        (void)unlinkat(parent, temp, 0); /* may not be there; the first failure counts */
        return err_set(err, -rc, "write '%s'", name);
    }
    if (fsync(parent) < 0)
        return err_set(err, errno, "write '%s': sync its directory", name);
    return 0;
}

/* Sets or clears one flag among those that the two fcntl commands get and set. */
static int set_flag(int fd, int get, int set, int flag, bool on)
{
    int flags = fcntl(fd, get);
    if (flags < 0)
        return -errno;
    int wanted = on ? flags | flag : flags & ~flag;
    if (wanted != flags && fcntl(fd, set, wanted) < 0)
        return -errno;
    return 0;
}

int io_set_nonblock(int fd, bool on)
{
    return set_flag(fd, F_GETFL, F_SETFL, O_NONBLOCK, on);
}

int io_set_cloexec(int fd, bool on)
{
    return set_flag(fd, F_GETFD, F_SETFD, FD_CLOEXEC, on);
}

int io_memfd(const char *name, const void *data, size_t len)
{
    enum { SEALS = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL };
    auto_close int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -errno;
    int rc = io_write_all(fd, data, len);
    if (rc < 0)
        return rc;
    if (lseek(fd, 0, SEEK_SET) < 0 || fcntl(fd, F_ADD_SEALS, SEALS) < 0)
        return -errno;
    return take_fd(&fd);
}

int io_pipe(int fds[2])
{
    return pipe2(fds, O_CLOEXEC) < 0 ? -errno : 0;
}
