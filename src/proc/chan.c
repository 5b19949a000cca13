/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/own.h"
#include "proc/chan_priv.h"
#include "sandbox/proto.h"

enum { MESSAGES_PER_TURN = 32 }; /* other watchers have their turn after that */

struct chan_item {
    struct list link;
    struct sandbox_msg msg;
    struct sandbox_fds fds;
};

static void free_item(struct chan_item *item)
{
    list_remove(&item->link);
    sandbox_fds_done(&item->fds);
    free(item);
}

/* Whether the socket may take the message later: it is full, or too much is under way altogether.
 */
static bool is_passing(int rc)
{
    return rc == -EAGAIN || rc == -ETOOMANYREFS || rc == -ENOBUFS || rc == -ENOMEM;
}

static int queue_msg(struct chan *chan, const struct sandbox_msg *msg, const int *fds, size_t n_fds)
{
    struct chan_item *item = xnew(struct chan_item);
    item->msg = *msg;
    for (size_t i = 0; i < n_fds; i++) {
        int fd = fcntl(fds[i], F_DUPFD_CLOEXEC, 0);
        if (fd < 0) {
            int rc = -errno;
            free_item(item);
            return rc;
        }
        item->fds.fds[item->fds.n_fds++] = fd;
    }
    list_add_tail(&chan->queue, &item->link);
    ev_fd_start(&chan->io, EV_READ | EV_WRITE);
    return 0;
}

static void send_queued(struct chan *chan)
{
    LIST_FOREACH(link, &chan->queue)
    {
        struct chan_item *item = list_entry(link, struct chan_item, link);
        int rc =
            sandbox_msg_send(chan->sock, &item->msg, item->fds.fds, item->fds.n_fds, MSG_DONTWAIT);
        if (is_passing(rc))
            return;
        free_item(item); /* any other failure is the end, which reading tells */
    }
    ev_fd_start(&chan->io, EV_READ);
}

static void receive(struct chan *chan)
{
    for (int i = 0; i < MESSAGES_PER_TURN; i++) {
        struct sandbox_msg msg;
        struct sandbox_fds fds;
        int rc = sandbox_msg_recv(chan->sock, &msg, &fds, MSG_DONTWAIT);
        if (rc == -EAGAIN)
            return;
        sandbox_fds_done(&fds); /* none are ever sent this way */
        if (rc <= 0) {
            chan->on_end(chan->ctx);
            return;
        }
        if (!chan->on_msg(chan->ctx, &msg))
            return;
    }
}

static void on_ready(void *ctx, unsigned events)
{
    struct chan *chan = ctx;
    if (events & EV_WRITE)
        send_queued(chan);
    if (events & EV_READ)
        receive(chan); /* last: it may free the channel */
}

int chan_open(struct chan *chan, struct ev *ev, int sock, chan_msg_fn on_msg, ev_fn on_end,
              void *ctx)
{
    *chan = (struct chan){.sock = sock, .on_msg = on_msg, .on_end = on_end, .ctx = ctx};
    list_init(&chan->queue);
    int rc = ev_fd_init(ev, &chan->io, sock, on_ready, chan);
    if (rc < 0) {
        own_close_fd(&chan->sock);
        return rc;
    }
    ev_fd_start(&chan->io, EV_READ);
    return 0;
}

int chan_send(struct chan *chan, struct sandbox_msg *msg, const int *fds, size_t n_fds)
{
    if (!list_empty(&chan->queue))
        return queue_msg(chan, msg, fds, n_fds);
    int rc = sandbox_msg_send(chan->sock, msg, fds, n_fds, MSG_DONTWAIT);
    if (is_passing(rc))
        return queue_msg(chan, msg, fds, n_fds);
    return rc == -EPIPE || rc == -ECONNRESET ? 0 : rc; /* reading tells the end */
}

void chan_close(struct chan *chan)
{
    if (chan->sock < 0)
        return;
    ev_fd_close(&chan->io);
    own_close_fd(&chan->sock);
    LIST_FOREACH(link, &chan->queue)
    free_item(list_entry(link, struct chan_item, link));
}
