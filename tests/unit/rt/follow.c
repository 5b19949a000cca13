/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <string.h>

#include "base/io.h"
#include "base/mem.h"
#include "base/own.h"
#include "capture/log.h"
#include "lib/fixture.h"
#include "lib/test.h"

/* 1,000,000 digits; far more than memory holds. */
static const char flood[] = "printf '%01000000d' 7";

struct reader {
    struct rt_follower *f;
    uint64_t next, bytes, gaps;
    int n_gaps, n_ends;
    bool pause_at_gap, free_at_gap;
};

static void on_bytes(const char *id, int stream, uint64_t cursor, const void *p, size_t n,
                     void *ctx)
{
    (void)id, (void)p;
    struct reader *r = ctx;
    CHECK_INT(stream, CAPTURE_STDOUT);
    CHECK_INT(cursor, r->next);
    CHECK(n > 0);
    r->next = cursor + n;
    r->bytes += n;
}

static void on_gap(const char *id, uint64_t from, uint64_t to, void *ctx)
{
    (void)id;
    struct reader *r = ctx;
    CHECK_INT(from, r->next);
    CHECK(to > from);
    r->next = to;
    r->gaps += to - from;
    r->n_gaps++;
    if (r->pause_at_gap)
        rt_follow_pause(r->f, true);
    if (r->free_at_gap)
        rt_follow_free(take_ptr(r->f));
}

static void on_end(const char *id, uint64_t cursor, void *ctx)
{
    (void)id;
    struct reader *r = ctx;
    CHECK_INT(cursor, r->next);
    r->n_ends++;
}

static void follow(struct fx *fx, struct reader *r, const struct command *c, bool follow)
{
    struct rt_follow_events events = {on_bytes, on_gap, on_end, r};
    CHECK_INT(rt_follow(fx->rt, c->id, r->next, follow, &events, &r->f, NULL), 0);
}

TEST(a_gap_is_told_in_its_place)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c = fx_exec(&fx, flood);
    for (int i = 0; i < 2; i++) {
        struct reader r = {0};
        follow(&fx, &r, c, i);
        CHECK_INT(r.n_ends, 1);
        CHECK_INT(r.n_gaps, 1);
        CHECK_INT(r.next, 1000000);
        CHECK_INT(r.bytes + r.gaps, 1000000);
        CHECK_INT(r.gaps, capture_log_dropped(c->log, CAPTURE_OUTPUT));
        rt_follow_free(r.f);
    }
    fx_close(&fx);
}

TEST(a_reader_may_pause_in_a_gap)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c = fx_exec(&fx, flood);
    struct reader r = {.pause_at_gap = true};
    follow(&fx, &r, c, true);
    CHECK_INT(r.n_gaps, 1);
    CHECK_INT(r.n_ends, 0);
    CHECK(r.next < 1000000);
    r.pause_at_gap = false;
    rt_follow_pause(r.f, false);
    FX_UNTIL(&fx, r.n_ends);
    CHECK_INT(r.n_gaps, 1);
    CHECK_INT(r.bytes + r.gaps, 1000000);
    rt_follow_free(r.f);
    fx_close(&fx);
}

TEST(a_reader_may_leave_in_a_gap)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c = fx_start(&fx, "sleep .1; printf '%01000000d' 7", NULL);
    struct reader r = {.free_at_gap = true};
    follow(&fx, &r, c, true);
    rt_follow_pause(r.f, true); /* so that it falls behind */
    fx_wait_quiet(&fx, c);
    rt_follow_pause(r.f, false);
    FX_UNTIL(&fx, !r.f);
    CHECK_INT(r.n_ends, 0);
    CHECK_INT(r.n_gaps, 1);
    fx_close(&fx);
}

/* A disk that fails must not keep anybody waiting. */
TEST(files_that_are_gone_are_a_gap)
{
    struct fx fx;
    fx_open_with(&fx, &(struct fx_settings){.spills = true});
    const struct command *c = fx_exec(&fx, flood);
    fx_wait_quiet(&fx, c);
    CHECK(capture_log_spill_name(c->log));
    auto_free char *output = xasprintf("%s/output", fx.state_dir);
    auto_close int dirfd = open(output, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_INT(io_remove_tree(dirfd, c->id), 0);
    struct reader r = {0};
    follow(&fx, &r, c, true);
    CHECK_INT(r.n_ends, 1);
    CHECK_INT(r.bytes + r.gaps, 1000000);
    rt_follow_free(r.f);
    fx_close(&fx);
}
