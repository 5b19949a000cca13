/* SPDX-License-Identifier: MIT */
/*
 * wire/field - bytes as fields of JSON messages: `key` holds them as text where
 * that is exact, `key64` as base64 where it is not.
 */
#ifndef WIRE_FIELD_H
#define WIRE_FIELD_H

#include <stddef.h>

struct arena;
struct err;
struct json_node;
struct json_w;

/*
 * The bytes of obj's field key or key64; *ret is NULL if it has neither. They live as long as
 * the arena. -ERR_INVALID naming the field, -ERR_LIMIT when the arena is full.
 */
int wire_field_bytes(const struct json_node *obj, const char *key, struct arena *arena,
                     const char **ret, size_t *ret_len, struct err *err);

/*
 * The same as a text with a NUL at its end, such as a path. -ERR_INVALID also if it holds another.
 */
int wire_field_cstr(const struct json_node *obj, const char *key, struct arena *arena,
                    const char **ret, struct err *err);

/* A text without NUL from base64; name is for the error. */
int wire_field_decode(const struct json_node *node, const char *name, struct arena *arena,
                      const char **ret, struct err *err);

/* Writes the one of the two fields that fits. */
void wire_field_put(struct json_w *w, const char *key, const void *p, size_t n);

/* The same of a text; nothing for NULL. */
void wire_field_put_cstr(struct json_w *w, const char *key, const char *text);

/*
 * "NAME=VALUE" and a NULL as the objects `env` and, for values that are no UTF-8, `env64`.
 * Nothing for NULL. Each must hold a '=' and have a UTF-8 name.
 */
void wire_field_put_env(struct json_w *w, const char *const *env);

#endif
