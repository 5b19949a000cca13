/* SPDX-License-Identifier: MIT */
/* Promise 6: everything is bounded, and says so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/own.h"
#include "json/read.h"
#include "json/write.h"
#include "lib/fixture.h"
#include "lib/test.h"
#include "session/session.h"

TEST(output_shown)
{
    static const struct {
        const char *text;
        long bytes;
    } prints[] = {
        {"head -c 65536 /dev/zero | tr '\\0' x",        65536 },
        {"head -c 65537 /dev/zero | tr '\\0' x",        65537 },
        {"head -c 200000 /dev/zero | tr '\\0' x",       200000},
        {"head -c 65537 /dev/zero",                     65537 },
        {"head -c 100000 /dev/zero | tr '\\0' '\\377'", 100000},
    };
    struct fx fx;
    fx_open(&fx);
    for (size_t i = 0; i < sizeof(prints) / sizeof(prints[0]); i++) {
        const struct command *c = fx_exec(&fx, prints[i].text);
        bool cut = prints[i].bytes > 65536;
        CHECK_INT(strtol(fx_field(&fx, c->id, "bytes.stdout"), NULL, 10), prints[i].bytes);
        CHECK_STR(fx_field(&fx, c->id, "outputTruncated"), cut ? "true" : "false");
        CHECK_INT(strtol(fx_field(&fx, c->id, "omitted.stdout"), NULL, 10),
                  cut ? prints[i].bytes - 65536 : 0);
        CHECK_INT(strtol(fx_field(&fx, c->id, "omitted.output"), NULL, 10),
                  cut ? prints[i].bytes - 65536 : 0);
    }
    /* In characters of several bytes none is cut in two. */
    const struct command *c = fx_exec(&fx, "printf x; yes $'\\xf0\\x9f\\x90\\x9a' | head -n 60000");
    CHECK_STR(fx_field(&fx, c->id, "encoding.stdout"), "utf-8");
    CHECK(strtol(fx_field(&fx, c->id, "omitted.stdout"), NULL, 10) >= 300001 - 65536);
    fx_close(&fx);
}

TEST(time)
{
    struct fx fx;
    fx_open(&fx);
    CHECK_INT(fx_exec(&fx, ":")->timeout_ms, 120000);
    fx_close(&fx);
    CHECK_INT(setenv("NACRE_DEFAULT_COMMAND_TIMEOUT_MS", "300", 1), 0);
    CHECK_INT(setenv("NACRE_MAX_COMMAND_TIMEOUT_MS", "700", 1), 0);
    fx_open(&fx);
    const struct command *c = fx_exec_opt(&fx, "sleep 600", &(struct fx_opt){.grace_ms = 100});
    CHECK_INT(c->state, COMMAND_TIMED_OUT);
    CHECK_STR(fx_field(&fx, c->id, "timeoutMs"), "300");
    CHECK_STR(fx_field(&fx, c->id, "timeoutClamped"), "false");
    c = fx_exec_opt(&fx, "sleep 600", &(struct fx_opt){.timeout_ms = 5000, .grace_ms = 100});
    CHECK_STR(fx_field(&fx, c->id, "timeoutMs"), "700");
    CHECK_STR(fx_field(&fx, c->id, "timeoutClamped"), "true");
    fx_close(&fx);
}

TEST(time_that_makes_no_sense_is_refused)
{
    static const char *const wrong[] = {"0", "-1", "abc", "12x", "99999999999999999999"};
    static const char *const names[] = {"NACRE_DEFAULT_COMMAND_TIMEOUT_MS",
                                        "NACRE_MAX_COMMAND_TIMEOUT_MS"};
    struct fx fx;
    fx_open(&fx);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        for (int n = 0; n < 2; n++) {
            CHECK_INT(setenv(names[n], wrong[i], 1), 0);
            struct rt_options o = {.kinds = fx.kinds, .run_dir = fx.run_dir};
            struct rt *rt;
            struct err err = {0};
            CHECK_INT(rt_new(fx.ev, &o, &rt, &err), -ERR_INVALID);
            CHECK(strstr(err.text, names[n]) && strstr(err.text, wrong[i]));
            CHECK_INT(unsetenv(names[n]), 0);
        }
    }
    fx_close(&fx);
}

TEST(queue_length)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *first = fx_start(&fx, "sleep 600", NULL), *c = NULL;
    struct err err = {0};
    FX_UNTIL(&fx, first->state == COMMAND_RUNNING);
    for (int i = 0; i < SESSION_QUEUE_MAX; i++)
        CHECK_INT(fx_try(&fx, "n=$((n+1))", 10, NULL, &c, &err), 0);
    CHECK_INT(fx_try(&fx, ":", 1, NULL, &c, &err), -ERR_BUSY);
    CHECK(strstr(err.text, "commands waiting, the maximum"));
    /* It is refused, not dropped in silence, and nothing of the others is lost. */
    fx_stop(&fx, first);
    FX_UNTIL(&fx, fx_try(&fx, "echo $n", 7, NULL, &c, &err) == 0);
    fx_wait(&fx, c);
    CHECK_INT(fx_number(&fx, c), SESSION_QUEUE_MAX);
    fx_close(&fx);
}

