/* SPDX-License-Identifier: MIT */
#include "cli/live.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/log.h"
#include "capture/plain.h"
#include "cli/stdio.h"
#include "cli/term.h"

enum { HELD_MAX = 1024 * 1024, RETRY_MS = 5, SETTLE_MS = 50 };

/* From here on nothing waits for a reader: its end must be seen, and little more can come. */
static void stop(struct cli_live *l, bool at_once)
{
    l->stopped = true;
    l->calls->stop(at_once, l->ctx);
    if (l->calls->room)
        l->calls->room(l->ctx);
}

/* ---- input ---- */

/* Gives the held input; true when nothing is left to give. */
static bool pass_on(struct cli_live *l)
{
    int rc = 0;
    if (l->held.len)
        rc = l->calls->input(l->held.data, l->held.len, NULL, l->ctx);
    if (rc == -ERR_BUSY) {
        ev_timer_start(&l->retry, RETRY_MS);
        return false;
    }
    buf_clear(&l->held);
    if (rc < 0) { /* the command reads no more: it has ended, or has closed its input */
        cli_source_pause(&l->source);
        return false;
    }
    if (l->held_end)
        (void)l->calls->input_end(NULL, l->ctx); /* fails only if the command has ended */
    return !l->held_end;
}

static void on_retry(void *ctx)
{
    struct cli_live *l = ctx;
    if (pass_on(l))
        cli_source_resume(&l->source);
}

static void on_data(const void *p, size_t n, void *ctx)
{
    struct cli_live *l = ctx;
    const char *key = l->calls->detach ? memchr(p, CLI_LIVE_DETACH_KEY, n) : NULL;
    if (key)
        n = (size_t)(key - (const char *)p);
    (void)buf_append(&l->held, p, n); /* it was empty: one piece always fits */
    if (!pass_on(l))
        cli_source_pause(&l->source);
    if (key)
        l->calls->detach(l->ctx);
}

static void on_end(int error, void *ctx)
{
    struct cli_live *l = ctx;
    (void)error; /* a terminal that hung up or a closed descriptor: there is no more input */
    l->held_end = true;
    if (!l->held.len)
        (void)pass_on(l);
}

/* ---- signals ---- */

static void on_stop_signal(void *ctx, int signo)
{
    struct cli_live *l = ctx;
    l->n_signals++;
    if (!l->signo)
        l->signo = signo;
    if (!l->ended)
        stop(l, l->stopped);
}

static void send_size(struct cli_live *l)
{
    uint16_t rows, cols;
    if (cli_term_size(&rows, &cols))
        l->calls->resize(rows, cols, l->ctx);
}

static void on_window(void *ctx, int signo)
{
    (void)signo;
    send_size(ctx);
}

/* The shell may have set the terminal to its own liking while we were stopped. */
static void on_resumed(void *ctx, int signo)
{
    (void)signo;
    (void)cli_term_raw();
    send_size(ctx);
}

/* What the caller has set to be ignored (nohup, a shell's "&") stays ignored. */
static int watch_signal(struct cli_live *l, struct ev_signal *s, int signo, ev_signal_fn fn)
{
    struct sigaction old;
    if (sigaction(signo, NULL, &old) == 0 && old.sa_handler == SIG_IGN)
        return 0;
    return ev_signal_init(l->ev, s, signo, fn, l);
}

/* ---- output ---- */

static void on_room(void *ctx)
{
    struct cli_live *l = ctx;
    if (cli_live_write_error(l) && !l->stopped && !l->ended)
        stop(l, false);
    if (l->calls->room)
        l->calls->room(l->ctx);
}

/* A line that goes on, such as a prompt, is shown when nothing follows for a moment. */
static void on_settle(void *ctx)
{
    struct cli_live *l = ctx;
    for (int i = 0; i < 3; i++) {
        struct cli_live_stream *s = &l->streams[i];
        auto_buf struct buf text = BUF_INIT(CLI_LIVE_PLAIN_MAX);
        if (s->plain && capture_plain_flush(s->plain, &text) == 0 && text.len)
            cli_out_write(s->out, text.data, text.len);
    }
}

static void write_plain(struct cli_live *l, struct cli_live_stream *s, const char *p, size_t n)
{
    /* In parts: a part may grow when it is filtered (a byte that is no UTF-8 becomes three). */
    enum { PART = CLI_LIVE_PLAIN_MAX / 16 };
    while (n) {
        size_t part = n < PART ? n : PART;
        auto_buf struct buf text = BUF_INIT(CLI_LIVE_PLAIN_MAX);
        (void)capture_plain_feed(s->plain, p, part, &text);
        if (text.len)
            cli_out_write(s->out, text.data, text.len);
        p += part;
        n -= part;
    }
    ev_timer_start(&l->settle, SETTLE_MS);
}

