/* SPDX-License-Identifier: MIT */
/*
 * Builds a tree from the events of libyaml.
 *
 * Nodes whose container is still open wait on a stack; when it ends they are moved into the
 * arena side by side. At the bottom the documents wait for the end of the text.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "yaml/compose_priv.h"
#include "yaml/schema_priv.h"

enum { STACK_MIN = 64 };

/* What a name stands for. */
struct anchor {
    struct yaml_node node;
    size_t weight;   /* nodes, its own and all below; 0 while it is open */
    unsigned height; /* nested containers, itself included */
};

static int fail(struct composer *c, int code, struct yaml_mark mark, const char *what)
{
    return yaml_err(c->err, code, c->name, mark, "%s", what);
}

static int fail_memory(struct composer *c, struct yaml_mark mark)
{
    return fail(c, ERR_LIMIT, mark, "the values need more memory than allowed");
}

static struct yaml_mark mark_of(const yaml_event_t *event)
{
    return (struct yaml_mark){(uint32_t)event->start_mark.line + 1,
                              (uint32_t)event->start_mark.column + 1};
}

/* Counts nodes against the limit. */
static int count(struct composer *c, size_t n, struct yaml_mark mark)
{
    if (n > c->max_nodes - c->nodes)
        return yaml_err(c->err, ERR_LIMIT, c->name, mark,
                        "more than %zu values (aliases count as what they stand for)",
                        c->max_nodes);
    c->nodes += n;
    return 0;
}

static int push(struct composer *c, const struct yaml_node *node)
{
    if (c->n == c->cap) {
        size_t cap = c->cap ? 2 * c->cap : STACK_MIN;
        struct yaml_node *stack = reallocarray(c->stack, cap, sizeof(*stack));
        if (!stack)
            return fail_memory(c, node->mark);
        c->stack = stack;
        c->cap = cap;
    }
    c->stack[c->n++] = *node;
    return 0;
}

/* The innermost open container, or NULL. */
static struct frame *top(struct composer *c)
{
    return c->depth ? &c->frames[c->depth - 1] : NULL;
}

/* Whether the next node is a key. */
static bool wants_key(struct composer *c)
{
    struct frame *f = top(c);
    return f && f->node.type == YAML_MAP && !f->key;
}

/* Puts a complete node where it belongs. */
static int place(struct composer *c, struct yaml_node *node, unsigned height)
{
    struct frame *f = top(c);
    node->key = NULL;
    node->key_mark = (struct yaml_mark){0};
    if (f) {
        node->key = f->key;
        node->key_mark = f->key_mark;
        f->key = NULL;
        if (f->height < height + 1)
            f->height = height + 1;
    }
    return push(c, node);
}

/* --- anchors ------------------------------------------------------------------------ */

/* Notes the name of a node, which may take that of an earlier one; *ret is set if it has one. */
static int add_anchor(struct composer *c, const yaml_char_t *name, struct yaml_mark mark,
                      struct anchor **ret)
{
    if (!name)
        return 0;
    struct anchor *anchor = arena_new(c->arena, struct anchor);
    if (!anchor || map_set(&c->anchors, (const char *)name, anchor) < 0)
        return fail_memory(c, mark);
    *ret = anchor;
    return 0;
}

static int on_alias(struct composer *c, const yaml_event_t *event)
{
    struct yaml_mark mark = mark_of(event);
    const char *name = (const char *)event->data.alias.anchor;
    if (wants_key(c))
        return fail(c, ERR_SYNTAX, mark, "an alias in place of a key, expected the key itself");
    const struct anchor *anchor = map_get(&c->anchors, name);
    if (!anchor)
        return yaml_err(c->err, ERR_SYNTAX, c->name, mark,
                        "the alias '*%.60s' names nothing, expected '&%.60s' before it", name,
                        name);
    if (anchor->weight == 0)
        return yaml_err(c->err, ERR_SYNTAX, c->name, mark,
                        "the alias '*%.60s' stands within what it names", name);
    if (c->depth + anchor->height > c->max_depth)
        return yaml_err(c->err, ERR_LIMIT, c->name, mark, "nested more than %u deep", c->max_depth);
    int rc = count(c, anchor->weight, mark);
    if (rc < 0)
        return rc;
    struct yaml_node node = anchor->node;
    node.mark = mark;
    return place(c, &node, anchor->height);
}

/* --- tags --------------------------------------------------------------------------- */

