/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "capture/log.h"
#include "control/priv.h"

/* ---- the end ---- */

static void close_session(void *ctx)
{
    struct control_run *run = ctx;
    /* One that is closing already, or gone, is as good. */
    (void)rt_session_close(run->control->rt, run->session, NULL, NULL, NULL);
    run->one_shot = false;
    run_free(run);
}

void run_free(struct control_run *run)
{
    if (run->channel)
        run->channel->run = NULL;
    if (!run->ended && run->id[0])
        rt_detach(run->control->rt, run->id);
    ev_defer_cancel(run->control->ev, run);
    ev_timer_close(&run->yield);
    list_remove(&run->link);
    free(run);
}

/* Nobody waits for an answer any more; a session of its own must still be closed. */
void run_leave(struct control_run *run)
{
    if (run->channel)
        run->channel->run = NULL;
    run->channel = NULL;
    ev_timer_stop(&run->yield);
    if (!run->one_shot)
        run_free(run);
}

/* The answer frees the channel, which leaves the run. */
static void answer(struct control_run *run)
{
    char id[COMMAND_ID_MAX];
    memcpy(id, run->id, sizeof(id));
    answer_result(run->channel, id);
}

void run_check(struct control_run *run)
{
    if (!run->ended || !run->channel)
        return;
    const struct control_stream *stream = run->channel->stream;
    if (stream && stream->cursor < run->end_cursor)
        return;
    answer(run);
}

static uint64_t log_end(struct rt *rt, const char *id)
{
    const struct command *c = rt_find_command(rt, id);
    return c && c->log ? capture_log_bytes(c->log, CAPTURE_OUTPUT) : 0;
}

static void on_result(const char *id, bool running, void *ctx)
{
    (void)running; /* the runtime's own yield is not used */
    struct control_run *run = ctx;
    run->ended = true;
    run->end_cursor = log_end(run->control->rt, id);
    /* Not from within the session's own call. */
    if (run->one_shot)
        ev_defer(run->control->ev, close_session, run);
    if (run->id[0])
        run_check(run);
}

static void on_yield(void *ctx)
{
    struct control_run *run = ctx;
    if (run->channel)
        answer(run);
}

/* ---- the beginning ---- */

static int open_session(struct control_run *run, const struct request *req, bool *ret_made,
                        struct err *err)
{
    struct rt *rt = run->control->rt;
    *ret_made = !req->session || !rt_session_exists(rt, req->session);
    if (*ret_made && req->session && (req->given & FIELD_BIT(FIELD_CREATE)) && !req->create)
        return err_set(err, ERR_NOT_FOUND, "no session '%.80s'", req->session);
    struct rt_session_spec spec = {
        .id = req->session,
        .kind = req->kind,
        .cwd = req->start_cwd,
        .may_exist = true,
        .temporary = run->one_shot,
    };
    return rt_session_open(rt, &control_caller, &spec, run->session, err);
}

static int start(struct control_run *run, const struct request *req, struct err *err)
{
    struct rt_exec exec = {
        .session_id = run->session,
        .spec =
            {
                   .text = req->text.p,
                   .text_len = req->text.len,
                   .cwd = req->cwd,
                   .env = req->env,
                   .stdin_data = req->stdin_data.p,
                   .stdin_len = req->stdin_data.len,
                   .stdin_open = req->stdin_open,
                   .background = req->background,
                   .pty = req->pty,
                   .rows = (uint16_t)req->rows,
                   .cols = (uint16_t)req->cols,
                   .timeout_ms = req->timeout_ms,
                   .grace_ms = req->grace_ms,
                   },
        .events = {.on_result = on_result,     .ctx = run},
    };
    char id[COMMAND_ID_MAX];
    int rc = rt_exec(run->control->rt, &control_caller, &exec, id, err);
    if (rc == 0)
        memcpy(run->id, id, sizeof(id)); /* only now: before, nothing may be answered */
    return rc;
}

static void tell_started(struct channel *ch)
{
    struct answer a;
    struct json_w *w = event_begin(&a, ch, "started");
    json_w_kstr(w, "id", ch->run->id);
    json_w_kstr(w, "session", ch->run->session);
    event_end(&a);
}

/* What goes along with the command until its answer. The answer may come at once. */
static int accompany(struct control_run *run, const struct request *req, struct err *err)
{
    struct channel *ch = run->channel;
    if (req->stream || req->stdin_open)
        tell_started(ch);
    if (req->stdin_open)
        input_start(ch, run->id, false);
    if (req->yield_ms > 0) {
        ev_timer_init(run->control->ev, &run->yield, on_yield, run);
        ev_timer_start(&run->yield, (uint64_t)req->yield_ms);
    } else if (req->background && !req->wait && !req->stream) {
        answer(run);
        return 0;
    }
    const struct control_stream stream = {.left = UINT64_MAX, .target = UINT64_MAX};
    if (req->stream && (!run->ended || run->end_cursor))
        return stream_start(ch, run->id, &stream, err);
    run_check(run);
    return 0;
}

int op_exec(struct channel *ch, const struct request *req, struct err *err)
{
    struct control_run *run = xnew(struct control_run);
    run->control = ch->conn->control;
    run->one_shot = !req->session;
    list_add_tail(&run->control->runs, &run->link);

    bool made = false;
    int rc = open_session(run, req, &made, err);
    if (rc == 0) {
        rc = start(run, req, err);
        if (rc < 0 && made) /* nothing half-done: err has the reason */
            (void)rt_session_close(run->control->rt, run->session, NULL, NULL, NULL);
    }
    if (rc < 0) {
        run_free(run);
        return rc;
    }
    run->channel = ch;
    ch->run = run;
    return accompany(run, req, err);
}
