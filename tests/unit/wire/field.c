/* SPDX-License-Identifier: MIT */
#include "wire/field.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "json/read.h"
#include "json/write.h"
#include "lib/test.h"
#include "wire/error.h"
#include "wire/frame.h"

static const struct json_node *parse(struct arena *arena, const char *text, size_t len)
{
    struct json_node *node;
    CHECK_INT(json_parse(text, len, NULL, arena, &node, NULL), 0);
    return node;
}

static void check_round(const char *bytes, size_t len, const char *json)
{
    auto_buf struct buf b = BUF_INIT(4096);
    struct json_w w;
    json_w_init(&w, &b);
    json_w_obj(&w);
    wire_field_put(&w, "data", bytes, len);
    json_w_obj_end(&w);
    CHECK_INT(json_w_finish(&w), 0);
    CHECK_STR(buf_cstr(&b), json);

    auto_arena struct arena arena;
    arena_init(&arena, 65536);
    const char *got;
    size_t got_len;
    const struct json_node *node = parse(&arena, b.data, b.len);
    CHECK_INT(wire_field_bytes(node, "data", &arena, &got, &got_len, NULL), 0);
    CHECK_MEM(got, got_len, bytes, len);
}

TEST(bytes_survive)
{
    check_round("", 0, "{\"data\":\"\"}");
    check_round("a\0b\n", 4, "{\"data\":\"a\\u0000b\\n\"}");
    check_round("\xff\xfe", 2, "{\"data64\":\"//4=\"}");
}

static void check_error(const char *json, const char *text)
{
    auto_arena struct arena arena;
    arena_init(&arena, 65536);
    const char *got;
    size_t len;
    struct err err = {0};
    const struct json_node *node = parse(&arena, json, strlen(json));
    CHECK_INT(wire_field_bytes(node, "data", &arena, &got, &len, &err), -ERR_INVALID);
    CHECK_STR(err.text, text);
}

TEST(a_bad_field_is_named)
{
    check_error("{\"data\":1}", "field 'data': expected a string, not number");
    check_error("{\"data64\":null}", "field 'data64': expected a string, not null");
    check_error("{\"data64\":\"?\"}", "field 'data64': not base64");
    check_error("{\"data\":\"\",\"data64\":\"\"}",
                "fields 'data' and 'data64': expected one of them");
}

TEST(no_field_is_no_bytes)
{
    auto_arena struct arena arena;
    arena_init(&arena, 65536);
    const char *got = "x";
    size_t len;
    CHECK_INT(wire_field_bytes(parse(&arena, "{}", 2), "data", &arena, &got, &len, NULL), 0);
    CHECK(got == NULL);
}

TEST(an_error_keeps_its_code)
{
    struct err err = {0};
    err_set(&err, ERR_BUSY, "session '%s' is busy", "a");
    auto_buf struct buf b = BUF_INIT(4096);
    CHECK_INT(wire_put_error(&b, 4, &err), 0);

    auto_arena struct arena arena;
    arena_init(&arena, 65536);
    const struct json_node *node =
        parse(&arena, b.data + WIRE_HEADER_SIZE, b.len - WIRE_HEADER_SIZE);
    struct err got = {0};
    CHECK_INT(wire_read_error(json_get(node, "error"), &got), -ERR_BUSY);
    CHECK_STR(got.text, "session 'a' is busy");
    CHECK_INT(wire_read_error(NULL, &got), -ERR_INTERNAL);
}