static int fail_tag(struct composer *c, struct yaml_mark mark, const char *tag)
{
    return yaml_err(c->err, ERR_SYNTAX, c->name, mark,
                    "unknown tag '%.60s', expected !!str, !!int, !!float, !!bool, !!null, !!seq, "
                    "!!map or none",
                    tag);
}

/* The type of a scalar, by its tag or by itself. */
static int scalar_type(struct composer *c, const yaml_event_t *event, const char *text,
                       enum yaml_type *ret)
{
    size_t len = event->data.scalar.length;
    const char *tag = (const char *)event->data.scalar.tag;
    if (!tag) {
        *ret = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE ? yaml_schema_resolve(text, len)
                                                                   : YAML_STRING;
        return 0;
    }
    *ret = yaml_schema_tag_type(tag);
    if (*ret == YAML_NONE)
        return fail_tag(c, mark_of(event), tag);
    if (!yaml_schema_tag_fits(*ret, yaml_schema_resolve(text, len)))
        return yaml_err(c->err, ERR_SYNTAX, c->name, mark_of(event),
                        "'%.60s' is tagged as %s, expected what reads as one", text,
                        yaml_type_phrase(*ret));
    return 0;
}

/* --- scalars and keys --------------------------------------------------------------- */

static int take_key(struct composer *c, const struct yaml_node *node, bool plain)
{
    const char *text = node->value.text;
    if (strlen(text) != node->len)
        return fail(c, ERR_SYNTAX, node->mark, "a key with a NUL in it, expected text");
    if (plain && *text == '\0')
        return fail(c, ERR_SYNTAX, node->mark, "an empty key, expected text before the ':'");
    if (plain && strcmp(text, "<<") == 0)
        return fail(c, ERR_SYNTAX, node->mark,
                    "merge keys ('<<') are not supported, expected each key written out");
    struct frame *f = top(c);
    f->key = text;
    f->key_mark = node->mark;
    return 0;
}

static int on_scalar(struct composer *c, const yaml_event_t *event)
{
    struct yaml_node node = {.mark = mark_of(event), .len = (uint32_t)event->data.scalar.length};
    struct anchor *anchor = NULL;
    int rc = count(c, 1, node.mark);
    if (rc == 0)
        rc = add_anchor(c, event->data.scalar.anchor, node.mark, &anchor);
    if (rc < 0)
        return rc;
    const char *text =
        arena_strndup(c->arena, (const char *)event->data.scalar.value, event->data.scalar.length);
    if (!text)
        return fail_memory(c, node.mark);
    rc = scalar_type(c, event, text, &node.type);
    if (rc < 0)
        return rc;
    node.value.text = text;
    if (anchor)
        *anchor = (struct anchor){.node = node, .weight = 1};
    if (wants_key(c))
        return take_key(c, &node, event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE);
    return place(c, &node, 0);
}

/* --- containers --------------------------------------------------------------------- */

/* What a container's start event says, whichever it is. */
struct start {
    enum yaml_type type;
    const yaml_char_t *anchor;
    const char *tag;
    struct yaml_mark mark;
};

static int open_container(struct composer *c, const struct start *start)
{
    if (wants_key(c))
        return yaml_err(c->err, ERR_SYNTAX, c->name, start->mark,
                        "%s in place of a key, expected text", yaml_type_phrase(start->type));
    if (start->tag && yaml_schema_tag_type(start->tag) == YAML_NONE)
        return fail_tag(c, start->mark, start->tag);
    /* "!" leaves a container what it is. */
    if (start->tag && strcmp(start->tag, "!") != 0 &&
        yaml_schema_tag_type(start->tag) != start->type)
        return yaml_err(c->err, ERR_SYNTAX, c->name, start->mark, "%s is tagged as %s",
                        yaml_type_phrase(start->type),
                        yaml_type_phrase(yaml_schema_tag_type(start->tag)));
    if (c->depth >= c->max_depth)
        return yaml_err(c->err, ERR_LIMIT, c->name, start->mark, "nested more than %u deep",
                        c->max_depth);
    int rc = count(c, 1, start->mark);
    if (rc < 0)
        return rc;
    struct frame *f = &c->frames[c->depth];
    *f = (struct frame){
        .node = {.type = start->type, .mark = start->mark},
        .first = c->n,
        .nodes = c->nodes - 1,
        .height = 1,
    };
    rc = add_anchor(c, start->anchor, start->mark, &f->anchor);
    if (rc < 0)
        return rc;
    c->depth++;
    return 0;
}

