/* SPDX-License-Identifier: MIT */
#include "wire/field.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/utf8.h"
#include "json/read.h"
#include "json/write.h"

enum { KEY_SIZE = 40 };

static const char *key64(const char *key, char ret[KEY_SIZE])
{
    (void)snprintf(ret, KEY_SIZE, "%s64", key);
    return ret;
}

static int wrong_type(const struct json_node *node, const char *key, struct err *err)
{
    return err_set(err, ERR_INVALID, "field '%s': expected a string, not %s", key,
                   json_type_name(json_type(node)));
}

static int decode(const struct json_node *node, const char *name, struct arena *arena,
                  const char **ret, size_t *ret_len, struct err *err)
{
    size_t len;
    const char *text = json_str(node, &len);
    if (!text)
        return wrong_type(node, name, err);

    auto_buf struct buf bytes = BUF_INIT(len);
    int rc = base64_decode(text, len, &bytes);
    if (rc < 0)
        return err_set(err, -rc, "field '%s': not base64", name);
    char *copy = arena_strndup(arena, buf_cstr(&bytes), bytes.len);
    if (!copy)
        return err_set(err, ERR_LIMIT, "field '%s': request too large", name);
    *ret = copy;
    *ret_len = bytes.len;
    return 0;
}

int wire_field_bytes(const struct json_node *obj, const char *key, struct arena *arena,
                     const char **ret, size_t *ret_len, struct err *err)
{
    char name64[KEY_SIZE];
    const struct json_node *plain = json_get(obj, key);
    const struct json_node *coded = json_get(obj, key64(key, name64));
    if (plain && coded)
        return err_set(err, ERR_INVALID, "fields '%s' and '%s': expected one of them", key, name64);
    if (coded)
        return decode(coded, name64, arena, ret, ret_len, err);

    *ret = plain ? json_str(plain, ret_len) : NULL;
    return plain && !*ret ? wrong_type(plain, key, err) : 0;
}

static int check_cstr(const char *key, const char *text, size_t len, const char **ret,
                      struct err *err)
{
    if (text && memchr(text, '\0', len))
        return err_set(err, ERR_INVALID, "field '%s': expected a text without NUL", key);
    *ret = text;
    return 0;
}

int wire_field_cstr(const struct json_node *obj, const char *key, struct arena *arena,
                    const char **ret, struct err *err)
{
    size_t len = 0;
    const char *text = NULL;
    int rc = wire_field_bytes(obj, key, arena, &text, &len, err);
    return rc < 0 ? rc : check_cstr(key, text, len, ret, err);
}

int wire_field_decode(const struct json_node *node, const char *name, struct arena *arena,
                      const char **ret, struct err *err)
{
    size_t len = 0;
    const char *text = NULL;
    int rc = decode(node, name, arena, &text, &len, err);
    return rc < 0 ? rc : check_cstr(name, text, len, ret, err);
}

void wire_field_put(struct json_w *w, const char *key, const void *p, size_t n)
{
    char name64[KEY_SIZE];
    bool is_base64;
    json_w_key(w, utf8_is_valid(p, n) ? key : key64(key, name64));
    json_w_bytes(w, p, n, &is_base64);
}

void wire_field_put_cstr(struct json_w *w, const char *key, const char *text)
{
    if (text)
        wire_field_put(w, key, text, strlen(text));
}

static const char *value_of(const char *item)
{
    return strchr(item, '=') + 1;
}

static void put_values(struct json_w *w, const char *key, const char *const *env, bool coded)
{
    bool begun = false, is_base64;
    for (; *env; env++) {
        const char *value = value_of(*env);
        if (utf8_is_valid(value, strlen(value)) == coded)
            continue;
        if (!begun)
            json_w_kobj(w, key);
        begun = true;
        json_w_keyn(w, *env, (size_t)(value - *env) - 1);
        json_w_bytes(w, value, strlen(value), &is_base64);
    }
    if (begun)
        json_w_obj_end(w);
}

void wire_field_put_env(struct json_w *w, const char *const *env)
{
    if (!env)
        return;
    put_values(w, "env", env, false);
    put_values(w, "env64", env, true);
}
