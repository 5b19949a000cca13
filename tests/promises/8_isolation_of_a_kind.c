/* SPDX-License-Identifier: MIT */
/*
 * Promises 8 and 9 with a kind of session that does what a test tells it: the layers that it says
 * were active are those of the result, and every end that a kind can report has its fields.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"
#include "json/read.h"
#include "json/write.h"
#include "lib/fixture.h"
#include "lib/test.h"
#include "session/kind.h"
#include "session/session.h"

static const char *const layers[] = {"user", "pid", "seccomp", NULL};

/* A text names how it ends: "exit", "signal", "lost", "spawn", "refuse", "hang". */
static bool is(const struct command *c, const char *text)
{
    return c->text_len == strlen(text) && memcmp(c->text, text, c->text_len) == 0;
}

static int end(struct session *s, struct command *c, struct err *err)
{
    if (is(c, "refuse"))
        return err_set(err, ERR_UNSUPPORTED,
                       "layer 'seccomp' is required, and this kernel has none");
    if (!is(c, "spawn"))
        command_started(c);
    if (is(c, "hang"))
        return 0;
    command_output(c, CAPTURE_STDOUT, "out\n", 4);
    struct session_outcome o = {.exit_code = 3};
    if (is(c, "signal"))
        o = (struct session_outcome){.exit_code = 139, .signal = 11};
    else if (is(c, "lost"))
        o = (struct session_outcome){.exit_code = 137, .lost = true};
    else if (is(c, "spawn"))
        o = (struct session_outcome){.exit_code = 126, .spawn_failed = true};
    bool background = c->background;
    (void)command_ref(c);
    session_kind_done(c, &o);
    command_quiet(c);
    command_unref(c);
    if (!background)
        session_kind_ready(s);
    return 0;
}

static int kind_open(struct session *s, struct err *err)
{
    (void)err;
    s->isolation = layers;
    session_kind_ready(s);
    return 0;
}

static void kind_stop(struct command *c, enum session_stop_stage stage)
{
    struct session *s = c->session;
    if (stage < SESSION_STOP_TERM)
        return; /* so that the ladder is climbed */
    struct session_outcome o = {.exit_code = 143, .signal = 15, .killed = true};
    bool background = c->background;
    (void)command_ref(c);
    session_kind_done(c, &o);
    command_quiet(c);
    command_unref(c);
    if (!background)
        session_kind_ready(s);
}

static char *kind_why(struct command *c, bool *ret_needs_input)
{
    (void)c;
    *ret_needs_input = true;
    return NULL;
}

static void kind_close(struct session *s)
{
    session_kind_closed(s);
}

static void kind_forget(struct command *c)
{
    (void)c;
}

static const struct session_kind fake = {
    .name = "fake",
    .open = kind_open,
    .start = end,
    .start_background = end,
    .stop = kind_stop,
    .why = kind_why,
    .forget = kind_forget,
    .close = kind_close,
};

struct world {
    struct ev *ev;
    struct rt *rt;
    struct arena arena;
};

static void open_world(struct world *w)
{
    static const struct session_kind *const kinds[] = {&fake, NULL};
    struct rt_options o = {.kinds = kinds, .run_dir = test_dir()};
    char id[SESSION_ID_MAX];
    struct rt_session_spec spec = {.id = "s"};
    w->ev = ev_new();
    arena_init(&w->arena, (size_t)16 * 1024 * 1024);
    CHECK_INT(rt_new(w->ev, &o, &w->rt, NULL), 0);
    CHECK_INT(rt_session_open(w->rt, NULL, &spec, id, NULL), 0);
}

static void close_world(struct world *w)
{
    rt_free(w->rt);
    ev_free(w->ev);
    arena_done(&w->arena);
}

static int run(struct world *w, const char *text, bool background, char *id, struct err *err)
{
    struct rt_exec exec = {
        .session_id = "s",
        .spec = {.text = text,
                 .text_len = strlen(text),
                 .background = background,
                 .timeout_ms = strcmp(text, "hang") ? 0 : 50,
                 .grace_ms = 20},
    };
    int rc = rt_exec(w->rt, NULL, &exec, id, err);
    while (rc == 0 && !command_state_is_final(rt_find_command(w->rt, id)->state))
        (void)ev_run_once(w->ev, true);
    return rc;
}

static const struct json_node *parse(struct world *w, const char *id, bool is_session)
{
    auto_buf struct buf text = BUF_INIT(1 << 20);
    struct json_w json;
    struct json_node *root;
    json_w_init(&json, &text);
    CHECK_INT(is_session ? rt_session_show(w->rt, id, &json, NULL)
                         : rt_result(w->rt, id, &json, NULL),
              0);
    CHECK_INT(json_w_finish(&json), 0);
    CHECK_INT(json_parse(text.data, text.len, NULL, &w->arena, &root, NULL), 0);
    return root;
}

static void check_layers(const struct json_node *root)
{
    const struct json_node *list = json_get(root, "isolation");
    CHECK_INT(json_len(list), 3);
    for (size_t i = 0; layers[i]; i++)
        CHECK_STR(json_cstr(json_at(list, i)), layers[i]);
}

static const struct {
    const char *text, *status;
    int code;
    const char *signal; /* NULL: none */
    bool timed_out, killed;
} ends[] = {
    {"exit",   "exited",       3,   NULL,      false, false},
    {"signal", "signaled",     139, "SIGSEGV", false, false},
    {"lost",   "session_lost", 137, NULL,      false, false},
    {"spawn",  "spawn_failed", 126, NULL,      false, false},
    {"hang",   "timed_out",    124, "SIGTERM", true,  true },
};

TEST(layers_and_fields_of_every_end)
{
    struct world w;
    open_world(&w);
    check_layers(parse(&w, "s", true));
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        for (int background = 0; background < 2; background++) {
            char id[COMMAND_ID_MAX];
            int64_t code;
            bool flag;
            CHECK_INT(run(&w, ends[i].text, background, id, NULL), 0);
            const struct json_node *root = parse(&w, id, false);
            CHECK_STR(json_cstr(json_get(root, "status")), ends[i].status);
            CHECK_INT(json_i64(json_get(root, "exitCode"), &code), 0);
            CHECK_INT(code, ends[i].code);
            CHECK_STR(json_cstr(json_get(root, "signal")), ends[i].signal);
            CHECK_INT(json_bool(json_get(root, "timedOut"), &flag), 0);
            CHECK_INT(flag, ends[i].timed_out);
            CHECK_INT(json_bool(json_get(root, "killed"), &flag), 0);
            CHECK_INT(flag, ends[i].killed);
            CHECK_STR(json_cstr(json_get(root, "kind")), "fake");
            CHECK_INT(json_type(json_get(root, "cwd")), JSON_NULL);
            check_layers(root);
        }
    }
    close_world(&w);
}

/* A layer that cannot be had stops the command, with the reason. */
TEST(a_layer_that_is_missing)
{
    struct world w;
    char id[COMMAND_ID_MAX];
    struct err err = {0};
    open_world(&w);
    CHECK_INT(run(&w, "refuse", false, id, &err), 0);
    const struct json_node *root = parse(&w, id, false);
    CHECK_STR(json_cstr(json_get(root, "status")), "spawn_failed");
    CHECK(strstr(json_cstr(json_path_get(root, "why.summary")), "layer 'seccomp' is required"));
    CHECK_INT(run(&w, "refuse", true, id, &err), -ERR_UNSUPPORTED);
    CHECK(strstr(err.text, "layer 'seccomp' is required"));
    CHECK_INT(run(&w, "exit", false, id, &err), 0);
    close_world(&w);
}
