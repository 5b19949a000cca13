/* SPDX-License-Identifier: MIT */
#include "yaml/write.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/utf8.h"
#include "lib/test.h"
#include "yaml/read.h"

static void round_trip(const char *text)
{
    auto_buf struct buf out = BUF_INIT(4096);
    auto_arena struct arena arena;
    arena_init(&arena, 1 << 20);
    CHECK_INT(yaml_write_str(&out, text), 0);
    struct yaml_input input = {"f", out.data, out.len};
    struct yaml_node *node;
    struct err err = {0};
    if (yaml_parse(&input, NULL, &arena, &node, &err) < 0)
        FAIL("%s: %s", buf_cstr(&out), err.text);
    CHECK_STR(yaml_cstr(node), text);
}

TEST(forms)
{
    static const char *const cases[][2] = {
        {"abc",      "abc"           },
        {"/usr/lib", "/usr/lib"      },
        {"a b",      "a b"           },
        {"",         "\"\""          },
        {"no",       "\"no\""        },
        {"True",     "\"True\""      },
        {"12",       "\"12\""        },
        {"~",        "\"~\""         },
        {"~/.ssh",   "\"~/.ssh\""    },
        {"a: b",     "\"a: b\""      },
        {"a #b",     "\"a #b\""      },
        {"a ",       "\"a \""        },
        {"*.org",    "\"*.org\""     },
        {"- a",      "\"- a\""       },
        {"a\nb\t",   "\"a\\nb\\x09\""},
        {"\"\\",     "\"\\\"\\\\\""  },
        {"\u00fc",   "\"\u00fc\""    },
        {"\u2028",   "\"\\u2028\""   },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        auto_buf struct buf out = BUF_INIT(100);
        CHECK_INT(yaml_write_str(&out, cases[i][0]), 0);
        CHECK_STR(buf_cstr(&out), cases[i][1]);
        round_trip(cases[i][0]);
    }
}

TEST(every_character_survives)
{
    for (uint32_t c = 1; c < 0x10ffff; c += c < 0x3000 || (c & 0xfff) > 0xff0 ? 1 : 13) {
        char text[2 * UTF8_CHAR_MAX + 2] = "x";
        size_t len = utf8_encode(c, text + 1);
        if (len)
            round_trip(text);
    }
}

TEST(all_or_nothing)
{
    auto_buf struct buf out = BUF_INIT(6);
    CHECK_INT(buf_append_str(&out, "ab"), 0);
    CHECK_INT(yaml_write_str(&out, "12345"), -ERR_LIMIT);
    CHECK_STR(buf_cstr(&out), "ab");
}
