/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "json/read.h"
#include "json/write.h"
#include "nacre/connected_priv.h"
#include "wire/field.h"

enum { OUTPUT_MAX = 16 * 1024 * 1024 }; /* more than a frame can hold */

struct connected *nacre_connected_of(const struct nacre *n)
{
    return (struct connected *)(uintptr_t)n;
}

/* ---- messages ---- */

int64_t nacre_connected_deadline(int64_t timeout_ms)
{
    return timeout_ms < 0 ? -1 : clock_mono_ns() + timeout_ms * 1000000;
}

int64_t nacre_connected_left(int64_t deadline_ns)
{
    if (deadline_ns < 0)
        return CLIENT_WAIT;
    int64_t left = deadline_ns - clock_mono_ns();
    return left <= 0 ? 0 : (left + 999999) / 1000000;
}

static struct nacre_command *find_command(struct connected *e, uint32_t channel)
{
    LIST_FOREACH(link, &e->base.commands)
    {
        struct nacre_command *c = list_entry(link, struct nacre_command, link);
        if (c->channel == channel && c->attached)
            return c;
    }
    return NULL;
}

static void take_answer(struct answer *a, const struct client_message *m)
{
    switch (m->what) {
    case CLIENT_RESULT:
        a->rc = a->on_result ? a->on_result(m->node, a->ctx, a->err) : 0;
        a->done = true;
        return;
    case CLIENT_ERROR:
        a->rc = err_set(a->err, -m->code, "%s", m->text ? m->text : "the daemon gave no reason");
        a->done = true;
        return;
    case CLIENT_OUTPUT:
    case CLIENT_GAP:
        if (a->on_message)
            a->on_message(m, a->ctx);
        return;
    case CLIENT_ROOM:
    case CLIENT_EVENT:
        return;
    }
}

/* The bytes are moved out of the connection's buffer, for a callback may use the connection. */
static void serve(struct connected *e, struct client_message *m)
{
    struct nacre_command *c = find_command(e, m->channel);
    if (e->awaited && e->awaited->channel == m->channel)
        take_answer(e->awaited, m);
    else if (c && m->what == CLIENT_OUTPUT && buf_append(&e->bytes, m->data, m->len) == 0)
        nacre_command_output(c, m->stream, e->bytes.data, e->bytes.len);
    else if (c)
        nacre_connected_told(c, m);
    buf_clear(&e->bytes);
}

int nacre_connected_turn(struct connected *e, int64_t timeout_ms, struct err *err)
{
    struct client_message m;
    int rc = client_next(e->client, timeout_ms, &m, err);
    if (rc <= 0)
        return rc;
    e->unseen = true;
    e->base.in_turn = true;
    serve(e, &m);
    e->base.in_turn = false;
    return 1;
}

int nacre_connected_call(struct connected *e, struct answer *a, struct err *err)
{
    struct answer none = {0};
    if (!a)
        a = &none;
    a->err = err;
    int rc = client_send(e->client, &a->channel, err);
    if (rc < 0 || e->base.in_turn)
        return rc;
    e->awaited = a;
    while (rc >= 0 && !a->done)
        rc = nacre_connected_turn(e, CLIENT_WAIT, err);
    e->awaited = NULL;
    return rc < 0 ? rc : a->rc;
}

int nacre_connected_take_json(const struct json_node *node, void *ctx, struct err *err)
{
    struct json_w w;
    json_w_init(&w, ctx);
    json_w_node(&w, node);
    int rc = json_w_finish(&w);
    return rc < 0 ? err_set(err, -rc, "copy an answer of the daemon") : 0;
}

/* ---- life ---- */

static void connected_close(struct nacre *n)
{
    struct connected *e = nacre_connected_of(n);
    client_free(e->client);
    buf_done(&e->bytes);
}

static int connected_poll_fd(const struct nacre *n)
{
    return client_fd(nacre_connected_of(n)->client);
}

static int connected_poll_timeout(const struct nacre *n)
{
    return nacre_connected_of(n)->unseen ? 0 : -1;
}

static int connected_dispatch(struct nacre *n, struct err *err)
{
    struct connected *e = nacre_connected_of(n);
    int rc;
    do {
        rc = nacre_connected_turn(e, 0, err);
    } while (rc > 0);
    e->unseen = false;
    return rc;
}

/* ---- sessions ---- */

static int take_session_id(const struct json_node *node, void *ctx, struct err *err)
{
    const char *id = json_cstr(json_get(node, "session"));
    if (!id || strlen(id) >= SESSION_ID_MAX)
        return err_set(err, ERR_PROTOCOL, "the daemon named no session");
    memcpy(ctx, id, strlen(id) + 1);
    return 0;
}

/* Ends an operation that makes a session; ret_id gets its id. */
static int call_for_session(struct connected *e, char *ret_id, struct err *err)
{
    char id[SESSION_ID_MAX];
    struct answer a = {.on_result = take_session_id, .ctx = id};
    int rc = nacre_connected_call(e, &a, err);
    if (rc == 0)
        memcpy(ret_id, id, strlen(id) + 1);
    return rc;
}

/* Begins an operation on a session. */
static struct json_w *begin(struct connected *e, const char *op, const char *id)
{
    struct json_w *w = client_begin(e->client, op);
    json_w_kstr(w, "session", id);
    return w;
}

