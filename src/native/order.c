/* SPDX-License-Identifier: MIT */
/*
 * In which order two pipes were written to.
 *
 * When both pipes of a command hold bytes at the time we read, the pipes alone
 * do not tell what came first. inotify(7) does: each write(2) to a watched FIFO
 * is an event, and the events of one queue are in order. Equal events in a row
 * are merged, so what is known is the sequence of runs ("out, err, out"), not
 * their sizes; a run is taken to hold whole lines, the last one of a stream all
 * that remain.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/own.h"
#include "capture/log.h"
#include "native/priv.h"

void order_init(struct order *o)
{
    *o = (struct order){.fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
}

void order_done(struct order *o)
{
    own_close_fd(&o->fd); /* its watches go with it */
}

static struct channel **bucket(struct order *o, int wd)
{
    return &o->watched[(unsigned)wd % ORDER_BUCKETS];
}

void order_watch(struct order *o, struct channel *ch, const char *path)
{
    ch->wd = o->fd < 0 ? -1 : inotify_add_watch(o->fd, path, IN_MODIFY);
    if (ch->wd < 0) /* no watches left: the order is then that of our reads */
        return;
    struct channel **head = bucket(o, ch->wd);
    ch->next_watched = *head;
    *head = ch;
}

void order_unwatch(struct order *o, struct channel *ch)
{
    if (ch->wd < 0)
        return;
    for (struct channel **p = bucket(o, ch->wd); *p; p = &(*p)->next_watched) {
        if (*p != ch)
            continue;
        *p = ch->next_watched;
        break;
    }
    (void)inotify_rm_watch(o->fd, ch->wd); /* gone already if the file is */
    ch->wd = -1;
}

static void add_run(struct shell *sh, int stream)
{
    sh->n_events++;
    if (sh->n_runs && sh->runs[sh->n_runs - 1] == stream)
        return;
    if (sh->n_runs == ORDER_RUNS_MAX) /* far behind: forget the oldest half */
        memmove(sh->runs, sh->runs + ORDER_RUNS_MAX / 2, sh->n_runs -= ORDER_RUNS_MAX / 2);
    sh->runs[sh->n_runs++] = (signed char)stream;
}

void order_collect(struct order *o)
{
    char text[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t n;
    while (o->fd >= 0 && (n = read(o->fd, text, sizeof(text))) > 0) {
        for (char *p = text; p < text + n;) {
            const struct inotify_event *e = (const struct inotify_event *)(const void *)p;
            p += sizeof(*e) + e->len;
            if (e->wd < 0 || !(e->mask & IN_MODIFY))
                continue;
            struct channel *ch = *bucket(o, e->wd);
            while (ch && ch->wd != e->wd)
                ch = ch->next_watched;
            if (ch)
                add_run(ch->shell, ch->stream);
        }
        if (n < (ssize_t)(sizeof(text) / 2))
            break;
    }
}

struct part {
    int stream;
    const char *p;
    size_t len;
    size_t lines; /* the last one may have no end */
    size_t runs;
};

static size_t count_lines(const char *p, size_t len)
{
    size_t n = 0;
    const char *end = p + len;
    while (p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        n++;
        p = nl ? nl + 1 : end;
    }
    return n;
}

/* Takes one line off the front, or all if this is the last run of the stream. */
static void emit_run(struct command *c, struct part *part)
{
    size_t len = part->len;
    if (part->runs > 1) {
        const char *nl = memchr(part->p, '\n', part->len);
        len = nl ? (size_t)(nl - part->p) + 1 : part->len;
    }
    if (part->runs)
        part->runs--;
    if (!len)
        return;
    command_output(c, part->stream, part->p, len);
    part->p += len;
    part->len -= len;
}

void order_emit(struct shell *sh, struct command *c, const struct order_bytes bytes[2], int first)
{
    struct part part[2];
    for (int i = 0; i < 2; i++) {
        part[i] = (struct part){
            .stream = i ? CAPTURE_STDERR : CAPTURE_STDOUT, .p = bytes[i].p, .len = bytes[i].len};
        part[i].lines = count_lines(bytes[i].p, bytes[i].len);
    }
    for (size_t i = 0; i < sh->n_runs; i++)
        part[sh->runs[i] == CAPTURE_STDERR].runs++;
    /* More runs than lines: the first ones are of bytes that were read before. */
    for (size_t i = 0; i < sh->n_runs; i++) {
        struct part *p = &part[sh->runs[i] == CAPTURE_STDERR];
        if (p->runs > p->lines)
            p->runs--;
        else
            emit_run(c, p);
    }
    /* What no run speaks of. */
    int order[2] = {first == CAPTURE_STDERR, first != CAPTURE_STDERR};
    for (int i = 0; i < 2; i++)
        if (part[order[i]].len)
            command_output(c, part[order[i]].stream, part[order[i]].p, part[order[i]].len);
    sh->n_runs = 0;
}
