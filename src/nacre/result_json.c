/* SPDX-License-Identifier: MIT */
/*
 * A result from its JSON object (docs/result.md).
 */
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/signame.h"
#include "json/read.h"
#include "nacre/priv.h"

/* The number at a path, or what it is without one (null). */
static int64_t int_or(const struct json_node *root, const char *path, int64_t otherwise)
{
    int64_t value = otherwise;
    (void)json_i64(json_path_get(root, path), &value);
    return value;
}

static double double_or(const struct json_node *root, const char *path, double otherwise)
{
    double value = otherwise;
    (void)json_double(json_path_get(root, path), &value);
    return value;
}

static bool is_true(const struct json_node *root, const char *key)
{
    bool value = false;
    (void)json_bool(json_get(root, key), &value);
    return value;
}

static int64_t us_or_unknown(const struct json_node *root, const char *path)
{
    double ms = double_or(root, path, -1);
    return ms < 0 ? -1 : (int64_t)(ms * 1000 + 0.5);
}

static int copy_id(const struct json_node *root, const char *key, char *ret, size_t size,
                   struct err *err)
{
    const char *text = json_cstr(json_get(root, key));
    if (!text || strlen(text) >= size)
        return err_set(err, ERR_PROTOCOL, "result: no proper '%s'", key);
    memcpy(ret, text, strlen(text) + 1);
    return 0;
}

/* The bytes of a stream: its text, decoded if `encoding` says so. */
static int read_stream(struct nacre_result *r, const struct json_node *root, const char *name,
                       struct result_stream *ret, struct err *err)
{
    size_t len;
    const char *text = json_str(json_get(root, name), &len);
    if (!text)
        return err_set(err, ERR_PROTOCOL, "result: no '%s'", name);
    auto_buf struct buf bytes = BUF_INIT(NACRE_JSON_MAX);
    const char *encoding = json_cstr(json_get(json_get(root, "encoding"), name));
    if (encoding && strcmp(encoding, "base64") == 0) {
        if (base64_decode(text, len, &bytes) < 0)
            return err_set(err, ERR_PROTOCOL, "result: '%s' is no base64", name);
        text = buf_cstr(&bytes);
        len = bytes.len;
    }
    ret->text = arena_strndup(&r->arena, text, len);
    ret->len = len;
    if (!ret->text)
        return err_set(err, ERR_LIMIT, "result: '%s' is too large", name);
    ret->bytes = (uint64_t)int_or(json_get(root, "bytes"), name, 0);
    ret->omitted = (uint64_t)int_or(json_get(root, "omitted"), name, 0);
    return 0;
}

static int read_survivors(struct nacre_result *r, const struct json_node *list, struct err *err)
{
    size_t n = json_len(list);
    if (n == 0)
        return 0;
    pid_t *pids = arena_zalloc_n(&r->arena, n, sizeof(*pids));
    if (!pids)
        return err_set(err, ERR_LIMIT, "result: too many survivors");
    JSON_FOREACH(item, list)
    {
        int64_t pid = 0;
        (void)json_i64(item, &pid);
        pids[r->n_survivors++] = (pid_t)pid;
    }
    r->survivors = pids;
    return 0;
}

static int read_status(struct nacre_result *r, const struct json_node *root, struct err *err)
{
    const char *name = json_cstr(json_get(root, "status"));
    int state = name ? command_state_find(name) : -1;
    if (state < 0)
        return err_set(err, ERR_PROTOCOL, "result: unknown status '%.40s'", name ? name : "");
    r->status = (enum nacre_status)state;
    r->exit_code = (int)int_or(root, "exitCode", -1);

    const char *signal = json_cstr(json_get(root, "signal"));
    int number = signal ? signame_parse(signal) : 0;
    r->signal = number < 0 ? 0 : number;
    return 0;
}

/* A copy, or NULL for what is no text (null). */
static const char *copy_text(struct nacre_result *r, const struct json_node *node)
{
    const char *text = json_str(node, NULL);
    return text ? arena_strdup(&r->arena, text) : NULL;
}

