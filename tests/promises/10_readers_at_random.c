/* SPDX-License-Identifier: MIT */
/*
 * Promise 10 by chance: readers that pause, leave and come back with their cursor, at random, read
 * each byte once, or are told that it is gone; and sessions wake from whatever store there is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/own.h"
#include "lib/fixture.h"
#include "lib/test.h"
#include "native/native.h"

static uint64_t seed = 88172645463325252u;

static unsigned chance(unsigned n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed % n);
}

struct reader {
    struct rt_follower *f;
    uint64_t next;     /* its cursor */
    uint64_t bytes[3]; /* per stream */
    uint64_t gaps;
    char last[3]; /* of each stream */
    bool ended, faulty, paused;
};

/* What is printed is a..z over and over, each stream by itself. */
static void on_bytes(const char *id, int stream, uint64_t cursor, const void *p, size_t n,
                     void *ctx)
{
    (void)id;
    struct reader *r = ctx;
    const char *text = p;
    r->faulty |= cursor != r->next;
    for (size_t i = 0; i < n; i++) {
        char *last = &r->last[stream];
        if (*last)
            r->faulty |= text[i] != (*last == 'z' ? 'a' : *last + 1);
        *last = text[i];
    }
    r->next = cursor + n;
    r->bytes[stream] += n;
    if (r->f && chance(4) == 0) {
        r->paused = true;
        rt_follow_pause(r->f, true);
    }
}

static void on_gap(const char *id, uint64_t from, uint64_t to, void *ctx)
{
    (void)id;
    struct reader *r = ctx;
    r->faulty |= from != r->next || to <= from;
    r->gaps += to - from;
    r->next = to;
    memset(r->last, 0, sizeof(r->last));
}

static void on_end(const char *id, uint64_t cursor, void *ctx)
{
    (void)id;
    struct reader *r = ctx;
    r->faulty |= r->ended || cursor != r->next;
    r->ended = true;
}

static void follow(struct fx *fx, struct reader *r, const struct command *c)
{
    struct rt_follow_events events = {on_bytes, on_gap, on_end, r};
    r->paused = false;
    CHECK_INT(rt_follow(fx->rt, c->id, r->next, true, &events, &r->f, NULL), 0);
}

/* Whatever comes to its mind. */
static void act(struct fx *fx, struct reader *r, const struct command *c)
{
    switch (chance(6)) {
    case 0:
        if (!r->f && !r->ended)
            follow(fx, r, c);
        break;
    case 1:
        rt_follow_free(take_ptr(r->f));
        break;
    case 2:
    case 3:
        if (r->f)
            rt_follow_pause(r->f, false);
        break;
    case 4:
        if (r->f)
            rt_follow_pause(r->f, true);
        break;
    default:
        break;
    }
}

static void read_at_random(bool spills)
{
    enum { N = 8 };
    static const char alphabet[] =
        "a='abcdefghijklmnopqrstuvwxyz'; for i in {1..20000}; do printf %s $a; "
        "[ $((i % 7)) = 0 ] && printf %s $a >&2; done; true";
    struct fx fx;
    struct reader readers[N] = {0};
    fx_open_with(&fx, &(struct fx_settings){.spills = spills});
    const struct command *c = fx_start(&fx, alphabet, NULL);
    for (bool all = false; !all;) {
        fx_turn(&fx);
        all = true;
        for (int i = 0; i < N; i++) {
            act(&fx, &readers[i], c);
            all = all && readers[i].ended;
        }
    }
    CHECK_INT(c->exit_code, 0);
    CHECK_INT(capture_log_bytes(c->log, CAPTURE_OUTPUT), 26 * (20000 + 20000 / 7));
    for (int i = 0; i < N; i++) {
        struct reader *r = &readers[i];
        rt_follow_free(r->f);
        CHECK(!r->faulty);
        CHECK_INT(r->next, capture_log_bytes(c->log, CAPTURE_OUTPUT));
        CHECK_INT(r->bytes[CAPTURE_STDOUT] + r->bytes[CAPTURE_STDERR] + r->gaps, r->next);
        if (spills)
            CHECK_INT(r->gaps, 0);
    }
    fx_close(&fx);
}

TEST_TIMEOUT(all_is_kept, 60)
{
    read_at_random(true);
}

TEST_TIMEOUT(the_middle_is_dropped, 60)
{
    read_at_random(false);
}

/* ---- a store of a few lines ---- */

enum { ROWS = 16 };

struct shelf {
    struct row {
        char *id, *json, *state;
        size_t json_len, state_len;
    } rows[ROWS];
    bool is_full;
};

static struct row *row_of(struct shelf *s, const char *id)
{
    for (int i = 0; i < ROWS; i++)
        if (s->rows[i].id && strcmp(s->rows[i].id, id) == 0)
            return &s->rows[i];
    return NULL;
}

static int del_session(const char *id, struct err *err, void *ctx)
{
    (void)err;
    struct row *row = row_of(ctx, id);
    if (row) {
        free(row->id);
        free(row->json);
        free(row->state);
        *row = (struct row){0};
    }
    return 0;
}

