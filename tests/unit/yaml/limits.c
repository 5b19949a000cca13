/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "lib/test.h"
#include "yaml/read.h"

enum { MIB = 1 << 20 };

static int parse(const char *text, size_t len, const struct yaml_limits *limits, struct err *err)
{
    auto_arena struct arena arena;
    arena_init(&arena, 256 * (size_t)MIB);
    struct yaml_input input = {"f", text, len};
    struct yaml_node *node;
    return yaml_parse(&input, limits, &arena, &node, err);
}

static void refuses(const char *text, const struct yaml_limits *limits, const char *message)
{
    struct err err = {0};
    CHECK_INT(parse(text, strlen(text), limits, &err), -ERR_LIMIT);
    CHECK_STR(err.text, message);
}

/* n copies of a unit between a head and a tail. */
static struct buf repeat(const char *head, const char *unit, size_t n, const char *tail)
{
    struct buf b = BUF_INIT(16 * (size_t)MIB);
    CHECK_INT(buf_append_str(&b, head), 0);
    for (size_t i = 0; i < n; i++)
        CHECK_INT(buf_append_str(&b, unit), 0);
    CHECK_INT(buf_append_str(&b, tail), 0);
    return b;
}

TEST(depth)
{
    auto_buf struct buf most = repeat("", "[", 64, "");
    for (int i = 0; i < 64; i++)
        CHECK_INT(buf_append_byte(&most, ']'), 0);
    CHECK_INT(parse(most.data, most.len, NULL, NULL), 0);
    auto_buf struct buf more = repeat("", "[", 65, "");
    refuses(buf_cstr(&more), NULL, "f:1:65: nested more than 64 deep");
    auto_buf struct buf block = repeat("", "- ", 100000, "x");
    refuses(buf_cstr(&block), NULL, "f:1:129: nested more than 64 deep");
    refuses("[[[]]]", &(struct yaml_limits){.max_depth = 2}, "f:1:3: nested more than 2 deep");
    refuses("[[[]]]", &(struct yaml_limits){.max_depth = 1}, "f:1:2: nested more than 1 deep");
    CHECK_INT(parse("[[[]]]", 6, &(struct yaml_limits){.max_depth = 3}, NULL), 0);
}

TEST(depth_counts_through_aliases)
{
    struct yaml_limits limits = {.max_depth = 4};
    const char good[] = "- &a [[x]]\n- [*a]\n", bad[] = "- &a [[x]]\n- [[*a]]\n";
    CHECK_INT(parse(good, strlen(good), &limits, NULL), 0);
    refuses(bad, &limits, "f:2:5: nested more than 4 deep");

    auto_buf struct buf chain = BUF_INIT(MIB);
    CHECK_INT(buf_append_str(&chain, "- &a0 []\n"), 0);
    for (int i = 1; i < 100; i++)
        CHECK_INT(buf_printf(&chain, "- &a%d [*a%d]\n", i, i - 1), 0);
    refuses(buf_cstr(&chain), NULL, "f:64:9: nested more than 64 deep");
}

TEST(an_alias_bomb_is_refused_at_once)
{
    auto_buf struct buf bomb = BUF_INIT(MIB);
    CHECK_INT(buf_append_str(&bomb, "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"), 0);
    for (int i = 1; i < 30; i++) {
        CHECK_INT(buf_printf(&bomb, "a%d: &a%d [", i, i), 0);
        for (int k = 0; k < 10; k++)
            CHECK_INT(buf_printf(&bomb, "%s*a%d", k ? "," : "", i - 1), 0);
        CHECK_INT(buf_append_str(&bomb, "]\n"), 0);
    }
    int64_t start = clock_mono_ns();
    refuses(buf_cstr(&bomb), NULL,
            "f:5:38: more than 100000 values (aliases count as what they stand for)");
    CHECK(clock_mono_ns() - start < 1000000000);
}

TEST(nodes)
{
    struct yaml_limits limits = {.max_nodes = 4};
    CHECK_INT(parse("[1, 2, 3]", 9, &limits, NULL), 0);
    CHECK_INT(parse("[&a 1, *a, *a]", 14, &limits, NULL), 0);
    refuses("[1, 2, 3, 4]", &limits,
            "f:1:11: more than 4 values (aliases count as what they stand for)");
    refuses("[&a [1], *a, *a]", &limits,
            "f:1:10: more than 4 values (aliases count as what they stand for)");
}

