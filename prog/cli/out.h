/* SPDX-License-Identifier: MIT */
/*
 * cli/out - one of the program's own output streams, written as fast as its reader reads.
 *
 * Bytes that the reader does not take at once wait in a queue, so that a slow reader does not
 * hold up signals and timers. When the queue is full the writer waits (cli_out_wait()): a command
 * is slowed down and nothing is lost.
 *
 * open -> broken (the reader has gone, or an error; what is written is dropped).
 */
#ifndef CLI_OUT_H
#define CLI_OUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "ev/ev.h"

struct cli_out {
    struct ev *ev;
    int fd;
    bool owns_fd;
    bool blocks; /* non-blocking with a queue; else writes go straight through */
    int error;   /* what broke it, an errno; EPIPE is no error of ours */
    struct buf queue;
    struct ev_fd watch; /* waits for room while something is queued */
    /* The queue is below its mark again, or the stream is broken. May be NULL. */
    void (*on_room)(void *ctx);
    void *ctx;
};

void cli_out_init(struct cli_out *o, struct ev *ev, int fd);
void cli_out_write(struct cli_out *o, const void *p, size_t n);

/* Whether no more should be written until on_room. */
bool cli_out_is_full(const struct cli_out *o);

/* Waits, if it is full, for room; not longer than a second, nor past a signal. */
void cli_out_wait(struct cli_out *o);

void cli_out_done(struct cli_out *o);

#endif
