/* SPDX-License-Identifier: MIT */
/*
 * Folding the log into the file waits for the disk, twice. A thread with a
 * connection of its own does it, while the owner goes on writing at the log's end.
 *
 * When the thread has caught up, the next write begins the log anew. Under a load so
 * steady that it never does, the log grows until the owner has to wait once.
 */
#include <signal.h>
#include <string.h>

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

static void *run(void *ctx)
{
    struct store *store = ctx;
    struct store_checkpoint *c = &store->checkpoint;
    sqlite3 *db = NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    bool usable = sqlite3_open_v2(store->path, &db, flags, NULL) == SQLITE_OK &&
                  /* Until it has read something a connection does not know that there is a log. */
                  sqlite3_exec(db, "PRAGMA user_version", NULL, NULL, NULL) == SQLITE_OK;

    pthread_mutex_lock(&c->lock);
    while (!c->quit) {
        if (!c->wanted) {
            pthread_cond_wait(&c->wake, &c->lock);
            continue;
        }
        pthread_mutex_unlock(&c->lock);
        if (usable)
            fold(db);
        pthread_mutex_lock(&c->lock);
        c->wanted = false;
    }
    pthread_mutex_unlock(&c->lock);
    (void)sqlite3_close(db);
    return NULL;
}

/* Signals belong to the program's own thread. */
static bool start(struct store *store)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&store->checkpoint.thread, NULL, run, store);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    store->checkpoint.running = rc == 0;
    return rc == 0;
}

void store_checkpoint_init(struct store *store)
{
    struct store_checkpoint *c = &store->checkpoint;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->wake, NULL);
}

int store_checkpoint_hook(void *ctx, sqlite3 *db, const char *name, int n_pages)
{
    struct store *store = ctx;
    struct store_checkpoint *c = &store->checkpoint;
    if (n_pages < START_PAGES)
        return SQLITE_OK;
    if (n_pages >= FORCE_PAGES || (!c->running && !start(store))) {
        (void)sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_RESTART, NULL, NULL);
        return SQLITE_OK;
    }
    pthread_mutex_lock(&c->lock);
    c->wanted = true;
    pthread_cond_signal(&c->wake);
    pthread_mutex_unlock(&c->lock);
    return SQLITE_OK;
}

void store_checkpoint_stop(struct store *store)
{
    struct store_checkpoint *c = &store->checkpoint;
    if (!c->running)
        return;
    pthread_mutex_lock(&c->lock);
    c->quit = true;
    pthread_cond_signal(&c->wake);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);
    c->running = c->quit = c->wanted = false;
}
