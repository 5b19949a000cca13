/* SPDX-License-Identifier: MIT */
/* yaml/compose_priv - from the events of libyaml to a tree. */
#ifndef YAML_COMPOSE_PRIV_H
#define YAML_COMPOSE_PRIV_H

#include <stdbool.h>
#include <yaml.h>

#include "base/map.h"
#include "yaml/node_priv.h"

struct anchor;

/* An open list or map. */
struct frame {
    struct yaml_node node;
    size_t first; /* of its items on the stack */
    size_t nodes; /* counted before it */
    unsigned height;
    struct anchor *anchor; /* its name, or NULL */
    const char *key;       /* of a map: the one that waits for its value, or NULL */
    struct yaml_mark key_mark;
};

/* The caller sets what stands before the blank line. */
struct composer {
    const char *name;
    struct arena *arena;
    struct err *err;
    unsigned max_depth;
    size_t max_nodes;
    bool one; /* document, not any number */

    struct yaml_node *stack;
    size_t n, cap;
    struct frame frames[YAML_DEPTH_MAX];
    unsigned depth;
    struct map anchors; /* struct anchor in the arena */
    size_t nodes;
};

/* Takes the next event. */
int compose_event(struct composer *c, const yaml_event_t *event);

/* After the last event: the tree. */
int compose_end(struct composer *c, struct yaml_node **ret);

void compose_done(struct composer *c);

#endif