/* NOLINTNEXTLINE(readability-function-size): the signature is given */
static int put_session(const char *id, const char *json, size_t json_len, const char *state,
                       size_t state_len, struct err *err, void *ctx)
{
    struct shelf *s = ctx;
    if (s->is_full)
        return err_set(err, ERR_STORAGE, "the shelf is full");
    (void)del_session(id, err, ctx);
    for (int i = 0; i < ROWS; i++)
        if (!s->rows[i].id) {
            s->rows[i] =
                (struct row){xstrdup(id), xmemdup(json, json_len),
                             state ? xmemdup(state, state_len) : NULL, json_len, state_len};
            return 0;
        }
    return err_set(err, ERR_STORAGE, "the shelf is full");
}

static int put_command(const char *id, const char *session_id, const char *json, size_t len,
                       struct err *err, void *ctx)
{
    (void)id, (void)session_id, (void)json, (void)len;
    struct shelf *s = ctx;
    return s->is_full ? err_set(err, ERR_STORAGE, "the shelf is full") : 0;
}

static int get_command(const char *id, struct buf *json, struct err *err, void *ctx)
{
    (void)json, (void)ctx;
    return err_set(err, ERR_NOT_FOUND, "no command '%s' on the shelf", id);
}

static int each_session(void (*each)(const char *id, const char *json, size_t json_len,
                                     const char *state, size_t state_len, void *arg),
                        void *arg, struct err *err, void *ctx)
{
    (void)err;
    struct shelf *s = ctx;
    for (int i = 0; i < ROWS; i++)
        if (s->rows[i].id)
            each(s->rows[i].id, s->rows[i].json, s->rows[i].json_len, s->rows[i].state,
                 s->rows[i].state_len, arg);
    return 0;
}

static void open_rt(struct fx *fx, struct shelf *s)
{
    struct rt_options o = {
        .kinds = fx->kinds,
        .run_dir = fx->run_dir,
        .store = {put_session, del_session, put_command, get_command, each_session, s},
    };
    rt_free(take_ptr(fx->rt));
    CHECK_INT(rt_new(fx->ev, &o, &fx->rt, NULL), 0);
}

static void clear(struct shelf *s)
{
    for (int i = 0; i < ROWS; i++)
        if (s->rows[i].id)
            (void)del_session(s->rows[i].id, NULL, s);
}

TEST(sessions_wake)
{
    struct fx fx;
    struct shelf shelf = {0};
    char id[65];
    fx_open(&fx);
    open_rt(&fx, &shelf);
    for (int i = 0; i < 4; i++) {
        char name[8], text[64];
        (void)snprintf(name, sizeof(name), "s%d", i);
        struct rt_session_spec spec = {.id = name, .cwd = "/usr", .temporary = i == 3};
        CHECK_INT(rt_session_open(fx.rt, NULL, &spec, id, NULL), 0);
        (void)snprintf(text, sizeof(text), "x=%d; a=(1 $x); cd /tmp; exit %d", i, i);
        CHECK_INT(fx_exec_opt(&fx, text, &(struct fx_opt){.session = name})->exit_code, i);
    }
    CHECK_INT(rt_session_close(fx.rt, "s2", NULL, NULL, NULL), 0);
    (void)fx_start(&fx, "sleep 600", &(struct fx_opt){.session = "s1"}); /* it ends with us */
    fx_forget(&fx);
    for (int restart = 0; restart < 3; restart++) {
        open_rt(&fx, &shelf);
        CHECK(rt_session_exists(fx.rt, "s0") && rt_session_exists(fx.rt, "s1"));
        CHECK(!rt_session_exists(fx.rt, "s2") && !rt_session_exists(fx.rt, "s3"));
        for (int i = 0; i < 2; i++) {
            char name[8], want[32];
            (void)snprintf(name, sizeof(name), "s%d", i);
            (void)snprintf(want, sizeof(want), "%d %d /tmp\n", i, i);
            const struct command *c =
                fx_exec_opt(&fx, "echo $x ${a[1]} $PWD", &(struct fx_opt){.session = name});
            CHECK_STR(fx_out(&fx, c), want);
            CHECK(c->session_restored);
        }
        fx_forget(&fx);
    }
    clear(&shelf);
    fx_close(&fx);
}

TEST(a_store_that_fails_is_told_of)
{
    struct fx fx;
    struct shelf shelf = {0};
    char id[65];
    struct err err = {0};
    fx_open(&fx);
    open_rt(&fx, &shelf);
    struct rt_session_spec spec = {.id = "main"};
    CHECK_INT(rt_session_open(fx.rt, NULL, &spec, id, NULL), 0);
    shelf.is_full = true;
    const struct command *c = FX_RUN(&fx, "x=1; echo a", 0, "a\n", "");
    CHECK_STR(fx_field(&fx, c->id, "storageError"), "the shelf is full");
    spec.id = "other";
    CHECK_INT(rt_session_open(fx.rt, NULL, &spec, id, &err), -ERR_STORAGE);
    CHECK(!rt_session_exists(fx.rt, "other"));
    shelf.is_full = false;
    c = FX_RUN(&fx, "echo $x; y=2", 0, "1\n", "");
    CHECK_STR(fx_field(&fx, c->id, "storageError"), "null");
    fx_forget(&fx);
    open_rt(&fx, &shelf);
    FX_RUN(&fx, "echo $x $y", 0, "1 2\n", "");
    fx_forget(&fx);
    clear(&shelf);
    fx_close(&fx);
}
