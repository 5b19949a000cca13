/* SPDX-License-Identifier: MIT */
/* Writes trees; keeps its own stack, since a tree may be deeper than a small C stack. */
#include <stdlib.h>

#include "base/mem.h"
#include "json/node_priv.h"
#include "json/write.h"
#include "json/write_priv.h"

struct frame {
    const struct json_node *node;
    size_t next; /* the item that comes next */
};

struct stack {
    struct frame *frames;
    size_t n, cap;
};

static void push(struct stack *stack, const struct json_node *node)
{
    if (stack->n == stack->cap) {
        stack->cap = stack->cap ? 2 * stack->cap : 16;
        stack->frames = xreallocarray(stack->frames, stack->cap, sizeof(*stack->frames));
    }
    stack->frames[stack->n++] = (struct frame){.node = node};
}

/* Writes a value; of a container only its beginning, and remembers it. */
static void begin(struct json_w *w, struct stack *stack, const struct json_node *node)
{
    switch (json_type(node)) {
    case JSON_NONE:
    case JSON_NULL:
        json_w_null(w);
        break;
    case JSON_BOOL:
        json_w_bool(w, node->value.truth);
        break;
    case JSON_NUMBER:
        json_w_raw(w, node->value.text, node->len);
        break;
    case JSON_STRING:
        if (json_w_begin_value(w))
            json_w_put_valid(w, node->value.text, node->len);
        break;
    case JSON_ARRAY:
        json_w_arr(w);
        push(stack, node);
        break;
    case JSON_OBJECT:
        json_w_obj(w);
        push(stack, node);
        break;
    }
}

/* Goes on with the innermost container: its next item or its end. */
static void step(struct json_w *w, struct stack *stack)
{
    struct frame *top = &stack->frames[stack->n - 1];
    const struct json_node *item = json_at(top->node, top->next++);
    bool is_obj = top->node->type == JSON_OBJECT;
    if (item) {
        if (is_obj)
            json_w_keyn(w, item->key, item->key_len);
        begin(w, stack, item);
        return;
    }
    stack->n--;
    if (is_obj)
        json_w_obj_end(w);
    else
        json_w_arr_end(w);
}

void json_w_node(struct json_w *w, const struct json_node *node)
{
    struct stack stack = {.frames = NULL};
    begin(w, &stack, node);
    while (stack.n && w->rc == 0)
        step(w, &stack);
    free(stack.frames);
}
