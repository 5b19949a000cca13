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

/* Writes the one of the two fields that fits. */
void wire_field_put(struct json_w *w, const char *key, const void *p, size_t n);

#endif
