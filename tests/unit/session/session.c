/* SPDX-License-Identifier: MIT */
/* The queue and the ladder, over a kind that only remembers what it was asked. */
#include "session/session.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "ev/ev.h"
#include "lib/test.h"
#include "session/kind.h"

struct fake {
    int starts, closes;
    struct command *running;
    int stages[8];
    int n_stages;
    bool fail_start;
};

static struct fake *fake_of(const struct session *s)
{
    return s->kind->engine;
}

static int fake_open(struct session *s, struct err *err)
{
    (void)err;
    s->kind_data = s;
    session_kind_ready(s);
    return 0;
}

static int fake_start(struct session *s, struct command *c, struct err *err)
{
    struct fake *f = fake_of(s);
    if (f->fail_start)
        return err_set(err, ERR_SPAWN, "no shell today");
    f->starts++;
    f->running = c;
    command_started(c);
    return 0;
}

static int fake_background(struct session *s, struct command *c, struct err *err)
{
    (void)s, (void)err;
    command_started(c);
    return 0;
}

static void fake_stop(struct command *c, enum session_stop_stage stage)
{
    struct fake *f = fake_of(c->session);
    f->stages[f->n_stages++] = (int)stage;
    if (stage == SESSION_STOP_LOST)
        session_kind_done(c, &(struct session_outcome){.exit_code = 137, .lost = true});
}

static void fake_close(struct session *s)
{
    fake_of(s)->closes++;
    session_kind_closed(s);
}

static void fake_nothing(struct command *c)
{
    (void)c;
}

static void fake_free(struct session *s)
{
    s->kind_data = NULL;
}

struct setup {
    struct ev *ev;
    struct fake fake;
    struct session_kind kind;
    struct session *s;
};

static void set_up(struct setup *u, size_t queue_max)
{
    *u = (struct setup){.ev = ev_new()};
    ev_set_fake_clock(u->ev);
    u->kind = (struct session_kind){
        .name = "fake",
        .engine = &u->fake,
        .open = fake_open,
        .start = fake_start,
        .start_background = fake_background,
        .stop = fake_stop,
        .forget = fake_nothing,
        .close = fake_close,
        .free = fake_free,
    };
    struct session_spec spec = {.id = "s", .run_dir = "/", .spill_dir = -1, .queue_max = queue_max};
    struct session_events events = {0};
    struct err err = {0};
    if (session_open(u->ev, &u->kind, &spec, &events, &u->s, &err) < 0)
        FAIL("%s", err.text);
}

static void tear_down(struct setup *u)
{
    session_free(u->s);
    ev_free(u->ev);
}

static struct command *submit(struct setup *u, const struct command_spec *spec, int expected)
{
    struct err err = {0};
    struct command *c = command_new(spec);
    CHECK_INT(session_submit(u->s, c, &err), expected);
    return c;
}

static void done(struct setup *u, int code)
{
    struct command *c = u->fake.running;
    session_kind_done(c, &(struct session_outcome){.exit_code = code});
    session_kind_ready(u->s);
}

TEST(commands_run_one_after_another_and_the_queue_is_bounded)
{
    struct setup u;
    set_up(&u, 2);
    struct command_spec spec = {.text = "x", .text_len = 1};
    struct command *c[4];
    for (int i = 0; i < 3; i++)
        c[i] = submit(&u, &spec, 0);
    c[3] = submit(&u, &spec, -ERR_BUSY);
    CHECK_INT(u.fake.starts, 1);
    CHECK_INT(c[0]->state, COMMAND_RUNNING);
    CHECK_INT(c[1]->state, COMMAND_QUEUED);
    done(&u, 3);
    CHECK_INT(c[0]->state, COMMAND_EXITED);
    CHECK_INT(c[0]->exit_code, 3);
    CHECK_INT(c[1]->state, COMMAND_RUNNING);
    CHECK_INT(c[2]->state, COMMAND_QUEUED);
    done(&u, 0);
    done(&u, 0);
    CHECK_INT(c[2]->state, COMMAND_EXITED);
    for (int i = 0; i < 4; i++)
        command_unref(c[i]);
    tear_down(&u);
}

TEST(a_time_limit_climbs_the_ladder_to_its_end)
{
    struct setup u;
    set_up(&u, 0);
    struct command_spec spec = {.text = "x", .text_len = 1, .timeout_ms = 1000, .grace_ms = 100};
    struct command *c = submit(&u, &spec, 0);
    ev_advance(u.ev, 999);
    CHECK_INT(u.fake.n_stages, 0);
    ev_advance(u.ev, 1);
    CHECK_INT(u.fake.n_stages, 1);
    CHECK_INT(u.fake.stages[0], SESSION_STOP_INT);
    ev_advance(u.ev, 100);
    CHECK_INT(u.fake.stages[1], SESSION_STOP_TERM);
    ev_advance(u.ev, 100);
    CHECK_INT(u.fake.stages[2], SESSION_STOP_KILL);
    CHECK_INT(c->state, COMMAND_RUNNING);
    ev_advance(u.ev, 60000);
    CHECK_INT(u.fake.n_stages, 4);
    CHECK_INT(u.fake.stages[3], SESSION_STOP_LOST);
    CHECK_INT(c->state, COMMAND_TIMED_OUT);
    CHECK_INT(c->exit_code, 124);
    CHECK(!c->killed);
    command_unref(c);
    tear_down(&u);
}

