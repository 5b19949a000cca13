/* SPDX-License-Identifier: MIT */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "lib/test.h"

enum { BIG = 3 * 1024 * 1024 };

/* Writes the whole of a pattern to a pipe that is much smaller. */
struct writer {
    int fd;
    const char *data;
    size_t len;
    int rc;
};

static void *write_all(void *arg)
{
    struct writer *w = arg;
    w->rc = io_write_all(w->fd, w->data, w->len);
    (void)close(w->fd);
    return NULL;
}

static void *write_parts(void *arg)
{
    struct writer *w = arg;
    struct iovec parts[3000];
    size_t step = w->len / 2999;
    for (size_t i = 0; i < 3000; i++) {
        size_t at = i * step;
        parts[i].iov_base = (char *)(uintptr_t)w->data + at;
        parts[i].iov_len = i < 2999 ? step : w->len - at;
    }
    w->rc = io_writev_all(w->fd, parts, 3000);
    (void)close(w->fd);
    return NULL;
}

/* Sends BIG bytes through a pipe with both ends non-blocking and checks them. */
static void send_through_pipe(void *(*fn)(void *))
{
    int fds[2];
    CHECK_INT(io_pipe(fds), 0);
    CHECK_INT(io_set_nonblock(fds[0], true), 0);
    CHECK_INT(io_set_nonblock(fds[1], true), 0);
    char *sent = malloc(BIG), *got = malloc(BIG + 1);
    for (size_t i = 0; i < BIG; i++)
        sent[i] = (char)(i * 7 + i / 256);

    struct writer w = {.fd = fds[1], .data = sent, .len = BIG, .rc = 1};
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, fn, &w), 0);
    CHECK_INT(io_read_full(fds[0], got, BIG + 1), BIG);
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK_INT(w.rc, 0);
    CHECK_MEM(got, BIG, sent, BIG);
    (void)close(fds[0]);
    free(sent);
    free(got);
}

TEST(full_transfers_over_a_pipe)
{
    send_through_pipe(write_all);
}

TEST(vectors_longer_than_the_kernel_takes)
{
    send_through_pipe(write_parts);
}

TEST(transfers_of_nothing_and_errors)
{
    char c;
    CHECK_INT(io_read_full(-1, &c, 0), 0);
    CHECK_INT(io_read_full(-1, &c, 1), -EBADF);
    CHECK_INT(io_write_all(-1, &c, 1), -EBADF);
    struct iovec parts[] = {
        {.iov_base = &c, .iov_len = 0},
        {.iov_base = &c, .iov_len = 0}
    };
    CHECK_INT(io_writev_all(-1, parts, 2), 0);
    parts[1].iov_len = 1;
    CHECK_INT(io_writev_all(-1, parts, 2), -EBADF);
}

TEST(pipe_and_flags)
{
    int fds[2];
    CHECK_INT(io_pipe(fds), 0);
    CHECK_INT(fcntl(fds[0], F_GETFD), FD_CLOEXEC);
    CHECK_INT(io_set_cloexec(fds[0], false), 0);
    CHECK_INT(fcntl(fds[0], F_GETFD), 0);
    CHECK_INT(io_set_cloexec(fds[0], true), 0);
    CHECK_INT(fcntl(fds[0], F_GETFD), FD_CLOEXEC);
    CHECK_INT(io_set_nonblock(fds[0], true), 0);
    CHECK(fcntl(fds[0], F_GETFL) & O_NONBLOCK);
    CHECK_INT(io_set_nonblock(fds[0], false), 0);
    CHECK(!(fcntl(fds[0], F_GETFL) & O_NONBLOCK));
    (void)close(fds[0]);
    (void)close(fds[1]);
    CHECK_INT(io_set_nonblock(fds[0], true), -EBADF);
    CHECK_INT(io_set_cloexec(fds[0], true), -EBADF);
}

TEST(write_file_then_read_it)
{
    auto_buf struct buf b = BUF_INIT(100);
    struct err err = {0};
    CHECK_INT(io_write_file(AT_FDCWD, "f", "one\0two", 7, 0640, &err), 0);
    CHECK_INT(buf_append_str(&b, "before "), 0);
    CHECK_INT(io_read_file(AT_FDCWD, "f", 100, &b, &err), 0);
    CHECK_MEM(b.data, b.len, "before one\0two", 14);

    struct stat st;
    CHECK_INT(stat("f", &st), 0);
    CHECK_INT(st.st_mode & 07777, 0640);
    CHECK_INT(io_write_file(AT_FDCWD, "f", "", 0, 0600, &err), 0);
    CHECK_INT(stat("f", &st), 0);
    CHECK_INT(st.st_size, 0);
    CHECK_INT(st.st_mode & 07777, 0600);
}

TEST(write_file_leaves_no_other_behind)
{
    struct err err;
    CHECK_INT(mkdir("d", 0755), 0);
    CHECK_INT(mkdir("d/taken", 0755), 0);
    CHECK_INT(io_write_file(AT_FDCWD, "d/taken", "x", 1, 0600, &err), -EISDIR);
    CHECK_STR(err.text, "write 'd/taken': Is a directory");
    CHECK_INT(rmdir("d/taken"), 0);
    CHECK_INT(rmdir("d"), 0);
}

