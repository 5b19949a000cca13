/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "control/priv.h"
#include "wire/error.h"

enum { READS_PER_TURN = 4 }; /* then others have their turn */

static void free_later(void *ctx)
{
    conn_free(ctx);
}

void conn_kill(struct conn *conn)
{
    if (conn->dead)
        return;
    conn->dead = true;
    ev_fd_stop(&conn->watch);
    ev_defer(conn->control->ev, free_later, conn);
}

void conn_refuse(struct conn *conn, const struct err *err)
{
    conn->ending = true;
    conn_has_output(conn, wire_put_error(&conn->out, 0, err));
}

/* Whether more may be asked: a client that reads no answers must not make them pile up. */
static bool may_ask(const struct conn *conn)
{
    return !conn->dead && !conn->ending && conn_queued(conn) <= 2 * conn->control->o.queue_max;
}

static void set_wanted(struct conn *conn)
{
    if (conn->dead)
        return;
    ev_fd_start(&conn->watch, (may_ask(conn) ? EV_READ : 0U) |
                                  (conn_queued(conn) && !conn->flush_is_due ? EV_WRITE : 0U));
}

/* ---- reading ---- */

/* Input for a channel that is over is on its way when the answer is: no fault of anybody's. */
static void handle_input(struct conn *conn, const struct wire_frame *frame)
{
    struct channel *ch = channel_find(conn, frame->channel);
    if (!ch)
        return;
    if (frame->type == WIRE_INPUT_END)
        input_take_end(ch);
    else
        input_take(ch, frame->data, frame->len);
}

static void handle_request(struct conn *conn, const struct wire_frame *frame)
{
    struct err err = {0};
    if (frame->channel == 0)
        (void)err_set(&err, ERR_PROTOCOL, "request on channel 0: expected 1 to %u", UINT32_MAX);
    else if (channel_find(conn, frame->channel))
        (void)err_set(&err, ERR_PROTOCOL, "request on channel %u, which is in use", frame->channel);
    if (err.code)
        conn_refuse(conn, &err);
    else
        ops_handle(channel_new(conn, frame->channel), frame);
}

static void handle_frames(struct conn *conn)
{
    if (conn->handling)
        return;
    conn->handling = true;
    while (may_ask(conn)) {
        struct wire_frame frame;
        struct err err = {0};
        int rc = wire_decoder_next(&conn->in, &frame, &err);
        if (rc < 0)
            conn_refuse(conn, &err);
        if (rc <= 0)
            break;
        if (frame.type == WIRE_JSON)
            handle_request(conn, &frame);
        else
            handle_input(conn, &frame);
    }
    conn->handling = false;
}

/* Reads once: whether there may be more. */
static bool read_some(struct conn *conn)
{
    char *room;
    size_t len;
    if (wire_decoder_room(&conn->in, &room, &len) < 0) {
        conn_kill(conn);
        return false;
    }
    ssize_t n = recv(conn->fd, room, len, MSG_DONTWAIT);
    if (n > 0) {
        wire_decoder_commit(&conn->in, (size_t)n);
        handle_frames(conn);
        return (size_t)n == len;
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR))
        conn_kill(conn);
    return false;
}

static void on_ready(void *ctx, unsigned events)
{
    struct conn *conn = ctx;
    if (events & EV_WRITE)
        conn_flush(conn);
    for (int i = 0; i < READS_PER_TURN && (events & EV_READ) && may_ask(conn); i++)
        if (!read_some(conn))
            break;
    set_wanted(conn);
}

/* ---- writing ---- */

void conn_flush(struct conn *conn)
{
    conn->flush_is_due = false;
    while (!conn->dead && conn_queued(conn)) {
        ssize_t n = send(conn->fd, conn->out.data + conn->out_at, conn_queued(conn),
                         MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n >= 0)
            conn_sent(conn, (size_t)n);
        else if (errno == EAGAIN)
            break;
        else if (errno != EINTR)
            conn_kill(conn);
    }
    if (conn->ending && !conn_queued(conn))
        conn_kill(conn);
    conn_balance(conn);
    handle_frames(conn); /* requests that had to wait for room */
    set_wanted(conn);
}

/* ---- life ---- */

static void on_breath(void *ctx)
{
    struct conn *conn = ctx;
    conn->burst = 0;
    conn_balance(conn);
}

void conn_new(struct control *control, int fd)
{
    struct conn *conn = xnew(struct conn);
    conn->control = control;
    conn->fd = fd;
    list_init(&conn->channels);
    wire_decoder_init(&conn->in, WIRE_DAEMON);
    buf_init(&conn->out, CONTROL_OUT_MAX);
    list_add_tail(&control->conns, &conn->link);
    control->n_conns++;
    ev_timer_init(control->ev, &conn->breath, on_breath, conn);
    if (ev_fd_init(control->ev, &conn->watch, fd, on_ready, conn) < 0)
        conn_kill(conn);
    else
        ev_fd_start(&conn->watch, EV_READ);
}

void conn_free(struct conn *conn)
{
    conn->dead = true;
    LIST_FOREACH(link, &conn->channels)
    channel_free(list_entry(link, struct channel, link));
    ev_defer_cancel(conn->control->ev, conn);
    ev_fd_close(&conn->watch);
    ev_timer_close(&conn->breath);
    own_close_fd(&conn->fd);
    list_remove(&conn->link);
    conn->control->n_conns--;
    wire_decoder_done(&conn->in);
    buf_done(&conn->out);
    free(conn);
}
