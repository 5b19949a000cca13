/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/path.h"
#include "base/rand.h"
#include "json/write.h"
#include "rt/file.h"
#include "rt/priv.h"
#include "session/kind.h"

const char *rt_session_state(const struct rt_session *rs, size_t *ret_len)
{
    if (rs->s)
        return session_state(rs->s, ret_len);
    *ret_len = rs->state_len;
    return rs->state;
}

static const char *session_cwd(const struct rt_session *rs)
{
    return rs->s && rs->s->cwd ? rs->s->cwd : rs->cwd;
}

/* ---- as JSON ---- */

static void write_cwd(const struct rt_session *rs, struct json_w *w)
{
    const char *cwd = session_cwd(rs);
    json_w_key(w, "cwd");
    if (cwd)
        json_w_str_lossy(w, cwd, strlen(cwd));
    else
        json_w_null(w);
}

/* What the store keeps beside the state. */
static int write_stored(const struct rt_session *rs, struct buf *json)
{
    struct json_w w;
    json_w_init(&w, json);
    json_w_obj(&w);
    json_w_kstr(&w, "id", rs->id);
    json_w_kstr(&w, "kind", rs->kind->name);
    json_w_kstr(&w, "tenant", rs->tenant);
    json_w_kint(&w, "createdMs", rs->created_ms);
    rt_file_write_common(rs, &w);
    json_w_obj_end(&w);
    return json_w_finish(&w);
}

static int store_session(struct rt_session *rs, struct err *err)
{
    struct rt *rt = rs->rt;
    if (!rt->o.store.put_session || rs->temporary || rs->closing || rs->importing)
        return 0;
    auto_buf struct buf json = BUF_INIT(RT_FILE_MAX);
    int rc = write_stored(rs, &json);
    if (rc < 0)
        return err_set(err, -rc, "session '%s' as JSON", rs->id);
    size_t len;
    const char *state = rt_session_state(rs, &len);
    return rt->o.store.put_session(rs->id, json.data, json.len, state, len, err, rt->o.store.ctx);
}

/* ---- life ---- */

static void tell_imported(struct rt_session *rs, const struct err *err)
{
    rt_import_fn cb = rs->on_imported;
    rs->importing = false;
    rs->on_imported = NULL;
    if (cb)
        cb(rs->on_imported_ctx, err);
}

void rt_session_free(struct rt_session *rs)
{
    struct err closed = {0};
    (void)err_set(&closed, ERR_CLOSED, "session '%s' was closed", rs->id);
    tell_imported(rs, &closed);
    (void)map_remove(&rs->rt->sessions, rs->id);
    ev_defer_cancel(rs->rt->ev, rs);
    session_free(rs->s);
    LIST_FOREACH(link, &rs->snapshots)
    {
        struct rt_snapshot *snap = list_entry(link, struct rt_snapshot, link);
        list_remove(&snap->link);
        free(snap->state);
        free(snap);
    }
    strv_done(&rs->env);
    free(rs->tenant);
    free(rs->cwd);
    free(rs->state);
    free(rs);
}

static void free_later(void *ctx)
{
    rt_session_free(ctx);
}

/* The loop does it: the session may be the one that is calling us. */
static void discard(struct rt *rt, struct session *s)
{
    session_discard(s);
    rt->discarded = xreallocarray(rt->discarded, rt->n_discarded + 1, sizeof(struct session *));
    rt->discarded[rt->n_discarded++] = s;
    ev_defer(rt->ev, rt_free_discarded, rt);
}

void rt_free_discarded(void *ctx)
{
    struct rt *rt = ctx;
    while (rt->n_discarded) /* a callback may add more */
        session_free(rt->discarded[--rt->n_discarded]);
    free(take_ptr(rt->discarded));
}

