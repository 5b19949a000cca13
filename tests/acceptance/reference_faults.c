/* SPDX-License-Identifier: MIT */
/*
 * What the session runner that we measure ourselves against gets wrong: each fault that was
 * reproduced there (R1 to R16), and the behaviour of its sessions that is right.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/own.h"
#include "lib/fixture.h"
#include "lib/test.h"

static void check_next(struct fx *fx)
{
    const struct command *c = FX_RUN(fx, "echo next $kept", 0, "next yes\n", "");
    CHECK_INT(c->exit_code, 0);
}

static void open_with_state(struct fx *fx)
{
    fx_open(fx);
    FX_RUN(fx, "kept=yes", 0, "", "");
}

TEST(r1_open_quote)
{
    struct fx fx;
    open_with_state(&fx);
    const struct command *c = FX_RUN(&fx, "echo 'abc", 2, "", NULL);
    CHECK(strstr(fx_err(&fx, c), "unexpected EOF while looking for matching `''"));
    check_next(&fx);
    fx_close(&fx);
}

TEST(r2_syntax_errors)
{
    struct fx fx;
    open_with_state(&fx);
    FX_RUN(&fx, "echo )", 2, "", NULL);
    check_next(&fx);
    FX_RUN(&fx, "if true", 2, "", NULL);
    check_next(&fx);
    CHECK(!FX_RUN(&fx, ":", 0, "", "")->session_restored);
    fx_close(&fx);
}

TEST(r3_closing_brace)
{
    struct fx fx;
    open_with_state(&fx);
    FX_RUN(&fx, "echo a; }", 2, "", NULL);
    check_next(&fx);
    FX_RUN(&fx, "} >/dev/null; {", 2, "", NULL);
    check_next(&fx);
    FX_RUN(&fx, "done; for i in 1; do", 2, "", NULL);
    check_next(&fx);
    fx_close(&fx);
}

TEST(r4_trailing_backslash)
{
    struct fx fx;
    open_with_state(&fx);
    /* What bash makes of it in a file; nothing of ours follows. */
    FX_RUN(&fx, "echo a \\", 0, "a \\\n", "");
    FX_RUN(&fx, "echo a \\\n", 0, "a\n", "");
    check_next(&fx);
    fx_close(&fx);
}

TEST(r5_names_that_a_harness_might_use)
{
    struct fx fx;
    open_with_state(&fx);
    FX_RUN(&fx,
           "log=/dev/null sp=1 ep=2 dir=3 PREV_DIR=4 EXIT_CODE=5 code=6 in=7 out=8 err=9 rc=10\n"
           "cleanup() { echo mine; }; report() { :; }; save() { :; }; command_() { :; }",
           0, "", "");
    FX_RUN(&fx, "echo x", 0, "x\n", "");
    FX_RUN(&fx, "echo $log $sp $ep $dir $PREV_DIR $EXIT_CODE $code $in $out $err $rc; cleanup", 0,
           "/dev/null 1 2 3 4 5 6 7 8 9 10\nmine\n", "");
    FX_RUN(&fx, "trap 'echo t' EXIT HUP INT TERM USR1", 0, "", "");
    FX_RUN(&fx, "trap -p EXIT TERM", 0, "trap -- 'echo t' EXIT\ntrap -- 'echo t' SIGTERM\n", "");
    FX_RUN(&fx, "kill -USR1 $$", 0, "t\n", "");
    FX_RUN(&fx, "exit 3", 3, "t\n", "");
    FX_RUN(&fx, "trap -p EXIT USR1", 0, "trap -- 'echo t' EXIT\ntrap -- 'echo t' SIGUSR1\n", "");
    fx_close(&fx);
}

TEST(r6_printf_is_a_function)
{
    struct fx fx;
    open_with_state(&fx);
    FX_RUN(&fx, "printf() { :; }", 0, "", "");
    check_next(&fx);
    FX_RUN(&fx, "printf a; /bin/echo b; builtin printf c", 0, "b\nc", "");
    check_next(&fx);
    fx_close(&fx);
}