void cli_live_output(struct cli_live *l, int stream, const void *p, size_t n)
{
    struct cli_live_stream *s = &l->streams[stream];
    if (s->plain)
        write_plain(l, s, p, n);
    else
        cli_out_write(s->out, p, n);
}

bool cli_live_is_full(const struct cli_live *l)
{
    return !l->stopped && (cli_out_is_full(&l->out) || cli_out_is_full(&l->err_out));
}

void cli_live_wait(struct cli_live *l)
{
    if (l->stopped)
        return;
    cli_out_wait(&l->out);
    cli_out_wait(&l->err_out);
}

int cli_live_write_error(const struct cli_live *l)
{
    return l->out.error;
}

/* ---- life ---- */

static void open_streams(struct cli_live *l, bool plain)
{
    cli_out_init(&l->out, l->ev, STDOUT_FILENO);
    cli_out_init(&l->err_out, l->ev, STDERR_FILENO);
    l->out.on_room = l->err_out.on_room = on_room;
    l->out.ctx = l->err_out.ctx = l;
    /* Where both go to one place, one queue keeps the order. */
    bool same = cli_stdio_is_same(STDOUT_FILENO, STDERR_FILENO);
    l->streams[CAPTURE_STDOUT].out = &l->out;
    l->streams[CAPTURE_STDERR].out = same ? &l->out : &l->err_out;
    if (!plain)
        return;
    l->streams[CAPTURE_STDOUT].plain = capture_plain_new();
    l->streams[CAPTURE_STDERR].plain = capture_plain_new();
}

int cli_live_init(struct cli_live *l, struct ev *ev, const struct cli_live_options *options,
                  const struct cli_live_calls *calls, void *ctx, struct err *err)
{
    *l = (struct cli_live){.ev = ev, .calls = calls, .ctx = ctx, .pty = options->pty};
    buf_init(&l->held, HELD_MAX);
    open_streams(l, options->plain);
    ev_timer_init(ev, &l->retry, on_retry, l);
    ev_timer_init(ev, &l->settle, on_settle, l);
    if (options->input) {
        cli_source_init(&l->source, ev);
        l->source.on_data = on_data;
        l->source.on_end = on_end;
        l->source.ctx = l;
    }
    int rc = watch_signal(l, &l->interrupt, SIGINT, on_stop_signal);
    if (rc == 0)
        rc = watch_signal(l, &l->terminate, SIGTERM, on_stop_signal);
    if (rc == 0)
        rc = watch_signal(l, &l->hangup, SIGHUP, on_stop_signal);
    if (rc == 0 && l->pty)
        rc = ev_signal_init(ev, &l->window, SIGWINCH, on_window, l);
    return rc < 0 ? err_set(err, -rc, "watch for signals") : 0;
}

void cli_live_start(struct cli_live *l)
{
    if (l->pty && cli_term_raw())
        (void)ev_signal_init(l->ev, &l->resumed, SIGCONT, on_resumed, l);
    cli_source_resume(&l->source);
}

void cli_live_finish(struct cli_live *l)
{
    l->ended = true;
    cli_source_done(&l->source);
    ev_timer_close(&l->retry);
    ev_timer_stop(&l->settle);
    for (int i = 0; i < 3; i++) {
        struct cli_live_stream *s = &l->streams[i];
        auto_buf struct buf text = BUF_INIT(CLI_LIVE_PLAIN_MAX);
        if (s->plain && capture_plain_end(s->plain, &text) == 0 && text.len)
            cli_out_write(s->out, text.data, text.len);
    }
    /* The first signal asks for the command's end, not for that of its output. */
    unsigned enough = l->n_signals ? l->n_signals + (l->n_signals == 1) : 1;
    while ((l->out.queue.len || l->err_out.queue.len) && l->n_signals < enough)
        (void)ev_run_once(l->ev, true);
}

void cli_live_done(struct cli_live *l)
{
    if (!l->ev)
        return;
    cli_term_restore();
    cli_source_done(&l->source);
    ev_timer_close(&l->retry);
    ev_timer_close(&l->settle);
    struct ev_signal *all[] = {&l->interrupt, &l->terminate, &l->hangup, &l->window, &l->resumed};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        ev_signal_close(all[i]);
    for (int i = 0; i < 3; i++)
        capture_plain_free(l->streams[i].plain);
    cli_out_done(&l->out);
    cli_out_done(&l->err_out);
    buf_done(&l->held);
    l->ev = NULL;
}
