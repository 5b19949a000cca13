/* SPDX-License-Identifier: MIT */
#include "fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/rand.h"
#include "json/read.h"
#include "json/write.h"
#include "lib/isolate.h"
#include "native/native.h"
#include "proc/tree.h"
#include "session/session.h"
#include "store/store.h"
#include "test.h"

enum { TICK_MS = 5, TEXT_MAX = 256 * 1024 * 1024, JSON_MAX = 64 * 1024 * 1024 };

static const char session_id[] = "main";

struct fx_run {
    struct command *c; /* a reference; NULL until it was taken */
    unsigned n_told;
    struct list link; /* fx.runs */
};

struct fx_kept {
    struct list link; /* fx.kept */
    size_t len;
    char text[];
};

/* ---- life ---- */

static void on_tick(void *ctx)
{
    (void)ctx;
}

static void must(int rc, const struct err *err, const char *what)
{
    if (rc < 0)
        FAIL("%s: %s", what, err->code ? err->text : err_describe(rc));
}

/* Below one directory of all tests, so that the next one removes what a failed one left. */
static void open_dir(struct fx *fx)
{
    struct err err = {0};
    const char *dir = fx->settings.dir;
    auto_free char *base = dir ? xstrdup(dir) : xasprintf("/dev/shm/nacre-tests-%u", geteuid());
    if (mkdir(base, 0700) < 0 && access(base, W_OK) < 0) {
        free(base);
        base = xstrdup(test_dir());
    }
    must(rundir_open(base, &fx->dir, &err), &err, "scratch directory");
    fx->run_dir = xasprintf("%s/run", fx->dir.path);
    const char *state = fx->settings.state_dir;
    fx->state_dir =
        state ? xasprintf("%s/%s", test_dir(), state) : xasprintf("%s/state", fx->dir.path);
    must(io_mkdir_p(fx->run_dir, 0700, &err), &err, "run directory");
    must(io_mkdir_p(fx->state_dir, 0700, &err), &err, "state directory");
}

static void open_rt(struct fx *fx)
{
    struct err err = {0};
    struct native_options n = {.run_dir = fx->run_dir, .pool_size = fx->settings.pool_size};
    if (fx->settings.isolated || isolate_wanted())
        n.plan = isolate_plan;
    must(native_new(fx->ev, &n, &fx->native, &err), &err, "native engine");
    fx->kinds[0] = native_kind(fx->native);
    struct rt_options o = {
        .kinds = fx->kinds,
        .run_dir = fx->run_dir,
        .state_dir = fx->settings.spills || fx->settings.stored ? fx->state_dir : NULL,
        .timeout_max_ms = fx->settings.timeout_max_ms,
        .session_idle_ms = fx->settings.session_idle_ms,
        .spill_max = fx->settings.spill_max,
        .policy = fx->settings.policy,
        .record = fx->settings.record,
    };
    if (fx->settings.stored) {
        struct store_options s = {.dir = fx->state_dir};
        must(store_open(&s, &fx->store, &err), &err, "store");
        o.store = (struct rt_store){
            .put_session = store_put_session,
            .del_session = store_del_session,
            .put_command = store_put_command,
            .get_command = store_get_command,
            .each_session = store_each_session,
            .ctx = fx->store,
        };
    }
    must(rt_new(fx->ev, &o, &fx->rt, &err), &err, "runtime");
}

static void close_rt(struct fx *fx)
{
    fx_forget(fx);
    rt_free(take_ptr(fx->rt));
    native_free(take_ptr(fx->native));
    store_free(take_ptr(fx->store));
}

void fx_open_with(struct fx *fx, const struct fx_settings *settings)
{
    *fx = (struct fx){.settings = *settings, .session = session_id};
    list_init(&fx->runs);
    list_init(&fx->kept);
    arena_init(&fx->arena, JSON_MAX);
    fx->ev = ev_new();
    CHECK(fx->ev);
    ev_timer_init(fx->ev, &fx->tick, on_tick, NULL);
    open_dir(fx);
    open_rt(fx);
    struct err err = {0};
    char id[SESSION_ID_MAX];
    struct rt_session_spec spec = {
        .id = session_id,
        .cwd = settings->cwd ? settings->cwd : test_dir(),
        .env = settings->env,
        .may_exist = settings->state_dir != NULL,
    };
    must(rt_session_open(fx->rt, NULL, &spec, id, &err), &err, "session");
}

