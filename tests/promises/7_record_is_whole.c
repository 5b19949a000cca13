/* SPDX-License-Identifier: MIT */
/*
 * Promise 7, the record: every request that was let in has a result, every one that was not says
 * so, in order, with who asked; and the policy sees what would run, all of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/own.h"
#include "lib/fixture.h"
#include "lib/test.h"
#include "session/session.h"

struct gate {
    enum rt_decision decision;
    const char *fails; /* the kind of record that fails */
    struct buf events; /* "kind text state;" in order, and what callers were told */
    struct buf seen;   /* of the last spec */
    uint64_t index;
};

static enum rt_decision decide(const struct rt_caller *caller, const char *session_id,
                               const struct command_spec *s, struct err *reason, void *ctx)
{
    (void)reason;
    struct gate *g = ctx;
    buf_clear(&g->seen);
    (void)buf_printf(&g->seen, "%s|%s|%s|", caller ? caller->tenant : "-",
                     caller ? caller->origin : "-", session_id);
    (void)buf_append(&g->seen, s->text, s->text_len);
    (void)buf_printf(&g->seen, "|%s|%s|%.*s|%d%d%d|%lld", s->cwd ? s->cwd : "-",
                     s->env ? s->env[0] : "-", (int)s->stdin_len, s->stdin_len ? s->stdin_data : "",
                     s->background, s->pty, s->stdin_open, (long long)s->timeout_ms);
    return g->decision;
}

static int append(const char *kind, const struct rt_caller *caller, const struct command *c,
                  uint64_t *ret_index, struct err *err, void *ctx)
{
    (void)caller;
    struct gate *g = ctx;
    if (g->fails && strcmp(g->fails, kind) == 0)
        return err_set(err, ERR_STORAGE, "no room for a record");
    (void)buf_printf(&g->events, "%s %.*s %s;", kind, (int)c->text_len, c->text,
                     command_state_name(c->state));
    *ret_index = ++g->index;
    return 0;
}

static void open_gate(struct fx *fx, struct gate *g)
{
    *g = (struct gate){.decision = RT_ALLOW};
    buf_init(&g->events, 1 << 20);
    buf_init(&g->seen, 1 << 20);
    fx_open_with(fx, &(struct fx_settings){
                         .policy = {decide, g},
                           .record = {append, g}
    });
}

static void close_gate(struct fx *fx, struct gate *g)
{
    fx_close(fx);
    buf_done(&g->events);
    buf_done(&g->seen);
}

/* Compares what happened since the last call. */
static void check_events(struct gate *g, const char *expected)
{
    CHECK_STR(buf_cstr(&g->events), expected);
    buf_clear(&g->events);
}

TEST(who_is_not_let_in_is_recorded)
{
    static const enum rt_decision no[] = {RT_DENY, RT_ASK, (enum rt_decision)77};
    struct fx fx;
    struct gate g;
    open_gate(&fx, &g);
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
        for (int background = 0; background < 2; background++) {
            const struct command *c;
            struct err err = {0};
            g.decision = no[i];
            struct fx_opt opt = {.background = background};
            CHECK_INT(fx_try(&fx, ">made", 5, &opt, &c, &err), -ERR_DENIED);
            check_events(&g, "denied >made denied;");
            g.fails = "denied"; /* it is not let in for that */
            CHECK_INT(fx_try(&fx, ">made", 5, &opt, &c, &err), -ERR_DENIED);
            g.fails = NULL;
        }
    }
    g.decision = RT_ALLOW;
    FX_RUN(&fx, "[ ! -e made ]", 0, "", "");
    close_gate(&fx, &g);
}

/* Let in, but then there was no place for it: the record must not look as if it ran. */
TEST(who_finds_no_place_is_recorded)
{
    struct fx fx;
    struct gate g;
    struct err err = {0};
    open_gate(&fx, &g);
    const struct command *first = fx_start(&fx, "sleep 600", NULL), *c = NULL;
    FX_UNTIL(&fx, first->state == COMMAND_RUNNING);
    for (int i = 0; i < SESSION_QUEUE_MAX; i++)
        CHECK_INT(fx_try(&fx, ":", 1, NULL, &c, &err), 0);
    buf_clear(&g.events);
    CHECK_INT(fx_try(&fx, "true", 4, NULL, &c, &err), -ERR_BUSY);
    check_events(&g, "request true queued;refused true queued;");
    fx_stop(&fx, first);
    close_gate(&fx, &g);
}

