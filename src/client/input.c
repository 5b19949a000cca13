/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "client/priv.h"
#include "wire/proto.h"

struct client_input *client_input_find(const struct client *c, uint32_t channel)
{
    LIST_FOREACH(link, &c->inputs)
    {
        struct client_input *in = list_entry(link, struct client_input, link);
        if (in->channel == channel)
            return in;
    }
    return NULL;
}

void client_input_forget(struct client *c, uint32_t channel)
{
    struct client_input *in = client_input_find(c, channel);
    if (!in)
        return;
    list_remove(&in->link);
    free(in);
}

size_t client_input_room(const struct client *c, uint32_t channel)
{
    const struct client_input *in = client_input_find(c, channel);
    return WIRE_INPUT_WINDOW - (size_t)(in ? in->sent - in->taken : 0);
}

static struct client_input *get_input(struct client *c, uint32_t channel)
{
    struct client_input *in = client_input_find(c, channel);
    if (in)
        return in;
    in = xnew(struct client_input);
    in->channel = channel;
    list_add_tail(&c->inputs, &in->link);
    return in;
}

int client_input(struct client *c, uint32_t channel, const void *p, size_t n, struct err *err)
{
    if (n > client_input_room(c, channel))
        return err_set(err, ERR_BUSY, "%zu bytes of input: there is room for %zu now", n,
                       client_input_room(c, channel));
    assert(!c->begun);
    const char *bytes = p;
    for (size_t at = 0; at < n;) {
        size_t len = n - at < WIRE_BYTES_MAX ? n - at : WIRE_BYTES_MAX;
        int rc = wire_put(&c->out, WIRE_INPUT, channel, bytes + at, len);
        if (rc == 0)
            rc = client_flush(c, err);
        if (rc < 0)
            return rc;
        at += len;
    }
    get_input(c, channel)->sent += n;
    return 0;
}

int client_input_end(struct client *c, uint32_t channel, struct err *err)
{
    int rc = wire_put(&c->out, WIRE_INPUT_END, channel, NULL, 0);
    return rc < 0 ? rc : client_flush(c, err);
}
