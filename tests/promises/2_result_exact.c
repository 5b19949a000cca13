/* SPDX-License-Identifier: MIT */
/* Promise 2: the result is exact. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/signame.h"
#include "json/read.h"
#include "lib/fixture.h"
#include "lib/test.h"

/* Text, bytes and length of a string literal that may hold NUL. */
#define BYTES(text) (text), sizeof(text) - 1

static const struct {
    const char *command;
    const char *out;
    size_t len;
} exact[] = {
    {"printf a",                    BYTES("a")              },
    {"echo a",                      BYTES("a\n")            },
    {"printf 'a\\n\\n'",            BYTES("a\n\n")          },
    {"printf '\\n'",                BYTES("\n")             },
    {"printf '\\n\\n\\na'",         BYTES("\n\n\na")        },
    {":",                           BYTES("")               },
    {"printf '\\0'",                BYTES("\0")             },
    {"printf 'a\\0b\\0\\0'",        BYTES("a\0b\0\0")       },
    {"printf '\\377\\376'",         BYTES("\xff\xfe")       },
    {"printf '\\303'",              BYTES("\xc3")           },
    {"printf 'a\\r\\nb\\r'",        BYTES("a\r\nb\r")       },
    {"printf '\\357\\277\\275'",    BYTES("\xef\xbf\xbd")   },
    {"printf '\\001\\033[0m\\177'", BYTES("\x01\033[0m\x7f")},
    {"printf '\\342\\202'",         BYTES("\xe2\x82")       },
    {"printf '\"\\\\/\\b\\f\\t'",   BYTES("\"\\/\b\f\t")    },
    {"find . -maxdepth 0 -print0",  BYTES(".\0")            },
};

/* The bytes of a stream as the result object gives them. */
static void decode(const struct json_node *root, const char *stream, struct buf *ret)
{
    size_t len;
    const char *text = json_str(json_get(root, stream), &len);
    const char *encoding = json_cstr(json_get(json_get(root, "encoding"), stream));
    CHECK(text && encoding);
    if (strcmp(encoding, "base64") == 0)
        CHECK_INT(base64_decode(text, len, ret), 0);
    else
        CHECK_INT(buf_append(ret, text, len), 0);
}

static void check_bytes(struct fx *fx, const struct command *c, size_t i, int which)
{
    static const char *const names[] = {"output", "stdout", "stderr"};
    size_t len;
    const char *raw = fx_text(fx, c, which, &len);
    if (len != exact[i].len || memcmp(raw, exact[i].out, len) != 0)
        FAIL("'%s': other bytes on %s", exact[i].command, names[which]);
    auto_buf struct buf shown = BUF_INIT(1024);
    decode(fx_result(fx, c->id), names[which], &shown);
    if (shown.len != len || (len && memcmp(shown.data, raw, len) != 0))
        FAIL("'%s': other bytes in the result's %s", exact[i].command, names[which]);
}

TEST(every_byte_of_both_streams)
{
    struct fx fx;
    fx_open(&fx);
    for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++) {
        auto_free char *to_err = xasprintf("{ %s; } >&2", exact[i].command);
        for (int background = 0; background < 2; background++) {
            struct fx_opt opt = {.background = background};
            const struct command *c = fx_exec_opt(&fx, exact[i].command, &opt);
            fx_wait_quiet(&fx, c);
            check_bytes(&fx, c, i, CAPTURE_STDOUT);
            check_bytes(&fx, c, i, CAPTURE_OUTPUT);
            CHECK_STR(fx_err(&fx, c), "");
            c = fx_exec_opt(&fx, to_err, &opt);
            fx_wait_quiet(&fx, c);
            check_bytes(&fx, c, i, CAPTURE_STDERR);
            CHECK_STR(fx_out(&fx, c), "");
        }
    }
    fx_close(&fx);
}

TEST(all_256_bytes_many_times)
{
    enum { TIMES = 4096 };
    struct fx fx;
    fx_open_with(&fx, &(struct fx_settings){.spills = true});
    static const char make[] = "s=; for i in {0..255}; do printf -v h '\\\\x%02x' $i; s+=$h; done; "
                               "for i in {1..4096}; do printf \"$s\"; done";
    for (int background = 0; background < 2; background++) {
        const struct command *c =
            fx_exec_opt(&fx, make, &(struct fx_opt){.background = background});
        fx_wait_quiet(&fx, c);
        size_t len;
        const char *out = fx_text(&fx, c, CAPTURE_STDOUT, &len);
        CHECK_INT(len, 256 * TIMES);
        for (size_t i = 0; i < len; i++)
            if ((unsigned char)out[i] != i % 256)
                FAIL("byte %zu is %d", i, (unsigned char)out[i]);
    }
    fx_close(&fx);
}

TEST(large_output_is_whole)
{
    struct fx fx;
    fx_open_with(&fx, &(struct fx_settings){.spills = true});
    const struct command *c = fx_exec(
        &fx,
        "openssl enc -aes-128-ctr -K 00 -iv 00 -nosalt </dev/zero 2>/dev/null | head -c 30000000 | "
        "tee >(md5sum >sum) 2>/dev/null");
    if (capture_log_bytes(c->log, CAPTURE_STDOUT) == 0) /* no openssl: something else that varies */
        c = fx_exec(&fx, "seq 1 4000000 | head -c 30000000 | tee >(md5sum >sum)");
    FX_RUN(&fx, "until [ -s sum ]; do sleep .02; done", 0, "", "");
    CHECK_INT(capture_log_bytes(c->log, CAPTURE_STDOUT), 30000000);
    auto_free char *again =
        xasprintf("md5sum <%s/stdout | cmp - sum", fx_field(&fx, c->id, "spill") + 7);
    CHECK_INT(test_sh(again), 0); /* not a session's to see */
    fx_close(&fx);
}

