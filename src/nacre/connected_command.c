/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "json/read.h"
#include "json/write.h"
#include "nacre/connected_priv.h"
#include "wire/field.h"

enum { FOR_EVER_MS = 24 * 3600 * 1000 }; /* a step of a wait without end */

/* ---- start and end ---- */

void nacre_connected_told(struct nacre_command *c, const struct client_message *m)
{
    struct nacre_result *r = NULL;
    struct err err = {0};
    switch (m->what) {
    case CLIENT_RESULT:
        if (nacre_result_of_node(c->nacre, m->node, &r, &err) < 0)
            r = nacre_result_of_error(c->nacre, c->session_id, ERR_PROTOCOL, err.text);
        break;
    case CLIENT_ERROR:
        r = nacre_result_of_error(c->nacre, c->session_id, -m->code, m->text ? m->text : "");
        c->error = -m->code;
        break;
    case CLIENT_EVENT: {
        const char *id = json_cstr(json_get(m->node, "id"));
        if (strcmp(m->name, "started") == 0 && id && strlen(id) < sizeof(c->id))
            memcpy(c->id, id, strlen(id) + 1);
        return;
    }
    case CLIENT_OUTPUT:
    case CLIENT_GAP:
    case CLIENT_ROOM:
        return;
    }
    c->channel = 0;
    if (r->id[0])
        memcpy(c->id, r->id, sizeof(c->id));
    nacre_command_ended(c, r);
}

static void put_number(struct json_w *w, const char *key, int64_t value)
{
    if (value)
        json_w_kint(w, key, value);
}

static void put_flag(struct json_w *w, const char *key, bool value)
{
    if (value)
        json_w_kbool(w, key, true);
}

static void put_spec(struct json_w *w, const struct command_spec *spec)
{
    wire_field_put(w, "text", spec->text, spec->text_len);
    wire_field_put_cstr(w, "cwd", spec->cwd);
    wire_field_put_env(w, spec->env);
    if (spec->stdin_len)
        wire_field_put(w, "stdin", spec->stdin_data, spec->stdin_len);
    put_flag(w, "stdinOpen", spec->stdin_open);
    put_flag(w, "background", spec->background);
    put_flag(w, "pty", spec->pty);
    put_number(w, "rows", spec->rows);
    put_number(w, "cols", spec->cols);
    put_number(w, "timeoutMs", spec->timeout_ms);
    put_number(w, "graceMs", spec->grace_ms);
}

int nacre_connected_start(struct nacre_session *s, const struct command_spec *spec,
                          int64_t yield_ms, struct nacre_command *c, struct err *err)
{
    struct connected *e = nacre_connected_of(s->nacre);
    /* What can be seen here is refused here: the text need not travel. */
    int rc = command_spec_check(spec, err);
    if (rc < 0)
        return rc;
    struct json_w *w = client_begin(e->client, "exec");
    json_w_kstr(w, "session", s->id);
    json_w_kbool(w, "create", false);
    put_spec(w, spec);
    put_flag(w, "stream", c->on_output != NULL);
    /* A background command would be answered at once. */
    c->has_input = spec->stdin_open;
    put_number(w, "yieldMs", yield_ms ? yield_ms : (spec->background ? FOR_EVER_MS : 0));
    return client_send(e->client, &c->channel, err);
}

int nacre_connected_run(struct nacre_command *c, struct err *err)
{
    int rc = 0;
    while (rc >= 0 && !c->result)
        rc = nacre_connected_turn(nacre_connected_of(c->nacre), CLIENT_WAIT, err);
    if (rc >= 0 && c->error)
        return err_set(err, c->error, "%s", c->result->why);
    return rc < 0 ? rc : 0;
}

void nacre_connected_detach(struct nacre_command *c)
{
    struct connected *e = nacre_connected_of(c->nacre);
    json_w_kuint(client_begin(e->client, "detach"), "channel", c->channel);
    (void)client_send(e->client, NULL, NULL); /* a lost connection has nobody to call back */
}

/* ---- operations on a command ---- */

/* Begins an operation on c, which has no id yet if it was started by a callback just now. */
static struct json_w *begin(const struct nacre_command *c, const char *op)
{
    struct json_w *w = client_begin(nacre_connected_of(c->nacre)->client, op);
    if (c->id[0])
        json_w_kstr(w, "id", c->id);
    else
        json_w_kuint(w, "channel", c->channel);
    return w;
}

static int call(const struct nacre_command *c, struct answer *a, struct err *err)
{
    return nacre_connected_call(nacre_connected_of(c->nacre), a, err);
}

static int take_id(const struct json_node *node, void *ctx, struct err *err)
{
    struct nacre_command *c = ctx;
    const char *id = json_cstr(json_get(node, "id"));
    if (!id || strlen(id) >= sizeof(c->id))
        return err_set(err, ERR_PROTOCOL, "the daemon named no command");
    memcpy(c->id, id, strlen(id) + 1);
    return 0;
}

