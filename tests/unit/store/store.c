/* SPDX-License-Identifier: MIT */
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "lib/test.h"

static struct store *open_dir(const char *dir)
{
    struct store_options options = {.dir = dir};
    struct store *store = NULL;
    struct err err = {0};
    if (store_open(&options, &store, &err) < 0)
        FAIL("%s", err.text);
    return store;
}

static void put(struct store *store, const char *id, const char *session, const char *json)
{
    struct err err = {0};
    if (store_put_command(id, session, json, strlen(json), &err, store) < 0)
        FAIL("%s", err.text);
}

/* The result; "" if there is none. Free it. */
static char *get(struct store *store, const char *id)
{
    struct buf b = BUF_INIT((size_t)1024 * 1024);
    int rc = store_get_command(id, &b, NULL, store);
    CHECK(rc == 0 || rc == -ERR_NOT_FOUND);
    return buf_take(&b);
}

static void check_get(struct store *store, const char *id, const char *json)
{
    auto_free char *got = get(store, id);
    CHECK_STR(got, json);
}

static size_t count(struct store *store, const char *prefix, int n)
{
    size_t found = 0;
    for (int i = 0; i < n; i++) {
        char id[32];
        (void)snprintf(id, sizeof(id), "%s%d", prefix, i);
        auto_free char *json = get(store, id);
        found += *json != '\0';
    }
    return found;
}

TEST(results_survive_a_restart)
{
    struct store *store = open_dir("state");
    put(store, "c_1", "a", "{\"exitCode\":0}");
    put(store, "c_2", "a", "{\"exitCode\":2}");
    put(store, "c_2", "a", "{\"exitCode\":3}");
    store_free(store);

    store = open_dir("state");
    check_get(store, "c_1", "{\"exitCode\":0}");
    check_get(store, "c_2", "{\"exitCode\":3}");
    check_get(store, "c_3", "");
    CHECK_STR(store_notice(store), NULL);
    store_free(store);
}

TEST(bytes_are_kept_as_they_are)
{
    struct store *store = open_dir("state");
    CHECK_INT(store_put_command("c", "s", "a\0b\xff", 4, NULL, store), 0);
    auto_buf struct buf b = BUF_INIT(100);
    CHECK_INT(buf_append_str(&b, "<"), 0);
    CHECK_INT(store_get_command("c", &b, NULL, store), 0);
    CHECK_MEM(b.data, b.len, "<a\0b\xff", 5);

    auto_buf struct buf small = BUF_INIT(3);
    struct err err = {0};
    CHECK_INT(store_get_command("c", &small, &err, store), -ERR_LIMIT);
    CHECK_INT(store_get_command("d", &b, &err, store), -ERR_NOT_FOUND);
    CHECK_STR(err.text, "no command 'd'");
    store_free(store);
}

TEST(files_are_for_their_owner_only)
{
    (void)umask(0);
    struct store *store = open_dir("a/b");
    put(store, "c", "s", "{}");
    static const char *const files[] = {"a/b/nacre.db", "a/b/nacre.db-wal", "a/b/nacre.db-shm",
                                        "a/b/nacre.journal0", "a/b/nacre.journal1"};
    struct stat st;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        CHECK_INT(stat(files[i], &st), 0);
        CHECK_INT(st.st_mode & 0777, 0600);
    }
    CHECK_INT(stat("a/b", &st), 0);
    CHECK_INT(st.st_mode & 0777, 0700);
    store_free(store);
}

static void append_session(const char *id, const char *json, size_t json_len, const char *state,
                           size_t state_len, void *arg)
{
    if (state)
        CHECK_INT(buf_printf(arg, "%s %.*s %zu:%d;", id, (int)json_len, json, state_len, *state),
                  0);
    else
        CHECK_INT(buf_printf(arg, "%s %.*s none;", id, (int)json_len, json), 0);
}

static void check_sessions(struct store *store, const char *want)
{
    auto_buf struct buf b = BUF_INIT(4096);
    CHECK_INT(store_each_session(append_session, &b, NULL, store), 0);
    CHECK_STR(buf_cstr(&b), want);
}

