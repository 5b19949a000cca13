/* SPDX-License-Identifier: MIT */
/*
 * A record is a header and the data of an entry. It is whole or it is the last: whoever
 * was killed while writing had not acknowledged it. What follows a record that is not
 * whole is not looked at.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/own.h"
#include "store/priv.h"

enum { MAGIC = 0x6e616a31, JOURNAL_MAX = 4 * STORE_PENDING_MAX };

#define NO_PART UINT32_MAX

/* In the byte order of the machine, which does not change under a state directory. */
struct header {
    uint64_t sum; /* of all that follows */
    uint32_t magic;
    uint32_t kind;
    uint64_t seq;
    uint32_t len[STORE_N_PARTS];
};

static uint64_t checksum(const struct header *h, const char *data, size_t len)
{
    uint64_t key[2] = {MAGIC, h->seq};
    key[1] = hash_bytes_keyed((const char *)h + sizeof(h->sum), sizeof(*h) - sizeof(h->sum), key);
    return hash_bytes_keyed(data, len, key);
}

int store_journal_append(struct store *store, const struct store_entry *entry)
{
    int fd = store->journal[store->active];
    struct header h = {.magic = MAGIC, .kind = (uint32_t)entry->kind, .seq = store->seq};
    for (int i = 0; i < STORE_N_PARTS; i++)
        h.len[i] = entry->part[i] ? (uint32_t)entry->len[i] : NO_PART;
    h.sum = checksum(&h, entry->data, entry->size);

    struct iovec iov[] = {
        {.iov_base = &h,                             .iov_len = sizeof(h)  },
        {.iov_base = (void *)(uintptr_t)entry->data, .iov_len = entry->size},
    };
    ssize_t n;
    do
        n = pwritev(fd, iov, 2, store->end);
    while (n < 0 && errno == EINTR);
    int rc = n < 0 ? -errno : 0;
    if (n == (ssize_t)(sizeof(h) + entry->size)) {
        store->end += n;
        store->seq++;
        return 0;
    }
    /* The next record is written over a part of this one. */
    (void)ftruncate(fd, store->end);
    return rc ? rc : -ENOSPC;
}

/* The entry at p, of which len bytes are there; NULL if there is no whole one. */
static struct store_entry *parse(const char *p, size_t len, struct header *ret, size_t *ret_size)
{
    struct header h;
    const char *part[STORE_N_PARTS] = {NULL};
    size_t part_len[STORE_N_PARTS] = {0}, size = 0;
    if (len < sizeof(h))
        return NULL;
    memcpy(&h, p, sizeof(h));
    if (h.magic != MAGIC || h.kind < STORE_SESSION || h.kind > STORE_COMMAND)
        return NULL;
    for (int i = 0; i < STORE_N_PARTS; i++) {
        if (h.len[i] == NO_PART)
            continue;
        part[i] = p + sizeof(h) + size;
        part_len[i] = h.len[i];
        size += (size_t)h.len[i] + 1;
    }
    if (!part[STORE_ID] || size > len - sizeof(h) || checksum(&h, p + sizeof(h), size) != h.sum)
        return NULL;
    *ret = h;
    *ret_size = sizeof(h) + size;
    return store_entry_new((enum store_kind)h.kind, part, part_len);
}

/* Appends the entries of one journal; *ret_first is the number of the first, if there is one. */
static int read_one(struct store *store, int fd, struct list *entries, uint64_t *ret_first)
{
    auto_buf struct buf all = BUF_INIT(JOURNAL_MAX);
    if (lseek(fd, 0, SEEK_SET) < 0)
        return -errno;
    int rc = io_read_fd(fd, JOURNAL_MAX, &all);
    if (rc < 0)
        return rc;
    struct header h;
    size_t size;
    for (size_t at = 0; at < all.len; at += size) {
        struct store_entry *e = parse(all.data + at, all.len - at, &h, &size);
        if (!e)
            break;
        if (list_empty(entries))
            *ret_first = h.seq;
        if (h.seq >= store->seq)
            store->seq = h.seq + 1;
        list_add_tail(entries, &e->link);
    }
    return 0;
}

static void append_all(struct list *to, struct list *from)
{
    LIST_FOREACH(link, from)
    {
        list_remove(link);
        list_add_tail(to, link);
    }
}

int store_journal_read(struct store *store, struct list *ret_entries)
{
    struct list entries[2] = {LIST_INIT(entries[0]), LIST_INIT(entries[1])};
    uint64_t first[2] = {UINT64_MAX, UINT64_MAX};
    int rc = 0;
    for (int i = 0; i < 2 && rc == 0; i++)
        rc = read_one(store, store->journal[i], &entries[i], &first[i]);
    int older = first[1] < first[0];
    if (rc == 0) {
        append_all(ret_entries, &entries[older]);
        append_all(ret_entries, &entries[!older]);
    }
    store_entries_free(&entries[0]);
    store_entries_free(&entries[1]);
    return rc;
}

void store_journal_clear(const struct store *store, int which)
{
    /* Were it to fail, the same would be written again at the next start. */
    (void)ftruncate(store->journal[which], 0);
}

int store_journal_open(struct store *store, const char *dir, struct err *err)
{
    for (int i = 0; i < 2; i++) {
        auto_free char *path = xasprintf("%s/nacre.journal%d", dir, i);
        int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
        store->journal[i] = open(path, flags, 0600);
        if (store->journal[i] < 0)
            return err_set(err, ERR_STORAGE, "open '%s': %s", path, strerror(errno));
        if (flock(store->journal[i], LOCK_EX | LOCK_NB) < 0)
            return err_set(err, ERR_BUSY, "'%s' is used by another process", dir);
    }
    return 0;
}

void store_journal_close(struct store *store)
{
    own_close_fd(&store->journal[0]);
    own_close_fd(&store->journal[1]);
}
