/* SPDX-License-Identifier: MIT */
#include "json/write.h"

#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/err.h"
#include "json/read.h"
#include "lib/test.h"

/* What one call writes. */
#define WRITTEN(call, want)                                                                        \
    do {                                                                                           \
        auto_buf struct buf b = BUF_INIT(4096);                                                    \
        struct json_w w;                                                                           \
        json_w_init(&w, &b);                                                                       \
        call;                                                                                      \
        CHECK_INT(json_w_finish(&w), 0);                                                           \
        CHECK_STR(buf_cstr(&b), want);                                                             \
    } while (0)

TEST(scalars)
{
    WRITTEN(json_w_null(&w), "null");
    WRITTEN(json_w_bool(&w, true), "true");
    WRITTEN(json_w_bool(&w, false), "false");
    WRITTEN(json_w_int(&w, 0), "0");
    WRITTEN(json_w_int(&w, -5), "-5");
    WRITTEN(json_w_int(&w, INT64_MAX), "9223372036854775807");
    WRITTEN(json_w_int(&w, INT64_MIN), "-9223372036854775808");
    WRITTEN(json_w_uint(&w, UINT64_MAX), "18446744073709551615");
    WRITTEN(json_w_str(&w, "x"), "\"x\"");
    WRITTEN(json_w_str(&w, ""), "\"\"");
    WRITTEN(json_w_str(&w, NULL), "null");
    WRITTEN(json_w_raw(&w, "[1, 2]", 6), "[1, 2]");
    WRITTEN(json_w_double(&w, 1.5), "1.5");
    WRITTEN(json_w_double(&w, (double)NAN), "null");
    WRITTEN(json_w_double(&w, (double)INFINITY), "null");
    WRITTEN(json_w_double(&w, -(double)INFINITY), "null");
}

static void write_nested(struct json_w *w)
{
    json_w_obj(w);
    json_w_karr(w, "list");
    json_w_int(w, 1);
    json_w_arr(w);
    json_w_arr_end(w);
    json_w_obj(w);
    json_w_obj_end(w);
    json_w_str(w, "two");
    json_w_arr_end(w);
    json_w_kobj(w, "inner");
    json_w_kstr(w, "s", "x");
    json_w_kstr(w, "none", NULL);
    json_w_kstrn(w, "n", "abcdef", 3);
    json_w_kint(w, "i", -1);
    json_w_kuint(w, "u", 1);
    json_w_kdouble(w, "d", 0.25);
    json_w_kbool(w, "b", true);
    json_w_knull(w, "z");
    json_w_obj_end(w);
    json_w_key(w, "raw");
    json_w_raw(w, "{}", 2);
    json_w_obj_end(w);
}

TEST(containers)
{
    WRITTEN(write_nested(&w), "{\"list\":[1,[],{},\"two\"],\"inner\":{\"s\":\"x\",\"none\":null,"
                              "\"n\":\"abc\",\"i\":-1,\"u\":1,\"d\":0.25,\"b\":true,\"z\":null},"
                              "\"raw\":{}}");
}

TEST(indented)
{
    WRITTEN((json_w_set_indent(&w, 2), write_nested(&w)), "{\n"
                                                          "  \"list\": [\n"
                                                          "    1,\n"
                                                          "    [],\n"
                                                          "    {},\n"
                                                          "    \"two\"\n"
                                                          "  ],\n"
                                                          "  \"inner\": {\n"
                                                          "    \"s\": \"x\",\n"
                                                          "    \"none\": null,\n"
                                                          "    \"n\": \"abc\",\n"
                                                          "    \"i\": -1,\n"
                                                          "    \"u\": 1,\n"
                                                          "    \"d\": 0.25,\n"
                                                          "    \"b\": true,\n"
                                                          "    \"z\": null\n"
                                                          "  },\n"
                                                          "  \"raw\": {}\n"
                                                          "}");
}

TEST(several_values)
{
    auto_buf struct buf b = BUF_INIT(100);
    struct json_w w;
    json_w_init(&w, &b);
    json_w_int(&w, 1);
    CHECK_INT(buf_append_byte(&b, '\n'), 0);
    json_w_arr(&w);
    json_w_arr_end(&w);
    CHECK_INT(json_w_finish(&w), 0);
    CHECK_STR(buf_cstr(&b), "1\n[]");
}

TEST(escapes)
{
    WRITTEN(json_w_str(&w, "\"\\/\b\f\n\r\t"), "\"\\\"\\\\/\\b\\f\\n\\r\\t\"");
    WRITTEN(json_w_strn(&w, "\0\x01\x1f\x7f", 4), "\"\\u0000\\u0001\\u001f\x7f\"");
    WRITTEN(json_w_str(&w, "\xE2\x82\xAC\xF0\x9F\x90\x9A"), "\"\xE2\x82\xAC\xF0\x9F\x90\x9A\"");
    WRITTEN((json_w_obj(&w), json_w_kint(&w, "a\"\n", 1), json_w_obj_end(&w)), "{\"a\\\"\\n\":1}");
}