TEST(sessions_survive_a_restart)
{
    struct store *store = open_dir("state");
    check_sessions(store, "");
    CHECK_INT(store_put_session("z", "{}", 2, NULL, 0, NULL, store), 0);
    CHECK_INT(store_put_session("a", "{1}", 3, "\1\0\2", 3, NULL, store), 0);
    CHECK_INT(store_put_session("b", "{2}", 3, "\3", 1, NULL, store), 0);
    CHECK_INT(store_put_session("z", "{3}", 3, "\4", 1, NULL, store), 0);
    CHECK_INT(store_del_session("b", NULL, store), 0);
    CHECK_INT(store_del_session("never", NULL, store), 0);
    store_free(store);

    store = open_dir("state");
    check_sessions(store, "z {3} 1:4;a {1} 3:1;");
    CHECK_INT(store_put_session("z", "{4}", 3, NULL, 0, NULL, store), 0);
    check_sessions(store, "z {4} none;a {1} 3:1;");
    store_free(store);
}

TEST(what_was_acknowledged_survives_kill)
{
    int fds[2];
    CHECK_INT(io_pipe(fds), 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        struct store *store = open_dir("state");
        for (int i = 0;; i++) {
            char id[32];
            (void)snprintf(id, sizeof(id), "c_%d", i);
            if (store_put_command(id, "s", id, strlen(id), NULL, store) < 0 ||
                io_write_all(fds[1], &i, sizeof(i)) < 0)
                _exit(1);
        }
    }
    (void)close(fds[1]);
    int last = 0;
    while (last < 3000)
        CHECK_INT(io_read_full(fds[0], &last, sizeof(last)), sizeof(last));
    CHECK_INT(kill(pid, SIGKILL), 0);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    while (io_read_full(fds[0], &last, sizeof(last)) == sizeof(last))
        ;
    (void)close(fds[0]);

    struct store *store = open_dir("state");
    CHECK_STR(store_notice(store), NULL);
    for (int i = last - 900; i <= last; i++) {
        char id[32];
        (void)snprintf(id, sizeof(id), "c_%d", i);
        check_get(store, id, id);
    }
    store_free(store);
}

TEST(old_results_make_room)
{
    enum { ALL = 2000 };
    struct store_options options = {
        .dir = "state", .commands_max = 1500, .session_commands_max = 400};
    struct store *store = NULL;
    CHECK_INT(store_open(&options, &store, NULL), 0);
    put(store, "c_quiet", "quiet", "{}");
    for (int i = 0; i < ALL; i++) {
        char id[32];
        (void)snprintf(id, sizeof(id), "c_%d", i);
        put(store, id, "busy", "{}");
    }
    CHECK_INT(store_sync(store, NULL), 0);
    size_t kept = count(store, "c_", ALL);
    CHECK(kept >= 400 && kept <= 400 + STORE_PRUNE_EVERY);
    check_get(store, "c_1999", "{}");
    check_get(store, "c_0", "");
    check_get(store, "c_quiet", "{}");

    for (int i = 0; i < ALL; i++) {
        char id[32], session[32];
        (void)snprintf(id, sizeof(id), "d_%d", i);
        (void)snprintf(session, sizeof(session), "s%d", i % 50);
        put(store, id, session, "{}");
    }
    CHECK_INT(store_sync(store, NULL), 0);
    kept = count(store, "d_", ALL);
    CHECK(kept >= 1500 && kept <= 1500 + STORE_PRUNE_EVERY);
    check_get(store, "c_quiet", "");
    check_get(store, "d_1999", "{}");
    store_free(store);
}

