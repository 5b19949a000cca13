/* SPDX-License-Identifier: MIT */
#include "json/read.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "lib/test.h"

static struct arena test_arena;

/* The tree of a text that must be good; lives as long as the test. */
static const struct json_node *parse(const char *text)
{
    if (!test_arena.max)
        arena_init(&test_arena, 64 << 20);
    struct json_node *node = NULL;
    struct err err = {0};
    if (json_parse(text, strlen(text), NULL, &test_arena, &node, &err) != 0)
        FAIL("%s", err.text);
    return node;
}

TEST(types_and_texts)
{
    const struct json_node *root =
        parse("{\"n\":null,\"b\":true,\"i\":12,\"s\":\"x\\u0000y\",\"a\":[1,2],\"o\":{\"k\":1}}");
    CHECK_INT(json_type(root), JSON_OBJECT);
    CHECK_INT(json_type(json_get(root, "n")), JSON_NULL);
    CHECK_INT(json_type(json_get(root, "b")), JSON_BOOL);
    CHECK_INT(json_type(json_get(root, "i")), JSON_NUMBER);
    CHECK_INT(json_type(json_get(root, "s")), JSON_STRING);
    CHECK_INT(json_type(json_get(root, "a")), JSON_ARRAY);
    CHECK_INT(json_type(json_get(root, "none")), JSON_NONE);
    CHECK_STR(json_type_name(JSON_OBJECT), "object");
    CHECK_STR(json_type_name(json_type(NULL)), "nothing");

    size_t len = 0;
    CHECK_MEM(json_str(json_get(root, "s"), &len), 4, "x\0y\0", 4);
    CHECK_INT(len, 3);
    CHECK(json_cstr(json_get(root, "s")) == NULL);
    CHECK(json_str(json_get(root, "i"), &len) == NULL);
    CHECK_STR(json_number_text(json_get(root, "i"), &len), "12");
    CHECK_INT(len, 2);
    CHECK(json_number_text(json_get(root, "s"), NULL) == NULL);
    CHECK_STR(json_cstr(parse("\"\"")), "");
    bool truth = false;
    CHECK_INT(json_bool(json_get(root, "b"), &truth), 0);
    CHECK(truth);
    CHECK_INT(json_bool(json_get(root, "i"), &truth), -ERR_INVALID);
}

TEST(null_and_wrong_types_everywhere)
{
    const struct json_node *number = parse("1");
    int64_t i = 7;
    uint64_t u;
    double d;
    bool b;
    size_t len;
    CHECK(json_get(NULL, "a") == NULL && json_get(number, "a") == NULL);
    CHECK(json_at(NULL, 0) == NULL && json_at(number, 0) == NULL);
    CHECK(json_str(NULL, &len) == NULL && json_cstr(NULL) == NULL && json_cstr(number) == NULL);
    CHECK(json_key(NULL, &len) == NULL && json_key(number, &len) == NULL);
    CHECK(json_number_text(NULL, &len) == NULL);
    CHECK(json_path_get(NULL, "a.b") == NULL && json_path_get(number, "a") == NULL);
    CHECK_INT(json_len(NULL) + json_len(number), 0);
    CHECK_INT(json_i64(NULL, &i), -ERR_INVALID);
    CHECK_INT(json_u64(NULL, &u), -ERR_INVALID);
    CHECK_INT(json_double(NULL, &d), -ERR_INVALID);
    CHECK_INT(json_bool(NULL, &b), -ERR_INVALID);
    CHECK_INT(json_i64(parse("\"1\""), &i), -ERR_INVALID);
    CHECK_INT(i, 7);
    JSON_FOREACH(item, NULL)
    FAIL("an item of nothing");
    JSON_FOREACH(item, number)
    FAIL("an item of a number");
}