static int connected_session_open(struct nacre *n, const struct nacre_session_options *o,
                                  char *ret_id, struct err *err)
{
    struct connected *e = nacre_connected_of(n);
    struct command_spec spec = {.text = "", .env = o->env};
    int rc = command_spec_check(&spec, err);
    if (rc < 0)
        return rc;
    struct json_w *w = client_begin(e->client, "sessionOpen");
    if (o->id)
        json_w_kstr(w, "session", o->id);
    wire_field_put_cstr(w, "cwd", o->cwd);
    wire_field_put_env(w, o->env);
    json_w_kbool(w, "mayExist", o->may_exist);
    return call_for_session(e, ret_id, err);
}

static int connected_session_close(struct nacre *n, const char *id, struct err *err)
{
    (void)begin(nacre_connected_of(n), "sessionClose", id);
    return nacre_connected_call(nacre_connected_of(n), NULL, err);
}

static int connected_session_reset(struct nacre *n, const char *id, struct err *err)
{
    (void)begin(nacre_connected_of(n), "sessionReset", id);
    return nacre_connected_call(nacre_connected_of(n), NULL, err);
}

static int connected_session_fork(struct nacre *n, const char *id, const char *new_id, char *ret_id,
                                  struct err *err)
{
    struct json_w *w = begin(nacre_connected_of(n), "sessionFork", id);
    if (new_id)
        json_w_kstr(w, "newSession", new_id);
    return call_for_session(nacre_connected_of(n), ret_id, err);
}

static int connected_session_snapshot(struct nacre *n, const char *id, const char *name,
                                      struct err *err)
{
    json_w_kstr(begin(nacre_connected_of(n), "sessionSnapshot", id), "name", name);
    return nacre_connected_call(nacre_connected_of(n), NULL, err);
}

static int connected_session_restore(struct nacre *n, const char *id, const char *name,
                                     struct err *err)
{
    json_w_kstr(begin(nacre_connected_of(n), "sessionRestore", id), "name", name);
    return nacre_connected_call(nacre_connected_of(n), NULL, err);
}

static int take_file(const struct json_node *node, void *ctx, struct err *err)
{
    size_t len;
    const char *file = json_str(json_get(node, "file"), &len);
    if (!file)
        return err_set(err, ERR_PROTOCOL, "the daemon sent no session file");
    int rc = buf_append(ctx, file, len);
    return rc < 0 ? err_set(err, -rc, "copy a session file of %zu bytes", len) : 0;
}

static int connected_session_export(struct nacre *n, const char *id, struct buf *ret,
                                    struct err *err)
{
    (void)begin(nacre_connected_of(n), "sessionExport", id);
    struct answer a = {.on_result = take_file, .ctx = ret};
    return nacre_connected_call(nacre_connected_of(n), &a, err);
}

static int connected_session_import(struct nacre *n, const char *file, size_t len,
                                    const char *new_id, char *ret_id, struct err *err)
{
    struct json_w *w = client_begin(nacre_connected_of(n)->client, "sessionImport");
    json_w_kstrn(w, "file", file, len);
    if (new_id)
        json_w_kstr(w, "newSession", new_id);
    return call_for_session(nacre_connected_of(n), ret_id, err);
}

static int connected_session_show(struct nacre *n, const char *id, struct buf *ret_json,
                                  struct err *err)
{
    (void)begin(nacre_connected_of(n), "sessionShow", id);
    struct answer a = {.on_result = nacre_connected_take_json, .ctx = ret_json};
    return nacre_connected_call(nacre_connected_of(n), &a, err);
}

static int take_sessions(const struct json_node *node, void *ctx, struct err *err)
{
    return nacre_connected_take_json(json_get(node, "sessions"), ctx, err);
}

static int connected_session_list(struct nacre *n, struct buf *ret_json, struct err *err)
{
    (void)client_begin(nacre_connected_of(n)->client, "sessionList");
    struct answer a = {.on_result = take_sessions, .ctx = ret_json};
    return nacre_connected_call(nacre_connected_of(n), &a, err);
}

static const struct nacre_ops connected_ops = {
    .close = connected_close,
    .poll_fd = connected_poll_fd,
    .poll_timeout = connected_poll_timeout,
    .dispatch = connected_dispatch,
    .session_open = connected_session_open,
    .session_close = connected_session_close,
    .session_reset = connected_session_reset,
    .session_fork = connected_session_fork,
    .session_snapshot = connected_session_snapshot,
    .session_restore = connected_session_restore,
    .session_export = connected_session_export,
    .session_import = connected_session_import,
    .session_show = connected_session_show,
    .session_list = connected_session_list,
    .start = nacre_connected_start,
    .confirm = nacre_connected_confirm,
    .run = nacre_connected_run,
    .detach = nacre_connected_detach,
    .find = nacre_connected_find,
    .list = nacre_connected_list,
    .input = nacre_connected_input,
    .input_end = nacre_connected_input_end,
    .resize = nacre_connected_resize,
    .signal = nacre_connected_signal,
    .stop = nacre_connected_stop,
    .wait = nacre_connected_wait,
    .wait_log = nacre_connected_wait_log,
    .wait_port = nacre_connected_wait_port,
    .result = nacre_connected_result,
    .json = nacre_connected_json,
    .log = nacre_connected_log,
};

int nacre_connect(const char *socket, struct nacre **ret_nacre, struct nacre_error **ret_error)
{
    struct err err = {0};
    struct client_options options = {.socket = socket, .name = "libnacre " NACRE_VERSION};
    struct client *client = NULL;
    options.no_start = socket != NULL;
    int rc = client_connect(&options, &client, &err);
    if (rc < 0)
        return nacre_error_give(rc, &err, ret_error);
    struct connected *e = xnew(struct connected);
    nacre_init(&e->base, &connected_ops);
    e->client = client;
    buf_init(&e->bytes, OUTPUT_MAX);
    *ret_nacre = &e->base;
    return 0;
}
