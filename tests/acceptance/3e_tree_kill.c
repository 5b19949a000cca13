/* SPDX-License-Identifier: MIT */
/* Time limits, killing trees, reaping: section 3E of the acceptance list, a test per row. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/fixture.h"
#include "lib/test.h"

/* Runs into a time limit; nothing of it may be left. */
static const struct command *time_out(struct fx *fx, const char *text, int64_t ms)
{
    struct fx_opt limit = {.timeout_ms = ms, .grace_ms = 200};
    if (!*fx->mark)
        fx_mark(fx);
    const struct command *c = fx_exec_opt(fx, text, &limit);
    if (c->state != COMMAND_TIMED_OUT || c->exit_code != 124 || !c->timed_out || !c->killed)
        FAIL("'%s': %s, exit code %d", text, command_state_name(c->state), c->exit_code);
    CHECK_INT(c->n_survivors, 0);
    CHECK_INT(fx_marked(fx), 0);
    CHECK(c->quiet);
    FX_RUN(fx, "echo next", 0, "next\n", "");
    return c;
}

TEST(e1_background_loops)
{
    struct fx fx;
    fx_open(&fx);
    (void)time_out(&fx, "for i in 1 2 3; do (while :; do :; done) & done; sleep 99", 1000);
    (void)time_out(&fx, "for i in 1 2 3; do (while :; do :; done) & done; wait", 1000);
    (void)time_out(
        &fx, "for i in 1 2 3; do (trap '' INT TERM; while :; do :; done) & done; sleep 99", 1000);
    fx_close(&fx);
}

TEST(e2_pipelines)
{
    struct fx fx;
    fx_open(&fx);
    (void)time_out(&fx, "yes | grep -c nothing | head", 1000);
    (void)time_out(&fx, "grep -r nosuchtext /proc/self/fd/ /dev/zero 2>/dev/null | head", 1000);
    (void)time_out(&fx, "(while :; do echo x; sleep .01; done) | cat | cat >/dev/null", 1000);
    fx_close(&fx);
}

TEST(e3_daemons)
{
    struct fx fx;
    fx_open(&fx);
    (void)time_out(&fx, "setsid sh -c 'sleep 999 &'; sleep 99", 1000);
    (void)time_out(&fx, "(setsid nohup sh -c 'sleep 999 & sleep 998' >/dev/null 2>&1 &) ; sleep 99",
                   1000);
    (void)time_out(
        &fx, "setsid -f sh -c 'trap \"\" INT TERM HUP; while :; do sleep 1; done'; sleep 99", 1000);
    (void)time_out(&fx,
                   "python3 -c 'import os,time\nif os.fork(): os._exit(0)\nos.setsid()\n"
                   "if os.fork(): os._exit(0)\ntime.sleep(999)' ; sleep 99",
                   3000);
    fx_close(&fx);
}

/* Each generation starts the next and ends, so that no list of processes is ever right. */
TEST_TIMEOUT(e3_a_chain_of_forks, 60)
{
    struct fx fx;
    fx_open(&fx);
    (void)time_out(
        &fx,
        "cat >chain <<'END'\ntrap '' INT TERM HUP\n[ -e stop ] || { setsid bash chain & }\nEND\n"
        "for i in 1 2 3; do bash chain & done; sleep 99",
        1500);
    FX_RUN(&fx, ">stop", 0, "", "");
    fx_close(&fx);
}

static volatile sig_atomic_t n_signals;

static void on_signal(int signo)
{
    (void)signo;
    n_signals++;
}

TEST(e4_only_the_command_is_signalled)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1};
    struct fx fx;
    fx_open(&fx);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        (void)signal(signals[i], on_signal);
    const struct command *before = FX_RUN(&fx, "sleep 600 & echo $!", 0, NULL, "");
    const struct command *background =
        fx_start(&fx, "sleep 600", &(struct fx_opt){.background = true});
    char id[65];
    struct rt_session_spec spec = {.id = "other"};
    CHECK_INT(rt_session_open(fx.rt, NULL, &spec, id, NULL), 0);
    const struct command *other = fx_start(&fx, "sleep 600", &(struct fx_opt){.session = "other"});

    struct fx_opt limit = {.timeout_ms = 300, .grace_ms = 100};
    CHECK_INT(fx_exec_opt(&fx, "sleep 9", &limit)->state, COMMAND_TIMED_OUT);
    CHECK_INT(fx_exec_opt(&fx, "trap '' INT TERM; sleep 9", &limit)->state, COMMAND_TIMED_OUT);
    CHECK_INT(n_signals, 0);
    CHECK(fx_lives((pid_t)fx_number(&fx, before)));
    CHECK_INT(background->state, COMMAND_RUNNING);
    CHECK_INT(other->state, COMMAND_RUNNING);
    fx_close(&fx);
    CHECK_INT(n_signals, 0);
}

