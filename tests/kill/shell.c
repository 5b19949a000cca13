/* SPDX-License-Identifier: MIT */
/*
 * kill -9 of bash, its supervisor and the zygote, in every phase and at random
 * moments: each command gets an end, the next one finds the state of the last
 * finished one, and nothing that was below the victim lives on.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "lib/cage.h"
#include "lib/fixture.h"
#include "lib/test.h"
#include "phase.h"
#include "proc/tree.h"

enum { GONE_LIMIT_S = 10, KILLS = 300, KILLS_PER_TEST = 50 };

/* ---- what must be true afterwards ---- */

static void print_process(pid_t pid, void *ctx)
{
    (void)ctx;
    auto_free char *text = NULL;
    if (proc_cmdline(pid, &text) == 0)
        printf("%d %s\n", (int)pid, text);
}

static void check_all_gone(void)
{
    for (double until = fx_seconds() + GONE_LIMIT_S; cage_count() != 0;)
        if (fx_seconds() > until) {
            cage_each(print_process, NULL);
            FAIL("%d processes outlived the runtime", cage_count());
        }
}

/*
 * A victim that took nothing with it (the zygote) leaves a command that has to be stopped; and one
 * that is being stopped waits for its next rung, for which the time is long.
 */
static void settle(struct fx *fx, const struct command *c, enum target t)
{
    while (c && !command_state_is_final(c->state)) {
        if (t == TARGET_ZYGOTE || c->stop_stage)
            (void)rt_stop(fx->rt, c->id, NULL); /* it may end at any time */
        fx_turn(fx);
    }
}

static void settle_all(struct fx *fx, enum target t)
{
    struct shell *sh = phase_shell(fx);
    while (sh->session->current || sh->session->n_queued) {
        settle(fx, sh->session->current, t);
        fx_turn(fx);
    }
}

/* Kills, and turns the loop until the runtime knows: what comes then must not be hit itself. */
static void hit(struct fx *fx, enum target t, pid_t pid)
{
    if (pid <= 0 || kill(pid, SIGKILL) < 0)
        return; /* it has ended by itself */
    FX_UNTIL(fx, target_pid(fx, t) != pid);
}

static void check_next(struct fx *fx, const char *where, enum target t, unsigned n)
{
    char expected[32];
    (void)snprintf(expected, sizeof(expected), "%u\n", n);
    const struct command *c = fx_exec(fx, "echo $n");
    if (c->state != COMMAND_EXITED || c->exit_code != 0 || strcmp(fx_out(fx, c), expected) != 0)
        FAIL("%s killed, %s: the next command %s with %d: '%s', not '%s'; %s", target_names[t],
             where, command_state_name(c->state), c->exit_code, fx_out(fx, c), expected,
             c->why ? c->why : "");
}

static void on_closed(void *ctx)
{
    *(bool *)ctx = true;
}

/* A killed zygote leaves its boxes to nobody: a session of the next one takes the place. */
static void renew_session(struct fx *fx)
{
    struct err err = {0};
    char id[SESSION_ID_MAX];
    bool closed = false;
    struct rt_session_spec spec = {.id = fx->session, .cwd = test_dir()};
    CHECK_INT(rt_session_close(fx->rt, fx->session, on_closed, &closed, NULL), 0);
    FX_UNTIL(fx, closed && !rt_session_exists(fx->rt, fx->session));
    if (rt_session_open(fx->rt, NULL, &spec, id, &err) < 0)
        FAIL("open a session: %s", err.text);
}

static void set_n(struct fx *fx, unsigned n)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "n=%u", n);
    FX_RUN(fx, text, 0, "", "");
}

static void open_in_cage(struct fx *fx)
{
    if (cage_missing())
        SKIP("%s", cage_missing());
    fx_open(fx);
}

/* ---- in every phase ---- */

static void kill_in_every_phase(enum target t)
{
    struct fx fx;
    open_in_cage(&fx);
    for (int i = 0; i < n_phases; i++) {
        set_n(&fx, (unsigned)i);
        printf("%s\n", phases[i].name);
        const struct command *c = phases[i].reach(&fx);
        pid_t pid = target_pid(&fx, t);
        CHECK(pid > 0);
        hit(&fx, t, pid);
        if (t == TARGET_ZYGOTE) /* which holds nobody's text up; a bash we stopped would wait */
            (void)kill(phase_shell(&fx)->pid, SIGCONT);
        settle(&fx, c, t);
        settle_all(&fx, t);
        check_next(&fx, phases[i].name, t, (unsigned)i);
        FX_UNTIL(&fx, !fx_lives(pid));
        fx_forget(&fx);
        if (t == TARGET_ZYGOTE)
            renew_session(&fx);
    }
    fx_close(&fx);
    check_all_gone();
}

