/* SPDX-License-Identifier: MIT */
#include "rt/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/path.h"
#include "base/utf8.h"
#include "json/read.h"
#include "json/write.h"
#include "rt/priv.h"

enum { PLACE_SIZE = 64 };

/* ---- writing ---- */

void rt_file_write_state(struct json_w *w, const char *state, size_t len)
{
    bool is_base64 = false;
    json_w_key(w, "state");
    if (state)
        json_w_bytes(w, state, len, &is_base64);
    else
        json_w_null(w);
    json_w_kstr(w, "encoding", is_base64 ? "base64" : "utf-8");
}

static bool is_text(const char *bytes)
{
    return utf8_is_valid(bytes, strlen(bytes));
}

static void write_cwd(const char *cwd, struct json_w *w)
{
    bool is_base64;
    json_w_key(w, !cwd || is_text(cwd) ? "cwd" : "cwd64");
    if (cwd)
        json_w_bytes(w, cwd, strlen(cwd), &is_base64);
    else
        json_w_null(w);
}

/* Those that are texts, or those that are not. */
static void write_variables(const struct strv *env, bool texts, struct json_w *w)
{
    bool is_base64;
    for (size_t i = 0; i < env->n; i++)
        if (is_text(env->items[i]) == texts)
            json_w_bytes(w, env->items[i], strlen(env->items[i]), &is_base64);
}

static void write_env(const struct strv *env, struct json_w *w)
{
    size_t n_texts = 0;
    for (size_t i = 0; i < env->n; i++)
        n_texts += is_text(env->items[i]);
    json_w_karr(w, "env");
    write_variables(env, true, w);
    json_w_arr_end(w);
    if (n_texts == env->n)
        return;
    json_w_karr(w, "env64");
    write_variables(env, false, w);
    json_w_arr_end(w);
}

void rt_file_write_common(const struct rt_session *rs, struct json_w *w)
{
    write_cwd(rs->s && rs->s->cwd ? rs->s->cwd : rs->cwd, w);
    write_env(&rs->env, w);
    json_w_karr(w, "snapshots");
    LIST_FOREACH(link, &rs->snapshots)
    {
        struct rt_snapshot *snap = list_entry(link, struct rt_snapshot, link);
        json_w_obj(w);
        json_w_kstr(w, "name", snap->name);
        rt_file_write_state(w, snap->state, snap->len);
        json_w_obj_end(w);
    }
    json_w_arr_end(w);
}

/* ---- reading ---- */

/* place: where the node stands, for people. */
static int expected(const struct json_node *node, const char *place, const char *what,
                    struct err *err)
{
    return err_set(err, ERR_INVALID, "%s: expected %s, not %s", place, what,
                   json_type_name(json_type(node)));
}

/* A text or nothing. */
static int read_text(const struct json_node *root, const char *key, const char **ret,
                     struct err *err)
{
    const struct json_node *node = json_get(root, key);
    if (!node || json_type(node) == JSON_NULL)
        return 0;
    *ret = json_cstr(node);
    return *ret ? 0 : expected(node, key, "a string without NUL", err);
}

static int read_base64(const struct json_node *node, const char *place, struct buf *bytes,
                       struct err *err)
{
    size_t len;
    const char *text = json_str(node, &len);
    if (!text)
        return expected(node, place, "a string in base64", err);
    if (base64_decode(text, len, bytes) < 0)
        return err_set(err, ERR_INVALID, "%s: expected base64", place);
    return 0;
}

static int read_cwd(struct rt_file *file, struct err *err)
{
    const struct json_node *coded = json_get(file->root, "cwd64");
    int rc = read_text(file->root, "cwd", &file->cwd, err);
    if (rc < 0 || !coded)
        return rc;
    if (file->cwd)
        return err_set(err, ERR_INVALID, "cwd and cwd64: expected one of them");
    auto_buf struct buf bytes = BUF_INIT(RT_FILE_MAX);
    rc = read_base64(coded, "cwd64", &bytes, err);
    if (rc < 0)
        return rc;
    if (memchr(buf_cstr(&bytes), '\0', bytes.len))
        return err_set(err, ERR_INVALID, "cwd64: holds a NUL byte");
    file->cwd = arena_strndup(&file->arena, buf_cstr(&bytes), bytes.len);
    return file->cwd ? 0 : err_set(err, ERR_LIMIT, "cwd64: too long");
}

