/* SPDX-License-Identifier: MIT */
#include "native/native.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "native/priv.h"

enum { REFILL_MS = 1 };

/* ---- the pool ---- */

static void refill(void *ctx)
{
    struct native *n = ctx;
    while (n->n_pool < n->pool_size) {
        struct shell *sh = shell_new(n);
        list_add_tail(&n->pool, &sh->link);
        n->n_pool++;
        if (shell_start(sh, NULL, 0, NULL, NULL) < 0) {
            shell_free(sh);
            n->n_pool--;
            return;
        }
    }
}

static struct shell *take_from_pool(struct native *n)
{
    LIST_FOREACH(link, &n->pool)
    {
        struct shell *sh = list_entry(link, struct shell, link);
        if (sh->phase != SHELL_IDLE)
            continue;
        list_remove(&sh->link);
        n->n_pool--;
        ev_timer_start(&n->refill, REFILL_MS);
        return sh;
    }
    if (n->pool_size)
        ev_timer_start(&n->refill, REFILL_MS);
    return NULL;
}

void native_leave_pool(struct shell *sh)
{
    if (!list_is_linked(&sh->link))
        return;
    list_remove(&sh->link);
    sh->n->n_pool--;
}

/* A shell from the pool gets what the session asks for. */
static int adopt(struct shell *sh, struct session *s, struct err *err)
{
    auto_buf struct buf text = BUF_INIT((size_t)8 * COMMAND_ENV_MAX);
    auto_buf struct buf lines = BUF_INIT(4096);
    int rc = shell_mend_dir(sh, err); /* a command may have emptied the run directory meanwhile */
    if (rc < 0)
        return rc;
    native_env_script(&s->env, &text);
    if (s->cwd) {
        (void)buf_append_str(&text, "\\builtin cd -- ");
        (void)native_quote(&text, s->cwd, strlen(s->cwd));
        (void)buf_append_str(&text, "\n\\builtin unset -v OLDPWD\n");
    }
    if (text.len) {
        rc = shell_write_file(sh, "adopt", text.data, text.len, err);
        if (rc < 0)
            return rc;
        (void)buf_printf(&lines, "\\builtin . %s/adopt </dev/null >/dev/null 2>&1\n", sh->dir);
    }
    shell_add_report(sh, &lines, "0");
    sh->phase = SHELL_STARTING;
    sh->reported = false;
    ev_timer_start(&sh->timer, START_LIMIT_MS);
    return shell_send(sh, &lines, err);
}

/* ---- the kind ---- */

static int kind_open(struct session *s, struct err *err)
{
    struct native *n = s->kind->engine;
    size_t len;
    const char *state = session_state(s, &len);
    struct shell *sh = state ? NULL : take_from_pool(n);
    if (sh) {
        sh->session = s;
        s->kind_data = sh;
        return adopt(sh, s, err);
    }
    int rc = state ? native_state_check(state, len, err) : 0;
    if (rc < 0)
        return rc;
    sh = shell_new(n);
    sh->session = s;
    s->kind_data = sh;
    if (state)
        sh->restored = true;
    return shell_start(sh, state, len, s->cwd, err);
}

static int kind_input(struct command *c, const void *p, size_t len, struct err *err)
{
    struct shell *sh = c->session->kind_data;
    if (c->background)
        return input_write(&background_of(c)->input, p, len, err);
    if (c->session->current == c && sh->waiting != c)
        return input_write(&sh->input, p, len, err);
    /* Still queued: what it is given at the start grows. */
    if (c->stdin_len + len > INPUT_MAX)
        return err_set(err, ERR_BUSY, "%zu bytes of input wait for the command, the maximum is %d",
                       c->stdin_len, INPUT_MAX);
    c->stdin_data = xrealloc(c->stdin_data, c->stdin_len + len + 1);
    memcpy(c->stdin_data + c->stdin_len, p, len);
    c->stdin_len += len;
    return 0;
}

static int kind_input_end(struct command *c, struct err *err)
{
    (void)err;
    struct shell *sh = c->session->kind_data;
    if (c->background)
        return background_input_end(c);
    if (c->session->current == c && sh->waiting != c)
        input_end(&sh->input);
    return 0; /* a queued command starts with its input complete */
}

static int kind_resize(struct command *c, uint16_t rows, uint16_t cols, struct err *err)
{
    return background_resize(c, rows, cols, err);
}

static int kind_signal(struct command *c, int signal, struct err *err)
{
    if (c->background)
        return background_signal(c, signal, err);
    return foreground_signal(c->session->kind_data, c, signal, err);
}

static void kind_stop(struct command *c, enum session_stop_stage stage)
{
    if (c->background)
        background_stop(c, stage);
    else
        foreground_stop(c->session->kind_data, c, stage);
}

static char *kind_why(struct command *c, bool *ret_needs_input)
{
    struct shell *sh = c->session->kind_data;
    *ret_needs_input = false;
    if (c->background)
        return background_of(c) ? background_why(background_of(c), ret_needs_input) : NULL;
    return sh->phase == SHELL_RUNNING ? foreground_why(sh, ret_needs_input) : NULL;
}

