/* SPDX-License-Identifier: MIT */
/*
 * Promise 10: the daemon survives its children and its clients; here what the runtime
 * in it shows. The daemon itself: tests/system.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/own.h"
#include "lib/fixture.h"
#include "lib/test.h"

/* ---- readers come and go ---- */

struct reader {
    struct rt_follower *f;
    struct buf text;
    uint64_t next;
    unsigned n_ends;
    uint64_t gap;
    bool frees_itself, pauses;
};

static void on_bytes(const char *id, int stream, uint64_t cursor, const void *p, size_t n,
                     void *ctx)
{
    (void)id, (void)stream;
    struct reader *r = ctx;
    CHECK_INT(cursor, r->next);
    r->next = cursor + n;
    CHECK_INT(buf_append(&r->text, p, n), 0);
    if (r->pauses && r->f)
        rt_follow_pause(r->f, true);
    if (r->frees_itself && r->f)
        rt_follow_free(take_ptr(r->f));
}

static void on_gap(const char *id, uint64_t from, uint64_t to, void *ctx)
{
    (void)id;
    struct reader *r = ctx;
    CHECK_INT(from, r->next);
    r->gap += to - from;
    r->next = to;
}

static void on_end(const char *id, uint64_t cursor, void *ctx)
{
    (void)id;
    struct reader *r = ctx;
    CHECK_INT(cursor, r->next);
    r->n_ends++;
}

static void follow(struct fx *fx, struct reader *r, const struct command *c, uint64_t cursor)
{
    struct rt_follow_events events = {on_bytes, on_gap, on_end, r};
    struct err err = {0};
    r->next = cursor;
    buf_init(&r->text, (size_t)64 * 1024 * 1024);
    CHECK_INT(rt_follow(fx->rt, c->id, cursor, true, &events, &r->f, &err), 0);
}

TEST(readers_from_every_cursor)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c = fx_start(&fx, "for i in {1..50}; do read -r x; echo line $x; done",
                                       &(struct fx_opt){.in_open = true});
    static struct reader readers[50];
    for (int i = 0; i < 50; i++) {
        char line[16];
        (void)snprintf(line, sizeof(line), "%d\n", i);
        fx_input(&fx, c, line);
        (void)snprintf(line, sizeof(line), "line %d\n", i);
        fx_wait_text(&fx, c, CAPTURE_OUTPUT, line);
        /* One that begins at each cursor there is, before, in and after what was printed. */
        follow(&fx, &readers[i], c, capture_log_bytes(c->log, CAPTURE_OUTPUT) * (uint64_t)i / 50);
    }
    fx_wait_quiet(&fx, c);
    const char *all = fx_text(&fx, c, CAPTURE_OUTPUT, NULL);
    for (int i = 0; i < 50; i++) {
        struct reader *r = &readers[i];
        FX_UNTIL(&fx, r->n_ends);
        CHECK_INT(r->n_ends, 1);
        CHECK_STR(buf_cstr(&r->text), all + strlen(all) - r->text.len);
        CHECK_INT(r->gap, 0);
        rt_follow_free(r->f);
        buf_done(&r->text);
    }
    fx_close(&fx);
}

TEST(readers_that_stop_and_go_on)
{
    struct fx fx;
    fx_open_with(&fx, &(struct fx_settings){.spills = true});
    const struct command *c = fx_start(&fx, "seq 1 200000", NULL);
    struct reader slow = {.pauses = true}, gone = {.frees_itself = true}, fast = {0};
    follow(&fx, &slow, c, 0);
    follow(&fx, &gone, c, 0);
    follow(&fx, &fast, c, 0);
    for (int i = 0; !slow.n_ends; i++) {
        fx_turn(&fx);
        if (i % 3 == 0)
            rt_follow_pause(slow.f, false);
    }
    FX_UNTIL(&fx, fast.n_ends);
    size_t len;
    const char *all = fx_text(&fx, c, CAPTURE_OUTPUT, &len);
    CHECK_MEM(slow.text.data, slow.text.len, all, len);
    CHECK_MEM(fast.text.data, fast.text.len, all, len);
    CHECK(!gone.f && gone.n_ends == 0);
    rt_follow_free(slow.f);
    rt_follow_free(fast.f);
    buf_done(&slow.text);
    buf_done(&fast.text);
    buf_done(&gone.text);
    fx_close(&fx);
}