void fx_open(struct fx *fx)
{
    fx_open_with(fx, &(struct fx_settings){0});
}

void fx_reopen(struct fx *fx)
{
    close_rt(fx);
    open_rt(fx);
}

void fx_forget(struct fx *fx)
{
    LIST_FOREACH(link, &fx->runs)
    {
        struct fx_run *run = list_entry(link, struct fx_run, link);
        if (run->c && !command_state_is_final(run->c->state))
            continue; /* it will be told */
        list_remove(&run->link);
        command_unref(run->c);
        free(run);
    }
    LIST_FOREACH(link, &fx->kept)
    {
        struct fx_kept *kept = list_entry(link, struct fx_kept, link);
        list_remove(&kept->link);
        free(kept);
    }
    arena_done(&fx->arena);
    arena_init(&fx->arena, JSON_MAX);
}

void fx_close(struct fx *fx)
{
    close_rt(fx);
    fx_forget(fx); /* what ended with the runtime */
    arena_done(&fx->arena);
    ev_timer_close(&fx->tick);
    ev_free(fx->ev);
    free(fx->run_dir);
    free(fx->state_dir);
    rundir_close(&fx->dir);
}

void fx_turn(struct fx *fx)
{
    ev_timer_start(&fx->tick, TICK_MS);
    (void)ev_run_once(fx->ev, true);
}

/* ---- commands ---- */

static void on_result(const char *id, bool running, void *ctx)
{
    (void)id, (void)running;
    struct fx_run *run = ctx;
    run->n_told++;
}

static struct fx_run *run_of(struct fx *fx, const struct command *c)
{
    LIST_FOREACH(link, &fx->runs)
    {
        struct fx_run *run = list_entry(link, struct fx_run, link);
        if (run->c == c)
            return run;
    }
    FAIL("command %s is not of this fixture", c->id);
}

int fx_try(struct fx *fx, const char *text, size_t len, const struct fx_opt *opt,
           const struct command **ret_c, struct err *err)
{
    static const struct fx_opt none;
    if (!opt)
        opt = &none;
    struct fx_run *run = xnew(struct fx_run);
    struct rt_exec exec = {
        .session_id = opt->session ? opt->session : fx->session,
        .spec = {.text = text,
                 .text_len = len,
                 .cwd = opt->cwd,
                 .env = opt->env,
                 .stdin_data = opt->in,
                 .stdin_len = opt->in_len || !opt->in ? opt->in_len : strlen(opt->in),
                 .stdin_open = opt->in_open,
                 .background = opt->background,
                 .pty = opt->pty,
                 .rows = opt->rows,
                 .cols = opt->cols,
                 .timeout_ms = opt->timeout_ms,
                 .grace_ms = opt->grace_ms},
        .yield_ms = opt->yield_ms,
        .events = {.on_result = on_result, .ctx = run},
    };
    char id[COMMAND_ID_MAX];
    int rc = rt_exec(fx->rt, NULL, &exec, id, err);
    if (rc < 0) {
        free(run);
        return rc;
    }
    /* The runtime forgets old commands, the fixture does not: a reference of its own. */
    run->c = command_ref((struct command *)rt_find_command(fx->rt, id));
    list_add_tail(&fx->runs, &run->link);
    *ret_c = run->c;
    return 0;
}

const struct command *fx_start(struct fx *fx, const char *text, const struct fx_opt *opt)
{
    struct err err = {0};
    const struct command *c = NULL;
    must(fx_try(fx, text, strlen(text), opt, &c, &err), &err, text);
    return c;
}

