/* SPDX-License-Identifier: MIT */
/*
 * Reads any bytes. What is accepted must be the same after it was written and read
 * again, and its numbers must survive as doubles and integers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "json/read.h"
#include "json/write.h"

static void require(bool truth)
{
    if (!truth)
        abort();
}

static void check_double(double value)
{
    char text[JSON_DOUBLE_SIZE];
    size_t len = json_format_double(value, text);
    require(len < sizeof(text) && strlen(text) == len && strtod(text, NULL) == value);
}

static void check_number(const struct json_node *node)
{
    double real;
    int64_t whole;
    uint64_t natural;
    if (json_double(node, &real) == 0) {
        require(real == strtod(json_number_text(node, NULL), NULL));
        check_double(real);
    }
    bool is_whole = json_i64(node, &whole) == 0;
    bool is_natural = json_u64(node, &natural) == 0;
    require(!is_whole || whole < 0 || (is_natural && natural == (uint64_t)whole));
}

static void check_node(const struct json_node *node)
{
    size_t len;
    const char *text = json_str(node, &len);
    require(!text || (utf8_is_valid(text, len) && text[len] == '\0'));
    if (json_type(node) == JSON_NUMBER)
        check_number(node);
    JSON_FOREACH(item, node)
    {
        const char *key = json_key(item, &len);
        require((key != NULL) == (json_type(node) == JSON_OBJECT));
        require(!key || (key[len] == '\0' && utf8_is_valid(key, len)));
        require(!key || strlen(key) != len || json_get(node, key) == item);
        check_node(item); /* as deep as max_depth */
    }
}

static void write_tree(const struct json_node *node, unsigned indent, struct buf *ret)
{
    struct json_w w;
    json_w_init(&w, ret);
    json_w_set_indent(&w, indent);
    json_w_node(&w, node);
    require(json_w_finish(&w) == 0);
}

/* Written on one line, then read and written with blanks, then read once more. */
static void check_round(const struct json_node *node, struct arena *arena)
{
    static const struct json_limits limits = {.max_depth = 200, .dup = JSON_DUP_ERROR};
    auto_buf struct buf once = BUF_INIT(64 << 20), wide = BUF_INIT(64 << 20);
    auto_buf struct buf twice = BUF_INIT(64 << 20);
    struct json_node *again;
    write_tree(node, 0, &once);
    require(json_parse(once.data, once.len, &limits, arena, &again, NULL) == 0);
    write_tree(again, 3, &wide);
    require(json_parse(wide.data, wide.len, &limits, arena, &again, NULL) == 0);
    write_tree(again, 0, &twice);
    require(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
}

static void read_several(const char *text, size_t len)
{
    auto_arena struct arena arena;
    arena_init(&arena, 1 << 20);
    struct json_limits limits = {.surrogate = JSON_SURROGATE_REPLACE};
    struct json_source source = {.text = text, .len = len};
    struct json_node *node;
    size_t before = 0;
    while (json_parse_next(&source, &limits, &arena, &node, NULL) == 1) {
        require(source.pos > before && source.pos <= len);
        before = source.pos;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena struct arena arena;
    arena_init(&arena, 64 << 20);
    struct json_limits limits = {.max_depth = 200};
    struct json_node *node = NULL;
    struct err err = {0};
    const char *text = (const char *)data;
    int rc = json_parse(text, size, &limits, &arena, &node, &err);
    require((rc == 0) == (node != NULL) && (rc == 0) == (err.code == 0));
    require(rc == 0 || (strlen(err.text) > 5 && utf8_is_valid(err.text, strlen(err.text))));
    if (node) {
        check_node(node);
        check_round(node, &arena);
    }
    read_several(text, size);
    if (size >= sizeof(double)) {
        double value;
        memcpy(&value, data, sizeof(value));
        if (value - value == 0) /* finite */
            check_double(value);
    }
    return 0;
}
