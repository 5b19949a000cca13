/* SPDX-License-Identifier: MIT */
/* Many sessions at once: each starts its next command when the last has ended. */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "report.h"

enum { LANES = 16, COMMANDS = 1000 };

struct lane {
    struct nacre_session *session;
    struct nacre_command *command;
    size_t left;
    size_t *failures;
    size_t *running; /* lanes that are not done */
};

static void start_next(struct lane *lane);

static void on_result(void *ctx, const struct nacre_result *result)
{
    struct lane *lane = ctx;
    if (nacre_result_status(result) != NACRE_STATUS_EXITED || nacre_result_exit_code(result) != 0)
        ++*lane->failures;
    nacre_command_free(lane->command);
    lane->command = NULL;
    if (lane->left > 0)
        start_next(lane);
    else
        --*lane->running;
}

static void start_next(struct lane *lane)
{
    struct nacre_exec_options o = {.size = sizeof(o), .on_result = on_result, .ctx = lane};
    lane->left--;
    if (nacre_start(lane->session, "true", 4, &o, &lane->command, NULL) < 0)
        fail("cannot start 'true'");
}

/* Waits until all lanes are done. */
static void serve(struct lane *lanes, const size_t *running)
{
    while (*running > 0)
        for (size_t i = 0; i < LANES; i++)
            if (lanes[i].command)
                (void)nacre_command_wait(lanes[i].command, -1, NULL, NULL);
}

static void measure(struct stage *stage, struct nacre *n, const char *what, const char *failed)
{
    struct lane lanes[LANES];
    size_t failures = 0, running = LANES;
    size_t commands = stage_rounds(stage, COMMANDS);
    for (size_t i = 0; i < LANES; i++)
        lanes[i] = (struct lane){.session = stage_session(n),
                                 .left = commands,
                                 .failures = &failures,
                                 .running = &running};
    double from = now_us();
    for (size_t i = 0; i < LANES; i++)
        start_next(&lanes[i]);
    serve(lanes, &running);
    double us = now_us() - from;
    for (size_t i = 0; i < LANES; i++)
        stage_session_end(lanes[i].session);

    report_add(&(struct row){what, NULL, "1/s", 0, (double)(LANES * commands) / us * 1e6, LIMIT_MIN,
                             5000});
    report_add(&(struct row){failed, NULL, "", 0, (double)failures, LIMIT_MAX, 0});
}

void bench_parallel(struct stage *stage)
{
    report_progress("16 sessions at once");
    measure(stage, stage->embedded, "16 sessions x 1,000 `true`, embedded", "  of these failed");
    if (stage->daemon)
        measure(stage, stage->daemon, "16 sessions x 1,000 `true`, daemon", "  of these failed");
}
