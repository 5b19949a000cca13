/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "control/priv.h"

enum { FILE_MAX = WIRE_JSON_MAX };

/* A session on its way, which cannot be taken back: the client may leave first. */
struct control_closer {
    struct channel *channel;          /* NULL: the client has gone */
    char id[CONTROL_SESSION_ID_SIZE]; /* of one that is imported */
};

static struct rt *rt_of(const struct channel *ch)
{
    return ch->conn->control->rt;
}

static int done(struct channel *ch, int rc)
{
    if (rc < 0)
        return rc;
    answer_empty(ch);
    return 0;
}

static int named(struct channel *ch, int rc, const char *id)
{
    if (rc < 0)
        return rc;
    answer_session(ch, id);
    return 0;
}

int op_session_open(struct channel *ch, const struct request *req, struct err *err)
{
    const struct rt_session_spec spec = {
        .id = req->session,
        .kind = req->kind,
        .cwd = req->cwd,
        .env = req->env,
        .state = req->state.p,
        .state_len = req->state.len,
        .may_exist = req->may_exist,
    };
    char id[CONTROL_SESSION_ID_SIZE];
    return named(ch, rt_session_open(rt_of(ch), &control_caller, &spec, id, err), id);
}

int op_session_list(struct channel *ch, const struct request *req, struct err *err)
{
    (void)req, (void)err;
    struct answer a;
    struct json_w *w = answer_begin(&a, ch);
    json_w_obj(w);
    json_w_key(w, "sessions");
    rt_session_list(rt_of(ch), w);
    json_w_obj_end(w);
    answer_end(&a);
    return 0;
}

int op_session_show(struct channel *ch, const struct request *req, struct err *err)
{
    struct answer a;
    struct json_w *w = answer_begin(&a, ch);
    if (rt_session_show(rt_of(ch), req->session, w, err) < 0)
        answer_abort(&a, err);
    else
        answer_end(&a);
    return 0;
}

static void on_closed(void *ctx)
{
    struct control_closer *closer = ctx;
    if (closer->channel) {
        closer->channel->closer = NULL;
        answer_empty(closer->channel);
    }
    free(closer);
}

void closer_leave(struct control_closer *closer)
{
    closer->channel = NULL;
}

int op_session_close(struct channel *ch, const struct request *req, struct err *err)
{
    struct control_closer *closer = xnew(struct control_closer);
    int rc = rt_session_close(rt_of(ch), req->session, on_closed, closer, err);
    if (rc < 0) {
        free(closer);
        return rc;
    }
    closer->channel = ch;
    ch->closer = closer;
    return 0;
}

int op_session_reset(struct channel *ch, const struct request *req, struct err *err)
{
    return done(ch, rt_session_reset(rt_of(ch), req->session, err));
}

int op_session_fork(struct channel *ch, const struct request *req, struct err *err)
{
    char id[CONTROL_SESSION_ID_SIZE];
    return named(
        ch, rt_session_fork(rt_of(ch), &control_caller, req->session, req->new_session, id, err),
        id);
}

int op_session_snapshot(struct channel *ch, const struct request *req, struct err *err)
{
    return done(ch, rt_session_snapshot(rt_of(ch), req->session, req->name, err));
}

int op_session_restore(struct channel *ch, const struct request *req, struct err *err)
{
    return done(ch, rt_session_restore(rt_of(ch), req->session, req->name, err));
}

int op_session_export(struct channel *ch, const struct request *req, struct err *err)
{
    auto_buf struct buf file = BUF_INIT(FILE_MAX);
    int rc = rt_session_export(rt_of(ch), req->session, &file, err);
    if (rc < 0)
        return rc;
    struct answer a;
    struct json_w *w = answer_begin(&a, ch);
    json_w_obj(w);
    json_w_kstrn(w, "file", file.data, file.len);
    json_w_obj_end(w);
    answer_end(&a);
    return 0;
}

static void on_imported(void *ctx, const struct err *err)
{
    struct control_closer *import = ctx;
    struct channel *ch = import->channel;
    if (ch) {
        ch->closer = NULL;
        if (err)
            answer_error(ch, err);
        else
            answer_session(ch, import->id);
    }
    free(import);
}

int op_session_import(struct channel *ch, const struct request *req, struct err *err)
{
    struct control_closer *waiting = xnew(struct control_closer);
    const struct rt_import import = {
        .file = req->file.p,
        .len = req->file.len,
        .new_id = req->new_session,
        .cb = on_imported,
        .ctx = waiting,
    };
    int rc = rt_session_import(rt_of(ch), &control_caller, &import, waiting->id, err);
    if (rc < 0) {
        free(waiting);
        return rc;
    }
    waiting->channel = ch;
    ch->closer = waiting;
    return 0;
}