static void on_lost(struct session *s, const struct err *err, void *ctx)
{
    struct rt_session *rs = ctx;
    if (rs->importing) {
        rs->closing = true;
        discard(rs->rt, take_ptr(rs->s));
        tell_imported(rs, err);
        ev_defer(rs->rt->ev, free_later, rs);
        return;
    }
    /* It sleeps again, with its last state: the next command gets a new shell. */
    size_t len;
    const char *state = session_state(s, &len);
    free(rs->state);
    rs->state = state ? xmemdup(state, len) : NULL;
    rs->state_len = state ? len : 0;
    discard(rs->rt, take_ptr(rs->s));
}

static void on_state(struct session *s, void *ctx)
{
    (void)s;
    (void)store_session(ctx, NULL); /* the next state tries again */
}

static void on_restored(struct session *s, void *ctx)
{
    (void)s;
    struct rt_session *rs = ctx;
    struct err err = {0};
    rs->importing = false;
    int rc = store_session(rs, &err);
    tell_imported(rs, rc < 0 ? &err : NULL);
}

static void on_closed(struct session *s, void *ctx)
{
    (void)s;
    struct rt_session *rs = ctx;
    struct rt *rt = rs->rt;
    rs->closed = true;
    if (rs->on_closed)
        rs->on_closed(rs->on_closed_ctx);
    if (rt->freeing)
        rt->n_ending--;
    else
        ev_defer(rt->ev, free_later, rs);
}

int rt_session_wake(struct rt_session *rs, struct err *err)
{
    if (rs->s)
        return 0;
    struct rt *rt = rs->rt;
    struct session_spec spec = {
        .id = rs->id,
        .cwd = rs->cwd,
        .env = (const char *const *)strv_items(&rs->env),
        .state = rs->state,
        .state_len = rs->state_len,
        .must_restore = rs->importing,
        .run_dir = rt->run_dir,
        .spill_dir = rt->spill_dir,
        .spill_budget = &rt->spill_budget,
        .timeout_default_ms = rt->o.timeout_default_ms,
        .timeout_max_ms = rt->o.timeout_max_ms,
    };
    struct session_events events = {on_lost, on_state, on_closed, on_restored, rs};
    int rc = session_open(rt->ev, rs->kind, &spec, &events, &rs->s, err);
    if (rc < 0)
        return rc;
    free(take_ptr(rs->state));
    rs->state_len = 0;
    return 0;
}

static const struct session_kind *find_kind(struct rt *rt, const char *name, struct err *err)
{
    assert(rt->o.kinds[0]);
    for (size_t i = 0; rt->o.kinds[i]; i++)
        if (!name || strcmp(rt->o.kinds[i]->name, name) == 0)
            return rt->o.kinds[i];
    (void)err_set(err, ERR_INVALID, "kind '%.40s': expected '%s'", name, rt->o.kinds[0]->name);
    return NULL;
}