static void run_short_commands(int n)
{
    struct fx fx;
    fx_open(&fx);
    for (int i = 0; i < 50; i++)
        FX_RUN(&fx, "/bin/true", 0, "", "");
    size_t fds = fx_fds();
    fx_forget(&fx);
    for (int i = 0; i < n; i++) {
        FX_RUN(&fx, "/bin/true", 0, "", "");
        FX_RUN(&fx, i % 50 ? "(:)" : "(:) & (:) | (:) & wait", 0, "", "");
        if (i % 100 == 0)
            fx_forget(&fx);
    }
    CHECK_INT(fx_fds(), fds);
    FX_UNTIL(&fx, fx_zombies() == 0);
    /* Orphans are reaped too, and those whose parent never waits, once it has gone. */
    FX_RUN(&fx, "for i in {1..50}; do (/bin/true &) ; setsid -f /bin/true; done", 0, "", "");
    FX_UNTIL(&fx, fx_zombies() == 0);
    CHECK_INT(fx_fds(), fds);
    fx_close(&fx);
}

TEST_TIMEOUT(e6_no_zombies, 60)
{
    run_short_commands(500);
}

TEST_HIDDEN(e6_no_zombies_of_5000, 600)
{
    run_short_commands(2500);
}

static size_t count_ptys(void)
{
    size_t n = 0;
    DIR *dir = opendir("/proc/self/fd");
    CHECK(dir);
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        char target[64];
        ssize_t len = readlinkat(dirfd(dir), e->d_name, target, sizeof(target) - 1);
        target[len > 0 ? len : 0] = '\0';
        n += strstr(target, "/ptmx") != NULL;
    }
    (void)closedir(dir);
    return n;
}

static void run_ptys(int n)
{
    struct fx fx;
    fx_open(&fx);
    struct fx_opt pty = {.background = true, .pty = true};
    size_t fds = 0;
    for (int i = 0; i < n; i++) {
        const struct command *c = fx_exec_opt(&fx, "echo hi", &pty);
        fx_wait_quiet(&fx, c);
        CHECK_INT(c->exit_code, 0);
        CHECK_STR(fx_out(&fx, c), "hi\r\n");
        if (i == 10)
            fds = fx_fds();
        if (i % 50 == 0)
            fx_forget(&fx);
    }
    CHECK_INT(count_ptys(), 0);
    CHECK_INT(fx_fds(), fds);
    FX_UNTIL(&fx, fx_zombies() == 0);
    fx_close(&fx);
}

TEST_TIMEOUT(e7_terminals_do_not_leak, 60)
{
    run_ptys(200);
}

TEST_HIDDEN(e7_a_thousand_terminals, 300)
{
    run_ptys(1000);
}

TEST(e8_a_terminal_that_nobody_attaches_to)
{
    struct fx fx;
    fx_open(&fx);
    struct fx_opt pty = {.background = true, .pty = true};
    const struct command *c = fx_start(&fx, "cat", &pty);
    CHECK(c->timeout_ms > 0); /* it does not stay for ever */
    pty.timeout_ms = 300;
    pty.grace_ms = 100;
    const struct command *brief = fx_start(&fx, "cat", &pty);
    CHECK_INT(count_ptys() >= 2, 1);
    fx_wait(&fx, brief);
    CHECK_INT(brief->state, COMMAND_TIMED_OUT);
    CHECK(brief->killed && brief->quiet);
    fx_stop(&fx, c);
    CHECK_INT(count_ptys(), 0);
    fx_close(&fx);
}

TEST(e10_a_timeout_ends_the_command)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c = time_out(&fx, "sleep 10; echo done >>late", 500);
    CHECK_STR(fx_field(&fx, c->id, "killed"), "true");
    FX_RUN(&fx, "[ ! -e late ]", 0, "", "");
    fx_close(&fx);
}

TEST(e11_background_has_a_limit_of_its_own)
{
    struct fx fx;
    fx_open(&fx);
    struct fx_opt background = {.background = true};
    const struct command *c = fx_start(&fx, "sleep 600", &background);
    CHECK_STR(fx_field(&fx, c->id, "timeoutMs"), "86400000"); /* a day: no minutes, not for ever */
    background.timeout_ms = 3600000; /* more than a foreground command may have */
    c = fx_start(&fx, "sleep 600", &background);
    CHECK_INT(c->timeout_ms, 3600 * 1000);
    CHECK(!c->timeout_clamped);
    background.timeout_ms = 300;
    background.grace_ms = 100;
    c = fx_exec_opt(&fx, "echo a; sleep 600", &background);
    CHECK_INT(c->state, COMMAND_TIMED_OUT);
    CHECK_INT(c->exit_code, 124);
    CHECK(c->killed);
    fx_close(&fx);
}