TEST(a_cursor_beyond_the_end)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c = FX_RUN(&fx, "echo a", 0, "a\n", "");
    struct reader r = {0};
    struct rt_follow_events events = {on_bytes, on_gap, on_end, &r};
    struct err err = {0};
    CHECK_INT(rt_follow(fx.rt, c->id, 3, false, &events, &r.f, &err), -ERR_INVALID);
    CHECK(strstr(err.text, "ends at 2"));
    CHECK_INT(rt_follow(fx.rt, "nosuch", 0, false, &events, &r.f, &err), -ERR_NOT_FOUND);
    fx_close(&fx);
}

/* Whoever asked may be gone: the command is not. */
TEST(clients_that_vanish)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c =
        fx_start(&fx, "echo a; read -r x; echo b", &(struct fx_opt){.in_open = true});
    rt_detach(fx.rt, c->id);
    rt_detach(fx.rt, c->id);
    fx_input(&fx, c, "\n");
    fx_wait(&fx, c);
    CHECK_STR(fx_out(&fx, c), "a\nb\n");
    CHECK_INT(fx_times_told(&fx, c), 0);
    fx_close(&fx);
}

/* ---- children die ---- */

static pid_t parent_of(struct fx *fx, pid_t pid)
{
    char text[64];
    (void)snprintf(text, sizeof(text), "ps -o ppid= -p %d", (int)pid);
    return (pid_t)fx_number(fx, fx_exec(fx, text));
}

static void start_two(struct fx *fx, const struct command *c[2])
{
    for (int i = 0; i < 2; i++) {
        c[i] = fx_start(fx, "echo up; read -r x; echo $x",
                        &(struct fx_opt){.background = i, .in_open = true});
        fx_wait_text(fx, c[i], CAPTURE_STDOUT, "up\n");
    }
}

TEST(a_supervisor_dies)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "kept=yes", 0, "", "");
    fx_mark(&fx);
    for (int i = 0; i < 4; i++) {
        pid_t box = (pid_t)fx_number(&fx, fx_exec(&fx, "echo $PPID"));
        const struct command *c[2];
        start_two(&fx, c);
        CHECK_INT(kill(box, SIGKILL), 0);
        fx_wait(&fx, c[0]);
        CHECK_INT(c[0]->state, COMMAND_SESSION_LOST);
        CHECK(c[0]->why && *c[0]->why);
        CHECK_STR(fx_out(&fx, c[0]), "up\n");
        /* It was the foreground's alone. */
        fx_input(&fx, c[1], "on\n");
        fx_wait(&fx, c[1]);
        CHECK_STR(fx_out(&fx, c[1]), "up\non\n");
        CHECK(FX_RUN(&fx, "echo ok $kept", 0, "ok yes\n", "")->session_restored);
        FX_UNTIL(&fx, fx_marked(&fx) == 0);
    }
    fx_close(&fx);
}

TEST(the_zygote_dies)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "kept=yes", 0, "", "");
    fx_mark(&fx);
    for (int i = 0; i < 4; i++) {
        pid_t zygote = parent_of(&fx, (pid_t)fx_number(&fx, fx_exec(&fx, "echo $PPID")));
        if (i == 0)
            CHECK(zygote > 1);
        const struct command *c[2];
        start_two(&fx, c);
        if (i == 0)
            CHECK_INT(kill(zygote, SIGKILL), 0);
        for (int n = 0; n < 2; n++) { /* nobody loses anything */
            fx_input(&fx, c[n], "on\n");
            fx_wait(&fx, c[n]);
            CHECK_STR(fx_out(&fx, c[n]), "up\non\n");
        }
        FX_RUN(&fx, "exit 3", 3, "", "");
        FX_RUN(&fx, "echo ok $kept", 0, "ok yes\n", "");
    }
    fx_close(&fx);
}

