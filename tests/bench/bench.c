/* SPDX-License-Identifier: MIT */
/*
 * bench [--json] [--quick] [--no-daemon] [PART...]: measures nacre beside its floors.
 *
 * Exits with 1 when a limit was not kept, with 2 when it could not be measured.
 */
#include "bench.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/*
 * Where one waits for the other all the time, both share a CPU: which of two a kernel wakes
 * them on would decide the figures. The other parts have the whole machine.
 */
static const struct part {
    const char *name;
    void (*run)(struct stage *stage);
    bool in_turns;
} parts[] = {
    {"warm",     bench_warm,     true },
    {"text",     bench_text,     true },
    {"open",     bench_open,     true },
    {"peers",    bench_peers,    true },
    {"parallel", bench_parallel, false},
    {"memory",   bench_memory,   false},
    {"bulk",     bench_bulk,     false},
};
enum { N_PARTS = sizeof(parts) / sizeof(parts[0]) };

static bool is_wanted(const char *name, int argc, char **argv)
{
    bool any = false;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-')
            continue;
        if (strcmp(argv[i], name) == 0)
            return true;
        any = true;
    }
    return !any;
}

static bool has_flag(const char *flag, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], flag) == 0)
            return true;
    return false;
}

/* The last of the CPUs that we may use: the first has more to do for the kernel. */
static void share_one_cpu(const cpu_set_t *all)
{
    cpu_set_t one;
    size_t last = 0;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, all))
            last = cpu;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    if (sched_setaffinity(0, sizeof(one), &one) < 0)
        fail("cannot stay on CPU %zu", last);
}

static void run_parts(bool in_turns, int argc, char **argv)
{
    struct stage stage = {.quick = has_flag("--quick", argc, argv)};
    struct nacre_error *error = NULL;
    if (nacre_open(NULL, &stage.embedded, &error) < 0)
        fail("open: %s", nacre_error_message(error));
    if (!has_flag("--no-daemon", argc, argv))
        stage_daemon_start(&stage);
    for (size_t i = 0; i < N_PARTS; i++)
        if (parts[i].in_turns == in_turns && is_wanted(parts[i].name, argc, argv))
            parts[i].run(&stage);
    stage_daemon_stop(&stage);
    nacre_close(stage.embedded);
}

int main(int argc, char **argv)
{
    cpu_set_t all;
    if (sched_getaffinity(0, sizeof(all), &all) < 0)
        fail("cannot ask for CPUs");
    share_one_cpu(&all);
    run_parts(true, argc, argv);
    (void)sched_setaffinity(0, sizeof(all), &all); /* we had them before */
    run_parts(false, argc, argv);
    return report_print(has_flag("--json", argc, argv)) ? 0 : 1;
}
