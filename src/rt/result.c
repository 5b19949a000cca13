/* SPDX-License-Identifier: MIT */
/*
 * The result object: the same on every surface. docs/result.md explains each field.
 */
#include <string.h>

#include "base/clock.h"
#include "base/own.h"
#include "base/signame.h"
#include "capture/log.h"
#include "capture/view.h"
#include "json/write.h"
#include "rt/priv.h"
#include "session/session.h"

static const struct {
    const char *name;
    int which;
} streams[] = {
    {"output", CAPTURE_OUTPUT},
    {"stdout", CAPTURE_STDOUT},
    {"stderr", CAPTURE_STDERR},
};
enum { N_STREAMS = sizeof(streams) / sizeof(streams[0]) };

/* One view as text, or base64 of the same bytes where they are no UTF-8. */
static void write_view(struct json_w *w, const struct capture_view *v)
{
    if (!v->truncated) {
        bool is_base64;
        json_w_bytes(w, v->head, v->head_len, &is_base64);
        return;
    }
    auto_buf struct buf text = BUF_INIT(RT_RESULT_MAX);
    bool is_base64;
    (void)capture_view_text(v, &text); /* bounded by the view */
    json_w_bytes(w, text.data, text.len, &is_base64);
}

/* The first four fields are the tool schema that agents' shell tools already use. */
static void write_streams(const struct command *c, struct json_w *w)
{
    struct capture_view views[N_STREAMS];
    for (int i = 0; i < N_STREAMS; i++)
        capture_log_view(c->log, streams[i].which, &views[i]);

    json_w_key(w, streams[0].name);
    write_view(w, &views[0]);
    json_w_key(w, "exitCode");
    if (command_state_is_final(c->state))
        json_w_int(w, c->exit_code);
    else
        json_w_null(w);
    json_w_kbool(w, "outputTruncated", views[0].truncated);
    for (int i = 1; i < N_STREAMS; i++) {
        json_w_key(w, streams[i].name);
        write_view(w, &views[i]);
    }
    json_w_kobj(w, "encoding");
    for (int i = 0; i < N_STREAMS; i++)
        json_w_kstr(w, streams[i].name, views[i].utf8 ? "utf-8" : "base64");
    json_w_obj_end(w);
    json_w_kobj(w, "bytes");
    for (int i = 1; i < N_STREAMS; i++)
        json_w_kuint(w, streams[i].name, views[i].total);
    json_w_obj_end(w);
    json_w_kobj(w, "omitted");
    for (int i = 0; i < N_STREAMS; i++)
        json_w_kuint(w, streams[i].name, views[i].omitted);
    json_w_obj_end(w);
    for (int i = 0; i < N_STREAMS; i++)
        capture_view_done(&views[i]);
}

static void write_number_or_null(struct json_w *w, const char *key, int64_t value)
{
    if (value < 0)
        json_w_knull(w, key);
    else
        json_w_kint(w, key, value);
}

static void write_ms_or_null(struct json_w *w, const char *key, int64_t us)
{
    if (us < 0)
        json_w_knull(w, key);
    else
        json_w_kdouble(w, key, (double)us / 1000.0);
}

static void write_usage(const struct command *c, struct json_w *w)
{
    json_w_kobj(w, "usage");
    write_ms_or_null(w, "userMs", c->usage.user_us);
    write_ms_or_null(w, "systemMs", c->usage.system_us);
    write_number_or_null(w, "maxRssBytes", c->usage.maxrss_bytes);
    write_number_or_null(w, "processes", c->usage.processes);
    json_w_obj_end(w);
}

static void write_times(const struct command *c, struct json_w *w)
{
    char iso[CLOCK_ISO8601_SIZE];
    if (c->started_ms)
        json_w_kstr(w, "startedAt", clock_iso8601(c->started_ms, iso));
    else
        json_w_knull(w, "startedAt");
    uint64_t end = c->ended_ns ? c->ended_ns : (uint64_t)clock_mono_ns();
    double ms = c->started_ns ? (double)(end - c->started_ns) / 1e6 : 0;
    json_w_kdouble(w, "durationMs", (double)(int64_t)(ms * 1000) / 1000);
}

static void write_spill(const struct rt_command *rc, struct json_w *w)
{
    const char *name = capture_log_spill_name(rc->c->log);
    if (!name || !rc->rt->spill_path) {
        json_w_knull(w, "spill");
        return;
    }
    auto_buf struct buf uri = BUF_INIT(8192);
    (void)buf_printf(&uri, "file://%s/%s", rc->rt->spill_path, name);
    json_w_key(w, "spill");
    json_w_str_lossy(w, uri.data, uri.len);
}

