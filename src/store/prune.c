/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/mem.h"
#include "store/priv.h"

struct old {
    sqlite3_int64 seq;
    char *id;
};

enum { BATCH = 2 * STORE_PRUNE_EVERY };

/* The next old commands that the bound statement gives, at most BATCH: their number. */
static size_t collect(sqlite3_stmt *select, struct old ret[BATCH])
{
    size_t n = 0;
    while (n < BATCH && sqlite3_step(select) == SQLITE_ROW) {
        const char *id = (const char *)sqlite3_column_text(select, 1);
        ret[n++] = (struct old){sqlite3_column_int64(select, 0), xstrdup(id ? id : "")};
    }
    (void)sqlite3_reset(select); /* a failure shows as fewer rows, and again the next time */
    return n;
}

static bool delete_all(struct store *store, const struct old *old, size_t n)
{
    sqlite3_stmt *del = store->statements[STORE_DEL_COMMAND];
    if (sqlite3_exec(store->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
        return false;
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++) {
        ok =
            sqlite3_bind_int64(del, 1, old[i].seq) == SQLITE_OK && sqlite3_step(del) == SQLITE_DONE;
        (void)sqlite3_reset(del);
    }
    if (ok && sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK)
        return true;
    (void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return false;
}

static void remove_old(struct store *store, sqlite3_stmt *select)
{
    struct old old[BATCH];
    size_t n = collect(select, old);
    bool gone = n > 0 && delete_all(store, old, n);
    for (size_t i = 0; i < n; i++) {
        if (gone)
            store_worker_remove(store, old[i].id, false);
        free(old[i].id);
    }
}

static void prune_session(struct store *store, const char *session_id)
{
    sqlite3_stmt *select = store->statements[STORE_OLD_OF_SESSION];
    (void)sqlite3_bind_text(select, 1, session_id, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(select, 2, (sqlite3_int64)store->session_commands_max);
    remove_old(store, select);
    (void)sqlite3_clear_bindings(select);
}

static void prune_all(struct store *store)
{
    sqlite3_stmt *count = store->statements[STORE_COUNT_COMMANDS];
    sqlite3_int64 n = sqlite3_step(count) == SQLITE_ROW ? sqlite3_column_int64(count, 0) : 0;
    (void)sqlite3_reset(count);
    if (n <= (sqlite3_int64)store->commands_max)
        return;
    sqlite3_stmt *select = store->statements[STORE_OLD_COMMANDS];
    (void)sqlite3_bind_int64(select, 1, n - (sqlite3_int64)store->commands_max);
    remove_old(store, select);
}

void store_prune(struct store *store, const char *session_id)
{
    prune_session(store, session_id);
    prune_all(store);
}
