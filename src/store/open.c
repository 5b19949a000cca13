/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
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

/* A connection to whatever is there, of which nothing was read yet. */
static int open_file(const struct store *store, sqlite3 **ret)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int code = sqlite3_open_v2(store->path, ret, flags, NULL);
    if (code == SQLITE_OK)
        code = harden(*ret);
    return code == SQLITE_OK ? sqlite3_busy_timeout(*ret, BUSY_MS) : code;
}

int store_connect(const struct store *store, struct store_db *ret)
{
    int code = open_file(store, &ret->db);
    if (code == SQLITE_OK)
        code = sqlite3_exec(ret->db, PRAGMAS, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = store_migrate(ret->db);
    /* A schema of somebody else's fails here. */
    return code == SQLITE_OK ? store_prepare(ret) : code;
}

void store_disconnect(struct store_db *d)
{
    for (int i = 0; i < STORE_N_STATEMENTS; i++)
        (void)sqlite3_finalize(d->statements[i]);
    (void)sqlite3_close(d->db); /* nothing is left that could be busy */
    *d = (struct store_db){.db = NULL};
}

/* Moves <path><suffix> to <aside><suffix>; one that is not there is fine. */
static int move_aside(const struct store *store, const char *aside, const char *suffix)
{
    auto_free char *from = xasprintf("%s%s", store->path, suffix);
    auto_free char *to = xasprintf("%s%s", aside, suffix);
    return rename(from, to) < 0 && errno != ENOENT ? -errno : 0;
}

static int set_aside(struct store *store, const char *reason, struct err *err)
{
    char when[CLOCK_ISO8601_SIZE];
    auto_free char *aside =
        xasprintf("%s.corrupt-%s", store->path, clock_iso8601(clock_wall_ms(), when));
    int rc = move_aside(store, aside, "");
    if (rc == 0)
        rc = move_aside(store, aside, "-wal");
    if (rc < 0)
        return err_set(err, ERR_STORAGE, "move corrupt '%s' aside: %s", store->path, strerror(-rc));
    auto_free char *shm = xasprintf("%s-shm", store->path);
    (void)unlink(shm); /* an index of the log, made anew */

    free(store->notice);
    store->notice = xasprintf("'%s' was corrupt (%s): moved to '%s' and begun anew", store->path,
                              reason, aside);
    return 0;
}

static int check_version(const struct store *store, struct err *err)
{
    sqlite3 *db = NULL;
    int version = 0;
    if (open_file(store, &db) == SQLITE_OK)
        (void)store_file_version(db, &version); /* what cannot be read is found out later */
    (void)sqlite3_close(db);
    if (version <= store_version())
        return 0;
    return err_set(err, ERR_UNSUPPORTED,
                   "'%s' has format %d of a newer nacre: this one knows up to %d", store->path,
                   version, store_version());
}

static int try_open(struct store *store, int *ret_code, struct err *err)
{
    int rc = create_file(store, err);
    if (rc == 0)
        rc = check_version(store, err);
    if (rc < 0)
        return rc;
    *ret_code = store_connect(store, &store->read);
    return 0;
}

int store_open_database(struct store *store, struct err *err)
{
    int code = SQLITE_OK;
    int rc = try_open(store, &code, err);
    /* SQLITE_ERROR: a sound file, but with tables that are not ours. */
    if (rc == 0 && (store_is_corrupt(code) || code == SQLITE_ERROR)) {
        auto_free char *reason = xstrdup(sqlite3_errmsg(store->read.db));
        store_disconnect(&store->read);
        rc = set_aside(store, reason, err);
        if (rc == 0)
            rc = try_open(store, &code, err);
    }
    if (rc == 0 && code != SQLITE_OK)
        rc = err_set(err, ERR_STORAGE, "open '%s': %s", store->path, sqlite3_errstr(code));
    if (rc < 0)
        store_disconnect(&store->read);
    return rc;
}

int store_check(struct store *store, struct err *err)
{
    pthread_mutex_lock(&store->lock);
    int code = store->code;
    pthread_mutex_unlock(&store->lock);
    if (!store_is_corrupt(code))
        return store->read.db ? 0 : store_open_database(store, err);

    store_writer_stop(store);
    store_disconnect(&store->read);
    store->code = SQLITE_OK;
    int rc = set_aside(store, sqlite3_errstr(code), err);
    return rc < 0 ? rc : store_open_database(store, err);
}

/* What a killed process had acknowledged, but not moved. */
static int recover(struct store *store, struct err *err)
{
    struct list entries = LIST_INIT(entries);
    int rc = store_journal_read(store, &entries);
    if (rc < 0)
        return err_set(err, ERR_STORAGE, "read the journal of '%s': %s", store->path,
                       err_describe(rc));
    int code = list_empty(&entries) ? SQLITE_OK : store_write(&store->read, &entries);
    store_entries_free(&entries);
    if (code != SQLITE_OK)
        return err_set(err, ERR_STORAGE, "write to '%s': %s", store->path, sqlite3_errstr(code));
    store_journal_clear(store, 0);
    store_journal_clear(store, 1);
    return 0;
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
            store_queue_removal(store, e->d_name, true);
    (void)closedir(dir);
    if (!list_empty(&store->leftovers))
        (void)store_writer_start(store); /* if not, then at the next start */
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

static struct store *new_store(const struct store_options *options)
{
    struct store *store = xnew(struct store);
    store->path = xasprintf("%s/nacre.db", options->dir);
    store->commands_max = options->commands_max ? options->commands_max : STORE_COMMANDS_MAX;
    store->session_commands_max =
        options->session_commands_max ? options->session_commands_max : STORE_SESSION_COMMANDS_MAX;
    store->results_max = options->results_max ? options->results_max : STORE_RESULTS_MAX;
    store->output_fd = store->journal[0] = store->journal[1] = -1;
    pthread_mutex_init(&store->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&store->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_cond_init(&store->done, NULL);
    list_init(&store->queue);
    list_init(&store->writing);
    list_init(&store->leftovers);
    map_init(&store->commands, STORE_PENDING_MAX);
    return store;
}

int store_open(const struct store_options *options, struct store **ret_store, struct err *err)
{
    int rc = io_mkdir_p(options->dir, 0700, err);
    if (rc < 0)
        return rc;
    AUTO(store_free) struct store *store = new_store(options);
    rc = store_journal_open(store, options->dir, err);
    if (rc == 0)
        rc = store_open_database(store, err);
    if (rc == 0)
        rc = recover(store, err);
    if (rc == 0 && options->output_dir)
        rc = open_output(store, options->output_dir, err);
    if (rc == 0)
        *ret_store = take_ptr(store);
    return rc;
}

void store_free(struct store *store)
{
    if (!store)
        return;
    store_writer_stop(store);
    store_disconnect(&store->read);
    store_entries_free(&store->queue); /* the journals have them */
    store_entries_free(&store->writing);
    LIST_FOREACH(link, &store->leftovers)
    free(list_entry(link, struct store_leftover, link));
    map_done(&store->commands);
    store_journal_close(store);
    own_close_fd(&store->output_fd);
    free(store->path);
    free(store->notice);
    free(store);
}

const char *store_notice(const struct store *store)
{
    return store->notice;
}
