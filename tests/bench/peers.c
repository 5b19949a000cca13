/* SPDX-License-Identifier: MIT */
/* For comparison: what others do for each command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bare.h"
#include "bench.h"
#include "report.h"

enum { ROUNDS = 300 };

static const struct {
    const char *what;
    const char *argv[6];
} peers[] = {
    {"a fresh `bash -c :`", {"/bin/bash", "--norc", "--noprofile", "-c", ":", NULL}},
    {"a fresh `dash -c :`", {"/bin/dash", "-c", ":", NULL}                         },
    {"a fresh `mksh -c :`", {"/bin/mksh", "-c", ":", NULL}                         },
    {"an external `true`",  {"/bin/true", NULL}                                    },
};

void bench_peers(struct stage *stage)
{
    report_progress("peers");
    size_t rounds = stage_rounds(stage, ROUNDS);
    for (size_t i = 0; i < sizeof(peers) / sizeof(peers[0]); i++) {
        if (access(peers[i].argv[0], X_OK) < 0)
            continue;
        struct samples us;
        samples_init(&us, rounds);
        for (size_t k = 0; k < rounds; k++)
            samples_add(&us, bare_run_us(peers[i].argv));
        report_add(
            &(struct row){peers[i].what, NULL, "us", 0, samples_quantile(&us, 0.5), LIMIT_NONE, 0});
        samples_done(&us);
    }
}
