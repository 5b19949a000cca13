/* SPDX-License-Identifier: MIT */
/*
 * Background commands: each a bash of its own in a box of its own, so that all
 * that descends from it is known for certain. It starts from a copy of the
 * session's saved state, which BASH_ENV makes it read first.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/own.h"
#include "capture/log.h"
#include "native/priv.h"
#include "proc/pty.h"
#include "sandbox/plan.h"

enum {
    READS_PER_TURN = 16,
    DRAIN_ROUNDS = 10,
    PTY_ROWS = 24,
    PTY_COLS = 80,
    END_OF_INPUT = 4, /* ^D */
};

struct background *background_of(struct command *c)
{
    return c->kind_data;
}

static void close_stream(struct background *b, int i)
{
    ev_fd_close(&b->watch[i]);
    own_close_fd(&b->fd[i]);
    if (b->fd[0] < 0 && b->fd[1] < 0 && b->done)
        command_quiet(b->command);
}

static void read_stream(struct background *b, int i)
{
    bool end = false;
    for (int turn = 0; turn < READS_PER_TURN && b->fd[i] >= 0; turn++)
        if (!native_read(b->shell->n, b->fd[i], b->command, i ? CAPTURE_STDERR : CAPTURE_STDOUT,
                         &end))
            break;
    if (end)
        close_stream(b, i);
}

static void on_stdout(void *ctx, unsigned events)
{
    (void)events;
    read_stream(ctx, 0);
}

static void on_stderr(void *ctx, unsigned events)
{
    (void)events;
    read_stream(ctx, 1);
}

static bool anything_left(struct background *b, struct proc_list *list)
{
    pid_t root = b->box ? proc_box_pid(b->box) : 0;
    proc_list_clear(list);
    if (!root)
        return false;
    (void)proc_tree_list(&root, 1, list);
    size_t kept = 0;
    for (size_t i = 0; i < list->n_items; i++)
        if (list->items[i].state != 'Z' && list->items[i].state != 'X')
            list->items[kept++] = list->items[i];
    list->n_items = kept;
    return kept > 0;
}

static void record_survivors(struct background *b)
{
    struct command *c = b->command;
    struct proc_list list = {0};
    if (anything_left(b, &list)) {
        c->n_survivors = list.n_items;
        c->survivors = xnew_n(pid_t, list.n_items);
        c->survivor_starts = xnew_n(uint64_t, list.n_items);
        for (size_t i = 0; i < list.n_items; i++) {
            c->survivors[i] = list.items[i].pid;
            c->survivor_starts[i] = list.items[i].starttime;
        }
    }
    proc_list_done(&list);
}

static void remove_files(struct background *b)
{
    char name[COMMAND_ID_MAX + 8];
    (void)unlinkat(b->shell->dirfd, b->command->id, 0);
    (void)snprintf(name, sizeof(name), "%s.env", b->command->id);
    (void)unlinkat(b->shell->dirfd, name, 0);
}

void background_free(struct background *b)
{
    if (!b)
        return;
    list_remove(&b->link);
    input_close(&b->input);
    ev_timer_close(&b->timer);
    remove_files(b);
    struct command *c = b->command;
    c->kind_data = NULL;
    proc_box_free(b->box);
    for (int i = 0; i < 2; i++) {
        ev_fd_close(&b->watch[i]);
        own_close_fd(&b->fd[i]);
    }
    if (command_state_is_final(c->state))
        command_quiet(c);
    command_unref(c);
    free(b);
}

static void finish(struct background *b, const struct session_outcome *o)
{
    struct command *c = b->command;
    if (b->done)
        return;
    b->done = true;
    ev_timer_stop(&b->timer);
    input_close(&b->input);
    record_survivors(b);
    struct session_outcome outcome = *o;
    outcome.killed = c->stop_stage && !c->n_survivors;
    session_kind_done(c, &outcome); /* b keeps a reference of its own */
    if (b->fd[0] < 0 && b->fd[1] < 0)
        command_quiet(c);
    struct shell *sh = b->shell;
    if (!c->n_survivors)
        background_free(b); /* with survivors it stays, for their output, until the session ends */
    if (sh->closing)
        native_check_closed(sh);
}