static void on_output(const char *id, int stream, const void *p, size_t n, void *ctx)
{
    (void)id, (void)stream;
    struct gate *g = ctx;
    (void)buf_printf(&g->events, "output %.*s;", (int)n - 1, (const char *)p);
}

static void on_result(const char *id, bool running, void *ctx)
{
    (void)id;
    struct gate *g = ctx;
    (void)buf_printf(&g->events, "told %d;", running);
}

TEST(the_order_of_things)
{
    struct fx fx;
    struct gate g;
    open_gate(&fx, &g);
    for (int background = 0; background < 2; background++) {
        static const char text[] = "echo out";
        struct rt_exec exec = {
            .session_id = fx.session,
            .spec = {.text = text, .text_len = strlen(text), .background = background},
            .events = {on_output,    on_result,                &g                      },
        };
        char id[COMMAND_ID_MAX];
        CHECK_INT(rt_exec(fx.rt, NULL, &exec, id, NULL), 0);
        FX_UNTIL(&fx, strstr(buf_cstr(&g.events), "told"));
        CHECK_INT(strtol(fx_field(&fx, id, "auditIndex"), NULL, 10), g.index);
        check_events(&g, "request echo out queued;output out;result echo out exited;told 0;");
    }
    close_gate(&fx, &g);
}

TEST(every_end_is_recorded)
{
    struct fx fx;
    struct gate g;
    open_gate(&fx, &g);
    struct fx_opt limit = {.timeout_ms = 200, .grace_ms = 100};
    (void)fx_exec(&fx, "exit 3");
    check_events(&g, "request exit 3 queued;result exit 3 exited;");
    (void)fx_exec(&fx, "kill -9 $$");
    check_events(&g, "request kill -9 $$ queued;result kill -9 $$ signaled;");
    (void)fx_exec_opt(&fx, "sleep 9", &limit);
    check_events(&g, "request sleep 9 queued;result sleep 9 timed_out;");
    const struct command *first = fx_start(&fx, "sleep 8", NULL);
    const struct command *second = fx_start(&fx, "sleep 7", NULL);
    fx_stop(&fx, second);
    fx_stop(&fx, first);
    check_events(&g, "request sleep 8 queued;request sleep 7 queued;"
                     "result sleep 7 cancelled;result sleep 8 cancelled;");
    (void)fx_exec(&fx, "kill -9 $PPID; sleep 6");
    check_events(&g, "request kill -9 $PPID; sleep 6 queued;"
                     "result kill -9 $PPID; sleep 6 session_lost;");
    /* What ends with its session has ended, too. */
    (void)fx_start(&fx, "sleep 5", NULL);
    (void)fx_start(&fx, "sleep 4", NULL);
    (void)fx_start(&fx, "sleep 3", &(struct fx_opt){.background = true});
    buf_clear(&g.events);
    CHECK_INT(rt_session_close(fx.rt, fx.session, NULL, NULL, NULL), 0);
    FX_UNTIL(&fx, !rt_session_exists(fx.rt, fx.session));
    CHECK(strstr(buf_cstr(&g.events), "result sleep 5 cancelled;"));
    CHECK(strstr(buf_cstr(&g.events), "result sleep 4 cancelled;"));
    CHECK(strstr(buf_cstr(&g.events), "result sleep 3 cancelled;"));
    close_gate(&fx, &g);
}

TEST(a_policy_sees_all_of_it)
{
    struct fx fx;
    struct gate g;
    open_gate(&fx, &g);
    static const char text[] = "cat # \xff \x01 '";
    struct rt_caller caller = {.tenant = "t1", .origin = "test"};
    struct rt_exec exec = {
        .session_id = fx.session,
        .spec = {.text = text,
                 .text_len = strlen(text),
                 .cwd = "/usr",
                 .env = (const char *const[]){"A=b c", NULL},
                 .stdin_data = "in",
                 .stdin_len = 2,
                 .background = true,
                 .pty = true,
                 .timeout_ms = 5000},
        .events = {.on_result = on_result, .ctx = &g      },
    };
    CHECK_INT(rt_exec(fx.rt, &caller, &exec, NULL, NULL), 0);
    CHECK_STR(buf_cstr(&g.seen), "t1|test|main|cat # \xff \x01 '|/usr|A=b c|in|110|5000");
    close_gate(&fx, &g);
}
