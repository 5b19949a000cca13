/* SPDX-License-Identifier: MIT */
/* Promise 5: everything can be stopped, and what is stopped is gone. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/own.h"
#include "lib/fixture.h"
#include "lib/test.h"

/* Each prints "up" when it is where it resists most. */
static const char *const stubborn[] = {
    "echo up; sleep 600",
    "echo up; while :; do :; done",
    "echo up; for ((;;)); do :; done",
    "echo up; until false; do x=$((x+1)); done",
    "echo up; f() { f; }; while :; do (exit 1); done",
    "echo up; cat /dev/zero >/dev/null",
    "echo up; yes >/dev/null",
    "echo up; read -r x < <(sleep 600)",
    "sleep 600 & echo up; wait",
    "echo up; (sleep 600; echo late) | cat",
    "echo up; sleep 600 | sleep 600 | sleep 600",
    "trap '' INT; echo up; sleep 600",
    "trap '' INT TERM HUP QUIT; echo up; while :; do :; done",
    "trap 'echo ignored' INT TERM; echo up; while :; do sleep 1; done",
    "trap ': > x' EXIT; echo up; sleep 600",
    "trap 'false' DEBUG; echo up; sleep 600",
    "sh -c 'trap \"\" INT TERM HUP; echo up; while :; do sleep 1; done'",
    "echo up; exec sleep 600",
    "(trap '' INT TERM; echo up; sleep 600)",
    "setsid sh -c 'echo up; sleep 600'",
    "setsid sh -c 'trap \"\" INT TERM HUP; sleep 600' & echo up; wait",
    "(setsid -f sh -c 'sleep 600; sleep 600'); echo up; sleep 600",
    "for i in {1..20}; do (sleep 600 &) ; done; echo up; sleep 600",
    "(kill -STOP $BASHPID) & echo up; wait",
    "echo up; kill -STOP $$; sleep 600",
    "coproc sleep 600; echo up; wait",
    "echo up; time sleep 600",
    "echo up; mkfifo -m 600 pipe$RANDOM; cat pipe*",
    "echo up; exec 9<>/dev/ptmx; cat <&9",
    "flock lock sleep 600 & echo up; sleep .05; flock lock true",
    /* NOLINTNEXTLINE(bugprone-suspicious-missing-comma): one text */
    "echo up; python3 -c 'import signal,time\nfor s in range(1,32):\n try: signal.signal(s, "
    "signal.SIG_IGN)\n"
    " except OSError: pass\nwhile True: time.sleep(1)'",
    "echo up; set -m; sleep 600 & fg",
    "shopt -s lastpipe; echo up; sleep 600 | while read -r x; do :; done",
    "echo up; select x in a b; do :; done < <(sleep 600)",
    "echo up; mapfile -t a < <(sleep 600)",
    "eval 'echo up; sleep 600'",
    "echo up; command sleep 600; builtin :",
};
enum { N_STUBBORN = sizeof(stubborn) / sizeof(stubborn[0]) };

enum how { BY_STOP, BY_TIME, BY_STOPPING_THRICE, N_HOW };

static const struct command *stop(struct fx *fx, const char *text, enum how how, bool background)
{
    struct fx_opt opt = {.grace_ms = 150, .background = background};
    struct err err = {0};
    if (how == BY_TIME)
        opt.timeout_ms = 700;
    const struct command *c = fx_start(fx, text, &opt);
    if (how != BY_TIME)
        fx_wait_text(fx, c, CAPTURE_STDOUT, "up\n");
    for (int i = 0;
         how != BY_TIME && i < (how == BY_STOP ? 1 : 3) && !command_state_is_final(c->state); i++)
        if (rt_stop(fx->rt, c->id, &err) < 0)
            FAIL("'%s': %s", text, err.text);
    fx_wait(fx, c);
    enum command_state want = how == BY_TIME ? COMMAND_TIMED_OUT : COMMAND_CANCELLED;
    if (c->state != want || !c->killed || c->n_survivors || !c->quiet)
        FAIL("'%s': %s, killed %d, %zu survivors, quiet %d", text, command_state_name(c->state),
             c->killed, c->n_survivors, c->quiet);
    if (how == BY_TIME && c->exit_code != 124)
        FAIL("'%s': exit code %d", text, c->exit_code);
    return c;
}

