/* SPDX-License-Identifier: MIT */
/*
 * Commands of which only the result is stored: of an earlier process, or so old that
 * they were forgotten. They are made anew when somebody names them, so that logs, waits
 * and refusals need not tell them from others. They have ended.
 *
 * The log is that of the files, if they are there. Else it is what the result shows:
 * with a gap where the views leave something out.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/base64.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/signame.h"
#include "capture/log.h"
#include "capture/view.h"
#include "json/read.h"
#include "rt/priv.h"
#include "session/kind.h"

/* A view of the result, in two parts: behind the head so many bytes are left out. */
struct shown {
    struct buf bytes;
    size_t head;
    uint64_t omitted;
};

/* What of a text was not yet given to a stream. */
struct rest {
    const char *p;
    size_t len;
};

static int read_shown(const struct json_node *root, const char *name, struct shown *ret)
{
    size_t len;
    const char *text = json_str(json_get(root, name), &len);
    const char *encoding = json_cstr(json_get(json_get(root, "encoding"), name));
    if (!text || !encoding)
        return -ERR_INVALID;
    int rc = strcmp(encoding, "base64") == 0 ? base64_decode(text, len, &ret->bytes)
                                             : buf_append(&ret->bytes, text, len);
    (void)json_u64(json_get(json_get(root, "omitted"), name), &ret->omitted);
    ret->head = ret->bytes.len;
    if (rc < 0 || !ret->omitted)
        return rc;
    char marker[CAPTURE_MARKER_MAX];
    size_t marker_len = capture_view_marker(ret->omitted, marker);
    char *at = memmem(ret->bytes.data, ret->bytes.len, marker, marker_len);
    if (!at)
        return -ERR_INVALID;
    ret->head = (size_t)(at - ret->bytes.data);
    memmove(at, at + marker_len, ret->bytes.len - ret->head - marker_len);
    buf_truncate(&ret->bytes, ret->bytes.len - marker_len);
    return 0;
}

static void add_shown(struct capture_log *log, int stream, const struct shown *v)
{
    capture_log_append(log, stream, v->bytes.data, v->head);
    capture_log_skip(log, stream, v->omitted);
    if (v->bytes.len > v->head)
        capture_log_append(log, stream, v->bytes.data + v->head, v->bytes.len - v->head);
}

static void add_rest(struct capture_log *log, int stream, struct rest *from, size_t n)
{
    capture_log_append(log, stream, from->p, n);
    from->p += n;
    from->len -= n;
}

/* How long the text is that begins both: the next line or nothing; or, in part, any. */
static size_t common(const struct rest *a, const struct rest *b, bool in_part)
{
    const char *newline = a->len ? memchr(a->p, '\n', a->len) : NULL;
    size_t line = newline ? (size_t)(newline - a->p) + 1 : a->len, n = 0;
    while (n < line && n < b->len && a->p[n] == b->p[n])
        n++;
    return n == line || in_part ? n : 0;
}

/* Which stream is next: the one of which a whole line comes, or a part of one. */
static int find_next(const struct rest streams[2], const struct rest *output, size_t *ret_len)
{
    for (int in_part = 0; in_part < 2; in_part++) {
        size_t out = common(&streams[0], output, in_part),
               err = common(&streams[1], output, in_part);
        if (out || err) {
            *ret_len = out >= err ? out : err;
            return out >= err ? CAPTURE_STDOUT : CAPTURE_STDERR;
        }
    }
    return 0;
}

/* The two streams in the order in which the output has them; false if that is not to be seen. */
static bool add_in_order(struct capture_log *log, const struct shown v[3])
{
    struct rest output = {v[0].bytes.data, v[0].bytes.len};
    struct rest streams[] = {
        {v[1].bytes.data, v[1].bytes.len},
        {v[2].bytes.data, v[2].bytes.len}
    };
    if (v[0].omitted)
        return false;
    while (output.len) {
        size_t n = 0;
        int stream = find_next(streams, &output, &n);
        if (!stream)
            return false;
        add_rest(log, stream, &streams[stream - 1], n);
        output.p += n;
        output.len -= n;
    }
    return !streams[0].len && !streams[1].len;
}

static struct capture_log *new_log(const struct shown v[3])
{
    /* All that is shown fits, and its order even if each byte is of another stream than the last.
     */
    size_t len = v[1].bytes.len + v[2].bytes.len;
    struct capture_options o = CAPTURE_OPTIONS_INIT;
    o.memory_max = 128 * len + CAPTURE_MEMORY_MAX;
    o.tail_max = len + CAPTURE_VIEW_MAX;
    return capture_log_new(&o);
}

