/* SPDX-License-Identifier: MIT */
#include "store/store.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "store/priv.h"

/* A value to bind; NULL bytes are SQL's NULL. */
struct param {
    const char *bytes;
    size_t len;
    bool is_blob;
};

static int bind(sqlite3_stmt *stmt, const struct param *params, int n)
{
    int code = SQLITE_OK;
    for (int i = 0; i < n && code == SQLITE_OK; i++) {
        const struct param *p = &params[i];
        code = p->is_blob || !p->bytes
                   ? sqlite3_bind_blob64(stmt, i + 1, p->bytes, p->len, SQLITE_STATIC)
                   : sqlite3_bind_text64(stmt, i + 1, p->bytes, p->len, SQLITE_STATIC, SQLITE_UTF8);
    }
    return code;
}

/* Leaves the statement as it was before: no lock held, nothing borrowed. */
static void reset(sqlite3_stmt *stmt)
{
    (void)sqlite3_reset(stmt); /* repeats what step has said */
    (void)sqlite3_clear_bindings(stmt);
}

static int run_once(struct store *store, enum store_statement which, const struct param *params,
                    int n)
{
    sqlite3_stmt *stmt = store->statements[which];
    int code = bind(stmt, params, n);
    if (code == SQLITE_OK)
        code = sqlite3_step(stmt);
    reset(stmt);
    return code;
}

/* A replaced file whose successor could not be opened is tried again. */
static int ensure_open(struct store *store, struct err *err)
{
    return store->db ? 0 : store_connect(store, err);
}

static int fail(const struct store *store, int code, const char *what, const char *id,
                struct err *err)
{
    return err_set(err, ERR_STORAGE, "%s '%s' in '%s': %s", what, id, store->path,
                   sqlite3_errstr(code));
}

/* Runs a statement that gives no rows; once more if the file had to be replaced. */
static int run(struct store *store, enum store_statement which, const struct param *params, int n,
               struct err *err)
{
    assert(n > 0);
    int rc = ensure_open(store, err);
    if (rc < 0)
        return rc;
    int code = run_once(store, which, params, n);
    if (store_is_corrupt(code)) {
        rc = store_replace(store, sqlite3_errstr(code), err);
        if (rc < 0)
            return rc;
        code = run_once(store, which, params, n);
    }
    return code == SQLITE_DONE ? 0 : fail(store, code, "write", params[0].bytes, err);
}

/* The shape is that of the runtime's hook. */
/* NOLINTNEXTLINE(readability-function-size) */
int store_put_session(const char *id, const char *json, size_t json_len, const char *state,
                      size_t state_len, struct err *err, void *ctx)
{
    const struct param params[] = {
        {id,    strlen(id), false},
        {json,  json_len,   false},
        {state, state_len,  true },
    };
    return run(ctx, STORE_PUT_SESSION, params, 3, err);
}

int store_del_session(const char *id, struct err *err, void *ctx)
{
    const struct param params[] = {
        {id, strlen(id), false}
    };
    return run(ctx, STORE_DEL_SESSION, params, 1, err);
}

int store_put_command(const char *id, const char *session_id, const char *json, size_t len,
                      struct err *err, void *ctx)
{
    struct store *store = ctx;
    const struct param params[] = {
        {id,         strlen(id),         false},
        {session_id, strlen(session_id), false},
        {json,       len,                false},
    };
    int rc = run(store, STORE_PUT_COMMAND, params, 3, err);
    if (rc == 0 && ++store->puts >= STORE_PRUNE_EVERY) {
        store->puts = 0;
        store_prune(store, session_id);
    }
    return rc;
}

int store_get_command(const char *id, struct buf *json, struct err *err, void *ctx)
{
    struct store *store = ctx;
    int rc = ensure_open(store, err);
    if (rc < 0)
        return rc;
    const struct param param = {id, strlen(id), false};
    sqlite3_stmt *stmt = store->statements[STORE_GET_COMMAND];
    int code = bind(stmt, &param, 1);
    if (code == SQLITE_OK)
        code = sqlite3_step(stmt);
    if (code == SQLITE_ROW) {
        const void *bytes = sqlite3_column_text(stmt, 0);
        rc = buf_append(json, bytes, (size_t)sqlite3_column_bytes(stmt, 0));
        if (rc < 0)
            err_set(err, -rc, "result of command '%s'", id);
    } else if (code == SQLITE_DONE) {
        rc = err_set(err, ERR_NOT_FOUND, "no command '%s'", id);
    } else {
        rc = fail(store, code, "read", id, err);
    }
    reset(stmt);
    if (store_is_corrupt(code))
        (void)store_replace(store, sqlite3_errstr(code), NULL); /* rc says it already */
    return rc;
}

int store_each_session(void (*each)(const char *id, const char *json, size_t json_len,
                                    const char *state, size_t state_len, void *arg),
                       void *arg, struct err *err, void *ctx)
{
    struct store *store = ctx;
    int rc = ensure_open(store, err);
    if (rc < 0)
        return rc;
    sqlite3_stmt *stmt = store->statements[STORE_EACH_SESSION];
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
    reset(stmt);
    if (store_is_corrupt(code))
        return store_replace(store, sqlite3_errstr(code), err);
    return code == SQLITE_DONE ? 0 : fail(store, code, "read", "sessions", err);
}
