/* SPDX-License-Identifier: MIT */
/* json/write_priv - the writer's insides, for the file that writes whole trees. */
#ifndef JSON_WRITE_PRIV_H
#define JSON_WRITE_PRIV_H

#include <stdbool.h>
#include <stddef.h>

struct json_w;

/* Called before each value; false if there is no point in writing it. */
bool json_w_begin_value(struct json_w *w);

/* A string, quoted and escaped, that is known to be UTF-8; after json_w_begin_value(). */
void json_w_put_valid(struct json_w *w, const char *text, size_t len);

#endif
