/* SPDX-License-Identifier: MIT */
/* Promise 9: one result object; here, that it is the same for every end a command can have. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/read.h"
#include "lib/fixture.h"
#include "lib/test.h"

/* In this order, as design and manual have it. */
static const struct {
    const char *name;
    enum json_type type;
    bool can_be_null;
} fields[] = {
    {"command",         JSON_STRING, false},
    {"output",          JSON_STRING, false},
    {"exitCode",        JSON_NUMBER, true },
    {"outputTruncated", JSON_BOOL,   false},
    {"stdout",          JSON_STRING, false},
    {"stderr",          JSON_STRING, false},
    {"encoding",        JSON_OBJECT, false},
    {"bytes",           JSON_OBJECT, false},
    {"omitted",         JSON_OBJECT, false},
    {"id",              JSON_STRING, false},
    {"sessionId",       JSON_STRING, false},
    {"kind",            JSON_STRING, false},
    {"status",          JSON_STRING, false},
    {"signal",          JSON_STRING, true },
    {"background",      JSON_BOOL,   false},
    {"pid",             JSON_NUMBER, true },
    {"spill",           JSON_STRING, true },
    {"cwd",             JSON_STRING, true },
    {"startedAt",       JSON_STRING, true },
    {"durationMs",      JSON_NUMBER, false},
    {"usage",           JSON_OBJECT, false},
    {"timedOut",        JSON_BOOL,   false},
    {"timeoutClamped",  JSON_BOOL,   false},
    {"timeoutMs",       JSON_NUMBER, true },
    {"killed",          JSON_BOOL,   false},
    {"limit",           JSON_STRING, true },
    {"survivors",       JSON_ARRAY,  false},
    {"sessionRestored", JSON_BOOL,   false},
    {"isolation",       JSON_ARRAY,  false},
    {"why",             JSON_OBJECT, true },
    {"violations",      JSON_ARRAY,  false},
    {"auditIndex",      JSON_NUMBER, true },
    {"storageError",    JSON_STRING, true },
};
enum { N_FIELDS = sizeof(fields) / sizeof(fields[0]) };

static void check_shape(struct fx *fx, const char *id, const char *status)
{
    const struct json_node *root = fx_result(fx, id);
    CHECK_STR(json_cstr(json_get(root, "status")), status);
    size_t last = 0;
    for (size_t i = 0; i < N_FIELDS; i++) {
        const struct json_node *node = json_get(root, fields[i].name);
        enum json_type type = json_type(node);
        if (type != fields[i].type && !(type == JSON_NULL && fields[i].can_be_null))
            FAIL("%s: '%s' is %s", status, fields[i].name, json_type_name(type));
        for (size_t at = 0; at < json_len(root); at++)
            if (json_at(root, at) == node) {
                if (i && at <= last)
                    FAIL("%s: '%s' stands before '%s'", status, fields[i].name, fields[i - 1].name);
                last = at;
            }
    }
    CHECK_INT(json_len(root), N_FIELDS);
}

TEST(every_end)
{
    struct fx fx;
    fx_open(&fx);
    check_shape(&fx, fx_exec(&fx, "echo a")->id, "exited");
    check_shape(&fx, fx_exec(&fx, "kill -9 $$")->id, "signaled");
    struct fx_opt limit = {.timeout_ms = 200, .grace_ms = 100};
    check_shape(&fx, fx_exec_opt(&fx, "sleep 600", &limit)->id, "timed_out");
    const struct command *running = fx_start(&fx, "sleep 600", NULL);
    check_shape(&fx, running->id, "running");
    const struct command *queued = fx_start(&fx, "echo a", NULL);
    check_shape(&fx, queued->id, "queued");
    fx_stop(&fx, queued);
    check_shape(&fx, queued->id, "cancelled");
    fx_stop(&fx, running);
    check_shape(&fx, running->id, "cancelled");
    struct fx_opt background = {.background = true};
    check_shape(&fx, fx_exec_opt(&fx, "exit 3", &background)->id, "exited");
    background.pty = true;
    const struct command *pty = fx_start(&fx, "cat", &background);
    FX_UNTIL(&fx, pty->state == COMMAND_RUNNING);
    check_shape(&fx, pty->id, "running");
    check_shape(&fx, fx_exec(&fx, "kill -KILL $PPID; sleep 600")->id, "session_lost");
    check_shape(&fx, fx_exec(&fx, "sleep 600 & head -c 100000 /dev/zero")->id, "exited");
    fx_close(&fx);
}

/* What is stored is what was told. */
TEST(stored_results_are_the_same)
{
    struct fx fx;
    fx_open_with(&fx, &(struct fx_settings){.stored = true});
    const struct command *c =
        FX_RUN(&fx, "echo out; echo err >&2; printf '\\377'; (exit 5)", 5, NULL, NULL);
    char id[COMMAND_ID_MAX], text[4096];
    memcpy(id, c->id, sizeof(id));
    (void)snprintf(text, sizeof(text), "%s|%s|%s|%s", fx_field(&fx, id, "output"),
                   fx_field(&fx, id, "stdout"), fx_field(&fx, id, "durationMs"),
                   fx_field(&fx, id, "startedAt"));
    fx_reopen(&fx);
    check_shape(&fx, id, "exited");
    char again[4096];
    (void)snprintf(again, sizeof(again), "%s|%s|%s|%s", fx_field(&fx, id, "output"),
                   fx_field(&fx, id, "stdout"), fx_field(&fx, id, "durationMs"),
                   fx_field(&fx, id, "startedAt"));
    CHECK_STR(again, text);
    CHECK_STR(fx_field(&fx, id, "exitCode"), "5");
    CHECK_STR(fx_field(&fx, id, "stderr"), "err\n");
    fx_close(&fx);
}

TEST(exit_codes_and_states_agree)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c = fx_exec(&fx, "kill -TERM $BASHPID & wait $!");
    CHECK_STR(fx_field(&fx, c->id, "status"), "exited");
    CHECK_STR(fx_field(&fx, c->id, "exitCode"), "143");
    CHECK_STR(fx_field(&fx, c->id, "signal"), "null");
    c = fx_exec(&fx, "kill -9 $$");
    CHECK_STR(fx_field(&fx, c->id, "exitCode"), "137");
    CHECK_STR(fx_field(&fx, c->id, "signal"), "SIGKILL");
    c = fx_exec_opt(&fx, "sleep 600", &(struct fx_opt){.timeout_ms = 200, .grace_ms = 100});
    CHECK_STR(fx_field(&fx, c->id, "exitCode"), "124");
    c = fx_start(&fx, "sleep 600", NULL);
    CHECK_STR(fx_field(&fx, c->id, "exitCode"), "null");
    fx_close(&fx);
}

TEST(usage_and_time)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c = FX_RUN(&fx, "i=0; while ((i < 200000)); do ((i++)); done", 0, "", "");
    double ms = strtod(fx_field(&fx, c->id, "durationMs"), NULL);
    CHECK(ms > 1 && ms < 60000);
    CHECK(strtod(fx_field(&fx, c->id, "usage.userMs"), NULL) > 0);
    c = fx_exec_opt(&fx, "python3 -c 'x = bytearray(50000000)'",
                    &(struct fx_opt){.background = true});
    CHECK(strtod(fx_field(&fx, c->id, "usage.maxRssBytes"), NULL) > 40e6);
    const char *at = fx_field(&fx, c->id, "startedAt");
    CHECK(strlen(at) >= 20 && at[10] == 'T' && at[strlen(at) - 1] == 'Z');
    fx_close(&fx);
}
