/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/own.h"
#include "capture/log.h"
#include "json/read.h"
#include "lib/fixture.h"
#include "lib/test.h"

enum { MIB = 1024 * 1024 };

/* A line, 1 MiB of digits, a line. */
static const char mebibyte[] = "echo first; printf '%01048576d' 7; echo; echo last";
enum { MEBIBYTE_LEN = 6 + MIB + 1 + 5 };

static uint64_t bytes_in(const char *path)
{
    struct stat st;
    uint64_t n = 0;
    DIR *dir = opendir(path);
    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        auto_free char *file = xasprintf("%s/%s", path, e->d_name);
        if (e->d_name[0] == '.' || lstat(file, &st) < 0)
            continue;
        n += S_ISDIR(st.st_mode) ? bytes_in(file) : (uint64_t)st.st_size;
    }
    if (dir)
        (void)closedir(dir);
    return n;
}

static uint64_t bytes_spilled(const struct fx *fx)
{
    auto_free char *path = xasprintf("%s/output", fx->state_dir);
    return bytes_in(path);
}

static void on_bytes(const char *id, int stream, uint64_t cursor, const void *p, size_t n,
                     void *ctx)
{
    (void)id, (void)stream, (void)p;
    uint64_t *next = ctx;
    CHECK_INT(cursor, *next);
    *next += n;
}

static void on_gap(const char *id, uint64_t from, uint64_t to, void *ctx)
{
    (void)id;
    uint64_t *next = ctx;
    CHECK_INT(from, *next);
    *next = to;
}

/* All is read or told as a gap. */
static void check_log(struct fx *fx, const char *id, uint64_t len)
{
    uint64_t next = 0;
    struct rt_follow_events events = {on_bytes, on_gap, NULL, &next};
    struct rt_follower *f = NULL;
    CHECK_INT(rt_follow(fx->rt, id, 0, false, &events, &f, NULL), 0);
    CHECK_INT(next, len);
}

TEST(the_oldest_make_room)
{
    enum { N = 6 };
    struct fx fx;
    const struct command *c[N];
    fx_open_with(&fx, &(struct fx_settings){.spills = true, .spill_max = 7 * MIB / 2});
    for (int i = 0; i < N; i++) {
        c[i] = fx_exec(&fx, mebibyte);
        fx_wait_quiet(&fx, c[i]);
        CHECK_STR(fx_field(&fx, c[i]->id, "limit"), "null");
        CHECK(bytes_spilled(&fx) <= 7 * MIB / 2);
    }
    const char *shown = fx_field(&fx, c[N - 1]->id, "output");
    CHECK(strstr(shown, "first\n") && strstr(shown, "last\n"));
    for (int i = 0; i < N; i++) {
        bool has_files = i >= N - 3;
        CHECK_INT(strcmp(fx_field(&fx, c[i]->id, "spill"), "null") != 0, has_files);
        CHECK_STR(fx_field(&fx, c[i]->id, "output"), shown);
        CHECK_INT(capture_log_dropped(c[i]->log, CAPTURE_OUTPUT) == 0, has_files);
        check_log(&fx, c[i]->id, MEBIBYTE_LEN);
    }
    fx_close(&fx);
}

TEST(one_that_runs_goes_on_without)
{
    struct fx fx;
    fx_open_with(&fx, &(struct fx_settings){.spills = true, .spill_max = 2 * MIB});
    const struct command *old = fx_exec(&fx, mebibyte);
    const struct command *c =
        fx_exec(&fx, "echo first; printf '%04194304d' 7; echo; echo last; echo error >&2; exit 3");
    CHECK_INT(c->exit_code, 3);
    CHECK_STR(fx_field(&fx, c->id, "limit"), "output");
    CHECK_STR(fx_field(&fx, c->id, "stderr"), "error\n");
    CHECK_STR(fx_field(&fx, c->id, "storageError"), "null");
    CHECK(strstr(fx_field(&fx, c->id, "stdout"), "\nlast\n"));
    CHECK_STR(fx_field(&fx, old->id, "spill"), "null"); /* it was in the way */
    CHECK(capture_log_dropped(c->log, CAPTURE_STDOUT) > MIB);
    CHECK(bytes_spilled(&fx) <= 2 * MIB + 256 * 1024);
    check_log(&fx, c->id, 4 * MIB + 6 + 1 + 5 + 6);

    c = fx_exec(&fx, mebibyte); /* the files of the last go now */
    CHECK_STR(fx_field(&fx, c->id, "limit"), "null");
    CHECK_INT(capture_log_dropped(c->log, CAPTURE_OUTPUT), 0);
    fx_close(&fx);
}

TEST(two_at_once_share_what_there_is)
{
    struct fx fx;
    fx_open_with(&fx, &(struct fx_settings){.spills = true, .spill_max = 2 * MIB});
    struct fx_opt in_background = {.background = true};
    const struct command *a = fx_start(&fx, "printf '%03145728d' 7", &in_background);
    const struct command *b = fx_start(&fx, "printf '%03145728d' 8", &in_background);
    fx_wait(&fx, a);
    fx_wait(&fx, b);
    CHECK(bytes_spilled(&fx) <= 2 * MIB + 2 * 256 * 1024);
    CHECK(capture_log_dropped(a->log, CAPTURE_STDOUT) > 0);
    CHECK(capture_log_dropped(b->log, CAPTURE_STDOUT) > 0);
    fx_close(&fx);
}

/* Files of a runtime before count, and go by their age. */
TEST(what_is_there_at_the_start_counts)
{
    struct fx fx;
    char ids[3][COMMAND_ID_MAX];
    fx_open_with(&fx, &(struct fx_settings){.stored = true});
    for (int i = 0; i < 3; i++) {
        const struct command *c = fx_exec(&fx, mebibyte);
        fx_wait_quiet(&fx, c);
        (void)snprintf(ids[i], sizeof(ids[i]), "%s", c->id);
    }
    fx.settings.spill_max = 5 * MIB / 2;
    fx_reopen(&fx);
    CHECK(bytes_spilled(&fx) <= 5 * MIB / 2);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(strcmp(fx_field(&fx, ids[i], "spill"), "null") != 0, i > 0);
        CHECK_STR(fx_field(&fx, ids[i], "exitCode"), "0");
        CHECK_STR(fx_field(&fx, ids[i], "kind"), "bash");
        check_log(&fx, ids[i], MEBIBYTE_LEN);
    }
    (void)fx_exec(&fx, mebibyte);
    CHECK_STR(fx_field(&fx, ids[1], "spill"), "null");
    CHECK(bytes_spilled(&fx) <= 5 * MIB / 2);
    fx_close(&fx);
}
