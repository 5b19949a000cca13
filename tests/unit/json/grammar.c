/* SPDX-License-Identifier: MIT */
/* What is JSON and what is not, form by form. */
#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "json/read.h"
#include "json/write.h"
#include "lib/test.h"

struct text {
    const char *bytes;
    size_t len;
};

#define T(literal)                                                                                 \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

static const struct text accepted[] = {
    /* white space */
    T("[]"),
    T(" [ ] "),
    T("\t\n\r []\r\n"),
    T("[1\n]"),
    T("{ }"),
    T("{\t\"a\"\n:\r1 }"),
    /* any value at the top */
    T("null"),
    T("true"),
    T("false"),
    T("0"),
    T("\"\""),
    T("-1"),
    T(" 42 "),
    /* numbers */
    T("[-0]"),
    T("[0]"),
    T("[0.0]"),
    T("[-0.0]"),
    T("[0e0]"),
    T("[0E+5]"),
    T("[1e-99999]"),
    T("[1E22]"),
    T("[1.5e+3]"),
    T("[123.456e78]"),
    T("[-9223372036854775808]"),
    T("[18446744073709551616]"),
    T("[9007199254740993]"),
    T("[1e400]"),
    T("[-1e-400]"),
    T("[0.1e1]"),
    T("[20e1]"),
    T("[1e00000000000000000001]"),
    T("[123123123123123123123123123123123123123123123]"),
    T("[0.00000000000000000000000000000000000000000000000000000000000000000000000000000001]"),
    /* strings */
    T("\"a\""),
    T("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""),
    T("\"\\u0041\""),
    T("\"\\u0000\""),
    T("\"\\uD834\\uDD1E\""),
    T("\"\\uD834\\udd1e\""),
    T("\"\\udbff\\udfff\""),
    T("\"\\ud800\\udc00\""),
    T("\"\\uFFFE\""),
    T("\"\\uFFFF\""),
    T("\"\\u2028\\u2029\""),
    T("\"\xE2\x80\xA8\""),
    T("\"\x7f\""),
    T("\"\xF4\x8F\xBF\xBF\""),
    T("\"\xEF\xBB\xBF\""),
    T("\"\\\\u0000\""),
    T("\"\\\\n\""),
    T("\"/\""),
    T("\"'\""),
    T("\"a/*b*/c\""),
    T("\"\xEF\xBF\xBF\""),
    T("\"\\u00e9\""),
    T("\"\\\\\""),
    /* arrays and objects */
    T("[[]]"),
    T("[[],[[]]]"),
    T("[null,1,\"1\",{}]"),
    T("{\"a\":{\"b\":[]}}"),
    T("{\"\":0}"),
    T("{\"\\u0000\":1}"),
    T("{\"a\":1,\"b\":2}"),
    T("{\"a\":1,\"a\":2}"),
    T("[1,2,3]"),
    T("{\"long key with blanks\":[{},{}]}"),
};

static const struct text refused[] = {
    /* nothing, or too much */
    T(""),
    T(" "),
    T("[]x"),
    T("[] []"),
    T("1 2"),
    T("nullnull"),
    T("]"),
    T("}"),
    T("[]]"),
    T("{}}"),
    T("\xEF\xBB\xBF[]"),
    T("[]\0"),
    T("\0"),
    T("[1]\x0b"),
    T("[1]\x0c"),
    T("\xC2\xA0[]"),
    T("[\xE2\x80\x83]"),
    T("# comment\n[]"),
    T("[]//"),
    T("[/**/]"),
    T("[1]#"),
    /* literals */
    T("nul"),
    T("Null"),
    T("NULL"),
    T("tru"),
    T("truee"),
    T("True"),
    T("fals"),
    T("false1"),
    T("undefined"),
    T("NaN"),
    T("nan"),
    T("Infinity"),
    T("-Infinity"),
    T("inf"),
    T("[null_]"),
    T("t"),
    T("n"),
    T("f"),
    T("[n]"),
    /* numbers */
    T("+1"),
    T("-"),
    T("--1"),
    T("-+1"),
    T("01"),
    T("-01"),
    T("00"),
    T("00.5"),
    T("1."),
    T(".5"),
    T("-.5"),
    T("1.e1"),
    T("1e"),
    T("1e+"),
    T("1e-"),
    T("1E"),
    T("1eE2"),
    T("1e1.5"),
    T("0x1"),
    T("0x"),
    T("1_000"),
    T("1,000"),
    T("1.2.3"),
    T("1-2"),
    T("1+2"),
    T("[1 000.0]"),
    T("0.e1"),
    T("1a"),
    T("-a"),
    T("[-]"),
    T("[1.]"),
    T("[0e]"),
    T("[0e+]"),
    T("[2.e+3]"),
    T("[-2.]"),
    T("[-foo]"),
    T("[- 1]"),
    T("[1 e1]"),
    T("[0.3e]"),
    T("[0.3e+]"),
    T("[9.e+]"),
    T("1f"),
    T("1L"),
    T("[\xEF\xBC\x91]"),
    T("[0x42]"),
    T("[-NaN]"),
    T("[.]"),
    T("[.-1]"),
    T("[1+]"),
    T("[1e1e1]"),
    /* strings */
    T("\""),
    T("\"a"),
    T("'a'"),
    T("\"\\\""),
    T("\"\\x41\""),
    T("\"\\a\""),
    T("\"\\0\""),
    T("\"\\u\""),
    T("\"\\u1\""),
    T("\"\\u12\""),
    T("\"\\u123\""),
    T("\"\\u123g\""),
    T("\"\\U0041\""),
    T("\"\\u 041\""),
    T("\"\\u+041\""),
    T("\"\\u00A\""),
    T("\"\\"),
    T("\"\\u004"),
    T("\"\n\""),
    T("\"\t\""),
    T("\"\r\""),
    T("\"\0\""),
    T("\"\x1f\""),
    T("\"\x01\""),
    T("\"\\\n\""),
    T("\"\\\xE2\x82\xAC\""),
    T("\\u0022x\""),
    T("\"a\"\"b\""),
    T("\"\\'\""),
    T("\"\\`\""),
    T("[\"a\x00"
      "b\"]"),
    /* surrogates */
    T("\"\\ud800\""),
    T("\"\\udc00\""),
    T("\"\\udfff\""),
    T("\"\\ud800x\""),
    T("\"\\ud800\\n\""),
    T("\"\\ud800\\ud800\""),
    T("\"\\ud800\\u0041\""),
    T("\"\\udc00\\ud800\""),
    T("\"\\ud800\\u\""),
    T("\"\\ud800\\udc\""),
    T("\"\\ud800\\"),
    T("\"\\ud834\\uD834\\uDD1E\""),
    T("\"\\ud800\\ue000\""),
    /* UTF-8 */
    T("\"\xff\""),
    T("\"\x80\""),
    T("\"\xC0\xAF\""),
    T("\"\xC1\xBF\""),
    T("\"\xE0\x80\xAF\""),
    T("\"\xE2\x82\""),
    T("\"\xE2\x28\xA1\""),
    T("\"\xED\xA0\x80\""),
    T("\"\xED\xBF\xBF\""),
    T("\"\xF0\x80\x80\xAF\""),
    T("\"\xF4\x90\x80\x80\""),
    T("\"\xF8\x88\x80\x80\x80\""),
    T("\"\xFC\x84\x80\x80\x80\x80\""),
    T("\"\xC3\""),
    T("\"\xC3\\n\""),
    T("\"\\n\xC3\""),
    T("\"abcdefghijklmnop\xff\""),
    T("\"\\n abcdefghijklmnop\xff\""),
    T("[\xff]"),
    T("{\"\xff\":1}"),
    T("\xFE\xFF\0[\0]"),
    T("[\0]\0"),
    T("\"\xE2\x82"),
    /* arrays */
    T("["),
    T("[1"),
    T("[1,"),
    T("[,1]"),
    T("[1,]"),
    T("[1,,2]"),
    T("[,]"),
    T("[1:2]"),
    T("[1;2]"),
    T("[1}"),
    T("[\"a\""),
    T("[\"a\",\n4\n,1,"),
    T("[[[[1]]]"),
    T("[x"),
    T("[*]"),
    T("[\"x\"]]"),
    T("[1 true]"),
    T("[\"\": 1]"),
    T("[a"),
    T("[{}"),
    T("[,\"x\"]"),
    T("[   , \"\"]"),
    T("(1)"),
    T("[1,\n1\n,1"),
    T("[3[4]]"),
    T("[1],[2]"),
    T("[\\u000A\"\"]"),
    T("<null>"),
    T("[<null>]"),
    /* objects */
    T("{"),
    T("{\"a\""),
    T("{\"a\":"),
    T("{\"a\":1"),
    T("{\"a\":1,"),
    T("{\"a\":1,}"),
    T("{,}"),
    T("{\"a\"}"),
    T("{\"a\":}"),
    T("{\"a\" 1}"),
    T("{\"a\":1 \"b\":2}"),
    T("{\"a\":1,,\"b\":2}"),
    T("{a:1}"),
    T("{1:1}"),
    T("{null:1}"),
    T("{'a':1}"),
    T("{[]:1}"),
    T("{\"a\"::1}"),
    T("{\"a\"=1}"),
    T("{\"a\":1]"),
    T("{]"),
    T("[}"),
    T("{\"a\":1 2}"),
    T("{\"x\":::\"b\"}"),
    T("{\"a\":/*c*/1}"),
    T("{\"a\":1}/**/"),
    T("{\"a\":true} x"),
    T("{\"a\":\"a\" 123}"),
    T("{\"x\", null}"),
    T("{:\"b\"}"),
    T("{\"a\" \"b\"}"),
    T("{\"a\":\"b\"}#"),
    T("{{}}"),
    T("{\"a\":\"a"),
    T("{9999E9999:1}"),
    T("{\"id\":0,,,,,}"),
    T("{\"id\":0,}"),
    T("{\"a\":1;}"),
    T("{\"a\":\"b\",,\"c\":\"d\"}"),
    T("{\"a\":(1)}"),
    T("{\"a\":=1}"),
    T("{\"\\ud800\":1}"),
};

/* As a copy of just that size, so that the address sanitizer sees a read behind it. */
static int parse_copy(struct text text, struct arena *arena, struct json_node **ret,
                      struct err *err)
{
    if (text.len == 0)
        return json_parse(NULL, 0, NULL, arena, ret, err);
    char *copy = arena_alloc(arena, text.len); /* with fences around it under the sanitizer */
    memcpy(copy, text.bytes, text.len);
    return json_parse(copy, text.len, NULL, arena, ret, err);
}

/* Writes the tree, reads that and writes it again: both texts must be the same. */
static void check_round(struct arena *arena, const struct json_node *node)
{
    auto_buf struct buf once = BUF_INIT(4096), twice = BUF_INIT(4096);
    struct json_w w;
    json_w_init(&w, &once);
    json_w_node(&w, node);
    CHECK_INT(json_w_finish(&w), 0);
    struct json_node *again;
    CHECK_INT(json_parse(once.data, once.len, NULL, arena, &again, NULL), 0);
    json_w_init(&w, &twice);
    json_w_node(&w, again);
    CHECK_INT(json_w_finish(&w), 0);
    CHECK_MEM(twice.data, twice.len, once.data, once.len);
}

TEST(accepted_forms)
{
    for (size_t i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++) {
        auto_arena struct arena arena;
        arena_init(&arena, 1 << 20);
        struct json_node *node = NULL;
        struct err err = {0};
        if (parse_copy(accepted[i], &arena, &node, &err) != 0)
            FAIL("'%s': %s", accepted[i].bytes, err.text);
        CHECK(json_type(node) != JSON_NONE);
        check_round(&arena, node);
    }
}

TEST(refused_forms)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        auto_arena struct arena arena;
        arena_init(&arena, 1 << 20);
        struct json_node *node = NULL;
        struct err err = {0};
        int rc = parse_copy(refused[i], &arena, &node, &err);
        if (rc != -ERR_SYNTAX)
            FAIL("'%s': %d %s", refused[i].bytes, rc, err.text);
        CHECK(node == NULL);
        CHECK(strlen(err.text) > 5);
    }
}