TEST(r7_path_is_empty)
{
    struct fx fx;
    open_with_state(&fx);
    FX_RUN(&fx, "PATH=", 0, "", "");
    check_next(&fx);
    FX_RUN(&fx, "ls", 127, "", NULL);
    FX_RUN(&fx, "unset PATH", 0, "", "");
    check_next(&fx);
    FX_RUN(&fx, "exit 1", 1, "", "");
    check_next(&fx);
    FX_RUN(&fx, "PATH=/bin:/usr/bin; cat </dev/null && echo ok", 0, "ok\n", "");
    fx_close(&fx);
}

TEST(r8_nounset_and_errexit)
{
    struct fx fx;
    open_with_state(&fx);
    FX_RUN(&fx, "set -u; echo $nosuch; echo not", 1, "", NULL);
    check_next(&fx);
    FX_RUN(&fx, "set +u -e; false", 1, "", "");
    check_next(&fx);
    FX_RUN(&fx, "echo ${nosuch:?message}; echo not", 1, "", NULL);
    check_next(&fx);
    fx_close(&fx);
}

static const struct command *background(struct fx *fx, const char *text, int code)
{
    const struct command *c = fx_exec_opt(fx, text, &(struct fx_opt){.background = true});
    CHECK_INT(c->state, COMMAND_EXITED);
    CHECK_INT(c->exit_code, code);
    fx_wait_quiet(fx, c);
    return c;
}

TEST(r9_exit_in_the_background)
{
    struct fx fx;
    open_with_state(&fx);
    CHECK_STR(fx_out(&fx, background(&fx, "echo $kept; exit 3", 3)), "yes\n");
    (void)background(&fx, "set -e; false; exit 0", 1);
    (void)background(&fx, "exec sh -c 'exit 4'", 4);
    (void)background(&fx, "exit", 0);
    check_next(&fx);
    fx_close(&fx);
}

TEST(r10_background_in_no_directory)
{
    struct fx fx;
    open_with_state(&fx);
    for (int i = 0; i < 2; i++) {
        struct fx_opt opt = {.background = i, .cwd = "/nosuch/dir"};
        const struct command *c = fx_exec_opt(&fx, "echo not", &opt);
        CHECK_INT(c->state, COMMAND_EXITED);
        CHECK_INT(c->exit_code, 1);
        CHECK_STR(fx_out(&fx, c), "");
        CHECK(strstr(fx_err(&fx, c), "/nosuch/dir: No such file or directory"));
    }
    check_next(&fx);
    fx_close(&fx);
}

TEST(r11_syntax_error_in_the_background)
{
    struct fx fx;
    open_with_state(&fx);
    CHECK(strstr(fx_err(&fx, background(&fx, "echo )", 2)), "syntax error"));
    CHECK(strstr(fx_err(&fx, background(&fx, "echo 'abc", 2)), "unexpected EOF"));
    fx_close(&fx);
}

TEST(r12_time_limit_in_the_background)
{
    struct fx fx;
    open_with_state(&fx);
    struct fx_opt opt = {.background = true, .timeout_ms = 300, .grace_ms = 100};
    const struct command *c = fx_exec_opt(&fx, "sleep 600", &opt);
    CHECK_INT(c->state, COMMAND_TIMED_OUT);
    /* The limit of one command is none of the next. */
    c = fx_exec_opt(&fx, ":", &(struct fx_opt){.timeout_ms = 500});
    CHECK_INT(c->timeout_ms, 500);
    CHECK_INT(fx_exec(&fx, ":")->timeout_ms, COMMAND_TIMEOUT_DEFAULT);
    fx_close(&fx);
}

