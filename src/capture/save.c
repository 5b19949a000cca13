/* SPDX-License-Identifier: MIT */
/*
 * A log as bytes, and back.
 *
 *   magic  8 bytes
 *   field  N_FIELDS little-endian numbers
 *   then, if it has not spilled: the two heads, and the segments after the first
 *   then the two rings and the words of the bits
 *
 * `meta` is the same for a spilled log. What is read back is not trusted: every
 * length is checked here, every place in a stream when it is read.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/path.h"
#include "capture/log_priv.h"

#define MAGIC "nacrelog"

enum {
    MAGIC_LEN = 8,
    VERSION = 1,
    META_MAX = 1 << 28, /* of a meta file that we read */
};

enum field {
    FIELD_VERSION,
    FIELD_FLAGS,
    FIELD_ERRNO,
    FIELD_TOTAL_OUT,
    FIELD_TOTAL_ERR,
    FIELD_HEAD_OUT,
    FIELD_HEAD_ERR,
    FIELD_RING_OUT,
    FIELD_RING_ERR,
    FIELD_N_SEGS,
    FIELD_FIRST_AT,
    FIELD_FIRST_SUB,
    FIELD_ORDER_END,
    FIELD_BITS,
    N_FIELDS,
};

enum { FLAG_SPILLED = 1, FLAG_PARTIAL = 2, FLAG_STDERR_LAST = 4, FLAGS_ALL = 7 };

enum { HEADER_SIZE = MAGIC_LEN + N_FIELDS * 8 };

/* ---- writing ---- */

static void fill_header(const struct capture_log *log, char *ret)
{
    uint64_t flags = (log->spilled ? FLAG_SPILLED : 0U) | (log->partial ? FLAG_PARTIAL : 0U) |
                     (log->stderr_last ? FLAG_STDERR_LAST : 0U);
    const uint64_t fields[N_FIELDS] = {
        [FIELD_VERSION] = VERSION,
        [FIELD_FLAGS] = flags,
        [FIELD_ERRNO] = (uint64_t)log->storage_errno,
        [FIELD_TOTAL_OUT] = log->stream[0].total,
        [FIELD_TOTAL_ERR] = log->stream[1].total,
        [FIELD_HEAD_OUT] = log->stream[0].head,
        [FIELD_HEAD_ERR] = log->stream[1].head,
        [FIELD_RING_OUT] = log->tail ? log->tail->ring[0].len : 0,
        [FIELD_RING_ERR] = log->tail ? log->tail->ring[1].len : 0,
        [FIELD_N_SEGS] = log->n_segs,
        [FIELD_FIRST_AT] = log->first.at,
        [FIELD_FIRST_SUB] = log->first.sub,
        [FIELD_ORDER_END] = log->order_end,
        [FIELD_BITS] = log->bits ? log->bits->max : 0,
    };
    memcpy(ret, MAGIC, MAGIC_LEN);
    for (int i = 0; i < N_FIELDS; i++)
        capture_put_u64(ret + MAGIC_LEN + (size_t)i * 8, fields[i]);
}

static int save_numbers(struct buf *ret, const uint64_t *numbers, size_t n)
{
    char *p;
    int rc = buf_reserve(ret, n * 8, &p);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < n; i++)
        capture_put_u64(p + i * 8, numbers[i]);
    buf_commit(ret, n * 8);
    return 0;
}

static int save_memory(const struct capture_log *log, struct buf *ret)
{
    int rc = 0;
    for (int s = 0; s < 2 && rc == 0; s++)
        rc = buf_append(ret, log->stream[s].mem, (size_t)log->stream[s].head);
    for (uint32_t i = 1; i < log->n_segs && rc == 0; i++) {
        uint64_t seg[] = {log->segs[i - 1].at, log->segs[i - 1].sub};
        rc = save_numbers(ret, seg, 2);
    }
    return rc;
}

int capture_log_save(struct capture_log *log, struct buf *ret)
{
    size_t before = ret->len;
    char header[HEADER_SIZE];
    fill_header(log, header);
    int rc = buf_append(ret, header, sizeof(header));
    if (rc == 0 && !log->spilled)
        rc = save_memory(log, ret);
    for (int s = 0; s < 2 && rc == 0 && log->tail; s++)
        rc = ring_append_to(&log->tail->ring[s], ret);
    if (rc == 0 && log->bits)
        rc = save_numbers(ret, log->bits->words, log->bits->max / 64);
    if (rc < 0)
        buf_truncate(ret, before);
    return rc;
}

/* ---- reading ---- */

struct input {
    const char *p;
    size_t left;
};