/* A text that may hold anything: the command itself, a directory's name. */
static void write_text(struct json_w *w, const char *key, const char *p, size_t n)
{
    json_w_key(w, key);
    if (p)
        json_w_str_lossy(w, p, n);
    else
        json_w_null(w);
}

/* Of a running command: what it is doing now. */
static void write_why(struct command *c, struct json_w *w)
{
    bool needs_input = c->needs_input;
    auto_free char *now = c->why ? NULL : session_why(c, &needs_input);
    const char *why = c->why ? c->why : now;
    if (!why) {
        json_w_knull(w, "why");
        return;
    }
    json_w_kobj(w, "why");
    write_text(w, "summary", why, strlen(why));
    json_w_kbool(w, "needsInput", needs_input);
    json_w_obj_end(w);
}

static void write_end(const struct rt_command *rc, struct json_w *w)
{
    const struct command *c = rc->c;
    json_w_kbool(w, "timedOut", c->timed_out);
    json_w_kbool(w, "timeoutClamped", c->timeout_clamped);
    write_number_or_null(w, "timeoutMs", c->timeout_ms);
    json_w_kbool(w, "killed", c->killed);
    json_w_kstr(w, "limit", c->limit);
    json_w_karr(w, "survivors");
    for (size_t i = 0; i < c->n_survivors; i++)
        json_w_int(w, c->survivors[i]);
    json_w_arr_end(w);
    json_w_kbool(w, "sessionRestored", c->session_restored);
    json_w_karr(w, "isolation");
    for (const char *const *layer = rc->isolation; layer && *layer; layer++)
        json_w_str(w, *layer);
    json_w_arr_end(w);
    write_why(rc->c, w);
    json_w_karr(w, "violations");
    json_w_arr_end(w);
    if (c->audit_index)
        json_w_kuint(w, "auditIndex", c->audit_index);
    else
        json_w_knull(w, "auditIndex");
}

static void write_storage(const struct rt_command *rc, struct json_w *w)
{
    const char *text = rc->storage_error;
    if (!text && capture_log_storage_error(rc->c->log, &text) == 0)
        text = NULL;
    json_w_key(w, "storageError");
    if (text)
        json_w_str_lossy(w, text, strlen(text));
    else
        json_w_null(w);
}

static void write_status(const struct command *c, struct json_w *w)
{
    char name[SIGNAME_SIZE];
    json_w_kstr(w, "status", command_state_name(c->state));
    json_w_kstr(w, "signal", c->signal ? signame_long(c->signal, name) : NULL);
}

void rt_result_write(const struct rt_command *rc, struct json_w *w)
{
    const struct command *c = rc->c;
    json_w_obj(w);
    write_text(w, "command", c->text, c->text_len);
    write_streams(c, w);
    json_w_kstr(w, "id", c->id);
    json_w_kstr(w, "sessionId", rc->session_id);
    json_w_kstr(w, "kind", rc->kind_name);
    write_status(c, w);
    json_w_kbool(w, "background", c->background);
    write_number_or_null(w, "pid", c->pid ? c->pid : -1);
    write_spill(rc, w);
    const char *cwd = c->result_cwd ? c->result_cwd : c->cwd;
    write_text(w, "cwd", cwd, cwd ? strlen(cwd) : 0);
    write_times(c, w);
    write_usage(c, w);
    write_end(rc, w);
    write_storage(rc, w);
    json_w_obj_end(w);
}

void rt_command_summary(const struct rt_command *rc, struct json_w *w)
{
    const struct command *c = rc->c;
    json_w_obj(w);
    json_w_kstr(w, "id", c->id);
    json_w_kstr(w, "sessionId", rc->session_id);
    write_text(w, "command", c->text, c->text_len);
    if (command_state_is_final(c->state))
        json_w_kint(w, "exitCode", c->exit_code);
    else
        json_w_knull(w, "exitCode");
    write_status(c, w);
    json_w_kbool(w, "background", c->background);
    json_w_kbool(w, "pty", c->pty);
    write_number_or_null(w, "pid", c->pid ? c->pid : -1);
    write_times(c, w);
    json_w_kuint(w, "outputBytes", c->log ? capture_log_bytes(c->log, CAPTURE_OUTPUT) : 0);
    json_w_karr(w, "survivors");
    for (size_t i = 0; i < c->n_survivors; i++)
        json_w_int(w, c->survivors[i]);
    json_w_arr_end(w);
    json_w_obj_end(w);
}
