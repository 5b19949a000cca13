/* SPDX-License-Identifier: MIT */
/* json/node_priv - what a node of a tree looks like. */
#ifndef JSON_NODE_PRIV_H
#define JSON_NODE_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#include "json/read.h"

struct json_node {
    const char *key; /* of a member, else NULL; a NUL stands behind it */
    uint32_t key_len;
    uint32_t len; /* bytes of text, or number of items */
    union {
        const char *text;              /* string, number; a NUL stands behind it */
        const struct json_node *items; /* array, object: len nodes side by side */
        bool truth;
        uint64_t outer; /* while it is being read: see build.c */
    } value;
    enum json_type type;
};

#endif
