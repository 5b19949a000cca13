/* SPDX-License-Identifier: MIT */
/*
 * Builds a tree from the callbacks of json/sax.
 *
 * Nodes whose container is still open wait on a stack; when it ends they are moved into
 * the arena side by side. The container's own node lies below them and notes, while it is
 * open, where the items of the one around it begin.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "json/node_priv.h"
#include "json/read.h"
#include "json/sax.h"

enum { STACK_MIN = 64, FEW_KEYS = 16 };

struct builder {
    struct arena *arena;
    struct err *err;
    struct json_node *stack;
    size_t n, cap;
    size_t first;  /* item of the innermost open container */
    size_t budget; /* nodes that the arena can still hold */
    const char *key;
    size_t key_len;
    uint32_t *table; /* of member numbers + 1, by hash of their keys */
    size_t table_cap;
    enum json_dup dup;
};

static int fail_memory(struct builder *b)
{
    return err_set(b->err, ERR_LIMIT, "the values need more memory than allowed");
}

/* The stack at its full size would not fit the arena either. */
static int grow_stack(struct builder *b)
{
    if (b->n >= b->budget)
        return fail_memory(b);
    size_t cap = b->cap ? 2 * b->cap : STACK_MIN;
    struct json_node *stack = reallocarray(b->stack, cap, sizeof(*stack));
    if (!stack)
        return fail_memory(b);
    b->stack = stack;
    b->cap = cap;
    return 0;
}

/* A new node under the key that waits; NULL if there is no room. */
static struct json_node *push(struct builder *b, enum json_type type)
{
    if (b->n == b->cap && grow_stack(b) < 0)
        return NULL;
    struct json_node *node = &b->stack[b->n++];
    *node = (struct json_node){.type = type, .key = b->key, .key_len = (uint32_t)b->key_len};
    b->key = NULL;
    b->key_len = 0;
    return node;
}

static int on_null(void *ctx)
{
    return push(ctx, JSON_NULL) ? 0 : -ERR_LIMIT;
}

static int on_bool(void *ctx, bool value)
{
    struct json_node *node = push(ctx, JSON_BOOL);
    if (!node)
        return -ERR_LIMIT;
    node->value.truth = value;
    return 0;
}

static int push_text(struct builder *b, enum json_type type, const char *text, size_t len)
{
    struct json_node *node = push(b, type);
    if (!node)
        return -ERR_LIMIT;
    node->value.text = arena_strndup(b->arena, text, len);
    node->len = (uint32_t)len;
    return node->value.text ? 0 : fail_memory(b);
}

static int on_number(void *ctx, const char *text, size_t len)
{
    return push_text(ctx, JSON_NUMBER, text, len);
}

static int on_string(void *ctx, const char *text, size_t len)
{
    return push_text(ctx, JSON_STRING, text, len);
}

static int on_key(void *ctx, const char *text, size_t len)
{
    struct builder *b = ctx;
    b->key = arena_strndup(b->arena, text, len);
    b->key_len = len;
    return b->key ? 0 : fail_memory(b);
}

static int open_container(struct builder *b, enum json_type type)
{
    struct json_node *node = push(b, type);
    if (!node)
        return -ERR_LIMIT;
    node->value.outer = b->first;
    b->first = b->n;
    return 0;
}

static int on_obj(void *ctx)
{
    return open_container(ctx, JSON_OBJECT);
}

static int on_arr(void *ctx)
{
    return open_container(ctx, JSON_ARRAY);
}

/* --- keys that come twice ---------------------------------------------------------- */

static bool same_key(const struct json_node *a, const struct json_node *b)
{
    return a->key_len == b->key_len && memcmp(a->key, b->key, a->key_len) == 0;
}

/* An empty table with room for n keys; NULL if there is no memory. */
static uint32_t *clear_table(struct builder *b, size_t n, size_t *ret_size)
{
    size_t size = 4 * (size_t)FEW_KEYS;
    while (size < 2 * n)
        size *= 2;
    if (size > b->table_cap) {
        uint32_t *table = reallocarray(b->table, size, sizeof(*table));
        if (!table)
            return NULL;
        b->table = table;
        b->table_cap = size;
    }
    memset(b->table, 0, size * sizeof(*b->table));
    *ret_size = size;
    return b->table;
}

