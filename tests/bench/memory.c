/* SPDX-License-Identifier: MIT */
/* What an idle session costs the daemon. */
#include <stdio.h>

#include "bench.h"
#include "report.h"

enum { SESSIONS = 100 };

/* KiB that only this process has. */
static double private_kib(pid_t pid)
{
    return (double)(process_kib(pid, "smaps_rollup", "Private_Clean:") +
                    process_kib(pid, "smaps_rollup", "Private_Dirty:"));
}

void bench_memory(struct stage *stage)
{
    if (!stage->daemon)
        return;
    report_progress("memory of idle sessions");
    struct nacre_session *sessions[SESSIONS];
    struct nacre_session *first = stage_session(stage->daemon);
    double before = private_kib(stage->daemon_pid);
    for (size_t i = 0; i < SESSIONS; i++)
        sessions[i] = stage_session(stage->daemon);
    double after = private_kib(stage->daemon_pid);
    double rss = (double)process_kib(stage->daemon_pid, "status", "VmRSS:");
    for (size_t i = 0; i < SESSIONS; i++)
        stage_session_end(sessions[i]);
    stage_session_end(first);
    report_add(&(struct row){"memory of the daemon per idle session", NULL, "KiB", 0,
                             (after - before) / SESSIONS, LIMIT_MAX, 64});
    report_add(
        &(struct row){"memory of the daemon with 100 of them", NULL, "KiB", 0, rss, LIMIT_NONE, 0});
}