TEST_TIMEOUT(r13_killing_all_at_once, 60)
{
    enum { N = 8 };
    struct fx fx;
    open_with_state(&fx);
    fx_mark(&fx);
    const struct command *c[N];
    for (int i = 0; i < N; i++) {
        c[i] = fx_start(&fx, "trap '' INT TERM; echo up; while :; do sleep 1; done",
                        &(struct fx_opt){.background = true, .grace_ms = 2000});
        fx_wait_text(&fx, c[i], CAPTURE_STDOUT, "up");
    }
    double from = fx_seconds();
    for (int i = 0; i < N; i++)
        CHECK_INT(rt_stop(fx.rt, c[i]->id, NULL), 0);
    for (int i = 0; i < N; i++) {
        fx_wait(&fx, c[i]);
        CHECK_INT(c[i]->state, COMMAND_CANCELLED);
        CHECK(c[i]->killed);
    }
    CHECK(fx_seconds() - from < N * 2); /* one after the other it were 32 s */
    CHECK_INT(fx_marked(&fx), 0);
    fx_close(&fx);
}

/* One session in trouble does not hold up another one. */
TEST_TIMEOUT(r14_sessions_do_not_block_each_other, 60)
{
    static const char *const bad[] = {
        "mkfifo q; cat q",          "mkfifo w; echo >w",   "kill -STOP $$",
        "rm -rf ${BASH_SOURCE%/*}", "while :; do :; done", "exec 0<&- 1>&- 2>&-; sleep 600",
    };
    enum { N = sizeof(bad) / sizeof(bad[0]) };
    struct fx fx;
    open_with_state(&fx);
    char id[65];
    struct rt_session_spec spec = {.id = "bad", .cwd = test_dir()};
    CHECK_INT(rt_session_open(fx.rt, NULL, &spec, id, NULL), 0);
    for (size_t i = 0; i < N; i++) {
        struct fx_opt opt = {.session = "bad", .timeout_ms = 1500, .grace_ms = 100};
        const struct command *c = fx_start(&fx, bad[i], &opt);
        for (int n = 0; n < 5; n++)
            check_next(&fx);
        fx_wait(&fx, c);
        check_next(&fx);
        c = fx_exec_opt(&fx, "echo works", &(struct fx_opt){.session = "bad"});
        if (strcmp(fx_out(&fx, c), "works\n") != 0)
            FAIL("after '%s': %s", bad[i], command_state_name(c->state));
    }
    fx_close(&fx);
}

TEST_TIMEOUT(r15_many_sessions_at_once, 120)
{
    enum { SESSIONS = 16, EACH = 150, DEPTH = 10 };
    struct fx fx;
    fx_open(&fx);
    char names[SESSIONS][8], id[65];
    for (int s = 0; s < SESSIONS; s++) {
        (void)snprintf(names[s], sizeof(names[s]), "s%d", s);
        struct rt_session_spec spec = {.id = names[s]};
        CHECK_INT(rt_session_open(fx.rt, NULL, &spec, id, NULL), 0);
    }
    for (int n = 0; n < EACH; n += DEPTH) {
        const struct command *c[SESSIONS * DEPTH];
        for (int i = 0; i < SESSIONS * DEPTH; i++)
            c[i] = fx_start(&fx, "true; n=$((n+1)); echo $n",
                            &(struct fx_opt){.session = names[i % SESSIONS]});
        for (int i = 0; i < SESSIONS * DEPTH; i++) {
            fx_wait(&fx, c[i]);
            CHECK_INT(c[i]->exit_code, 0);
            CHECK_INT(fx_number(&fx, c[i]), n + i / SESSIONS + 1);
        }
        fx_forget(&fx);
    }
    fx_close(&fx);
}

static void on_half_a_second(void *ctx)
{
    *(bool *)ctx = true;
}

