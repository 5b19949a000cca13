/* SPDX-License-Identifier: MIT */
/*
 * Hostile texts from a seed, in batches (see grammar.h).
 *
 *   NACRE_SEED=N      where to begin; 1 if not set
 *   NACRE_ROUNDS=N    how many texts
 *   NACRE_TEXT=FILE   for the test `text`: that one
 *
 * Each text runs in a session that lives on, and after it `echo` must work there.
 * Where judge.h says that it is defined, it also runs in a session without a past
 * and by `bash -c`, and both must print the same bytes and end alike.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "grammar.h"
#include "judge.h"
#include "lib/cage.h"
#include "lib/fixture.h"
#include "lib/test.h"
#include "native/native.h"
#include "native/priv.h"
#include "oracle.h"
#include "proc/tree.h"
#include "rt/priv.h"

enum {
    BATCH = 250,
    ROUNDS = 2000,
    RENEW_EVERY = 40, /* texts, after which the long session begins anew */
    POOL = 3,
    LONG_LIMIT_MS = 200, /* per text in the long session */
    LIMIT_MS = 4000,
    GRACE_MS = 50,
    PROBE_LIMIT_MS = 5000,
    GONE_LIMIT_S = 5,
    BATCH_LIMIT_S = 300,
    TEXTS_MAX = 64 * 1024 * 1024,
    ENV_MAX = 1024 * 1024,
};

/* Both names are of one length, so that one can be put for the other. */
static const char long_dir[] = "/tmp/long", session_dir[] = "/tmp/a/work",
                  oracle_dir[] = "/tmp/b/work";

/* The session without a past. */
static const char fresh[] = "fresh";

struct world {
    struct fx fx;
    struct grammar grammar;
    struct oracle *oracle;
    bool may_lose;       /* the text may take the session from itself */
    unsigned long_flags; /* of all texts of the long session */
    char tmp[PATH_MAX];  /* TMPDIR of the test */
    size_t fds;          /* open when only the pool lives */
    unsigned n_run, n_compared, n_refused;
};

static unsigned scale;

/* ---- sessions ---- */

static void on_closed(void *ctx)
{
    *(bool *)ctx = true;
}

static void close_session(struct world *w, const char *id)
{
    struct err err = {0};
    bool closed = false;
    CHECK_INT(rt_session_close(w->fx.rt, id, on_closed, &closed, &err), 0);
    FX_UNTIL(&w->fx, closed);
    FX_UNTIL(&w->fx, !rt_session_exists(w->fx.rt, id));
}

static void open_session(struct world *w, const char *id, const char *cwd)
{
    struct err err = {0};
    char made[SESSION_ID_MAX];
    (void)io_remove_tree(AT_FDCWD, cwd);
    CHECK_INT(io_mkdir_p(cwd, 0755, NULL), 0);
    struct rt_session_spec spec = {.id = id, .cwd = cwd};
    if (rt_session_open(w->fx.rt, NULL, &spec, made, &err) < 0)
        FAIL("open session '%s': %s", id, err.text);
}

static bool pool_is_full(const struct native *n)
{
    if (n->n_pool < POOL)
        return false;
    LIST_FOREACH(link, &n->pool)
    if (list_entry(link, struct shell, link)->phase != SHELL_IDLE)
        return false;
    return true;
}

static void print_process(pid_t pid, void *ctx)
{
    (void)ctx;
    auto_free char *text = NULL;
    if (proc_cmdline(pid, &text) == 0)
        printf("%d %s\n", (int)pid, text);
}

/* Waits for those that are just ending. */
static void check_processes(struct world *w, int expected)
{
    double until = fx_seconds() + GONE_LIMIT_S * scale;
    while (cage_count() != expected && fx_seconds() < until)
        fx_turn(&w->fx);
    int n = cage_count();
    if (n == expected)
        return;
    cage_each(print_process, NULL);
    FAIL("%d processes live, expected %d", n, expected);
}

/* Nothing of closed sessions may be left: descriptors, processes. */
static void check_nothing_left(struct world *w)
{
    FX_UNTIL(&w->fx, pool_is_full(w->fx.native));
    size_t fds = fx_fds();
    if (!w->fds)
        w->fds = fds;
    if (fds != w->fds)
        FAIL("%zu descriptors are open, %zu were before", fds, w->fds);
    /* The zygote, a supervisor and a bash for each of the pool, the oracle. */
    check_processes(w, 1 + 2 * POOL + (w->oracle ? 1 : 0));
}