TEST(large_results_make_room)
{
    enum { ALL = 200, SIZE = 20000, MAX = 1000000 };
    struct store_options options = {.dir = "state", .results_max = MAX};
    struct store *store = NULL;
    char id[32];
    auto_free char *json = xmalloc(SIZE + 1);
    memset(json, 'x', SIZE);
    json[SIZE] = '\0';
    CHECK_INT(store_open(&options, &store, NULL), 0);
    CHECK_INT(store_put_session("a", json, SIZE, json, SIZE, NULL, store), 0);
    for (int i = 0; i < ALL; i++) {
        (void)snprintf(id, sizeof(id), "c_%d", i);
        put(store, id, "a", json);
        CHECK_INT(store_sync(store, NULL), 0);
    }
    size_t kept = count(store, "c_", ALL);
    CHECK(kept >= MAX / SIZE - 2 && kept <= (MAX + MAX / STORE_PRUNE_SHARE) / SIZE + 1);
    check_get(store, "c_199", json);
    check_get(store, "c_100", "");
    store_free(store);

    /* A limit below one result still keeps the last. */
    options.results_max = 1;
    CHECK_INT(store_open(&options, &store, NULL), 0);
    put(store, "c_last", "a", json);
    CHECK_INT(store_sync(store, NULL), 0);
    CHECK_INT(count(store, "c_", ALL), 0);
    check_get(store, "c_last", json);
    store_free(store);
}

TEST(results_of_the_first_format_count)
{
    sqlite3 *db;
    CHECK_INT(mkdir("state", 0700), 0);
    CHECK_INT(sqlite3_open("state/nacre.db", &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db,
                           "CREATE TABLE session (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
                           " json TEXT NOT NULL, state BLOB);"
                           "CREATE TABLE command (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
                           " session TEXT NOT NULL, json TEXT NOT NULL);"
                           "CREATE INDEX command_session ON command (session, seq);"
                           "INSERT INTO command (id, session, json) VALUES"
                           " ('c_1', 'a', '123456789'), ('c_2', 'a', '123456789');"
                           "PRAGMA user_version = 1",
                           NULL, NULL, NULL),
              SQLITE_OK);
    CHECK_INT(sqlite3_close(db), SQLITE_OK);
    struct store *store = NULL;
    struct store_options options = {.dir = "state", .results_max = 20};
    CHECK_INT(store_open(&options, &store, NULL), 0);
    CHECK_STR(store_notice(store), NULL);
    check_get(store, "c_1", "123456789");
    put(store, "c_3", "a", "123456789");
    CHECK_INT(store_sync(store, NULL), 0);
    check_get(store, "c_1", "");
    check_get(store, "c_3", "123456789");
    store_free(store);
}

static size_t count_files(const char *dir, const char *part)
{
    size_t n = 0;
    DIR *d = opendir(dir);
    CHECK(d != NULL);
    for (struct dirent *e; (e = readdir(d));)
        n += strstr(e->d_name, part) != NULL;
    (void)closedir(d);
    return n;
}

/* The store's thread removes them, so they are waited for. */
static void wait_count(const char *dir, const char *part, size_t want)
{
    while (count_files(dir, part) != want)
        (void)usleep(1000);
}

static void make_output(const char *id)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "output/%s", id);
    CHECK_INT(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof(path), "output/%s/stdout", id);
    CHECK_INT(io_write_file(AT_FDCWD, path, "x", 1, 0600, NULL), 0);
}

TEST(output_goes_with_its_result)
{
    enum { ALL = 3 * STORE_PRUNE_EVERY };
    struct store_options options = {
        .dir = "state", .output_dir = "output", .session_commands_max = 10};
    struct store *store = NULL;
    CHECK_INT(store_open(&options, &store, NULL), 0);
    make_output("c_other");
    put(store, "c_other", "other", "{}");
    for (int i = 0; i < ALL; i++) {
        char id[32];
        (void)snprintf(id, sizeof(id), "c_%d", i);
        make_output(id);
        put(store, id, "s", "{}");
    }
    CHECK_INT(store_sync(store, NULL), 0);
    wait_count("output", "c_", count(store, "c_", ALL) + 1);
    CHECK(access("output/c_other/stdout", F_OK) == 0);
    store_free(store);
}

