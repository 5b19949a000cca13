/* SPDX-License-Identifier: MIT */
/*
 * kill -9 of the shell, of its supervisor and of the zygote in every phase of a
 * command: every command gets an end, the next one runs with the state of the last
 * finished one, and nothing of what was killed lives on.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/fixture.h"
#include "lib/test.h"
#include "proc/tree.h"

enum target { SHELL, SUPERVISOR, ZYGOTE, N_TARGETS };

struct victims {
    pid_t pid[N_TARGETS];
};

static struct victims find_victims(struct fx *fx)
{
    struct victims v;
    struct proc_info info;
    const struct command *c;
    do { /* a kill of before may have hit this one */
        c = fx_exec(fx, "echo $$; echo $PPID");
    } while (c->state != COMMAND_EXITED);
    /* NOLINTNEXTLINE(cert-err34-c): bash writes numbers that fit */
    int n = sscanf(fx_out(fx, c), "%d\n%d\n", &v.pid[SHELL], &v.pid[SUPERVISOR]);
    CHECK_INT(n, 2);
    v.pid[ZYGOTE] = proc_info_read(v.pid[SUPERVISOR], &info) == 0 ? info.ppid : 0;
    CHECK(v.pid[SHELL] > 1 && v.pid[SUPERVISOR] > 1);
    return v;
}

/* A zygote that was killed before leaves its supervisor to somebody else: then there is no target.
 */
static bool may_hit(const struct victims *v, enum target t)
{
    struct proc_info info;
    return t != ZYGOTE || (proc_info_read(v->pid[ZYGOTE], &info) == 0 &&
                           strncmp(info.comm, "nacre-spawn", 11) == 0);
}

static void hit(const struct victims *v, enum target t)
{
    if (may_hit(v, t))
        (void)kill(v->pid[t], SIGKILL); /* it may have ended by itself */
}

static void check_usable(struct fx *fx, const char *phase, enum target t)
{
    const struct command *c = fx_exec(fx, "echo ok $kept");
    /* Handed over before anybody could notice the kill: it was hit as well, and says so. */
    bool is_hit =
        c->state == COMMAND_SESSION_LOST || (c->state == COMMAND_SIGNALED && c->signal == SIGKILL);
    if (t != ZYGOTE && is_hit)
        c = fx_exec(fx, "echo ok $kept");
    if (c->state != COMMAND_EXITED || c->exit_code != 0 || strcmp(fx_out(fx, c), "ok yes\n") != 0)
        FAIL("after a kill of target %d while %s: %s, exit code %d, '%s', why: %s", (int)t, phase,
             command_state_name(c->state), c->exit_code, fx_out(fx, c), c->why ? c->why : "-");
}

/* Brings a command into a phase; NULL: there is none. */
static const struct command *reach(struct fx *fx, const char *phase)
{
    const struct command *c = NULL;
    if (strcmp(phase, "running") == 0) {
        c = fx_start(fx, "echo a; sleep 600", NULL);
        fx_wait_text(fx, c, CAPTURE_STDOUT, "a\n");
    } else if (strcmp(phase, "looping") == 0) {
        c = fx_start(fx, "echo a; while :; do :; done", NULL);
        fx_wait_text(fx, c, CAPTURE_STDOUT, "a\n");
    } else if (strcmp(phase, "printing") == 0) {
        c = fx_start(fx, "yes", NULL);
        FX_UNTIL(fx, capture_log_bytes(c->log, CAPTURE_STDOUT) > 1000000);
    } else if (strcmp(phase, "reading") == 0) {
        c = fx_start(fx, "echo a; read x; echo $x", &(struct fx_opt){.in_open = true});
        fx_wait_text(fx, c, CAPTURE_STDOUT, "a\n");
    } else if (strcmp(phase, "being stopped") == 0) {
        c = fx_start(fx, "sh -c \"trap '' INT TERM; echo a; while :; do sleep 1; done\"",
                     &(struct fx_opt){.grace_ms = 1000});
        fx_wait_text(fx, c, CAPTURE_STDOUT, "a\n");
        CHECK_INT(rt_stop(fx->rt, c->id, NULL), 0);
    } else if (strcmp(phase, "just started") == 0) {
        c = fx_start(fx, "sleep 0.1", NULL); /* it may be started once more in a new shell */
    } else if (strcmp(phase, "saving") == 0) {
        c = fx_start(fx, "kept=yes", NULL);
        fx_turn(fx);
    }
    return c;
}

