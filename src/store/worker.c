/* SPDX-License-Identifier: MIT */
/*
 * Whatever waits for the disk is done by a thread, while the owner goes on.
 *
 * Folding the log into the file syncs twice. The thread has a connection of its own
 * for it. When it has caught up, the next write begins the log anew. Under a load so
 * steady that it never does, the log grows until the owner has to wait once.
 *
 * Removing the output of old commands can be gigabytes.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/mem.h"
#include "base/path.h"
#include "store/priv.h"

enum {
    START_PAGES = 1000,  /* 4 MiB of log */
    FORCE_PAGES = 16000, /* 64 MiB */
};

static void fold(sqlite3 *db)
{
    int in_log, folded;
    /* What is left undone is done the next time. */
    (void)sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, &in_log, &folded);
}

/* Unknown only if SQLite says so: a failure must not cost anybody his output. */
static bool is_unknown(sqlite3 *db, const char *id)
{
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(db, "SELECT 1 FROM command WHERE id = ?1", -1, &stmt, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_bind_text(stmt, 1, id, -1, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code = sqlite3_step(stmt);
    (void)sqlite3_finalize(stmt); /* repeats what step has said */
    return code == SQLITE_DONE;
}

static void remove_leftover(const struct store *store, sqlite3 *db,
                            const struct store_leftover *left)
{
    if (!left->if_unknown || is_unknown(db, left->name))
        (void)io_remove_tree(store->output_fd, left->name); /* or at the next start */
}

/* One thing that there is to do, if any; gives the lock up meanwhile. */
static bool work(struct store *store, sqlite3 *db)
{
    struct store_worker *k = &store->worker;
    struct store_leftover *left = list_first(&k->leftovers, struct store_leftover, link);
    if (!left && !k->fold)
        return false;
    if (left)
        list_remove(&left->link);
    else
        k->fold = false;
    pthread_mutex_unlock(&k->lock);
    if (left)
        remove_leftover(store, db, left);
    else
        fold(db);
    free(left);
    pthread_mutex_lock(&k->lock);
    return true;
}

static void *run(void *ctx)
{
    struct store *store = ctx;
    struct store_worker *k = &store->worker;
    sqlite3 *db = NULL;
    /* Without a connection nothing is folded and everything unknown is kept. */
    (void)sqlite3_open_v2(store->path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    /* Until it has read something a connection does not know that there is a log. */
    (void)sqlite3_exec(db, "PRAGMA user_version", NULL, NULL, NULL);

    pthread_mutex_lock(&k->lock);
    while (!k->quit)
        if (!work(store, db))
            pthread_cond_wait(&k->wake, &k->lock);
    pthread_mutex_unlock(&k->lock);
    (void)sqlite3_close(db);
    return NULL;
}

/* Signals belong to the program's own thread. */
static bool start(struct store *store)
{
    sigset_t all, before;
    if (store->worker.running)
        return true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&store->worker.thread, NULL, run, store);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    store->worker.running = rc == 0;
    return rc == 0;
}

void store_worker_init(struct store *store)
{
    struct store_worker *k = &store->worker;
    pthread_mutex_init(&k->lock, NULL);
    pthread_cond_init(&k->wake, NULL);
    list_init(&k->leftovers);
}

int store_worker_on_commit(void *ctx, sqlite3 *db, const char *name, int n_pages)
{
    struct store *store = ctx;
    struct store_worker *k = &store->worker;
    if (n_pages < START_PAGES)
        return SQLITE_OK;
    if (n_pages >= FORCE_PAGES || !start(store)) {
        (void)sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_RESTART, NULL, NULL);
        return SQLITE_OK;
    }
    pthread_mutex_lock(&k->lock);
    k->fold = true;
    pthread_cond_signal(&k->wake);
    pthread_mutex_unlock(&k->lock);
    return SQLITE_OK;
}

void store_worker_remove(struct store *store, const char *name, bool if_unknown)
{
    struct store_worker *k = &store->worker;
    if (store->output_fd < 0 || !path_is_safe_name(name) || !start(store))
        return;
    size_t size = strlen(name) + 1;
    struct store_leftover *left = xmalloc(sizeof(*left) + size);
    left->if_unknown = if_unknown;
    memcpy(left->name, name, size);
    pthread_mutex_lock(&k->lock);
    list_add_tail(&k->leftovers, &left->link);
    pthread_cond_signal(&k->wake);
    pthread_mutex_unlock(&k->lock);
}

void store_worker_stop(struct store *store)
{
    struct store_worker *k = &store->worker;
    if (!k->running)
        return;
    pthread_mutex_lock(&k->lock);
    k->quit = true;
    pthread_cond_signal(&k->wake);
    pthread_mutex_unlock(&k->lock);
    pthread_join(k->thread, NULL);
    k->running = k->quit = k->fold = false;
    LIST_FOREACH(link, &k->leftovers)
    {
        list_remove(link);
        free(list_entry(link, struct store_leftover, link));
    }
}