static void stop_all(enum how how, bool background)
{
    struct fx fx;
    fx_open(&fx);
    fx_mark(&fx);
    FX_RUN(&fx, "kept=yes", 0, "", "");
    const struct command *server = FX_RUN(&fx, "env -u FX_MARK sleep 600 & echo $!", 0, NULL, "");
    for (size_t i = 0; i < N_STUBBORN; i++) {
        const struct command *c = stop(&fx, stubborn[i], how, background);
        if (fx_marked(&fx))
            FAIL("'%s': %zu processes live on", stubborn[i], fx_marked(&fx));
        if (how != BY_TIME && !strstr(fx_out(&fx, c), "up\n"))
            FAIL("'%s': its output is gone", stubborn[i]);
        c = fx_exec(
            &fx, "trap - DEBUG EXIT INT TERM HUP QUIT; set +m; shopt -u lastpipe; echo ok $kept");
        if (strcmp(fx_out(&fx, c), "ok yes\n") != 0)
            FAIL("after '%s': %s, '%s'", stubborn[i], command_state_name(c->state), fx_out(&fx, c));
        /* What earlier commands left running is none of it. */
        CHECK(fx_lives((pid_t)fx_number(&fx, server)));
    }
    fx_close(&fx);
}

TEST_TIMEOUT(by_a_stop, 120)
{
    stop_all(BY_STOP, false);
}

TEST_TIMEOUT(by_a_stop_in_the_background, 120)
{
    stop_all(BY_STOP, true);
}

TEST_TIMEOUT(by_a_time_limit, 120)
{
    stop_all(BY_TIME, false);
}

TEST_TIMEOUT(by_stopping_again_and_again, 120)
{
    stop_all(BY_STOPPING_THRICE, false);
}

/* What can end by itself gets the chance: its own clean-up runs, its output is kept. */
TEST(the_ladder_is_climbed_step_by_step)
{
    struct fx fx;
    fx_open(&fx);
    struct fx_opt opt = {.grace_ms = 10000};
    const struct command *c = fx_start(
        &fx, "sh -c 'trap \"echo cleaned; exit 3\" INT; echo up; while :; do sleep .1; done'",
        &opt);
    fx_wait_text(&fx, c, CAPTURE_STDOUT, "up\n");
    fx_stop(&fx, c);
    CHECK_STR(fx_out(&fx, c), "up\ncleaned\n");
    opt.grace_ms = 300;
    c = fx_start(&fx,
                 "sh -c 'trap \"\" INT; trap \"echo cleaned; exit 3\" TERM; echo up; "
                 "while :; do sleep .1; done'",
                 &opt);
    fx_wait_text(&fx, c, CAPTURE_STDOUT, "up\n");
    fx_stop(&fx, c);
    CHECK_STR(fx_out(&fx, c), "up\ncleaned\n");
    fx_close(&fx);
}

TEST(a_list_of_commands_does_not_go_on)
{
    struct fx fx;
    fx_open(&fx);
    for (int i = 0; i < 10; i++) {
        const struct command *c = fx_start(
            &fx, "echo up; sleep 600; echo no >>more; sleep 600; echo no >>more\necho no >>more",
            NULL);
        fx_wait_text(&fx, c, CAPTURE_STDOUT, "up\n");
        fx_stop(&fx, c);
        CHECK_STR(fx_out(&fx, c), "up\n");
    }
    FX_RUN(&fx, "[ ! -e more ]", 0, "", "");
    CHECK(!FX_RUN(&fx, ":", 0, "", "")->session_restored);
    fx_close(&fx);
}

/* Nor after a command that only the second or third rung ends. */
TEST(a_list_does_not_go_on_after_harder_rungs)
{
    static const char *const first[] = {
        "sh -c 'trap \"\" INT; echo up; sleep 600'",
        "sh -c 'trap \"\" INT TERM; echo up; while :; do sleep 1; done'",
        "(trap '' INT; echo up; sleep 600)"};
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "kept=yes", 0, "", "");
    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
        auto_free char *text = xasprintf("%s; echo no >>more; echo no >>more", first[i]);
        const struct command *c = fx_start(&fx, text, &(struct fx_opt){.grace_ms = 100});
        fx_wait_text(&fx, c, CAPTURE_STDOUT, "up\n");
        fx_stop(&fx, c);
        FX_RUN(&fx, "[ ! -e more ] && echo $kept", 0, "yes\n", "");
    }
    fx_close(&fx);
}

/* What handles an interrupt gets its whole grace to do so. */
TEST_TIMEOUT(the_grace_is_whole, 60)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c = fx_start(
        &fx,
        "sh -c 'trap \"sleep 2; echo cleaned; exit 3\" INT; echo up; while :; do sleep .05; done'",
        &(struct fx_opt){.grace_ms = 20000});
    fx_wait_text(&fx, c, CAPTURE_STDOUT, "up\n");
    fx_stop(&fx, c);
    CHECK_STR(fx_out(&fx, c), "up\ncleaned\n");
    fx_close(&fx);
}

