/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/err.h"
#include "control/priv.h"

/* Ten years. */
#define FOR_EVER_MS INT64_C(315360000000)

static struct rt *rt_of(const struct channel *ch)
{
    return ch->conn->control->rt;
}

/* Most operations have nothing to say but that they were done. */
static int done(struct channel *ch, int rc)
{
    if (rc < 0)
        return rc;
    answer_empty(ch);
    return 0;
}

static void on_command_end(enum rt_wait_end end, const char *line, size_t len, void *ctx)
{
    (void)end, (void)line, (void)len;
    struct channel *ch = ctx;
    ch->waiter = NULL; /* it has freed itself */
    answer_empty(ch);
}

/* The channel takes input until that ends, or the command does. */
static int stream_input(struct channel *ch, const char *id, struct err *err)
{
    const struct command *c = rt_find_command(rt_of(ch), id);
    if (c && rt_has_ended(c)) /* which is said, as to any other input */
        return rt_input(rt_of(ch), id, NULL, 0, err);
    const struct rt_wait wait = {
        .id = id, .what = RT_WAIT_EXIT, .timeout_ms = FOR_EVER_MS, .cb = on_command_end, .ctx = ch};
    int rc = rt_wait(rt_of(ch), &wait, &ch->waiter, err);
    if (rc == 0)
        input_start(ch, id, true);
    return rc;
}

int op_input(struct channel *ch, const struct request *req, struct err *err)
{
    if (req->stream) {
        if (req->data.p || req->end)
            return err_set(err, ERR_INVALID, "field 'stream': expected without 'data' and 'end'");
        return stream_input(ch, req->id, err);
    }
    int rc = req->data.p ? rt_input(rt_of(ch), req->id, req->data.p, req->data.len, err) : 0;
    if (rc == 0 && req->end)
        rc = rt_input_end(rt_of(ch), req->id, err);
    return done(ch, rc);
}

int op_input_end(struct channel *ch, const struct request *req, struct err *err)
{
    return done(ch, rt_input_end(rt_of(ch), req->id, err));
}

int op_resize(struct channel *ch, const struct request *req, struct err *err)
{
    return done(ch, rt_resize(rt_of(ch), req->id, (uint16_t)req->rows, (uint16_t)req->cols, err));
}

int op_signal(struct channel *ch, const struct request *req, struct err *err)
{
    return done(ch, rt_signal(rt_of(ch), req->id, req->signal, err));
}

int op_stop(struct channel *ch, const struct request *req, struct err *err)
{
    return done(ch, rt_stop(rt_of(ch), req->id, err));
}

int op_result(struct channel *ch, const struct request *req, struct err *err)
{
    (void)err;
    answer_result(ch, req->id);
    return 0;
}

int op_ps(struct channel *ch, const struct request *req, struct err *err)
{
    if (req->session && !rt_session_exists(rt_of(ch), req->session))
        return err_set(err, ERR_NOT_FOUND, "no session '%.80s'", req->session);
    struct answer a;
    struct json_w *w = answer_begin(&a, ch);
    json_w_obj(w);
    json_w_key(w, "commands");
    rt_command_list(rt_of(ch), req->session, req->all, w);
    json_w_obj_end(w);
    answer_end(&a);
    return 0;
}
