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
};

enum { VERSION = sizeof(migrations) / sizeof(migrations[0]) };

static const char *const texts[STORE_N_STATEMENTS] = {
    [STORE_PUT_SESSION] = "INSERT INTO session (id, json, state) VALUES (?1, ?2, ?3)"
                          " ON CONFLICT (id) DO UPDATE"
                          " SET json = excluded.json, state = excluded.state",
    [STORE_DEL_SESSION] = "DELETE FROM session WHERE id = ?1",
    [STORE_EACH_SESSION] = "SELECT id, json, state FROM session ORDER BY seq",
    [STORE_PUT_COMMAND] = "INSERT INTO command (id, session, json) VALUES (?1, ?2, ?3)"
                          " ON CONFLICT (id) DO UPDATE SET json = excluded.json",
    [STORE_GET_COMMAND] = "SELECT json FROM command WHERE id = ?1",
    [STORE_COUNT_COMMANDS] = "SELECT count(*) FROM command INDEXED BY command_session",
    [STORE_OLD_COMMANDS] = "SELECT seq, id FROM command ORDER BY seq LIMIT ?1",
    [STORE_OLD_OF_SESSION] = "SELECT seq, id FROM command WHERE session = ?1 AND seq <="
                             " (SELECT seq FROM command WHERE session = ?1"
                             "  ORDER BY seq DESC LIMIT 1 OFFSET ?2)",
    [STORE_DEL_COMMAND] = "DELETE FROM command WHERE seq = ?1",
};

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

int store_prepare(struct store *store)
{
    int code = SQLITE_OK;
    for (int i = 0; i < STORE_N_STATEMENTS && code == SQLITE_OK; i++)
        code = sqlite3_prepare_v3(store->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                                  &store->statements[i], NULL);
    return code;
}

void store_finalize(struct store *store)
{
    for (int i = 0; i < STORE_N_STATEMENTS; i++) {
        (void)sqlite3_finalize(store->statements[i]);
        store->statements[i] = NULL;
    }
}
