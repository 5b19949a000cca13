/* SPDX-License-Identifier: MIT */
/* A command that does nothing, in a session that is there. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bare.h"
#include "bench.h"
#include "report.h"

enum { ROUNDS = 5000, TEXT_ROUNDS = 300, TEXT_SIZE = 64 * 1024 };

static double run_us(struct nacre_session *s, const char *text, size_t len)
{
    double from = now_us();
    stage_run(s, text, len);
    return now_us() - from;
}

void bench_warm(struct stage *stage)
{
    report_progress("a warm ':'");
    size_t rounds = stage_rounds(stage, ROUNDS);
    struct bare bare;
    bare_open(&bare);
    struct nacre_session *here = stage_session(stage->embedded);
    struct nacre_session *there = stage->daemon ? stage_session(stage->daemon) : NULL;
    struct samples colon, group, embedded, daemon;
    samples_init(&colon, rounds);
    samples_init(&group, rounds);
    samples_init(&embedded, rounds);
    samples_init(&daemon, rounds);

    for (size_t i = 0; i < rounds; i++) {
        double from = now_us();
        bare_colon(&bare);
        samples_add(&colon, now_us() - from);
        from = now_us();
        bare_group(&bare);
        samples_add(&group, now_us() - from);
        samples_add(&embedded, run_us(here, ":", 1));
        if (there)
            samples_add(&daemon, run_us(there, ":", 1));
    }

    double floor = samples_quantile(&group, 0.5);
    report_add(&(struct row){"bare bash: `:` and an answer", NULL, "us", 0,
                             samples_quantile(&colon, 0.5), LIMIT_NONE, 0});
    report_add(&(struct row){"warm `:`, embedded, p50", "bare bash: group, 3 streams, $?", "us",
                             floor, samples_quantile(&embedded, 0.5), LIMIT_RATIO_MAX, 1.5});
    report_add(&(struct row){"warm `:`, embedded, p99", "the same, p99", "us",
                             samples_quantile(&group, 0.99), samples_quantile(&embedded, 0.99),
                             LIMIT_NONE, 0});
    if (there)
        report_add(&(struct row){"warm `:`, through the socket, p50",
                                 "bare bash: group, 3 streams, $?", "us", floor,
                                 samples_quantile(&daemon, 0.5), LIMIT_RATIO_MAX, 3.0});
    samples_done(&colon);
    samples_done(&group);
    samples_done(&embedded);
    samples_done(&daemon);
    stage_session_end(here);
    stage_session_end(there);
    bare_close(&bare);
}

/* ---- long texts ---- */

/* What an agent writes: variables, a file by here-document, loops, tests, arithmetic. */
static const char block[] =
    "# step %zu: look at what is there\n"
    "count_%zu=0\n"
    "for name in alpha beta gamma delta; do\n"
    "    if [[ $name == *a ]] && (( count_%zu < 10 )); then\n"
    "        count_%zu=$(( count_%zu + ${#name} ))\n"
    "    fi\n"
    "done\n"
    "case $count_%zu in\n"
    "    0) printf 'nothing\\n' >&2 ;;\n"
    "    *) result_%zu=\"total: ${count_%zu:-none} of ${name%%%%a*}\" ;;\n"
    "esac\n"
    "read -r -d '' text_%zu <<'END' || :\n"
    "some lines that a file would get, with \"quotes\", $dollars and `ticks`,\n"
    "for which the shell has nothing to do but to keep them as they are\n"
    "END\n";

static char *realistic_text(size_t *ret_len)
{
    char *text = malloc(TEXT_SIZE + sizeof(block) * 2);
    size_t len = 0;
    if (!text)
        fail("no memory");
    for (size_t i = 0; len < TEXT_SIZE; i++)
        len += (size_t)snprintf(text + len, sizeof(block) * 2, block, i, i % 7, i % 7, i % 7, i % 7,
                                i % 7, i % 7, i % 7, i % 7);
    *ret_len = len;
    return text;
}

static char *colon_text(size_t *ret_len)
{
    char *text = malloc(TEXT_SIZE);
    if (!text)
        fail("no memory");
    for (size_t i = 0; i < TEXT_SIZE; i++)
        text[i] = i % 2 ? '\n' : ':';
    *ret_len = TEXT_SIZE;
    return text;
}

static void measure_text(struct stage *stage, const char *what, char *text, size_t len)
{
    size_t rounds = stage_rounds(stage, TEXT_ROUNDS);
    char file[] = "/dev/shm/nacre-bench-text-XXXXXX";
    int fd = mkstemp(file);
    if (fd < 0 || write(fd, text, len) != (ssize_t)len)
        fail("write '%s'", file);
    (void)close(fd);

    struct bare bare;
    bare_open(&bare);
    struct nacre_session *s = stage_session(stage->embedded);
    struct samples floor, ours;
    samples_init(&floor, rounds);
    samples_init(&ours, rounds);
    for (size_t i = 0; i < rounds; i++) {
        double from = now_us();
        bare_source(&bare, file);
        samples_add(&floor, now_us() - from);
        samples_add(&ours, run_us(s, text, len));
    }
    report_add(&(struct row){what, "bare bash: `. file`", "us", samples_quantile(&floor, 0.5),
                             samples_quantile(&ours, 0.5), LIMIT_RATIO_MAX, 1.3});
    samples_done(&floor);
    samples_done(&ours);
    stage_session_end(s);
    bare_close(&bare);
    (void)unlink(file);
    free(text);
}

void bench_text(struct stage *stage)
{
    report_progress("a command of 64 KiB");
    size_t len;
    char *text = realistic_text(&len);
    measure_text(stage, "64 KiB of script, embedded", text, len);
    text = colon_text(&len);
    measure_text(stage, "64 KiB of `:` lines, embedded", text, len);
}
