/* SPDX-License-Identifier: MIT */
/* yaml/node_priv - what a node of a tree looks like. */
#ifndef YAML_NODE_PRIV_H
#define YAML_NODE_PRIV_H

#include <stdint.h>

#include "yaml/read.h"

struct yaml_node {
    const char *key; /* of a member, else NULL; a NUL stands behind it, none within */
    union {
        const char *text;              /* any scalar; a NUL stands behind it */
        const struct yaml_node *items; /* list, map: len nodes side by side */
    } value;
    uint32_t len; /* bytes of text, or number of items */
    enum yaml_type type;
    struct yaml_mark mark, key_mark;
};

#endif
