/* SPDX-License-Identifier: MIT */
/* Promise 7: nothing runs past the gate. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "lib/fixture.h"
#include "lib/test.h"

/* What the hooks were told, and what they answer. */
struct gate {
    enum rt_decision decision;
    bool with_reason;
    int record_rc; /* of "request" */
    int n_decisions;
    struct buf records; /* "kind state code\n" */
    struct buf asked;   /* "tenant origin session text\n" */
    uint64_t index;
};

static enum rt_decision decide(const struct rt_caller *caller, const char *session_id,
                               const struct command_spec *spec, struct err *reason, void *ctx)
{
    struct gate *g = ctx;
    g->n_decisions++;
    (void)buf_printf(&g->asked, "%s %s %s %.*s\n", caller && caller->tenant ? caller->tenant : "-",
                     caller && caller->origin ? caller->origin : "-", session_id,
                     (int)spec->text_len, spec->text);
    if (g->with_reason)
        (void)err_set(reason, ERR_DENIED, "rule 'no-rm' forbids it");
    return g->decision;
}

static int append(const char *kind, const struct rt_caller *caller, const struct command *c,
                  uint64_t *ret_index, struct err *err, void *ctx)
{
    (void)caller;
    struct gate *g = ctx;
    if (g->record_rc < 0 && strcmp(kind, "request") == 0)
        return err_set(err, ERR_STORAGE, "the record is full");
    (void)buf_printf(&g->records, "%s %s %d\n", kind, command_state_name(c->state), c->exit_code);
    *ret_index = ++g->index;
    return 0;
}

static void open_gate(struct fx *fx, struct gate *g)
{
    *g = (struct gate){.decision = RT_ALLOW};
    buf_init(&g->records, 1 << 20);
    buf_init(&g->asked, 1 << 20);
    fx_open_with(fx, &(struct fx_settings){
                         .policy = {decide, g},
                           .record = {append, g}
    });
}

static void close_gate(struct fx *fx, struct gate *g)
{
    fx_close(fx);
    buf_done(&g->records);
    buf_done(&g->asked);
}

TEST(each_command_is_decided_and_recorded)
{
    struct fx fx;
    struct gate g;
    open_gate(&fx, &g);
    const struct command *c = FX_RUN(&fx, "(exit 3)", 3, "", "");
    CHECK_STR(buf_cstr(&g.asked), "- - main (exit 3)\n");
    CHECK_STR(buf_cstr(&g.records), "request queued 0\nresult exited 3\n");
    CHECK_STR(fx_field(&fx, c->id, "auditIndex"), "2");
    buf_clear(&g.records);
    (void)fx_exec_opt(&fx, "exit 4", &(struct fx_opt){.background = true});
    CHECK_STR(buf_cstr(&g.records), "request queued 0\nresult exited 4\n");
    buf_clear(&g.records);
    c = fx_start(&fx, "sleep 600", NULL);
    fx_stop(&fx, c);
    CHECK(strncmp(buf_cstr(&g.records), "request queued 0\nresult cancelled ", 34) == 0);
    CHECK_INT(g.n_decisions, 3);
    close_gate(&fx, &g);
}

TEST(denied)
{
    struct fx fx;
    struct gate g;
    open_gate(&fx, &g);
    struct fx_opt opt = {0};
    const struct command *c = NULL;
    struct err err = {0};
    for (int i = 0; i < 4; i++) {
        opt.background = i & 1;
        g.with_reason = i & 2;
        g.decision = RT_DENY;
        CHECK_INT(fx_try(&fx, "echo x >made", 12, &opt, &c, &err), -ERR_DENIED);
        CHECK_STR(err.text, g.with_reason ? "rule 'no-rm' forbids it" : "denied by policy");
        g.decision = RT_ASK; /* nobody is there to be asked */
        CHECK_INT(fx_try(&fx, "echo x >made", 12, &opt, &c, &err), -ERR_DENIED);
        g.decision = (enum rt_decision)77;
        CHECK_INT(fx_try(&fx, "echo x >made", 12, &opt, &c, &err), -ERR_DENIED);
    }
    g.decision = RT_ALLOW;
    FX_RUN(&fx, "[ ! -e made ]", 0, "", "");
    close_gate(&fx, &g);
}

TEST(what_cannot_be_recorded_does_not_run)
{
    struct fx fx;
    struct gate g;
    open_gate(&fx, &g);
    g.record_rc = -1;
    struct fx_opt opt = {0};
    const struct command *c = NULL;
    struct err err = {0};
    for (int i = 0; i < 2; i++) {
        opt.background = i;
        CHECK_INT(fx_try(&fx, "echo x >made", 12, &opt, &c, &err), -ERR_STORAGE);
        CHECK_STR(err.text, "the record is full");
    }
    g.record_rc = 0;
    FX_RUN(&fx, "[ ! -e made ]", 0, "", "");
    close_gate(&fx, &g);
}

/* What is wrong in itself is refused before anybody decides on it. */
TEST(nonsense_is_not_asked_about)
{
    struct fx fx;
    struct gate g;
    open_gate(&fx, &g);
    const struct command *c = NULL;
    struct err err = {0};
    CHECK_INT(fx_try(&fx, "a\0b", 3, NULL, &c, &err), -ERR_INVALID);
    struct fx_opt opt = {.session = "nosuch"};
    CHECK_INT(fx_try(&fx, ":", 1, &opt, &c, &err), -ERR_NOT_FOUND);
    CHECK_INT(g.n_decisions, 0);
    CHECK_INT(g.records.len, 0);
    close_gate(&fx, &g);
}
