/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/err.h"
#include "client/priv.h"
#include "json/read.h"
#include "wire/error.h"
#include "wire/proto.h"

static int out_of_order(struct err *err, const char *what)
{
    return err_set(err, ERR_PROTOCOL, "the daemon sent %s", what);
}

static int read_event(struct client *c, struct client_message *m, const struct json_node *node,
                      struct err *err)
{
    m->what = CLIENT_EVENT;
    m->node = node;
    m->name = json_cstr(json_get(node, "event"));
    if (!m->name)
        return out_of_order(err, "a message that is neither event nor answer");
    if (strcmp(m->name, "gap") == 0) {
        m->what = CLIENT_GAP;
        if (json_u64(json_get(node, "from"), &m->from) < 0 ||
            json_u64(json_get(node, "to"), &m->to) < 0)
            return out_of_order(err, "a gap without bounds");
    } else if (strcmp(m->name, "input") == 0) {
        m->what = CLIENT_ROOM;
        struct client_input *in = client_input_find(c, m->channel);
        uint64_t taken;
        if (!in)
            return 0;
        if (json_u64(json_get(node, "taken"), &taken) < 0 || taken > in->sent || taken < in->taken)
            return out_of_order(err, "a wrong count of input");
        in->taken = taken;
    }
    return 0;
}

static int read_json(struct client *c, struct client_message *m, struct arena *arena,
                     struct err *err)
{
    struct json_node *root;
    int rc = json_parse(m->data, m->len, NULL, arena, &root, err);
    if (rc < 0)
        return err_wrap(err, rc, "message of the daemon");
    m->data = NULL;
    m->len = 0;
    const struct json_node *result = json_get(root, "result");
    const struct json_node *error = json_get(root, "error");
    if (!result && !error)
        return read_event(c, m, root, err);

    client_input_forget(c, m->channel);
    m->what = result ? CLIENT_RESULT : CLIENT_ERROR;
    m->node = result ? result : error;
    if (error) {
        m->text = json_cstr(json_get(error, "message"));
        m->code = wire_read_error(error, NULL);
    }
    return 0;
}

int client_read_message(struct client *c, const struct wire_frame *frame, struct arena *arena,
                        struct client_message *ret, struct err *err)
{
    *ret = (struct client_message){
        .what = CLIENT_OUTPUT,
        .channel = frame->channel,
        .cursor = frame->cursor,
        .data = frame->data,
        .len = frame->len,
    };
    switch (frame->type) {
    case WIRE_STDOUT:
        ret->stream = 1;
        return 0;
    case WIRE_STDERR:
        ret->stream = 2;
        return 0;
    case WIRE_JSON:
        return read_json(c, ret, arena, err);
    case WIRE_INPUT:
    case WIRE_INPUT_END:
        break;
    }
    return out_of_order(err, "a frame that only clients send");
}
