/* SPDX-License-Identifier: MIT */
/*
 * cli/source - the program's standard input, read piece by piece as it is wanted.
 *
 * paused (init) <-> reading -> ended. Regular files are read in turns of the loop.
 */
#ifndef CLI_SOURCE_H
#define CLI_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "ev/ev.h"

struct cli_source {
    struct ev *ev;
    int fd;
    bool owns_fd;
    bool polls; /* ready is told by the loop; else (a file) it always is */
    bool ended;
    struct ev_fd watch;
    struct ev_timer turn;
    /* A piece; then, once, the end: error is 0 or the errno that reading failed with. */
    void (*on_data)(const void *p, size_t n, void *ctx);
    void (*on_end)(int error, void *ctx);
    void *ctx;
};

/* Opens standard input. The callbacks may pause and close the source. */
void cli_source_init(struct cli_source *s, struct ev *ev);
void cli_source_resume(struct cli_source *s);
void cli_source_pause(struct cli_source *s);
void cli_source_done(struct cli_source *s);

#endif
