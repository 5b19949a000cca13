/* SPDX-License-Identifier: MIT */
#include "json/sax.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "lib/test.h"

/* Writes each call down. */
static int note(void *ctx, const char *what, const char *text, size_t len)
{
    struct buf *b = ctx;
    CHECK_INT(buf_append_str(b, what), 0);
    CHECK_INT(buf_append(b, text, len), 0);
    return buf_append_byte(b, ' ');
}

static int on_null(void *ctx)
{
    return note(ctx, "null", "", 0);
}

static int on_bool(void *ctx, bool value)
{
    return note(ctx, value ? "true" : "false", "", 0);
}

static int on_number(void *ctx, const char *text, size_t len)
{
    return note(ctx, "#", text, len);
}

static int on_string(void *ctx, const char *text, size_t len)
{
    return note(ctx, "'", text, len);
}

static int on_key(void *ctx, const char *text, size_t len)
{
    return note(ctx, "k:", text, len);
}

static int on_obj(void *ctx)
{
    return note(ctx, "{", "", 0);
}

static int on_obj_end(void *ctx)
{
    return note(ctx, "}", "", 0);
}

static int on_arr(void *ctx)
{
    return note(ctx, "[", "", 0);
}

static int on_arr_end(void *ctx)
{
    return note(ctx, "]", "", 0);
}

static const struct json_sax all = {
    .on_null = on_null,
    .on_bool = on_bool,
    .on_number = on_number,
    .on_string = on_string,
    .on_key = on_key,
    .on_obj = on_obj,
    .on_obj_end = on_obj_end,
    .on_arr = on_arr,
    .on_arr_end = on_arr_end,
};

static const struct json_sax none = {.on_null = NULL};

TEST(calls_come_in_order)
{
    static const char text[] = " {\"a\":[1,-2.5e+3,\"x\\ty\"],\"b\":{},\"c\":[[],null,true,false],"
                               "\"a\":\"\"}\n";
    auto_buf struct buf b = BUF_INIT(1000);
    CHECK_INT(json_sax_parse(text, strlen(text), NULL, &all, &b, NULL), 0);
    CHECK_STR(buf_cstr(&b), "{ k:a [ #1 #-2.5e+3 'x\ty ] k:b { } k:c [ [ ] null true false ] k:a "
                            "' } ");
}

TEST(callbacks_may_be_missing)
{
    static const char text[] = "{\"a\":[1,\"x\\n\",null,true,{}]}";
    CHECK_INT(json_sax_parse(text, strlen(text), NULL, &none, NULL, NULL), 0);
}

static int stop_at_3(void *ctx, const char *text, size_t len)
{
    int *n = ctx;
    return len == 1 && *text == '3' ? -EXDEV : (++*n, 0);
}

static int stop_with_text(void *ctx, const char *text, size_t len)
{
    (void)text;
    (void)len;
    return err_set(ctx, ERR_DENIED, "no numbers here");
}

TEST(callback_ends_the_reading)
{
    struct json_sax sax = {.on_number = stop_at_3};
    struct err err = {.code = 1, .text = "old"};
    int n = 0;
    CHECK_INT(json_sax_parse("[1,2,\n3,4]", 10, NULL, &sax, &n, &err), -EXDEV);
    CHECK_INT(n, 2);
    CHECK_STR(err.text, "2:2: Invalid cross-device link");
    CHECK_INT(json_sax_parse("[1,2,3,4]", 9, NULL, &sax, &n, NULL), -EXDEV);

    sax.on_number = stop_with_text;
    CHECK_INT(json_sax_parse("1 ", 2, NULL, &sax, &err, &err), -ERR_DENIED);
    CHECK_STR(err.text, "1:2: no numbers here");
}

TEST(several_values)
{
    static const char text[] = " 1 \"a\"[2]{}\n\ntrue\t{\"k\":null} ";
    auto_buf struct buf b = BUF_INIT(1000);
    struct json_source source = {.text = text, .len = strlen(text)};
    int n = 0, rc;
    while ((rc = json_sax_next(&source, NULL, &all, &b, NULL)) == 1)
        n++;
    CHECK_INT(rc, 0);
    CHECK_INT(n, 6);
    CHECK_INT(source.pos, source.len);
    CHECK_STR(buf_cstr(&b), "#1 'a [ #2 ] { } true { k:k null } ");
    CHECK_INT(json_sax_next(&source, NULL, &all, &b, NULL), 0);
}

TEST(several_values_until_one_is_wrong)
{
    struct json_source source = {.text = "1\n2x 3", .len = 6};
    struct err err;
    CHECK_INT(json_sax_next(&source, NULL, &none, NULL, &err), 1);
    CHECK_INT(source.pos, 1);
    CHECK_INT(json_sax_next(&source, NULL, &none, NULL, &err), -ERR_SYNTAX);
    CHECK_STR(err.text, "2:2: expected the end of the number, not 'x'");
    CHECK_INT(source.pos, 1);
    struct json_source empty = {.text = NULL, .len = 0};
    CHECK_INT(json_sax_next(&empty, NULL, &none, NULL, &err), 0);
}