static unsigned read_flags(const struct json_node *root)
{
    return (is_true(root, "timedOut") ? NACRE_FLAG_TIMED_OUT : 0U) |
           (is_true(root, "killed") ? NACRE_FLAG_KILLED : 0U) |
           (is_true(root, "sessionRestored") ? NACRE_FLAG_RESTORED : 0U) |
           (is_true(root, "outputTruncated") ? NACRE_FLAG_TRUNCATED : 0U);
}

static void read_facts(struct nacre_result *r, const struct json_node *root)
{
    const char *started = json_cstr(json_get(root, "startedAt"));
    if (started)
        (void)clock_parse_iso8601(started, &r->started_ms);
    r->flags = read_flags(root);
    r->pid = (pid_t)int_or(root, "pid", 0);
    r->duration_ms = double_or(root, "durationMs", 0);
    r->cwd = copy_text(r, json_get(root, "cwd"));
    r->limit = copy_text(r, json_get(root, "limit"));
    r->why = copy_text(r, json_path_get(root, "why.summary"));
    r->user_us = us_or_unknown(root, "usage.userMs");
    r->system_us = us_or_unknown(root, "usage.systemMs");
    r->maxrss = int_or(root, "usage.maxRssBytes", -1);
}

static int read_result(struct nacre_result *r, const struct json_node *root, struct err *err)
{
    static const char *const names[] = {"output", "stdout", "stderr"};

    int rc = copy_id(root, "id", r->id, sizeof(r->id), err);
    if (rc == 0)
        rc = copy_id(root, "sessionId", r->session_id, sizeof(r->session_id), err);
    if (rc == 0)
        rc = read_status(r, root, err);
    for (int i = 0; rc == 0 && i < 3; i++)
        rc = read_stream(r, root, names[i], &r->streams[i], err);
    if (rc == 0)
        rc = read_survivors(r, json_get(root, "survivors"), err);
    if (rc < 0)
        return rc;
    r->streams[NACRE_OUTPUT].bytes =
        r->streams[NACRE_STDOUT].bytes + r->streams[NACRE_STDERR].bytes;
    read_facts(r, root);
    return 0;
}

int nacre_result_of_node(struct nacre *n, const struct json_node *root,
                         struct nacre_result **ret_result, struct err *err)
{
    struct nacre_result *r = xnew(struct nacre_result);
    r->refs = 1;
    r->nacre = nacre_ref(n);
    arena_init(&r->arena, NACRE_JSON_MAX);
    int rc = read_result(r, root, err);
    if (rc < 0)
        nacre_result_free(r);
    else
        *ret_result = r;
    return rc;
}

int nacre_result_of_json(struct nacre *n, const char *json, size_t len,
                         struct nacre_result **ret_result, struct err *err)
{
    AUTO(arena_done) struct arena arena = {.max = (size_t)2 * NACRE_JSON_MAX};
    struct json_node *root = NULL;
    int rc = json_parse(json, len, NULL, &arena, &root, err);
    return rc < 0 ? rc : nacre_result_of_node(n, root, ret_result, err);
}

struct nacre_result *nacre_result_of_error(struct nacre *n, const char *session_id, int code,
                                           const char *text)
{
    struct nacre_result *r = xnew(struct nacre_result);
    r->refs = 1;
    r->nacre = nacre_ref(n);
    arena_init(&r->arena, NACRE_JSON_MAX);
    memcpy(r->session_id, session_id, strlen(session_id) + 1);
    r->status = code == ERR_DENIED                          ? NACRE_STATUS_DENIED
                : code == ERR_LOST || code == ERR_NOT_FOUND ? NACRE_STATUS_SESSION_LOST
                                                            : NACRE_STATUS_SPAWN_FAILED;
    r->exit_code = 126;
    r->user_us = r->system_us = r->maxrss = -1;
    for (int i = 0; i < 3; i++)
        r->streams[i].text = "";
    r->why = arena_strdup(&r->arena, text);
    return r;
}