static int check_cwd(const char *cwd, struct err *err)
{
    struct stat st;
    if (!cwd)
        return 0;
    if (*cwd != '/')
        return err_set(err, ERR_INVALID, "cwd '%.200s': expected an absolute path", cwd);
    if (stat(cwd, &st) < 0)
        return err_set(err, ERR_INVALID, "cwd '%.200s': %s", cwd, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return err_set(err, ERR_INVALID, "cwd '%.200s': not a directory", cwd);
    return 0;
}

static int check_new_id(struct rt *rt, const char *id, struct err *err)
{
    if (!path_is_safe_name(id))
        return err_set(err, ERR_INVALID,
                       "session id '%.80s': expected 1-64 letters, digits, '.', '_' or '-', not "
                       "starting with '.'",
                       id);
    const struct rt_session *rs = map_get(&rt->sessions, id);
    if (rs && rs->closing)
        return err_set(err, ERR_CLOSED, "session '%s' is closing", id);
    if (rs)
        return err_set(err, ERR_EXISTS, "session '%s' exists already", id);
    return 0;
}

/* A sleeping session; -ERR_LIMIT when there are too many. */
static int add_session(struct rt *rt, const char *id, const struct session_kind *kind,
                       struct rt_session **ret_rs, struct err *err)
{
    struct rt_session *rs = xnew(struct rt_session);
    rs->rt = rt;
    rs->kind = kind;
    rs->created_ms = clock_wall_ms();
    memcpy(rs->id, id, strlen(id) + 1);
    strv_init(&rs->env, (size_t)2 * COMMAND_ENV_MAX);
    list_init(&rs->snapshots);
    if (map_set(&rt->sessions, id, rs) < 0) {
        free(rs);
        (void)err_set(err, ERR_LIMIT, "%d sessions are open, the maximum", RT_SESSIONS_MAX);
        return -ERR_LIMIT;
    }
    *ret_rs = rs;
    return 0;
}

static int open_new(struct rt *rt, const struct rt_caller *caller,
                    const struct rt_session_spec *spec, const char *id, struct err *err)
{
    const struct session_kind *kind = find_kind(rt, spec->kind, err);
    if (!kind)
        return -ERR_INVALID;
    struct command_spec check = {.text = "", .env = spec->env};
    int rc = command_spec_check(&check, err);
    if (rc == 0)
        rc = check_cwd(spec->cwd, err);
    if (rc < 0)
        return rc;
    struct rt_session *rs = NULL;
    rc = add_session(rt, id, kind, &rs, err);
    if (rc < 0)
        return rc;
    rs->tenant = xstrdup(caller && caller->tenant ? caller->tenant : "default");
    rs->cwd = spec->cwd ? xstrdup(spec->cwd) : NULL;
    rs->temporary = spec->temporary;
    if (spec->state) {
        rs->state = xmemdup(spec->state, spec->state_len);
        rs->state_len = spec->state_len;
        rs->importing = spec->must_restore;
    }
    if (spec->env)
        rc = strv_push_all(&rs->env, spec->env);
    if (rc == 0)
        rc = rt_session_wake(rs, err);
    if (rc == 0)
        rc = store_session(rs, err);
    if (rc < 0)
        rt_session_free(rs);
    return rc;
}

int rt_session_open(struct rt *rt, const struct rt_caller *caller,
                    const struct rt_session_spec *spec, char *ret_id, struct err *err)
{
    char made[RAND_ID_SIZE];
    const char *id = spec->id ? spec->id : rand_id(made, sizeof(made), "s-");
    const struct rt_session *rs = map_get(&rt->sessions, id);
    if (spec->may_exist && rs && !rs->closing) {
        memcpy(ret_id, id, strlen(id) + 1);
        return 0;
    }
    int rc = check_new_id(rt, id, err);
    if (rc == 0)
        rc = open_new(rt, caller, spec, id, err);
    if (rc == 0)
        memcpy(ret_id, id, strlen(id) + 1);
    return rc;
}

/* A session that is not on its way to its end: nothing may start anew in one that is. */
static int find_open(struct rt *rt, const char *id, struct rt_session **ret_rs, struct err *err)
{
    struct rt_session *rs = rt_get_session(rt, id, err);
    if (!rs)
        return -ERR_NOT_FOUND;
    if (rs->closing) {
        (void)err_set(err, ERR_CLOSED, "session '%s' is closing", id);
        return -ERR_CLOSED;
    }
    *ret_rs = rs;
    return 0;
}

/* One whose state is known, too. */
static int find_settled(struct rt *rt, const char *id, struct rt_session **ret_rs, struct err *err)
{
    struct rt_session *rs = NULL;
    int rc = find_open(rt, id, &rs, err);
    if (rc < 0)
        return rc;
    if (rs->importing) {
        (void)err_set(err, ERR_BUSY, "session '%s' is being imported", id);
        return -ERR_BUSY;
    }
    *ret_rs = rs;
    return 0;
}

void rt_say_goodbye(void *ctx)
{
    struct rt_goodbye g = *(struct rt_goodbye *)ctx;
    list_remove(&((struct rt_goodbye *)ctx)->link);
    ev_defer_cancel(g.rt->ev, ctx);
    free(ctx);
    g.cb(g.ctx);
}

int rt_session_close(struct rt *rt, const char *id, void (*cb)(void *ctx), void *ctx,
                     struct err *err)
{
    struct rt_session *rs = NULL;
    int rc = find_open(rt, id, &rs, err);
    if (rc < 0)
        return rc;
    if (rt->o.store.del_session && !rs->temporary) {
        rc = rt->o.store.del_session(id, err, rt->o.store.ctx);
        if (rc < 0)
            return rc;
    }
    rs->closing = true;
    if (rs->s) {
        rs->on_closed = cb;
        rs->on_closed_ctx = ctx;
        session_close(rs->s);
        return 0;
    }
    rt_session_free(rs);
    if (cb) {
        struct rt_goodbye *g = xnew(struct rt_goodbye);
        *g = (struct rt_goodbye){.rt = rt, .cb = cb, .ctx = ctx};
        list_add_tail(&rt->goodbyes, &g->link);
        ev_defer(rt->ev, rt_say_goodbye, g);
    }
    return 0;
}

bool rt_session_exists(struct rt *rt, const char *id)
{
    return map_get(&rt->sessions, id) != NULL;
}

void rt_sessions_check_idle(struct rt *rt)
{
    uint64_t now = ev_now_ns(rt->ev);
    size_t cursor = 0;
    void *value;
    while (map_next(&rt->sessions, &cursor, NULL, &value)) {
        struct rt_session *rs = value;
        struct session *s = rs->s;
        if (!s || rs->closing || s->current || s->n_queued || s->n_background)
            continue;
        if (now - s->last_used_ns > (uint64_t)rt->o.session_idle_ms * 1000000u)
            (void)rt_session_close(rt, rs->id, NULL, NULL, NULL); /* tried again if it fails */
    }
}

/* ---- state ---- */

int rt_session_reset(struct rt *rt, const char *id, struct err *err)
{
    struct rt_session *rs = NULL;
    int rc = find_settled(rt, id, &rs, err);
    if (rc < 0)
        return rc;
    free(take_ptr(rs->state));
    rs->state_len = 0;
    if (!rs->s)
        return store_session(rs, err);
    /* Everything of the old shell goes with it: a fresh session under the same name. */
    discard(rt, take_ptr(rs->s));
    rc = rt_session_wake(rs, err);
    return rc < 0 ? rc : store_session(rs, err);
}

int rt_session_fork(struct rt *rt, const struct rt_caller *caller, const char *id,
                    const char *new_id, char *ret_id, struct err *err)
{
    struct rt_session *rs = NULL;
    int rc = find_settled(rt, id, &rs, err);
    if (rc < 0)
        return rc;
    struct rt_session_spec spec = {
        .id = new_id,
        .kind = rs->kind->name,
        .cwd = session_cwd(rs),
        .env = (const char *const *)strv_items(&rs->env),
    };
    spec.state = rt_session_state(rs, &spec.state_len);
    return rt_session_open(rt, caller, &spec, ret_id, err);
}

static struct rt_snapshot *find_snapshot(struct rt_session *rs, const char *name)
{
    LIST_FOREACH(link, &rs->snapshots)
    {
        struct rt_snapshot *snap = list_entry(link, struct rt_snapshot, link);
        if (strcmp(snap->name, name) == 0)
            return snap;
    }
    return NULL;
}

static int set_snapshot(struct rt_session *rs, const char *name, const char *state, size_t len,
                        struct err *err)
{
    if (!path_is_safe_name(name))
        return err_set(err, ERR_INVALID,
                       "snapshot name '%.80s': expected 1-64 letters, digits, '.', '_' or '-'",
                       name);
    struct rt_snapshot *snap = find_snapshot(rs, name);
    if (!snap && list_count(&rs->snapshots) >= RT_SNAPSHOTS_MAX)
        return err_set(err, ERR_LIMIT, "session '%s' has %d snapshots, the maximum", rs->id,
                       RT_SNAPSHOTS_MAX);
    if (!snap) {
        snap = xnew(struct rt_snapshot);
        memcpy(snap->name, name, strlen(name) + 1);
        list_add_tail(&rs->snapshots, &snap->link);
    }
    free(snap->state);
    snap->state = state ? xmemdup(state, len) : NULL;
    snap->len = state ? len : 0;
    return 0;
}

int rt_session_snapshot(struct rt *rt, const char *id, const char *name, struct err *err)
{
    struct rt_session *rs = NULL;
    int rc = find_settled(rt, id, &rs, err);
    if (rc < 0)
        return rc;
    if (rs->s && rs->s->current)
        return err_set(err, ERR_BUSY, "session '%s' is running a command", id);
    size_t len;
    const char *state = rt_session_state(rs, &len);
    rc = set_snapshot(rs, name, state, len, err);
    return rc < 0 ? rc : store_session(rs, err);
}

int rt_session_restore(struct rt *rt, const char *id, const char *name, struct err *err)
{
    struct rt_session *rs = NULL;
    int rc = find_settled(rt, id, &rs, err);
    if (rc < 0)
        return rc;
    struct rt_snapshot *snap = find_snapshot(rs, name);
    if (!snap)
        return err_set(err, ERR_NOT_FOUND, "session '%s' has no snapshot '%.80s'", id, name);
    rc = rt_session_wake(rs, err);
    if (rc == 0)
        rc = session_restore(rs->s, snap->state, snap->len, err);
    return rc < 0 ? rc : store_session(rs, err);
}

int rt_session_export(struct rt *rt, const char *id, struct buf *out, struct err *err)
{
    struct rt_session *rs = NULL;
    int rc = find_settled(rt, id, &rs, err);
    if (rc < 0)
        return rc;
    if (rs->s && rs->s->current)
        return err_set(err, ERR_BUSY, "session '%s' is running a command", id);
    size_t len;
    const char *state = rt_session_state(rs, &len);
    char iso[CLOCK_ISO8601_SIZE];
    struct json_w w;
    json_w_init(&w, out);
    json_w_set_indent(&w, 2);
    json_w_obj(&w);
    json_w_kint(&w, "nacreSession", 1);
    json_w_kstr(&w, "id", rs->id);
    json_w_kstr(&w, "kind", rs->kind->name);
    json_w_kstr(&w, "exportedAt", clock_iso8601(clock_wall_ms(), iso));
    rt_file_write_common(rs, &w);
    rt_file_write_state(&w, state, len);
    json_w_obj_end(&w);
    rc = json_w_finish(&w);
    return rc < 0 ? err_set(err, -rc, "export session '%s'", id) : buf_append_byte(out, '\n');
}

static void take_snapshots(struct rt_session *rs, struct rt_file *file)
{
    LIST_FOREACH(link, &file->snapshots)
    {
        list_remove(link);
        list_add_tail(&rs->snapshots, link);
    }
}

/* A session without a state is up as soon as it is open. */
static void import_done(void *ctx)
{
    tell_imported(ctx, NULL);
}

int rt_session_import(struct rt *rt, const struct rt_caller *caller, const struct rt_import *import,
                      char *ret_id, struct err *err)
{
    auto_rt_file struct rt_file f;
    int rc = rt_file_read(&f, import->file, import->len, err);
    if (rc < 0)
        return rc;
    struct rt_session_spec spec = {
        .id = import->new_id ? import->new_id : f.id,
        .kind = f.kind,
        .cwd = f.cwd && check_cwd(f.cwd, NULL) == 0 ? f.cwd : NULL, /* another machine */
        .env = (const char *const *)strv_items(&f.env),
        .state = f.state,
        .state_len = f.state_len,
        .must_restore = true,
    };
    rc = rt_session_open(rt, caller, &spec, ret_id, err);
    if (rc < 0)
        return rc;
    struct rt_session *rs = rt_get_session(rt, ret_id, err);
    take_snapshots(rs, &f);
    rc = store_session(rs, err);
    if (rc < 0)
        return rc;
    rs->on_imported = import->cb;
    rs->on_imported_ctx = import->ctx;
    if (!rs->importing)
        ev_defer(rt->ev, import_done, rs);
    return 0;
}

/* ---- lists ---- */

static void write_session(struct rt_session *rs, struct json_w *w)
{
    char iso[CLOCK_ISO8601_SIZE];
    struct session *s = rs->s;
    json_w_obj(w);
    json_w_kstr(w, "id", rs->id);
    json_w_kstr(w, "kind", rs->kind->name);
    json_w_kstr(w, "tenant", rs->tenant);
    json_w_kstr(w, "state",
                rs->closing  ? "closing"
                : !s         ? "asleep"
                : s->current ? "running"
                             : "idle");
    write_cwd(rs, w);
    json_w_kstr(w, "createdAt", clock_iso8601(rs->created_ms, iso));
    json_w_kuint(w, "commands", rs->n_commands);
    json_w_kstr(w, "current", s && s->current ? s->current->id : NULL);
    json_w_kuint(w, "queued", s ? s->n_queued : 0);
    json_w_kuint(w, "background", s ? s->n_background : 0);
    json_w_karr(w, "isolation");
    for (const char *const *layer = s ? s->isolation : NULL; layer && *layer; layer++)
        json_w_str(w, *layer);
    json_w_arr_end(w);
    json_w_karr(w, "snapshots");
    LIST_FOREACH(link, &rs->snapshots)
    json_w_str(w, list_entry(link, struct rt_snapshot, link)->name);
    json_w_arr_end(w);
    json_w_obj_end(w);
}

int rt_session_show(struct rt *rt, const char *id, struct json_w *w, struct err *err)
{
    struct rt_session *rs = rt_get_session(rt, id, err);
    if (!rs)
        return -ERR_NOT_FOUND;
    write_session(rs, w);
    return 0;
}

void rt_session_list(struct rt *rt, struct json_w *w)
{
    size_t cursor = 0;
    void *value;
    json_w_arr(w);
    while (map_next(&rt->sessions, &cursor, NULL, &value))
        write_session(value, w);
    json_w_arr_end(w);
}

/* ---- after a restart ---- */

/* A row that does not make sense is skipped: one bad session must not keep the others away. */
static void load_one(const char *id, const char *json, size_t json_len, const char *state,
                     size_t state_len, void *arg)
{
    struct rt *rt = arg;
    auto_rt_file struct rt_file f;
    struct rt_session *rs = NULL;
    if (rt_file_read_row(&f, json, json_len, NULL) < 0)
        return;
    const struct session_kind *kind = find_kind(rt, f.kind, NULL);
    if (!kind || check_new_id(rt, id, NULL) < 0 || add_session(rt, id, kind, &rs, NULL) < 0)
        return;
    rs->tenant = xstrdup(f.tenant ? f.tenant : "default");
    rs->cwd = f.cwd ? xstrdup(f.cwd) : NULL;
    if (f.created_ms)
        rs->created_ms = f.created_ms;
    (void)strv_push_all(&rs->env, (const char *const *)strv_items(&f.env)); /* as large at most */
    take_snapshots(rs, &f);
    if (state) {
        rs->state = xmemdup(state, state_len);
        rs->state_len = state_len;
    }
}

int rt_sessions_load(struct rt *rt, struct err *err)
{
    if (!rt->o.store.each_session)
        return 0;
    return rt->o.store.each_session(load_one, rt, err, rt->o.store.ctx);
}