TEST(write_file_replaces_a_symlink)
{
    struct err err;
    CHECK_INT(io_write_file(AT_FDCWD, "target", "old", 3, 0600, &err), 0);
    CHECK_INT(symlink("target", "link"), 0);
    CHECK_INT(io_write_file(AT_FDCWD, "link", "new", 3, 0600, &err), 0);
    auto_buf struct buf b = BUF_INIT(100);
    CHECK_INT(io_read_file(AT_FDCWD, "target", 10, &b, &err), 0);
    CHECK_STR(buf_cstr(&b), "old");
    struct stat st;
    CHECK_INT(lstat("link", &st), 0);
    CHECK(S_ISREG(st.st_mode));
}

TEST(write_file_in_a_directory_and_from_the_root)
{
    struct err err = {0};
    CHECK_INT(mkdir("d", 0755), 0);
    auto_close int dir = open("d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_INT(mkdirat(dir, "e", 0755), 0);
    CHECK_INT(io_write_file(dir, "e/f", "x", 1, 0600, &err), 0);
    CHECK_INT(access("d/e/f", F_OK), 0);
    CHECK_INT(io_write_file(dir, "none/f", "x", 1, 0600, &err), -ENOENT);
    CHECK_STR(err.text, "open the directory of 'none/f': No such file or directory");

    char path[600];
    CHECK(snprintf(path, sizeof(path), "%s/abs", test_dir()) < (int)sizeof(path));
    CHECK_INT(io_write_file(dir, path, "x", 1, 0600, &err), 0);
    CHECK_INT(access("abs", F_OK), 0);
    char longer[5000];
    memset(longer, 'x', sizeof(longer));
    memcpy(longer + 4990, "/f", 3);
    CHECK_INT(io_write_file(dir, longer, "x", 1, 0600, &err), -ENAMETOOLONG);
}

TEST(read_file_limits)
{
    struct err err = {0};
    auto_buf struct buf b = BUF_INIT(8);
    CHECK_INT(io_write_file(AT_FDCWD, "f", "12345678", 8, 0600, &err), 0);
    CHECK_INT(io_read_file(AT_FDCWD, "f", 8, &b, &err), 0);
    CHECK_STR(buf_cstr(&b), "12345678");
    CHECK_INT(io_read_file(AT_FDCWD, "f", 100, &b, &err), -ERR_LIMIT);
    CHECK_INT(b.len, 8);
    buf_clear(&b);
    CHECK_INT(io_read_file(AT_FDCWD, "f", 7, &b, &err), -ERR_LIMIT);
    CHECK_STR(err.text, "'f' is larger than 7 bytes");
    CHECK_INT(b.len, 0);
    CHECK_INT(buf_append_str(&b, "x"), 0);
    CHECK_INT(io_read_file(AT_FDCWD, "f", 8, &b, &err), -ERR_LIMIT);
    CHECK_STR(err.text, "'f' is larger than 7 bytes");
    CHECK_STR(buf_cstr(&b), "x");
}

TEST(read_file_errors)
{
    struct err err;
    auto_buf struct buf b = BUF_INIT(100);
    CHECK_INT(io_read_file(AT_FDCWD, "none", 9, &b, &err), -ENOENT);
    CHECK_STR(err.text, "open 'none': No such file or directory");
    CHECK_INT(io_read_file(AT_FDCWD, ".", 9, &b, &err), -EISDIR);
    CHECK_STR(err.text, "read '.': Is a directory");
    CHECK_INT(io_read_file(AT_FDCWD, "none", 9, &b, NULL), -ENOENT);
}

TEST(read_file_without_a_size)
{
    struct err err = {0};
    auto_buf struct buf b = BUF_INIT(1 << 20);
    CHECK_INT(io_read_file(AT_FDCWD, "/proc/self/status", 1 << 20, &b, &err), 0);
    CHECK(strstr(buf_cstr(&b), "\nPid:"));
}

TEST(read_file_of_many_steps)
{
    struct err err = {0};
    char *data = calloc(1, BIG);
    memset(data, 'x', BIG);
    CHECK_INT(io_write_file(AT_FDCWD, "big", data, BIG, 0600, &err), 0);
    auto_buf struct buf b = BUF_INIT(BIG);
    CHECK_INT(io_read_file(AT_FDCWD, "big", BIG, &b, &err), 0);
    CHECK_MEM(b.data, b.len, data, BIG);
    buf_clear(&b);
    auto_close int fd = open("big", O_RDONLY | O_CLOEXEC);
    CHECK_INT(io_read_fd(fd, BIG, &b), 0);
    CHECK_INT(b.len, BIG);
    free(data);
}

TEST(memfd_is_sealed)
{
    auto_close int fd = io_memfd("test", "content", 7);
    CHECK(fd >= 0);
    char text[10] = "";
    CHECK_INT(io_read_full(fd, text, sizeof(text)), 7);
    CHECK_STR(text, "content");
    CHECK_INT(write(fd, "x", 1), -1);
    CHECK_INT(errno, EPERM);
    CHECK_INT(ftruncate(fd, 3), -1);
    CHECK_INT(fcntl(fd, F_GET_SEALS), F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
    CHECK_INT(fcntl(fd, F_GETFD), FD_CLOEXEC);
    auto_close int empty = io_memfd("", NULL, 0);
    CHECK(empty >= 0);
}