/* Who has printed much and is silent now costs no work at all. */
TEST(r16_silence_is_free)
{
    struct fx fx;
    fx_open_with(&fx, &(struct fx_settings){.spills = true});
    const struct command *c = fx_start(&fx, "head -c 20000000 /dev/zero; echo; sleep 600",
                                       &(struct fx_opt){.background = true});
    FX_UNTIL(&fx, capture_log_bytes(c->log, CAPTURE_STDOUT) == 20000001);
    FX_RUN(&fx, "sleep 600 &", 0, "", "");
    struct ev_timer timer;
    bool over = false;
    ev_timer_stop(&fx.tick);
    ev_timer_init(fx.ev, &timer, on_half_a_second, &over);
    ev_timer_start(&timer, 500);
    int turns = 0;
    while (!over) {
        (void)ev_run_once(fx.ev, true);
        turns++;
    }
    ev_timer_close(&timer);
    CHECK(turns <= 5);
    fx_close(&fx);
}

TEST(ids_are_checked)
{
    static const char *const wrong[] = {
        "../evil", "a/b",
        "",        ".",
        "..",      ".hidden",
        "a b",     "a\n",
        "\xff",    "01234567890123456789012345678901234567890123456789012345678901234"};
    struct fx fx;
    fx_open(&fx);
    char id[65];
    struct err err;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct rt_session_spec spec = {.id = wrong[i]};
        CHECK_INT(rt_session_open(fx.rt, NULL, &spec, id, &err), -ERR_INVALID);
        CHECK(strstr(err.text, "session id"));
        CHECK_INT(rt_session_close(fx.rt, wrong[i], NULL, NULL, NULL), -ERR_NOT_FOUND);
    }
    struct rt_session_spec again = {.id = fx.session};
    CHECK_INT(rt_session_open(fx.rt, NULL, &again, id, &err), -ERR_EXISTS);
    again.may_exist = true;
    CHECK_INT(rt_session_open(fx.rt, NULL, &again, id, &err), 0);
    CHECK_STR(id, fx.session);
    CHECK_INT(rt_result(fx.rt, "../x", NULL, &err), -ERR_NOT_FOUND);
    CHECK_INT(rt_stop(fx.rt, "c_nosuch", &err), -ERR_NOT_FOUND);
    fx_close(&fx);
}

/* ---- what its own tests ask of a session ---- */

TEST(environment_of_one_command)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "export A='old \"$x\" `y` \\ '\\''q'\\'''; B=plain; readonly R=1", 0, "", "");
    struct fx_opt opt = {
        .env =
            (const char *const[]){"A=$(echo no) `no` $PATH 'q' \"d\" \\ \n!", "B=", "C=new", NULL}
    };
    for (int i = 0; i < 2; i++) {
        opt.background = i;
        const struct command *c =
            fx_exec_opt(&fx, "printf '%s|' \"$A\" \"$B\" \"$C\"; sh -c 'echo $C'", &opt);
        CHECK_STR(fx_out(&fx, c), "$(echo no) `no` $PATH 'q' \"d\" \\ \n!||new|new\n");
        FX_RUN(&fx, "printf '%s|' \"$A\" \"$B\" \"${C-unset}\"", 0,
               "old \"$x\" `y` \\ 'q'|plain|unset|", "");
        FX_RUN(&fx, "sh -c 'echo ${B-unset} ${C-unset}'", 0, "unset unset\n", "");
    }
    /* Restored also if the command ends the shell. */
    opt.background = false;
    CHECK_INT(fx_exec_opt(&fx, "D=changed; exit 3", &opt)->exit_code, 3);
    FX_RUN(&fx, "echo $D", 0, "changed\n", "");
    FX_RUN(&fx, "printf '%s|' \"$A\" \"$B\" \"${C-unset}\"", 0,
           "old \"$x\" `y` \\ 'q'|plain|unset|", "");
    static const char *const wrong[] = {"1A=x", "A B=x",      "A-B=x", "=x",
                                        "A",    "\xc3\xa9=x", "A[0]=x"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const struct command *c;
        struct err err;
        opt.env = (const char *const[]){wrong[i], NULL};
        CHECK_INT(fx_try(&fx, "echo not", 8, &opt, &c, &err), -ERR_INVALID);
        CHECK(strstr(err.text, "env '"));
    }
    fx_close(&fx);
}