int nacre_connected_confirm(struct nacre_command *c, struct err *err)
{
    json_w_kuint(client_begin(nacre_connected_of(c->nacre)->client, "result"), "channel",
                 c->channel);
    struct answer a = {.on_result = take_id, .ctx = c};
    int rc = call(c, &a, err);
    if (c->error)
        return err_set(err, c->error, "%s", c->result->why);
    return c->has_end ? 0 : rc; /* once it has ended, its result has told the id */
}

int nacre_connected_find(struct nacre_command *c, struct err *err)
{
    (void)begin(c, "result");
    return call(c, NULL, err);
}

static int take_commands(const struct json_node *node, void *ctx, struct err *err)
{
    return nacre_connected_take_json(json_get(node, "commands"), ctx, err);
}

int nacre_connected_list(struct nacre *n, const char *session_id, bool all, struct buf *ret_json,
                         struct err *err)
{
    struct json_w *w = client_begin(nacre_connected_of(n)->client, "ps");
    if (session_id)
        json_w_kstr(w, "session", session_id);
    put_flag(w, "all", all);
    struct answer a = {.on_result = take_commands, .ctx = ret_json};
    return nacre_connected_call(nacre_connected_of(n), &a, err);
}

int nacre_connected_input(struct nacre_command *c, const void *data, size_t len, struct err *err)
{
    struct connected *e = nacre_connected_of(c->nacre);
    if (c->channel && c->has_input)
        return client_input(e->client, c->channel, data, len, err);
    wire_field_put(begin(c, "input"), "data", data, len);
    return call(c, NULL, err);
}

int nacre_connected_input_end(struct nacre_command *c, struct err *err)
{
    struct connected *e = nacre_connected_of(c->nacre);
    if (c->channel && c->has_input)
        return client_input_end(e->client, c->channel, err);
    (void)begin(c, "inputEnd");
    return call(c, NULL, err);
}

int nacre_connected_resize(struct nacre_command *c, uint16_t rows, uint16_t cols, struct err *err)
{
    struct json_w *w = begin(c, "resize");
    json_w_kuint(w, "rows", rows);
    json_w_kuint(w, "cols", cols);
    return call(c, NULL, err);
}

int nacre_connected_signal(struct nacre_command *c, int signal, struct err *err)
{
    json_w_kint(begin(c, "signal"), "signal", signal);
    return call(c, NULL, err);
}

int nacre_connected_stop(struct nacre_command *c, struct err *err)
{
    (void)begin(c, "stop");
    return call(c, NULL, err);
}

static int take_result(const struct json_node *node, void *ctx, struct err *err)
{
    struct nacre_command *c = ctx;
    return nacre_result_of_node(c->nacre, node, &c->fetched, err);
}

int nacre_connected_result(struct nacre_command *c, struct nacre_result **ret_result,
                           struct err *err)
{
    (void)begin(c, "result");
    struct answer a = {.on_result = take_result, .ctx = c};
    int rc = call(c, &a, err);
    if (rc == 0)
        *ret_result = take_ptr(c->fetched);
    return rc;
}

int nacre_connected_json(struct nacre *n, const char *id, struct buf *ret_json, struct err *err)
{
    json_w_kstr(client_begin(nacre_connected_of(n)->client, "result"), "id", id);
    struct answer a = {.on_result = nacre_connected_take_json, .ctx = ret_json};
    return nacre_connected_call(nacre_connected_of(n), &a, err);
}

/* ---- waits ---- */

/* Its own end arrives by itself. */
static int wait_for_own(struct nacre_command *c, int64_t timeout_ms, struct err *err)
{
    struct connected *e = nacre_connected_of(c->nacre);
    int64_t deadline = nacre_connected_deadline(timeout_ms);
    int rc = 1;
    while (!c->has_end && rc > 0)
        rc = nacre_connected_turn(e, nacre_connected_left(deadline), err);
    if (c->has_end || rc < 0)
        return rc < 0 ? rc : 0;
    return err_set(err, ERR_TIMEOUT, "command '%s': waited %lld ms in vain", c->id,
                   (long long)timeout_ms);
}

struct waited {
    char end[16]; /* "met", "timeout", "exited" */
    char *line;
};

static int take_waited(const struct json_node *node, void *ctx, struct err *err)
{
    struct waited *w = ctx;
    const char *end = json_cstr(json_get(node, "end"));
    const char *line = json_str(json_get(node, "line"), NULL);
    if (!end || strlen(end) >= sizeof(w->end))
        return err_set(err, ERR_PROTOCOL, "the daemon did not say how a wait ended");
    memcpy(w->end, end, strlen(end) + 1);
    w->line = line ? xstrdup(line) : NULL;
    return 0;
}

/* Ends the wait that was begun; *ret_line (may be NULL) gets the line that matched. */
static int wait_for(struct nacre_command *c, struct json_w *w, int64_t timeout_ms, char **ret_line,
                    struct err *err)
{
    struct waited waited = {0};
    struct answer a = {.on_result = take_waited, .ctx = &waited};
    json_w_kint(w, "timeoutMs", timeout_ms ? timeout_ms : 1);
    int rc = call(c, &a, err);
    auto_free char *line = waited.line;
    if (rc < 0)
        return rc;
    if (strcmp(waited.end, "timeout") == 0)
        return err_set(err, ERR_TIMEOUT, "command '%s': waited %lld ms in vain", c->id,
                       (long long)timeout_ms);
    if (strcmp(waited.end, "exited") == 0)
        return err_set(err, ERR_EXITED, "command '%s' has ended without it", c->id);
    if (ret_line)
        *ret_line = take_ptr(line);
    return 0;
}