static void kill_in_every_phase(enum target t)
{
    static const char *const phases[] = {
        "idle",    "running",       "looping",      "printing",
        "reading", "being stopped", "just started", "saving",
    };
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "kept=yes", 0, "", "");
    for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
        struct victims v = find_victims(&fx);
        (void)fprintf(stderr, "%s\n", phases[i]); /* shown if the test fails */
        const struct command *c = reach(&fx, phases[i]);
        hit(&v, t);
        if (c && t != ZYGOTE)
            fx_wait(&fx, c);
        else if (c && !command_state_is_final(c->state))
            for (int rung = 0; rung < 3 && rt_stop(fx.rt, c->id, NULL) == 0; rung++)
                fx_turn(&fx);
        if (c)
            fx_wait(&fx, c);
        check_usable(&fx, phases[i], t);
        FX_UNTIL(&fx, t == ZYGOTE || !fx_lives(v.pid[t]));
        fx_forget(&fx);
    }
    fx_close(&fx);
}

TEST_TIMEOUT(the_shell_is_killed, 120)
{
    kill_in_every_phase(SHELL);
}

TEST_TIMEOUT(the_supervisor_is_killed, 30)
{
    kill_in_every_phase(SUPERVISOR);
}

TEST_TIMEOUT(the_zygote_is_killed, 120)
{
    kill_in_every_phase(ZYGOTE);
}

TEST_TIMEOUT(commands_that_wait_behind_a_killed_one_run, 120)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "kept=yes", 0, "", "");
    for (int t = SHELL; t <= SUPERVISOR; t++) {
        struct victims v = find_victims(&fx);
        const struct command *first = fx_start(&fx, "echo a; sleep 600", NULL);
        const struct command *second = fx_start(&fx, "echo second $kept", NULL);
        const struct command *third = fx_start(&fx, "echo third $kept", NULL);
        fx_wait_text(&fx, first, CAPTURE_STDOUT, "a\n");
        hit(&v, (enum target)t);
        fx_wait(&fx, third);
        CHECK(command_state_is_final(first->state));
        CHECK_STR(fx_out(&fx, first), "a\n");
        CHECK_STR(fx_out(&fx, second), "second yes\n");
        CHECK_STR(fx_out(&fx, third), "third yes\n");
    }
    fx_close(&fx);
}

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16;
}

/* At moments that nobody chose: between any two steps of a command. */
TEST_TIMEOUT(kills_at_random_moments, 240)
{
    static const char *const texts[] = {
        ":",
        "kept=yes",
        "echo a; echo b >&2",
        "head -c 300000 /dev/zero",
        "sleep 0.01",
        "(sleep 0.02; echo late) & echo now",
        "cd /; cd \"$OLDPWD\"",
        "f() { :; }; f",
        "exit 3",
        "seq 5 | tail -1",
    };
    enum { ROUNDS = 60 };
    const char *text = getenv("NACRE_SEED");
    unsigned seed = text ? (unsigned)strtoul(text, NULL, 10) : 20261201u;
    struct fx fx;
    fx_open(&fx);
    fx_mark(&fx);
    FX_RUN(&fx, "kept=yes", 0, "", "");
    for (int i = 0; i < ROUNDS; i++) {
        struct victims v = find_victims(&fx);
        enum target t = next_random(&seed) % 2 ? SHELL : SUPERVISOR;
        const char *what = texts[next_random(&seed) % (sizeof(texts) / sizeof(texts[0]))];
        const struct command *c = fx_start(&fx, what, NULL);
        for (unsigned turns = next_random(&seed) % 4; turns > 0; turns--)
            fx_turn(&fx);
        struct timespec pause = {0, (long)(next_random(&seed) % 1500) * 1000};
        (void)nanosleep(&pause, NULL); /* where in the command it falls does not matter */
        hit(&v, t);
        fx_wait(&fx, c);
        check_usable(&fx, what, t);
        fx_forget(&fx);
    }
    CHECK_INT(rt_session_close(fx.rt, fx.session, NULL, NULL, NULL), 0);
    FX_UNTIL(&fx, fx_marked(&fx) == 0);
    fx_close(&fx);
}
