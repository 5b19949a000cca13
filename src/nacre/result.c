/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "capture/log.h"
#include "capture/view.h"
#include "nacre/priv.h"

enum { N_STREAMS = 3 };

_Static_assert((int)NACRE_OUTPUT == (int)CAPTURE_OUTPUT, "number of a stream");
_Static_assert((int)NACRE_STDOUT == (int)CAPTURE_STDOUT, "number of a stream");
_Static_assert((int)NACRE_STDERR == (int)CAPTURE_STDERR, "number of a stream");
_Static_assert((int)NACRE_STATUS_QUEUED == (int)COMMAND_QUEUED, "first state");
_Static_assert((int)NACRE_STATUS_EXITED == (int)COMMAND_EXITED, "order of states");
_Static_assert((int)NACRE_STATUS_SPAWN_FAILED == (int)COMMAND_SPAWN_FAILED, "last state");

/* Cuts pieces from the memory behind a result; its size was reckoned with piece_size(). */
struct cutter {
    char *next;
};

static size_t piece_size(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static const char *cut_text(struct cutter *cut, const char *text)
{
    if (!text)
        return NULL;
    size_t size = strlen(text) + 1;
    char *copy = memcpy(cut->next, text, size);
    cut->next += size;
    return copy;
}

/* The text form of a view, with a NUL behind it. */
static void cut_view(struct cutter *cut, const struct capture_view *v, struct result_stream *ret)
{
    char *text = cut->next;
    memcpy(cut->next, v->head, v->head_len);
    cut->next += v->head_len;
    if (v->truncated) {
        cut->next += capture_view_marker(v->omitted, cut->next);
        memcpy(cut->next, v->tail, v->tail_len);
        cut->next += v->tail_len;
    }
    *ret = (struct result_stream){
        .text = text,
        .len = (size_t)(cut->next - text),
        .bytes = v->total,
        .omitted = v->omitted,
    };
    *cut->next++ = '\0';
}

static unsigned flags_of(const struct command *c, const struct capture_view *output)
{
    return (c->timed_out ? NACRE_FLAG_TIMED_OUT : 0U) | (c->killed ? NACRE_FLAG_KILLED : 0U) |
           (c->session_restored ? NACRE_FLAG_RESTORED : 0U) |
           (output->truncated ? NACRE_FLAG_TRUNCATED : 0U);
}

static void copy_numbers(struct nacre_result *r, const struct command *c)
{
    bool final = command_state_is_final(c->state);
    r->status = (enum nacre_status)c->state;
    r->exit_code = final ? c->exit_code : -1;
    r->signal = c->signal;
    r->pid = c->pid;
    r->started_ms = c->started_ms;
    r->duration_ms = final ? (double)(c->ended_ns - c->started_ns) / 1e6 : 0;
    r->user_us = c->usage.user_us;
    r->system_us = c->usage.system_us;
    r->maxrss = c->usage.maxrss_bytes;
}

struct nacre_result *nacre_result_of_command(struct nacre *n, const char *session_id,
                                             const struct command *c)
{
    struct capture_view views[N_STREAMS];
    const char *cwd = c->result_cwd ? c->result_cwd : c->cwd;
    size_t survivors = c->n_survivors * sizeof(*c->survivors);
    size_t size = survivors + piece_size(cwd) + piece_size(c->limit) + piece_size(c->why);
    for (int i = 0; i < N_STREAMS; i++) {
        capture_log_view(c->log, i, &views[i]);
        size += views[i].head_len + views[i].tail_len + CAPTURE_MARKER_MAX + 1;
    }

    struct nacre_result *r = xmalloc(sizeof(*r) + size);
    memset(r, 0, sizeof(*r));
    r->refs = 1;
    r->nacre = nacre_ref(n);
    memcpy(r->id, c->id, sizeof(r->id));
    memcpy(r->session_id, session_id, strlen(session_id) + 1);
    copy_numbers(r, c);
    r->flags = flags_of(c, &views[0]);

    struct cutter cut = {.next = (char *)(r + 1)};
    if (survivors) { /* first, since it needs alignment */
        r->survivors = memcpy(cut.next, c->survivors, survivors);
        r->n_survivors = c->n_survivors;
        cut.next += survivors;
    }
    for (int i = 0; i < N_STREAMS; i++) {
        cut_view(&cut, &views[i], &r->streams[i]);
        capture_view_done(&views[i]);
    }
    r->cwd = cut_text(&cut, cwd);
    r->limit = cut_text(&cut, c->limit);
    r->why = cut_text(&cut, c->why);
    assert(cut.next <= (char *)(r + 1) + size);
    return r;
}

struct nacre_result *nacre_result_ref(struct nacre_result *result)
{
    result->refs++;
    return result;
}

void nacre_result_free(struct nacre_result *result)
{
    if (!result || --result->refs > 0)
        return;
    nacre_unref(result->nacre);
    arena_done(&result->arena);
    free(result->json);
    free(result);
}

const char *nacre_result_id(const struct nacre_result *result)
{
    return result->id;
}

const char *nacre_result_session_id(const struct nacre_result *result)
{
    return result->session_id;
}

enum nacre_status nacre_result_status(const struct nacre_result *result)
{
    return result->status;
}

const char *nacre_result_status_name(const struct nacre_result *result)
{
    return command_state_name((enum command_state)result->status);
}

bool nacre_result_running(const struct nacre_result *result)
{
    return !command_state_is_final((enum command_state)result->status);
}

int nacre_result_exit_code(const struct nacre_result *result)
{
    return result->exit_code;
}

int nacre_result_signal(const struct nacre_result *result)
{
    return result->signal;
}

pid_t nacre_result_pid(const struct nacre_result *result)
{
    return result->pid;
}

static const char *stream_text(const struct nacre_result *r, enum nacre_stream stream,
                               size_t *ret_len)
{
    if (ret_len)
        *ret_len = r->streams[stream].len;
    return r->streams[stream].text;
}

const char *nacre_result_output(const struct nacre_result *result, size_t *ret_len)
{
    return stream_text(result, NACRE_OUTPUT, ret_len);
}

const char *nacre_result_stdout(const struct nacre_result *result, size_t *ret_len)
{
    return stream_text(result, NACRE_STDOUT, ret_len);
}

const char *nacre_result_stderr(const struct nacre_result *result, size_t *ret_len)
{
    return stream_text(result, NACRE_STDERR, ret_len);
}

/* A number that is no stream has no bytes. */
static const struct result_stream *get_stream(const struct nacre_result *r,
                                              enum nacre_stream stream)
{
    static const struct result_stream none = {.text = ""};
    return (unsigned)stream < N_STREAMS ? &r->streams[stream] : &none;
}

uint64_t nacre_result_bytes(const struct nacre_result *result, enum nacre_stream stream)
{
    return get_stream(result, stream)->bytes;
}

uint64_t nacre_result_omitted(const struct nacre_result *result, enum nacre_stream stream)
{
    return get_stream(result, stream)->omitted;
}

const char *nacre_result_cwd(const struct nacre_result *result)
{
    return result->cwd;
}

int64_t nacre_result_started(const struct nacre_result *result)
{
    return result->started_ms;
}

double nacre_result_duration(const struct nacre_result *result)
{
    return result->duration_ms;
}

unsigned nacre_result_flags(const struct nacre_result *result)
{
    return result->flags;
}

int64_t nacre_result_user_us(const struct nacre_result *result)
{
    return result->user_us;
}

int64_t nacre_result_system_us(const struct nacre_result *result)
{
    return result->system_us;
}

int64_t nacre_result_maxrss(const struct nacre_result *result)
{
    return result->maxrss;
}

const char *nacre_result_limit(const struct nacre_result *result)
{
    return result->limit;
}

const char *nacre_result_why(const struct nacre_result *result)
{
    return result->why;
}

const pid_t *nacre_result_survivors(const struct nacre_result *result, size_t *ret_n)
{
    *ret_n = result->n_survivors;
    return result->survivors;
}

const char *nacre_result_json(struct nacre_result *result)
{
    if (!result->json && nacre_check(result->nacre, true, NULL) == 0) {
        auto_buf struct buf json = BUF_INIT(NACRE_JSON_MAX);
        if (result->nacre->ops->json(result->nacre, result->id, &json, NULL) == 0)
            result->json = buf_take(&json);
    }
    return result->json;
}
