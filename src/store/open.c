/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/own.h"
#include "store/priv.h"

enum { BUSY_MS = 2000 };

/* What does not look like a command is not ours to remove. */
static const char command_prefix[] = "c_";

/* A log that had to grow is cut back to this when it begins again. */
#define PRAGMAS                                                                                    \
    "PRAGMA journal_mode = WAL;"                                                                   \
    "PRAGMA synchronous = NORMAL;"                                                                 \
    "PRAGMA journal_size_limit = 16777216;"                                                        \
    "PRAGMA temp_store = MEMORY;"                                                                  \
    "PRAGMA cell_size_check = ON;"

bool store_is_corrupt(int code)
{
    return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB;
}

/* SQLite would create it readable for others; its other files take the mode of this one. */
static int create_file(const struct store *store, struct err *err)
{
    auto_close int fd = open(store->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_set(err, ERR_STORAGE, "open '%s': %s", store->path, strerror(errno));
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
        return err_set(err, ERR_STORAGE, "'%s': expected a regular file of this user", store->path);
    return 0;
}

/* The text comes from a file: nothing in it may reach beyond the file. */
static int harden(sqlite3 *db)
{
    static const struct {
        int option, value;
    } options[] = {
        {SQLITE_DBCONFIG_DEFENSIVE,             1},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA,        0},
        {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER,        0},
        {SQLITE_DBCONFIG_ENABLE_VIEW,           0},
    };
    int code = SQLITE_OK;
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]) && code == SQLITE_OK; i++)
        code = sqlite3_db_config(db, options[i].option, options[i].value, NULL);
    (void)sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    return code;
}

/* All that reads the file; SQLite's code. */
static int try_connect(struct store *store, int *ret_version)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int code = sqlite3_open_v2(store->path, &store->db, flags, NULL);
    if (code == SQLITE_OK)
        code = harden(store->db);
    if (code == SQLITE_OK)
        code = sqlite3_busy_timeout(store->db, BUSY_MS);
    if (code == SQLITE_OK)
        code = store_file_version(store->db, ret_version);
    if (code != SQLITE_OK || *ret_version > store_version())
        return code;

    code = sqlite3_exec(store->db, PRAGMAS, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = store_migrate(store->db);
    /* A schema of somebody else's fails here. */
    return code == SQLITE_OK ? store_prepare(store) : code;
}

/* Moves <path><suffix> to <aside><suffix>; one that is not there is fine. */
static int move_aside(const struct store *store, const char *aside, const char *suffix)
{
    auto_free char *from = xasprintf("%s%s", store->path, suffix);
    auto_free char *to = xasprintf("%s%s", aside, suffix);
    return rename(from, to) < 0 && errno != ENOENT ? -errno : 0;
}

int store_replace(struct store *store, const char *reason, struct err *err)
{
    char when[CLOCK_ISO8601_SIZE];
    auto_free char *aside =
        xasprintf("%s.corrupt-%s", store->path, clock_iso8601(clock_wall_ms(), when));
    auto_free char *why = xstrdup(reason); /* it may be the connection's own text */

    store_worker_stop(store);
    store_disconnect(store);
    int rc = move_aside(store, aside, "");
    if (rc == 0)
        rc = move_aside(store, aside, "-wal");
    if (rc < 0)
        return err_set(err, ERR_STORAGE, "move corrupt '%s' aside: %s", store->path, strerror(-rc));
    auto_free char *shm = xasprintf("%s-shm", store->path);
    (void)unlink(shm); /* an index of the log, made anew */

    free(store->notice);
    store->notice =
        xasprintf("'%s' was corrupt (%s): moved to '%s' and begun anew", store->path, why, aside);
    return store_connect(store, err);
}

int store_connect(struct store *store, struct err *err)
{
    int rc = create_file(store, err);
    if (rc < 0)
        return rc;
    int version = 0;
    int code = try_connect(store, &version);
    if (code == SQLITE_OK && version > store_version())
        return err_set(err, ERR_UNSUPPORTED,
                       "'%s' has format %d of a newer nacre: this one knows up to %d", store->path,
                       version, store_version());
    /* SQLITE_ERROR: a sound file, but with tables that are not ours. */
    if (code != SQLITE_OK && !store->notice && (store_is_corrupt(code) || code == SQLITE_ERROR))
        return store_replace(store, sqlite3_errmsg(store->db), err);
    if (code != SQLITE_OK)
        return err_set(err, ERR_STORAGE, "open '%s': %s", store->path, sqlite3_errmsg(store->db));
    (void)sqlite3_wal_hook(store->db, store_worker_on_commit, store);
    return 0;
}

void store_disconnect(struct store *store)
{
    store_finalize(store);
    (void)sqlite3_close(store->db); /* nothing is left that could be busy */
    store->db = NULL;
}

/* A process that was killed leaves output of commands whose results it did not store. */
static int look_for_leftovers(struct store *store)
{
    int fd = openat(store->output_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        own_close(&fd);
        return -errno;
    }
    /* Beside a file that was moved aside all would be unknown. */
    for (struct dirent *e = readdir(dir); e && !store->notice; e = readdir(dir))
        if (strncmp(e->d_name, command_prefix, sizeof(command_prefix) - 1) == 0)
            store_worker_remove(store, e->d_name, true);
    (void)closedir(dir);
    return 0;
}

static int open_output(struct store *store, const char *path, struct err *err)
{
    int rc = io_mkdir_p(path, 0700, err);
    if (rc < 0)
        return rc;
    store->output_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    rc = store->output_fd < 0 ? -errno : look_for_leftovers(store);
    return rc < 0 ? err_set(err, ERR_STORAGE, "open '%s': %s", path, strerror(-rc)) : 0;
}

int store_open(const struct store_options *options, struct store **ret_store, struct err *err)
{
    int rc = io_mkdir_p(options->dir, 0700, err);
    if (rc < 0)
        return rc;
    AUTO(store_free) struct store *store = xnew(struct store);
    store->dir = xstrdup(options->dir);
    store->path = xasprintf("%s/nacre.db", options->dir);
    store->commands_max = options->commands_max ? options->commands_max : STORE_COMMANDS_MAX;
    store->session_commands_max =
        options->session_commands_max ? options->session_commands_max : STORE_SESSION_COMMANDS_MAX;
    store->output_fd = -1;
    store_worker_init(store);
    rc = store_connect(store, err);
    if (rc == 0 && options->output_dir)
        rc = open_output(store, options->output_dir, err);
    if (rc < 0)
        return rc;
    *ret_store = take_ptr(store);
    return 0;
}

void store_free(struct store *store)
{
    if (!store)
        return;
    store_worker_stop(store);
    store_disconnect(store);
    own_close_fd(&store->output_fd);
    free(store->dir);
    free(store->path);
    free(store->notice);
    free(store);
}

const char *store_notice(const struct store *store)
{
    return store->notice;
}