/* The earlier member with the key of member i, else NULL and i goes into the table. */
static struct json_node *find_in_table(uint32_t *table, size_t size, struct json_node *members,
                                       size_t i)
{
    size_t mask = size - 1;
    size_t slot = hash_bytes(members[i].key, members[i].key_len) & mask;
    for (; table[slot]; slot = (slot + 1) & mask)
        if (same_key(&members[table[slot] - 1], &members[i]))
            return &members[table[slot] - 1];
    table[slot] = (uint32_t)i + 1;
    return NULL;
}

static struct json_node *find_among_few(struct json_node *members, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (same_key(&members[k], &members[i]))
            return &members[k];
    return NULL;
}

/* Sees to it that no key of the innermost object comes twice. */
static int merge_keys(struct builder *b)
{
    struct json_node *members = &b->stack[b->first];
    size_t n = b->n - b->first, kept = 0, size = 0;
    uint32_t *table = NULL;
    if (n > FEW_KEYS && !(table = clear_table(b, n, &size)))
        return fail_memory(b);

    for (size_t i = 0; i < n; i++) {
        if (kept < i)
            members[kept] = members[i];
        struct json_node *earlier =
            table ? find_in_table(table, size, members, kept) : find_among_few(members, kept);
        if (!earlier)
            kept++;
        else if (b->dup == JSON_DUP_ERROR)
            return err_set(b->err, ERR_SYNTAX, "the object that ends here has the key '%.*s' twice",
                           (int)(earlier->key_len < 100 ? earlier->key_len : 100), earlier->key);
        else
            *earlier = members[kept];
    }
    b->n = b->first + kept;
    return 0;
}

static int close_container(struct builder *b)
{
    size_t n = b->n - b->first;
    struct json_node *node = &b->stack[b->first - 1];
    size_t outer = (size_t)node->value.outer;
    struct json_node *items = NULL;
    if (n) {
        items = arena_alloc(b->arena, n * sizeof(*items));
        if (!items)
            return fail_memory(b);
        memcpy(items, &b->stack[b->first], n * sizeof(*items));
    }
    node->value.items = items;
    node->len = (uint32_t)n;
    b->n = b->first;
    b->first = outer;
    return 0;
}

static int on_obj_end(void *ctx)
{
    struct builder *b = ctx;
    int rc = b->n - b->first > 1 ? merge_keys(b) : 0;
    return rc < 0 ? rc : close_container(b);
}

static int on_arr_end(void *ctx)
{
    return close_container(ctx);
}

/* --- the whole --------------------------------------------------------------------- */

static const struct json_sax build_sax = {
    .on_null = on_null,
    .on_bool = on_bool,
    .on_number = on_number,
    .on_string = on_string,
    .on_key = on_key,
    .on_obj = on_obj,
    .on_obj_end = on_obj_end,
    .on_arr = on_arr,
    .on_arr_end = on_arr_end,
};

static void begin(struct builder *b, const struct json_limits *limits, struct arena *arena,
                  struct err *err)
{
    *b = (struct builder){
        .arena = arena,
        .err = err,
        .budget = (arena->max - arena->used) / sizeof(struct json_node),
        .dup = limits ? limits->dup : JSON_DUP_LAST,
    };
}

/* Moves the one node that is left into the arena, if reading went well. */
static int end(struct builder *b, int rc, struct json_node **ret)
{
    if (rc >= 0 && b->n) {
        assert(b->n == 1);
        struct json_node *root = arena_alloc(b->arena, sizeof(*root));
        if (root)
            *root = b->stack[0];
        else
            rc = fail_memory(b);
        if (root)
            *ret = root;
    }
    free(b->stack);
    free(b->table);
    return rc;
}

int json_parse(const char *text, size_t len, const struct json_limits *limits, struct arena *arena,
               struct json_node **ret, struct err *err)
{
    struct builder b;
    begin(&b, limits, arena, err);
    return end(&b, json_sax_parse(text, len, limits, &build_sax, &b, err), ret);
}

int json_parse_next(struct json_source *source, const struct json_limits *limits,
                    struct arena *arena, struct json_node **ret, struct err *err)
{
    struct builder b;
    begin(&b, limits, arena, err);
    return end(&b, json_sax_next(source, limits, &build_sax, &b, err), ret);
}
