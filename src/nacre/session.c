/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "json/read.h"
#include "nacre/priv.h"

static struct nacre_session *new_session(struct nacre *n, const char *id)
{
    struct nacre_session *s = xnew(struct nacre_session);
    s->nacre = nacre_ref(n);
    memcpy(s->id, id, strlen(id) + 1);
    return s;
}

int nacre_session_open(struct nacre *nacre, const struct nacre_session_options *options,
                       struct nacre_session **ret_session, struct nacre_error **ret_error)
{
    struct err err = {0};
    struct nacre_session_options o = {0};
    char id[SESSION_ID_MAX];
    int rc = nacre_check(nacre, true, &err);
    if (rc == 0)
        rc = nacre_take_options(options, &o, sizeof(o), &err);
    if (rc == 0)
        rc = nacre->ops->session_open(nacre, &o, id, &err);
    if (rc == 0)
        *ret_session = new_session(nacre, id);
    return nacre_error_give(rc, &err, ret_error);
}

int nacre_session_find(struct nacre *nacre, const char *id, struct nacre_session **ret_session,
                       struct nacre_error **ret_error)
{
    struct err err = {0};
    auto_buf struct buf json = BUF_INIT(NACRE_JSON_MAX);
    int rc = nacre_check(nacre, true, &err);
    if (rc == 0)
        rc = nacre->ops->session_show(nacre, id, &json, &err);
    if (rc == 0)
        *ret_session = new_session(nacre, id); /* it exists, so the id is of a proper length */
    return nacre_error_give(rc, &err, ret_error);
}

/* The ids in a JSON array of sessions, as one block: the pointers, then the texts. */
static int ids_of_json(const char *json, size_t len, char ***ret_ids, struct err *err)
{
    struct arena arena;
    arena_init(&arena, NACRE_JSON_MAX);
    AUTO(arena_done) struct arena memory = arena;

    struct json_node *root = NULL;
    int rc = json_parse(json, len, NULL, &memory, &root, err);
    if (rc < 0)
        return rc;
    size_t n = 0, bytes = 0;
    JSON_FOREACH(item, root)
    {
        const char *id = json_cstr(json_get(item, "id"));
        if (!id)
            return err_set(err, ERR_PROTOCOL, "list of sessions: an item without an id");
        n++;
        bytes += strlen(id) + 1;
    }

    char **ids = xmalloc((n + 1) * sizeof(*ids) + bytes);
    char *text = (char *)(ids + n + 1);
    size_t i = 0;
    JSON_FOREACH(item, root)
    {
        const char *id = json_cstr(json_get(item, "id"));
        size_t size = strlen(id) + 1;
        ids[i++] = memcpy(text, id, size);
        text += size;
    }
    ids[n] = NULL;
    *ret_ids = ids;
    return 0;
}

int nacre_session_list(struct nacre *nacre, char ***ret_ids, struct nacre_error **ret_error)
{
    struct err err = {0};
    auto_buf struct buf json = BUF_INIT(NACRE_JSON_MAX);
    int rc = nacre_check(nacre, true, &err);
    if (rc == 0)
        rc = nacre->ops->session_list(nacre, &json, &err);
    if (rc == 0)
        rc = ids_of_json(json.data, json.len, ret_ids, &err);
    return nacre_error_give(rc, &err, ret_error);
}

const char *nacre_session_id(const struct nacre_session *session)
{
    return session->id;
}

int nacre_session_show(struct nacre_session *session, char **ret_json,
                       struct nacre_error **ret_error)
{
    struct nacre *n = session->nacre;
    struct err err = {0};
    auto_buf struct buf json = BUF_INIT(NACRE_JSON_MAX);
    int rc = nacre_check(n, true, &err);
    if (rc == 0)
        rc = n->ops->session_show(n, session->id, &json, &err);
    if (rc == 0)
        *ret_json = buf_take(&json);
    return nacre_error_give(rc, &err, ret_error);
}

int nacre_session_close(struct nacre_session *session, struct nacre_error **ret_error)
{
    struct nacre *n = session->nacre;
    struct err err = {0};
    int rc = nacre_check(n, true, &err);
    if (rc == 0)
        rc = n->ops->session_close(n, session->id, &err);
    return nacre_error_give(rc, &err, ret_error);
}

void nacre_session_free(struct nacre_session *session)
{
    if (!session)
        return;
    nacre_unref(session->nacre);
    free(session);
}

int nacre_session_reset(struct nacre_session *session, struct nacre_error **ret_error)
{
    struct nacre *n = session->nacre;
    struct err err = {0};
    int rc = nacre_check(n, true, &err);
    if (rc == 0)
        rc = n->ops->session_reset(n, session->id, &err);
    return nacre_error_give(rc, &err, ret_error);
}

int nacre_session_fork(struct nacre_session *session, const char *new_id,
                       struct nacre_session **ret_session, struct nacre_error **ret_error)
{
    struct nacre *n = session->nacre;
    struct err err = {0};
    char id[SESSION_ID_MAX];
    int rc = nacre_check(n, true, &err);
    if (rc == 0)
        rc = n->ops->session_fork(n, session->id, new_id, id, &err);
    if (rc == 0)
        *ret_session = new_session(n, id);
    return nacre_error_give(rc, &err, ret_error);
}

int nacre_session_snapshot(struct nacre_session *session, const char *name,
                           struct nacre_error **ret_error)
{
    struct nacre *n = session->nacre;
    struct err err = {0};
    int rc = nacre_check(n, true, &err);
    if (rc == 0)
        rc = n->ops->session_snapshot(n, session->id, name, &err);
    return nacre_error_give(rc, &err, ret_error);
}

int nacre_session_restore(struct nacre_session *session, const char *name,
                          struct nacre_error **ret_error)
{
    struct nacre *n = session->nacre;
    struct err err = {0};
    int rc = nacre_check(n, true, &err);
    if (rc == 0)
        rc = n->ops->session_restore(n, session->id, name, &err);
    return nacre_error_give(rc, &err, ret_error);
}

int nacre_session_export(struct nacre_session *session, char **ret_file, size_t *ret_len,
                         struct nacre_error **ret_error)
{
    struct nacre *n = session->nacre;
    struct err err = {0};
    auto_buf struct buf file = BUF_INIT(NACRE_JSON_MAX);
    int rc = nacre_check(n, true, &err);
    if (rc == 0)
        rc = n->ops->session_export(n, session->id, &file, &err);
    if (rc == 0) {
        if (ret_len)
            *ret_len = file.len;
        *ret_file = buf_take(&file);
    }
    return nacre_error_give(rc, &err, ret_error);
}

int nacre_session_import(struct nacre *nacre, const char *file, size_t len, const char *new_id,
                         struct nacre_session **ret_session, struct nacre_error **ret_error)
{
    struct err err = {0};
    char id[SESSION_ID_MAX];
    int rc = nacre_check(nacre, true, &err);
    if (rc == 0)
        rc = nacre->ops->session_import(nacre, file, len == NACRE_TEXT ? strlen(file) : len, new_id,
                                        id, &err);
    if (rc == 0)
        *ret_session = new_session(nacre, id);
    return nacre_error_give(rc, &err, ret_error);
}
