/* SPDX-License-Identifier: MIT */
/* Promise 6 at the very edges: what just fits is whole, what does not is refused or told of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/own.h"
#include "lib/fixture.h"
#include "lib/test.h"

static char *repeat(const char *head, char c, size_t len)
{
    char *text = xmalloc(len + 1);
    memset(text, c, len);
    memcpy(text, head, strlen(head));
    text[len] = '\0';
    return text;
}

TEST(texts)
{
    struct fx fx;
    fx_open(&fx);
    for (int background = 0; background < 2; background++) {
        auto_free char *text = repeat("echo $((6*7)) #", 'x', COMMAND_TEXT_MAX + 1);
        struct fx_opt opt = {.background = background};
        const struct command *c;
        struct err err = {0};
        CHECK_INT(fx_try(&fx, text, COMMAND_TEXT_MAX, &opt, &c, &err), 0);
        fx_wait(&fx, c);
        CHECK_STR(fx_out(&fx, c), "42\n");
        CHECK_INT(fx_try(&fx, text, COMMAND_TEXT_MAX + 1, &opt, &c, &err), -ERR_LIMIT);
    }
    fx_close(&fx);
}

TEST(environments)
{
    struct fx fx;
    fx_open(&fx);
    auto_free char *a = repeat("A=", 'x', COMMAND_ENV_MAX / 2 - 1);
    auto_free char *b = repeat("B=", 'y', COMMAND_ENV_MAX / 2);
    struct fx_opt opt = {
        .env = (const char *const[]){a, b, NULL}
    };
    const struct command *c;
    struct err err = {0};
    CHECK_INT(fx_try(&fx, "echo ${#A} ${#B}", 16, &opt, &c, &err), -ERR_LIMIT);
    b[COMMAND_ENV_MAX / 2 - 1] = '\0'; /* now just so many bytes with their ends */
    CHECK_STR(fx_out(&fx, fx_exec_opt(&fx, "echo ${#A} ${#B}", &opt)), "524285 524285\n");
    opt.background = true;
    CHECK_STR(fx_out(&fx, fx_exec_opt(&fx, "echo ${#A} ${#B}", &opt)), "524285 524285\n");
    FX_RUN(&fx, "echo ${#A} ${#B}", 0, "0 0\n", "");
    fx_close(&fx);
}

TEST(numbers_that_can_never_work)
{
    const struct fx_opt wrong[] = {
        {.timeout_ms = -1},
        {.timeout_ms = -2, .background = true},
        {.grace_ms = -1               },
        {.cwd = ""},
        {.pty = true               },
        {.env = (const char *const[]){"A", NULL}},
        {.env = (const char *const[]){"=x", NULL}               },
        {.env = (const char *const[]){"1A=x", NULL}},
        {.env = (const char *const[]){"A B=x", NULL}               },
        {.env = (const char *const[]){"BASH_FUNC_f%%=() { :; }", NULL}},
    };
    struct fx fx;
    fx_open(&fx);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const struct command *c;
        struct err err = {0};
        CHECK_INT(fx_try(&fx, ">made", 5, &wrong[i], &c, &err), -ERR_INVALID);
        CHECK(*err.text);
    }
    FX_RUN(&fx, "[ ! -e made ]", 0, "", "");
    fx_close(&fx);
}

/* Gives a command more than may wait, again and again; all of it arrives. */
static void feed(struct fx *fx, const struct command *c, size_t total)
{
    enum { PIECE = 300000 };
    auto_free char *piece = repeat("", 'x', PIECE);
    size_t n_busy = 0;
    for (size_t given = 0; given < total;) {
        struct err err = {0};
        size_t n = total - given < PIECE ? total - given : PIECE;
        int rc = rt_input(fx->rt, c->id, piece, n, &err);
        CHECK(rc == 0 || rc == -ERR_BUSY);
        CHECK(c->stdin_pending <= 4UL * 1024 * 1024);
        if (rc == 0)
            given += n;
        else
            n_busy++;
        if (rc)
            fx_turn(fx);
    }
    fx_input_end(fx, c);
}

TEST_TIMEOUT(input_is_held_back_not_lost, 60)
{
    enum { TOTAL = 20000000 };
    struct fx fx;
    fx_open(&fx);
    for (int background = 0; background < 2; background++) {
        const struct command *c =
            fx_start(&fx, "wc -c", &(struct fx_opt){.in_open = true, .background = background});
        feed(&fx, c, TOTAL);
        fx_wait(&fx, c);
        CHECK_INT(fx_number(&fx, c), TOTAL);
    }
    /* One that waits for its turn takes as much, and no more. */
    const struct command *first = fx_start(&fx, "sleep 600", NULL);
    const struct command *c = fx_start(&fx, "wc -c", &(struct fx_opt){.in_open = true});
    auto_free char *piece = repeat("", 'x', (size_t)1024 * 1024);
    for (int i = 0; i < 4; i++)
        CHECK_INT(rt_input(fx.rt, c->id, piece, (size_t)1024 * 1024, NULL), 0);
    struct err err = {0};
    CHECK_INT(rt_input(fx.rt, c->id, piece, 1, &err), -ERR_BUSY);
    CHECK(strstr(err.text, "4194304"));
    fx_input_end(&fx, c);
    fx_stop(&fx, first);
    fx_wait(&fx, c);
    CHECK_INT(fx_number(&fx, c), 4 * 1024 * 1024);
    fx_close(&fx);
}