static void renew_long(struct world *w)
{
    if (rt_session_exists(w->fx.rt, w->fx.session))
        close_session(w, w->fx.session);
    check_nothing_left(w);
    fx_forget(&w->fx);
    w->long_flags = 0;
    open_session(w, w->fx.session, long_dir);
}

/* ---- one text ---- */

static void show(const char *what, const char *p, size_t n)
{
    printf("%s (%zu bytes): ", what, n);
    for (size_t i = 0; i < n && i < 2000; i++) {
        unsigned char c = (unsigned char)p[i];
        if (c == '\n' || (c >= 0x20 && c < 0x7f))
            putchar(c);
        else
            printf("<%02x>", c);
    }
    putchar('\n');
}

/* Runs to the end, which must come. */
static const struct command *run(struct world *w, const char *session, const char *text, size_t len,
                                 int limit_ms)
{
    struct fx_opt opt = {.session = session,
                         .timeout_ms = limit_ms * (int64_t)scale,
                         .grace_ms = GRACE_MS * (int64_t)scale};
    struct err err = {0};
    const struct command *c = NULL;
    if (fx_try(&w->fx, text, len, &opt, &c, &err) < 0)
        FAIL("the text was not taken: %s", err.text);
    double until = fx_seconds() + (limit_ms + 3 * GRACE_MS + 10000) / 1000.0 * scale;
    while (!command_state_is_final(c->state)) {
        fx_turn(&w->fx);
        if (fx_seconds() > until)
            FAIL("the command does not end: %s", command_state_name(c->state));
    }
    bool sound =
        c->state == COMMAND_EXITED || c->state == COMMAND_SIGNALED || c->state == COMMAND_TIMED_OUT;
    if (!sound && !(c->state == COMMAND_SESSION_LOST && w->may_lose))
        FAIL("the command ended as %s: %s", command_state_name(c->state), c->why ? c->why : "");
    return c;
}

static bool has_line(const char *text, const char *line)
{
    const char *at = text;
    while ((at = strstr(at, line)))
        if (at++ == text || at[-2] == '\n')
            return true;
    return false;
}

/* The session must be usable, whatever was done to it. */
static void probe(struct world *w, const char *session, unsigned flags)
{
    char text[96], expected[32];
    unsigned nonce = grammar_below(&w->grammar, 1000000);
    (void)snprintf(expected, sizeof(expected), "ok-%u\n", nonce);
    if (flags & (GRAMMAR_REDEFINES | GRAMMAR_DAMAGED))
        (void)snprintf(text, sizeof(text), "\\builtin echo ok-%u 2>/dev/null || /bin/echo ok-%u",
                       nonce, nonce);
    else
        (void)snprintf(text, sizeof(text), "echo ok-%u", nonce);
    const struct command *c = run(w, session, text, strlen(text), PROBE_LIMIT_MS);
    size_t len;
    const char *got = fx_text(&w->fx, c, CAPTURE_STDOUT, &len);
    /* What traps of earlier texts print at any command stands beside it. */
    bool is_there = flags & (GRAMMAR_TRAPS | GRAMMAR_DAMAGED) ? has_line(got, expected)
                                                              : strcmp(got, expected) == 0;
    if (c->exit_code == 0 && is_there)
        return;
    show("stdout", got, len);
    got = fx_text(&w->fx, c, CAPTURE_STDERR, &len);
    show("stderr", got, len);
    FAIL("then '%s' in session '%s': %s, exit code %d%s%s", text, session,
         command_state_name(c->state), c->exit_code, c->why ? ": " : "", c->why ? c->why : "");
}

static bool is_same(const struct buf *a, const struct buf *b)
{
    return a->len == b->len && (!a->len || memcmp(a->data, b->data, a->len) == 0);
}

