/* SPDX-License-Identifier: MIT */
#include "store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "store/priv.h"

static int fail(const struct store *store, int code, const char *what, const char *id,
                struct err *err)
{
    return err_set(err, ERR_STORAGE, "%s '%s' in '%s': %s", what, id, store->path,
                   sqlite3_errstr(code));
}

/* Under the lock. The entry is the queue's if it was taken. */
static int enqueue(struct store *store, struct store_entry *e, struct err *err)
{
    const char *id = e->part[STORE_ID];
    if (e->size > STORE_PENDING_MAX - store->pending)
        return fail(store, store->code ? store->code : SQLITE_FULL, "write", id, err);
    int rc = store_journal_append(store, e);
    if (rc < 0)
        return err_set(err, ERR_STORAGE, "write '%s' in the journal of '%s': %s", id, store->path,
                       strerror(-rc));
    if (e->kind == STORE_COMMAND)
        (void)map_set(&store->commands, id, e); /* if it cannot be, it is found a little later */
    if (list_empty(&store->queue))
        pthread_cond_signal(&store->wake);
    list_add_tail(&store->queue, &e->link);
    store->pending += e->size;
    return 0;
}

static int put(struct store *store, enum store_kind kind, const char *const part[STORE_N_PARTS],
               const size_t len[STORE_N_PARTS], struct err *err)
{
    int rc = store_check(store, err);
    if (rc < 0)
        return rc;
    struct store_entry *e = store_entry_new(kind, part, len);
    if (!e)
        return err_set(err, ENOMEM, "write '%s' in '%s'", part[STORE_ID], store->path);
    if (!store_writer_start(store))
        rc = err_set(err, ERR_STORAGE, "start the thread that writes '%s'", store->path);
    if (rc == 0) {
        pthread_mutex_lock(&store->lock);
        rc = enqueue(store, e, err);
        pthread_mutex_unlock(&store->lock);
    }
    if (rc < 0)
        free(e);
    return rc;
}

/* The shape is that of the runtime's hook. */
/* NOLINTNEXTLINE(readability-function-size) */
int store_put_session(const char *id, const char *json, size_t json_len, const char *state,
                      size_t state_len, struct err *err, void *ctx)
{
    const char *const part[STORE_N_PARTS] = {
        [STORE_ID] = id, [STORE_JSON] = json, [STORE_STATE] = state};
    const size_t len[STORE_N_PARTS] = {
        [STORE_ID] = strlen(id), [STORE_JSON] = json_len, [STORE_STATE] = state_len};
    return put(ctx, STORE_SESSION, part, len, err);
}

int store_del_session(const char *id, struct err *err, void *ctx)
{
    const char *const part[STORE_N_PARTS] = {[STORE_ID] = id};
    const size_t len[STORE_N_PARTS] = {[STORE_ID] = strlen(id)};
    return put(ctx, STORE_SESSION_GONE, part, len, err);
}

int store_put_command(const char *id, const char *session_id, const char *json, size_t len,
                      struct err *err, void *ctx)
{
    const char *const part[STORE_N_PARTS] = {
        [STORE_ID] = id, [STORE_OF_SESSION] = session_id, [STORE_JSON] = json};
    const size_t part_len[STORE_N_PARTS] = {
        [STORE_ID] = strlen(id), [STORE_OF_SESSION] = strlen(session_id), [STORE_JSON] = len};
    return put(ctx, STORE_COMMAND, part, part_len, err);
}

/* 1 if it waits to be written: json has it then, or the code says why not. */
static int get_queued(struct store *store, const char *id, struct buf *json, int *ret_rc)
{
    pthread_mutex_lock(&store->lock);
    const struct store_entry *e = map_get(&store->commands, id);
    if (e)
        *ret_rc = buf_append(json, e->part[STORE_JSON], e->len[STORE_JSON]);
    pthread_mutex_unlock(&store->lock);
    return e != NULL;
}

static int get_written(struct store *store, const char *id, struct buf *json, int *ret_rc)
{
    sqlite3_stmt *stmt = store->read.statements[STORE_GET_COMMAND];
    int code = sqlite3_bind_text(stmt, 1, id, -1, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code = sqlite3_step(stmt);
    if (code == SQLITE_ROW) {
        const void *bytes = sqlite3_column_text(stmt, 0);
        *ret_rc = buf_append(json, bytes, (size_t)sqlite3_column_bytes(stmt, 0));
    }
    store_reset(stmt);
    return code;
}

/* What one connection has found the other need not find again. */
static void note_failure(struct store *store, int code)
{
    pthread_mutex_lock(&store->lock);
    if (store_is_corrupt(code))
        store->code = code;
    pthread_mutex_unlock(&store->lock);
}

int store_get_command(const char *id, struct buf *json, struct err *err, void *ctx)
{
    struct store *store = ctx;
    int rc = store_check(store, err);
    if (rc < 0)
        return rc;
    int code = SQLITE_ROW;
    if (!get_queued(store, id, json, &rc))
        code = get_written(store, id, json, &rc);
    note_failure(store, code);
    if (code == SQLITE_DONE)
        return err_set(err, ERR_NOT_FOUND, "no command '%s'", id);
    if (code != SQLITE_ROW)
        return fail(store, code, "read", id, err);
    return rc < 0 ? err_set(err, -rc, "result of command '%s'", id) : 0;
}

int store_sync(struct store *store, struct err *err)
{
    int rc = store_check(store, err);
    if (rc < 0)
        return rc;
    pthread_mutex_lock(&store->lock);
    bool had_entries = store_has_entries(store);
    if (store->running && had_entries)
        store->code = SQLITE_OK; /* a new attempt */
    while (store->running && store_has_entries(store) && store->code == SQLITE_OK) {
        store->hurry = true;
        pthread_cond_signal(&store->wake);
        pthread_cond_wait(&store->done, &store->lock);
    }
    int code = store_has_entries(store) ? store->code : SQLITE_OK;
    pthread_mutex_unlock(&store->lock);
    return code == SQLITE_OK ? 0 : fail(store, code, "write", "all", err);
}

int store_each_session(void (*each)(const char *id, const char *json, size_t json_len,
                                    const char *state, size_t state_len, void *arg),
                       void *arg, struct err *err, void *ctx)
{
    struct store *store = ctx;
    int rc = store_sync(store, err);
    if (rc < 0)
        return rc;
    sqlite3_stmt *stmt = store->read.statements[STORE_EACH_SESSION];
    int code;
    while ((code = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *id = (const char *)sqlite3_column_text(stmt, 0);
        const char *json = (const char *)sqlite3_column_text(stmt, 1);
        size_t json_len = (size_t)sqlite3_column_bytes(stmt, 1);
        const char *state = sqlite3_column_blob(stmt, 2);
        size_t state_len = (size_t)sqlite3_column_bytes(stmt, 2);
        if (id && json)
            each(id, json, json_len, state, state_len, arg);
    }
    store_reset(stmt);
    note_failure(store, code);
    return code == SQLITE_DONE ? 0 : fail(store, code, "read", "sessions", err);
}