TEST(output_without_a_result_goes_when_the_store_is_opened)
{
    struct store_options options = {.dir = "state", .output_dir = "output"};
    struct store *store = NULL;
    CHECK_INT(store_open(&options, &store, NULL), 0);
    put(store, "c_known", "s", "{}");
    make_output("c_known");
    make_output("c_lost");
    make_output("others");
    store_free(store);

    CHECK_INT(store_open(&options, &store, NULL), 0);
    wait_count("output", "c_", 1);
    CHECK(access("output/c_known/stdout", F_OK) == 0);
    CHECK(access("output/others/stdout", F_OK) == 0);
    make_output("c_running"); /* begun by now: it gets its result later */
    store_free(store);

    /* When the file is lost all would be unknown. */
    CHECK_INT(io_write_file(AT_FDCWD, "state/nacre.db", "nonsense", 8, 0600, NULL), 0);
    CHECK_INT(store_open(&options, &store, NULL), 0);
    CHECK(store_notice(store) != NULL);
    put(store, "c_new", "s", "{}");
    store_free(store);
    CHECK(access("output/c_known/stdout", F_OK) == 0);
}

static void overwrite(const char *path, off_t at, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    auto_free char *junk = xmalloc(len);
    memset(junk, 0xa5, len);
    CHECK_INT(pwrite(fd, junk, len, at), len);
    (void)close(fd);
}

TEST(a_file_that_is_no_database_is_moved_aside)
{
    CHECK_INT(mkdir("state", 0700), 0);
    overwrite("state/nacre.db", 0, 5000);
    struct store *store = open_dir("state");
    CHECK(store_notice(store) && strstr(store_notice(store), "moved to 'state/nacre.db.corrupt-"));
    put(store, "c", "s", "{}");
    check_get(store, "c", "{}");
    CHECK_INT(count_files("state", "corrupt"), 1);
    store_free(store);
}