const struct command *fx_exec_opt(struct fx *fx, const char *text, const struct fx_opt *opt)
{
    const struct command *c = fx_start(fx, text, opt);
    struct fx_run *run = run_of(fx, c);
    while (!run->n_told)
        (void)ev_run_once(fx->ev, true);
    return c;
}

const struct command *fx_exec(struct fx *fx, const char *text)
{
    return fx_exec_opt(fx, text, NULL);
}

void fx_wait(struct fx *fx, const struct command *c)
{
    while (!command_state_is_final(c->state))
        (void)ev_run_once(fx->ev, true);
}

void fx_wait_quiet(struct fx *fx, const struct command *c)
{
    while (!c->quiet)
        (void)ev_run_once(fx->ev, true);
}

unsigned fx_times_told(struct fx *fx, const struct command *c)
{
    return run_of(fx, c)->n_told;
}

void fx_stop(struct fx *fx, const struct command *c)
{
    struct err err = {0};
    must(rt_stop(fx->rt, c->id, &err), &err, "stop");
    fx_wait(fx, c);
}

void fx_input(struct fx *fx, const struct command *c, const char *text)
{
    struct err err = {0};
    must(rt_input(fx->rt, c->id, text, strlen(text), &err), &err, "input");
}

void fx_input_end(struct fx *fx, const struct command *c)
{
    struct err err = {0};
    must(rt_input_end(fx->rt, c->id, &err), &err, "end of input");
}

const struct command *fx_run(const char *file, int line, struct fx *fx,
                             const struct fx_expect *expect)
{
    const struct command *c = fx_exec(fx, expect->text);
    size_t out_len, err_len;
    const char *out = fx_text(fx, c, CAPTURE_STDOUT, &out_len);
    const char *err = fx_text(fx, c, CAPTURE_STDERR, &err_len);
    if (c->state != COMMAND_EXITED || c->exit_code != expect->code)
        test_fail(
            file, line,
            "'%.200s': %s, exit code %d, expected %d; why: %.200s\nstdout: %.300s\nstderr: %.300s",
            expect->text, command_state_name(c->state), c->exit_code, expect->code,
            c->why ? c->why : "-", out, err);
    if (expect->out)
        test_check_mem(file, line, (struct test_bytes){"stdout", out, out_len},
                       (struct test_bytes){"expected", expect->out, strlen(expect->out)});
    if (expect->err)
        test_check_mem(file, line, (struct test_bytes){"stderr", err, err_len},
                       (struct test_bytes){"expected", expect->err, strlen(expect->err)});
    return c;
}

/* ---- what came of it ---- */

static char *keep(struct fx *fx, const void *p, size_t n)
{
    struct fx_kept *kept = xmalloc(sizeof(*kept) + n + 1);
    kept->len = n;
    if (n)
        memcpy(kept->text, p, n);
    kept->text[n] = '\0';
    list_add_tail(&fx->kept, &kept->link);
    return kept->text;
}

static int add_piece(const struct capture_piece *piece, void *ctx)
{
    return buf_append(ctx, piece->bytes, piece->len);
}

static void read_all(const struct command *c, int which, struct buf *text)
{
    struct err err = {0};
    struct capture_request request = {which, 0, 0};
    for (;;) {
        struct capture_read got;
        size_t had = text->len;
        must(capture_log_read(c->log, &request, add_piece, text, &got, &err), &err, "log");
        request.cursor = got.next;
        if (text->len == had)
            return;
    }
}

const char *fx_text(struct fx *fx, const struct command *c, int which, size_t *ret_len)
{
    auto_buf struct buf text = BUF_INIT(TEXT_MAX);
    read_all(c, which, &text);
    if (ret_len)
        *ret_len = text.len;
    return keep(fx, text.data, text.len);
}

void fx_wait_text(struct fx *fx, const struct command *c, int which, const char *text)
{
    for (;;) {
        auto_buf struct buf now = BUF_INIT(TEXT_MAX);
        read_all(c, which, &now);
        if (now.len && memmem(now.data, now.len, text, strlen(text)))
            return;
        if (c->quiet)
            FAIL("'%s' is not in the output: %s", text, buf_cstr(&now));
        fx_turn(fx);
    }
}

