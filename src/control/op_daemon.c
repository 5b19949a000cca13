/* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "control/priv.h"
#include "json/read.h"

enum { LIST_MAX = 64 * 1024 * 1024, NS_PER_MS = 1000000 };

int op_hello(struct channel *ch, const struct request *req, struct err *err)
{
    struct conn *conn = ch->conn;
    if (req->protocol != WIRE_PROTOCOL) {
        conn->ending = true;
        return err_set(err, ERR_UNSUPPORTED,
                       "protocol %lld: this daemon (nacre %s) speaks protocol %d",
                       (long long)req->protocol, conn->control->version, WIRE_PROTOCOL);
    }
    conn->said_hello = true;
    struct answer a;
    struct json_w *w = answer_begin(&a, ch);
    json_w_obj(w);
    json_w_kint(w, "protocol", WIRE_PROTOCOL);
    json_w_kstr(w, "version", conn->control->version);
    json_w_kint(w, "pid", getpid());
    json_w_obj_end(w);
    answer_end(&a);
    return 0;
}

/* How many items the list has that the runtime writes. */
static size_t count(struct arena *arena, const struct buf *list)
{
    struct json_node *root;
    if (json_parse(list->data, list->len, NULL, arena, &root, NULL) < 0)
        return 0;
    return json_len(root);
}

static size_t count_sessions(struct control *control)
{
    auto_buf struct buf list = BUF_INIT(LIST_MAX);
    struct json_w w;
    json_w_init(&w, &list);
    rt_session_list(control->rt, &w);
    return count(&control->arena, &list);
}

static size_t count_commands(struct control *control)
{
    auto_buf struct buf list = BUF_INIT(LIST_MAX);
    struct json_w w;
    json_w_init(&w, &list);
    rt_command_list(control->rt, NULL, false, &w);
    return count(&control->arena, &list);
}

int op_status(struct channel *ch, const struct request *req, struct err *err)
{
    (void)req, (void)err;
    struct control *control = ch->conn->control;
    size_t channels = 0;
    LIST_FOREACH(link, &control->conns)
    channels += list_entry(link, struct conn, link)->n_channels;

    char iso[CLOCK_ISO8601_SIZE];
    struct answer a;
    struct json_w *w = answer_begin(&a, ch);
    json_w_obj(w);
    json_w_kstr(w, "version", control->version);
    json_w_kint(w, "protocol", WIRE_PROTOCOL);
    json_w_kint(w, "pid", getpid());
    json_w_kstr(w, "startedAt", clock_iso8601(control->started_ms, iso));
    json_w_kuint(w, "uptimeMs", (ev_now_ns(control->ev) - control->started_ns) / NS_PER_MS);
    json_w_kuint(w, "connections", control->n_conns);
    json_w_kuint(w, "channels", channels);
    json_w_kuint(w, "sessions", count_sessions(control));
    json_w_kuint(w, "commandsRunning", count_commands(control));
    json_w_kstr(w, "socket", control->path);
    json_w_kstr(w, "stateDir", control->state_dir);
    json_w_kstr(w, "notice", control->notice);
    json_w_obj_end(w);
    answer_end(&a);
    return 0;
}

int op_shutdown(struct channel *ch, const struct request *req, struct err *err)
{
    (void)req, (void)err;
    struct conn *conn = ch->conn;
    answer_empty(ch);
    conn_flush(conn);
    if (conn->control->o.on_shutdown)
        conn->control->o.on_shutdown(conn->control->o.ctx);
    return 0;
}

int op_detach(struct channel *ch, const struct request *req, struct err *err)
{
    struct channel *other = channel_find(ch->conn, (uint32_t)req->channel);
    if (!other || other == ch)
        return err_set(err, ERR_NOT_FOUND, "channel %u has no open request",
                       (unsigned)req->channel);
    struct answer a;
    struct json_w *w = answer_begin(&a, other);
    json_w_obj(w);
    json_w_kbool(w, "detached", true);
    json_w_obj_end(w);
    answer_end(&a);
    answer_empty(ch);
    return 0;
}