/* Copies a word without its NUL. */
static void put(char *at, const char *word)
{
    while (*word)
        *at++ = *word++;
}

TEST(escape_at_every_distance)
{
    for (size_t len = 1; len < 70; len++) {
        for (size_t at = 0; at < len; at++) {
            char text[70], want[100];
            memset(text, 'a', len);
            text[at] = '"';
            memset(want, 'a', sizeof(want));
            want[0] = '"';
            put(want + 1 + at, "\\\"");
            want[2 + len] = '"';
            want[3 + len] = '\0';
            WRITTEN(json_w_strn(&w, text, len), want);
        }
    }
}

TEST(every_byte_reads_back)
{
    auto_arena struct arena arena;
    arena_init(&arena, 1 << 20);
    for (int c = 0; c < 0x80; c++) {
        char text[20];
        memset(text, c, sizeof(text));
        auto_buf struct buf b = BUF_INIT(4096);
        struct json_w w;
        json_w_init(&w, &b);
        json_w_strn(&w, text, sizeof(text));
        CHECK_INT(json_w_finish(&w), 0);
        struct json_node *node;
        CHECK_INT(json_parse(b.data, b.len, NULL, &arena, &node, NULL), 0);
        size_t len;
        const char *back = json_str(node, &len);
        CHECK_MEM(back, len, text, sizeof(text));
    }
}

TEST(invalid_utf8_is_refused)
{
    auto_buf struct buf b = BUF_INIT(100);
    struct json_w w;
    json_w_init(&w, &b);
    json_w_arr(&w);
    json_w_strn(&w, "a\xff", 2);
    json_w_int(&w, 1);
    CHECK_INT(json_w_finish(&w), -ERR_INVALID);

    json_w_init(&w, &b);
    json_w_obj(&w);
    json_w_key(&w, "\xc3");
    json_w_int(&w, 1);
    json_w_obj_end(&w);
    CHECK_INT(json_w_finish(&w), -ERR_INVALID);
}

TEST(lossy_replaces)
{
    WRITTEN(json_w_str_lossy(&w, "plain", 5), "\"plain\"");
    WRITTEN(json_w_str_lossy(&w, "a\xff\xfe\"\xc3", 5),
            "\"a\xEF\xBF\xBD\xEF\xBF\xBD\\\"\xEF\xBF\xBD\"");
    WRITTEN(json_w_str_lossy(&w, "\xff", 1), "\"\xEF\xBF\xBD\"");
    WRITTEN(json_w_str_lossy(&w, "", 0), "\"\"");
}

TEST(bytes_as_text_or_base64)
{
    bool is_base64 = true;
    WRITTEN(json_w_bytes(&w, "te\0xt\n", 6, &is_base64), "\"te\\u0000xt\\n\"");
    CHECK(!is_base64);
    WRITTEN(json_w_bytes(&w, "\xff\xfe", 2, &is_base64), "\"//4=\"");
    CHECK(is_base64);
    WRITTEN(json_w_bytes(&w, NULL, 0, &is_base64), "\"\"");
    CHECK(!is_base64);
}

TEST(limit_sticks)
{
    for (size_t max = 0; max < 32; max++) {
        auto_buf struct buf b = BUF_INIT(max);
        struct json_w w;
        json_w_init(&w, &b);
        json_w_obj(&w);
        json_w_kstr(&w, "key", "value\n");
        json_w_karr(&w, "arr");
        json_w_int(&w, -12);
        json_w_arr_end(&w);
        json_w_obj_end(&w);
        CHECK_INT(json_w_finish(&w), max < 29 ? -ERR_LIMIT : 0);
        CHECK(b.len <= max);
    }
}

TEST(limit_in_each_kind_of_value)
{
    bool is_base64;
    struct json_w w;
    auto_buf struct buf b = BUF_INIT(2);
    json_w_init(&w, &b);
    json_w_bytes(&w, "\xff", 1, &is_base64);
    CHECK_INT(json_w_finish(&w), -ERR_LIMIT);
    buf_clear(&b);
    json_w_init(&w, &b);
    json_w_str_lossy(&w, "a\xff", 2);
    CHECK_INT(json_w_finish(&w), -ERR_LIMIT);
    buf_clear(&b);
    json_w_init(&w, &b);
    json_w_double(&w, 0.125);
    CHECK_INT(json_w_finish(&w), -ERR_LIMIT);
    buf_clear(&b);
    json_w_init(&w, &b);
    json_w_set_indent(&w, 8);
    json_w_arr(&w);
    json_w_int(&w, 1);
    json_w_arr_end(&w);
    CHECK_INT(json_w_finish(&w), -ERR_LIMIT);
}