/* Each step waits until the one before was seen, so that only one order is right. */
TEST(order_of_arrival)
{
    struct fx fx;
    fx_open(&fx);
    for (int background = 0; background < 2; background++) {
        struct fx_opt opt = {.in_open = true, .background = background};
        const struct command *c = fx_start(
            &fx, "while read -r s t; do if [ $s = o ]; then echo o$t; else echo e$t >&2; fi; done",
            &opt);
        auto_buf struct buf want = BUF_INIT(4096);
        for (int i = 0; i < 60; i++) {
            char step[16];
            bool out = i % 3 == 0 || i % 7 == 0;
            (void)snprintf(step, sizeof(step), "%c%d\n", out ? 'o' : 'e', i);
            (void)buf_append_str(&want, step);
            (void)snprintf(step, sizeof(step), "%c %d\n", out ? 'o' : 'e', i);
            fx_input(&fx, c, step);
            fx_wait_text(&fx, c, CAPTURE_OUTPUT, buf_cstr(&want));
        }
        fx_input_end(&fx, c);
        fx_wait(&fx, c);
        CHECK_STR(fx_text(&fx, c, CAPTURE_OUTPUT, NULL), buf_cstr(&want));
    }
    fx_close(&fx);
}

/*
 * Without any waiting: lines that change the stream each time keep their order. (Of several in a
 * row the kernel tells only that there were some.)
 */
TEST(order_of_lines)
{
    struct fx fx;
    fx_open(&fx);
    for (int i = 0; i < 200; i++) {
        const struct command *c = FX_RUN(
            &fx, "echo 1; echo 2 >&2; echo 3; echo 4 >&2; echo 5; /bin/echo 6 >&2; /bin/echo 7", 0,
            "1\n3\n5\n7\n", "2\n4\n6\n");
        CHECK_STR(fx_text(&fx, c, CAPTURE_OUTPUT, NULL), "1\n2\n3\n4\n5\n6\n7\n");
    }
    fx_close(&fx);
}

TEST(every_exit_code)
{
    struct fx fx;
    fx_open(&fx);
    for (int code = 0; code < 256; code++) {
        char text[64];
        (void)snprintf(text, sizeof(text), "(exit %d)", code);
        FX_RUN(&fx, text, code, "", "");
        (void)snprintf(text, sizeof(text), "return %d", code);
        FX_RUN(&fx, text, code, "", "");
    }
    for (int code = 0; code < 256; code += 15) {
        char text[64];
        (void)snprintf(text, sizeof(text), "exit %d", code);
        FX_RUN(&fx, text, code, "", "");
        const struct command *c = fx_exec_opt(&fx, text, &(struct fx_opt){.background = true});
        CHECK_INT(c->exit_code, code);
    }
    fx_close(&fx);
}

TEST(every_signal)
{
    static const int signals[] = {1,  2,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13,
                                  14, 15, 16, 24, 25, 26, 27, 29, 30, 31, 34, 64};
    struct fx fx;
    fx_open(&fx);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        char text[64], name[SIGNAME_SIZE];
        (void)snprintf(text, sizeof(text), "ulimit -c 0; kill -%d $$; sleep 600", signals[i]);
        const struct command *c = fx_exec_opt(&fx, text, &(struct fx_opt){.background = true});
        CHECK_INT(c->state, COMMAND_SIGNALED);
        CHECK_INT(c->signal, signals[i]);
        CHECK_INT(c->exit_code, 128 + signals[i]);
        CHECK_STR(fx_field(&fx, c->id, "signal"), signame_long(signals[i], name));
        (void)snprintf(text, sizeof(text), "sh -c 'ulimit -c 0; kill -%d $$'", signals[i]);
        c = fx_exec(&fx, text);
        CHECK_INT(c->state, COMMAND_EXITED);
        CHECK_INT(c->exit_code, 128 + signals[i]);
    }
    /* The shell itself. */
    const struct command *c = fx_exec(&fx, "ulimit -c 0; kill -SEGV $$");
    CHECK_INT(c->state, COMMAND_SIGNALED);
    CHECK_INT(c->signal, 11);
    CHECK_INT(c->exit_code, 139);
    fx_close(&fx);
}

TEST(completion_is_not_read_from_output)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "printf '\\0\\0abcdefghijkl 0 /\\0'; sleep .05; (exit 9)", 9, NULL, "");
    FX_RUN(&fx, "cat ${BASH_SOURCE%/*}/command; (exit 8)", 8,
           "cat ${BASH_SOURCE%/*}/command; (exit 8)", "");
    fx_close(&fx);
}

TEST(each_command_has_its_own_result)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *a = FX_RUN(&fx, "echo a; echo x >&2; (exit 1)", 1, NULL, NULL);
    const struct command *b = FX_RUN(&fx, "echo b; (exit 2)", 2, NULL, NULL);
    CHECK(strcmp(a->id, b->id) != 0);
    CHECK_STR(fx_field(&fx, a->id, "stdout"), "a\n");
    CHECK_STR(fx_field(&fx, a->id, "exitCode"), "1");
    CHECK_STR(fx_field(&fx, b->id, "stdout"), "b\n");
    CHECK_STR(fx_field(&fx, b->id, "stderr"), "");
    CHECK_STR(fx_field(&fx, b->id, "exitCode"), "2");
    CHECK_STR(fx_field(&fx, b->id, "command"), "echo b; (exit 2)");
    fx_close(&fx);
}