TEST(the_ladder_stops_when_the_command_ends)
{
    struct setup u;
    set_up(&u, 0);
    struct command_spec spec = {.text = "x", .text_len = 1, .timeout_ms = 1000};
    struct command *c = submit(&u, &spec, 0);
    ev_advance(u.ev, 1000);
    session_kind_done(c, &(struct session_outcome){.exit_code = 130, .killed = true});
    CHECK_INT(c->state, COMMAND_TIMED_OUT);
    CHECK_INT(c->exit_code, 124);
    CHECK(c->killed && c->timed_out);
    ev_advance(u.ev, 100000);
    CHECK_INT(u.fake.n_stages, 1);
    command_unref(c);
    tear_down(&u);
}

TEST(a_limit_above_the_maximum_is_clamped_and_says_so)
{
    struct setup u;
    set_up(&u, 0);
    struct command_spec spec = {.text = "x", .text_len = 1, .timeout_ms = 36000000};
    struct command *c = submit(&u, &spec, 0);
    CHECK_INT(c->timeout_ms, COMMAND_TIMEOUT_MAX);
    CHECK(c->timeout_clamped);
    command_unref(c);
    tear_down(&u);
}

TEST(a_queued_command_is_cancelled_without_having_run)
{
    struct setup u;
    set_up(&u, 0);
    struct command_spec spec = {.text = "x", .text_len = 1};
    struct command *first = submit(&u, &spec, 0), *second = submit(&u, &spec, 0);
    CHECK_INT(session_stop(second, COMMAND_CANCELLED, NULL), 0);
    CHECK_INT(second->state, COMMAND_CANCELLED);
    CHECK_INT(session_stop(second, COMMAND_CANCELLED, NULL), -ERR_EXITED);
    done(&u, 0);
    CHECK_INT(u.fake.starts, 1);
    command_unref(first);
    command_unref(second);
    tear_down(&u);
}

TEST(a_start_that_fails_is_told_and_the_next_command_runs)
{
    struct setup u;
    set_up(&u, 0);
    struct command_spec spec = {.text = "x", .text_len = 1};
    u.fake.fail_start = true;
    struct command *c = submit(&u, &spec, 0);
    CHECK_INT(c->state, COMMAND_SPAWN_FAILED);
    CHECK_STR(c->why, "no shell today");
    u.fake.fail_start = false;
    struct command *next = submit(&u, &spec, 0);
    CHECK_INT(next->state, COMMAND_RUNNING);
    command_unref(c);
    command_unref(next);
    tear_down(&u);
}

TEST(closing_ends_what_waits_and_what_runs)
{
    struct setup u;
    set_up(&u, 0);
    struct command_spec spec = {.text = "x", .text_len = 1};
    struct command_spec back = {.text = "x", .text_len = 1, .background = true};
    struct command *running = submit(&u, &spec, 0), *queued = submit(&u, &spec, 0);
    struct command *process = submit(&u, &back, 0);
    session_close(u.s);
    CHECK_INT(u.fake.closes, 1);
    CHECK_INT(running->state, COMMAND_CANCELLED);
    CHECK_INT(queued->state, COMMAND_CANCELLED);
    CHECK_INT(process->state, COMMAND_CANCELLED);
    struct command *late = submit(&u, &spec, -ERR_CLOSED);
    command_unref(running);
    command_unref(queued);
    command_unref(process);
    command_unref(late);
    tear_down(&u);
}

static void check_refused(const struct command_spec *spec, int code, const char *word)
{
    struct err err = {0};
    CHECK_INT(command_spec_check(spec, &err), -code);
    if (!strstr(err.text, word))
        FAIL("'%s' does not say '%s'", err.text, word);
}

TEST(a_spec_that_makes_no_sense_is_refused_with_the_field)
{
    const char *no_value[] = {"NOVALUE", NULL}, *bad_name[] = {"1x=2", NULL};
    check_refused(&(struct command_spec){.text = "a\0b", .text_len = 3}, ERR_INVALID, "offset 1");
    check_refused(&(struct command_spec){.text = "a", .text_len = COMMAND_TEXT_MAX + 1}, ERR_LIMIT,
                  "1048576");
    check_refused(&(struct command_spec){.text = "", .timeout_ms = -5}, ERR_INVALID, "timeoutMs");
    check_refused(&(struct command_spec){.text = "", .timeout_ms = -1}, ERR_INVALID, "timeoutMs");
    check_refused(&(struct command_spec){.text = "", .env = no_value}, ERR_INVALID, "NOVALUE");
    check_refused(&(struct command_spec){.text = "", .env = bad_name}, ERR_INVALID, "1x");
    check_refused(&(struct command_spec){.text = "", .pty = true}, ERR_INVALID, "pty");
    check_refused(&(struct command_spec){.text = "", .cwd = ""}, ERR_INVALID, "cwd");
    CHECK_INT(command_spec_check(&(struct command_spec){.text = ""}, NULL), 0);
}

TEST(input_after_the_end_says_how_the_command_ended)
{
    struct setup u;
    set_up(&u, 0);
    struct err err = {0};
    struct command_spec spec = {.text = "x", .text_len = 1, .stdin_open = true};
    struct command *c = submit(&u, &spec, 0);
    done(&u, 7);
    CHECK_INT(session_input(c, "x", 1, &err), -ERR_EXITED);
    CHECK(strstr(err.text, "exit code 7"));
    command_unref(c);
    tear_down(&u);
}
