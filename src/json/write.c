/* SPDX-License-Identifier: MIT */
#include "json/write.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/utf8.h"
#include "json/plain_priv.h"
#include "json/write_priv.h"

enum { INDENT_MAX = 16, INT_TEXT_SIZE = 24 };

static void fail(struct json_w *w, int rc)
{
    if (w->rc == 0)
        w->rc = rc;
}

static void put(struct json_w *w, const char *text, size_t len)
{
    int rc = buf_append(w->buf, text, len);
    if (rc < 0)
        fail(w, rc);
}

static void put_byte(struct json_w *w, char byte)
{
    int rc = buf_append_byte(w->buf, byte);
    if (rc < 0)
        fail(w, rc);
}

static bool in_obj(const struct json_w *w)
{
    unsigned level = w->depth - 1;
    return w->depth && (w->is_obj[level / 64] >> level % 64 & 1);
}

/* A new line with as many levels of blanks. */
static void put_line(struct json_w *w, unsigned level)
{
    char *at;
    size_t len = 1 + (size_t)level * w->indent;
    int rc = buf_reserve(w->buf, len, &at);
    if (rc < 0) {
        fail(w, rc);
        return;
    }
    at[0] = '\n';
    memset(at + 1, ' ', len - 1);
    buf_commit(w->buf, len);
}

/* What stands between one item, or member, and the next. */
static void begin_item(struct json_w *w)
{
    if (w->has_items)
        put_byte(w, ',');
    if (w->indent)
        put_line(w, w->depth);
    w->has_items = true;
}

/* Called before each value; false if there is no point in writing it. */
static bool begin_value(struct json_w *w)
{
    if (w->rc < 0)
        return false;
    if (in_obj(w))
        assert(w->has_key);
    else if (w->depth)
        begin_item(w);
    w->has_key = false;
    return w->rc == 0;
}

static void open_container(struct json_w *w, bool is_obj)
{
    if (!begin_value(w))
        return;
    if (w->depth == JSON_W_DEPTH_MAX) {
        fail(w, -ERR_LIMIT);
        return;
    }
    put_byte(w, is_obj ? '{' : '[');
    uint64_t bit = UINT64_C(1) << w->depth % 64;
    uint64_t *word = &w->is_obj[w->depth / 64];
    *word = is_obj ? *word | bit : *word & ~bit;
    w->depth++;
    w->has_items = false;
}

static void close_container(struct json_w *w, bool is_obj)
{
    if (w->rc < 0)
        return;
    assert(w->depth && in_obj(w) == is_obj && !w->has_key);
    w->depth--;
    if (w->has_items && w->indent)
        put_line(w, w->depth);
    put_byte(w, is_obj ? '}' : ']');
    w->has_items = true; /* this container, in the one around it */
}

static void put_escape(struct json_w *w, char c)
{
    static const char letters[0x20] = {
        ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
    char text[8] = {'\\', c};
    size_t len = 2;
    if (c != '"' && c != '\\') {
        text[1] = letters[(unsigned char)c];
        if (!text[1])
            len = (size_t)snprintf(text, sizeof(text), "\\u%04x", (unsigned)c);
    }
    put(w, text, len);
}

/* The rest of a string, from the first byte on that needs an escape, and the end quote. */
static void put_escaped(struct json_w *w, const char *text, size_t len)
{
    bool any_high = false;
    while (len && w->rc == 0) {
        put_escape(w, *text++);
        len--;
        size_t run = json_plain_run(text, len, &any_high);
        put(w, text, run);
        text += run;
        len -= run;
    }
    put_byte(w, '"');
}

void json_w_put_valid(struct json_w *w, const char *text, size_t len)
{
    bool any_high = false;
    size_t run = json_plain_run(text, len, &any_high);
    char *at;
    int rc = len > SIZE_MAX - 2 ? -ERR_LIMIT : buf_reserve(w->buf, run + 2, &at);
    if (rc < 0) {
        fail(w, rc);
        return;
    }
    at[0] = '"';
    if (run)
        memcpy(at + 1, text, run);
    at[1 + run] = '"';
    buf_commit(w->buf, run + 1 + (run == len));
    if (run < len)
        put_escaped(w, text + run, len - run);
}

void json_w_init(struct json_w *w, struct buf *buf)
{
    w->buf = buf;
    w->rc = 0;
    w->indent = w->depth = 0;
    w->has_items = w->has_key = false;
}

void json_w_set_indent(struct json_w *w, unsigned indent)
{
    w->indent = indent < INDENT_MAX ? indent : INDENT_MAX;
}

void json_w_obj(struct json_w *w)
{
    open_container(w, true);
}

void json_w_obj_end(struct json_w *w)
{
    close_container(w, true);
}

void json_w_arr(struct json_w *w)
{
    open_container(w, false);
}

void json_w_arr_end(struct json_w *w)
{
    close_container(w, false);
}

void json_w_keyn(struct json_w *w, const char *key, size_t len)
{
    if (w->rc < 0)
        return;
    assert(in_obj(w) && !w->has_key);
    if (!utf8_is_valid(key, len)) {
        fail(w, -ERR_INVALID);
        return;
    }
    begin_item(w);
    json_w_put_valid(w, key, len);
    put(w, ": ", w->indent ? 2 : 1);
    w->has_key = true;
}

void json_w_key(struct json_w *w, const char *key)
{
    json_w_keyn(w, key, strlen(key));
}

void json_w_strn(struct json_w *w, const char *text, size_t len)
{
    if (!begin_value(w))
        return;
    if (!text)
        put(w, "null", 4);
    else if (utf8_is_valid(text, len))
        json_w_put_valid(w, text, len);
    else
        fail(w, -ERR_INVALID);
}

void json_w_str(struct json_w *w, const char *text)
{
    json_w_strn(w, text, text ? strlen(text) : 0);
}

void json_w_str_lossy(struct json_w *w, const char *text, size_t len)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    size_t valid = utf8_valid_prefix(text, len);
    if (valid == len) {
        json_w_strn(w, text, len);
        return;
    }
    if (!begin_value(w))
        return;

    auto_buf struct buf clean = BUF_INIT(w->buf->max);
    int rc = 0;
    while (len && rc == 0) {
        valid = utf8_valid_prefix(text, len);
        rc = buf_append(&clean, text, valid);
        text += valid;
        len -= valid;
        if (len && rc == 0) {
            rc = buf_append(&clean, replacement, sizeof(replacement) - 1);
            text++;
            len--;
        }
    }
    if (rc < 0)
        fail(w, rc);
    else
        json_w_put_valid(w, clean.data, clean.len);
}

