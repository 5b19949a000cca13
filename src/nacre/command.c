/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "nacre/priv.h"

void nacre_command_init(struct nacre_command *c, struct nacre *n)
{
    *c = (struct nacre_command){.nacre = nacre_ref(n)};
    list_add_tail(&n->commands, &c->link);
}

void nacre_command_done(struct nacre_command *c)
{
    if (c->attached)
        c->nacre->ops->detach(c);
    list_remove(&c->link);
    nacre_result_free(c->result);
    nacre_unref(c->nacre);
}

/* A handle may be freed by a callback: that waits until it is not in use any more. */
static void leave(struct nacre_command *c)
{
    if (--c->calls > 0 || !c->doomed)
        return;
    nacre_command_done(c);
    free(c);
}

void nacre_command_output(struct nacre_command *c, int stream, const void *p, size_t len)
{
    if (!c->on_output || c->doomed)
        return;
    c->calls++;
    c->on_output(c->ctx, (enum nacre_stream)stream, p, len);
    leave(c);
}

void nacre_command_ended(struct nacre_command *c, struct nacre_result *result_take)
{
    c->attached = false;
    c->has_end = !nacre_result_running(result_take);
    c->result = result_take;
    if (!c->on_result || c->doomed)
        return;
    c->calls++;
    c->on_result(c->ctx, result_take);
    leave(c);
}

/* Starts a text; c gets its callbacks and its id. */
static int start(struct nacre_session *s, const char *text, size_t len,
                 const struct nacre_exec_options *o, struct nacre_command *c, struct err *err)
{
    struct command_spec spec = {
        .text = text,
        .text_len = len == NACRE_TEXT ? strlen(text) : len,
        .cwd = o->cwd,
        .env = o->env,
        .stdin_data = o->stdin_data,
        .stdin_len = o->stdin_len,
        .stdin_open = o->stdin_open,
        .background = o->background,
        .pty = o->pty,
        .rows = o->rows,
        .cols = o->cols,
        .timeout_ms = o->timeout_ms,
        .grace_ms = o->grace_ms,
    };
    memcpy(c->session_id, s->id, sizeof(s->id));
    c->on_output = o->on_output;
    c->ctx = o->ctx;
    c->attached = true;
    int rc = s->nacre->ops->start(s, &spec, o->yield_ms, c, err);
    if (rc < 0)
        c->attached = false;
    return rc;
}

int nacre_exec(struct nacre_session *session, const char *text, size_t len,
               const struct nacre_exec_options *options, struct nacre_result **ret_result,
               struct nacre_error **ret_error)
{
    struct nacre *n = session->nacre;
    struct err err;
    struct nacre_exec_options o = {0};
    err_clear(&err);
    int rc = nacre_check(n, true, &err);
    if (rc == 0)
        rc = nacre_take_options(options, &o, sizeof(o), &err);
    if (rc == 0 && o.yield_ms < 0)
        rc = err_set(&err, ERR_INVALID, "yield_ms: expected a positive number, not %lld",
                     (long long)o.yield_ms);
    if (rc < 0)
        return nacre_error_give(rc, &err, ret_error);

    struct nacre_command c;
    nacre_command_init(&c, n);
    rc = start(session, text, len, &o, &c, &err);
    if (rc == 0)
        rc = n->ops->run(&c, &err);
    if (rc == 0 && ret_result) {
        *ret_result = c.result;
        c.result = NULL;
    }
    nacre_command_done(&c);
    return nacre_error_give(rc, &err, ret_error);
}

int nacre_start(struct nacre_session *session, const char *text, size_t len,
                const struct nacre_exec_options *options, struct nacre_command **ret_command,
                struct nacre_error **ret_error)
{
    struct nacre *n = session->nacre;
    struct err err = {0};
    struct nacre_exec_options o = {0};
    int rc = nacre_check(n, false, &err);
    if (rc == 0)
        rc = nacre_take_options(options, &o, sizeof(o), &err);
    if (rc < 0)
        return nacre_error_give(rc, &err, ret_error);

    struct nacre_command *c = xnew(struct nacre_command);
    nacre_command_init(c, n);
    o.yield_ms = 0;
    c->calls = 1; /* its callback may free it */
    rc = start(session, text, len, &o, c, &err);
    if (rc == 0 && n->ops->confirm && !n->in_turn)
        rc = n->ops->confirm(c, &err);
    if (rc == 0) {
        *ret_command = c;
        c->on_result = o.on_result;
        if (c->has_end && c->on_result) /* so soon */
            c->on_result(c->ctx, c->result);
    } else {
        c->doomed = true;
    }
    leave(c);
    return nacre_error_give(rc, &err, ret_error);
}

int nacre_command_find(struct nacre *nacre, const char *id, struct nacre_command **ret_command,
                       struct nacre_error **ret_error)
{
    struct err err = {0};
    int rc = nacre_check(nacre, true, &err);
    if (rc == 0 && strlen(id) >= COMMAND_ID_MAX)
        rc = err_set(&err, ERR_NOT_FOUND, "no command '%.80s'", id);
    if (rc < 0)
        return nacre_error_give(rc, &err, ret_error);

    struct nacre_command *c = xnew(struct nacre_command);
    nacre_command_init(c, nacre);
    memcpy(c->id, id, strlen(id) + 1);
    rc = nacre->ops->find(c, &err);
    if (rc < 0)
        nacre_command_free(c);
    else
        *ret_command = c;
    return nacre_error_give(rc, &err, ret_error);
}