TEST(output_to_the_last_moment_is_kept)
{
    struct fx fx;
    fx_open_with(&fx, &(struct fx_settings){.spills = true});
    const struct command *c = fx_start(&fx, "for ((i = 0; ; i++)); do echo $i; done", NULL);
    FX_UNTIL(&fx, capture_log_bytes(c->log, CAPTURE_STDOUT) > 200000);
    fx_stop(&fx, c);
    const char *out = fx_out(&fx, c);
    for (long n = 0; *out; n++) {
        char *end;
        CHECK_INT(strtol(out, &end, 10), n);
        if (!*end)
            break; /* the last line may be cut */
        out = end + 1;
    }
    fx_close(&fx);
}

TEST_TIMEOUT(one_thousand_processes, 60)
{
    struct fx fx;
    fx_open(&fx);
    fx_mark(&fx);
    const struct command *c =
        fx_start(&fx, "for i in {1..1000}; do sleep 600 & done; echo up; wait",
                 &(struct fx_opt){.grace_ms = 200});
    fx_wait_text(&fx, c, CAPTURE_STDOUT, "up\n");
    fx_stop(&fx, c);
    CHECK(c->killed);
    CHECK_INT(fx_marked(&fx), 0);
    FX_RUN(&fx, "echo next", 0, "next\n", "");
    /* The same as orphans of a command that has ended. */
    c = FX_RUN(&fx, "for i in {1..300}; do (sleep 600 &); done", 0, "", "");
    CHECK_INT(c->n_survivors, 300);
    CHECK_INT(rt_stop(fx.rt, c->id, NULL), 0);
    FX_UNTIL(&fx, fx_marked(&fx) == 0);
    fx_close(&fx);
}

TEST_TIMEOUT(a_fork_bomb_that_is_slow, 60)
{
    struct fx fx;
    fx_open(&fx);
    fx_mark(&fx);
    const struct command *c =
        fx_start(&fx, "bomb() { sleep .05; bomb & bomb & }; echo up; bomb; sleep 600",
                 &(struct fx_opt){.timeout_ms = 400, .grace_ms = 100});
    fx_wait(&fx, c);
    CHECK_INT(c->state, COMMAND_TIMED_OUT);
    CHECK(c->killed);
    CHECK_INT(fx_marked(&fx), 0);
    FX_RUN(&fx, "echo next", 0, "next\n", "");
    fx_close(&fx);
}

TEST(before_the_shell_is_up)
{
    struct fx fx;
    fx_open(&fx);
    for (int i = 0; i < 10; i++) {
        char id[65];
        struct rt_session_spec spec = {.may_exist = false};
        CHECK_INT(rt_session_open(fx.rt, NULL, &spec, id, NULL), 0);
        struct fx_opt opt = {.session = id};
        const struct command *c = fx_start(&fx, "sleep 600", &opt);
        for (int n = 0; n < i; n++)
            (void)ev_run_once(fx.ev, false);
        fx_stop(&fx, c);
        CHECK_INT(c->state, COMMAND_CANCELLED);
        CHECK_STR(fx_out(&fx, fx_exec_opt(&fx, "echo next", &opt)), "next\n");
    }
    /* And while it is brought back. */
    for (int i = 0; i < 10; i++) {
        FX_RUN(&fx, "exit 1", 1, "", "");
        const struct command *c = fx_start(&fx, "sleep 600", NULL);
        for (int n = 0; n < i; n++)
            (void)ev_run_once(fx.ev, false);
        fx_stop(&fx, c);
        CHECK_INT(c->state, COMMAND_CANCELLED);
    }
    FX_RUN(&fx, "echo next", 0, "next\n", "");
    fx_close(&fx);
}

TEST(signals_on_request)
{
    struct fx fx;
    fx_open(&fx);
    struct err err = {0};
    for (int background = 0; background < 2; background++) {
        struct fx_opt opt = {.background = background};
        const struct command *c = fx_start(&fx,
                                           "sh -c 'trap \"echo usr1\" USR1; trap \"exit 7\" USR2; "
                                           "echo up; while :; do sleep .05; done'",
                                           &opt);
        fx_wait_text(&fx, c, CAPTURE_STDOUT, "up\n");
        CHECK_INT(rt_signal(fx.rt, c->id, SIGUSR1, &err), 0);
        fx_wait_text(&fx, c, CAPTURE_STDOUT, "usr1\n");
        CHECK_INT(c->state, COMMAND_RUNNING);
        CHECK_INT(rt_signal(fx.rt, c->id, SIGUSR2, &err), 0);
        fx_wait(&fx, c);
        CHECK(command_state_is_final(c->state));
    }
    FX_RUN(&fx, "echo next", 0, "next\n", "");
    fx_close(&fx);
}