static int add_variable(struct strv *env, const char *var, size_t len, const char *place,
                        struct err *err)
{
    const char *equals = len ? memchr(var, '=', len) : NULL;
    if (!equals || equals == var)
        return err_set(err, ERR_INVALID, "%s: expected NAME=value", place);
    if (memchr(var, '\0', len))
        return err_set(err, ERR_INVALID, "%s: holds a NUL byte", place);
    int rc = strv_push_n(env, var, len);
    return rc < 0 ? err_set(err, -rc, "%s: environment of over %zu bytes", place, env->max) : 0;
}

static int read_variable(const struct json_node *node, const char *place, bool coded,
                         struct strv *env, struct err *err)
{
    size_t len;
    if (!coded) {
        const char *text = json_str(node, &len);
        return text ? add_variable(env, text, len, place, err)
                    : expected(node, place, "a string NAME=value", err);
    }
    auto_buf struct buf bytes = BUF_INIT(RT_FILE_MAX);
    int rc = read_base64(node, place, &bytes, err);
    return rc < 0 ? rc : add_variable(env, buf_cstr(&bytes), bytes.len, place, err);
}

static int read_env(struct rt_file *file, const char *key, bool coded, struct err *err)
{
    const struct json_node *node = json_get(file->root, key);
    if (node && json_type(node) != JSON_ARRAY)
        return expected(node, key, "an array of strings", err);
    size_t i = 0;
    int rc = 0;
    JSON_FOREACH(item, node)
    {
        char place[PLACE_SIZE];
        (void)snprintf(place, sizeof(place), "%s[%zu]", key, i++);
        rc = read_variable(item, place, coded, &file->env, err);
        if (rc < 0)
            break;
    }
    return rc;
}

/* "state" and "encoding" of an object; *ret_state is malloc'd, or NULL for no state. */
static int read_state(const struct json_node *node, char **ret_state, size_t *ret_len,
                      struct err *err)
{
    const struct json_node *state = json_get(node, "state");
    const char *encoding = "utf-8";
    int rc = read_text(node, "encoding", &encoding, err);
    if (rc < 0)
        return rc;
    bool coded = strcmp(encoding, "base64") == 0;
    if (!coded && strcmp(encoding, "utf-8") != 0)
        return err_set(err, ERR_INVALID, "encoding: expected 'utf-8' or 'base64', not '%.40s'",
                       encoding);
    if (json_type(state) == JSON_NULL)
        return 0;
    auto_buf struct buf bytes = BUF_INIT(RT_FILE_MAX);
    size_t len;
    const char *text = json_str(state, &len);
    if (!text)
        return expected(state, "state", "a string or null", err);
    rc = coded ? read_base64(state, "state", &bytes, err) : 0;
    if (rc < 0)
        return rc;
    *ret_state = coded ? xmemdup(buf_cstr(&bytes), bytes.len) : xmemdup(text, len);
    *ret_len = coded ? bytes.len : len;
    return 0;
}

static int read_snapshot(struct rt_file *file, const struct json_node *node, struct err *err)
{
    const char *name = NULL;
    auto_free char *state = NULL;
    size_t len = 0;
    if (json_type(node) != JSON_OBJECT)
        return err_set(err, ERR_INVALID, "expected an object, not %s",
                       json_type_name(json_type(node)));
    int rc = read_text(node, "name", &name, err);
    if (rc < 0)
        return rc;
    if (!name || !path_is_safe_name(name))
        return err_set(err, ERR_INVALID,
                       "name: expected 1-64 letters, digits, '.', '_' or '-', not '%.80s'",
                       name ? name : "");
    LIST_FOREACH(link, &file->snapshots)
    if (strcmp(list_entry(link, struct rt_snapshot, link)->name, name) == 0)
        return err_set(err, ERR_INVALID, "name: '%s' comes twice", name);
    rc = read_state(node, &state, &len, err);
    if (rc < 0)
        return rc;
    struct rt_snapshot *snap = xnew(struct rt_snapshot);
    memcpy(snap->name, name, strlen(name) + 1);
    snap->state = take_ptr(state);
    snap->len = len;
    list_add_tail(&file->snapshots, &snap->link);
    return 0;
}