TEST(walk_arrays_and_objects)
{
    int64_t sum = 0, value;
    JSON_FOREACH(item, parse("[1,20,300]"))
    {
        CHECK_INT(json_i64(item, &value), 0);
        CHECK(json_key(item, NULL) == NULL);
        sum += value;
    }
    CHECK_INT(sum, 321);

    const struct json_node *obj = parse("{\"z\":1,\"a\":2,\"m\\u0000n\":3}");
    auto_buf struct buf keys = BUF_INIT(100);
    JSON_FOREACH(item, obj)
    {
        size_t len;
        const char *key = json_key(item, &len);
        CHECK_INT(key[len], 0);
        CHECK_INT(buf_append(&keys, key, len), 0);
    }
    CHECK_MEM(keys.data, keys.len, "zam\0n", 5);
    CHECK_INT(json_len(obj), 3);
    CHECK_STR(json_key(json_at(obj, 1), NULL), "a");
    CHECK(json_at(obj, 3) == NULL);
    CHECK(json_at(parse("[]"), 0) == NULL);
    CHECK_INT(json_len(parse("{}")), 0);
}

TEST(keys_compare_whole)
{
    const struct json_node *obj = parse("{\"ab\":1,\"a\":2,\"\":3,\"a\\u0000\":4}");
    int64_t value;
    CHECK(json_i64(json_get(obj, "a"), &value) == 0 && value == 2);
    CHECK(json_i64(json_get(obj, ""), &value) == 0 && value == 3);
    CHECK(json_get(obj, "abc") == NULL && json_get(obj, "b") == NULL);
}

TEST(paths)
{
    const struct json_node *root =
        parse("{\"a\":{\"b\":[10,{\"c\":\"x\"}],\"\":5},\"0\":\"zero\"}");
    int64_t value;
    CHECK(json_i64(json_path_get(root, "a.b.0"), &value) == 0 && value == 10);
    CHECK_STR(json_cstr(json_path_get(root, "a.b.1.c")), "x");
    CHECK_STR(json_cstr(json_path_get(root, "0")), "zero");
    CHECK(json_i64(json_path_get(root, "a."), &value) == 0 && value == 5);
    CHECK(json_path_get(root, "a.b.2") == NULL);
    CHECK(json_path_get(root, "a.b.-1") == NULL);
    CHECK(json_path_get(root, "a.b.x") == NULL);
    CHECK(json_path_get(root, "a.b.") == NULL);
    CHECK(json_path_get(root, "a.b.99999999999999999999999999") == NULL);
    CHECK(json_path_get(root, "a.x.y") == NULL);
    CHECK(json_path_get(root, "") == NULL);
    CHECK(json_path_get(root, "a.b.0.z") == NULL);
}

TEST(duplicate_keys_last_wins)
{
    const struct json_node *obj = parse("{\"a\":1,\"b\":2,\"a\":[3],\"c\":4,\"b\":{\"a\":5}}");
    CHECK_INT(json_len(obj), 3);
    CHECK_STR(json_key(json_at(obj, 0), NULL), "a");
    CHECK_INT(json_type(json_at(obj, 0)), JSON_ARRAY);
    CHECK_STR(json_key(json_at(obj, 1), NULL), "b");
    CHECK_INT(json_len(json_at(obj, 1)), 1);
    CHECK_STR(json_key(json_at(obj, 2), NULL), "c");
}

TEST(duplicate_keys_refused_on_request)
{
    struct json_limits limits = {.dup = JSON_DUP_ERROR};
    auto_arena struct arena arena;
    arena_init(&arena, 4096);
    struct json_node *node = NULL;
    struct err err;
    CHECK_INT(json_parse("[{\"a\":1,\n\"a\":2}]", 16, &limits, &arena, &node, &err), -ERR_SYNTAX);
    CHECK_STR(err.text, "2:7: the object that ends here has the key 'a' twice");
    CHECK(node == NULL);
    CHECK_INT(json_parse("{\"a\":{\"a\":1}}", 13, &limits, &arena, &node, &err), 0);
    CHECK_INT(json_parse("{\"a\":1,\"\\u0061\":1}", 18, &limits, &arena, &node, &err), -ERR_SYNTAX);
}

