/* SPDX-License-Identifier: MIT */
/* wire/error - a struct err as a message: {"error": {"code": "not_found", "message": "..."}}. */
#ifndef WIRE_ERROR_H
#define WIRE_ERROR_H

#include <stdint.h>

struct buf;
struct err;
struct json_node;
struct json_w;

/* Writes the object. */
void wire_write_error(struct json_w *w, const struct err *err);

/* Appends it as the answer on a channel. */
int wire_put_error(struct buf *b, uint32_t channel, const struct err *err);

/* Reads the object under "error" into err and returns its negative code. */
int wire_read_error(const struct json_node *error, struct err *err);

#endif
