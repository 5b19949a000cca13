/* SPDX-License-Identifier: MIT */
/*
 * bench - what the parts of the benchmark share. Uses the installed API only.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <nacre/nacre.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct stage {
    struct nacre *embedded;
    struct nacre *daemon; /* a connection; NULL: not built */
    pid_t daemon_pid;
    bool quick; /* fewer rounds, to see whether it runs at all */
};

/* A session with its first command done. Fails when it cannot be had. */
struct nacre_session *stage_session(struct nacre *n);
/* Closes and frees. */
void stage_session_end(struct nacre_session *s);
/* Runs a text, which must end with 0. */
void stage_run(struct nacre_session *s, const char *text, size_t len);
/* Rounds to do: n, or few if it has to be quick. */
size_t stage_rounds(const struct stage *stage, size_t n);

/* Connects to a daemon of our own, in a private directory; stage_daemon_stop() ends it. */
void stage_daemon_start(struct stage *stage);
void stage_daemon_stop(struct stage *stage);

/* A field of /proc/PID/status or smaps_rollup, in KiB; -1 when it is not there. */
long process_kib(pid_t pid, const char *file, const char *field);

void bench_warm(struct stage *stage);
void bench_text(struct stage *stage);
void bench_bulk(struct stage *stage);
void bench_parallel(struct stage *stage);
void bench_open(struct stage *stage);
void bench_memory(struct stage *stage);
void bench_peers(struct stage *stage);

#endif
