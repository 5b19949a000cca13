/* SPDX-License-Identifier: MIT */
#include "client/client.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "client/priv.h"
#include "json/read.h"
#include "wire/error.h"
#include "wire/proto.h"

enum {
    OUT_MAX = WIRE_JSON_MAX + WIRE_BYTES_MAX + 1024,
    TREE_MAX = 256 * 1024 * 1024, /* a tree takes several times its text */
    KEPT_MAX = 64 * 1024 * 1024,
    CONNECT_TRIES = 3, /* a daemon may end just when one connects */
};

void client_disconnect(struct client *c)
{
    own_close_fd(&c->fd);
}

static int lost(struct client *c, struct err *err)
{
    client_disconnect(c);
    return err_set(err, ERR_CLOSED, "the daemon has closed the connection");
}

/* Takes in what has arrived: 1, or 0 if nothing had. */
static int receive(struct client *c, struct err *err)
{
    char *room;
    size_t len;
    int rc = wire_decoder_room(&c->in, &room, &len);
    if (rc < 0)
        return err_set(err, -rc, "messages of the daemon");
    ssize_t n = recv(c->fd, room, len, MSG_DONTWAIT);
    if (n > 0) {
        wire_decoder_commit(&c->in, (size_t)n);
        return 1;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    return lost(c, err);
}

/* Waits until something can be written; reads meanwhile, for the daemon may wait for that. */
static int wait_writable(struct client *c, int64_t deadline, struct err *err)
{
    bool is_full = wire_decoder_pending(&c->in) > WIRE_JSON_MAX;
    struct pollfd p = {.fd = c->fd, .events = (short)(is_full ? POLLOUT : POLLIN | POLLOUT)};
    int n = poll(&p, 1, client_poll_ms(deadline));
    if (n == 0) {
        client_disconnect(c);
        return err_set(err, ERR_TIMEOUT, "the daemon does not read");
    }
    if (n > 0 && (p.revents & POLLIN))
        return receive(c, err) < 0 ? -ERR_CLOSED : 0;
    return 0;
}

int client_flush(struct client *c, struct err *err)
{
    int64_t deadline = client_deadline(c->timeout_ms);
    size_t at = 0;
    int rc = 0;
    while (at < c->out.len && rc == 0) {
        if (c->fd < 0) {
            rc = lost(c, err);
            break;
        }
        ssize_t n = send(c->fd, c->out.data + at, c->out.len - at, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n >= 0)
            at += (size_t)n;
        else if (errno == EAGAIN)
            rc = wait_writable(c, deadline, err);
        else if (errno != EINTR)
            rc = lost(c, err);
    }
    buf_clear(&c->out);
    return rc;
}

/* The next frame off the socket: 1 or 0. */
static int read_frame(struct client *c, int64_t deadline, struct wire_frame *ret, struct err *err)
{
    for (;;) {
        int rc = wire_decoder_next(&c->in, ret, err);
        if (rc < 0)
            client_disconnect(c);
        if (rc != 0)
            return rc;
        if (c->fd < 0)
            return lost(c, err);
        rc = receive(c, err);
        if (rc < 0)
            return rc;
        if (rc > 0)
            continue;
        int ms = client_poll_ms(deadline);
        if (ms == 0)
            return 0;
        (void)poll(&(struct pollfd){.fd = c->fd, .events = POLLIN}, 1, ms);
    }
}

int client_next_frame(struct client *c, int64_t deadline, struct wire_frame *ret, struct err *err)
{
    free(take_ptr(c->given));
    struct client_kept *kept = list_first(&c->kept, struct client_kept, link);
    if (!kept)
        return read_frame(c, deadline, ret, err);
    list_remove(&kept->link);
    c->n_kept -= kept->frame.len;
    c->given = kept;
    *ret = kept->frame;
    return 1;
}

static int keep(struct client *c, const struct wire_frame *frame, struct err *err)
{
    if (frame->len > KEPT_MAX - c->n_kept)
        return err_set(err, ERR_LIMIT, "more than %d bytes of messages wait to be taken", KEPT_MAX);
    struct client_kept *kept = malloc(sizeof(*kept) + frame->len);
    if (!kept)
        return err_set(err, ENOMEM, "keep a message of the daemon");
    kept->frame = *frame;
    kept->frame.data = kept->data;
    if (frame->len)
        memcpy(kept->data, frame->data, frame->len);
    list_add_tail(&c->kept, &kept->link);
    c->n_kept += frame->len;
    return 0;
}

/* ---- requests ---- */

struct json_w *client_begin(struct client *c, const char *op)
{
    assert(!c->begun);
    c->begun = true;
    do {
        c->next_channel = c->next_channel == UINT32_MAX ? 1 : c->next_channel + 1;
    } while (c->next_channel == 0);
    (void)wire_begin(&c->out, c->next_channel, &c->start); /* out is empty */
    json_w_init(&c->w, &c->out);
    json_w_obj(&c->w);
    json_w_kstr(&c->w, "op", op);
    return &c->w;
}

int client_send(struct client *c, uint32_t *ret_channel, struct err *err)
{
    assert(c->begun);
    c->begun = false;
    json_w_obj_end(&c->w);
    int rc = wire_end(&c->out, c->start, json_w_finish(&c->w));
    if (rc < 0)
        return err_set(err, -rc, "request to the daemon: %s",
                       rc == -ERR_INVALID ? "a name in it is no UTF-8" : err_describe(rc));
    rc = client_flush(c, err);
    if (rc == 0 && ret_channel)
        *ret_channel = c->next_channel;
    return rc;
}

/* Whether a frame of the called channel is its answer; if so the message is filled. */
static int take_answer(struct client *c, const struct wire_frame *frame, struct arena *arena,
                       struct client_message *m, struct err *err)
{
    if (frame->type != WIRE_JSON)
        return 0;
    int rc = client_read_message(c, frame, arena, m, err);
    return rc < 0 ? rc : m->what == CLIENT_RESULT || m->what == CLIENT_ERROR;
}

int client_call(struct client *c, struct arena *arena, int64_t timeout_ms,
                const struct json_node **ret_result, struct err *err)
{
    uint32_t channel = 0;
    int64_t deadline = client_deadline(timeout_ms);
    if (!arena) {
        arena = &c->arena;
        arena_clear(arena);
    }
    int rc = client_send(c, &channel, err);
    while (rc == 0) {
        struct wire_frame frame;
        struct client_message m = {0};
        rc = read_frame(c, deadline, &frame, err);
        if (rc == 0)
            return err_set(err, ERR_TIMEOUT, "the daemon gave no answer in %lld ms",
                           (long long)timeout_ms);
        if (rc > 0)
            rc = frame.channel == channel || frame.channel == 0
                     ? take_answer(c, &frame, arena, &m, err)
                     : 0;
        if (rc == 0)
            rc = keep(c, &frame, err);
        else if (rc > 0 && m.what == CLIENT_ERROR)
            rc = wire_read_error(m.node, err);
        else if (rc > 0 && ret_result)
            *ret_result = m.node;
    }
    return rc < 0 ? rc : 0;
}

int client_next(struct client *c, int64_t timeout_ms, struct client_message *ret, struct err *err)
{
    struct wire_frame frame;
    arena_clear(&c->arena);
    int rc = client_next_frame(c, client_deadline(timeout_ms), &frame, err);
    if (rc <= 0)
        return rc;
    rc = client_read_message(c, &frame, &c->arena, ret, err);
    return rc < 0 ? rc : 1;
}

/* ---- life ---- */

static int say_hello(struct client *c, const char *name, int64_t deadline, struct err *err)
{
    auto_arena struct arena arena;
    arena_init(&arena, 65536);
    struct json_w *w = client_begin(c, "hello");
    json_w_kint(w, "protocol", WIRE_PROTOCOL);
    json_w_kstr(w, "client", name ? name : "client");
    const struct json_node *result = NULL;
    int rc = client_call(c, &arena, client_poll_ms(deadline), &result, err);
    if (rc < 0)
        return rc;
    const char *version = json_cstr(json_get(result, "version"));
    c->version = xstrdup(version ? version : "");
    (void)json_i64(json_get(result, "pid"), &c->pid); /* stays 0 */
    return 0;
}

static struct client *new_client(int fd, const struct client_options *options)
{
    struct client *c = xnew(struct client);
    c->fd = fd;
    c->timeout_ms = options->timeout_ms > 0 ? options->timeout_ms : CLIENT_TIMEOUT_MS;
    wire_decoder_init(&c->in, WIRE_CLIENT);
    buf_init(&c->out, OUT_MAX);
    list_init(&c->kept);
    list_init(&c->inputs);
    arena_init(&c->arena, TREE_MAX);
    return c;
}

int client_connect(const struct client_options *options, struct client **ret_c, struct err *err)
{
    auto_buf struct buf path = BUF_INIT(8192);
    int rc =
        options->socket ? buf_append_str(&path, options->socket) : client_socket_path(&path, err);
    if (rc < 0)
        return rc;
    int64_t deadline =
        client_deadline(options->timeout_ms > 0 ? options->timeout_ms : CLIENT_TIMEOUT_MS);
    for (int i = 0; i < CONNECT_TRIES; i++) {
        int fd = client_open_socket(options, buf_cstr(&path), deadline, err);
        if (fd < 0)
            return fd;
        AUTO(client_free) struct client *c = new_client(fd, options);
        rc = say_hello(c, options->name, deadline, err);
        if (rc == 0)
            *ret_c = take_ptr(c);
        if (rc != -ERR_CLOSED || options->no_start)
            break;
    }
    return rc;
}

void client_free(struct client *c)
{
    if (!c)
        return;
    client_disconnect(c);
    wire_decoder_done(&c->in);
    buf_done(&c->out);
    LIST_FOREACH(link, &c->kept)
    free(list_entry(link, struct client_kept, link));
    LIST_FOREACH(link, &c->inputs)
    free(list_entry(link, struct client_input, link));
    free(c->given);
    arena_done(&c->arena);
    free(c->version);
    free(c);
}

const char *client_daemon_version(const struct client *c)
{
    return c->version;
}

int64_t client_daemon_pid(const struct client *c)
{
    return c->pid;
}

int client_fd(const struct client *c)
{
    return c->fd;
}