static int on_list(struct composer *c, const yaml_event_t *event)
{
    return open_container(c, &(struct start){
                                 .type = YAML_LIST,
                                 .anchor = event->data.sequence_start.anchor,
                                 .tag = (const char *)event->data.sequence_start.tag,
                                 .mark = mark_of(event),
                             });
}

static int on_map(struct composer *c, const yaml_event_t *event)
{
    return open_container(c, &(struct start){
                                 .type = YAML_MAP,
                                 .anchor = event->data.mapping_start.anchor,
                                 .tag = (const char *)event->data.mapping_start.tag,
                                 .mark = mark_of(event),
                             });
}

static int fail_twin(struct composer *c, const struct yaml_node *first,
                     const struct yaml_node *second)
{
    return yaml_err(c->err, ERR_SYNTAX, c->name, second->key_mark,
                    "the key '%.60s' is there already, at %u:%u, expected it once", second->key,
                    first->key_mark.line, first->key_mark.column);
}

/* Sees to it that no key comes twice. */
static int check_keys(struct composer *c, struct yaml_node *members, size_t n)
{
    enum { FEW_KEYS = 16 };
    if (n <= FEW_KEYS) {
        for (size_t i = 1; i < n; i++)
            for (size_t k = 0; k < i; k++)
                if (strcmp(members[i].key, members[k].key) == 0)
                    return fail_twin(c, &members[k], &members[i]);
        return 0;
    }
    auto_map struct map seen = MAP_INIT(n);
    for (size_t i = 0; i < n; i++) {
        const struct yaml_node *first = map_get(&seen, members[i].key);
        if (first)
            return fail_twin(c, first, &members[i]);
        if (map_set(&seen, members[i].key, &members[i]) < 0)
            return fail_memory(c, members[i].key_mark);
    }
    return 0;
}

/* Moves the nodes from `first` on into the arena, as the items of node. */
static int collect(struct composer *c, size_t first, struct yaml_node *node)
{
    size_t n = c->n - first;
    struct yaml_node *items = NULL;
    if (n) {
        items = arena_zalloc_n(c->arena, n, sizeof(*items));
        if (!items)
            return fail_memory(c, node->mark);
        memcpy(items, &c->stack[first], n * sizeof(*items));
    }
    node->value.items = items;
    node->len = (uint32_t)n;
    c->n = first;
    return 0;
}

static int close_container(struct composer *c)
{
    struct frame *f = top(c);
    assert(f && !f->key);
    size_t n = c->n - f->first;
    int rc = 0;
    if (f->node.type == YAML_MAP && n)
        rc = check_keys(c, &c->stack[f->first], n);
    if (rc == 0)
        rc = collect(c, f->first, &f->node);
    if (rc < 0)
        return rc;
    if (f->anchor)
        *f->anchor = (struct anchor){f->node, c->nodes - f->nodes, f->height};
    c->depth--;
    return place(c, &f->node, f->height);
}

/* --- the whole ---------------------------------------------------------------------- */

static int on_document(struct composer *c, const yaml_event_t *event)
{
    if (c->one && c->n)
        return fail(c, ERR_SYNTAX, mark_of(event), "a second document, expected only one");
    map_clear(&c->anchors);
    return 0;
}

int compose_event(struct composer *c, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return on_document(c, event);
    case YAML_ALIAS_EVENT:
        return on_alias(c, event);
    case YAML_SCALAR_EVENT:
        return on_scalar(c, event);
    case YAML_SEQUENCE_START_EVENT:
        return on_list(c, event);
    case YAML_MAPPING_START_EVENT:
        return on_map(c, event);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return close_container(c);
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        return 0;
    }
    return 0;
}

int compose_end(struct composer *c, struct yaml_node **ret)
{
    struct yaml_node all = {
        .type = YAML_LIST, .mark = {1, 1}
    };
    if (c->one && c->n == 0)
        return fail(c, ERR_SYNTAX, all.mark,
                    "nothing but blanks and comments, expected a document");
    assert(c->depth == 0);
    int rc = collect(c, 0, &all);
    if (rc < 0)
        return rc;
    struct yaml_node *root = arena_new(c->arena, struct yaml_node);
    if (!root)
        return fail_memory(c, all.mark);
    *root = c->one ? all.value.items[0] : all;
    *ret = root;
    return 0;
}

void compose_done(struct composer *c)
{
    free(c->stack);
    map_done(&c->anchors);
}