static void finish_exited(struct background *b)
{
    struct command *c = b->command;
    int status = b->exit.status;
    c->usage.user_us = (int64_t)b->exit.user_us;
    c->usage.system_us = (int64_t)b->exit.system_us;
    c->usage.maxrss_bytes = (int64_t)b->exit.maxrss_bytes;

    struct session_outcome o = {0};
    if (WIFSIGNALED(status)) {
        o.signal = WTERMSIG(status);
        o.exit_code = 128 + o.signal;
    } else {
        o.exit_code = WEXITSTATUS(status);
    }
    finish(b, &o);
}

/* After the leader's end: the last output, and for a stopped command the last processes. */
static void settle(void *ctx)
{
    struct background *b = ctx;
    struct command *c = b->command;
    struct proc_list list = {0};
    read_stream(b, 0);
    read_stream(b, 1);
    bool left = anything_left(b, &list);
    bool open = b->fd[0] >= 0 || b->fd[1] >= 0;
    if (left && c->stop_stage)
        (void)proc_tree_kill(&list, c->stop_stage >= SESSION_STOP_KILL ? SIGKILL : SIGTERM, NULL,
                             NULL);
    proc_list_done(&list);
    if ((left && c->stop_stage) || (open && b->rounds++ < DRAIN_ROUNDS))
        ev_timer_start(&b->timer, left && c->stop_stage ? TREE_POLL_MS : DRAIN_MS / DRAIN_ROUNDS);
    else
        finish_exited(b);
}

static void on_spawned(void *ctx, uint32_t tag, pid_t pid)
{
    (void)tag;
    struct background *b = ctx;
    b->pid = pid;
    b->command->pid = pid;
    command_started(b->command);
}

static void on_failed(void *ctx, uint32_t tag, const char *step, const struct err *err)
{
    (void)tag, (void)step;
    struct background *b = ctx;
    free(b->command->why);
    b->command->why = xstrdup(err->text);
    finish(b, &(struct session_outcome){.exit_code = 126, .spawn_failed = true});
}

static void on_exit_event(void *ctx, uint32_t tag, pid_t pid, const struct proc_exit *ended)
{
    (void)tag, (void)pid;
    struct background *b = ctx;
    b->exit = *ended;
    b->exited = true;
    settle(b);
}

static void on_gone(void *ctx, bool lost)
{
    (void)lost;
    struct background *b = ctx;
    struct shell *sh = b->shell;
    proc_box_free(b->box);
    b->box = NULL;
    read_stream(b, 0);
    read_stream(b, 1);
    if (b->done)
        background_free(b);
    else if (b->exited)
        finish_exited(b);
    else
        finish(b, &(struct session_outcome){.exit_code = 137, .signal = SIGKILL});
    if (sh->closing)
        native_check_closed(sh);
}

static const struct proc_box_events box_events = {on_spawned, on_failed, on_exit_event, on_gone};

/* What the copy reads before its text: the state, then what this command adds. */
static int write_env(struct background *b, struct err *err)
{
    struct command *c = b->command;
    struct session *s = b->shell->session;
    auto_buf struct buf text = BUF_INIT(STATE_MAX + (size_t)8 * COMMAND_ENV_MAX);
    size_t len;
    const char *state = session_state(s, &len);
    (void)buf_append_str(&text, "\\builtin unset -v BASH_ENV\n");
    if (state)
        (void)native_state_strip(state, len, false, &text);
    else
        native_env_script(&s->env, &text);
    if (c->pty)
        (void)buf_append_str(
            &text, "\n[[ ${TERM-dumb} == dumb ]] && \\builtin export TERM=xterm-256color\n");
    for (size_t i = 0; i < c->env.n; i++) {
        const char *var = c->env.items[i], *value = strchr(var, '=') + 1;
        (void)buf_append_str(&text, "\n\\builtin export ");
        (void)buf_append(&text, var, (size_t)(value - var));
        (void)native_quote(&text, value, strlen(value));
    }
    const char *cwd = c->cwd ? c->cwd : s->cwd;
    if (cwd) {
        (void)buf_append_str(&text, "\n\\builtin cd -- ");
        (void)native_quote(&text, cwd, strlen(cwd));
        if (c->cwd)
            (void)buf_append_str(&text, " || \\builtin exit 1");
    }
    (void)buf_append_str(&text, "\n\\builtin :\n");
    char name[COMMAND_ID_MAX + 8];
    (void)snprintf(name, sizeof(name), "%s.env", c->id);
    return shell_write_file(b->shell, name, text.data, text.len, err);
}