/* Everything that begins an accepted text and ends too soon. */
TEST(cut_short_at_every_byte)
{
    for (size_t i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++) {
        struct text text = accepted[i];
        if (text.bytes[0] != '[' && text.bytes[0] != '{' && text.bytes[0] != '"')
            continue;
        for (text.len--; text.len > 0; text.len--) {
            auto_arena struct arena arena;
            arena_init(&arena, 1 << 20);
            struct json_node *node;
            CHECK_INT(parse_copy(text, &arena, &node, NULL), -ERR_SYNTAX);
        }
    }
}

TEST(surrogates_can_be_replaced)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"\"\\ud800\"",               "\xEF\xBF\xBD"                },
        {"\"\\udc00x\"",              "\xEF\xBF\xBDx"               },
        {"\"\\ud800\\ud834\\udd1e\"", "\xEF\xBF\xBD\xF0\x9D\x84\x9E"},
        {"\"\\ud800\\u0041\"",        "\xEF\xBF\xBD"
                               "A"    },
        {"\"\\ud800\\n\"",            "\xEF\xBF\xBD\n"              },
        {"\"\\udc00\\ud800\"",        "\xEF\xBF\xBD\xEF\xBF\xBD"    },
    };
    struct json_limits limits = {.surrogate = JSON_SURROGATE_REPLACE};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        auto_arena struct arena arena;
        arena_init(&arena, 4096);
        struct json_node *node;
        CHECK_INT(json_parse(cases[i].text, strlen(cases[i].text), &limits, &arena, &node, NULL),
                  0);
        CHECK_STR(json_cstr(node), cases[i].want);
    }
    struct json_node *node;
    auto_arena struct arena arena;
    arena_init(&arena, 4096);
    CHECK_INT(json_parse("\"\\ud800\\u12\"", 12, &limits, &arena, &node, NULL), -ERR_SYNTAX);
}