/* ---- the runtime dies ---- */

static void lead_a_life(struct fx *fx, int ready)
{
    fx_open_with(fx,
                 &(struct fx_settings){.state_dir = "state", .stored = true, .dir = test_dir()});
    FX_RUN(fx, "x=1; cd /usr; f() { echo f; }", 0, "", "");
    FX_RUN(fx, "echo acknowledged", 0, "acknowledged\n", "");
    fx_mark(fx);
    (void)fx_start(fx, "setsid -f sleep 600; sleep 600", NULL);
    (void)fx_start(fx, "trap '' TERM INT HUP; sleep 600", &(struct fx_opt){.background = true});
    FX_UNTIL(fx, fx_marked(fx) >= 3);
    CHECK_INT(write(ready, fx->mark, sizeof(fx->mark)), sizeof(fx->mark));
    for (;;)
        fx_turn(fx);
}

TEST(a_killed_runtime_leaves_no_process_and_loses_no_record)
{
    struct fx fx = {0};
    int ready[2];
    CHECK_INT(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0)
        lead_a_life(&fx, ready[1]);
    CHECK_INT(read(ready[0], fx.mark, sizeof(fx.mark)), sizeof(fx.mark));
    (void)close(ready[0]);
    (void)close(ready[1]);
    CHECK_INT(kill(pid, SIGKILL), 0);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    while (fx_marked(&fx))
        (void)usleep(1000);

    /* Its records are there for the next, and its other files go. */
    fx_open_with(&fx,
                 &(struct fx_settings){.state_dir = "state", .stored = true, .dir = test_dir()});
    const struct command *c = FX_RUN(&fx, "echo $x $PWD; f", 0, "1 /usr\nf\n", "");
    CHECK(c->session_restored);
    fx_close(&fx);
}

/* ---- calls from within callbacks ---- */

struct within {
    struct fx *fx;
    int what;
    bool called;
};

static void act_within(const char *id, bool running, void *ctx)
{
    (void)running;
    struct within *w = ctx;
    struct rt_session_spec spec = {.id = w->fx->session, .may_exist = true};
    char ret_id[65];
    w->called = true;
    switch (w->what) {
    case 0:
        CHECK_INT(rt_session_reset(w->fx->rt, w->fx->session, NULL), 0);
        break;
    case 1:
        CHECK_INT(rt_session_close(w->fx->rt, w->fx->session, NULL, NULL, NULL), 0);
        break;
    case 2:
        (void)fx_start(w->fx, "echo within", NULL);
        break;
    case 3:
        rt_detach(w->fx->rt, id);
        (void)rt_stop(w->fx->rt, id, NULL);
        break;
    case 4:
        CHECK_INT(rt_session_open(w->fx->rt, NULL, &spec, ret_id, NULL), 0);
        break;
    default:
        (void)rt_session_snapshot(w->fx->rt, w->fx->session, "s", NULL);
        (void)rt_session_restore(w->fx->rt, w->fx->session, "s", NULL);
        break;
    }
}

/* NOLINTNEXTLINE(readability-function-size): a list of all calls */
TEST(anything_may_be_called_in_a_callback)
{
    for (int what = 0; what < 6; what++) {
        for (int background = 0; background < 2; background++) {
            static const char *const texts[] = {":", "x=1", "exit 3", "echo a; sleep 600 &",
                                                "kill -9 $$"};
            for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
                struct fx fx;
                fx_open(&fx);
                struct within w = {&fx, what, false};
                struct rt_exec exec = {
                    .session_id = fx.session,
                    .spec = {.text = texts[i],
                             .text_len = strlen(texts[i]),
                             .background = background},
                    .events = {.on_result = act_within,                .ctx = &w   }
                };
                CHECK_INT(rt_exec(fx.rt, NULL, &exec, NULL, NULL), 0);
                FX_UNTIL(&fx, w.called);
                for (int n = 0; n < 5; n++)
                    fx_turn(&fx);
                if (what != 1)
                    FX_RUN(&fx, "echo next", 0, "next\n", "");
                fx_close(&fx);
            }
        }
    }
}
