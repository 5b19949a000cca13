/* SPDX-License-Identifier: MIT */
/*
 * json/read - JSON as a tree in an arena.
 *
 * Nodes and texts are copies and live as long as the arena. A tree is not changed
 * after it was read. Numbers keep the text they were written with, so none loses
 * digits: 9007199254740993 and 1e400 survive.
 *
 * The accessors accept NULL (and nodes of any type), so that chains need one check:
 * json_str(json_get(json_get(root, "a"), "b"), NULL).
 */
#ifndef JSON_READ_H
#define JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/sax.h"

struct arena;
struct json_node;

enum json_type {
    JSON_NONE, /* no node */
    JSON_NULL,
    JSON_BOOL,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
};

/*
 * Reads exactly one value. -ERR_SYNTAX, or -ERR_LIMIT (which includes the arena's);
 * see json/sax.h for limits (may be NULL) and messages. *ret is set on success only.
 */
int json_parse(const char *text, size_t len, const struct json_limits *limits, struct arena *arena,
               struct json_node **ret, struct err *err);

/* Reads the next of several values, see json_sax_next(): 1 with *ret set, or 0 at the end. */
int json_parse_next(struct json_source *source, const struct json_limits *limits,
                    struct arena *arena, struct json_node **ret, struct err *err);

enum json_type json_type(const struct json_node *node);

/* "object", "string", ...; "nothing" for JSON_NONE. For messages. */
const char *json_type_name(enum json_type type);

/* The text of a string, with a NUL behind it; else NULL. ret_len may be NULL. */
const char *json_str(const struct json_node *node, size_t *ret_len);

/* The text of a string that holds no NUL; else NULL. */
const char *json_cstr(const struct json_node *node);

/* A number as it was written, with a NUL behind it; else NULL. ret_len may be NULL. */
const char *json_number_text(const struct json_node *node, size_t *ret_len);

/*
 * 0 and the value, or -ERR_INVALID (and *ret untouched) if the node is no such value.
 * Integers must be exact and in range, however written: 1.0 and 1e3 are. A double is the
 * nearest one; a number too large for it is -ERR_INVALID.
 */
int json_i64(const struct json_node *node, int64_t *ret);
int json_u64(const struct json_node *node, uint64_t *ret);
int json_double(const struct json_node *node, double *ret);
int json_bool(const struct json_node *node, bool *ret);

/* Number of items or members; 0 for what has none. */
size_t json_len(const struct json_node *node);

/* Item i, or the value of member i, in the order written; NULL past the end. */
const struct json_node *json_at(const struct json_node *node, size_t i);

/* The key under which a member's value stands in its object; NULL for others. */
const char *json_key(const struct json_node *node, size_t *ret_len);

/* The value of a member; NULL if there is none or node is no object. Looks at all keys. */
const struct json_node *json_get(const struct json_node *node, const char *key);

/* Follows "a.b.0.c": member by member; a number indexes an array. NULL if a step fails. */
const struct json_node *json_path_get(const struct json_node *node, const char *path);

/*
 * Walks the items or member values of node (which may be NULL):
 *
 *     JSON_FOREACH (item, json_get(root, "items")) { ... json_str(item, NULL) ... }
 */
/* NOLINTBEGIN(bugprone-macro-parentheses): declares what its argument names */
#define JSON_FOREACH(item, node)                                                                   \
    for (const struct json_node *item##_of_ = (node), *item = json_at(item##_of_, 0); item;        \
         item = json_next(item##_of_, item))
/* NOLINTEND(bugprone-macro-parentheses) */

/* The item after item in its container node, or NULL. */
const struct json_node *json_next(const struct json_node *node, const struct json_node *item);

#endif
