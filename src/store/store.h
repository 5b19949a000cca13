/* SPDX-License-Identifier: MIT */
/*
 * store - results and sessions that outlive the process, in one SQLite file.
 *
 * What a call has acknowledged survives the death of the process (kill -9): it is in a
 * journal by then, which costs one write of a few microseconds. A thread of the store's
 * own moves it into the database, many at a time, so that no caller waits for a disk. A
 * power cut may cost the last moments but never the file.
 *
 * The oldest results are removed in batches once there are too many or too much, and with
 * them what else is kept of their commands (output_dir). Sessions stay. A file that SQLite finds
 * corrupt is moved aside and a new one begun: store_notice() says so.
 *
 * The functions with a ctx have the shape of the runtime's hooks; ctx is the store.
 * Failures are -ERR_STORAGE unless said otherwise. One thread.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/own.h"

struct buf;
struct err;
struct store;

enum {
    STORE_COMMANDS_MAX = 10000,            /* results kept */
    STORE_RESULTS_MAX = 256 * 1024 * 1024, /* bytes of them */
    STORE_SESSION_COMMANDS_MAX = 1000,     /* of one session */
    STORE_PRUNE_EVERY =
        127, /* puts between two looks; a prime, so that every session has its turn */
    STORE_PRUNE_SHARE = 16, /* a look also after so large a part of the bytes was put */
};

struct store_options {
    const char *dir; /* made if missing, for its owner only */
    /*
     * Holds a file or directory named after each command that has one; can be NULL. What has no
     * result when the store is opened, or loses its result later, is removed.
     */
    const char *output_dir;
    size_t commands_max;         /* 0: STORE_COMMANDS_MAX */
    size_t session_commands_max; /* 0: STORE_SESSION_COMMANDS_MAX */
    uint64_t results_max;        /* bytes of all results; 0: STORE_RESULTS_MAX */
};

/*
 * Opens <dir>/nacre.db (mode 0600), bringing an older one up to date. -ERR_UNSUPPORTED for
 * the file of a newer version, which is left alone; -ERR_BUSY while another process has it.
 */
int store_open(const struct store_options *options, struct store **ret_store, struct err *err);

/* Closes; NULL is fine. */
void store_free(struct store *store);

/*
 * Waits until all that was put is in the database, for those who look at it from outside;
 * -ERR_STORAGE if it cannot be written now. Nothing is lost without it.
 */
int store_sync(struct store *store, struct err *err);

/* What people should know: that a corrupt file was moved aside, and where. Or NULL. */
const char *store_notice(const struct store *store);

/* A session is put whole each time; state may be NULL. */
int store_put_session(const char *id, const char *json, size_t json_len, const char *state,
                      size_t state_len, struct err *err, void *ctx);
/* 0 also if there is none. The results of its commands stay. */
int store_del_session(const char *id, struct err *err, void *ctx);
/* Puts a result in place of an earlier one of the same id. */
int store_put_command(const char *id, const char *session_id, const char *json, size_t len,
                      struct err *err, void *ctx);
/* Appends the result to json. -ERR_NOT_FOUND; -ERR_LIMIT if json cannot hold it. */
int store_get_command(const char *id, struct buf *json, struct err *err, void *ctx);
/* Sessions in the order in which they were first put. */
int store_each_session(void (*each)(const char *id, const char *json, size_t json_len,
                                    const char *state, size_t state_len, void *arg),
                       void *arg, struct err *err, void *ctx);

DEFINE_AUTO(struct store *, store_free)

#endif
