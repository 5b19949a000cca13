/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/mem.h"
#include "base/own.h"
#include "store/priv.h"

struct old {
    sqlite3_int64 seq;
    char *id;
};

enum { BATCH = 256 }; /* commands removed in one transaction */

static char *copy_text(sqlite3_stmt *stmt, int column)
{
    const char *text = (const char *)sqlite3_column_text(stmt, column);
    return xstrdup(text ? text : "");
}

/* The next old commands that the bound statement gives, at most BATCH: their number. */
static size_t collect(sqlite3_stmt *select, struct old ret[BATCH])
{
    size_t n = 0;
    while (n < BATCH && sqlite3_step(select) == SQLITE_ROW) {
        ret[n].seq = sqlite3_column_int64(select, 0);
        ret[n++].id = copy_text(select, 1);
    }
    (void)sqlite3_reset(select); /* a failure shows as fewer rows, and again the next time */
    return n;
}

static bool delete_all(struct store_db *d, const struct old *old, size_t n)
{
    sqlite3_stmt *del = d->statements[STORE_DEL_COMMAND];
    if (sqlite3_exec(d->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
        return false;
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++) {
        ok =
            sqlite3_bind_int64(del, 1, old[i].seq) == SQLITE_OK && sqlite3_step(del) == SQLITE_DONE;
        (void)sqlite3_reset(del);
    }
    if (ok && sqlite3_exec(d->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK)
        return true;
    (void)sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
    return false;
}

/* Removes a batch of those that the bound statement gives; false if none could be. */
static bool remove_batch(struct store *store, struct store_db *d, sqlite3_stmt *select)
{
    struct old old[BATCH];
    size_t n = collect(select, old);
    bool gone = n > 0 && delete_all(d, old, n);
    for (size_t i = 0; i < n; i++) {
        if (gone)
            store_queue_removal(store, old[i].id, false);
        free(old[i].id);
    }
    return gone;
}

/* A session with more than it may have, or NULL. */
static char *find_full_session(struct store *store, struct store_db *d)
{
    sqlite3_stmt *select = d->statements[STORE_FULL_SESSION];
    char *session = NULL;
    if (sqlite3_bind_int64(select, 1, (sqlite3_int64)store->session_commands_max) == SQLITE_OK &&
        sqlite3_step(select) == SQLITE_ROW)
        session = copy_text(select, 0);
    store_reset(select);
    return session;
}

/* Removes a batch of one session's; false if there is none with too many. */
static bool prune_session(struct store *store, struct store_db *d)
{
    auto_free char *session = find_full_session(store, d);
    sqlite3_stmt *select = d->statements[STORE_OLD_OF_SESSION];
    if (!session)
        return false;
    (void)sqlite3_bind_text(select, 1, session, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(select, 2, (sqlite3_int64)store->session_commands_max);
    bool gone = remove_batch(store, d, select);
    (void)sqlite3_clear_bindings(select);
    return gone;
}

/* How many results must go; of too many bytes the share, as if all had the same size. */
static sqlite3_int64 find_excess(const struct store *store, struct store_db *d)
{
    sqlite3_stmt *count = d->statements[STORE_COUNT_COMMANDS];
    sqlite3_int64 n = 0, bytes = 0;
    if (sqlite3_step(count) == SQLITE_ROW) {
        n = sqlite3_column_int64(count, 0);
        bytes = sqlite3_column_int64(count, 1);
    }
    (void)sqlite3_reset(count);
    sqlite3_int64 many = n - (sqlite3_int64)store->commands_max;
    if (bytes <= (sqlite3_int64)store->results_max)
        return many;
    double share = (double)(bytes - (sqlite3_int64)store->results_max) / (double)bytes;
    sqlite3_int64 large = 1 + (sqlite3_int64)(share * (double)n);
    if (large > n - 1)
        large = n - 1;
    return large > many ? large : many;
}

/* The newest result stays, however large. */
static bool prune_oldest(struct store *store, struct store_db *d)
{
    sqlite3_int64 excess = find_excess(store, d);
    if (excess <= 0)
        return false;
    sqlite3_stmt *select = d->statements[STORE_OLD_COMMANDS];
    (void)sqlite3_bind_int64(select, 1, excess);
    return remove_batch(store, d, select);
}

void store_prune(struct store *store, struct store_db *d)
{
    while (prune_session(store, d))
        ;
    while (prune_oldest(store, d))
        ;
}
