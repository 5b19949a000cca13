/* SPDX-License-Identifier: MIT */
/*
 * Whatever waits for the disk is done by a thread, while the owner goes on: moving
 * what is queued into the database, folding SQLite's log into its file, removing what
 * is old, which can be gigabytes of output.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/io.h"
#include "base/mem.h"
#include "base/path.h"
#include "store/priv.h"

bool store_has_entries(const struct store *store)
{
    return !list_empty(&store->queue) || !list_empty(&store->writing);
}

/* Waits, without the lock, until somebody wakes the thread or the time has passed. */
static void wait_ms(struct store *store, int ms)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ms % 1000 * 1000000L;
    until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)pthread_cond_timedwait(&store->wake, &store->lock, &until);
}

static void move_all(struct list *from, struct list *to)
{
    LIST_FOREACH(link, from)
    {
        list_remove(link);
        list_add_tail(to, link);
    }
}

/* They are in the database: readers find them there. */
static void forget_written(struct store *store)
{
    LIST_FOREACH(link, &store->writing)
    {
        struct store_entry *e = list_entry(link, struct store_entry, link);
        if (map_get(&store->commands, e->part[STORE_ID]) == e)
            (void)map_remove(&store->commands, e->part[STORE_ID]);
        store->pending -= e->size;
    }
    store_entries_free(&store->writing);
}

/* Counts the results among the entries, and prunes when it is time to. */
static void prune(struct store *store, struct store_db *d, const struct list *entries)
{
    for (struct list *link = entries->next; link != entries; link = link->next) {
        const struct store_entry *e = list_entry(link, struct store_entry, link);
        if (e->kind != STORE_COMMAND)
            continue;
        store->puts++;
        store->put_bytes += e->len[STORE_JSON];
    }
    if (store->puts < STORE_PRUNE_EVERY &&
        store->put_bytes < store->results_max / STORE_PRUNE_SHARE)
        return;
    store->puts = 0;
    store->put_bytes = 0;
    store_prune(store, d);
}

/* Moves what is queued; called and left with the lock, which it gives up meanwhile. */
static void write_queue(struct store *store, struct store_db *d)
{
    int journal = store->active;
    if (list_empty(&store->writing)) { /* else the last attempt failed: the same again */
        move_all(&store->queue, &store->writing);
        store->active = !journal;
        store->end = 0;
    } else {
        journal = !journal;
    }
    pthread_mutex_unlock(&store->lock);

    int code = d->db ? SQLITE_OK : store_connect(store, d);
    if (code == SQLITE_OK)
        code = store_write(d, &store->writing);
    if (code == SQLITE_OK) {
        store_journal_clear(store, journal);
        prune(store, d, &store->writing);
    } else {
        store_disconnect(d);
    }

    pthread_mutex_lock(&store->lock);
    store->code = code;
    if (code == SQLITE_OK)
        forget_written(store);
}

/* Unknown only if SQLite says so: a failure must not cost anybody his output. */
static bool is_unknown(struct store_db *d, const char *id)
{
    sqlite3_stmt *stmt = d->statements[STORE_HAS_COMMAND];
    int code = sqlite3_bind_text(stmt, 1, id, -1, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code = sqlite3_step(stmt);
    store_reset(stmt);
    return code == SQLITE_DONE;
}

/* As write_queue(). */
static void remove_leftover(struct store *store, struct store_db *d)
{
    struct store_leftover *left = list_first(&store->leftovers, struct store_leftover, link);
    list_remove(&left->link);
    pthread_mutex_unlock(&store->lock);
    int code = d->db ? SQLITE_OK : store_connect(store, d);
    if (code != SQLITE_OK)
        store_disconnect(d);
    else if (!left->if_unknown || is_unknown(d, left->name))
        (void)io_remove_tree(store->output_fd, left->name); /* or at the next start */
    free(left);
    pthread_mutex_lock(&store->lock);
}

/* One thing, or a wait for one. */
static void work(struct store *store, struct store_db *d)
{
    if (store_has_entries(store)) {
        if (!store->hurry && !store->quit)
            wait_ms(store, store->code == SQLITE_OK ? STORE_GATHER_MS : STORE_RETRY_MS);
        store->hurry = false;
        write_queue(store, d);
        pthread_cond_broadcast(&store->done);
    } else if (!list_empty(&store->leftovers) && !store->quit) {
        remove_leftover(store, d);
    } else if (!store->quit) {
        pthread_cond_wait(&store->wake, &store->lock);
    }
}

static void *run(void *ctx)
{
    struct store *store = ctx;
    struct store_db d = {.db = NULL};
    pthread_mutex_lock(&store->lock);
    /* What cannot be written at the end is in the journal. */
    while (!store->quit || (store_has_entries(store) && store->code == SQLITE_OK))
        work(store, &d);
    pthread_mutex_unlock(&store->lock);
    store_disconnect(&d);
    return NULL;
}

/* Signals belong to the program's own thread. */
bool store_writer_start(struct store *store)
{
    sigset_t all, before;
    if (store->running)
        return true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    store->running = pthread_create(&store->thread, NULL, run, store) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return store->running;
}

void store_writer_stop(struct store *store)
{
    if (!store->running)
        return;
    pthread_mutex_lock(&store->lock);
    store->quit = true;
    pthread_cond_signal(&store->wake);
    pthread_mutex_unlock(&store->lock);
    pthread_join(store->thread, NULL);
    store->running = store->quit = false;
}

void store_queue_removal(struct store *store, const char *name, bool if_unknown)
{
    if (store->output_fd < 0 || !path_is_safe_name(name))
        return;
    size_t size = strlen(name) + 1;
    struct store_leftover *left = xmalloc(sizeof(*left) + size);
    left->if_unknown = if_unknown;
    memcpy(left->name, name, size);
    pthread_mutex_lock(&store->lock);
    list_add_tail(&store->leftovers, &left->link);
    pthread_cond_signal(&store->wake);
    pthread_mutex_unlock(&store->lock);
}