static int read_snapshots(struct rt_file *file, struct err *err)
{
    const struct json_node *node = json_get(file->root, "snapshots");
    if (node && json_type(node) != JSON_ARRAY)
        return expected(node, "snapshots", "an array of objects", err);
    if (json_len(node) > RT_SNAPSHOTS_MAX)
        return err_set(err, ERR_LIMIT, "snapshots: %zu of them, the maximum is %d", json_len(node),
                       RT_SNAPSHOTS_MAX);
    size_t i = 0;
    int rc = 0;
    JSON_FOREACH(item, node)
    {
        rc = read_snapshot(file, item, err);
        if (rc < 0)
            return err_wrap(err, rc, "snapshots[%zu]", i);
        i++;
    }
    return rc;
}

static int read_common(struct rt_file *file, struct err *err)
{
    int rc = read_text(file->root, "id", &file->id, err);
    if (rc == 0)
        rc = read_text(file->root, "kind", &file->kind, err);
    if (rc == 0)
        rc = read_cwd(file, err);
    if (rc == 0)
        rc = read_env(file, "env", false, err);
    if (rc == 0)
        rc = read_env(file, "env64", true, err);
    return rc < 0 ? rc : read_snapshots(file, err);
}

static int parse(struct rt_file *ret, const char *json, size_t len, struct err *err)
{
    static const struct json_limits limits = {.dup = JSON_DUP_ERROR};
    *ret = (struct rt_file){0};
    arena_init(&ret->arena, RT_FILE_MAX);
    strv_init(&ret->env, (size_t)2 * COMMAND_ENV_MAX);
    list_init(&ret->snapshots);
    int rc = json_parse(json, len, &limits, &ret->arena, &ret->root, err);
    if (rc < 0)
        return rc;
    if (json_type(ret->root) != JSON_OBJECT)
        return err_set(err, ERR_INVALID, "expected an object, not %s",
                       json_type_name(json_type(ret->root)));
    return 0;
}

static int check_version(const struct json_node *root, struct err *err)
{
    const struct json_node *node = json_get(root, "nacreSession");
    int64_t version;
    if (json_i64(node, &version) < 0)
        return expected(node, "nacreSession", "the integer 1", err);
    if (version != 1)
        return err_set(err, ERR_UNSUPPORTED, "nacreSession: version %lld, expected 1",
                       (long long)version);
    return 0;
}

int rt_file_read(struct rt_file *ret, const char *json, size_t len, struct err *err)
{
    const char *exported_at = NULL;
    int rc = parse(ret, json, len, err);
    if (rc == 0)
        rc = check_version(ret->root, err);
    if (rc == 0)
        rc = read_text(ret->root, "exportedAt", &exported_at, err);
    if (rc == 0)
        rc = read_common(ret, err);
    if (rc == 0)
        rc = read_state(ret->root, &ret->state, &ret->state_len, err);
    return rc < 0 ? err_wrap(err, rc, "session file") : 0;
}

int rt_file_read_row(struct rt_file *ret, const char *json, size_t len, struct err *err)
{
    int rc = parse(ret, json, len, err);
    if (rc == 0)
        rc = read_text(ret->root, "tenant", &ret->tenant, err);
    if (rc == 0)
        rc = read_common(ret, err);
    if (rc == 0)
        (void)json_i64(json_get(ret->root, "createdMs"), &ret->created_ms);
    return rc;
}

void rt_file_done(struct rt_file *file)
{
    LIST_FOREACH(link, &file->snapshots)
    {
        struct rt_snapshot *snap = list_entry(link, struct rt_snapshot, link);
        list_remove(&snap->link);
        free(snap->state);
        free(snap);
    }
    strv_done(&file->env);
    free(file->state);
    arena_done(&file->arena);
}
