/* SPDX-License-Identifier: MIT */
#include "control/control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "control/priv.h"
#include "wire/error.h"

enum { ACCEPT_AGAIN_MS = 100, IDLE_LIST_MAX = 16 * 1024 * 1024 };

const struct rt_caller control_caller = {.origin = "socket"};

/* Says why and closes: what is written before close() can still be read. */
static void turn_away(int fd, int code, const char *why)
{
    struct err err = {0};
    (void)err_set(&err, code, "%s", why);
    auto_buf struct buf b = BUF_INIT(4096);
    if (wire_put_error(&b, 0, &err) == 0)
        (void)send(fd, b.data, b.len, MSG_DONTWAIT | MSG_NOSIGNAL); /* best effort */
    (void)close(fd);
}

static bool is_allowed(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof(peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

static void take_client(struct control *control, int fd)
{
    if (!is_allowed(fd))
        turn_away(fd, ERR_DENIED, "this daemon belongs to another user");
    else if (control->n_conns >= CONTROL_CONNS_MAX)
        turn_away(fd, ERR_BUSY, "too many clients are connected");
    else
        conn_new(control, fd);
}

/* Without descriptors the listener would stay ready for ever and cost all the time there is. */
static void pause_accepting(struct control *control)
{
    ev_fd_stop(&control->watch);
    ev_timer_start(&control->accept_again, ACCEPT_AGAIN_MS);
}

static void on_accept_again(void *ctx)
{
    struct control *control = ctx;
    ev_fd_start(&control->watch, EV_READ);
}

static void on_connect(void *ctx, unsigned events)
{
    (void)events;
    struct control *control = ctx;
    for (;;) {
        int fd = accept4(control->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            take_client(control, fd);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            pause_accepting(control);
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

static char *copy(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

int control_open(struct ev *ev, struct rt *rt, const struct control_options *options,
                 struct control **ret_control, struct err *err)
{
    auto_close int fd = control_listen(options->path, err);
    if (fd < 0)
        return fd;
    struct control *control = xnew(struct control);
    control->ev = ev;
    control->rt = rt;
    control->o = *options;
    control->path = xstrdup(options->path);
    control->version = copy(options->version);
    control->state_dir = copy(options->state_dir);
    control->notice = copy(options->notice);
    if (!control->o.queue_max)
        control->o.queue_max = WIRE_QUEUE_MAX;
    control->fd = take_fd(&fd);
    control->started_ms = clock_wall_ms();
    control->started_ns = ev_now_ns(ev);
    list_init(&control->conns);
    list_init(&control->runs);
    arena_init(&control->arena, CONTROL_ARENA_MAX);
    ev_timer_init(ev, &control->accept_again, on_accept_again, control);
    int rc = ev_fd_init(ev, &control->watch, control->fd, on_connect, control);
    if (rc < 0) {
        control_free(control);
        return err_set(err, -rc, "watch the socket '%s'", options->path);
    }
    ev_fd_start(&control->watch, EV_READ);
    *ret_control = control;
    return 0;
}

/* All that wait are told; whoever does not read it at once sees the connection close. */
static void say_goodbye(struct conn *conn)
{
    struct err err = {0};
    (void)err_set(&err, ERR_CLOSED, "the daemon is shutting down");
    LIST_FOREACH(link, &conn->channels)
    answer_error(list_entry(link, struct channel, link), &err);
    conn->ending = true;
    conn_flush(conn);
}

void control_free(struct control *control)
{
    if (!control)
        return;
    ev_fd_close(&control->watch);
    ev_timer_close(&control->accept_again);
    LIST_FOREACH(link, &control->conns)
    {
        struct conn *conn = list_entry(link, struct conn, link);
        say_goodbye(conn);
        conn_free(conn);
    }
    LIST_FOREACH(run_link, &control->runs)
    run_free(list_entry(run_link, struct control_run, link));
    (void)unlink(control->path); /* the caller saw to it that it is ours */
    own_close_fd(&control->fd);
    arena_done(&control->arena);
    free(control->path);
    free(control->version);
    free(control->state_dir);
    free(control->notice);
    free(control);
}

bool control_is_idle(struct control *control)
{
    if (control->n_conns)
        return false;
    auto_buf struct buf list = BUF_INIT(IDLE_LIST_MAX);
    struct json_w w;
    json_w_init(&w, &list);
    rt_command_list(control->rt, NULL, false, &w);
    return json_w_finish(&w) == 0 && strcmp(buf_cstr(&list), "[]") == 0;
}
