/* SPDX-License-Identifier: MIT */
/*
 * yaml/read - YAML as a tree in an arena.
 *
 * Plain scalars have the types of the YAML 1.2 core schema (no and yes are strings, 010 is
 * ten), or the one that a core tag gives (!!str, !!int, ...). Keys are scalars and are what
 * is written; none comes twice in one map. Refused: other tags, merge keys ('<<'), text that
 * is no UTF-8. An alias stands for a copy of what it names; the copies share their memory,
 * and all nodes that a walk meets are counted and limited.
 *
 * Nodes and texts live as long as the arena. A tree is not changed after it was read. The
 * accessors accept NULL (and nodes of any type), so that chains need one check:
 * yaml_str(yaml_get(yaml_get(root, "a"), "b"), NULL).
 */
#ifndef YAML_READ_H
#define YAML_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct err;
struct yaml_node;

enum { YAML_BYTES_DEFAULT = 4 << 20, YAML_DEPTH_MAX = 64, YAML_NODES_DEFAULT = 100000 };

enum yaml_type {
    YAML_NONE, /* no node */
    YAML_NULL,
    YAML_BOOL,
    YAML_INT,
    YAML_FLOAT,
    YAML_STRING,
    YAML_LIST,
    YAML_MAP
};

/* A text and what it is called in messages: the name of a file. */
struct yaml_input {
    const char *name;
    const char *text;
    size_t len;
};

/* Zero means the default. */
struct yaml_limits {
    size_t max_bytes;   /* of text; default 4 MiB, never above 1 GiB */
    unsigned max_depth; /* nested lists and maps, aliases followed; default and most 64 */
    size_t max_nodes;   /* aliases followed; default 100,000 */
};

/* Where something begins; both count from 1, columns in characters. */
struct yaml_mark {
    uint32_t line, column;
};

/*
 * Reads exactly one document. -ERR_SYNTAX, or -ERR_LIMIT (which includes the arena's), with
 * "NAME:LINE:COLUMN: what is wrong, what was expected". limits may be NULL. *ret is set on
 * success only.
 */
int yaml_parse(const struct yaml_input *input, const struct yaml_limits *limits,
               struct arena *arena, struct yaml_node **ret, struct err *err);

/* The same for any number of documents: *ret is a list of them. */
int yaml_parse_all(const struct yaml_input *input, const struct yaml_limits *limits,
                   struct arena *arena, struct yaml_node **ret, struct err *err);

enum yaml_type yaml_type(const struct yaml_node *node);

/* "map", "string", ...; "nothing" for YAML_NONE. For messages. */
const char *yaml_type_name(enum yaml_type type);

/* The same with its article: "a map", "an integer", "null". */
const char *yaml_type_phrase(enum yaml_type type);

/* Where the node begins, an alias where it stands; 0:0 for NULL. */
struct yaml_mark yaml_mark(const struct yaml_node *node);

/* Where the key of a map's value begins; 0:0 for what has none. */
struct yaml_mark yaml_key_mark(const struct yaml_node *node);

/* Sets err to "NAME:LINE:COLUMN: ..." and returns -code. */
int yaml_err(struct err *err, int code, const char *name, struct yaml_mark mark, const char *fmt,
             ...) __attribute__((format(printf, 5, 6)));

/* The text of a string, with a NUL behind it; else NULL. ret_len may be NULL. */
const char *yaml_str(const struct yaml_node *node, size_t *ret_len);

/* The text of a string that holds no NUL; else NULL. */
const char *yaml_cstr(const struct yaml_node *node);

/*
 * The text of any scalar as it was written (quotes and escapes resolved), with a NUL behind
 * it; NULL for lists and maps. Integers of any size, 0x1F and 022 survive here.
 */
const char *yaml_text(const struct yaml_node *node, size_t *ret_len);

/*
 * 0 and the value, or -ERR_INVALID (and *ret untouched) if the node is no such value. An
 * integer must be in range, and a float is none; a double is the nearest one of either.
 */
int yaml_i64(const struct yaml_node *node, int64_t *ret);
int yaml_u64(const struct yaml_node *node, uint64_t *ret);
int yaml_double(const struct yaml_node *node, double *ret);
int yaml_bool(const struct yaml_node *node, bool *ret);

/* Number of items or members; 0 for what has none. */
size_t yaml_len(const struct yaml_node *node);

/* Item i, or the value of member i, in the order written; NULL past the end. */
const struct yaml_node *yaml_at(const struct yaml_node *node, size_t i);

/* The key under which a member's value stands in its map (it holds no NUL); NULL for others. */
const char *yaml_key(const struct yaml_node *node);

/* The value of a member; NULL if there is none or node is no map. Looks at all keys. */
const struct yaml_node *yaml_get(const struct yaml_node *node, const char *key);

/*
 * Walks the items or member values of node (which may be NULL):
 *
 *     YAML_FOREACH (item, yaml_get(root, "items")) { ... yaml_str(item, NULL) ... }
 */
/* NOLINTBEGIN(bugprone-macro-parentheses): declares what its argument names */
#define YAML_FOREACH(item, node)                                                                   \
    for (const struct yaml_node *item##_of_ = (node), *item = yaml_at(item##_of_, 0); item;        \
         item = yaml_next(item##_of_, item))
/* NOLINTEND(bugprone-macro-parentheses) */

/* The item after item in its container node, or NULL. */
const struct yaml_node *yaml_next(const struct yaml_node *node, const struct yaml_node *item);

#endif
