/* SPDX-License-Identifier: MIT */
/*
 * The queue of a connection. Frames are collected and written together at the end of
 * the loop's turn; a large piece of output goes straight to the socket when nothing is
 * before it, so that a fast reader costs no copy.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/err.h"
#include "control/priv.h"

enum {
    DIRECT_MIN = 16 * 1024,      /* bytes for which a system call is cheaper than a copy */
    BURST_MAX = 4 * 1024 * 1024, /* bytes of a log in one turn of the loop */
    KEEP_MAX = 256 * 1024,       /* memory that an idle connection may hold on to */
    HEAD_SIZE = WIRE_HEADER_SIZE + WIRE_CURSOR_SIZE,
};

size_t conn_queued(const struct conn *conn)
{
    return conn->out.len - conn->out_at;
}

void conn_sent(struct conn *conn, size_t n)
{
    conn->out_at += n;
    if (conn->out_at == conn->out.len) {
        conn->out_at = 0;
        if (conn->out.cap > KEEP_MAX)
            buf_done(&conn->out);
        else
            buf_clear(&conn->out);
    } else if (conn->out_at > conn->out.len / 2) {
        buf_consume(&conn->out, conn->out_at);
        conn->out_at = 0;
    }
}

static void flush_later(void *ctx)
{
    conn_flush(ctx);
}

void conn_has_output(struct conn *conn, int rc)
{
    if (rc < 0)
        conn_kill(conn);
    if (conn->dead || conn->flush_is_due)
        return;
    conn->flush_is_due = true;
    ev_defer(conn->control->ev, flush_later, conn);
}

void conn_balance(struct conn *conn)
{
    size_t max = conn->control->o.queue_max, queued = conn_queued(conn);
    bool breathless = conn->burst > BURST_MAX;
    bool full = breathless || (conn->full ? queued > max / 4 : queued > max);
    if (full == conn->full || conn->dead)
        return;
    if (breathless)
        ev_timer_start(&conn->breath, 0);
    conn->full = full;
    LIST_FOREACH(link, &conn->channels)
    stream_pause(list_entry(link, struct channel, link), full);
}

/* Sends as much as the socket takes now: bytes of head and p together. */
static size_t send_now(struct conn *conn, const char *head, const void *p, size_t n)
{
    struct iovec iov[] = {
        {.iov_base = (char *)head,         .iov_len = HEAD_SIZE},
        {.iov_base = (void *)(uintptr_t)p, .iov_len = n        },
    };
    struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 2};
    ssize_t sent = sendmsg(conn->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0)
        return (size_t)sent;
    if (errno != EAGAIN && errno != EINTR)
        conn_kill(conn);
    return 0;
}

static int put_direct(struct channel *ch, enum wire_type type, uint64_t cursor, const void *p,
                      size_t n)
{
    struct conn *conn = ch->conn;
    struct buf *out = &conn->out;
    /* Only the head is made in the queue; it is taken back as far as it was sent. */
    int rc = wire_put_output(out, type, ch->id, cursor, NULL, 0);
    if (rc < 0)
        return rc;
    wire_header(out->data + out->len - HEAD_SIZE, type, ch->id, WIRE_CURSOR_SIZE + n);
    char head[HEAD_SIZE];
    memcpy(head, out->data + out->len - HEAD_SIZE, HEAD_SIZE);
    size_t sent = send_now(conn, head, p, n);
    if (sent < HEAD_SIZE) {
        conn->out_at += sent;
        return buf_append(out, p, n);
    }
    buf_truncate(out, out->len - HEAD_SIZE);
    sent -= HEAD_SIZE;
    return buf_append(out, (const char *)p + sent, n - sent);
}

void conn_put_output(struct channel *ch, enum wire_type type, uint64_t cursor, const void *p,
                     size_t n)
{
    struct conn *conn = ch->conn;
    const char *bytes = p;
    int rc = 0;
    for (size_t at = 0; at < n && rc == 0 && !conn->dead;) {
        size_t len = n - at < WIRE_BYTES_MAX ? n - at : WIRE_BYTES_MAX;
        rc = len >= DIRECT_MIN && !conn_queued(conn)
                 ? put_direct(ch, type, cursor + at, bytes + at, len)
                 : wire_put_output(&conn->out, type, ch->id, cursor + at, bytes + at, len);
        at += len;
    }
    conn->burst += n;
    conn_has_output(conn, rc);
    conn_balance(conn);
}
