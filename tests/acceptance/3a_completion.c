/* SPDX-License-Identifier: MIT */
/* Completion, pipes, lost output: section 3A of the acceptance list, a test per row. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "lib/fixture.h"
#include "lib/test.h"

/* So long that nobody waits for it by mistake. */
enum { LONG_BEFORE_S = 30 };

TEST_TIMEOUT(a1_background_child_keeps_stdout_open, 60)
{
    struct fx fx;
    fx_open(&fx);
    double from = fx_seconds();
    const struct command *c = FX_RUN(&fx, "sleep 60 & echo done $!", 0, NULL, "");
    CHECK(fx_seconds() - from < LONG_BEFORE_S);
    pid_t child = (pid_t)fx_number(&fx, c);
    CHECK_INT(c->n_survivors, 1);
    CHECK_INT(c->survivors[0], child);
    CHECK(fx_lives(child));
    FX_RUN(&fx, "echo next", 0, "next\n", "");
    fx_close(&fx);
    CHECK(!fx_lives(child));
}

TEST(a2_chatty_background_child)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c =
        FX_RUN(&fx, "(until [ -e go ]; do sleep .02; done; echo late; echo too >&2) & echo fg", 0,
               "fg\n", "");
    CHECK(c->n_survivors >= 1); /* the loop, and the sleep that it runs */
    CHECK(!c->quiet);
    FX_RUN(&fx, ">go; echo next", 0, "next\n", "");
    fx_wait_quiet(&fx, c);
    /* What came later is in the log, and the result stays what it was. */
    CHECK_STR(fx_out(&fx, c), "fg\nlate\n");
    CHECK_STR(fx_err(&fx, c), "too\n");
    CHECK_STR(fx_field(&fx, c->id, "stdout"), "fg\n");
    CHECK_STR(fx_field(&fx, c->id, "stderr"), "");
    fx_close(&fx);
}

TEST_TIMEOUT(a2_endless_background_printer, 60)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c = FX_RUN(&fx, "(while :; do echo x; done) & echo fg", 0, NULL, "");
    CHECK_INT(c->n_survivors, 1);
    CHECK(strstr(fx_out(&fx, c), "fg\n"));
    FX_RUN(&fx, "echo next", 0, "next\n", "");
    struct err err = {0};
    CHECK_INT(rt_stop(fx.rt, c->id, &err), 0);
    fx_wait_quiet(&fx, c);
    FX_UNTIL(&fx, !fx_lives(c->survivors[0]));
    fx_close(&fx);
}

TEST(a3_descendants_with_inherited_descriptors)
{
    struct fx fx;
    fx_open(&fx);
    fx_mark(&fx);
    double from = fx_seconds();
    const struct command *c = FX_RUN(&fx, "setsid sleep 300 & exit 0", 0, "", "");
    CHECK(fx_seconds() - from < LONG_BEFORE_S);
    CHECK_INT(c->n_survivors, 1);
    FX_RUN(&fx, "echo next", 0, "next\n", "");
    CHECK_INT(fx_marked(&fx), 1);

    /* The same after a timeout: there nothing of it is left. */
    struct fx_opt limit = {.timeout_ms = 1000, .grace_ms = 200};
    c = fx_exec_opt(&fx, "setsid sleep 300 & sleep 300", &limit);
    CHECK_INT(c->state, COMMAND_TIMED_OUT);
    CHECK_INT(c->n_survivors, 0);
    CHECK(c->quiet);
    CHECK_INT(fx_marked(&fx), 1);
    fx_close(&fx);
    CHECK_INT(fx_marked(&fx), 0);
}

TEST(a4_timeout_with_a_fifo)
{
    struct fx fx;
    fx_open(&fx);
    fx_mark(&fx);
    struct fx_opt limit = {.timeout_ms = 2000, .grace_ms = 200};
    const struct command *c =
        fx_exec_opt(&fx, "mkfifo p; (while true; do echo c; sleep 1; done) >p & cat p", &limit);
    CHECK_INT(c->state, COMMAND_TIMED_OUT);
    CHECK_INT(c->exit_code, 124);
    CHECK(c->timed_out);
    CHECK(c->killed);
    CHECK(strncmp(fx_out(&fx, c), "c\n", 2) == 0);
    CHECK_INT(fx_marked(&fx), 0);
    FX_RUN(&fx, "echo next", 0, "next\n", "");
    fx_close(&fx);
}

