/* SPDX-License-Identifier: MIT */
/*
 * bench [--json] [--quick] [--no-daemon] [PART...]: measures nacre beside its floors.
 *
 * Exits with 1 when a limit was not kept, with 2 when it could not be measured.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

static const struct {
    const char *name;
    void (*run)(struct stage *stage);
} parts[] = {
    {"warm",     bench_warm    },
    {"text",     bench_text    },
    {"open",     bench_open    },
    {"parallel", bench_parallel},
    {"memory",   bench_memory  },
    {"bulk",     bench_bulk    },
    {"peers",    bench_peers   },
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

int main(int argc, char **argv)
{
    struct stage stage = {.quick = has_flag("--quick", argc, argv)};
    struct nacre_error *error = NULL;
    if (nacre_open(NULL, &stage.embedded, &error) < 0)
        fail("open: %s", nacre_error_message(error));
    if (!has_flag("--no-daemon", argc, argv))
        stage_daemon_start(&stage);
    for (size_t i = 0; i < N_PARTS; i++)
        if (is_wanted(parts[i].name, argc, argv))
            parts[i].run(&stage);
    stage_daemon_stop(&stage);
    nacre_close(stage.embedded);
    return report_print(has_flag("--json", argc, argv)) ? 0 : 1;
}