static struct capture_log *log_of_views(const struct json_node *root)
{
    static const char *const names[] = {"output", "stdout", "stderr"};
    struct shown v[3] = {0};
    int rc = 0;
    for (int i = 0; i < 3; i++) {
        buf_init(&v[i].bytes, RT_RESULT_MAX);
        rc = rc < 0 ? rc : read_shown(root, names[i], &v[i]);
    }
    struct capture_log *log = new_log(v);
    if (rc == 0 && !add_in_order(log, v)) {
        capture_log_free(log);
        log = new_log(v);
        add_shown(log, CAPTURE_STDOUT, &v[1]);
        add_shown(log, CAPTURE_STDERR, &v[2]);
    }
    for (int i = 0; i < 3; i++)
        buf_done(&v[i].bytes);
    capture_log_finish(log);
    return log;
}

struct capture_log *rt_stored_log(const struct buf *json)
{
    auto_arena struct arena arena;
    arena_init(&arena, RT_FILE_MAX);
    struct json_node *root = NULL;
    return json_parse(json->data, json->len, NULL, &arena, &root, NULL) < 0 ? NULL
                                                                            : log_of_views(root);
}

static struct capture_log *open_log(const struct rt *rt, const char *id,
                                    const struct json_node *root)
{
    struct capture_options o = CAPTURE_OPTIONS_INIT;
    o.spill_dir = rt->spill_dir;
    o.spill_name = id;
    struct capture_log *log = NULL;
    if (rt->spill_dir >= 0 && capture_log_open(&o, &log, NULL) == 0)
        return log;
    return log_of_views(root);
}

static void read_end(const struct json_node *root, struct command *c)
{
    int64_t number;
    const char *signal = json_cstr(json_get(root, "signal"));
    if (json_i64(json_get(root, "exitCode"), &number) == 0)
        c->exit_code = (int)number;
    c->signal = signal ? signame_parse(signal) : 0;
    (void)json_bool(json_get(root, "background"), &c->background);
    c->quiet = true;
}

/* Names that outlive the JSON they are read from. */
static const char *kind_name(const struct rt *rt, const char *name)
{
    for (size_t i = 0; rt->o.kinds[i]; i++)
        if (name && strcmp(rt->o.kinds[i]->name, name) == 0)
            return rt->o.kinds[i]->name;
    return rt->o.kinds[0]->name;
}

static int make(struct rt *rt, const char *id, const struct json_node *root,
                struct rt_command **ret_rc)
{
    size_t text_len;
    const char *text = json_str(json_get(root, "command"), &text_len);
    const char *status = json_cstr(json_get(root, "status"));
    const char *session = json_cstr(json_get(root, "sessionId"));
    int state = status ? command_state_find(status) : -1;
    if (!text || state < 0 || !command_state_is_final((enum command_state)state) || !session ||
        strlen(id) >= COMMAND_ID_MAX || strlen(session) >= SESSION_ID_MAX)
        return -ERR_INVALID;
    const struct command_spec spec = {.text = text, .text_len = text_len};
    struct rt_command *rc =
        rt_command_new(rt, &spec, kind_name(rt, json_cstr(json_get(root, "kind"))));
    struct command *c = rc->c;
    memcpy(c->id, id, strlen(id) + 1);
    memcpy(rc->session_id, session, strlen(session) + 1);
    c->state = (enum command_state)state;
    read_end(root, c);
    c->log = open_log(rt, id, root);
    *ret_rc = rc;
    return 0;
}

int rt_stored_get(struct rt *rt, const char *id, struct rt_command **ret_rc, struct err *err)
{
    auto_buf struct buf json = BUF_INIT(RT_RESULT_MAX);
    auto_arena struct arena arena;
    arena_init(&arena, RT_FILE_MAX);
    int rc = rt->o.store.get_command(id, &json, err, rt->o.store.ctx);
    if (rc < 0)
        return rc;
    struct json_node *root = NULL;
    struct rt_command *made = NULL;
    rc = json_parse(json.data, json.len, NULL, &arena, &root, NULL);
    if (rc == 0)
        rc = make(rt, id, root, &made);
    if (rc < 0)
        return err_set(err, ERR_STORAGE, "the stored result of command '%s' makes no sense", id);
    rt_spill_check(rt, id, &json);
    made->is_stored = true;
    made->fixed = json; /* it is told as it was */
    json = (struct buf)BUF_INIT(0);
    if (map_set(&rt->commands, id, made) < 0) {
        rt_command_free(made);
        return err_set(err, ERR_LIMIT, "more than %d commands are known", RT_COMMANDS_MAX);
    }
    /* The first to make room: nothing of it would be lost. */
    list_add_head(&rt->finished, &made->link);
    rt->n_finished++;
    *ret_rc = made;
    return 0;
}
