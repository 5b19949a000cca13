/* SPDX-License-Identifier: MIT */
/*
 * Reads any bytes. What is accepted must keep every promise of yaml/read.h: limits, valid
 * texts, keys that come once, places inside the text, scalars that read as their types.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "yaml/read.h"

enum { MAX_NODES = 2000, MAX_DEPTH = 20 };

static size_t n_nodes;
static size_t n_lines;

static void require(bool truth)
{
    if (!truth)
        abort();
}

static void check_mark(struct yaml_mark mark)
{
    require(mark.line >= 1 && mark.line <= n_lines && mark.column >= 1);
}

static void check_scalar(const struct yaml_node *node)
{
    size_t len;
    const char *text = yaml_text(node, &len);
    require(text && text[len] == '\0' && utf8_is_valid(text, len));
    int64_t i = 0;
    uint64_t u = 0;
    double d = 0;
    bool b, is_i = yaml_i64(node, &i) == 0, is_u = yaml_u64(node, &u) == 0;
    bool is_d = yaml_double(node, &d) == 0;
    enum yaml_type type = yaml_type(node);
    require(!is_i || i < 0 || (is_u && u == (uint64_t)i));
    require(!(is_i || is_u) || type == YAML_INT);
    require(is_d == (type == YAML_INT || type == YAML_FLOAT));
    require(!is_i || !is_d || (i > 0) == (d > 0));
    require((yaml_bool(node, &b) == 0) == (type == YAML_BOOL));
    require((yaml_str(node, NULL) != NULL) == (type == YAML_STRING));
}

static void check_node(const struct yaml_node *node, unsigned depth)
{
    require(++n_nodes <= MAX_NODES && depth <= MAX_DEPTH);
    check_mark(yaml_mark(node));
    enum yaml_type type = yaml_type(node);
    if (type != YAML_LIST && type != YAML_MAP) {
        check_scalar(node);
        return;
    }
    require(depth < MAX_DEPTH && !yaml_text(node, NULL));
    YAML_FOREACH(item, node)
    {
        const char *key = yaml_key(item);
        require((key != NULL) == (type == YAML_MAP));
        if (key) {
            check_mark(yaml_key_mark(item));
            require(utf8_is_valid(key, strlen(key)) && yaml_get(node, key) == item);
        }
        check_node(item, depth + 1);
    }
}

/* As many as a reader of any habit could count. */
static size_t count_lines(const uint8_t *data, size_t size)
{
    size_t n = 2;
    for (size_t i = 0; i < size; i++)
        n += data[i] == '\n' || data[i] == '\r' || data[i] >= 0x80;
    return n;
}

static void parse(const struct yaml_input *input, bool all)
{
    static const struct yaml_limits limits = {.max_nodes = MAX_NODES, .max_depth = MAX_DEPTH};
    auto_arena struct arena arena;
    arena_init(&arena, 64 << 20);
    struct yaml_node *node = NULL;
    struct err err = {0};
    int rc = all ? yaml_parse_all(input, &limits, &arena, &node, &err)
                 : yaml_parse(input, &limits, &arena, &node, &err);
    require((rc == 0) == (node != NULL) && (rc == 0) == (err.code == 0));
    require(rc == 0 || rc == -ERR_SYNTAX || rc == -ERR_LIMIT);
    require(rc == 0 || (strncmp(err.text, "f:", 2) == 0 && strlen(err.text) > 8));
    n_nodes = 0;
    if (node && all)
        YAML_FOREACH(document, node)
    check_node(document, 0);
    else if (node) check_node(node, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yaml_input input = {"f", (const char *)data, size};
    n_lines = count_lines(data, size);
    parse(&input, false);
    parse(&input, true);
    return 0;
}
