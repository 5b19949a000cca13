/* SPDX-License-Identifier: MIT */
/*
 * base/io - whole reads and writes, whole files, trees.
 *
 * The calls go on after EINTR and short transfers, and wait (poll) where a
 * non-blocking descriptor would have to. They raise SIGPIPE like write(2):
 * programs ignore it. Descriptors are close-on-exec from birth.
 */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct buf;
struct err;
struct iovec;

/* Reads until len bytes are there or the end is reached: bytes read, or -errno. */
ssize_t io_read_full(int fd, void *data, size_t len);

/* Writes all of it: 0 or -errno. */
int io_write_all(int fd, const void *data, size_t len);

/* Writes all parts in order: 0 or -errno. Changes iov. */
int io_writev_all(int fd, struct iovec *iov, int n_iov);

/* Appends what can be read up to the end to ret; more than max bytes: -ERR_LIMIT. */
int io_read_fd(int fd, size_t max, struct buf *ret);

/*
 * Appends the file's content to ret (on failure ret is as before). More than max
 * bytes, or than ret may hold: -ERR_LIMIT. dirfd may be AT_FDCWD.
 */
int io_read_file(int dirfd, const char *path, size_t max, struct buf *ret, struct err *err);

/*
 * Makes the file hold exactly data: written under another name in the same
 * directory, put on disk, renamed over name. A reader, or a crash, sees the old
 * or the new content, never a part. A symlink is replaced, not followed.
 */
int io_write_file(int dirfd, const char *name, const void *data, size_t len, mode_t mode,
                  struct err *err);

int io_set_nonblock(int fd, bool on);
int io_set_cloexec(int fd, bool on);

/* Creates the directory and its missing parents with this mode (less the umask). */
int io_mkdir_p(const char *path, mode_t mode, struct err *err);

/*
 * Removes name, a file or a directory with all it holds, and never follows a
 * symlink or leaves by "..". Directories without permissions are opened up if
 * they are ours. Any depth; three descriptors at a time. 0 if there is no such
 * name; stops at the first failure with -errno.
 */
int io_remove_tree(int dirfd, const char *name);

/* A sealed memory file with this content, offset 0: the descriptor, or -errno. */
int io_memfd(const char *name, const void *data, size_t len);

/* A pipe, both ends close-on-exec: fds[0] reads. 0 or -errno. */
int io_pipe(int fds[2]);

#endif