TEST(directory_of_one_command)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "mkdir -p 'a b/$c'; cd /", 0, "", "");
    auto_free char *odd = xasprintf("%s/a b/$c", test_dir());
    struct fx_opt opt = {.cwd = odd};
    for (int i = 0; i < 2; i++) {
        opt.background = i;
        const struct command *c = fx_exec_opt(&fx, "echo \"${PWD##*/}\"; cd /usr", &opt);
        CHECK_STR(fx_out(&fx, c), "$c\n");
        FX_RUN(&fx, "pwd", 0, "/\n", "");
    }
    opt.background = false;
    CHECK_INT(fx_exec_opt(&fx, "D=changed; exit 3", &opt)->exit_code, 3);
    FX_RUN(&fx, "pwd; echo $D", 0, "/\nchanged\n", "");
    opt.cwd = "";
    const struct command *c;
    CHECK_INT(fx_try(&fx, ":", 1, &opt, &c, NULL), -ERR_INVALID);
    fx_close(&fx);
}

TEST(directory_is_gone)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "mkdir d && cd d", 0, "", "");
    FX_RUN(&fx, "rmdir ../d", 0, "", "");
    FX_RUN(&fx, "echo works", 0, "works\n", "");
    FX_RUN(&fx, "exit 3", 3, "", NULL);
    FX_RUN(&fx, "echo works", 0, "works\n", "");
    FX_RUN(&fx, "cd / && mkdir -p $TEST_TMP/e", 0, NULL, NULL);
    fx_close(&fx);
}

TEST(many_lines)
{
    static const int counts[] = {100, 500, 1000, 20000};
    struct fx fx;
    fx_open_with(&fx, &(struct fx_settings){.spills = true});
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        auto_free char *text = xasprintf("seq %d", counts[i]);
        const char *out = fx_out(&fx, fx_exec(&fx, text));
        for (int n = 1; n <= counts[i]; n++) {
            char *end;
            CHECK_INT(strtol(out, &end, 10), n);
            CHECK_INT(*end, '\n');
            out = end + 1;
        }
        CHECK_STR(out, "");
    }
    fx_close(&fx);
}

static void on_closed(void *ctx)
{
    ++*(int *)ctx;
}

TEST(a_closed_session)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "export LEFT=behind", 0, "", "");
    int n_closed = 0;
    struct err err;
    const struct command *running = fx_start(&fx, "sleep 600", NULL);
    const struct command *queued = fx_start(&fx, "echo not", NULL);
    CHECK_INT(rt_session_close(fx.rt, fx.session, on_closed, &n_closed, &err), 0);
    CHECK_INT(rt_session_close(fx.rt, fx.session, on_closed, &n_closed, &err), -ERR_CLOSED);
    const struct command *c;
    CHECK_INT(fx_try(&fx, ":", 1, NULL, &c, &err), -ERR_CLOSED);
    FX_UNTIL(&fx, n_closed);
    CHECK_INT(n_closed, 1);
    CHECK_INT(running->state, COMMAND_CANCELLED);
    CHECK_INT(queued->state, COMMAND_CANCELLED);
    CHECK_INT(fx_times_told(&fx, running), 1);
    CHECK_INT(fx_times_told(&fx, queued), 1);
    FX_UNTIL(&fx, !rt_session_exists(fx.rt, fx.session));
    CHECK_INT(fx_try(&fx, ":", 1, NULL, &c, &err), -ERR_NOT_FOUND);
    /* The name is free, and nothing of the old one is there. */
    char id[65];
    struct rt_session_spec spec = {.id = fx.session};
    CHECK_INT(rt_session_open(fx.rt, NULL, &spec, id, &err), 0);
    FX_RUN(&fx, "echo ${LEFT-nothing}", 0, "nothing\n", "");
    fx_close(&fx);
}