/* The next n bytes, or NULL. */
static const char *take(struct input *in, uint64_t n)
{
    if (n > in->left)
        return NULL;
    const char *p = in->p;
    in->p += n;
    in->left -= (size_t)n;
    return p;
}

/* Numbers that no log could have, or that would cost memory the input does not pay for. */
static bool fields_fit(const uint64_t *f, size_t left)
{
    if (f[FIELD_VERSION] != VERSION || f[FIELD_FLAGS] > FLAGS_ALL || f[FIELD_ERRNO] > 4095)
        return false;
    for (int s = 0; s < 2; s++) {
        uint64_t total = f[FIELD_TOTAL_OUT + s], head = f[FIELD_HEAD_OUT + s];
        if (total > INT64_MAX / 2 || head > total || f[FIELD_RING_OUT + s] > total - head)
            return false;
    }
    uint64_t total = f[FIELD_TOTAL_OUT] + f[FIELD_TOTAL_ERR];
    bool bits_end = f[FIELD_ORDER_END] != CAPTURE_NO_END;
    if ((bits_end && f[FIELD_ORDER_END] > total) || (!bits_end && f[FIELD_BITS]) ||
        f[FIELD_BITS] % 64 || f[FIELD_BITS] / 8 > left)
        return false;
    return f[FIELD_N_SEGS] <= UINT32_MAX && (total == 0) == (f[FIELD_N_SEGS] == 0) &&
           f[FIELD_FIRST_AT] == 0 && (f[FIELD_FIRST_SUB] & ~CAPTURE_SEG_STDERR) == 0;
}

static bool load_memory(struct capture_log *log, struct input *in)
{
    for (int s = 0; s < 2; s++) {
        struct capture_stream *stream = &log->stream[s];
        const char *p = take(in, stream->head);
        if (!p || stream->head > UINT32_MAX)
            return false;
        stream->mem = stream->head ? xmemdup(p, (size_t)stream->head) : NULL;
        stream->cap = (uint32_t)stream->head;
    }
    if (log->n_segs < 2)
        return true;
    uint32_t n = log->n_segs - 1;
    const char *p = take(in, (uint64_t)n * CAPTURE_SEG_SIZE);
    if (!p)
        return false;
    log->segs = xnew_n(struct capture_seg, n);
    log->segs_cap = n;
    for (uint32_t i = 0; i < n; i++, p += CAPTURE_SEG_SIZE) {
        log->segs[i].at = capture_get_u64(p);
        log->segs[i].sub = capture_get_u64(p + 8);
    }
    return true;
}

static bool load_ends(struct capture_log *log, const uint64_t *f, struct input *in)
{
    if (f[FIELD_RING_OUT] || f[FIELD_RING_ERR]) {
        log->tail = xnew(struct capture_tail);
        for (int s = 0; s < 2; s++) {
            size_t len = (size_t)f[FIELD_RING_OUT + s];
            const char *p = take(in, len);
            ring_init(&log->tail->ring[s], len > log->tail_max ? len : log->tail_max);
            if (!p)
                return false;
            ring_write(&log->tail->ring[s], p, len);
        }
    }
    if (f[FIELD_BITS]) {
        const char *p = take(in, f[FIELD_BITS] / 8);
        if (!p)
            return false;
        log->bits = capture_bits_new((size_t)f[FIELD_BITS]);
        for (size_t i = 0; i < log->bits->max / 64; i++)
            log->bits->words[i] = capture_get_u64(p + i * 8);
    }
    return in->left == 0;
}

/* Fills an empty log; false if the bytes are none of ours. */
static bool load(struct capture_log *log, struct input in)
{
    const char *p = take(&in, HEADER_SIZE);
    if (!p || memcmp(p, MAGIC, MAGIC_LEN) != 0)
        return false;
    uint64_t f[N_FIELDS];
    for (int i = 0; i < N_FIELDS; i++)
        f[i] = capture_get_u64(p + MAGIC_LEN + (size_t)i * 8);
    if (!fields_fit(f, in.left))
        return false;

    for (int s = 0; s < 2; s++) {
        log->stream[s].total = f[FIELD_TOTAL_OUT + s];
        log->stream[s].head = f[FIELD_HEAD_OUT + s];
    }
    log->storage_errno = (int)f[FIELD_ERRNO];
    log->spilled = f[FIELD_FLAGS] & FLAG_SPILLED;
    log->partial = f[FIELD_FLAGS] & FLAG_PARTIAL;
    log->stderr_last = f[FIELD_FLAGS] & FLAG_STDERR_LAST;
    log->n_segs = (uint32_t)f[FIELD_N_SEGS];
    log->first = (struct capture_seg){.at = 0, .sub = f[FIELD_FIRST_SUB]};
    log->order_end = f[FIELD_ORDER_END];
    log->finished = true;
    if (log->spilled)
        log->may_spill = false;
    else if (!load_memory(log, &in))
        return false;
    return load_ends(log, f, &in);
}

