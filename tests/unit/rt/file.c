/* SPDX-License-Identifier: MIT */
#include "rt/file.h"

#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "json/write.h"
#include "lib/test.h"
#include "rt/priv.h"

#define HEAD "{\"nacreSession\":1,\"state\":null"

static void expect_error(const char *json, const char *text)
{
    struct err err = {0};
    auto_rt_file struct rt_file f;
    CHECK(rt_file_read(&f, json, strlen(json), &err) < 0);
    CHECK_STR(err.text, text);
}

TEST(fields_of_a_wrong_type_are_named_with_their_place)
{
    static const struct {
        const char *json, *text;
    } cases[] = {
        {"[]",                                                                                     "session file: expected an object, not array"                    },
        {"{}",                                                                                     "session file: nacreSession: expected the integer 1, not nothing"},
        {"{\"nacreSession\":\"1\"}",
         "session file: nacreSession: expected the integer 1, not string"                                                                                           },
        {"{\"nacreSession\":2}",                                                                   "session file: nacreSession: version 2, expected 1"              },
        {"{\"nacreSession\":1}",                                                                   "session file: state: expected a string or null, not nothing"    },
        {"{\"nacreSession\":1,\"state\":7}",
         "session file: state: expected a string or null, not number"                                                                                               },
        {HEAD ",\"encoding\":\"utf-16\"}",
         "session file: encoding: expected 'utf-8' or 'base64', not 'utf-16'"                                                                                       },
        {HEAD ",\"encoding\":[]}",
         "session file: encoding: expected a string without NUL, not array"                                                                                         },
        {"{\"nacreSession\":1,\"state\":\"?\",\"encoding\":\"base64\"}",
         "session file: state: expected base64"                                                                                                                     },
        {HEAD ",\"id\":5}",                                                                        "session file: id: expected a string without NUL, not number"    },
        {HEAD ",\"kind\":true}",                                                                   "session file: kind: expected a string without NUL, not boolean" },
        {HEAD ",\"exportedAt\":{}}",
         "session file: exportedAt: expected a string without NUL, not object"                                                                                      },
        {HEAD ",\"cwd\":[]}",                                                                      "session file: cwd: expected a string without NUL, not array"    },
        {HEAD ",\"cwd\":\"/\",\"cwd64\":\"Lw==\"}",
         "session file: cwd and cwd64: expected one of them"                                                                                                        },
        {HEAD ",\"cwd64\":\"LwAv\"}",                                                              "session file: cwd64: holds a NUL byte"                          },
        {HEAD ",\"env\":{}}",                                                                      "session file: env: expected an array of strings, not object"    },
        {HEAD ",\"env\":[\"A=1\",2]}",
         "session file: env[1]: expected a string NAME=value, not number"                                                                                           },
        {HEAD ",\"env\":[\"A=1\",\"B\"]}",                                                         "session file: env[1]: expected NAME=value"                      },
        {HEAD ",\"env\":[\"A=\\u0000\"]}",                                                         "session file: env[0]: holds a NUL byte"                         },
        {HEAD ",\"env64\":[\"QT0x\",\"!\"]}",                                                      "session file: env64[1]: expected base64"                        },
        {HEAD ",\"snapshots\":1}",
         "session file: snapshots: expected an array of objects, not number"                                                                                        },
        {HEAD ",\"snapshots\":[null]}",                                                            "session file: snapshots[0]: expected an object, not null"       },
        {HEAD ",\"snapshots\":[{\"name\":\"a\",\"state\":null},{\"name\":1,\"state\":null}]}",
         "session file: snapshots[1]: name: expected a string without NUL, not number"                                                                              },
        {HEAD ",\"snapshots\":[{\"name\":\"../x\",\"state\":null}]}",
         "session file: snapshots[0]: name: expected 1-64 letters, digits, '.', '_' or '-', not "
         "'../x'"                                                                                                                                                   },
        {HEAD ",\"snapshots\":[{\"name\":\"a\",\"state\":null},{\"name\":\"a\",\"state\":null}]}",
         "session file: snapshots[1]: name: 'a' comes twice"                                                                                                        },
        {HEAD ",\"snapshots\":[{\"name\":\"a\",\"state\":1}]}",
         "session file: snapshots[0]: state: expected a string or null, not number"                                                                                 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        expect_error(cases[i].json, cases[i].text);
}

TEST(a_key_that_comes_twice_is_refused)
{
    struct err err = {0};
    auto_rt_file struct rt_file f;
    static const char json[] = HEAD ",\"state\":null}";
    CHECK(rt_file_read(&f, json, sizeof(json) - 1, &err) < 0);
    CHECK(strstr(err.text, "'state' twice"));
}

/* What is written is read back to the byte, texts or not. */
TEST(bytes_survive)
{
    static const char *const env[] = {"A=1", "B=\xff\xfe", "C=", "D=\xc3\xa9=x"};
    char cwd[] = "/d\x80", state[] = "\xe9\n";
    struct rt_session rs = {.cwd = cwd};
    auto_buf struct buf json = BUF_INIT(4096);
    struct json_w w;
    struct err err = {0};
    strv_init(&rs.env, 4096);
    list_init(&rs.snapshots);
    struct rt_snapshot snap = {.name = "one", .state = state, .len = 2};
    list_add_tail(&rs.snapshots, &snap.link);
    for (size_t i = 0; i < sizeof(env) / sizeof(env[0]); i++)
        CHECK_INT(strv_push(&rs.env, env[i]), 0);

    json_w_init(&w, &json);
    json_w_obj(&w);
    json_w_kint(&w, "nacreSession", 1);
    rt_file_write_common(&rs, &w);
    rt_file_write_state(&w, "s\xff", 2);
    json_w_obj_end(&w);
    CHECK_INT(json_w_finish(&w), 0);

    auto_rt_file struct rt_file f;
    if (rt_file_read(&f, json.data, json.len, &err) < 0)
        FAIL("%s", err.text);
    CHECK_STR(f.cwd, "/d\x80");
    CHECK_INT(f.env.n, 4);
    CHECK_STR(f.env.items[0], "A=1");
    CHECK_STR(f.env.items[1], "C=");
    CHECK_STR(f.env.items[2], "D=\xc3\xa9=x");
    CHECK_STR(f.env.items[3], "B=\xff\xfe");
    CHECK_MEM(f.state, f.state_len, "s\xff", 2);
    const struct rt_snapshot *read = list_entry(f.snapshots.next, struct rt_snapshot, link);
    CHECK_STR(read->name, "one");
    CHECK_MEM(read->state, read->len, "\xe9\n", 2);
    strv_done(&rs.env);
}