int nacre_connected_wait(struct nacre_command *c, int64_t timeout_ms, struct err *err)
{
    if (c->channel)
        return wait_for_own(c, timeout_ms, err);
    int rc;
    do {
        struct json_w *w = begin(c, "wait");
        json_w_kstr(w, "until", "exit");
        rc = wait_for(c, w, timeout_ms < 0 ? FOR_EVER_MS : timeout_ms, NULL, err);
    } while (rc == -ERR_TIMEOUT && timeout_ms < 0);
    return rc;
}

int nacre_connected_wait_log(struct nacre_command *c, const char *pattern, bool is_regex,
                             int64_t timeout_ms, char **ret_line, struct err *err)
{
    struct json_w *w = begin(c, "wait");
    json_w_kstr(w, "until", "log");
    wire_field_put_cstr(w, "pattern", pattern);
    put_flag(w, "regex", is_regex);
    return wait_for(c, w, timeout_ms, ret_line, err);
}

int nacre_connected_wait_port(struct nacre_command *c, const char *host, uint16_t port,
                              int64_t timeout_ms, struct err *err)
{
    struct json_w *w = begin(c, "wait");
    json_w_kstr(w, "until", "port");
    json_w_kuint(w, "port", port);
    if (host)
        json_w_kstr(w, "host", host);
    return wait_for(c, w, timeout_ms, NULL, err);
}

/* ---- logs ---- */

struct reading {
    struct connected *e;
    struct nacre_log *log;
    bool detached; /* we ended it: there may be more */
    bool is_final; /* of the command, as the answer says */
};

static void on_log_message(const struct client_message *m, void *ctx)
{
    struct reading *r = ctx;
    struct nacre_log *log = r->log;
    if (m->what == CLIENT_GAP) {
        log->lost += m->to - m->from;
        log->cursor = m->to;
        return;
    }
    log->cursor = m->cursor + m->len;
    log->bytes += m->len;
    if (log->on_output && buf_append(&r->e->bytes, m->data, m->len) == 0)
        log->on_output(log->ctx, (enum nacre_stream)m->stream, r->e->bytes.data, m->len);
}

static int take_log_end(const struct json_node *node, void *ctx, struct err *err)
{
    (void)err;
    struct reading *r = ctx;
    uint64_t cursor;
    (void)json_bool(json_get(node, "detached"), &r->detached);
    if (json_u64(json_get(node, "cursor"), &cursor) == 0)
        r->log->cursor = cursor;
    const char *status = json_cstr(json_get(node, "status"));
    int state = status ? command_state_find(status) : -1;
    r->is_final = state >= 0 && command_state_is_final((enum command_state)state);
    return 0;
}

/* Sends what was begun; reads until there is something, the log ends or the time has passed. */
static int follow(struct reading *r, struct answer *a, int64_t deadline, struct err *err)
{
    struct connected *e = r->e;
    const struct nacre_log *log = r->log;
    bool asked = false;
    int rc = client_send(e->client, &a->channel, err);
    e->awaited = a;
    while (rc >= 0 && !a->done) {
        int64_t left = asked ? CLIENT_WAIT : nacre_connected_left(deadline);
        if (!asked && (left == 0 || log->bytes || log->lost)) {
            json_w_kuint(client_begin(e->client, "detach"), "channel", a->channel);
            rc = client_send(e->client, NULL, err);
            asked = true;
            continue;
        }
        rc = nacre_connected_turn(e, left, err);
    }
    e->awaited = NULL;
    return rc < 0 ? rc : a->rc;
}

static struct json_w *begin_logs(const struct nacre_command *c, const struct nacre_log *log)
{
    struct json_w *w = begin(c, "logs");
    json_w_kuint(w, "cursor", log->cursor);
    return w;
}

int nacre_connected_log(struct nacre_command *c, struct nacre_log *log, struct err *err)
{
    struct reading r = {.e = nacre_connected_of(c->nacre), .log = log};
    struct answer a = {
        .err = err, .on_result = take_log_end, .on_message = on_log_message, .ctx = &r};
    int64_t deadline = nacre_connected_deadline(log->wait_ms);
    (void)begin_logs(c, log);
    int rc = call(c, &a, err);
    if (rc < 0 || (log->bytes && !r.is_final) || (!r.is_final && log->wait_ms == 0))
        return rc;

    /* Only a follower learns that nobody can write any more. */
    if (log->bytes)
        deadline = nacre_connected_deadline(0);
    a.done = false;
    put_flag(begin_logs(c, log), "follow", true);
    rc = follow(&r, &a, deadline, err);
    log->ended = rc == 0 && !r.detached;
    return rc;
}
