/* SPDX-License-Identifier: MIT */
/* store/priv - what the files of store share. */
#ifndef STORE_PRIV_H
#define STORE_PRIV_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "store/store.h"

/* Prepared once; the texts are in sql.c. */
enum store_statement {
    STORE_PUT_SESSION,
    STORE_DEL_SESSION,
    STORE_EACH_SESSION,
    STORE_PUT_COMMAND,
    STORE_GET_COMMAND,
    STORE_COUNT_COMMANDS,
    STORE_OLD_COMMANDS,
    STORE_OLD_OF_SESSION,
    STORE_DEL_COMMAND,
    STORE_N_STATEMENTS
};

/* A name in output_dir that may have to go. */
struct store_leftover {
    struct list link; /* store_worker.leftovers */
    bool if_unknown;  /* only if there is no result of that name */
    char name[];
};

/* The thread that waits for the disk: folds the write-ahead log into the file, removes files. */
struct store_worker {
    pthread_t thread;
    bool running;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool fold, quit;       /* under lock, as the list */
    struct list leftovers; /* store_leftover.link */
};

struct store {
    char *dir, *path;
    sqlite3 *db;
    sqlite3_stmt *statements[STORE_N_STATEMENTS];
    char *notice; /* can be NULL */
    size_t commands_max, session_commands_max;
    size_t puts;   /* since the last prune */
    int output_fd; /* -1: none */
    struct store_worker worker;
};

/* open.c: the connection. A corrupt file is moved aside; closing twice is fine. */
int store_connect(struct store *store, struct err *err);
void store_disconnect(struct store *store);
/* Moves the file aside, opens a new one and sets the notice. */
int store_replace(struct store *store, const char *reason, struct err *err);

/* sql.c: brings the schema up to date, prepares the statements. SQLite's codes. */
int store_migrate(sqlite3 *db);
int store_prepare(struct store *store);
void store_finalize(struct store *store);
/* The newest schema that this program knows. */
int store_version(void);
int store_file_version(sqlite3 *db, int *ret);

/* Whether this code of SQLite says that the file is of no use any more. */
bool store_is_corrupt(int code);

/* prune.c: removes what is too much; a failure is left to the next time. */
void store_prune(struct store *store, const char *session_id);

/* worker.c */
void store_worker_init(struct store *store);
/* Told by SQLite after each commit how long the log is. */
int store_worker_on_commit(void *ctx, sqlite3 *db, const char *name, int n_pages);
/* Removes the name from output_dir, if it is a name of ours. */
void store_worker_remove(struct store *store, const char *name, bool if_unknown);
/* Ends the thread, if there is one; what it has not removed is found at the next start. */
void store_worker_stop(struct store *store);

#endif
