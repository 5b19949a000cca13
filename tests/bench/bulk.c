/* SPDX-License-Identifier: MIT */
/* Output as fast as it comes: throughput, and memory that does not grow with it. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bare.h"
#include "bench.h"
#include "report.h"

enum { ROUNDS = 5 };

static const char zeros[] = "head -c 1G /dev/zero";
static const char lines[] = "yes 'some line of text, as a build prints them' | head -c 1G";

static double bare_us(const char *command)
{
    char text[256];
    (void)snprintf(text, sizeof(text), "%s | cat >/dev/null", command);
    const char *const argv[] = {"bash", "--norc", "--noprofile", "-c", text, NULL};
    return bare_run_us(argv);
}

static double ours_us(struct nacre_session *s, const char *command)
{
    double from = now_us();
    struct nacre_result *r = NULL;
    if (nacre_exec(s, command, NACRE_TEXT, NULL, &r, NULL) < 0)
        fail("'%s' does not run", command);
    double us = now_us() - from;
    if (nacre_result_bytes(r, NACRE_STDOUT) != (uint64_t)1 << 30 || nacre_result_exit_code(r) != 0)
        fail("'%s': %llu bytes, exit code %d", command,
             (unsigned long long)nacre_result_bytes(r, NACRE_STDOUT), nacre_result_exit_code(r));
    nacre_result_free(r);
    return us;
}

static void measure(struct stage *stage, struct nacre *n, const char *what, const char *command)
{
    size_t rounds = stage->quick ? 1 : ROUNDS;
    struct nacre_session *s = stage_session(n);
    struct samples floor, ours;
    samples_init(&floor, rounds);
    samples_init(&ours, rounds);
    for (size_t i = 0; i < rounds; i++) {
        samples_add(&floor, bare_us(command));
        samples_add(&ours, ours_us(s, command));
    }
    stage_session_end(s);
    double gib = 1e6; /* one GiB in so many us is so many GiB/s */
    report_add(&(struct row){what, "the same into `cat >/dev/null`", "GiB/s",
                             gib / samples_quantile(&floor, 0.5),
                             gib / samples_quantile(&ours, 0.5), LIMIT_RATIO_MIN, 0.7});
    samples_done(&floor);
    samples_done(&ours);
}

void bench_bulk(struct stage *stage)
{
    report_progress("1 GiB of output");
    double before = (double)process_kib(getpid(), "status", "VmRSS:");
    measure(stage, stage->embedded, "1 GiB of zeros, embedded", zeros);
    measure(stage, stage->embedded, "1 GiB of lines, embedded", lines);
    double after = (double)process_kib(getpid(), "status", "VmRSS:");
    report_add(&(struct row){"memory after 10 GiB of output, embedded", "before", "KiB", before,
                             after, LIMIT_RATIO_MAX, 1.5});
    if (!stage->daemon)
        return;
    measure(stage, stage->daemon, "1 GiB of zeros, daemon", zeros);
    measure(stage, stage->daemon, "1 GiB of lines, daemon", lines);
    report_add(&(struct row){"memory of the daemon after that", NULL, "KiB", 0,
                             (double)process_kib(stage->daemon_pid, "status", "VmRSS:"), LIMIT_MAX,
                             32 * 1024});
}