int nacre_command_list(struct nacre *nacre, const char *session_id, bool all, char **ret_json,
                       struct nacre_error **ret_error)
{
    struct err err = {0};
    auto_buf struct buf json = BUF_INIT(NACRE_JSON_MAX);
    int rc = nacre_check(nacre, true, &err);
    if (rc == 0)
        rc = nacre->ops->list(nacre, session_id, all, &json, &err);
    if (rc == 0)
        *ret_json = buf_take(&json);
    return nacre_error_give(rc, &err, ret_error);
}

void nacre_command_free(struct nacre_command *command)
{
    if (!command)
        return;
    if (command->calls > 0) {
        command->doomed = true;
        return;
    }
    nacre_command_done(command);
    free(command);
}

const char *nacre_command_id(const struct nacre_command *command)
{
    return command->id;
}

int nacre_command_input(struct nacre_command *command, const void *data, size_t len,
                        struct nacre_error **ret_error)
{
    struct err err = {0};
    int rc = nacre_check(command->nacre, false, &err);
    if (rc == 0)
        rc = command->nacre->ops->input(command, data, len, &err);
    return nacre_error_give(rc, &err, ret_error);
}

int nacre_command_input_end(struct nacre_command *command, struct nacre_error **ret_error)
{
    struct err err = {0};
    int rc = nacre_check(command->nacre, false, &err);
    if (rc == 0)
        rc = command->nacre->ops->input_end(command, &err);
    return nacre_error_give(rc, &err, ret_error);
}

int nacre_command_resize(struct nacre_command *command, uint16_t rows, uint16_t cols,
                         struct nacre_error **ret_error)
{
    struct err err = {0};
    int rc = nacre_check(command->nacre, false, &err);
    if (rc == 0)
        rc = command->nacre->ops->resize(command, rows, cols, &err);
    return nacre_error_give(rc, &err, ret_error);
}

int nacre_command_signal(struct nacre_command *command, int signal, struct nacre_error **ret_error)
{
    struct err err = {0};
    int rc = nacre_check(command->nacre, false, &err);
    if (rc == 0)
        rc = command->nacre->ops->signal(command, signal, &err);
    return nacre_error_give(rc, &err, ret_error);
}

int nacre_command_stop(struct nacre_command *command, struct nacre_error **ret_error)
{
    struct err err = {0};
    int rc = nacre_check(command->nacre, false, &err);
    if (rc == 0)
        rc = command->nacre->ops->stop(command, &err);
    return nacre_error_give(rc, &err, ret_error);
}

/* A wait serves callbacks, so that it ends with leave(). */
static int enter_wait(struct nacre_command *c, int64_t timeout_ms, struct err *err)
{
    c->calls++;
    if (timeout_ms < -1)
        return err_set(err, ERR_INVALID, "time to wait: expected -1, 0 or more ms, not %lld",
                       (long long)timeout_ms);
    return nacre_check(c->nacre, true, err);
}

static int get_result(struct nacre_command *c, struct nacre_result **ret_result, struct err *err)
{
    if (!c->has_end)
        return c->nacre->ops->result(c, ret_result, err);
    *ret_result = nacre_result_ref(c->result);
    return 0;
}

int nacre_command_wait(struct nacre_command *command, int64_t timeout_ms,
                       struct nacre_result **ret_result, struct nacre_error **ret_error)
{
    struct err err = {0};
    int rc = enter_wait(command, timeout_ms, &err);
    if (rc == 0 && !command->has_end)
        rc = command->nacre->ops->wait(command, timeout_ms, &err);
    if (rc == 0 && ret_result)
        rc = get_result(command, ret_result, &err);
    leave(command);
    return nacre_error_give(rc, &err, ret_error);
}

int nacre_command_wait_log(struct nacre_command *command, const char *pattern, bool is_regex,
                           int64_t timeout_ms, char **ret_line, struct nacre_error **ret_error)
{
    struct err err = {0};
    char *line = NULL;
    int rc = enter_wait(command, timeout_ms, &err);
    if (rc == 0)
        rc = command->nacre->ops->wait_log(
            command, pattern, is_regex, timeout_ms < 0 ? NACRE_WAIT_MS : timeout_ms, &line, &err);
    if (rc == 0 && ret_line)
        *ret_line = line;
    else
        free(line);
    leave(command);
    return nacre_error_give(rc, &err, ret_error);
}

int nacre_command_wait_port(struct nacre_command *command, const char *host, uint16_t port,
                            int64_t timeout_ms, struct nacre_error **ret_error)
{
    struct err err = {0};
    int rc = enter_wait(command, timeout_ms, &err);
    if (rc == 0)
        rc = command->nacre->ops->wait_port(command, host, port,
                                            timeout_ms < 0 ? NACRE_WAIT_MS : timeout_ms, &err);
    leave(command);
    return nacre_error_give(rc, &err, ret_error);
}

int nacre_command_result(struct nacre_command *command, struct nacre_result **ret_result,
                         struct nacre_error **ret_error)
{
    struct err err = {0};
    int rc = nacre_check(command->nacre, true, &err);
    if (rc == 0)
        rc = get_result(command, ret_result, &err);
    return nacre_error_give(rc, &err, ret_error);
}

int nacre_command_log(struct nacre_command *command, struct nacre_log *log,
                      struct nacre_error **ret_error)
{
    struct err err = {0};
    struct nacre_log local = {0};
    int rc = nacre_take_options(log, &local, sizeof(local), &err);
    int rc_wait = enter_wait(command, local.wait_ms, &err);
    if (rc == 0)
        rc = rc_wait;
    if (rc == 0) {
        local.bytes = local.lost = 0;
        local.ended = false;
        rc = command->nacre->ops->log(command, &local, &err);
    }
    if (rc == 0)
        memcpy(log, &local, local.size < sizeof(local) ? local.size : sizeof(local));
    leave(command);
    return nacre_error_give(rc, &err, ret_error);
}