TEST(e12_a_timeout_is_no_success)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c = time_out(&fx, "while :; do echo x >>f; done", 500);
    CHECK_STR(fx_field(&fx, c->id, "status"), "timed_out");
    CHECK_STR(fx_field(&fx, c->id, "exitCode"), "124");
    CHECK_STR(fx_field(&fx, c->id, "killed"), "true");
    CHECK_STR(fx_field(&fx, c->id, "timedOut"), "true");
    FX_RUN(&fx, "a=$(wc -c <f); b=$(wc -c <f); [ $a = $b ]", 0, "", "");
    fx_close(&fx);
}

TEST(e13_states)
{
    struct fx fx;
    fx_open(&fx);
    fx_mark(&fx);
    /* By itself. */
    const struct command *c = FX_RUN(&fx, "(exit 3)", 3, "", "");
    CHECK_STR(fx_field(&fx, c->id, "status"), "exited");
    CHECK_STR(fx_field(&fx, c->id, "signal"), "null");
    /* By a signal of its own. */
    c = fx_exec(&fx, "kill -KILL $$");
    CHECK_INT(c->state, COMMAND_SIGNALED);
    CHECK_INT(c->exit_code, 137);
    CHECK_STR(fx_field(&fx, c->id, "signal"), "SIGKILL");
    CHECK_STR(fx_field(&fx, c->id, "killed"), "false");
    FX_RUN(&fx, "sh -c 'kill -TERM $$'", 143, "", NULL);
    /* By the user, while it runs. */
    c = fx_start(&fx, "echo a; sleep 600", NULL);
    fx_wait_text(&fx, c, CAPTURE_STDOUT, "a\n");
    fx_stop(&fx, c);
    CHECK_INT(c->state, COMMAND_CANCELLED);
    CHECK(c->exit_code != 0);
    CHECK(c->killed && !c->timed_out);
    CHECK_STR(fx_out(&fx, c), "a\n");
    CHECK_INT(fx_marked(&fx), 0);
    /* While it waits. */
    const struct command *first = fx_start(&fx, "sleep 600", NULL);
    c = fx_start(&fx, "echo never", NULL);
    CHECK_INT(c->state, COMMAND_QUEUED);
    CHECK_STR(fx_field(&fx, c->id, "status"), "queued");
    fx_stop(&fx, c);
    CHECK_INT(c->state, COMMAND_CANCELLED);
    CHECK_STR(fx_out(&fx, c), "");
    FX_UNTIL(&fx, first->state == COMMAND_RUNNING);
    fx_stop(&fx, first);
    /* After its end: the end stays what it was. */
    struct err err = {0};
    CHECK_INT(rt_stop(fx.rt, c->id, &err), -ERR_EXITED);
    CHECK(strstr(err.text, "cancelled"));
    CHECK_INT(fx_times_told(&fx, c), 1);
    /* By a signal that somebody asked for. */
    c = fx_start(&fx, "sh -c 'echo a; exec sleep 600'", NULL);
    fx_wait_text(&fx, c, CAPTURE_STDOUT, "a\n");
    CHECK_INT(rt_signal(fx.rt, c->id, SIGTERM, &err), 0);
    fx_wait(&fx, c);
    CHECK_INT(c->state, COMMAND_EXITED);
    CHECK_INT(c->exit_code, 143);
    /* The same while only the shell runs, which ignores that signal most of the time. */
    c = fx_start(&fx, "echo a; while :; do :; done", NULL);
    fx_wait_text(&fx, c, CAPTURE_STDOUT, "a\n");
    CHECK_INT(rt_signal(fx.rt, c->id, SIGTERM, &err), 0);
    fx_wait(&fx, c);
    CHECK_INT(c->state, COMMAND_EXITED);
    CHECK(c->exit_code == 130 || c->exit_code == 143);
    FX_RUN(&fx, "echo next", 0, "next\n", "");
    fx_close(&fx);
}

TEST(e13_states_in_the_background)
{
    struct fx fx;
    fx_open(&fx);
    struct fx_opt background = {.background = true};
    const struct command *c = fx_exec_opt(&fx, "exit 3", &background);
    CHECK_INT(c->state, COMMAND_EXITED);
    CHECK_INT(c->exit_code, 3);
    c = fx_exec_opt(&fx, "kill -TERM $$", &background);
    CHECK_INT(c->state, COMMAND_SIGNALED);
    CHECK_INT(c->signal, SIGTERM);
    CHECK_INT(c->exit_code, 143);
    c = fx_start(&fx, "sleep 600", &background);
    fx_stop(&fx, c);
    CHECK_INT(c->state, COMMAND_CANCELLED);
    CHECK(c->killed);
    c = fx_start(&fx, "trap '' INT TERM; echo a; while :; do sleep 1; done", &background);
    fx_wait_text(&fx, c, CAPTURE_STDOUT, "a\n");
    struct err err = {0};
    for (int i = 0; i < 3 && !command_state_is_final(c->state); i++)
        CHECK_INT(rt_stop(fx.rt, c->id, &err), 0); /* asked again: the next rung at once */
    fx_wait(&fx, c);
    CHECK_INT(c->state, COMMAND_CANCELLED);
    CHECK(c->killed);
    CHECK_INT(c->n_survivors, 0);
    fx_close(&fx);
}