TEST(depth_limit)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    struct json_w w;
    json_w_init(&w, &b);
    for (int i = 0; i < JSON_W_DEPTH_MAX; i++)
        json_w_arr(&w);
    CHECK_INT(w.rc, 0);
    for (int i = 0; i < JSON_W_DEPTH_MAX; i++)
        json_w_arr_end(&w);
    CHECK_INT(json_w_finish(&w), 0);
    for (int i = 0; i <= JSON_W_DEPTH_MAX; i++)
        json_w_arr(&w);
    CHECK_INT(json_w_finish(&w), -ERR_LIMIT);
}

static void check_tree(const char *text, unsigned indent, const char *want)
{
    auto_arena struct arena arena;
    arena_init(&arena, 1 << 20);
    struct json_node *node = NULL;
    CHECK_INT(json_parse(text, strlen(text), NULL, &arena, &node, NULL), 0);
    WRITTEN((json_w_set_indent(&w, indent), json_w_node(&w, node)), want);
}

TEST(trees_keep_their_numbers)
{
    check_tree(" { \"a\" : [ 1e400 , -0 , 9007199254740993 , 1.10 ] , \"b\\u0041\" : { } } ", 0,
               "{\"a\":[1e400,-0,9007199254740993,1.10],\"bA\":{}}");
    check_tree("[true,false,null,\"\\u0000x\",[[]],{\"\":{}}]", 0,
               "[true,false,null,\"\\u0000x\",[[]],{\"\":{}}]");
    check_tree("[{\"a\":[1]}]", 1, "[\n {\n  \"a\": [\n   1\n  ]\n }\n]");
    check_tree("12", 0, "12");
    WRITTEN(json_w_node(&w, NULL), "null");
}

TEST(tree_inside_of_what_is_written)
{
    auto_arena struct arena arena;
    arena_init(&arena, 1 << 20);
    struct json_node *node;
    CHECK_INT(json_parse("{\"x\":1}", 7, NULL, &arena, &node, NULL), 0);
    WRITTEN((json_w_obj(&w), json_w_key(&w, "params"), json_w_node(&w, node),
             json_w_kbool(&w, "ok", true), json_w_obj_end(&w)),
            "{\"params\":{\"x\":1},\"ok\":true}");
}

TEST(deep_tree_needs_no_stack)
{
    enum { DEPTH = 10000 };
    auto_arena struct arena arena;
    arena_init(&arena, 16 << 20);
    auto_buf struct buf text = BUF_INIT(1 << 20), out = BUF_INIT(1 << 20), few = BUF_INIT(100);
    for (int i = 0; i < DEPTH; i++)
        CHECK_INT(buf_append_str(&text, i % 2 ? "{\"k\":" : "["), 0);
    CHECK_INT(buf_append_byte(&text, '1'), 0);
    for (int i = DEPTH; i-- > 0;)
        CHECK_INT(buf_append_byte(&text, i % 2 ? '}' : ']'), 0);
    struct json_limits limits = {.max_depth = DEPTH};
    struct json_node *node;
    CHECK_INT(json_parse(text.data, text.len, &limits, &arena, &node, NULL), 0);
    struct json_w w;
    json_w_init(&w, &out);
    json_w_node(&w, node);
    CHECK_INT(json_w_finish(&w), 0);
    CHECK_MEM(out.data, out.len, text.data, text.len);
    json_w_init(&w, &few);
    json_w_node(&w, node);
    CHECK_INT(json_w_finish(&w), -ERR_LIMIT);
}

static void value_without_key(struct json_w *w)
{
    json_w_obj(w);
    json_w_int(w, 1);
}

static void key_in_array(struct json_w *w)
{
    json_w_arr(w);
    json_w_key(w, "x");
}

static void wrong_end(struct json_w *w)
{
    json_w_arr(w);
    json_w_obj_end(w);
}

static void end_too_many(struct json_w *w)
{
    json_w_arr_end(w);
}

static void key_without_value(struct json_w *w)
{
    json_w_obj(w);
    json_w_key(w, "x");
    json_w_obj_end(w);
}

static void two_keys(struct json_w *w)
{
    json_w_obj(w);
    json_w_key(w, "x");
    json_w_key(w, "y");
}

static void open_at_finish(struct json_w *w)
{
    json_w_arr(w);
    (void)json_w_finish(w);
}

TEST(calls_out_of_order_assert)
{
    static void (*const calls[])(struct json_w *) = {
        value_without_key, key_in_array, wrong_end,     end_too_many,
        key_without_value, two_keys,     open_at_finish};
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        pid_t pid = fork();
        if (pid == 0) {
            auto_buf struct buf b = BUF_INIT(100);
            struct json_w w;
            json_w_init(&w, &b);
            (void)close(STDERR_FILENO);
            calls[i](&w);
            _exit(0);
        }
        int status;
        CHECK_INT(waitpid(pid, &status, 0), pid);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
}
