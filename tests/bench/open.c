/* SPDX-License-Identifier: MIT */
/* A new session, to the end of its first command. */
#include <stdio.h>

#include "bare.h"
#include "bench.h"
#include "report.h"

enum { ROUNDS = 200, POOL = 4 };

static double open_us(struct nacre *n)
{
    struct nacre_session *s = NULL;
    double from = now_us();
    if (nacre_session_open(n, NULL, &s, NULL) < 0)
        fail("cannot open a session");
    stage_run(s, ":", 1);
    double us = now_us() - from;
    stage_session_end(s);
    return us;
}

void bench_open(struct stage *stage)
{
    report_progress("opening sessions");
    size_t rounds = stage_rounds(stage, ROUNDS);
    struct nacre_options options = {.size = sizeof(options), .pool = POOL};
    struct nacre *pooled = NULL;
    if (nacre_open(&options, &pooled, NULL) < 0)
        fail("cannot open a runtime with a pool");
    struct nacre_session *idle = stage_session(pooled);
    struct samples floor, cold, warm;
    samples_init(&floor, rounds);
    samples_init(&cold, rounds);
    samples_init(&warm, rounds);
    for (size_t i = 0; i < rounds; i++) {
        samples_add(&floor, bare_start_us());
        samples_add(&cold, open_us(stage->embedded));
        stage_run(idle, "sleep 0.02", NACRE_TEXT); /* the pool fills up meanwhile */
        samples_add(&warm, open_us(pooled));
    }
    const char *bare = "fork, exec of bash, first `:`";
    report_add(&(struct row){"session and first `:`, cold, p50", bare, "us",
                             samples_quantile(&floor, 0.5), samples_quantile(&cold, 0.5),
                             LIMIT_RATIO_MAX, 1.3});
    report_add(&(struct row){"session and first `:`, from the pool, p50", bare, "us",
                             samples_quantile(&floor, 0.5), samples_quantile(&warm, 0.5),
                             LIMIT_RATIO_MAX, 0.5});
    samples_done(&floor);
    samples_done(&cold);
    samples_done(&warm);
    stage_session_end(idle);
    nacre_close(pooled);
}