void json_w_bytes(struct json_w *w, const void *data, size_t len, bool *ret_is_base64)
{
    *ret_is_base64 = !utf8_is_valid(data, len);
    if (!begin_value(w))
        return;
    if (!*ret_is_base64) {
        json_w_put_valid(w, data, len);
        return;
    }
    put_byte(w, '"');
    int rc = base64_encode(data, len, w->buf);
    if (rc < 0)
        fail(w, rc);
    put_byte(w, '"');
}

void json_w_uint(struct json_w *w, uint64_t value)
{
    char text[INT_TEXT_SIZE];
    char *at = text + sizeof(text);
    if (!begin_value(w))
        return;
    do
        *--at = (char)('0' + value % 10);
    while (value /= 10);
    put(w, at, (size_t)(text + sizeof(text) - at));
}

void json_w_int(struct json_w *w, int64_t value)
{
    char text[INT_TEXT_SIZE];
    if (value >= 0) {
        json_w_uint(w, (uint64_t)value);
        return;
    }
    if (begin_value(w))
        put(w, text, (size_t)snprintf(text, sizeof(text), "%" PRId64, value));
}

void json_w_double(struct json_w *w, double value)
{
    char text[JSON_DOUBLE_SIZE];
    if (!begin_value(w))
        return;
    if (isfinite(value))
        put(w, text, json_format_double(value, text));
    else
        put(w, "null", 4);
}

void json_w_bool(struct json_w *w, bool value)
{
    if (begin_value(w))
        put(w, value ? "true" : "false", value ? 4 : 5);
}

void json_w_null(struct json_w *w)
{
    if (begin_value(w))
        put(w, "null", 4);
}

void json_w_raw(struct json_w *w, const char *json, size_t len)
{
    if (begin_value(w))
        put(w, json, len);
}

bool json_w_begin_value(struct json_w *w)
{
    return begin_value(w);
}

int json_w_finish(const struct json_w *w)
{
    assert(w->rc < 0 || (w->depth == 0 && !w->has_key));
    return w->rc;
}

void json_w_kobj(struct json_w *w, const char *key)
{
    json_w_key(w, key);
    json_w_obj(w);
}

void json_w_karr(struct json_w *w, const char *key)
{
    json_w_key(w, key);
    json_w_arr(w);
}

void json_w_kstr(struct json_w *w, const char *key, const char *text)
{
    json_w_key(w, key);
    json_w_str(w, text);
}

void json_w_kstrn(struct json_w *w, const char *key, const char *text, size_t len)
{
    json_w_key(w, key);
    json_w_strn(w, text, len);
}

void json_w_kint(struct json_w *w, const char *key, int64_t value)
{
    json_w_key(w, key);
    json_w_int(w, value);
}

void json_w_kuint(struct json_w *w, const char *key, uint64_t value)
{
    json_w_key(w, key);
    json_w_uint(w, value);
}

void json_w_kdouble(struct json_w *w, const char *key, double value)
{
    json_w_key(w, key);
    json_w_double(w, value);
}

void json_w_kbool(struct json_w *w, const char *key, bool value)
{
    json_w_key(w, key);
    json_w_bool(w, value);
}

void json_w_knull(struct json_w *w, const char *key)
{
    json_w_key(w, key);
    json_w_null(w);
}