/* One stream of both; with messages of bash in it, where they say that they stand may differ. */
static void check_stream(struct world *w, const struct command *c, int which, bool has_messages,
                         const struct buf *expected)
{
    bool has_pids = judge_shows_pids(c->text, c->text_len);
    auto_buf struct buf a = BUF_INIT(TEXTS_MAX);
    auto_buf struct buf b = BUF_INIT(TEXTS_MAX);
    size_t len;
    const char *text = fx_text(&w->fx, c, which, &len);
    if (has_messages) {
        judge_strip_places(text, len, &a);
        judge_strip_places(expected->data, expected->len, &b);
    } else {
        CHECK_INT(buf_append(&a, text, len), 0);
        CHECK_INT(buf_append(&b, expected->data, expected->len), 0);
    }
    judge_rename(&b, oracle_dir, session_dir);
    if (has_pids) {
        judge_drop_numbers(&a);
        judge_drop_numbers(&b);
    }
    const char *lost;
    if (is_same(&a, &b) || judge_lists_shell(b.data, b.len) ||
        capture_log_storage_error(c->log, &lost) != 0)
        return;
    show("session", a.data, a.len);
    show("bash -c", b.data, b.len);
    FAIL("%s is not that of bash -c", which == CAPTURE_STDERR ? "stderr" : "stdout");
}

static void judge(struct world *w, const struct grammar_text *t, const struct command *c,
                  const struct oracle_answer *answer)
{
    size_t len;
    const char *err = fx_text(&w->fx, c, CAPTURE_STDERR, &len);
    bool cut =
        judge_is_syntax_error(err, len) || judge_is_syntax_error(answer->err.data, answer->err.len);
    if (c->exit_code != answer->code && !(cut && judge_excuse_code(c->exit_code, answer->code))) {
        show("session's stderr", err, len);
        show("bash -c's stderr", answer->err.data, answer->err.len);
        FAIL("exit code %d, and %d of bash -c", c->exit_code, answer->code);
    }
    bool mixes = judge_mixes(t->bytes.data, t->bytes.len);
    if (!(cut && judge_excuse_rest(answer->code)) && !(mixes && judge_excuse_err(t->flags)))
        check_stream(w, c, CAPTURE_STDOUT, mixes, &answer->out);
    if (!cut && !judge_excuse_err(t->flags))
        check_stream(w, c, CAPTURE_STDERR, true, &answer->err);
}

static void compare(struct world *w, const struct grammar_text *t)
{
    oracle_ask(w->oracle, t->bytes.data, t->bytes.len, LIMIT_MS * (int)scale);
    open_session(w, fresh, session_dir);
    const struct command *c = run(w, fresh, t->bytes.data, t->bytes.len, LIMIT_MS);
    struct oracle_answer answer;
    oracle_take(w->oracle, &answer);
    bool whole = c->state == COMMAND_EXITED || c->state == COMMAND_SIGNALED;
    if (whole && !answer.timed_out) {
        w->n_compared++;
        judge(w, t, c, &answer);
    }
    oracle_answer_done(&answer);
    probe(w, fresh, t->flags);
    close_session(w, fresh);
}

static void refuse(struct world *w, const struct grammar_text *t)
{
    struct err err = {0};
    const struct command *c = NULL;
    CHECK_INT(fx_try(&w->fx, t->bytes.data, t->bytes.len, NULL, &c, &err), -ERR_INVALID);
    CHECK(strstr(err.text, "NUL"));
    w->n_refused++;
}

static void one_text(struct world *w, const struct grammar_text *t)
{
    double from = fx_seconds();
    w->n_run++;
    show("text", t->bytes.data, t->bytes.len);
    if (t->has_nul) {
        refuse(w, t);
        return;
    }
    w->long_flags |= t->flags;
    w->may_lose = t->flags & (GRAMMAR_LOSES | GRAMMAR_DAMAGED);
    const struct command *c = run(w, w->fx.session, t->bytes.data, t->bytes.len, LONG_LIMIT_MS);
    bool whole = c->state == COMMAND_EXITED || c->state == COMMAND_SIGNALED;
    if (w->n_run % 16 == 0)
        (void)fx_result(&w->fx, c->id);
    probe(w, w->fx.session, w->long_flags);
    if (whole && !judge_excuse(t) && t->bytes.len <= ORACLE_TEXT_MAX)
        compare(w, t);
    printf("took %.0f ms\n", (fx_seconds() - from) * 1000);
}

/* ---- a batch ---- */

