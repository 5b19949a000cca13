/* SPDX-License-Identifier: MIT */
/*
 * The files of a spilled log.
 *
 * A segment is written when it starts, before its bytes: after a crash the order
 * file names every stretch, and the size of the stream's file says how long the
 * last one is. Nothing waits for the disk: the log outlives the process, not the
 * machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/own.h"
#include "base/path.h"
#include "capture/log_priv.h"

enum { SEGS_AT_ONCE = 64 };

static const char *const stream_files[] = {"stdout", "stderr"};

/* Writes at an offset: bytes written; if fewer than n, *ret_code is the errno. */
static size_t write_at(int fd, const char *p, size_t n, uint64_t at, int *ret_code)
{
    size_t done = 0;
    while (done < n) {
        ssize_t rc = pwrite(fd, p + done, n - done, (off_t)(at + done));
        if (rc < 0 && errno == EINTR)
            continue;
        if (rc <= 0) {
            *ret_code = rc < 0 ? errno : ENOSPC;
            break;
        }
        done += (size_t)rc;
    }
    return done;
}

static int open_dir(const struct capture_log *log)
{
    int fd =
        openat(log->spill_dir, log->spill_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* Opens all three files with these flags: 0 or -errno, with none open. */
static int open_files(struct capture_log *log, int flags)
{
    auto_close int dirfd = open_dir(log);
    if (dirfd < 0)
        return dirfd;
    int *fds[] = {&log->stream[0].fd, &log->stream[1].fd, &log->order_fd};
    const char *names[] = {stream_files[0], stream_files[1], "order"};
    for (int i = 0; i < 3; i++) {
        *fds[i] = openat(dirfd, names[i], O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
        if (*fds[i] < 0) {
            int rc = -errno;
            capture_spill_close(log);
            return rc;
        }
    }
    return 0;
}

/* Makes directory and files, and writes what is in memory: 0 or -errno. */
static int move_to_files(struct capture_log *log)
{
    int rc = open_files(log, O_CREAT | O_EXCL);
    if (rc < 0)
        return rc;
    for (int s = 0; s < 2; s++) {
        struct capture_stream *stream = &log->stream[s];
        int code = 0;
        if (write_at(stream->fd, stream->mem, (size_t)stream->head, 0, &code) < stream->head)
            return -code;
    }
    if (!capture_spill_segs(log, 0, &log->first, 1) ||
        (log->n_segs > 1 && !capture_spill_segs(log, 1, log->segs, log->n_segs - 1)))
        return -log->storage_errno;
    return 0;
}

bool capture_spill_start(struct capture_log *log)
{
    log->may_spill = false;
    if (!path_is_safe_name(log->spill_name)) {
        capture_storage_failed(log, EINVAL);
        return false;
    }
    uint64_t size =
        log->stream[0].head + log->stream[1].head + (uint64_t)log->n_segs * CAPTURE_SEG_SIZE;
    if (capture_claim(log, (size_t)size) < size) {
        capture_give_back(log, log->claimed);
        return false;
    }
    /* One that is there belongs to another log, and is left alone. */
    if (mkdirat(log->spill_dir, log->spill_name, 0700) < 0) {
        capture_storage_failed(log, errno);
        capture_give_back(log, log->claimed);
        return false;
    }
    int rc = move_to_files(log);
    if (rc < 0) {
        capture_give_back(log, log->claimed);
        capture_storage_failed(log, -rc);
        capture_spill_close(log);
        (void)capture_log_remove(log->spill_dir, log->spill_name); /* the first failure counts */
        return false;
    }

    for (int s = 0; s < 2; s++) {
        free(take_ptr(log->stream[s].mem));
        log->stream[s].cap = 0;
    }
    free(take_ptr(log->segs));
    log->segs_cap = 0;
    log->spilled = true;
    return true;
}

size_t capture_spill_write(struct capture_log *log, struct capture_stream *stream, const char *p,
                           size_t n)
{
    int code = 0;
    n = capture_claim(log, n);
    size_t done = write_at(stream->fd, p, n, stream->head, &code);
    stream->head += done;
    if (done < n) {
        capture_storage_failed(log, code);
        capture_give_back(log, n - done);
    }
    return done;
}

bool capture_spill_add_seg(struct capture_log *log, const struct capture_seg *seg)
{
    size_t got = capture_claim(log, CAPTURE_SEG_SIZE);
    bool written = got == CAPTURE_SEG_SIZE && capture_spill_segs(log, log->n_segs, seg, 1);
    if (!written)
        capture_give_back(log, got);
    return written;
}

bool capture_spill_segs(struct capture_log *log, uint32_t i, const struct capture_seg *segs,
                        uint32_t n)
{
    char text[SEGS_AT_ONCE * CAPTURE_SEG_SIZE];
    for (uint32_t done = 0; done < n;) {
        uint32_t part = n - done < SEGS_AT_ONCE ? n - done : SEGS_AT_ONCE;
        for (uint32_t k = 0; k < part; k++) {
            capture_put_u64(text + (size_t)k * CAPTURE_SEG_SIZE, segs[done + k].at);
            capture_put_u64(text + (size_t)k * CAPTURE_SEG_SIZE + 8, segs[done + k].sub);
        }
        size_t len = (size_t)part * CAPTURE_SEG_SIZE;
        int code = 0;
        if (write_at(log->order_fd, text, len, (uint64_t)(i + done) * CAPTURE_SEG_SIZE, &code) <
            len) {
            capture_storage_failed(log, code);
            return false;
        }
        done += part;
    }
    return true;
}

int capture_spill_read_segs(struct capture_log *log, uint32_t i, struct capture_seg *ret,
                            uint32_t n)
{
    char text[SEGS_AT_ONCE * CAPTURE_SEG_SIZE];
    if (n > SEGS_AT_ONCE)
        n = SEGS_AT_ONCE;
    ssize_t len;
    do
        len = pread(log->order_fd, text, (size_t)n * CAPTURE_SEG_SIZE, (off_t)i * CAPTURE_SEG_SIZE);
    while (len < 0 && errno == EINTR);
    if (len < 0)
        return -errno;
    int got = (int)(len / CAPTURE_SEG_SIZE);
    for (int k = 0; k < got; k++) {
        ret[k].at = capture_get_u64(text + (size_t)k * CAPTURE_SEG_SIZE);
        ret[k].sub = capture_get_u64(text + (size_t)k * CAPTURE_SEG_SIZE + 8);
    }
    return got;
}

int capture_spill_open(struct capture_log *log)
{
    if (!log->spilled || log->order_fd >= 0)
        return 0;
    return open_files(log, 0);
}

void capture_spill_close(struct capture_log *log)
{
    own_close_fd(&log->stream[0].fd);
    own_close_fd(&log->stream[1].fd);
    own_close_fd(&log->order_fd);
}

void capture_spill_reopen(struct capture_log *log)
{
    int rc = capture_spill_open(log);
    auto_close int dirfd = rc < 0 ? -1 : open_dir(log);
    if (rc == 0 && dirfd < 0)
        rc = dirfd;
    if (rc == 0 && unlinkat(dirfd, "meta", 0) < 0 && errno != ENOENT)
        rc = -errno;
    if (rc < 0)
        capture_storage_failed(log, -rc);
}

int capture_spill_put_meta(struct capture_log *log, const struct buf *meta)
{
    auto_close int dirfd = open_dir(log);
    if (dirfd < 0)
        return dirfd;
    auto_close int fd =
        openat(dirfd, "meta.new", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    int rc = io_write_all(fd, meta->data, meta->len);
    if (rc == 0 && renameat(dirfd, "meta.new", dirfd, "meta") < 0)
        rc = -errno;
    if (rc < 0)
        (void)unlinkat(dirfd, "meta.new", 0); /* a reader does without */
    return rc;
}

int capture_log_remove(int spill_dir, const char *spill_name)
{
    return io_remove_tree(spill_dir, spill_name);
}
