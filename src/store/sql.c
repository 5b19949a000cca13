/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "store/priv.h"

/*
 * One entry brings a file from version i to i + 1. Entries are only ever added.
 *
 * The number of a command is its age, which is what old ones are found by. The
 * second index holds all that counting needs, so that no result is read for it.
 */
static const char *const migrations[] = {
    "CREATE TABLE session ("
    "  seq INTEGER PRIMARY KEY,"
    "  id TEXT NOT NULL UNIQUE,"
    "  json TEXT NOT NULL,"
    "  state BLOB);"
    "CREATE TABLE command ("
    "  seq INTEGER PRIMARY KEY,"
    "  id TEXT NOT NULL UNIQUE,"
    "  session TEXT NOT NULL,"
    "  json TEXT NOT NULL);"
    "CREATE INDEX command_session ON command (session, seq);",

    /* Bytes of the result, so that the sum of all costs no look at them. */
    "ALTER TABLE command ADD COLUMN size INTEGER NOT NULL DEFAULT 0;"
    "UPDATE command SET size = length(CAST(json AS BLOB));"
    "DROP INDEX command_session;"
    "CREATE INDEX command_session ON command (session, seq, size);",
};

enum { VERSION = sizeof(migrations) / sizeof(migrations[0]) };

static const char *const texts[STORE_N_STATEMENTS] = {
    [STORE_PUT_SESSION] = "INSERT INTO session (id, json, state) VALUES (?1, ?2, ?3)"
                          " ON CONFLICT (id) DO UPDATE"
                          " SET json = excluded.json, state = excluded.state",
    [STORE_DEL_SESSION] = "DELETE FROM session WHERE id = ?1",
    [STORE_EACH_SESSION] = "SELECT id, json, state FROM session ORDER BY seq",
    [STORE_PUT_COMMAND] = "INSERT INTO command (id, session, json, size)"
                          " VALUES (?1, ?2, ?3, length(CAST(?3 AS BLOB)))"
                          " ON CONFLICT (id) DO UPDATE"
                          " SET json = excluded.json, size = excluded.size",
    [STORE_GET_COMMAND] = "SELECT json FROM command WHERE id = ?1",
    [STORE_COUNT_COMMANDS] = "SELECT count(*), sum(size) FROM command"
                             " INDEXED BY command_session",
    [STORE_FULL_SESSION] = "SELECT session FROM command GROUP BY session"
                           " HAVING count(*) > ?1 LIMIT 1",
    [STORE_OLD_COMMANDS] = "SELECT seq, id FROM command ORDER BY seq LIMIT ?1",
    [STORE_OLD_OF_SESSION] = "SELECT seq, id FROM command WHERE session = ?1 AND seq <="
                             " (SELECT seq FROM command WHERE session = ?1"
                             "  ORDER BY seq DESC LIMIT 1 OFFSET ?2)",
    [STORE_DEL_COMMAND] = "DELETE FROM command WHERE seq = ?1",
    [STORE_HAS_COMMAND] = "SELECT 1 FROM command WHERE id = ?1",
};

bool store_is_corrupt(int code)
{
    return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB;
}

int store_version(void)
{
    return VERSION;
}

int store_file_version(sqlite3 *db, int *ret)
{
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &stmt, NULL);
    if (code == SQLITE_OK && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
        *ret = sqlite3_column_int(stmt, 0);
        code = SQLITE_OK;
    }
    (void)sqlite3_finalize(stmt); /* repeats what step has said */
    return code;
}

static int migrate_one(sqlite3 *db, int version)
{
    char *set = sqlite3_mprintf("PRAGMA user_version = %d; COMMIT", version + 1);
    if (!set)
        return SQLITE_NOMEM;
    int code = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(db, migrations[version], NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(db, set, NULL, NULL, NULL);
    if (code != SQLITE_OK)
        (void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_free(set);
    return code;
}

int store_migrate(sqlite3 *db)
{
    int version = 0;
    int code = store_file_version(db, &version);
    for (; code == SQLITE_OK && version < VERSION; version++)
        code = migrate_one(db, version);
    return code;
}

int store_prepare(struct store_db *d)
{
    int code = SQLITE_OK;
    for (int i = 0; i < STORE_N_STATEMENTS && code == SQLITE_OK; i++)
        code = sqlite3_prepare_v3(d->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT, &d->statements[i],
                                  NULL);
    return code;
}

void store_reset(sqlite3_stmt *stmt)
{
    (void)sqlite3_reset(stmt); /* repeats what step has said */
    (void)sqlite3_clear_bindings(stmt);
}

/* Which statement writes an entry, and of what parts. */
static const struct writing {
    enum store_statement statement;
    int parts[3], n;
} writings[] = {
    [STORE_SESSION] = {STORE_PUT_SESSION, {STORE_ID, STORE_JSON, STORE_STATE},      3},
    [STORE_SESSION_GONE] = {STORE_DEL_SESSION, {STORE_ID},                               1},
    [STORE_COMMAND] = {STORE_PUT_COMMAND, {STORE_ID, STORE_OF_SESSION, STORE_JSON}, 3},
};

static int bind(sqlite3_stmt *stmt, int at, const struct store_entry *e, int part)
{
    const char *p = e->part[part];
    if (part == STORE_STATE || !p) /* no bytes are SQL's NULL */
        return sqlite3_bind_blob64(stmt, at, p, e->len[part], SQLITE_STATIC);
    return sqlite3_bind_text64(stmt, at, p, e->len[part], SQLITE_STATIC, SQLITE_UTF8);
}

static int write_entry(struct store_db *d, const struct store_entry *e)
{
    const struct writing *w = &writings[e->kind];
    sqlite3_stmt *stmt = d->statements[w->statement];
    int code = SQLITE_OK;
    for (int i = 0; i < w->n && code == SQLITE_OK; i++)
        code = bind(stmt, i + 1, e, w->parts[i]);
    if (code == SQLITE_OK)
        code = sqlite3_step(stmt);
    store_reset(stmt);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

int store_write(struct store_db *d, const struct list *entries)
{
    int code = sqlite3_exec(d->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    for (struct list *link = entries->next; link != entries && code == SQLITE_OK; link = link->next)
        code = write_entry(d, list_entry(link, struct store_entry, link));
    if (code == SQLITE_OK)
        code = sqlite3_exec(d->db, "COMMIT", NULL, NULL, NULL);
    if (code != SQLITE_OK)
        (void)sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
    return code;
}