static int kind_kill_survivors(struct command *c, struct err *err)
{
    (void)err;
    return survivors_kill(c);
}

static void kind_forget(struct command *c)
{
    if (c->background)
        background_free(background_of(c));
}

static int kind_restore(struct session *s, const char *state, size_t len, struct err *err)
{
    struct shell *sh = s->kind_data;
    /* A bash that still starts is let go as well: what it was sent ends with its pipe. */
    if (sh->phase != SHELL_IDLE && sh->phase != SHELL_DOWN && sh->phase != SHELL_STARTING)
        return err_set(err, ERR_BUSY, "session '%s' is not idle", s->id);
    if (state) {
        int rc = native_state_check(state, len, err);
        if (rc < 0)
            return rc;
    }
    shell_kill_bash(sh);
    shell_forget_bash(sh);
    sh->last_code = 0;
    s->ready = false;
    free(s->state);
    s->state = state ? xmemdup(state, len) : NULL;
    s->state_len = state ? len : 0;
    return shell_start(sh, state, len, s->cwd, err);
}

static void kind_close(struct session *s)
{
    struct shell *sh = s->kind_data;
    sh->closing = true;
    LIST_FOREACH(link, &sh->background)
    {
        struct background *b = list_entry(link, struct background, link);
        if (b->box)
            proc_box_close(b->box);
    }
    if (sh->box)
        proc_box_close(sh->box);
    else
        ev_timer_start(&sh->timer, 0); /* not from within this call */
}

void native_check_closed(struct shell *sh)
{
    if (!sh->closing || sh->closed || sh->box || !sh->session)
        return;
    LIST_FOREACH(link, &sh->background)
    if (list_entry(link, struct background, link)->box)
        return;
    sh->closed = true;
    session_kind_closed(sh->session);
}

static void kind_free(struct session *s)
{
    shell_free(take_ptr(s->kind_data));
}

/* ---- the engine ---- */

static char *find_bash(void)
{
    const char *path = getenv("PATH");
    for (const char *p = path; p && *p;) {
        size_t len = strcspn(p, ":");
        auto_free char *try = xasprintf("%.*s/bash", (int)len, p);
        if (len && access(try, X_OK) == 0)
            return take_ptr(try);
        p += len + (p[len] == ':');
    }
    return access("/bin/bash", X_OK) == 0 ? xstrdup("/bin/bash") : NULL;
}

static const struct session_kind kind_template = {
    .name = "bash",
    .open = kind_open,
    .start = foreground_start,
    .start_background = background_start,
    .input = kind_input,
    .input_end = kind_input_end,
    .resize = kind_resize,
    .signal = kind_signal,
    .stop = kind_stop,
    .why = kind_why,
    .kill_survivors = kind_kill_survivors,
    .forget = kind_forget,
    .restore = kind_restore,
    .close = kind_close,
    .free = kind_free,
};

int native_new(struct ev *ev, const struct native_options *options, struct native **ret_n,
               struct err *err)
{
    struct native *n = xnew(struct native);
    n->ev = ev;
    n->kind = kind_template;
    n->kind.engine = n;
    n->run_dir = xstrdup(options->run_dir);
    n->pool_size = options->pool_size < POOL_MAX ? options->pool_size : POOL_MAX;
    n->plan = options->plan;
    n->plan_ctx = options->plan_ctx;
    list_init(&n->layer_names);
    if (n->plan)
        n->pool_size = 0; /* a plan belongs to a session */
    n->io = xmalloc(IO_CHUNK);
    n->bash = options->bash ? xstrdup(options->bash) : find_bash();
    order_init(&n->order);
    list_init(&n->pool);
    strv_init(&n->base_env, (size_t)2 * COMMAND_ENV_MAX);
    native_base_env(&n->base_env);
    ev_timer_init(ev, &n->refill, refill, n);
    int rc = 0;
    if (!n->bash || access(n->bash, X_OK) < 0)
        rc = err_set(err, ERR_SPAWN, "no bash found: install bash or put it into PATH");
    if (rc == 0)
        rc = proc_zygote_new(ev, &n->zygote, err);
    if (rc < 0) {
        native_free(n);
        return rc;
    }
    /* A command that stops reading its input must not end us. */
    struct sigaction old;
    if (sigaction(SIGPIPE, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        (void)signal(SIGPIPE, SIG_IGN);
    if (n->pool_size)
        ev_timer_start(&n->refill, REFILL_MS);
    *ret_n = n;
    return 0;
}

const struct session_kind *native_kind(struct native *n)
{
    return &n->kind;
}

void native_free(struct native *n)
{
    if (!n)
        return;
    LIST_FOREACH(link, &n->pool)
    shell_free(list_entry(link, struct shell, link));
    ev_timer_close(&n->refill);
    if (n->zygote)
        proc_zygote_free(n->zygote);
    strv_done(&n->base_env);
    order_done(&n->order);
    native_layer_names_free(n);
    free(n->io);
    free(n->bash);
    free(n->run_dir);
    free(n);
}
