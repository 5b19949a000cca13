/* SPDX-License-Identifier: MIT */
/*
 * store/priv - what the files of store share.
 *
 * A put is appended to a journal and queued (owner thread). The writer thread moves what
 * is queued into the database, many at a time. Until then a reader finds it in the queue.
 *
 *   owner   journal.c append, queue.c, a connection to read with
 *   writer  writer.c, prune.c: a connection to write with, output to remove
 *
 * There are two journals. When the writer takes the queue the owner goes on in the other;
 * when what was taken is in the database its journal is emptied. At the next start what a
 * killed process left in them is moved first.
 */
#ifndef STORE_PRIV_H
#define STORE_PRIV_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/list.h"
#include "base/map.h"
#include "store/store.h"

enum {
    STORE_PENDING_MAX =
        64 * 1024 * 1024,  /* bytes that may be queued while nothing can be written */
    STORE_GATHER_MS = 50,  /* how long the writer lets entries gather */
    STORE_RETRY_MS = 1000, /* after a failure */
};

/* Prepared once; the texts are in sql.c. */
enum store_statement {
    STORE_PUT_SESSION,
    STORE_DEL_SESSION,
    STORE_EACH_SESSION,
    STORE_PUT_COMMAND,
    STORE_GET_COMMAND,
    STORE_COUNT_COMMANDS,
    STORE_FULL_SESSION,
    STORE_OLD_COMMANDS,
    STORE_OLD_OF_SESSION,
    STORE_DEL_COMMAND,
    STORE_HAS_COMMAND,
    STORE_N_STATEMENTS
};

/* A connection. */
struct store_db {
    sqlite3 *db;
    sqlite3_stmt *statements[STORE_N_STATEMENTS];
};

enum store_kind { STORE_SESSION = 1, STORE_SESSION_GONE, STORE_COMMAND };

enum { STORE_ID, STORE_OF_SESSION, STORE_JSON, STORE_STATE, STORE_N_PARTS };

/* Something to be written. */
struct store_entry {
    struct list link; /* store.queue, or the writer's */
    enum store_kind kind;
    const char *part[STORE_N_PARTS]; /* into data, each with a NUL behind it; can be NULL */
    size_t len[STORE_N_PARTS];
    size_t size; /* of data */
    char data[];
};

/* A name in output_dir that may have to go. */
struct store_leftover {
    struct list link; /* store.leftovers */
    bool if_unknown;  /* only if there is no result of that name */
    char name[];
};

struct store {
    char *path;
    struct store_db read;
    char *notice; /* can be NULL */
    size_t commands_max, session_commands_max;
    uint64_t results_max;
    int output_fd; /* -1: none */
    int journal[2];
    uint64_t seq; /* of the next record */
    off_t end;    /* of the journal that is written */

    pthread_t thread;
    bool running;
    pthread_mutex_t lock;  /* of all below */
    pthread_cond_t wake;   /* the writer */
    pthread_cond_t done;   /* whoever waits for it */
    struct list queue;     /* store_entry.link; oldest first */
    struct list writing;   /* the same, taken by the writer */
    struct map commands;   /* id -> the newest entry of it in queue or writing */
    size_t pending;        /* bytes there */
    int active;            /* journal that is written */
    struct list leftovers; /* store_leftover.link */
    bool hurry, quit;
    int code; /* SQLite's, of the last failure; SQLITE_OK: none */

    size_t puts;        /* since the last prune, as all below; the writer's */
    uint64_t put_bytes; /* of results */
};

/* open.c */
int store_connect(const struct store *store, struct store_db *ret);
void store_disconnect(struct store_db *d);
/* Opens the database; one that is corrupt is moved aside, once. The writer does not run. */
int store_open_database(struct store *store, struct err *err);
/* If the writer has found the file corrupt: begins a new one. */
int store_check(struct store *store, struct err *err);

/* sql.c: SQLite's codes. */
int store_migrate(sqlite3 *db);
int store_prepare(struct store_db *d);
/* The newest schema that this program knows, and that of a file. */
int store_version(void);
int store_file_version(sqlite3 *db, int *ret);
bool store_is_corrupt(int code);
/* Writes all entries or none. */
int store_write(struct store_db *d, const struct list *entries);
/* Ends the use of a statement: no lock is held, nothing borrowed. */
void store_reset(sqlite3_stmt *stmt);

/* entry.c */
struct store_entry *store_entry_new(enum store_kind kind, const char *const part[STORE_N_PARTS],
                                    const size_t len[STORE_N_PARTS]);
void store_entries_free(struct list *entries);

/* journal.c: 0 or -errno. */
int store_journal_open(struct store *store, const char *dir, struct err *err);
int store_journal_append(struct store *store, const struct store_entry *entry);
/* Takes over what a killed process has left, oldest first. */
int store_journal_read(struct store *store, struct list *ret_entries);
void store_journal_clear(const struct store *store, int which);
void store_journal_close(struct store *store);

/* writer.c */
bool store_writer_start(struct store *store);
/* Ends the thread, if there is one, when it has written what it can. */
void store_writer_stop(struct store *store);
/* Has the name removed from output_dir, if it is a name of ours, by the running writer. */
void store_queue_removal(struct store *store, const char *name, bool if_unknown);
/* Under the lock: whether something is not in the database yet. */
bool store_has_entries(const struct store *store);

/* prune.c: removes what is too much; a failure is left to the next time. */
void store_prune(struct store *store, struct store_db *d);

#endif