TEST(a6_server_in_the_foreground)
{
    struct fx fx;
    fx_open(&fx);
    struct fx_opt yield = {.yield_ms = 50};
    const struct command *c = fx_exec_opt(&fx, "echo serving; sleep 600", &yield);
    CHECK_INT(c->state, COMMAND_RUNNING);
    CHECK_STR(fx_field(&fx, c->id, "status"), "running");
    CHECK_STR(fx_field(&fx, c->id, "exitCode"), "null");
    CHECK_STR(fx_field(&fx, c->id, "id"), c->id);
    fx_wait_text(&fx, c, CAPTURE_STDOUT, "serving\n");
    CHECK_STR(fx_field(&fx, c->id, "stdout"), "serving\n");
    CHECK_INT(fx_times_told(&fx, c), 1);
    fx_stop(&fx, c);
    CHECK_INT(c->state, COMMAND_CANCELLED);
    CHECK_INT(fx_times_told(&fx, c), 1);
    fx_close(&fx);
}

TEST(a7_background_server_lives_on)
{
    struct fx fx;
    fx_open(&fx);
    fx_mark(&fx);
    FX_RUN(&fx, "socat UNIX-LISTEN:srv,fork EXEC:cat & until [ -S srv ]; do sleep .02; done", 0, "",
           "");
    FX_RUN(&fx, "echo hello | socat - UNIX-CONNECT:srv", 0, "hello\n", "");
    FX_RUN(&fx, "(exit 3)", 3, "", "");
    FX_RUN(&fx, "exit 4", 4, "", "");
    FX_RUN(&fx, "echo again | socat - UNIX-CONNECT:srv", 0, "again\n", "");
    FX_UNTIL(&fx, fx_marked(&fx) == 1); /* the server itself, when its child has ended */
    fx_close(&fx);
    CHECK_INT(fx_marked(&fx), 0);
}

TEST(a8_end_is_no_silence)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c = FX_RUN(&fx, "true", 0, "", "");
    CHECK_STR(fx_field(&fx, c->id, "status"), "exited");

    /* Silent, and not at its end. */
    struct fx_opt open = {.in_open = true};
    c = fx_start(&fx, "read -r x; echo \"got $x\"", &open);
    for (int i = 0; i < 20; i++)
        fx_turn(&fx);
    CHECK_INT(c->state, COMMAND_RUNNING);
    fx_input(&fx, c, "it\n");
    fx_wait(&fx, c);
    CHECK_STR(fx_out(&fx, c), "got it\n");
    fx_close(&fx);
}

TEST_TIMEOUT(a9_exit_before_the_yield, 60)
{
    struct fx fx;
    fx_open(&fx);
    double from = fx_seconds();
    const struct command *c = fx_exec_opt(&fx, "sleep 1", &(struct fx_opt){.yield_ms = 50000});
    CHECK_INT(c->state, COMMAND_EXITED);
    CHECK(fx_seconds() - from < LONG_BEFORE_S);
    fx_close(&fx);
}

TEST(a10_quick_commands_are_never_empty)
{
    struct fx fx;
    fx_open(&fx);
    for (int i = 0; i < 1000; i++) {
        FX_RUN(&fx, "printf hi", 0, "hi", "");
        if (i % 100 == 0)
            fx_forget(&fx);
    }
    for (int i = 0; i < 200; i++)
        FX_RUN(&fx, "/bin/echo hi; /bin/echo ho >&2", 0, "hi\n", "ho\n");
    fx_close(&fx);
}

TEST(a10_quick_background_commands_are_never_empty)
{
    struct fx fx;
    fx_open(&fx);
    struct fx_opt background = {.background = true};
    for (int i = 0; i < 100; i++) {
        const struct command *c = fx_exec_opt(&fx, "printf hi; printf ho >&2", &background);
        CHECK_INT(c->state, COMMAND_EXITED);
        CHECK_STR(fx_out(&fx, c), "hi");
        CHECK_STR(fx_err(&fx, c), "ho");
    }
    fx_close(&fx);
}

TEST(a12_output_polled_late)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c = FX_RUN(&fx, "head -c 6410 /dev/zero | tr '\\0' x", 0, NULL, "");
    FX_RUN(&fx, "echo meanwhile", 0, "meanwhile\n", "");
    CHECK_INT(strlen(fx_field(&fx, c->id, "stdout")), 6410);
    CHECK_STR(fx_field(&fx, c->id, "outputTruncated"), "false");
    CHECK_STR(fx_field(&fx, c->id, "omitted.stdout"), "0");
    CHECK_STR(fx_field(&fx, c->id, "bytes.stdout"), "6410");

    c = FX_RUN(&fx, "head -c 641000 /dev/zero | tr '\\0' x", 0, NULL, "");
    CHECK_STR(fx_field(&fx, c->id, "outputTruncated"), "true");
    CHECK_STR(fx_field(&fx, c->id, "bytes.stdout"), "641000");
    long omitted = strtol(fx_field(&fx, c->id, "omitted.stdout"), NULL, 10);
    CHECK_INT(omitted, 641000 - 65536);
    fx_close(&fx);
}