static void open_world(struct world *w, uint64_t seed)
{
    if (cage_missing())
        SKIP("%s", cage_missing());
    const char *text = getenv("TEST_TIMEOUT_SCALE");
    scale = text && strtoul(text, NULL, 10) > 1 ? 3 : 1;
    (void)setenv("HOME", "/tmp/home", 1);
    *w = (struct world){0};
    (void)snprintf(w->tmp, sizeof(w->tmp), "%s", getenv("TMPDIR"));
    (void)setenv("TMPDIR", "/tmp", 1);
    grammar_init(&w->grammar, seed);
    CHECK_INT(io_mkdir_p(long_dir, 0755, NULL), 0);
    fx_open_with(&w->fx, &(struct fx_settings){.pool_size = POOL, .cwd = long_dir, .spills = true});
    renew_long(w);
    const struct command *c = fx_exec(&w->fx, "cat /proc/$$/environ");
    size_t len;
    const char *vars = fx_text(&w->fx, c, CAPTURE_STDOUT, &len);
    auto_strv struct strv env = STRV_INIT(ENV_MAX);
    for (const char *p = vars; p < vars + len; p += strlen(p) + 1)
        CHECK_INT(strv_push(&env, p), 0);
    w->oracle = oracle_new(oracle_dir, (const char *const *)strv_items(&env));
    w->fds = 0; /* one more from here on */
}

static void close_world(struct world *w)
{
    close_session(w, w->fx.session);
    check_nothing_left(w);
    oracle_free(take_ptr(w->oracle));
    fx_close(&w->fx);
    (void)io_mkdir_p(w->tmp, 0700, NULL); /* a text may have removed it */
    printf("%u texts, %u compared, %u refused\n", w->n_run, w->n_compared, w->n_refused);
    /* The last ones are being reaped by the first process of the cage. */
    for (double until = fx_seconds() + GONE_LIMIT_S * scale; cage_count() != 0;)
        if (fx_seconds() > until)
            FAIL("%d processes outlived the runtime", cage_count());
}

static uint64_t number(const char *name, uint64_t fallback)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : fallback;
}

static void run_batch(const struct test_case *test)
{
    static struct world w;
    uint64_t seed = *(const uint64_t *)test->arg;
    open_world(&w, seed);
    for (unsigned i = 0; i < BATCH; i++) {
        struct grammar_text t;
        grammar_next(&w.grammar, &t);
        if (i && i % RENEW_EVERY == 0)
            renew_long(&w);
        printf("---- %u, flags %x\n", i, t.flags);
        one_text(&w, &t);
        grammar_text_done(&t);
    }
    close_world(&w);
}

static struct buf given = BUF_INIT(TEXTS_MAX);

/* Texts that are parted by lines of "%%"; the last one is compared. */
TEST_HIDDEN(text, 300)
{
    static const char line[] = "\n%%\n";
    static struct world w;
    open_world(&w, 1);
    for (const char *p = buf_cstr(&given), *next; p; p = next) {
        const char *end = strstr(p, line);
        size_t len = end ? (size_t)(end - p) : strlen(p);
        next = end ? end + strlen(line) : NULL;
        struct grammar_text t = {.bytes = BUF_INIT(TEXTS_MAX),
                                 .flags = GRAMMAR_REDEFINES | GRAMMAR_LOSES};
        if (next)
            t.flags |= GRAMMAR_RACES;
        CHECK_INT(buf_append(&t.bytes, p, len), 0);
        one_text(&w, &t);
        grammar_text_done(&t);
    }
    close_world(&w);
}

/* Before the cage, in which the file may not be seen. */
static void read_given(void)
{
    const char *path = getenv("NACRE_TEXT");
    if (path && io_read_file(AT_FDCWD, path, TEXTS_MAX, &given, NULL) < 0) {
        perror(path);
        exit(2);
    }
}

void test_collect(void)
{
    uint64_t seed = number("NACRE_SEED", 1);
    uint64_t n = (number("NACRE_ROUNDS", ROUNDS) + BATCH - 1) / BATCH;
    read_given();
    cage_enter();
    for (uint64_t i = 0; i < n; i++) {
        struct test_case *test = xnew(struct test_case);
        uint64_t *arg = xnew(uint64_t);
        *arg = seed + i;
        test->name = xasprintf("seed_%" PRIu64 "_texts_%d", *arg, BATCH);
        test->body = run_batch;
        test->timeout_s = BATCH_LIMIT_S;
        test->arg = arg;
        test_add(test);
    }
}