TEST(bytes_and_memory)
{
    refuses("abcd", &(struct yaml_limits){.max_bytes = 3}, "f: 4 bytes, expected at most 3");
    auto_arena struct arena arena;
    arena_init(&arena, 256);
    struct yaml_node *node;
    struct yaml_input input = {"f", "[a,b,c,d,e,f,g]", 15};
    struct err err = {0};
    CHECK_INT(yaml_parse(&input, NULL, &arena, &node, &err), -ERR_LIMIT);
    CHECK_STR(err.text, "f:1:1: the values need more memory than allowed");
}

/* Every repetition costs about as much as the one before, up to 1 MiB and beyond. */
TEST_TIMEOUT(time_is_linear_in_the_text, 120)
{
    static const struct {
        const char *head, *unit, *tail;
    } shapes[] = {
        {"",         "- a\n",               ""       },
        {"",         "- a: b\n",            ""       },
        {"[",        "a, ",                 "]"      },
        {"[",        "{a: b}, ",            "]"      },
        {"{",        "? a : b, ",           "}"      },
        {"",         "[",                   ""       },
        {"",         "- ",                  ""       },
        {"",         "? ",                  ""       },
        {"",         "a: ",                 ""       },
        {"",         "&a ",                 ""       },
        {"",         "!!str ",              ""       },
        {"",         "*a : ",               ""       },
        {"",         "#\n",                 ""       },
        {"",         "\n",                  ""       },
        {"a:",       " ",                   "b"      },
        {"a: ",      "b ",                  ""       },
        {"a: ",      "b\n ",                ""       },
        {"a: '",     "b''",                 "'"      },
        {"a: \"",    "\\u00fc",             "\""     },
        {"a: \"",    "b\n\n ",              "\""     },
        {"a: |\n",   "  b\n",               ""       },
        {"a: |\n",   "\n",                  "  b\n"  },
        {"a: >\n",   "  b\n\n",             ""       },
        {"a: >\n",   "      \n",            "  b\n"  },
        {"- &a x\n", "- *a\n",              ""       },
        {"",         "- &a x\n",            ""       },
        {"",         "--- a\n",             ""       },
        {"",         "...\n",               ""       },
        {"",         "%YAML 1.2\n",         ""       },
        {"",         "%FOO\n",              "--- a\n"},
        {"",         "%TAG !e! tag:e,1:\n", "--- a\n"},
        {"a: !<",    "%41",                 "> b"    },
        {"a: &",     "b",                   " c"     },
        {"a: ",      "\xc3\xbc",            ""       },
        {"{",        "\"a\":b,",            "}"      },
        {"- ",       "\t",                  "x"      },
        {"",         "[]: ",                ""       },
        {"[",        "?",                   "]"      },
        {"[",        ",",                   "]"      },
        {"a: [",     "\n",                  "b]"     },
    };
    struct yaml_limits limits = {.max_nodes = 4000000, .max_bytes = 16 * (size_t)MIB};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        size_t n = MIB / strlen(shapes[i].unit);
        auto_buf struct buf small = repeat(shapes[i].head, shapes[i].unit, n, shapes[i].tail);
        int64_t start = clock_mono_ns();
        (void)parse(small.data, small.len, &limits, NULL);
        int64_t ms = (clock_mono_ns() - start) / 1000000;
        if (ms > 5000)
            FAIL("1 MiB of '%s' took %jd ms", shapes[i].unit, (intmax_t)ms);
    }
}

/* Many different keys, anchors and tag handles. */
TEST_TIMEOUT(different_names_are_linear_too, 60)
{
    static const char *const formats[] = {"k%d: v\n", "- &a%d x\n- *a%d\n",
                                          "%%TAG !e%d! tag:e,1:\n"};
    struct yaml_limits limits = {.max_nodes = 4000000};
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        auto_buf struct buf text = BUF_INIT((size_t)2 * MIB);
        for (int k = 0; text.len < MIB; k++)
            CHECK_INT(i == 0   ? buf_printf(&text, "k%d: v\n", k)
                      : i == 1 ? buf_printf(&text, "- &a%d x\n- *a%d\n", k, k)
                               : buf_printf(&text, "%%TAG !e%d! tag:e,1:\n", k),
                      0);
        int64_t start = clock_mono_ns();
        (void)parse(text.data, text.len, &limits, NULL);
        int64_t ms = (clock_mono_ns() - start) / 1000000;
        if (ms > 5000)
            FAIL("1 MiB of '%s' took %jd ms", formats[i], (intmax_t)ms);
    }
    struct err err = {0};
    auto_buf struct buf tags = repeat("", "%X\n", 17, "--- a\n");
    CHECK_INT(parse(tags.data, tags.len, NULL, &err), -ERR_LIMIT);
    CHECK_STR(err.text, "f: more than 16 directives ('%' at the start of a line)");
}