int capture_log_load(const struct capture_options *options, const void *p, size_t n,
                     struct capture_log **ret_log, struct err *err)
{
    struct capture_log *log = capture_log_alloc(options);
    if (!load(log, (struct input){.p = p, .left = n})) {
        capture_log_free(log);
        return err_set(err, ERR_INVALID, "these %zu bytes are no saved output", n);
    }
    *ret_log = log;
    return 0;
}

/* ---- opening files ---- */

/* Holds a log to the files it has: what a file lacks is gone. 0 or -errno. */
static int match_files(struct capture_log *log)
{
    int rc = capture_spill_open(log);
    if (rc < 0)
        return rc;
    for (int s = 0; s < 2; s++) {
        struct stat st;
        if (fstat(log->stream[s].fd, &st) < 0)
            return -errno;
        if ((uint64_t)st.st_size < log->stream[s].head) {
            log->stream[s].head = (uint64_t)st.st_size;
            log->partial = true;
        }
    }
    capture_spill_close(log);
    return 0;
}

/*
 * Takes over from a process that died: the sizes of the files, and the order up to
 * the last segment. A stream that had outgrown its file is longer than that.
 */
static int measure_files(struct capture_log *log)
{
    struct stat st[3];
    const int fds[] = {log->stream[0].fd, log->stream[1].fd, log->order_fd};
    for (int i = 0; i < 3; i++)
        if (fstat(fds[i], &st[i]) < 0)
            return -errno;
    for (int s = 0; s < 2; s++)
        log->stream[s].total = log->stream[s].head = (uint64_t)st[s].st_size;

    struct capture_seg last = {.at = 0};
    log->n_segs = (uint32_t)((uint64_t)st[2].st_size / CAPTURE_SEG_SIZE);
    if (log->n_segs == 0) {
        log->order_end = 0;
        return 0;
    }
    if (capture_spill_read_segs(log, 0, &log->first, 1) != 1 ||
        capture_spill_read_segs(log, log->n_segs - 1, &last, 1) != 1)
        return -EUCLEAN;
    uint64_t sub = last.sub & ~CAPTURE_SEG_STDERR;
    if (sub > last.at || log->first.at != 0 || last.at > INT64_MAX / 2)
        return -EUCLEAN;

    log->stderr_last = (last.sub & CAPTURE_SEG_STDERR) != 0;
    struct capture_stream *own = &log->stream[log->stderr_last];
    struct capture_stream *other = &log->stream[!log->stderr_last];
    if (own->total < sub)
        own->total = sub;
    if (other->total < last.at - sub)
        other->total = last.at - sub;
    else if (other->total > last.at - sub)
        log->order_end = last.at; /* the order file was full: the last segment may have any end */
    return 0;
}

static int recover(struct capture_log *log)
{
    log->spilled = log->finished = log->partial = true;
    log->may_spill = false;
    int rc = capture_spill_open(log);
    if (rc == 0)
        rc = measure_files(log);
    capture_spill_close(log);
    return rc;
}

/* Reads `meta` into log: 0, -ENOENT, -EUCLEAN or another -errno. */
static int load_meta(int dirfd, struct capture_log *log)
{
    auto_buf struct buf meta = BUF_INIT(META_MAX);
    int rc = io_read_file(dirfd, "meta", META_MAX, &meta, NULL);
    if (rc < 0)
        return rc == -ERR_LIMIT ? -EUCLEAN : rc;
    if (!load(log, (struct input){.p = meta.data, .left = meta.len}) || !log->spilled)
        return -EUCLEAN;
    return match_files(log);
}

int capture_log_open(const struct capture_options *options, struct capture_log **ret_log,
                     struct err *err)
{
    const char *name = options->spill_name;
    if (!name || !path_is_safe_name(name))
        return err_set(err, ERR_INVALID, "'%s' is no name of stored output", name ? name : "");
    auto_close int dirfd =
        openat(options->spill_dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dirfd < 0 && errno == ENOENT)
        return err_set(err, ERR_NOT_FOUND, "no stored output '%s'", name);

    struct capture_log *log = capture_log_alloc(options);
    int rc = dirfd < 0 ? -errno : load_meta(dirfd, log);
    if (rc == -ENOENT || rc == -EUCLEAN) {
        capture_log_free(log);
        log = capture_log_alloc(options);
        rc = recover(log);
    }
    if (rc < 0) {
        capture_log_free(log);
        return err_set(err, ERR_STORAGE, "open stored output '%s': %s", name, err_describe(rc));
    }
    *ret_log = log;
    return 0;
}