long fx_number(struct fx *fx, const struct command *c)
{
    const char *text = fx_out(fx, c);
    return strtol(text + strcspn(text, "0123456789"), NULL, 10);
}

const struct json_node *fx_result(struct fx *fx, const char *id)
{
    auto_buf struct buf json = BUF_INIT(JSON_MAX);
    struct json_w w;
    struct err err = {0};
    json_w_init(&w, &json);
    must(rt_result(fx->rt, id, &w, &err), &err, "result");
    must(json_w_finish(&w), &err, "result as JSON");
    struct json_node *root = NULL;
    must(json_parse(json.data, json.len, NULL, &fx->arena, &root, &err), &err, "parse the result");
    return root;
}

const char *fx_field(struct fx *fx, const char *id, const char *path)
{
    const struct json_node *node = json_path_get(fx_result(fx, id), path);
    bool is = false;
    switch (json_type(node)) {
    case JSON_STRING:
        return json_str(node, NULL);
    case JSON_NUMBER:
        return json_number_text(node, NULL);
    case JSON_BOOL:
        (void)json_bool(node, &is);
        return is ? "true" : "false";
    case JSON_NULL:
        return "null";
    case JSON_NONE:
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    FAIL("no plain field '%s' in the result", path);
}

/* ---- the world outside ---- */

void fx_mark(struct fx *fx)
{
    char id[RAND_ID_SIZE];
    (void)snprintf(fx->mark, sizeof(fx->mark), "FX_MARK=%s", rand_id(id, sizeof(id), ""));
    auto_free char *text = xasprintf("export %s", fx->mark);
    const struct command *c = fx_exec(fx, text);
    CHECK_INT(c->exit_code, 0);
}

/* Calls fn with each process of /proc. */
static void each_process(void (*fn)(pid_t pid, void *ctx), void *ctx)
{
    DIR *dir = opendir("/proc");
    CHECK(dir);
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        if (pid > 0)
            fn(pid, ctx);
    }
    (void)closedir(dir);
}

struct marked {
    const char *mark;
    size_t n;
};

static void count_marked(pid_t pid, void *ctx)
{
    struct marked *m = ctx;
    auto_free char *path = xasprintf("/proc/%d/environ", (int)pid);
    auto_buf struct buf env = BUF_INIT((size_t)8 * 1024 * 1024);
    if (io_read_file(AT_FDCWD, path, env.max, &env, NULL) < 0 || !env.len)
        return;
    m->n += memmem(env.data, env.len, m->mark, strlen(m->mark) + 1) != NULL;
}

size_t fx_marked(const struct fx *fx)
{
    struct marked m = {fx->mark, 0};
    CHECK(*fx->mark);
    each_process(count_marked, &m);
    return m.n;
}

bool fx_lives(pid_t pid)
{
    struct proc_info info;
    return proc_info_read(pid, &info) == 0 && info.state != 'Z' && info.state != 'X';
}

size_t fx_zombies(void)
{
    struct proc_list list = {0};
    pid_t self = getpid();
    (void)proc_tree_list(&self, 1, &list);
    size_t n = 0;
    for (size_t i = 0; i < list.n_items; i++)
        n += list.items[i].state == 'Z';
    proc_list_done(&list);
    return n;
}

size_t fx_fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    CHECK(dir);
    size_t n = 0;
    while (readdir(dir))
        n++;
    (void)closedir(dir);
    return n;
}

bool fx_has_program(const char *name)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t len = strcspn(path, ":");
        auto_free char *try = xasprintf("%.*s/%s", (int)len, path, name);
        if (access(try, X_OK) == 0)
            return true;
        path += len + (path[len] == ':');
    }
    return false;
}

const char *fx_file(struct fx *fx, const char *path)
{
    auto_buf struct buf text = BUF_INIT(TEXT_MAX);
    (void)io_read_file(AT_FDCWD, path, text.max, &text, NULL);
    return keep(fx, text.data, text.len);
}

double fx_seconds(void)
{
    return (double)clock_mono_ns() / 1e9;
}
