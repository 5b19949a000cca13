/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/mem.h"
#include "control/priv.h"

struct channel *channel_new(struct conn *conn, uint32_t id)
{
    struct channel *ch = xnew(struct channel);
    ch->conn = conn;
    ch->id = id;
    list_add_head(&conn->channels, &ch->link);
    conn->n_channels++;
    return ch;
}

struct channel *channel_find(const struct conn *conn, uint32_t id)
{
    LIST_FOREACH(link, &conn->channels)
    {
        struct channel *ch = list_entry(link, struct channel, link);
        if (ch->id == id)
            return ch;
    }
    return NULL;
}

void channel_free(struct channel *ch)
{
    if (ch->run)
        run_leave(ch->run);
    if (ch->closer)
        closer_leave(ch->closer);
    stream_stop(ch);
    input_stop(ch);
    rt_wait_cancel(ch->waiter);
    list_remove(&ch->link);
    ch->conn->n_channels--;
    free(ch);
}