/* Objects on both sides of where a table takes over from comparing each with each. */
TEST(duplicate_keys_among_many)
{
    for (int n = 2; n < 3000; n = n < 40 ? n + 1 : n * 3) {
        auto_buf struct buf b = BUF_INIT(1 << 20);
        (void)buf_append_byte(&b, '{');
        for (int i = 0; i < n; i++)
            CHECK_INT(buf_printf(&b, "\"k%d\":%d,", i, i), 0);
        CHECK_INT(buf_printf(&b, "\"k%d\":true}", n / 2), 0);
        const struct json_node *obj = parse(buf_cstr(&b));
        CHECK_INT(json_len(obj), n);
        CHECK_INT(json_type(json_at(obj, (size_t)n / 2)), JSON_BOOL);
        CHECK_INT(json_type(json_at(obj, (size_t)n - 1)), n == 2 ? JSON_BOOL : JSON_NUMBER);

        struct json_limits limits = {.dup = JSON_DUP_ERROR};
        struct json_node *node;
        CHECK_INT(json_parse(b.data, b.len, &limits, &test_arena, &node, NULL), -ERR_SYNTAX);
    }
}

TEST(numbers_keep_their_text)
{
    static const char *const texts[] = {"9007199254740993",
                                        "1e400",
                                        "-0",
                                        "1.10",
                                        "1E+2",
                                        "0.1e-7",
                                        "123456789012345678901234567890.123456789012345678901"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        CHECK_STR(json_number_text(parse(texts[i]), NULL), texts[i]);
}

TEST(integers)
{
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {
        {"0",                               0               },
        {"-0",                              0               },
        {"-0.0e5",                          0               },
        {"0e99999999999999999999",          0               },
        {"12",                              12              },
        {"-12",                             -12             },
        {"1.0",                             1               },
        {"1e3",                             1000            },
        {"1.5e1",                           15              },
        {"1500e-2",                         15              },
        {"120.00",                          120             },
        {"100000000000000000000000e-22",    10              },
        {"9007199254740993",                9007199254740993},
        {"9223372036854775807",             INT64_MAX       },
        {"-9223372036854775808",            INT64_MIN       },
        {"9223372036854775807.000",         INT64_MAX       },
        {"-922337203685477580800e-2",       INT64_MIN       },
        {"0.00000000000000000000000001e26", 1               },
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        int64_t value = -77;
        CHECK_INT(json_i64(parse(good[i].text), &value), 0);
        CHECK_INT(value, good[i].value);
    }
    static const char *const bad[] = {"0.5",
                                      "1e-1",
                                      "1.0000001",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "1e19",
                                      "1e400",
                                      "1e-400",
                                      "18446744073709551616",
                                      "1e99999999999999999999",
                                      "123456789012345678901234567890",
                                      "1.23456789012345678901234567890e5"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int64_t value = -77;
        if (json_i64(parse(bad[i]), &value) != -ERR_INVALID)
            FAIL("%s is %ld", bad[i], (long)value);
        CHECK_INT(value, -77);
    }
}

TEST(unsigned_integers)
{
    uint64_t value;
    CHECK(json_u64(parse("18446744073709551615"), &value) == 0 && value == UINT64_MAX);
    CHECK(json_u64(parse("-0"), &value) == 0 && value == 0);
    CHECK(json_u64(parse("1e19"), &value) == 0 && value == 10000000000000000000U);
    CHECK_INT(json_u64(parse("-1"), &value), -ERR_INVALID);
    CHECK_INT(json_u64(parse("18446744073709551616"), &value), -ERR_INVALID);
    CHECK_INT(json_u64(parse("2e19"), &value), -ERR_INVALID);
    CHECK_INT(json_u64(parse("1.5"), &value), -ERR_INVALID);
}

TEST(doubles)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {
        {"0",                                            0                      },
        {"1.5",                                          1.5                    },
        {"-0.1",                                         -0.1                   },
        {"1e308",                                        1e308                  },
        {"1e22",                                         1e22                   },
        {"1e23",                                         1e23                   },
        {"123456789012345678",                           123456789012345678.0   },
        {"9007199254740993",                             9007199254740992.0     },
        {"1e-400",                                       0                      },
        {"5e-324",                                       5e-324                 },
        {"2.2250738585072011e-308",                      2.2250738585072011e-308},
        {"0.30000000000000004",                          0.30000000000000004    },
        {"1.7976931348623157e308",                       1.7976931348623157e308 },
        {"1000000000000000000000000000000000000000e-39", 1                      },
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        double value = -77;
        CHECK_INT(json_double(parse(good[i].text), &value), 0);
        CHECK(value == good[i].value);
    }
    double value = 1;
    CHECK(json_double(parse("-0"), &value) == 0 && signbit(value));
    CHECK_INT(json_double(parse("1e400"), &value), -ERR_INVALID);
    CHECK_INT(json_double(parse("-1e999999999999"), &value), -ERR_INVALID);
    CHECK_INT(json_double(parse("\"1\""), &value), -ERR_INVALID);
}

