/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <string.h>

#include "base/io.h"
#include "base/mem.h"
#include "base/own.h"
#include "lib/fixture.h"
#include "lib/test.h"

/* Runs a text to its end and restarts; the id of what is only stored now. */
static char *run_and_restart(struct fx *fx, const char *text)
{
    const struct command *c = fx_exec(fx, text);
    fx_wait_quiet(fx, c);
    char *id = xstrdup(c->id);
    fx_reopen(fx);
    return id;
}

static void open_stored(struct fx *fx)
{
    fx_open_with(fx, &(struct fx_settings){.stored = true});
}

TEST(the_log_is_what_was_printed)
{
    static const struct {
        const char *text, *out, *err, *both;
    } cases[] = {
        {"echo a; exit 3",                                         "a\n",    "",     "a\n"       },
        {"echo a >&2",                                             "",       "a\n",  "a\n"       },
        {":",                                                      "",       "",     ""          },
        {"printf 'a\\0b\\377'",                                    "a",      "",     "a"         },
        {"echo 1; echo 2 >&2; echo 3; printf 4 >&2",               "1\n3\n", "2\n4", "1\n2\n3\n4"},
        {"printf a; sleep .05; printf b >&2; sleep .05; printf c", "ac",     "b",    "abc"       },
    };
    struct fx fx;
    open_stored(&fx);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        auto_free char *id = run_and_restart(&fx, cases[i].text);
        const struct command *c = rt_find_command(fx.rt, id);
        CHECK(c && rt_has_ended(c) && c->quiet);
        CHECK_STR(rt_status_name(c), "exited");
        CHECK_INT(c->exit_code, i ? 0 : 3);
        CHECK_STR(fx_out(&fx, c), cases[i].out);
        CHECK_STR(fx_err(&fx, c), cases[i].err);
        CHECK_STR(fx_text(&fx, c, CAPTURE_OUTPUT, NULL), cases[i].both);
    }
    fx_close(&fx);
}

TEST(large_output_is_read_from_its_files)
{
    struct fx fx;
    open_stored(&fx);
    auto_free char *id = run_and_restart(&fx, "seq 100000; seq 10 >&2");
    const struct command *c = rt_find_command(fx.rt, id);
    CHECK(c);
    CHECK_INT(capture_log_bytes(c->log, CAPTURE_STDOUT), 588895);
    CHECK_INT(capture_log_dropped(c->log, CAPTURE_OUTPUT), 0);
    CHECK_STR(fx_err(&fx, c), "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n");
    fx_close(&fx);
}

TEST(without_its_files_there_is_what_the_result_shows)
{
    struct fx fx;
    open_stored(&fx);
    const char *texts[] = {"seq 100000", "seq 100000 >&2", "seq 100000; seq 10 >&2"};
    for (int i = 0; i < 3; i++) {
        auto_free char *id = run_and_restart(&fx, texts[i]);
        auto_free char *output = xasprintf("%s/output", fx.state_dir);
        auto_close int dirfd = open(output, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        CHECK_INT(io_remove_tree(dirfd, id), 0);
        const struct command *c = rt_find_command(fx.rt, id);
        CHECK(c);
        int flood = i == 1 ? CAPTURE_STDERR : CAPTURE_STDOUT;
        CHECK_INT(capture_log_bytes(c->log, flood), 588895);
        CHECK(capture_log_dropped(c->log, flood) > 500000);
        size_t len;
        const char *text = fx_text(&fx, c, flood, &len);
        CHECK_INT(len, 588895 - capture_log_dropped(c->log, flood));
        CHECK_MEM(text, 4, "1\n2\n", 4);
        CHECK_STR(text + len - 13, "99999\n100000\n");
        if (i == 2)
            CHECK_STR(fx_err(&fx, c), "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n");
    }
    fx_close(&fx);
}

TEST(it_has_ended)
{
    struct fx fx;
    struct err err = {0};
    open_stored(&fx);
    auto_free char *id = run_and_restart(&fx, "exit 3");
    auto_free char *want = xasprintf("command '%s' has already ended: exited, exit code 3", id);
    CHECK_INT(rt_input(fx.rt, id, "a", 1, &err), -ERR_EXITED);
    CHECK_STR(err.text, want);
    CHECK_INT(rt_input_end(fx.rt, id, NULL), -ERR_EXITED);
    CHECK_INT(rt_signal(fx.rt, id, 15, NULL), -ERR_EXITED);
    CHECK_INT(rt_stop(fx.rt, id, NULL), -ERR_EXITED);
    CHECK_INT(rt_resize(fx.rt, id, 1, 1, NULL), -ERR_EXITED);
    CHECK_INT(rt_input(fx.rt, "c_none", "a", 1, &err), -ERR_NOT_FOUND);
    CHECK_STR(fx_field(&fx, id, "exitCode"), "3");
    fx_close(&fx);
}

static void on_wait(enum rt_wait_end end, const char *line, size_t len, void *ctx)
{
    (void)line, (void)len;
    *(int *)ctx = (int)end;
}

TEST(waits_are_met_at_once)
{
    struct fx fx;
    open_stored(&fx);
    auto_free char *id = run_and_restart(&fx, "echo ready");
    struct {
        struct rt_wait wait;
        enum rt_wait_end end;
    } cases[] = {
        {{.what = RT_WAIT_EXIT},                     RT_WAIT_MET   },
        {{.what = RT_WAIT_LOG, .pattern = "ready"},  RT_WAIT_MET   },
        {{.what = RT_WAIT_LOG, .pattern = "steady"}, RT_WAIT_EXITED},
    };
    for (int i = 0; i < 3; i++) {
        int end = -1;
        struct rt_waiter *w;
        cases[i].wait.id = id;
        cases[i].wait.cb = on_wait;
        cases[i].wait.ctx = &end;
        CHECK_INT(rt_wait(fx.rt, &cases[i].wait, &w, NULL), 0);
        FX_UNTIL(&fx, end >= 0);
        CHECK_INT(end, cases[i].end);
    }
    fx_close(&fx);
}
