/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "capture/log.h"
#include "native/priv.h"

enum {
    READS_PER_TURN = 16, /* then others get their turn */
    PIPE_BIG = 1024 * 1024,
    FLOOD_FROM = 64 * 1024,  /* bytes in one turn */
    FLOOD_TURN_NS = 5000000, /* then others get their turn */
    FLOOD_LINGER_NS = 20000,
};

bool native_read(struct native *n, int fd, struct command *c, int stream, bool *ret_end)
{
    ssize_t got = read(fd, n->io, IO_CHUNK);
    if (got > 0) {
        if (c)
            command_output(c, stream, n->io, (size_t)got);
        /* A full default pipe: this command prints much, so let it write in larger steps. */
        if (got == 65536)
            (void)fcntl(fd, F_SETPIPE_SZ, PIPE_BIG); /* only a matter of speed */
        return true;
    }
    if (got < 0 && errno == EINTR)
        return true;
    *ret_end = got == 0 || errno != EAGAIN; /* a terminal ends with EIO */
    return false;
}

/* One read of a pipe into p: bytes, 0 when there is nothing. */
static size_t read_into(struct channel *ch, char *p, size_t room)
{
    ssize_t got;
    do {
        got = read(ch->rd, p, room);
    } while (got < 0 && errno == EINTR);
    if (got == 65536)
        (void)fcntl(ch->rd, F_SETPIPE_SZ, PIPE_BIG); /* only a matter of speed */
    return got > 0 ? (size_t)got : 0;
}

static bool has_run(const struct shell *sh, int stream)
{
    return memchr(sh->runs, stream, sh->n_runs) != NULL;
}

static bool is_mixed(const struct shell *sh, const struct order_bytes bytes[2])
{
    return (bytes[0].len || has_run(sh, CAPTURE_STDOUT)) &&
           (bytes[1].len || has_run(sh, CAPTURE_STDERR));
}

/*
 * Reads both pipes; how many bytes there were. The second may hold what was written after we
 * looked at the first, and the event of a write comes a moment after its bytes. So with bytes in
 * both we look until there is nothing new, also after the writer had its turn.
 */
static size_t read_both(struct shell *sh, struct command *c, int first)
{
    enum { HALF = IO_CHUNK / 2, LOOKS = 32 };
    struct native *n = sh->n;
    struct order_bytes bytes[2] = {
        {n->io,        0},
        {n->io + HALF, 0}
    };
    bool is_settled = false;
    for (int looks = 0; looks < LOOKS && !is_settled; looks++) {
        unsigned seen = sh->n_events;
        for (int i = 0; i < 2; i++)
            bytes[i].len += read_into(i ? &sh->err : &sh->out,
                                      n->io + (size_t)i * HALF + bytes[i].len, HALF - bytes[i].len);
        if (!bytes[0].len && !bytes[1].len)
            return 0;
        order_collect(&n->order);
        if (!is_mixed(sh, bytes))
            break;
        if (sh->n_events == seen && looks) {
            (void)sched_yield();
            order_collect(&n->order);
            is_settled = sh->n_events == seen;
        }
    }
    if (c && bytes[0].len && bytes[1].len)
        order_emit(sh, c, bytes, first);
    else if (c)
        command_output(c, bytes[0].len ? CAPTURE_STDOUT : CAPTURE_STDERR,
                       bytes[0].len ? bytes[0].p : bytes[1].p, bytes[0].len + bytes[1].len);
    sh->n_runs = 0;
    return bytes[0].len + bytes[1].len;
}

/*
 * A stream that floods: read it alone and in large steps, and look again for a moment before
 * waiting, since a sleep and a wake-up for every write of 8 KiB would take most of the time.
 */
static void read_flood(struct channel *ch, struct command *c)
{
    struct native *n = ch->shell->n;
    uint64_t begin = ev_now_ns(n->ev), last = begin, now = begin;
    /* Who listens may block to slow the writer down: so it is time that counts, not bytes. */
    for (; now - begin < FLOOD_TURN_NS; now = ev_now_ns(n->ev)) {
        size_t got = read_into(ch, n->io, IO_CHUNK);
        if (got) {
            if (c)
                command_output(c, ch->stream, n->io, got);
            last = ev_now_ns(n->ev);
        } else if (now - last > FLOOD_LINGER_NS && now > last) {
            break;
        } else {
            (void)sched_yield(); /* the writer may want this very CPU */
        }
    }
}

static void on_output(void *ctx, unsigned events)
{
    (void)events;
    struct channel *ch = ctx;
    struct shell *sh = ch->shell;
    struct command *c = sh->session ? sh->session->current : NULL;
    size_t got = 0;
    for (int i = 0; i < READS_PER_TURN && got < FLOOD_FROM; i++) {
        size_t n = read_both(sh, c, ch->stream);
        if (!n)
            return;
        got += n;
    }
    if (got < FLOOD_FROM)
        return;
    /* Events make each write dearer by a fifth, and nobody looks at the order of a flood. */
    order_unwatch(&sh->n->order, &sh->out);
    order_unwatch(&sh->n->order, &sh->err);
    read_flood(ch, c);
}