/* The three descriptors of the child, in map; ours go into b. */
static int make_pipes(struct background *b, int child[3], struct err *err)
{
    struct command *c = b->command;
    int out[2], errp[2];
    int rc = io_pipe(out);
    if (rc < 0)
        return err_set(err, -rc, "make pipes");
    b->fd[0] = out[0];
    child[1] = out[1];
    rc = io_pipe(errp);
    if (rc < 0)
        return err_set(err, -rc, "make pipes");
    b->fd[1] = errp[0];
    child[2] = errp[1];
    if (!c->stdin_open && !c->stdin_len)
        return 0; /* /dev/null */
    int in[2];
    rc = io_pipe(in);
    if (rc < 0)
        return err_set(err, -rc, "make pipes");
    child[0] = in[0];
    input_open_fd(&b->input, c, in[1]);
    return 0;
}

static int make_pty(struct background *b, int child[3], struct err *err)
{
    struct command *c = b->command;
    int rc = proc_pty_open(c->rows ? c->rows : PTY_ROWS, c->cols ? c->cols : PTY_COLS, &b->fd[0],
                           &child[0], err);
    if (rc < 0)
        return rc;
    child[1] = dup(child[0]);
    child[2] = dup(child[0]);
    int in = fcntl(b->fd[0], F_DUPFD_CLOEXEC, 3);
    if (child[1] < 0 || child[2] < 0 || in < 0)
        return err_set(err, errno, "duplicate the terminal");
    input_open_fd(&b->input, c, in);
    c->stdin_open = true;
    return 0;
}

static int spawn(struct background *b, const int child[3], struct err *err)
{
    struct command *c = b->command;
    struct shell *sh = b->shell;
    struct native *n = sh->n;
    auto_strv struct strv env = STRV_INIT((size_t)4 * COMMAND_ENV_MAX);
    if (!sh->session->state) {
        int rc = strv_push_all(&env, (const char *const *)strv_items(&n->base_env));
        if (rc < 0)
            return err_set(err, -rc, "environment of command '%s'", c->id);
    }
    auto_free char *bash_env = xasprintf("%s/%s.env", sh->dir, c->id);
    auto_free char *script = xasprintf("%s/%s", sh->dir, c->id);
    (void)strv_set_env(&env, "BASH_ENV", bash_env);

    const char *argv[] = {"bash", "--norc", "--noprofile", script, NULL};
    struct proc_fd map[3];
    size_t n_map = 0;
    for (int i = 0; i < 3; i++)
        if (child[i] >= 0)
            map[n_map++] = (struct proc_fd){child[i], i};
    struct proc_spec spec = {
        .path = n->bash,
        .argv = argv,
        .envp = (const char *const *)strv_items(&env),
        .cwd = "/",
        .fds = map,
        .n_fds = n_map,
        .flags = PROC_SETSID | (c->pty ? PROC_CTTY : 0),
        .umask = -1,
    };
    return proc_box_spawn(b->box, &spec, 1, err);
}

static int give(const struct background *b, int fd, struct err *err)
{
    int rc = shell_give_fd(b->shell, fd);
    return rc < 0 ? err_set(err, -rc, "give a stream to the session's user") : 0;
}

/* In an isolated session it sees what the session sees. */
static int open_box(struct background *b, struct err *err)
{
    struct shell *sh = b->shell;
    if (sh->n->plan && !sh->box)
        return err_set(err, ERR_BUSY, "the sandbox of session '%s' is being made again",
                       sh->session->id);
    if (sh->n->plan)
        return proc_box_open_inside(sh->box, &box_events, b, &b->box, err);
    struct sandbox_plan plan;
    sandbox_plan_init(&plan);
    return proc_box_open(sh->n->zygote, &plan, &box_events, b, &b->box, err);
}

static int launch(struct background *b, struct err *err)
{
    struct command *c = b->command;
    int child[3] = {-1, -1, -1};
    int rc = shell_write_file(b->shell, c->id, c->text, c->text_len, err);
    if (rc == 0)
        rc = write_env(b, err);
    if (rc == 0)
        rc = c->pty ? make_pty(b, child, err) : make_pipes(b, child, err);
    for (int i = 0; i < 3 && rc == 0; i++)
        if (child[i] >= 0)
            rc = give(b, child[i], err);
    if (rc == 0)
        rc = open_box(b, err);
    if (rc == 0)
        rc = spawn(b, child, err);
    for (int i = 0; i < 3; i++)
        own_close_fd(&child[i]);
    if (rc < 0)
        return rc;
    static const ev_fd_fn handlers[] = {on_stdout, on_stderr};
    for (int i = 0; i < 2; i++)
        if (b->fd[i] >= 0 &&
            ev_fd_init(b->shell->n->ev, &b->watch[i], b->fd[i], handlers[i], b) == 0)
            ev_fd_start(&b->watch[i], EV_READ);
    return 0;
}