TEST(tables_of_somebody_else_are_moved_aside)
{
    CHECK_INT(mkdir("state", 0700), 0);
    sqlite3 *db;
    CHECK_INT(sqlite3_open("state/nacre.db", &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, "CREATE TABLE command (x)", NULL, NULL, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_close(db), SQLITE_OK);
    struct store *store = open_dir("state");
    CHECK(store_notice(store) != NULL);
    put(store, "c", "s", "{}");
    store_free(store);
}

TEST(a_file_that_becomes_corrupt_is_moved_aside)
{
    struct store *store = open_dir("state");
    char *json = xcalloc(1, 4001);
    memset(json, 'x', 4000);
    for (int i = 0; i < 300; i++) {
        char id[32];
        (void)snprintf(id, sizeof(id), "c_%d", i);
        put(store, id, "s", json);
    }
    free(json);
    store_free(store);
    overwrite("state/nacre.db", 8192, 400000);

    store = open_dir("state");
    for (int i = 0; i < 400; i++) {
        char id[32];
        (void)snprintf(id, sizeof(id), "c_%d", i);
        auto_buf struct buf b = BUF_INIT((size_t)1024 * 1024);
        int rc = store_get_command(id, &b, NULL, store);
        CHECK(rc == 0 || rc == -ERR_STORAGE || rc == -ERR_NOT_FOUND);
        put(store, id, "s", "{}");
        (void)store_sync(store, NULL); /* the next call does what must be done */
    }
    CHECK(store_notice(store) != NULL);
    CHECK_INT(count_files("state", "corrupt"), 1);
    check_get(store, "c_399", "{}");
    check_sessions(store, "");
    store_free(store);
}

TEST(a_newer_format_is_left_alone)
{
    struct store *store = open_dir("state");
    put(store, "c", "s", "{}");
    store_free(store);
    sqlite3 *db;
    CHECK_INT(sqlite3_open("state/nacre.db", &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, "PRAGMA user_version = 1000", NULL, NULL, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_close(db), SQLITE_OK);

    struct store_options options = {.dir = "state"};
    struct err err = {0};
    CHECK_INT(store_open(&options, &store, &err), -ERR_UNSUPPORTED);
    CHECK_STR(err.text,
              "'state/nacre.db' has format 1000 of a newer nacre: this one knows up to 2");
    CHECK_INT(count_files("state", "corrupt"), 0);
}

TEST(what_cannot_be_opened_is_named)
{
    struct store *store = NULL;
    struct err err = {0};
    CHECK_INT(mkdir("state", 0700), 0);
    CHECK_INT(symlink("/etc/passwd", "state/nacre.db"), 0);
    struct store_options options = {.dir = "state"};
    CHECK_INT(store_open(&options, &store, &err), -ERR_STORAGE);
    CHECK_STR(err.text, "open 'state/nacre.db': Too many levels of symbolic links");
    CHECK_INT(unlink("state/nacre.db"), 0);
    CHECK_INT(mkdir("state/nacre.db", 0700), 0);
    CHECK_INT(store_open(&options, &store, &err), -ERR_STORAGE);
    CHECK_STR(err.text, "open 'state/nacre.db': Is a directory");
}

TEST(a_full_disk_is_an_error_and_passes)
{
    (void)signal(SIGXFSZ, SIG_IGN);
    struct store *store = open_dir("state");
    put(store, "c_0", "s", "{}");
    struct rlimit limit = {65536, RLIM_INFINITY};
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
    size_t len = 200000;
    auto_free char *json = xcalloc(1, len);
    memset(json, ' ', len);
    struct err err = {0};
    CHECK_INT(store_put_command("c_1", "s", json, len, &err, store), -ERR_STORAGE);
    CHECK_STR(err.text, "write 'c_1' in the journal of 'state/nacre.db': No space left on device");
    limit.rlim_cur = RLIM_INFINITY;
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);

    CHECK_INT(store_put_command("c_1", "s", json, len, &err, store), 0);
    check_get(store, "c_0", "{}");
    CHECK_STR(store_notice(store), NULL);
    store_free(store);
    store = open_dir("state");
    check_get(store, "c_0", "{}");
    auto_free char *got = get(store, "c_1");
    CHECK_INT(strlen(got), len);
    store_free(store);
}

/*
 * What a journal held when the process ended, as bytes. The writer lets entries gather for
 * a while, and the file is copied meanwhile. `before` entries are written earlier, so that
 * the numbers of these are higher.
 */
static void make_journal(int which, const char *const *ids, const char *json, int before)
{
    struct store *store = open_dir("made");
    for (int i = 0; i < before; i++)
        put(store, "c_before", "s", "{}");
    CHECK_INT(store_sync(store, NULL), 0);
    for (int i = 0; ids[i]; i++)
        put(store, ids[i], "s", json);
    auto_buf struct buf bytes = BUF_INIT(65536);
    CHECK_INT(io_read_file(AT_FDCWD, "made/nacre.journal0", 65536, &bytes, NULL), 0);
    CHECK_INT(io_read_file(AT_FDCWD, "made/nacre.journal1", 65536, &bytes, NULL), 0);
    store_free(store);
    if (bytes.len == 0)
        SKIP("the machine is too busy");
    char path[64];
    (void)snprintf(path, sizeof(path), "state/nacre.journal%d", which);
    CHECK_INT(io_write_file(AT_FDCWD, path, bytes.data, bytes.len, 0600, NULL), 0);
    CHECK_INT(io_remove_tree(AT_FDCWD, "made"), 0);
}

TEST(journals_are_read_oldest_first)
{
    for (int newer = 0; newer < 2; newer++) {
        CHECK_INT(mkdir("state", 0700), 0);
        make_journal(!newer, (const char *[]){"c_1", "c_2", NULL}, "old", 0);
        make_journal(newer, (const char *[]){"c_0", "c_2", NULL}, "new", 2);
        struct store *store = open_dir("state");
        check_get(store, "c_1", "old");
        check_get(store, "c_0", "new");
        check_get(store, "c_2", "new");
        store_free(store);
        struct stat st;
        CHECK_INT(stat("state/nacre.journal0", &st), 0);
        CHECK_INT(st.st_size, 0);
        CHECK_INT(stat("state/nacre.journal1", &st), 0);
        CHECK_INT(st.st_size, 0);
        CHECK_INT(io_remove_tree(AT_FDCWD, "state"), 0);
    }
}

TEST(a_record_that_is_not_whole_is_the_last)
{
    CHECK_INT(mkdir("state", 0700), 0);
    make_journal(0, (const char *[]){"c_0", "c_1", "c_2", NULL}, "{\"some\": \"json\"}", 0);
    auto_buf struct buf whole = BUF_INIT((size_t)1024 * 1024);
    CHECK_INT(io_read_file(AT_FDCWD, "state/nacre.journal0", 65536, &whole, NULL), 0);
    size_t record = whole.len / 3;
    for (size_t i = 0; i < 2 * whole.len; i += 5) {
        /* Cut short first, then one byte wrong. */
        size_t at = i % whole.len;
        auto_free char *bytes = xmemdup(whole.data, whole.len);
        bytes[at] ^= 0x20;
        size_t len = i < whole.len ? at : whole.len;
        CHECK_INT(io_remove_tree(AT_FDCWD, "state"), 0);
        CHECK_INT(mkdir("state", 0700), 0);
        CHECK_INT(io_write_file(AT_FDCWD, "state/nacre.journal0", bytes, len, 0600, NULL), 0);
        struct store *store = open_dir("state");
        CHECK_INT(count(store, "c_", 3), at / record);
        store_free(store);
    }
}

TEST(one_process_has_a_store)
{
    struct store *store = open_dir("state");
    struct store *other = NULL;
    struct store_options options = {.dir = "state"};
    struct err err = {0};
    CHECK_INT(store_open(&options, &other, &err), -ERR_BUSY);
    CHECK_STR(err.text, "'state' is used by another process");
    store_free(store);
}

TEST(a_result_is_there_while_it_waits_and_afterwards)
{
    struct store *store = open_dir("state");
    for (int i = 0; i < 500; i++) {
        char id[32], json[32];
        (void)snprintf(id, sizeof(id), "c_%d", i % 100);
        (void)snprintf(json, sizeof(json), "{%d}", i);
        put(store, id, "s", json);
        check_get(store, id, json);
        if (i % 50 == 0)
            CHECK_INT(store_sync(store, NULL), 0);
        check_get(store, id, json);
    }
    CHECK_INT(store_sync(store, NULL), 0);
    check_get(store, "c_7", "{407}");
    store_free(store);
}

TEST(what_cannot_be_written_now_is_kept)
{
    (void)signal(SIGXFSZ, SIG_IGN);
    struct store *store = open_dir("state");
    put(store, "c_0", "s", "{}");
    CHECK_INT(store_sync(store, NULL), 0);
    /* The database cannot grow; the journal, which is small, can. */
    struct rlimit limit = {8192, RLIM_INFINITY};
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
    put(store, "c_1", "s", "{1}");
    struct err err = {0};
    CHECK_INT(store_sync(store, &err), -ERR_STORAGE);
    check_get(store, "c_1", "{1}");
    put(store, "c_2", "s", "{2}");
    check_get(store, "c_2", "{2}");
    limit.rlim_cur = RLIM_INFINITY;
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
    CHECK_INT(store_sync(store, &err), 0);
    store_free(store);

    store = open_dir("state");
    check_get(store, "c_1", "{1}");
    check_get(store, "c_2", "{2}");
    CHECK_STR(store_notice(store), NULL);
    store_free(store);
}

static int compare(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Prints what a put costs; run it by name on a quiet machine. */
TEST_HIDDEN(cost_of_a_put, 60)
{
    enum { N = 20000, LEN = 1000 };
    auto_free int64_t *ns = xnew_n(int64_t, N);
    char json[LEN];
    memset(json, 'x', LEN);
    struct store *store = open_dir("state");
    int64_t sum = 0;
    for (int i = 0; i < N; i++) {
        char id[32];
        (void)snprintf(id, sizeof(id), "c_%08" PRIx32, (uint32_t)i * 2654435761U);
        int64_t begin = clock_mono_ns();
        CHECK_INT(store_put_command(id, "s", json, LEN, NULL, store), 0);
        sum += ns[i] = clock_mono_ns() - begin;
    }
    store_free(store);
    qsort(ns, N, sizeof(*ns), compare);
    FAIL("median %" PRId64 " us, mean %" PRId64 ", p99 %" PRId64 ", max %" PRId64, ns[N / 2] / 1000,
         sum / N / 1000, ns[N * 99 / 100] / 1000, ns[N - 1] / 1000);
}
