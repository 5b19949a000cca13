/* SPDX-License-Identifier: MIT */
/* Standard input: section 3B of the acceptance list, a test per row. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/own.h"
#include "lib/fixture.h"
#include "lib/test.h"

TEST(b1_stdin_is_at_its_end)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "cat", 0, "", "");
    FX_RUN(&fx, "read -r x", 1, "", "");
    FX_RUN(&fx, "readlink /proc/self/fd/0", 0, "/dev/null\n", "");
    FX_RUN(&fx, "[ -t 0 ] || echo no terminal", 0, "no terminal\n", "");
    FX_RUN(&fx, "python3 -c 'import sys; print(repr(sys.stdin.read()))'", 0, "''\n", "");
    fx_close(&fx);
}

TEST(b2_background_stdin_is_at_its_end)
{
    struct fx fx;
    fx_open(&fx);
    struct fx_opt background = {.background = true};
    const struct command *c = fx_exec_opt(&fx, "cat; readlink /proc/self/fd/0", &background);
    CHECK_INT(c->state, COMMAND_EXITED);
    CHECK_INT(c->exit_code, 0);
    CHECK_STR(fx_out(&fx, c), "/dev/null\n");

    /* A maximal age, for what never ends by itself. */
    background.timeout_ms = 200;
    background.grace_ms = 100;
    c = fx_exec_opt(&fx, "sleep 600", &background);
    CHECK_INT(c->state, COMMAND_TIMED_OUT);
    CHECK_INT(c->exit_code, 124);
    CHECK(c->killed);
    fx_close(&fx);
}

TEST(b3_pipeline_does_not_read_our_commands)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "cat | grep x", 1, "", "");
    FX_RUN(&fx, "cat; cat | cat; cat <&0", 0, "", "");
    FX_RUN(&fx, "while read -r x; do echo $x; done; bash -s; sh", 0, "", "");
    FX_RUN(&fx, "echo a; cat | wc -l", 0, "a\n0\n", "");
    /* A program gets the three streams and nothing else of ours; the 3 is ls's own. */
    FX_RUN(&fx, "ls -x /proc/self/fd", 0, "0  1  2  3\n", "");
    fx_close(&fx);
}

TEST(b6_binary_input_and_its_end)
{
    struct fx fx;
    fx_open(&fx);
    static const char bytes[] = {0, 1, 2, '\xff'};
    struct fx_opt given = {.in = bytes, .in_len = sizeof(bytes)};
    CHECK_STR(fx_out(&fx, fx_exec_opt(&fx, "wc -c", &given)), "4\n");
    size_t len;
    const char *out = fx_text(&fx, fx_exec_opt(&fx, "cat", &given), CAPTURE_STDOUT, &len);
    CHECK_MEM(out, len, bytes, sizeof(bytes));

    /* In pieces, until the end is said. */
    given.in_open = true;
    const struct command *c = fx_start(&fx, "od -An -tx1", &given);
    struct err err = {0};
    CHECK_INT(rt_input(fx.rt, c->id, "\0\n\xfe", 3, &err), 0);
    CHECK_INT(rt_input(fx.rt, c->id, "", 0, &err), 0);
    CHECK_INT(rt_input(fx.rt, c->id, "z", 1, &err), 0);
    fx_input_end(&fx, c);
    fx_wait(&fx, c);
    CHECK_STR(fx_out(&fx, c), " 00 01 02 ff 00 0a fe 7a\n");

    /* Nothing but an end. */
    c = fx_start(&fx, "wc -c", &(struct fx_opt){.in_open = true});
    fx_input_end(&fx, c);
    fx_input_end(&fx, c);
    fx_wait(&fx, c);
    CHECK_STR(fx_out(&fx, c), "0\n");
    fx_close(&fx);
}

TEST(b6_background_input)
{
    struct fx fx;
    fx_open(&fx);
    static const char bytes[] = {0, 1, 2, '\xff'};
    struct fx_opt given = {.in = bytes, .in_len = sizeof(bytes), .background = true};
    CHECK_STR(fx_out(&fx, fx_exec_opt(&fx, "wc -c", &given)), "4\n");
    given.in_open = true;
    const struct command *c = fx_start(&fx, "od -An -tx1", &given);
    fx_input(&fx, c, "z");
    fx_input_end(&fx, c);
    fx_wait(&fx, c);
    CHECK_STR(fx_out(&fx, c), " 00 01 02 ff 7a\n");
    fx_close(&fx);
}

TEST(b6_large_input)
{
    enum { SIZE = 3 * 1024 * 1024 };
    struct fx fx;
    fx_open(&fx);
    auto_free char *bytes = xmalloc(SIZE);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (char)(i * 7 + i / 251);
    struct fx_opt given = {.in = bytes, .in_len = SIZE};
    for (int i = 0; i < 4; i++) {
        given.background = i & 1;
        given.in_open = i & 2;
        const struct command *c = fx_start(&fx, "wc -c", &given);
        if (given.in_open)
            fx_input_end(&fx, c);
        fx_wait(&fx, c);
        CHECK_STR(fx_out(&fx, c), "3145728\n");
    }
    /* A command that reads nothing costs nobody anything. */
    given.in_open = true;
    CHECK_INT(fx_exec_opt(&fx, "true", &given)->exit_code, 0);
    FX_RUN(&fx, "cat", 0, "", "");
    fx_close(&fx);
}

TEST(b7_input_after_the_end)
{
    struct fx fx;
    fx_open(&fx);
    struct fx_opt open = {.in_open = true};
    for (int i = 0; i < 2; i++) {
        open.background = i;
        const struct command *c = fx_exec_opt(&fx, "(exit 7)", &open);
        struct err err = {0};
        CHECK_INT(rt_input(fx.rt, c->id, "x", 1, &err), -ERR_EXITED);
        CHECK(strstr(err.text, "already ended: exited, exit code 7"));
        CHECK_INT(rt_input_end(fx.rt, c->id, NULL), -ERR_EXITED);
        CHECK_INT(rt_signal(fx.rt, c->id, 15, NULL), -ERR_EXITED);
        CHECK_INT(rt_stop(fx.rt, c->id, NULL), -ERR_EXITED);
    }
    /* And to one that was never open. */
    const struct command *c = fx_start(&fx, "sleep 600", NULL);
    struct err err = {0};
    CHECK_INT(rt_input(fx.rt, c->id, "x", 1, &err), -ERR_CLOSED);
    fx_stop(&fx, c);
    fx_close(&fx);
}

TEST(b9_pipelines_count)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "printf 'a\\n' | wc -l", 0, "1\n", "");
    FX_RUN(&fx, "printf 'a\\n' >f; grep a f | wc -l", 0, "1\n", "");
    FX_RUN(&fx, "grep -r a . | wc -l", 0, "1\n", "");
    fx_close(&fx);
}
