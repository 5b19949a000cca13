/* SPDX-License-Identifier: MIT */
/*
 * cli/live - this program as the near end of one running command.
 *
 * Output goes to the program's own streams as it comes; standard input, window size and signals
 * go to the command through the calls that the owner gives. The command may run in this process
 * or in the daemon.
 *
 * SIGINT, SIGTERM and SIGHUP stop the command by the ladder; the second one kills it. A reader of
 * standard output that goes away stops it as well.
 */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "cli/out.h"
#include "cli/source.h"
#include "ev/ev.h"

struct capture_plain;
struct err;

struct cli_live_calls {
    /* -ERR_BUSY: nothing was taken, the same bytes come again a little later. */
    int (*input)(const void *p, size_t n, struct err *err, void *ctx);
    int (*input_end)(struct err *err, void *ctx);
    void (*resize)(uint16_t rows, uint16_t cols, void *ctx);
    /* By the ladder, or at once. */
    void (*stop)(bool at_once, void *ctx);
    /* The key was pressed; NULL: there is no such key. */
    void (*detach)(void *ctx);
    /* Output may be given again after cli_live_is_full(); may be NULL. */
    void (*room)(void *ctx);
};

struct cli_live_options {
    bool input; /* pass standard input on */
    bool pty;   /* the command has a terminal: ours becomes raw */
    bool plain; /* output without terminal escapes */
};

enum { CLI_LIVE_DETACH_KEY = 0x1d /* Ctrl-] */, CLI_LIVE_PLAIN_MAX = 1024 * 1024 };

struct cli_live_stream {
    struct cli_out *out;
    struct capture_plain *plain; /* NULL: raw */
};

struct cli_live {
    struct ev *ev;
    const struct cli_live_calls *calls;
    void *ctx;
    bool pty;
    int signo;          /* the first of the signals that came; 0: none */
    unsigned n_signals; /* that ask to stop */
    bool stopped;       /* the command was told to stop */
    bool ended;         /* the command is no more */
    struct cli_out out, err_out;
    struct cli_live_stream streams[3]; /* by CAPTURE_STDOUT and CAPTURE_STDERR */
    struct cli_source source;
    struct buf held; /* input that the command had no room for */
    bool held_end;
    struct ev_timer retry, settle;
    struct ev_signal interrupt, terminate, hangup, window, resumed;
};

int cli_live_init(struct cli_live *l, struct ev *ev, const struct cli_live_options *options,
                  const struct cli_live_calls *calls, void *ctx, struct err *err);

/* The command runs: from here on input is passed on. */
void cli_live_start(struct cli_live *l);

/* What the command printed on CAPTURE_STDOUT or CAPTURE_STDERR. */
void cli_live_output(struct cli_live *l, int stream, const void *p, size_t n);

bool cli_live_is_full(const struct cli_live *l);
/* Waits for room, bounded; see cli_out_wait(). */
void cli_live_wait(struct cli_live *l);

/*
 * The command has ended: no more input, and what is queued is written, which runs the loop. A
 * signal breaks that off. Not to be called from a callback of the loop.
 */
void cli_live_finish(struct cli_live *l);

/* The errno that writing to standard output failed with, 0: none. EPIPE: the reader has gone. */
int cli_live_write_error(const struct cli_live *l);

void cli_live_done(struct cli_live *l);

#endif