/* The clock of the wall, an hour ahead once it is set. */
static int64_t ahead_s;

/* Its parameters have the names that libc gives them. */
int clock_gettime(clockid_t __clock_id, struct timespec *__tp)
{
    if (syscall(SYS_clock_gettime, __clock_id, __tp) < 0)
        return -1;
    if (__clock_id == CLOCK_REALTIME || __clock_id == CLOCK_REALTIME_COARSE)
        __tp->tv_sec += ahead_s;
    return 0;
}

TEST(e14_the_clock_is_set)
{
    struct fx fx;
    fx_open(&fx);
    for (int round = 0; round < 2; round++) {
        const struct command *c =
            fx_start(&fx, "read -r x; echo $x", &(struct fx_opt){.in_open = true});
        ahead_s = round ? -3600 : 3600;
        for (int i = 0; i < 10; i++)
            fx_turn(&fx);
        CHECK_INT(c->state, COMMAND_RUNNING);
        fx_input(&fx, c, "fine\n");
        fx_wait(&fx, c);
        CHECK_STR(fx_out(&fx, c), "fine\n");
        double ms = strtod(fx_field(&fx, c->id, "durationMs"), NULL);
        CHECK(ms >= 0 && ms < 60 * 1000);
    }
    (void)time_out(&fx, "sleep 600", 300);
    ahead_s = 0;
    fx_close(&fx);
}

TEST(e15_limits_are_honoured)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c = fx_exec_opt(&fx, ":", &(struct fx_opt){.timeout_ms = 600000});
    CHECK_INT(c->timeout_ms, 120 * 1000);
    CHECK_STR(fx_field(&fx, c->id, "timeoutMs"), "120000");
    CHECK_STR(fx_field(&fx, c->id, "timeoutClamped"), "true");
    c = fx_exec(&fx, ":");
    CHECK_STR(fx_field(&fx, c->id, "timeoutMs"), "120000");
    CHECK_STR(fx_field(&fx, c->id, "timeoutClamped"), "false");
    fx_close(&fx);

    fx_open_with(&fx, &(struct fx_settings){.timeout_max_ms = 3600000});
    c = fx_exec_opt(&fx, ":", &(struct fx_opt){.timeout_ms = 600000});
    CHECK_STR(fx_field(&fx, c->id, "timeoutMs"), "600000");
    CHECK_STR(fx_field(&fx, c->id, "timeoutClamped"), "false");
    struct err err = {0};
    static const int64_t wrong[] = {-1, -2, INT64_MIN};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct fx_opt opt = {.timeout_ms = wrong[i]};
        CHECK_INT(fx_try(&fx, ":", 1, &opt, &c, &err), -ERR_INVALID);
        CHECK(strstr(err.text, "timeoutMs"));
    }
    c = fx_exec_opt(&fx, ":", &(struct fx_opt){.timeout_ms = INT64_MAX});
    CHECK_STR(fx_field(&fx, c->id, "timeoutClamped"), "true");
    fx_close(&fx);
}

/* Whatever stands still, the time limit comes from outside. */
TEST_TIMEOUT(e16_a_frozen_worker, 60)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "kept=yes", 0, "", "");
    (void)time_out(&fx, "kill -STOP $$; sleep 600", 500);
    (void)time_out(&fx, "sleep 600 & kill -STOP $!; wait", 500);
    /* The supervisor itself: it can neither kill nor tell. */
    struct fx_opt limit = {.timeout_ms = 500, .grace_ms = 200};
    double from = fx_seconds();
    const struct command *c = fx_exec_opt(&fx, "kill -STOP $PPID; sleep 600", &limit);
    CHECK(fx_seconds() - from < 30);
    CHECK_INT(c->state, COMMAND_TIMED_OUT);
    c = fx_exec_opt(&fx, "kill -STOP $PPID; kill -STOP $$; sleep 600", &limit);
    CHECK_INT(c->state, COMMAND_TIMED_OUT);
    CHECK(fx_seconds() - from < 30);
    FX_RUN(&fx, "echo ok $kept", 0, "ok yes\n", "");
    fx_close(&fx);
    CHECK_INT(fx_marked(&fx), 0);
}
