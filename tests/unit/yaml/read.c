/* SPDX-License-Identifier: MIT */
#include "yaml/read.h"

#include <locale.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "lib/test.h"

static struct arena test_arena;

static int try_parse(const char *text, struct yaml_node **ret, struct err *err)
{
    if (!test_arena.max)
        arena_init(&test_arena, 64 << 20);
    struct yaml_input input = {"f", text, strlen(text)};
    return yaml_parse(&input, NULL, &test_arena, ret, err);
}

/* The tree of a text that must be good; lives as long as the test. */
static const struct yaml_node *parse(const char *text)
{
    struct yaml_node *node = NULL;
    struct err err = {0};
    if (try_parse(text, &node, &err) != 0)
        FAIL("%s", err.text);
    return node;
}

static void refuses(const char *text, int code, const char *message)
{
    struct yaml_node *node = NULL;
    struct err err = {0};
    CHECK_INT(try_parse(text, &node, &err), -code);
    CHECK(node == NULL);
    CHECK_STR(err.text, message);
}

TEST(types_of_the_core_schema)
{
    static const struct {
        const char *text;
        enum yaml_type type;
    } cases[] = {
        {"~",               YAML_NULL  },
        {"null",            YAML_NULL  },
        {"NULL",            YAML_NULL  },
        {"nULL",            YAML_STRING},
        {"--- ",            YAML_NULL  },
        {"true",            YAML_BOOL  },
        {"False",           YAML_BOOL  },
        {"tRUE",            YAML_STRING},
        {"yes",             YAML_STRING},
        {"no",              YAML_STRING},
        {"on",              YAML_STRING},
        {"y",               YAML_STRING},
        {"0",               YAML_INT   },
        {"-12",             YAML_INT   },
        {"+12",             YAML_INT   },
        {"010",             YAML_INT   },
        {"0x1F",            YAML_INT   },
        {"0o17",            YAML_INT   },
        {"0o18",            YAML_STRING},
        {"0x",              YAML_STRING},
        {"-0x1",            YAML_STRING},
        {"0b1",             YAML_STRING},
        {"1_000",           YAML_STRING},
        {"1:30",            YAML_STRING},
        {"12e03",           YAML_FLOAT },
        {"1.",              YAML_FLOAT },
        {".5",              YAML_FLOAT },
        {".",               YAML_STRING},
        {"1.5.2",           YAML_STRING},
        {"1e",              YAML_STRING},
        {"1e+",             YAML_STRING},
        {"e3",              YAML_STRING},
        {"-",               YAML_LIST  },
        {"+",               YAML_STRING},
        {".inf",            YAML_FLOAT },
        {"-.INF",           YAML_FLOAT },
        {".nan",            YAML_FLOAT },
        {"-.nan",           YAML_STRING},
        {"2026-12-07",      YAML_STRING},
        {"'12'",            YAML_STRING},
        {"\"\"",            YAML_STRING},
        {"|\n  12\n",       YAML_STRING},
        {"!!str 12",        YAML_STRING},
        {"! 12",            YAML_STRING},
        {"!!int '12'",      YAML_INT   },
        {"!!float 12",      YAML_FLOAT },
        {"!!null ''",       YAML_NULL  },
        {"!!bool \"true\"", YAML_BOOL  },
        {"[]",              YAML_LIST  },
        {"{}",              YAML_MAP   },
        {"!!seq []",        YAML_LIST  },
        {"!!map {}",        YAML_MAP   },
        {"! []",            YAML_LIST  },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (yaml_type(parse(cases[i].text)) != cases[i].type)
            FAIL("'%s' is %s, not %s", cases[i].text,
                 yaml_type_phrase(yaml_type(parse(cases[i].text))),
                 yaml_type_phrase(cases[i].type));
}

TEST(texts)
{
    const struct yaml_node *root =
        parse("s: \"x\\0y\"\nn: 0x1F\nb: |\n  two\n  lines\nf: a\n  b\n");
    size_t len = 0;
    CHECK_MEM(yaml_str(yaml_get(root, "s"), &len), 4, "x\0y\0", 4);
    CHECK_INT(len, 3);
    CHECK(yaml_cstr(yaml_get(root, "s")) == NULL);
    CHECK(yaml_str(yaml_get(root, "n"), &len) == NULL);
    CHECK_STR(yaml_text(yaml_get(root, "n"), &len), "0x1F");
    CHECK_INT(len, 4);
    CHECK_STR(yaml_cstr(yaml_get(root, "b")), "two\nlines\n");
    CHECK_STR(yaml_cstr(yaml_get(root, "f")), "a b");
    CHECK(yaml_text(root, NULL) == NULL);
    CHECK_STR(yaml_text(parse("12345678901234567890123"), NULL), "12345678901234567890123");
}

TEST(integers)
{
    static const struct {
        const char *text;
        int64_t value;
        bool is_i64, is_u64;
    } cases[] = {
        {"0",                    0,         true,  true },
        {"-0",                   0,         true,  true },
        {"+7",                   7,         true,  true },
        {"010",                  10,        true,  true },
        {"0o10",                 8,         true,  true },
        {"0xff",                 255,       true,  true },
        {"-1",                   -1,        true,  false},
        {"9223372036854775807",  INT64_MAX, true,  true },
        {"-9223372036854775808", INT64_MIN, true,  false},
        {"9223372036854775808",  INT64_MIN, false, true },
        {"18446744073709551615", -1,        false, true },
        {"18446744073709551616", 0,         false, false},
        {"-9223372036854775809", 0,         false, false},
        {"0x10000000000000000",  0,         false, false},
        {"1.0",                  0,         false, false},
        {"'1'",                  0,         false, false},
        {"[1]",                  0,         false, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct yaml_node *node = parse(cases[i].text);
        int64_t s = 0;
        uint64_t u = 0;
        CHECK_INT(yaml_i64(node, &s), cases[i].is_i64 ? 0 : -ERR_INVALID);
        CHECK_INT(yaml_u64(node, &u), cases[i].is_u64 ? 0 : -ERR_INVALID);
        CHECK_INT(s, cases[i].is_i64 ? cases[i].value : 0);
        CHECK(u == (cases[i].is_u64 ? (uint64_t)cases[i].value : 0));
    }
}

static double number(const char *text)
{
    double value = -1;
    CHECK_INT(yaml_double(parse(text), &value), 0);
    return value;
}

TEST(doubles_and_booleans)
{
    (void)setlocale(LC_ALL, "de_DE.UTF-8");
    CHECK(number("1.5") == 1.5);
    CHECK(number("-1e3") == -1000);
    CHECK(number("12") == 12);
    CHECK(number("0x10") == 16);
    CHECK(number("0o10") == 8);
    CHECK(number("0xffffffffffffffffff") > 1e21);
    CHECK(isinf(number(".inf")) && number("-.Inf") < 0 && isnan(number(".NaN")));
    CHECK(isinf(number("1e400")));
    double d = 7;
    CHECK_INT(yaml_double(parse("x"), &d), -ERR_INVALID);
    CHECK(d == 7);
    bool truth = false;
    CHECK_INT(yaml_bool(parse("True"), &truth), 0);
    CHECK(truth);
    CHECK_INT(yaml_bool(parse("false"), &truth), 0);
    CHECK(!truth);
    CHECK_INT(yaml_bool(parse("yes"), &truth), -ERR_INVALID);
}

TEST(lists_and_maps)
{
    const struct yaml_node *root = parse("b: [1, 2, x]\na:\n- - deep\n1: one\n'': empty\n");
    CHECK_INT(yaml_len(root), 4);
    CHECK_STR(yaml_key(yaml_at(root, 0)), "b");
    CHECK_STR(yaml_key(yaml_at(root, 3)), "");
    CHECK(yaml_at(root, 4) == NULL);
    CHECK_STR(yaml_cstr(yaml_get(root, "1")), "one");
    CHECK_STR(yaml_cstr(yaml_at(yaml_at(yaml_get(root, "a"), 0), 0)), "deep");
    CHECK(yaml_key(root) == NULL && yaml_key(yaml_at(yaml_get(root, "b"), 0)) == NULL);
    CHECK(yaml_get(root, "c") == NULL && yaml_get(yaml_get(root, "b"), "0") == NULL);
    int n = 0;
    YAML_FOREACH(item, yaml_get(root, "b"))
    CHECK(item == yaml_at(yaml_get(root, "b"), (size_t)n++));
    CHECK_INT(n, 3);
    YAML_FOREACH(item, yaml_get(root, "c"))
    FAIL("%s", yaml_key(item));
}

TEST(null_is_accepted_everywhere)
{
    int64_t i;
    bool b;
    CHECK_INT(yaml_type(NULL), YAML_NONE);
    CHECK_STR(yaml_type_name(yaml_type(NULL)), "nothing");
    CHECK(!yaml_str(NULL, NULL) && !yaml_cstr(NULL) && !yaml_text(NULL, NULL));
    CHECK(yaml_len(NULL) == 0 && !yaml_at(NULL, 0) && !yaml_get(NULL, "a") && !yaml_key(NULL));
    CHECK(yaml_i64(NULL, &i) < 0 && yaml_bool(NULL, &b) < 0);
    CHECK_INT(yaml_mark(NULL).line, 0);
    CHECK_INT(yaml_key_mark(NULL).line, 0);
}

static void at(struct yaml_mark mark, uint32_t line, uint32_t column)
{
    CHECK_INT(mark.line, line);
    CHECK_INT(mark.column, column);
}

TEST(places)
{
    const struct yaml_node *root =
        parse("\xef\xbb\xbf# comment\nüb: &x\n  - é\n  - {k: 'v'}\nz: *x\n");
    at(yaml_mark(root), 2, 1);
    const struct yaml_node *list = yaml_get(root, "üb");
    at(yaml_key_mark(list), 2, 1);
    at(yaml_mark(yaml_at(list, 0)), 3, 5);
    const struct yaml_node *v = yaml_get(yaml_at(list, 1), "k");
    at(yaml_key_mark(v), 4, 6);
    at(yaml_mark(v), 4, 9);
    at(yaml_mark(yaml_get(root, "z")), 5, 4);
    at(yaml_key_mark(yaml_get(root, "z")), 5, 1);
    at(yaml_mark(yaml_at(yaml_get(root, "z"), 0)), 3, 5);
}

TEST(errors_name_the_place_and_what_was_expected)
{
    refuses("", ERR_SYNTAX, "f:1:1: nothing but blanks and comments, expected a document");
    refuses("# x\n", ERR_SYNTAX, "f:1:1: nothing but blanks and comments, expected a document");
    refuses("a: 1\n---\nb: 2\n", ERR_SYNTAX, "f:2:1: a second document, expected only one");
    refuses("a: 1\nb: 2\na: 3\n", ERR_SYNTAX,
            "f:3:1: the key 'a' is there already, at 1:1, expected it once");
    refuses("{a: {1: x, \"1\": y}}", ERR_SYNTAX,
            "f:1:12: the key '1' is there already, at 1:6, expected it once");
    refuses("a: b: c\n", ERR_SYNTAX,
            "f:1:5: a ':' in the middle of a value, expected the value in quotes or the key on a "
            "line of its own");
    refuses("a:\n\t- b\n", ERR_SYNTAX,
            "f:2:1: a character that no value starts with, expected it in quotes, and blanks, not "
            "tabs, before it");
    refuses("a: @b\n", ERR_SYNTAX,
            "f:1:4: a character that no value starts with, expected it in quotes, and blanks, not "
            "tabs, before it");
    refuses(
        "a: [1, 2\nb: 3\n", ERR_SYNTAX,
        "f:2:2: the list is not complete, expected ',' or ']' (in the flow sequence of line 1)");
    refuses("a: 'x\n", ERR_SYNTAX,
            "f:2:1: the text ends within quotes, expected the closing one (in the quoted scalar of "
            "line 1)");
    refuses("a: 1\n b: 2\n", ERR_SYNTAX,
            "f:2:3: a ':' in the middle of a value, expected the value in quotes or the key on a "
            "line of its own");
    refuses("a: \"\\q\"\n", ERR_SYNTAX,
            "f:1:5: an unknown escape, expected one of YAML's, or single quotes around the text");
    refuses("a: 1\nb\n", ERR_SYNTAX,
            "f:3:1: a key without a value, expected ':' behind it (in the simple key of line 2)");
    refuses("<<: {a: 1}\n", ERR_SYNTAX,
            "f:1:1: merge keys ('<<') are not supported, expected each key written out");
    CHECK_STR(yaml_cstr(yaml_get(parse("'<<': fine"), "<<")), "fine");
    refuses("? [a]\n: b\n", ERR_SYNTAX, "f:1:3: a list in place of a key, expected text");
    refuses("? {a: b}\n: b\n", ERR_SYNTAX, "f:1:3: a map in place of a key, expected text");
    refuses("{? : b}", ERR_SYNTAX, "f:1:4: an empty key, expected text before the ':'");
    refuses("\"\\0\": b\n", ERR_SYNTAX, "f:1:1: a key with a NUL in it, expected text");
    refuses("a: !x 1\n", ERR_SYNTAX,
            "f:1:4: unknown tag '!x', expected !!str, !!int, !!float, !!bool, !!null, !!seq, !!map "
            "or none");
    refuses("a: !!binary eA==\n", ERR_SYNTAX,
            "f:1:4: unknown tag 'tag:yaml.org,2002:binary', expected !!str, !!int, !!float, "
            "!!bool, !!null, !!seq, !!map or none");
    refuses("!!int x", ERR_SYNTAX,
            "f:1:1: 'x' is tagged as an integer, expected what reads as one");
    refuses("!!map [a]", ERR_SYNTAX, "f:1:1: a list is tagged as a map");
    refuses("!!int {}", ERR_SYNTAX, "f:1:1: a map is tagged as an integer");
    refuses("%YAML 3.0\n--- a\n", ERR_SYNTAX,
            "f:1:1: a version of YAML that is not known, expected 1.2");
}

TEST(only_utf8)
{
    refuses("a: 1\nb: ü\xff\n", ERR_SYNTAX,
            "f:2:5: bytes that are no UTF-8, expected nothing else");
    refuses("a: 1\nb: ü\x07\n", ERR_SYNTAX,
            "f:2:5: the character U+0007, expected it as an escape in double quotes");
    struct yaml_node *node;
    struct err err = {0};
    struct yaml_input wide = {"w",
                              "\xff\xfe"
                              "a\0",
                              4};
    CHECK_INT(yaml_parse(&wide, NULL, &test_arena, &node, &err), -ERR_SYNTAX);
    CHECK_STR(err.text, "w:1:1: bytes that are no UTF-8, expected nothing else");
    struct yaml_input nul = {"n", "a: b\0c", 6};
    CHECK_INT(yaml_parse(&nul, NULL, &test_arena, &node, &err), -ERR_SYNTAX);
    CHECK_STR(err.text, "n:1:5: the character U+0000, expected it as an escape in double quotes");
}

TEST(aliases)
{
    const struct yaml_node *root = parse("a: &x {k: [1, 2]}\nb: *x\nc: &x 3\nd: *x\n&y e: *y\n");
    CHECK_STR(yaml_text(yaml_at(yaml_get(yaml_get(root, "b"), "k"), 1), NULL), "2");
    CHECK_STR(yaml_key(yaml_get(root, "b")), "b");
    CHECK_STR(yaml_text(yaml_get(root, "d"), NULL), "3");
    CHECK_STR(yaml_text(yaml_get(root, "e"), NULL), "e");
    refuses("a: *x\nb: &x 1\n", ERR_SYNTAX,
            "f:1:4: the alias '*x' names nothing, expected '&x' before it");
    refuses("a: &x [1, *x]\n", ERR_SYNTAX, "f:1:11: the alias '*x' stands within what it names");
    refuses("a: &x 1\n*x : 2\n", ERR_SYNTAX,
            "f:2:1: an alias in place of a key, expected the key itself");
}

TEST(many_documents)
{
    arena_init(&test_arena, 64 << 20);
    struct yaml_node *all = NULL;
    struct yaml_input input = {"f", "a: &x 1\n---\n- 2\n...\n---\n", 24};
    CHECK_INT(yaml_parse_all(&input, NULL, &test_arena, &all, NULL), 0);
    CHECK_INT(yaml_len(all), 3);
    CHECK_STR(yaml_text(yaml_get(yaml_at(all, 0), "a"), NULL), "1");
    CHECK_INT(yaml_type(yaml_at(all, 2)), YAML_NULL);
    input = (struct yaml_input){"f", "", 0};
    CHECK_INT(yaml_parse_all(&input, NULL, &test_arena, &all, NULL), 0);
    CHECK_INT(yaml_len(all), 0);
    struct err err = {0};
    input = (struct yaml_input){"f", "a: &x 1\n---\n- *x\n", 17};
    CHECK_INT(yaml_parse_all(&input, NULL, &test_arena, &all, &err), -ERR_SYNTAX);
    CHECK_STR(err.text, "f:3:3: the alias '*x' names nothing, expected '&x' before it");
}