TEST(files_hold_all_of_it)
{
    struct fx fx;
    fx_open_with(&fx, &(struct fx_settings){.spills = true});
    const struct command *c = FX_RUN(
        &fx, "seq 1 200000 | tee >(md5sum >sum1) ; seq 1 50000 | tee >(md5sum >sum2) >&2; wait", 0,
        NULL, NULL);
    fx_wait_quiet(&fx, c);
    auto_free char *dir = xstrdup(fx_field(&fx, c->id, "spill") + strlen("file://"));
    CHECK_STR(fx_field(&fx, c->id, "bytes.stdout"), "1288895");
    CHECK_STR(fx_field(&fx, c->id, "bytes.stderr"), "288894");
    auto_free char *text =
        xasprintf("md5sum <%s/stdout | cmp - sum1 && md5sum <%s/stderr | cmp - sum2", dir, dir);
    FX_RUN(&fx, "until [ -s sum1 ] && [ -s sum2 ]; do sleep .05; done", 0, "", "");
    CHECK_INT(test_sh(text), 0); /* not a session's to see */
    fx_close(&fx);
}

/* More than may be kept: said, and what was kept before is still right. */
TEST(a_state_that_is_too_large)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c = FX_RUN(&fx, "x=1; kept=yes", 0, "", "");
    CHECK_STR(fx_field(&fx, c->id, "limit"), "null");
    c = FX_RUN(&fx, "x=2; big=$(head -c 9000000 /dev/zero | tr '\\0' x)", 0, "", "");
    CHECK_STR(fx_field(&fx, c->id, "limit"), "state");
    FX_RUN(&fx, "echo $x ${#big}", 0, "2 9000000\n", "");
    FX_RUN(&fx, "exit 3", 3, "", "");
    FX_RUN(&fx, "echo $x $kept ${#big}", 0, "1 yes 0\n", "");
    c = FX_RUN(&fx, "x=3", 0, "", "");
    CHECK_STR(fx_field(&fx, c->id, "limit"), "null");
    fx_close(&fx);
}

TEST(names)
{
    static const char *const wrong[] = {
        "",         ".",
        "..",       "../evil",
        "a/b",      ".hidden",
        "a b",      "a\nb",
        "\xc3\xa9", "-x;",
        "a\tb",     "a:b",
        "a*",       "%s",
        "$(x)",     "1234567890123456789012345678901234567890123456789012345678901234_",
    };
    struct fx fx;
    char id[65];
    fx_open(&fx);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct err err = {0};
        struct rt_session_spec spec = {.id = wrong[i]};
        CHECK_INT(rt_session_open(fx.rt, NULL, &spec, id, &err), -ERR_INVALID);
        CHECK(strstr(err.text, "expected 1-64 letters"));
        CHECK_INT(rt_session_fork(fx.rt, NULL, fx.session, wrong[i], id, &err), -ERR_INVALID);
        CHECK_INT(rt_session_snapshot(fx.rt, fx.session, wrong[i], &err), -ERR_INVALID);
    }
    struct rt_session_spec spec = {
        .id = "1234567890123456789012345678901234567890123456789012345678901234"};
    CHECK_INT(rt_session_open(fx.rt, NULL, &spec, id, NULL), 0);
    CHECK_STR(fx_out(&fx, fx_exec_opt(&fx, "echo ok", &(struct fx_opt){.session = id})), "ok\n");
    fx_close(&fx);
}

/* ---- so many sessions ---- */

enum { SESSIONS_MAX = 10000 };

static int each_session(void (*each)(const char *id, const char *json, size_t json_len,
                                     const char *state, size_t state_len, void *arg),
                        void *arg, struct err *err, void *ctx)
{
    (void)err;
    for (int i = 0; i < *(int *)ctx; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "s%d", i);
        each(id, "{}", 2, NULL, 0, arg);
    }
    return 0;
}

TEST(sessions)
{
    struct fx fx;
    int n = SESSIONS_MAX - 1;
    fx_open(&fx);
    rt_free(take_ptr(fx.rt));
    struct rt_options o = {
        .kinds = fx.kinds,
        .run_dir = fx.run_dir,
        .store = {.each_session = each_session, .ctx = &n},
    };
    CHECK_INT(rt_new(fx.ev, &o, &fx.rt, NULL), 0);
    struct err err = {0};
    char id[65];
    struct rt_session_spec spec = {.id = "main"};
    CHECK_INT(rt_session_open(fx.rt, NULL, &spec, id, &err), 0);
    spec.id = "one-more";
    CHECK_INT(rt_session_open(fx.rt, NULL, &spec, id, &err), -ERR_LIMIT);
    CHECK(strstr(err.text, "10000 sessions are open, the maximum"));
    FX_RUN(&fx, "echo ok", 0, "ok\n", "");
    /* One that goes makes room. */
    CHECK_INT(rt_session_close(fx.rt, "s7", NULL, NULL, &err), 0);
    CHECK_INT(rt_session_open(fx.rt, NULL, &spec, id, &err), 0);
    fx_close(&fx);
}
