/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/num.h"
#include "json/node_priv.h"
#include "json/read.h"

enum json_type json_type(const struct json_node *node)
{
    return node ? node->type : JSON_NONE;
}

const char *json_type_name(enum json_type type)
{
    static const char *const names[] = {
        [JSON_NONE] = "nothing",  [JSON_NULL] = "null",     [JSON_BOOL] = "boolean",
        [JSON_NUMBER] = "number", [JSON_STRING] = "string", [JSON_ARRAY] = "array",
        [JSON_OBJECT] = "object",
    };
    return names[type];
}

/* The text of a node of this type. */
static const char *text_of(const struct json_node *node, enum json_type type, size_t *ret_len)
{
    if (json_type(node) != type)
        return NULL;
    if (ret_len)
        *ret_len = node->len;
    return node->value.text;
}

const char *json_str(const struct json_node *node, size_t *ret_len)
{
    return text_of(node, JSON_STRING, ret_len);
}

const char *json_cstr(const struct json_node *node)
{
    size_t len;
    const char *text = json_str(node, &len);
    return text && strlen(text) == len ? text : NULL;
}

const char *json_number_text(const struct json_node *node, size_t *ret_len)
{
    return text_of(node, JSON_NUMBER, ret_len);
}

size_t json_len(const struct json_node *node)
{
    enum json_type type = json_type(node);
    return type == JSON_ARRAY || type == JSON_OBJECT ? node->len : 0;
}

const struct json_node *json_at(const struct json_node *node, size_t i)
{
    return i < json_len(node) ? &node->value.items[i] : NULL;
}

const struct json_node *json_next(const struct json_node *node, const struct json_node *item)
{
    return json_at(node, (size_t)(item - node->value.items) + 1);
}

const char *json_key(const struct json_node *node, size_t *ret_len)
{
    if (!node || !node->key)
        return NULL;
    if (ret_len)
        *ret_len = node->key_len;
    return node->key;
}

static const struct json_node *get_n(const struct json_node *node, const char *key, size_t len)
{
    if (json_type(node) != JSON_OBJECT)
        return NULL;
    for (size_t i = 0; i < node->len; i++) {
        const struct json_node *member = &node->value.items[i];
        if (member->key_len == len && memcmp(member->key, key, len) == 0)
            return member;
    }
    return NULL;
}

const struct json_node *json_get(const struct json_node *node, const char *key)
{
    return get_n(node, key, strlen(key));
}

/* The item whose number the len digits at text are. */
static const struct json_node *at_text(const struct json_node *node, const char *text, size_t len)
{
    char digits[24];
    uint64_t i;
    if (len >= sizeof(digits))
        return NULL;
    memcpy(digits, text, len);
    digits[len] = '\0';
    return num_parse_u64(digits, SIZE_MAX, &i) == 0 ? json_at(node, (size_t)i) : NULL;
}

const struct json_node *json_path_get(const struct json_node *node, const char *path)
{
    while (node) {
        size_t len = strcspn(path, ".");
        node = node->type == JSON_ARRAY ? at_text(node, path, len) : get_n(node, path, len);
        if (path[len] == '\0')
            break;
        path += len + 1;
    }
    return node;
}