TEST(doubles_in_any_locale)
{
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        SKIP("no locale with a decimal comma");
    double value;
    CHECK(json_double(parse("0.30000000000000004"), &value) == 0 && value == 0.1 + 0.2);
}

TEST(several_values)
{
    static const char text[] = "{\"a\":1}\n{\"a\":2}\n\n[3]";
    struct json_source source = {.text = text, .len = strlen(text)};
    auto_arena struct arena arena;
    arena_init(&arena, 1 << 16);
    struct json_node *node = NULL;
    for (int i = 1; i <= 3; i++) {
        int64_t value;
        CHECK_INT(json_parse_next(&source, NULL, &arena, &node, NULL), 1);
        CHECK_INT(json_i64(i < 3 ? json_get(node, "a") : json_at(node, 0), &value), 0);
        CHECK_INT(value, i);
    }
    struct json_node *last = node;
    CHECK_INT(json_parse_next(&source, NULL, &arena, &node, NULL), 0);
    CHECK(node == last);
}

/* The arena's limit at every size up to the one that is enough. */
TEST(arena_limit)
{
    static const char text[] = "{\"key\":[1,2,\"three\",{\"k\":null}],\"k2\":\"a\\nb\"}";
    size_t enough = 0;
    for (size_t max = 0; !enough; max += 8) {
        auto_arena struct arena arena;
        arena_init(&arena, max);
        struct json_node *node = NULL;
        struct err err = {0};
        int rc = json_parse(text, strlen(text), NULL, &arena, &node, &err);
        if (rc == 0)
            enough = max;
        else
            CHECK(rc == -ERR_LIMIT && node == NULL && strstr(err.text, "more memory than allowed"));
    }
    CHECK(enough < 1024);
}

TEST(small_text_cannot_take_much_memory)
{
    enum { N = 200000 };
    auto_buf struct buf b = BUF_INIT(1 << 20);
    CHECK_INT(buf_append_byte(&b, '['), 0);
    for (int i = 0; i < N; i++)
        CHECK_INT(buf_append_str(&b, "[],"), 0);
    CHECK_INT(buf_append_str(&b, "[]]"), 0);
    auto_arena struct arena arena;
    arena_init(&arena, 1 << 20);
    struct json_node *node;
    CHECK_INT(json_parse(b.data, b.len, NULL, &arena, &node, NULL), -ERR_LIMIT);
    arena_done(&arena);
    arena_init(&arena, 16 << 20);
    CHECK_INT(json_parse(b.data, b.len, NULL, &arena, &node, NULL), 0);
    CHECK_INT(json_len(node), N + 1);
}

TEST(long_strings_with_escapes_far_apart)
{
    auto_buf struct buf text = BUF_INIT(1 << 20), want = BUF_INIT(1 << 20);
    CHECK_INT(buf_append_byte(&text, '"'), 0);
    for (int i = 0; i < 300; i++) {
        for (int k = 0; k < i; k++) {
            CHECK_INT(buf_append_byte(&text, 'x'), 0);
            CHECK_INT(buf_append_byte(&want, 'x'), 0);
        }
        CHECK_INT(buf_append_str(&text, "\\u20ac\xE2\x82\xAC\\\\"), 0);
        CHECK_INT(buf_append_str(&want, "\xE2\x82\xAC\xE2\x82\xAC\\"), 0);
    }
    CHECK_INT(buf_append_byte(&text, '"'), 0);
    size_t len;
    const char *got = json_str(parse(buf_cstr(&text)), &len);
    CHECK_MEM(got, len, want.data, want.len);
}
