/* SPDX-License-Identifier: MIT */
/*
 * json/write - writes JSON into a buffer, one call per token.
 *
 * The calls return nothing: the first failure (the buffer is full, a text is no
 * UTF-8, the depth limit) sticks, later calls do nothing, and json_w_finish() tells.
 * A call out of order (a value without its key, an end too many) is a fault of the
 * program and asserts. What is written after a failure must be thrown away.
 *
 * Several values one after another are allowed; the caller puts what separates them
 * (json_w_raw(), or straight into the buffer).
 */
#ifndef JSON_WRITE_H
#define JSON_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct json_node;

enum { JSON_W_DEPTH_MAX = 10240, JSON_DOUBLE_SIZE = 32 };

struct json_w {
    struct buf *buf;
    int rc;          /* 0 or the first failure */
    unsigned indent; /* blanks per level; 0 = all on one line */
    unsigned depth;
    bool has_items;                         /* the innermost container, so far */
    bool has_key;                           /* a key waits for its value */
    uint64_t is_obj[JSON_W_DEPTH_MAX / 64]; /* bit per level: object or array */
};

/* A writer that appends to buf, which it does not own. */
void json_w_init(struct json_w *w, struct buf *buf);

/* From here on each item goes on a line of its own, indented by so many blanks (up to 16). */
void json_w_set_indent(struct json_w *w, unsigned indent);

void json_w_obj(struct json_w *w);
void json_w_obj_end(struct json_w *w);
void json_w_arr(struct json_w *w);
void json_w_arr_end(struct json_w *w);

void json_w_key(struct json_w *w, const char *key);
void json_w_keyn(struct json_w *w, const char *key, size_t len);

/* A string; NULL is written as null. Invalid UTF-8 is a failure: -ERR_INVALID. */
void json_w_str(struct json_w *w, const char *text);
void json_w_strn(struct json_w *w, const char *text, size_t len);

/* A string in which each byte that is part of no character becomes U+FFFD. */
void json_w_str_lossy(struct json_w *w, const char *text, size_t len);

/*
 * Bytes as text where that is exact, else as base64. *ret_is_base64 says which; the
 * caller writes the field that tells the reader.
 */
void json_w_bytes(struct json_w *w, const void *data, size_t len, bool *ret_is_base64);

void json_w_int(struct json_w *w, int64_t value);
void json_w_uint(struct json_w *w, uint64_t value);

/* The shortest text that reads back as value, as ECMAScript writes it; NaN, inf: null. */
void json_w_double(struct json_w *w, double value);

void json_w_bool(struct json_w *w, bool value);
void json_w_null(struct json_w *w);

/* A value that is JSON already; not checked. */
void json_w_raw(struct json_w *w, const char *json, size_t len);

/* A whole tree as it was read: numbers keep their text. NULL is written as null. */
void json_w_node(struct json_w *w, const struct json_node *node);

/* A key and its value in one. */
void json_w_kobj(struct json_w *w, const char *key);
void json_w_karr(struct json_w *w, const char *key);
void json_w_kstr(struct json_w *w, const char *key, const char *text);
void json_w_kstrn(struct json_w *w, const char *key, const char *text, size_t len);
void json_w_kint(struct json_w *w, const char *key, int64_t value);
void json_w_kuint(struct json_w *w, const char *key, uint64_t value);
void json_w_kdouble(struct json_w *w, const char *key, double value);
void json_w_kbool(struct json_w *w, const char *key, bool value);
void json_w_knull(struct json_w *w, const char *key);

/* 0, or the first failure. All containers must have been ended. */
int json_w_finish(const struct json_w *w);

/* The text json_w_double() writes for a finite value; returns its length. */
size_t json_format_double(double value, char ret[JSON_DOUBLE_SIZE]);

#endif