static int parse_nested(unsigned depth, unsigned max_depth, struct err *err)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    for (unsigned i = 0; i < depth; i++)
        CHECK_INT(buf_append_byte(&b, '['), 0);
    for (unsigned i = 0; i < depth; i++)
        CHECK_INT(buf_append_byte(&b, ']'), 0);
    struct json_limits limits = {.max_depth = max_depth};
    return json_sax_parse(b.data, b.len, &limits, &none, NULL, err);
}

TEST(depth_limits)
{
    struct err err;
    CHECK_INT(parse_nested(3, 3, &err), 0);
    CHECK_INT(parse_nested(4, 3, &err), -ERR_LIMIT);
    CHECK_STR(err.text, "1:4: too many nested arrays and objects");
    CHECK_INT(parse_nested(JSON_DEPTH_DEFAULT, 0, &err), 0);
    CHECK_INT(parse_nested(JSON_DEPTH_DEFAULT + 1, 0, &err), -ERR_LIMIT);
    CHECK_INT(parse_nested(JSON_DEPTH_HARD_MAX, 4000000000, &err), 0);
    CHECK_INT(parse_nested(JSON_DEPTH_HARD_MAX + 1, 4000000000, &err), -ERR_LIMIT);
    CHECK_INT(parse_nested(100000, 0, &err), -ERR_LIMIT);
}

TEST(byte_limits)
{
    struct json_limits limits = {.max_bytes = 5};
    struct err err;
    CHECK_INT(json_sax_parse("[1,2]", 5, &limits, &none, NULL, &err), 0);
    CHECK_INT(json_sax_parse("[1,2] ", 6, &limits, &none, NULL, &err), -ERR_LIMIT);
    CHECK_STR(err.text, "the text has 6 bytes, at most 5 are read");
    CHECK_INT(json_sax_parse("", (size_t)65 << 20, NULL, &none, NULL, &err), -ERR_LIMIT);
    limits.max_bytes = SIZE_MAX;
    CHECK_INT(json_sax_parse("", (size_t)3 << 30, &limits, &none, NULL, &err), -ERR_LIMIT);
}

TEST(message_says_where_and_what)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"",                                  "1:1: expected a value, not the end of the text"                          },
        {" \n\n ",                            "3:2: expected a value, not the end of the text"                          },
        {"[1,]",                              "1:4: expected a value, not ']'"                                          },
        {"[1 2]",                             "1:4: expected ',' or ']', not '2'"                                       },
        {"[1",                                "1:3: expected ',' or ']', not the end of the text"                       },
        {"{\"a\":1",                          "1:7: expected ',' or '}', not the end of the text"                       },
        {"{\"a\" 1}",                         "1:6: expected ':', not '1'"                                              },
        {"{a:1}",                             "1:2: expected a key in quotes or '}', not 'a'"                           },
        {"{\"a\":1,}",                        "1:8: expected a key in quotes, not '}'"                                  },
        {"[\"\xE2\x82\xAC\xE2\x82\xAC\", x]", "1:8: expected a value, not 'x'"                                          },
        {"[\xE2\x82\xAC]",                    "1:2: expected a value, not '\xE2\x82\xAC'"                               },
        {"[\x01]",                            "1:2: expected a value, not byte 0x01"                                    },
        {"[\xff]",                            "1:2: expected a value, not byte 0xff"                                    },
        {"\xEF\xBB\xBF{}",                    "1:1: expected a value, not a byte order mark"                            },
        {"\"a\nb\"",                          "1:3: expected '\"' or a character of the string, not byte 0x0a"          },
        {"\"abc",                             "1:5: expected '\"' or a character of the string, not the end of the text"},
        {"\"\\x\"",                           "1:3: expected one of \"\\/bfnrtu after '\\', not 'x'"                    },
        {"\"\\",                              "1:3: expected an escape, not the end of the text"                        },
        {"\"\\u12g4\"",                       "1:2: expected four hexadecimal digits after '\\u'"                       },
        {"\"\\ud800\"",                       "1:2: the escape is half of a surrogate pair, expected both halves"       },
        {"\"ab\xff\"",                        "1:4: expected UTF-8 text"                                                },
        {"01",                                "1:2: expected the end of the number, not '1'"                            },
        {"-",                                 "1:2: expected a digit, not the end of the text"                          },
        {"1.",                                "1:3: expected a digit, not the end of the text"                          },
        {"1e",                                "1:3: expected a digit, not the end of the text"                          },
        {"nul",                               "1:1: expected a value, not 'n'"                                          },
        {"{} {}",                             "1:4: expected the end of the text, not '{'"                              },
        {"[1,\r\n2,\r\nx]",                   "3:1: expected a value, not 'x'"                                          },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct err err = {0};
        size_t len = strlen(cases[i].text);
        CHECK_INT(json_sax_parse(cases[i].text, len, NULL, &none, NULL, &err), -ERR_SYNTAX);
        CHECK_STR(err.text, cases[i].why);
    }
}