void channels_drain(struct shell *sh, struct command *c)
{
    while (read_both(sh, c, CAPTURE_STDOUT))
        ;
}

static int open_reader(struct channel *ch, struct err *err)
{
    struct shell *sh = ch->shell;
    int rc = shell_make_fifo(sh, ch->name, err);
    if (rc < 0)
        return rc;
    ch->rd = native_dir_fifo(sh->dirfd, ch->name, O_RDONLY);
    if (ch->rd < 0)
        return err_set(err, -ch->rd, "open the pipe '%s/%s'", sh->dir, ch->name);
    ch->keep = native_dir_fifo(sh->dirfd, ch->name, O_WRONLY);
    if (ch->keep < 0)
        return err_set(err, -ch->keep, "open the pipe '%s/%s'", sh->dir, ch->name);
    return 0;
}

int channel_open(struct channel *ch, struct shell *sh, const char *name, int stream,
                 struct err *err)
{
    ch->shell = sh;
    ch->name = name;
    ch->stream = stream;
    ch->wd = -1;
    int rc = open_reader(ch, err);
    if (rc < 0)
        return rc;
    if (stream) {
        rc = ev_fd_init(sh->n->ev, &ch->watch, ch->rd, on_output, ch);
        if (rc < 0)
            return err_set(err, -rc, "watch the pipe '%s/%s'", sh->dir, ch->name);
        ev_fd_start(&ch->watch, EV_READ);
        auto_free char *path = xasprintf("%s/%s", sh->dir, name);
        order_watch(&sh->n->order, ch, path);
    }
    return 0;
}

void channels_watch(struct shell *sh)
{
    struct channel *both[] = {&sh->out, &sh->err};
    for (int i = 0; i < 2; i++) {
        if (both[i]->wd >= 0)
            continue;
        auto_free char *path = xasprintf("%s/%s", sh->dir, both[i]->name);
        order_watch(&sh->n->order, both[i], path);
    }
}

void channel_close(struct channel *ch)
{
    if (ch->shell)
        order_unwatch(&ch->shell->n->order, ch);
    ev_fd_close(&ch->watch);
    own_close_fd(&ch->rd);
    own_close_fd(&ch->keep);
}

bool channel_is_held(struct channel *ch, struct command *c)
{
    /* Without our own end, the end of file tells that nobody else has one. */
    own_close_fd(&ch->keep);
    bool end = false;
    while (native_read(ch->shell->n, ch->rd, c, ch->stream, &end))
        ;
    bool held = !end;
    ch->keep = native_dir_fifo(ch->shell->dirfd, ch->name, O_WRONLY);
    /* The file is gone or replaced: treat it as held, a new pipe is made. */
    return held || ch->keep < 0;
}

static void on_tail(void *ctx, unsigned events)
{
    (void)events;
    struct tail *t = ctx;
    bool end = false;
    for (int i = 0; i < READS_PER_TURN; i++)
        if (!native_read(t->n, t->fd, t->command, t->stream, &end))
            break;
    if (end)
        tail_free(t);
}

void tail_new(struct native *n, struct command *c, int stream, int fd, struct list *tails)
{
    struct tail *t = xnew(struct tail);
    t->n = n;
    t->command = command_ref(c);
    t->stream = stream;
    t->fd = fd;
    c->open_tails++;
    list_add_tail(tails, &t->link);
    if (ev_fd_init(n->ev, &t->watch, fd, on_tail, t) == 0)
        ev_fd_start(&t->watch, EV_READ);
    else
        tail_free(t);
}

void tail_free(struct tail *t)
{
    list_remove(&t->link);
    ev_fd_close(&t->watch);
    own_close_fd(&t->fd);
    if (--t->command->open_tails == 0 && command_state_is_final(t->command->state))
        command_quiet(t->command);
    command_unref(t->command);
    free(t);
}

void tails_free(struct list *tails)
{
    LIST_FOREACH(link, tails)
    tail_free(list_entry(link, struct tail, link));
}

int channel_hand_over(struct channel *ch, struct command *c, struct list *tails, struct err *err)
{
    struct shell *sh = ch->shell;
    order_unwatch(&sh->n->order, ch);
    ev_fd_close(&ch->watch);
    own_close_fd(&ch->keep);
    (void)unlinkat(sh->dirfd, ch->name, 0); /* gone already: the same to us */
    tail_new(sh->n, c, ch->stream, take_fd(&ch->rd), tails);
    return channel_open(ch, sh, ch->name, ch->stream, err);
}
