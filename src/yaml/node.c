/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "yaml/node_priv.h"
#include "yaml/read.h"
#include "yaml/schema_priv.h"

enum yaml_type yaml_type(const struct yaml_node *node)
{
    return node ? node->type : YAML_NONE;
}

const char *yaml_type_name(enum yaml_type type)
{
    static const char *const names[] = {
        [YAML_NONE] = "nothing", [YAML_NULL] = "null",   [YAML_BOOL] = "boolean",
        [YAML_INT] = "integer",  [YAML_FLOAT] = "float", [YAML_STRING] = "string",
        [YAML_LIST] = "list",    [YAML_MAP] = "map",
    };
    return names[type];
}

const char *yaml_type_phrase(enum yaml_type type)
{
    static const char *const phrases[] = {
        [YAML_NONE] = "nothing",   [YAML_NULL] = "null",     [YAML_BOOL] = "a boolean",
        [YAML_INT] = "an integer", [YAML_FLOAT] = "a float", [YAML_STRING] = "a string",
        [YAML_LIST] = "a list",    [YAML_MAP] = "a map",
    };
    return phrases[type];
}

struct yaml_mark yaml_mark(const struct yaml_node *node)
{
    return node ? node->mark : (struct yaml_mark){0};
}

struct yaml_mark yaml_key_mark(const struct yaml_node *node)
{
    return node ? node->key_mark : (struct yaml_mark){0};
}

int yaml_err(struct err *err, int code, const char *name, struct yaml_mark mark, const char *fmt,
             ...)
{
    char text[ERR_TEXT_SIZE];
    va_list args;
    va_start(args, fmt);
    if (vsnprintf(text, sizeof(text), fmt, args) < 0)
        text[0] = '\0';
    va_end(args);
    (void)err_set(err, code, "%s", text);
    return err_wrap(err, -code, "%s:%u:%u", name, mark.line, mark.column);
}

static bool is_scalar(const struct yaml_node *node)
{
    enum yaml_type type = yaml_type(node);
    return type != YAML_NONE && type != YAML_LIST && type != YAML_MAP;
}

const char *yaml_text(const struct yaml_node *node, size_t *ret_len)
{
    if (!is_scalar(node))
        return NULL;
    if (ret_len)
        *ret_len = node->len;
    return node->value.text;
}

const char *yaml_str(const struct yaml_node *node, size_t *ret_len)
{
    return yaml_type(node) == YAML_STRING ? yaml_text(node, ret_len) : NULL;
}

const char *yaml_cstr(const struct yaml_node *node)
{
    size_t len;
    const char *text = yaml_str(node, &len);
    return text && strlen(text) == len ? text : NULL;
}

int yaml_i64(const struct yaml_node *node, int64_t *ret)
{
    bool negative;
    uint64_t value;
    if (yaml_type(node) != YAML_INT || !yaml_schema_int(node->value.text, &negative, &value))
        return -ERR_INVALID;
    if (value > (uint64_t)INT64_MAX + negative)
        return -ERR_INVALID;
    *ret = (int64_t)(negative ? 0 - value : value);
    return 0;
}

int yaml_u64(const struct yaml_node *node, uint64_t *ret)
{
    bool negative;
    uint64_t value;
    if (yaml_type(node) != YAML_INT || !yaml_schema_int(node->value.text, &negative, &value))
        return -ERR_INVALID;
    if (negative && value)
        return -ERR_INVALID;
    *ret = value;
    return 0;
}

int yaml_double(const struct yaml_node *node, double *ret)
{
    if (yaml_type(node) != YAML_INT && yaml_type(node) != YAML_FLOAT)
        return -ERR_INVALID;
    *ret = yaml_schema_double(node->value.text);
    return 0;
}

int yaml_bool(const struct yaml_node *node, bool *ret)
{
    if (yaml_type(node) != YAML_BOOL)
        return -ERR_INVALID;
    *ret = yaml_schema_bool(node->value.text);
    return 0;
}

size_t yaml_len(const struct yaml_node *node)
{
    enum yaml_type type = yaml_type(node);
    return type == YAML_LIST || type == YAML_MAP ? node->len : 0;
}

const struct yaml_node *yaml_at(const struct yaml_node *node, size_t i)
{
    return i < yaml_len(node) ? &node->value.items[i] : NULL;
}

const struct yaml_node *yaml_next(const struct yaml_node *node, const struct yaml_node *item)
{
    return yaml_at(node, (size_t)(item - node->value.items) + 1);
}

const char *yaml_key(const struct yaml_node *node)
{
    return node ? node->key : NULL;
}

const struct yaml_node *yaml_get(const struct yaml_node *node, const char *key)
{
    if (yaml_type(node) != YAML_MAP)
        return NULL;
    for (size_t i = 0; i < node->len; i++)
        if (strcmp(node->value.items[i].key, key) == 0)
            return &node->value.items[i];
    return NULL;
}