TEST_TIMEOUT(bash_in_every_phase, 120)
{
    kill_in_every_phase(TARGET_BASH);
}

TEST_TIMEOUT(supervisor_in_every_phase, 120)
{
    kill_in_every_phase(TARGET_SUPERVISOR);
}

TEST_TIMEOUT(zygote_in_every_phase, 180)
{
    kill_in_every_phase(TARGET_ZYGOTE);
}

static void open_other(struct fx *fx)
{
    struct err err = {0};
    char id[SESSION_ID_MAX];
    struct rt_session_spec spec = {.id = "other", .cwd = test_dir(), .may_exist = true};
    if (rt_session_open(fx->rt, NULL, &spec, id, &err) < 0)
        FAIL("open a session: %s", err.text);
    fx->session = "other";
}

static void close_other(struct fx *fx, enum target t, bool and_kill)
{
    bool closed = false;
    pid_t pid = and_kill ? target_pid(fx, t) : 0;
    CHECK_INT(rt_session_close(fx->rt, "other", on_closed, &closed, NULL), 0);
    if (pid > 0)
        (void)kill(pid, SIGKILL); /* it may be ending */
    FX_UNTIL(fx, closed && !rt_session_exists(fx->rt, "other"));
}

TEST_TIMEOUT(while_a_session_opens, 120)
{
    struct fx fx;
    open_in_cage(&fx);
    for (int round = 0; round < 30; round++) {
        enum target t = (enum target)(round % N_TARGETS);
        open_other(&fx);
        pid_t pid = 0;
        FX_UNTIL(&fx, (pid = target_pid(&fx, t)) > 0);
        hit(&fx, t, pid);
        const struct command *c = fx_exec(&fx, "echo up");
        CHECK_STR(fx_out(&fx, c), "up\n");
        close_other(&fx, t, false);
    }
    fx_close(&fx);
    check_all_gone();
}

TEST_TIMEOUT(while_a_session_closes, 120)
{
    struct fx fx;
    open_in_cage(&fx);
    for (int round = 0; round < 30; round++) {
        enum target t = (enum target)(round % N_TARGETS);
        open_other(&fx);
        const struct command *c = fx_start(&fx, "echo a; setsid -f sleep 600; sleep 600", NULL);
        fx_wait_text(&fx, c, CAPTURE_STDOUT, "a\n");
        close_other(&fx, t, true);
        CHECK(command_state_is_final(c->state));
    }
    fx_close(&fx);
    check_all_gone();
}

/* ---- at random moments ---- */

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static const char *const texts[] = {
    ":",
    "n=$((n)); echo same",
    "echo a; echo b >&2",
    "head -c 300000 /dev/zero",
    "sleep 0.01",
    "(sleep 0.02; echo late) & echo now",
    "cd /; cd \"$OLDPWD\"",
    "f() { :; }; f",
    "exit 3",
    "seq 5 | tail -1",
    "setsid -f sleep 600; echo detached",
    "if",
    "exec true",
};
enum { N_TEXTS = sizeof(texts) / sizeof(texts[0]) };

static void kill_at_random(const struct test_case *test)
{
    uint64_t state = *(const uint64_t *)test->arg;
    struct fx fx;
    open_in_cage(&fx);
    for (unsigned i = 0; i < KILLS_PER_TEST; i++) {
        set_n(&fx, i);
        enum target t = (enum target)(next_random(&state) % N_TARGETS);
        const char *text = texts[next_random(&state) % N_TEXTS];
        printf("%u: %s, %s\n", i, target_names[t], text);
        const struct command *c = fx_start(&fx, text, NULL);
        for (uint64_t turns = next_random(&state) % 5; turns > 0; turns--)
            fx_turn(&fx);
        (void)usleep((useconds_t)(next_random(&state) % 2000)); /* anywhere is right */
        hit(&fx, t, target_pid(&fx, t));
        settle(&fx, c, t);
        settle_all(&fx, t);
        check_next(&fx, text, t, i);
        fx_forget(&fx);
        if (t == TARGET_ZYGOTE)
            renew_session(&fx);
    }
    fx_close(&fx);
    check_all_gone();
}

void test_collect(void)
{
    const char *text = getenv("NACRE_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 10) : 1;
    text = getenv("NACRE_ROUNDS");
    uint64_t n = ((text ? strtoull(text, NULL, 10) : KILLS) + KILLS_PER_TEST - 1) / KILLS_PER_TEST;
    cage_enter();
    for (uint64_t i = 0; i < n; i++) {
        struct test_case *test = xnew(struct test_case);
        uint64_t *arg = xnew(uint64_t);
        *arg = seed + i;
        test->name = xasprintf("at_random_seed_%llu", (unsigned long long)*arg);
        test->body = kill_at_random;
        test->timeout_s = 120;
        test->arg = arg;
        test_add(test);
    }
}