TEST(a13_fast_failure_keeps_stderr)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c = FX_RUN(&fx, "python3 -c 'import nope'", 1, "", NULL);
    CHECK(strstr(fx_err(&fx, c), "No module named 'nope'"));
    for (int i = 0; i < 100; i++)
        FX_RUN(&fx, "sh -c 'echo lost >&2; exit 1'", 1, "", "lost\n");
    fx_close(&fx);
}

static void on_wait_end(enum rt_wait_end end, const char *line, size_t len, void *ctx)
{
    (void)line, (void)len;
    *(int *)ctx = (int)end;
}

TEST(a16_output_is_drained_while_waiting)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c = fx_start(&fx, "head -c 1000000 /dev/zero", NULL);
    int end = -1;
    struct rt_wait wait = {.id = c->id, .what = RT_WAIT_EXIT, .cb = on_wait_end, .ctx = &end};
    struct rt_waiter *waiter;
    struct err err = {0};
    CHECK_INT(rt_wait(fx.rt, &wait, &waiter, &err), 0);
    FX_UNTIL(&fx, end >= 0);
    CHECK_INT(end, RT_WAIT_MET);
    size_t len;
    const char *out = fx_text(&fx, c, CAPTURE_STDOUT, &len);
    CHECK_INT(c->exit_code, 0);
    CHECK_STR(fx_field(&fx, c->id, "bytes.stdout"), "1000000");
    CHECK(len >= 65536); /* the rest of a log without files is dropped, and said to be */
    CHECK_INT(out[0], 0);
    fx_close(&fx);
}

TEST(a18_stderr_into_a_pipeline)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c = FX_RUN(&fx, "ls /nosuch 2>&1 | tail -1", 0, NULL, "");
    CHECK(strstr(fx_out(&fx, c), "/nosuch"));
    FX_RUN(&fx, "ls /nosuch 2>&1 | tail -1 >/dev/null; echo ${PIPESTATUS[*]}", 0, "2 0\n", "");
    FX_RUN(&fx, "set -o pipefail; ls /nosuch 2>&1 | tail -1 >/dev/null", 2, "", "");
    fx_close(&fx);
}

TEST(a19_no_output_is_success)
{
    struct fx fx;
    fx_open(&fx);
    static const char *const texts[] = {"git init -q r && cd r && echo x >f", "git add -A", "true"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const struct command *c = FX_RUN(&fx, texts[i], 0, "", "");
        CHECK_STR(fx_field(&fx, c->id, "status"), "exited");
        CHECK_STR(fx_field(&fx, c->id, "output"), "");
        CHECK_STR(fx_field(&fx, c->id, "bytes.stdout"), "0");
        CHECK_STR(fx_field(&fx, c->id, "storageError"), "null");
    }
    fx_close(&fx);
}

TEST(a21_stdout_is_in_the_result)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c = FX_RUN(&fx, "python3 -c 'print(\"hello\")'", 0, "hello\n", "");
    CHECK_STR(fx_field(&fx, c->id, "stdout"), "hello\n");
    CHECK_STR(fx_field(&fx, c->id, "output"), "hello\n");
    CHECK_STR(fx_field(&fx, c->id, "omitted.stdout"), "0");
    fx_close(&fx);
}

static const char http_server[] =
    "printf 'HTTP/1.0 200 OK\\r\\nContent-Length: 3\\r\\n\\r\\nyes' >answer\n"
    "cat >server <<'END'\n"
    "while read -r line; do [ \"$line\" = $'\\r' ] && break; done\n"
    "cat answer\n"
    "END\n"
    "socat UNIX-LISTEN:web,fork EXEC:'bash server' & until [ -S web ]; do sleep .02; done\n"
    "echo body >f\n";

TEST(a22_curl_returns)
{
    struct fx fx;
    if (!fx_has_program("curl"))
        SKIP("no curl");
    fx_open(&fx);
    FX_RUN(&fx, http_server, 0, "", "");
    FX_RUN(&fx, "curl -sS --unix-socket web --data-binary @f http://x/", 0, "yes", "");
    FX_RUN(&fx, "curl -sS --unix-socket web --data-binary @- http://x/", 0, "yes", "");
    FX_RUN(&fx, "curl -sS --unix-socket web -T - http://x/", 0, "yes", "");
    fx_close(&fx);
}