int background_start(struct session *s, struct command *c, struct err *err)
{
    struct shell *sh = s->kind_data;
    struct background *b = xnew(struct background);
    b->shell = sh;
    b->command = command_ref(c);
    b->fd[0] = b->fd[1] = -1;
    input_init(&b->input, sh->n);
    ev_timer_init(sh->n->ev, &b->timer, settle, b);
    list_add_tail(&sh->background, &b->link);
    c->kind_data = b;
    const char *cwd = c->cwd ? c->cwd : s->cwd;
    c->result_cwd = cwd ? xstrdup(cwd) : NULL;
    int rc = launch(b, err);
    if (rc < 0) {
        background_free(b);
        return rc;
    }
    if (c->stdin_len)
        (void)input_write(&b->input, c->stdin_data, c->stdin_len, NULL);
    if (c->stdin_len && !c->stdin_open)
        input_end(&b->input);
    return 0;
}

static size_t signal_all(struct background *b, int signal)
{
    struct proc_list list = {0};
    size_t n = 0;
    if (anything_left(b, &list))
        n = proc_tree_kill(&list, signal, NULL, NULL);
    proc_list_done(&list);
    return n;
}

char *background_why(struct background *b, bool *needs_input)
{
    struct proc_list list = {0};
    (void)anything_left(b, &list);
    char *why = why_of(&list, 0, &b->input, needs_input);
    proc_list_done(&list);
    return why;
}

void background_stop(struct command *c, enum session_stop_stage stage)
{
    struct background *b = background_of(c);
    if (stage == SESSION_STOP_INT && !c->why)
        c->why = background_why(b, &c->needs_input);
    switch (stage) {
    case SESSION_STOP_NONE:
        break;
    case SESSION_STOP_INT:
        (void)signal_all(b, SIGINT);
        break;
    case SESSION_STOP_TERM:
        (void)signal_all(b, SIGTERM);
        (void)signal_all(b, SIGCONT);
        break;
    case SESSION_STOP_KILL:
        if (b->box)
            proc_box_close(b->box);
        break;
    case SESSION_STOP_LOST:
        finish(b, &(struct session_outcome){.exit_code = 137, .lost = true});
        break;
    }
}

static bool is_leader(const struct proc_info *info, void *ctx)
{
    const struct background *b = ctx;
    return info->pid == b->pid;
}

/*
 * USR1 and its like are for the program that the text runs. The bash around it would die of them,
 * so it is left out while it has a child and no trap for the signal.
 */
static bool is_for_children(const struct background *b, int signal)
{
    static const int for_all[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGABRT, SIGKILL,
                                  SIGTERM, SIGSTOP, SIGTSTP, SIGCONT};
    for (size_t i = 0; i < sizeof(for_all) / sizeof(for_all[0]); i++)
        if (for_all[i] == signal)
            return false;
    return !process_has_signal(b->pid, "SigCgt", signal);
}

int background_signal(struct command *c, int signal, struct err *err)
{
    struct background *b = background_of(c);
    struct proc_list list = {0};
    size_t n = 0;
    if (b && anything_left(b, &list)) {
        bool spare = list.n_items > 1 && is_for_children(b, signal);
        n = proc_tree_kill(&list, signal, spare ? is_leader : NULL, b);
    }
    proc_list_done(&list);
    return n ? 0 : err_set(err, ERR_EXITED, "command '%s' has no process left", c->id);
}

int background_input_end(struct command *c)
{
    struct background *b = background_of(c);
    if (c->pty) {
        char eof = END_OF_INPUT;
        return input_write(&b->input, &eof, 1, NULL);
    }
    input_end(&b->input);
    return 0;
}

int background_resize(struct command *c, uint16_t rows, uint16_t cols, struct err *err)
{
    struct background *b = background_of(c);
    c->rows = rows;
    c->cols = cols;
    return proc_pty_resize(b->fd[0], rows, cols, err);
}
