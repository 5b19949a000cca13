/* SPDX-License-Identifier: MIT */
#include "base/err.h"
#include "control/priv.h"
#include "wire/error.h"

static struct json_w *begin(struct answer *a, struct channel *ch, const char *key)
{
    a->ch = ch;
    /* A queue that has no room for a header fails again at the end. */
    int rc = wire_begin(&ch->conn->out, ch->id, &a->start);
    json_w_init(&a->w, &ch->conn->out);
    a->w.rc = rc;
    json_w_obj(&a->w);
    json_w_key(&a->w, key);
    return &a->w;
}

struct json_w *answer_begin(struct answer *a, struct channel *ch)
{
    return begin(a, ch, "result");
}

/* What cannot be said is said to be so: a client that waits must hear something. */
static int end(struct answer *a)
{
    json_w_obj_end(&a->w);
    struct buf *out = &a->ch->conn->out;
    int rc = wire_end(out, a->start, json_w_finish(&a->w));
    if (rc == 0)
        return 0;
    struct err err = {0};
    (void)err_set(&err, -rc, "the answer cannot be written");
    return wire_put_error(out, a->ch->id, &err);
}

static void finish(struct channel *ch, int rc)
{
    struct conn *conn = ch->conn;
    channel_free(ch);
    conn_has_output(conn, rc);
}

void answer_end(struct answer *a)
{
    finish(a->ch, end(a));
}

void answer_abort(struct answer *a, const struct err *err)
{
    buf_truncate(&a->ch->conn->out, a->start);
    answer_error(a->ch, err);
}

void answer_error(struct channel *ch, const struct err *err)
{
    finish(ch, wire_put_error(&ch->conn->out, ch->id, err));
}

void answer_empty(struct channel *ch)
{
    struct answer a;
    struct json_w *w = answer_begin(&a, ch);
    json_w_obj(w);
    json_w_obj_end(w);
    answer_end(&a);
}

void answer_session(struct channel *ch, const char *id)
{
    struct answer a;
    struct json_w *w = answer_begin(&a, ch);
    json_w_obj(w);
    json_w_kstr(w, "session", id);
    json_w_obj_end(w);
    answer_end(&a);
}

void answer_result(struct channel *ch, const char *id)
{
    struct answer a;
    struct err err = {0};
    struct json_w *w = answer_begin(&a, ch);
    if (rt_result(ch->conn->control->rt, id, w, &err) < 0)
        answer_abort(&a, &err);
    else
        answer_end(&a);
}

struct json_w *event_begin(struct answer *a, struct channel *ch, const char *name)
{
    struct json_w *w = begin(a, ch, "event");
    json_w_str(w, name);
    return w;
}

void event_end(struct answer *a)
{
    conn_has_output(a->ch->conn, end(a));
}