TEST_TIMEOUT(background_commands, 60)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c = NULL;
    struct err err = {0};
    struct fx_opt opt = {.background = true};
    int n = 0;
    while (n < 1000 && fx_try(&fx, "sleep 600", 9, &opt, &c, &err) == 0)
        n++;
    CHECK_INT(n, 256);
    CHECK(strstr(err.text, "256 background commands, the maximum"));
    FX_RUN(&fx, "echo ok", 0, "ok\n", "");
    fx_stop(&fx, c);
    CHECK_INT(fx_try(&fx, "true", 4, &opt, &c, &err), 0);
    fx_wait(&fx, c);
    CHECK_INT(c->exit_code, 0);
    fx_close(&fx);
}

TEST(input_that_nobody_reads)
{
    enum { PIECE = 1024 * 1024 };
    struct fx fx;
    fx_open(&fx);
    auto_free char *piece = xmalloc(PIECE);
    memset(piece, 'x', PIECE);
    for (int background = 0; background < 2; background++) {
        const struct command *c =
            fx_start(&fx, "sleep 600", &(struct fx_opt){.in_open = true, .background = background});
        struct err err = {0};
        int n = 0, rc = 0;
        while (n < 64 && (rc = rt_input(fx.rt, c->id, piece, PIECE, &err)) == 0)
            n++;
        CHECK_INT(rc, -ERR_BUSY);
        CHECK(n >= 3 && n <= 6);
        CHECK(strstr(err.text, "bytes of input wait"));
        fx_stop(&fx, c);
    }
    fx_close(&fx);
}

/* Old results make room; a server that lives on does not keep the others. */
TEST_TIMEOUT(results_in_memory, 60)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *server = FX_RUN(&fx, "sleep 600 &", 0, "", "");
    auto_free char *server_id = xstrdup(server->id);
    char first[COMMAND_ID_MAX];
    memcpy(first, FX_RUN(&fx, "echo first", 0, "first\n", "")->id, sizeof(first));
    for (int i = 0; i < 1500; i++) {
        FX_RUN(&fx, ":", 0, "", "");
        if (i % 100 == 0)
            fx_forget(&fx);
    }
    CHECK(!rt_find_command(fx.rt, first));
    CHECK(rt_find_command(fx.rt, server_id)); /* it may still print */
    auto_buf struct buf json = BUF_INIT((size_t)8 * 1024 * 1024);
    struct json_w w;
    json_w_init(&w, &json);
    rt_command_list(fx.rt, NULL, true, &w);
    CHECK_INT(json_w_finish(&w), 0);
    struct json_node *root;
    CHECK_INT(json_parse(json.data, json.len, NULL, &fx.arena, &root, NULL), 0);
    CHECK(json_len(root) <= 1001);
    fx_close(&fx);
}

TEST(sessions_that_nobody_uses)
{
    struct fx fx;
    fx_open_with(&fx, &(struct fx_settings){.session_idle_ms = 1});
    FX_RUN(&fx, "sleep 600 &", 0, "", "");
    CHECK(rt_session_exists(fx.rt, fx.session));
    fx_close(&fx);
}

TEST(texts_and_names)
{
    struct fx fx;
    char id[65];
    struct err err = {0};
    fx_open(&fx);
    for (int i = 0; i < 64; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "snap%d", i);
        CHECK_INT(rt_session_snapshot(fx.rt, fx.session, name, &err), 0);
    }
    CHECK_INT(rt_session_snapshot(fx.rt, fx.session, "one-more", &err), -ERR_LIMIT);
    CHECK(strstr(err.text, "64 snapshots"));
    CHECK_INT(rt_session_snapshot(fx.rt, fx.session, "snap7", &err),
              0); /* in place of the old one */
    CHECK_INT(rt_session_snapshot(fx.rt, fx.session, "../x", &err), -ERR_INVALID);
    struct rt_session_spec spec = {.id = "x", .cwd = "relative"};
    CHECK_INT(rt_session_open(fx.rt, NULL, &spec, id, &err), -ERR_INVALID);
    spec.cwd = "/nosuch";
    CHECK_INT(rt_session_open(fx.rt, NULL, &spec, id, &err), -ERR_INVALID);
    CHECK(strstr(err.text, "cwd '/nosuch'"));
    spec.cwd = "/etc/passwd";
    CHECK_INT(rt_session_open(fx.rt, NULL, &spec, id, &err), -ERR_INVALID);
    spec = (struct rt_session_spec){.id = "x", .kind = "zsh"};
    CHECK_INT(rt_session_open(fx.rt, NULL, &spec, id, &err), -ERR_INVALID);
    CHECK(strstr(err.text, "kind 'zsh': expected 'bash'"));
    CHECK(!rt_session_exists(fx.rt, "x"));
    struct fx_opt pty = {.pty = true};
    const struct command *c;
    CHECK_INT(fx_try(&fx, ":", 1, &pty, &c, &err), -ERR_INVALID);
    fx_close(&fx);
}
