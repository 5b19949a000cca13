/* SPDX-License-Identifier: MIT */
/*
 * The life of a foreground command in a shell: docs/contracts/session-execution.md.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/own.h"
#include "capture/log.h"
#include "capture/view.h"
#include "native/priv.h"

enum {
    LINES_MAX = 128 * 1024,
    EVAL_MAX = 16 * 1024, /* longer texts are sourced even if a DEBUG trap is set */
    DRAIN_ROUNDS = 10,
    RESCANS_MAX = 10,
    KILL_POLL_MS = 50,
    USAGE_MIN_NS = 5000000, /* shorter commands are below the clock tick of /proc */
};

/* ---- start ---- */

/* The names of c's own variables, each led by a blank. */
static void add_names(struct buf *out, const struct command *c)
{
    for (size_t i = 0; i < c->env.n; i++) {
        const char *var = c->env.items[i];
        (void)buf_append_str(out, " ");
        (void)buf_append(out, var, (size_t)(strchr(var, '=') - var));
    }
}

static bool has_own(const struct command *c)
{
    return c->env.n || c->cwd;
}

/*
 * What is done before the command, and undone after it, for its own environment and directory.
 * `. before` gives last_code, and the opposite (failure, or success and a file) when it refuses.
 */
static int write_before(struct shell *sh, const struct command *c, struct err *err)
{
    auto_buf struct buf text = BUF_INIT((size_t)8 * COMMAND_ENV_MAX);
    auto_free char *refuse =
        sh->last_code
            ? xasprintf("||\\builtin return 0 >|%s/refused||\\builtin return 0\n", sh->dir)
            : xstrdup("||\\builtin return 1\n");
    if (c->env.n) { /* `old` is there before, whatever the umask of the shell */
        (void)buf_append_str(&text, "\\builtin declare -p");
        add_names(&text, c);
        (void)buf_printf(&text, " >|%s/old 2>/dev/null\n", sh->dir);
    }
    for (size_t i = 0; i < c->env.n; i++) {
        const char *var = c->env.items[i], *value = strchr(var, '=') + 1;
        (void)buf_append_str(&text, "\\builtin export ");
        (void)buf_append(&text, var, (size_t)(value - var));
        (void)native_quote(&text, value, strlen(value));
        (void)buf_append_str(&text, refuse);
    }
    if (c->cwd) {
        (void)buf_append_str(&text, "\\builtin cd -- ");
        (void)native_quote(&text, c->cwd, strlen(c->cwd));
        (void)buf_append_str(&text, refuse);
    }
    (void)buf_printf(&text, "\\builtin return %d\n", sh->last_code);
    int rc = shell_write_file(sh, "old", "", 0, err);
    return rc < 0 ? rc : shell_write_file(sh, "before", text.data, text.len, err);
}

/* The same backwards, for after the command and for the moment at which it ends the shell. */
static int write_undo(struct shell *sh, const struct command *c, struct err *err)
{
    auto_buf struct buf text = BUF_INIT((size_t)8 * COMMAND_ENV_MAX);
    if (c->env.n) {
        (void)buf_append_str(&text, "\\builtin unset -v");
        add_names(&text, c);
        (void)buf_printf(&text, "\n\\builtin . %s/old\n", sh->dir);
    }
    if (c->cwd && sh->session->cwd) {
        (void)buf_append_str(&text, "\\builtin cd -- ");
        (void)native_quote(&text, sh->session->cwd, strlen(sh->session->cwd));
        (void)buf_append_str(&text, "\n");
    }
    return shell_write_file(sh, "undo", text.data, text.len, err);
}

static void add_redirections(struct shell *sh, struct buf *lines, const char *in)
{
    (void)buf_printf(lines, " <%s >%s/o 2>%s/e", in, sh->dir, sh->dir);
}

/* The line that runs the text, which is in the file "command". */
static void add_text(struct shell *sh, const struct command *c, struct buf *lines, const char *in)
{
    /* A sourced file hides a DEBUG trap and fires a RETURN trap: eval does neither. */
    if (sh->facts.has_debug_trap && c->text_len <= EVAL_MAX) {
        (void)buf_append_str(lines, "\\builtin eval ");
        (void)native_quote(lines, c->text, c->text_len);
    } else {
        (void)buf_printf(lines, "\\builtin . %s/command", sh->dir);
    }
    add_redirections(sh, lines, in);
}

static int set_last_code(struct shell *sh, struct err *err)
{
    char text[40];
    int n = snprintf(text, sizeof(text), "\\builtin return %d\n", sh->last_code);
    return shell_write_file(sh, "code", text, (size_t)n, err);
}

/* Where standard input comes from: nothing, a file, or a FIFO that is written to later. */
static int prepare_input(struct shell *sh, struct command *c, char **ret_in, struct err *err)
{
    *ret_in = NULL;
    if (!c->stdin_open && !c->stdin_len) {
        *ret_in = xstrdup("/dev/null");
        return 0;
    }
    *ret_in = xasprintf("%s/i", sh->dir);
    (void)io_remove_tree(sh->dirfd, "i"); /* who still has the old one open keeps that */
    if (!c->stdin_open)
        return shell_write_file(sh, "i", c->stdin_data, c->stdin_len, err);
    int rc = shell_make_fifo(sh, "i", err);
    if (rc < 0)
        return rc;
    input_open_fifo(&sh->input, c, *ret_in);
    return c->stdin_len ? input_write(&sh->input, c->stdin_data, c->stdin_len, err) : 0;
}

static void add_exit_trap(struct shell *sh, const struct command *c, struct buf *lines)
{
    /*
     * The state at the moment of `exit`; not where the user has a trap of that kind, may look for
     * one, or has one that ours would fire.
     */
    sh->own_exit_trap = sh->may_save && !sh->facts.has_exit_trap && !sh->facts.has_debug_trap &&
                        native_may_end_shell(c->text, c->text_len) &&
                        !native_may_list_traps(c->text, c->text_len);
    if (!sh->own_exit_trap)
        return;
    /*
     * A subshell, whose redirection takes in the trace as well: `{` might be an alias. The trap
     * must not fail: under `set -e` its code would be that of the shell.
     */
    (void)buf_append_str(lines, "\\builtin trap '(");
    if (has_own(c))
        (void)buf_printf(lines, "\\builtin . %s/undo;", sh->dir);
    (void)buf_printf(lines, "\\builtin trap -p>|%s/bye.state;\\builtin . %s" NATIVE_BYE "' EXIT\n",
                     sh->dir, sh->dir);
    /* They are there before, whatever the umask of the shell. Without them nothing is kept. */
    (void)shell_write_file(sh, "bye.state", "", 0, NULL);
    (void)shell_write_file(sh, "bye.cwd", "", 0, NULL);
}

static bool has_word(const struct command *c, const char *word)
{
    return memmem(c->text, c->text_len, word, strlen(word)) != NULL;
}

/* Reports $?. What the text may have taken from our own lines is first given back to them. */
static void add_report(struct shell *sh, const struct command *c, struct buf *lines)
{
    bool disables = has_word(c, "enable");
    if (!disables && !has_word(c, "builtin")) {
        shell_add_report(sh, lines, "$?");
        return;
    }
    /*
     * $? is kept in a file's name. If `builtin` does not do its work any more, the file "ok" is
     * missing, and only then is the function of that name removed: in POSIX mode, which a variable
     * brings about (it may be readonly), no function hides `unset`, but that mode changes options.
     * None of these lines may fail, which `set -e` would take for an end.
     */
    const char *d = sh->dir;
    (void)unlinkat(sh->dirfd, "ok", 0);
    (void)buf_printf(lines, ">|\"%s/q%u.$?\"\n\\builtin . %s/sound||\\:\n", d, ++sh->n_guarded, d);
    (void)buf_printf(lines, "<%s/ok||<<<\"${POSIXLY_CORRECT=}\"\n", d);
    if (disables)
        (void)buf_printf(lines, "<%s/ok||\\enable unset||\\:\n", d);
    (void)buf_printf(lines,
                     "<%s/ok||\\unset -f builtin%s||\\:\n"
                     "<%s/ok||\\unset POSIXLY_CORRECT||\\:\n",
                     d, disables ? " enable" : "", d);
    if (disables)
        (void)buf_append_str(lines, "\\enable builtin . alias cd declare echo eval export printf "
                                    "set shopt trap umask unset\n");
    shell_add_report(sh, lines, "q");
}

static int add_command(struct shell *sh, struct command *c, struct buf *lines, struct err *err)
{
    auto_free char *in = NULL;
    int rc = prepare_input(sh, c, &in, err);
    bool own = has_own(c), code = sh->last_code != 0;
    if (rc == 0)
        rc = shell_write_command(sh, c->text, c->text_len, err);
    if (rc == 0 && own)
        rc = write_before(sh, c, err);
    if (rc == 0 && own)
        rc = write_undo(sh, c, err);
    if (rc == 0 && !own && code)
        rc = set_last_code(sh, err);
    if (rc < 0)
        return rc;

    add_exit_trap(sh, c, lines);
    /* $? is that of the command before. As the last of a list the text is subject to errexit. */
    if (own) {
        (void)buf_printf(lines, "\\builtin . %s/before", sh->dir);
        add_redirections(sh, lines, "/dev/null");
        (void)buf_append_str(lines, code ? "||" : "&&");
    } else if (code) {
        (void)buf_printf(lines, "\\builtin . %s/code||", sh->dir);
    }
    add_text(sh, c, lines, in);
    (void)buf_append_str(lines, "\n");
    sh->n_to_run = lines->len; /* bash runs the text once it has read this far */
    add_report(sh, c, lines);
    if (own)
        (void)buf_printf(lines, "\\builtin . %s/undo >/dev/null 2>&1\n", sh->dir);
    return 0;
}

int foreground_begin(struct shell *sh, struct command *c, struct err *err)
{
    sh->may_save = sh->facts.has_definitions || native_may_change_state(c->text, c->text_len);
    sh->own_cwd = c->cwd != NULL;
    sh->unwound = false;
    sh->rounds = sh->n_rescans = 0;
    sh->outcome = (struct session_outcome){0};
    survivors_mark(sh);

    auto_buf struct buf lines = BUF_INIT(LINES_MAX);
    int rc = shell_mend_dir(sh, err);
    if (rc == 0)
        channels_watch(sh);
    if (rc == 0)
        rc = add_command(sh, c, &lines, err);
    if (rc == 0)
        rc = shell_send(sh, &lines, err);
    if (rc < 0) {
        input_close(&sh->input);
        return rc;
    }
    sh->n_sent = lines.len;
    c->session_restored = sh->restored;
    sh->restored = false;
    sh->phase = SHELL_RUNNING;
    ev_timer_start(&sh->timer, CHECK_DIR_MS);
    command_started(c);
    return 0;
}

/* A new bash with the last state, for which c waits. */
static int start_bash_for(struct shell *sh, struct command *c, struct err *err)
{
    struct session *s = sh->session;
    size_t len;
    const char *state = session_state(s, &len);
    int rc = shell_start(sh, state, len, s->cwd, err);
    if (rc == 0)
        sh->waiting = c;
    return rc;
}

int foreground_start(struct session *s, struct command *c, struct err *err)
{
    struct shell *sh = s->kind_data;
    if (sh->phase == SHELL_IDLE) {
        int rc = foreground_begin(sh, c, err);
        if (rc != -EPIPE)
            return rc;
        shell_forget_bash(sh); /* it has ended, of which we were still to hear */
        sh->restored = true;
    }
    return start_bash_for(sh, c, err);
}

/* bash ended before it had read anything of the command, which runs in the next one instead. */
static bool start_again(struct shell *sh, struct command *c)
{
    /* A bash that dies in read(2) may have taken a byte; the text runs when its line is whole. */
    size_t n_read = sh->n_sent - (sh->n_unread < sh->n_sent ? sh->n_unread : sh->n_sent);
    if (c->stop_stage || n_read >= sh->n_to_run || sh->lost_why)
        return false;
    input_take_back(&sh->input);
    sh->phase = SHELL_DOWN;
    sh->restored = true;
    if (start_bash_for(sh, c, NULL) == 0)
        return true;
    sh->phase = SHELL_RUNNING;
    return false;
}

void foreground_waiting(struct shell *sh)
{
    struct command *c = take_ptr(sh->waiting);
    struct err err = {0};
    if (foreground_begin(sh, c, &err) == 0)
        return;
    c->why = xstrdup(err.text);
    struct session *s = sh->session;
    sh->outcome = (struct session_outcome){.exit_code = 126, .lost = true};
    session_kind_done(c, &sh->outcome);
    session_kind_ready(s);
}

/* ---- end ---- */

/* The end of the name of the file that a guarded report left. */
static int read_guarded_code(struct shell *sh)
{
    for (int code = 0; code < 256; code++) {
        char name[24];
        (void)snprintf(name, sizeof(name), "q%u.%d", sh->n_guarded, code);
        if (unlinkat(sh->dirfd, name, 0) == 0)
            return code;
    }
    return -1;
}

static void set_usage(struct shell *sh, struct command *c)
{
    struct proc_cpu now;
    if ((uint64_t)ev_now_ns(sh->n->ev) - c->started_ns < USAGE_MIN_NS || !sh->pid ||
        proc_cpu_read(sh->pid, &now) < 0)
        return;
    c->usage.user_us =
        (int64_t)(now.user_us + now.children_user_us - sh->cpu.user_us - sh->cpu.children_user_us);
    c->usage.system_us = (int64_t)(now.system_us + now.children_system_us - sh->cpu.system_us -
                                   sh->cpu.children_system_us);
    sh->cpu = now;
}

static void save(struct shell *sh)
{
    auto_buf struct buf lines = BUF_INIT(LINES_MAX);
    (void)buf_printf(&lines,
                     "\\builtin trap -p>|%s/state||\\builtin :;"
                     "\\builtin . %s/save \"$-\" \"$@\" >>%s/state 2>/dev/null||\\builtin :\n",
                     sh->dir, sh->dir, sh->dir);
    shell_add_report(sh, &lines, "0");
    /* Empty, so that an old one does not pass for this one; and ours, whatever the umask. */
    (void)shell_write_file(sh, "state", "", 0, NULL);
    sh->phase = SHELL_SAVING;
    sh->rounds = 0;
    ev_timer_start(&sh->timer, CHECK_DIR_MS);
    if (shell_send(sh, &lines, NULL) < 0)
        shell_kill_bash(sh); /* its end leads on */
}

/* Whether a line of p says that our own bash met the end of a text inside $( ). */
static bool ended_in_substitution(const char *p, size_t len)
{
    static const char what[] = "unexpected EOF while looking for matching `)'";
    static const char self[] = "bash: ", other[] = "bash: -c: ";
    const char *end = p + len, *at = p;
    while ((at = memmem(at, (size_t)(end - at), what, sizeof(what) - 1))) {
        const char *line = memrchr(p, '\n', (size_t)(at - p));
        line = line ? line + 1 : p;
        if (memcmp(line, self, sizeof(self) - 1) == 0 &&
            memcmp(line, other, sizeof(other) - 1) != 0)
            return true;
        at++;
    }
    return false;
}

/*
 * bash 5.2 corrupts its memory when a text ends inside $( ), and aborts some commands later (seen:
 * "free(): invalid next size"). Such a shell must not run the next one.
 */
static bool is_corrupted(const struct command *c)
{
    if (!capture_log_bytes(c->log, CAPTURE_STDERR))
        return false;
    struct capture_view view;
    capture_log_view(c->log, CAPTURE_STDERR, &view);
    bool bad = ended_in_substitution(view.head, view.head_len) ||
               ended_in_substitution(view.tail, view.tail_len);
    capture_view_done(&view);
    return bad;
}

/* The result goes out: the state behind it is saved, so that nothing can take it back. */
static void tell(struct shell *sh)
{
    struct session *s = sh->session;
    struct command *c = command_ref(s->current);
    if (sh->pid && is_corrupted(c))
        shell_kill_bash(sh);
    if (sh->doomed) /* it may still look alive, and even have reported */
        shell_forget_bash(sh);
    sh->phase = sh->pid ? SHELL_IDLE : SHELL_DOWN;
    if (!sh->pid)
        sh->restored = true;
    session_kind_done(c, &sh->outcome);
    if (!c->open_tails)
        command_quiet(c);
    command_unref(c);
    if (s->kind_data == sh && !sh->closing)
        session_kind_ready(s);
}

/* Everything of the command is known: save what it changed, then tell. */
static void complete(struct shell *sh, bool out_is_held, bool err_is_held)
{
    struct command *c = sh->session->current;
    struct err err = {0};
    ev_timer_stop(&sh->timer);
    ev_timer_stop(&c->timer);
    c->ended_ns = ev_now_ns(sh->n->ev);
    if (out_is_held)
        (void)channel_hand_over(&sh->out, c, &sh->tails, &err);
    if (err_is_held)
        (void)channel_hand_over(&sh->err, c, &sh->tails, &err);
    input_close(&sh->input);
    set_usage(sh, c);
    survivors_record(sh, c);
    /* What remains of a stopped command was asked to go and could not be made to. */
    sh->outcome.killed = c->stop_stage && c->n_survivors == 0;
    if (sh->pid && sh->may_save && !sh->outcome.lost)
        save(sh);
    else
        tell(sh);
}

static void end_softly(const struct proc_list *list)
{
    (void)proc_tree_kill(list, SIGTERM, NULL, NULL);
    (void)proc_tree_kill(list, SIGCONT, NULL, NULL); /* a stopped one would not notice */
}

/* A process that was forked while we looked for those to stop: its pipe says that it is there. */
static void stop_rest(struct shell *sh)
{
    struct proc_list list = {0};
    (void)survivors_list(sh, &list);
    if (sh->session->current->stop_stage >= SESSION_STOP_KILL)
        (void)proc_tree_kill(&list, SIGKILL, NULL, NULL);
    else
        end_softly(&list);
    proc_list_done(&list);
}

/* Waits a moment for what the last children print, then completes. */
static void drain(struct shell *sh)
{
    struct command *c = sh->session->current;
    channels_drain(sh, c);
    bool out = channel_is_held(&sh->out, c);
    bool err = channel_is_held(&sh->err, c);
    bool held = out || err;
    if (held && sh->rounds >= DRAIN_ROUNDS && c->stop_stage && sh->n_rescans < RESCANS_MAX) {
        stop_rest(sh);
        sh->n_rescans++;
        sh->rounds = 0;
    }
    if (!held || sh->rounds++ >= DRAIN_ROUNDS) {
        complete(sh, out, err);
        return;
    }
    sh->phase = SHELL_DRAINING;
    ev_timer_start(&sh->timer, DRAIN_MS / DRAIN_ROUNDS);
}

/* A command that is being stopped ends when its shell is back and its processes are gone. */
static void check_stopped(struct shell *sh)
{
    struct command *c = sh->session->current;
    struct proc_list list = {0};
    (void)survivors_list(sh, &list);
    bool kill = c->stop_stage >= SESSION_STOP_KILL;
    if (!sh->unwound && kill)
        shell_kill_bash(sh);
    if (!sh->unwound && shell_bash_is_zombie(sh))
        shell_wake_supervisor(sh);
    if (kill)
        (void)proc_tree_kill(&list, SIGKILL, NULL, NULL);
    else if (sh->unwound)
        end_softly(&list);
    bool gone = list.n_items == 0;
    proc_list_done(&list);

    /* A bash that we have killed is waited for: it holds the pipes until it is gone. */
    if (sh->unwound && gone && !(sh->doomed && sh->pid)) {
        sh->rounds = 0;
        drain(sh);
        return;
    }
    ev_timer_start(&sh->timer, sh->unwound ? TREE_POLL_MS : KILL_POLL_MS);
}

void foreground_report(struct shell *sh, const char *code)
{
    struct command *c = sh->session->current;
    sh->outcome.exit_code = *code == 'q' ? read_guarded_code(sh) : (int)strtol(code, NULL, 10);
    if (has_own(c) && unlinkat(sh->dirfd, "refused", 0) == 0)
        sh->outcome.exit_code = 1;
    sh->last_code = sh->outcome.exit_code;
    sh->unwound = true;
    sh->rounds = 0;
    if (c->stop_stage)
        check_stopped(sh);
    else
        drain(sh);
}

static void keep_exit_state(struct shell *sh);

void foreground_shell_ended(struct shell *sh)
{
    struct command *c = sh->session->current;
    if (start_again(sh, c))
        return;
    int status = sh->exit.status;
    if (sh->box_lost && !sh->lost_why)
        sh->lost_why = "the process above the shell was killed";
    if (sh->lost_why && !c->why)
        c->why = xstrdup(sh->lost_why);
    if (sh->box_lost || sh->lost_why)
        sh->outcome = (struct session_outcome){.exit_code = 128 + SIGKILL, .lost = true};
    else if (WIFSIGNALED(status))
        sh->outcome = (struct session_outcome){.signal = WTERMSIG(status)};
    else
        sh->outcome = (struct session_outcome){.exit_code = WEXITSTATUS(status)};
    if (sh->outcome.signal)
        sh->outcome.exit_code = 128 + sh->outcome.signal;
    keep_exit_state(sh);
    sh->last_code = sh->outcome.exit_code;
    sh->unwound = true;
    sh->rounds = 0;
    if (c->stop_stage)
        check_stopped(sh);
    else
        drain(sh);
}

/* What would leave a command without an end is looked for from time to time. */
static void check_running(struct shell *sh)
{
    if (shell_bash_is_zombie(sh))
        shell_wake_supervisor(sh);
    shell_wake_bash(sh);
    sh->rounds = shell_waits_for_lines(sh) ? sh->rounds + 1 : 0;
    if (sh->rounds > 1)
        shell_give_up(sh, "the shell is back without a report: the command took from it what "
                          "the report needs");
    ev_timer_start(&sh->timer, CHECK_DIR_MS);
}

void foreground_timer(struct shell *sh)
{
    struct command *c = sh->session ? sh->session->current : NULL;
    if (!c)
        return;
    if (sh->phase == SHELL_DRAINING)
        drain(sh);
    else if (sh->phase == SHELL_RUNNING && c->stop_stage)
        check_stopped(sh);
    else if (sh->phase == SHELL_RUNNING && shell_dir_is_whole(sh))
        check_running(sh);
    else if (sh->phase == SHELL_RUNNING)
        shell_give_up(sh, "the command removed the shell's run directory");
}

/* ---- stop ---- */

static void give_up(struct shell *sh)
{
    struct command *c = sh->session->current;
    sh->outcome.lost = true;
    shell_kill_bash(sh);
    shell_forget_bash(sh); /* the next command gets a new one */
    complete(sh, channel_is_held(&sh->out, c), channel_is_held(&sh->err, c));
}

char *foreground_why(struct shell *sh, bool *needs_input)
{
    struct proc_list list = {0};
    (void)survivors_list(sh, &list);
    char *why = why_of(&list, sh->pid, &sh->input, needs_input);
    proc_list_done(&list);
    return why;
}

void foreground_stop(struct shell *sh, struct command *c, enum session_stop_stage stage)
{
    if (sh->waiting == c) { /* the shell has not come up yet */
        sh->waiting = NULL;
        sh->outcome = (struct session_outcome){.exit_code = 130, .killed = true};
        session_kind_done(c, &sh->outcome);
        return;
    }
    if (stage == SESSION_STOP_LOST) {
        give_up(sh);
        return;
    }
    if (stage == SESSION_STOP_INT && !c->why)
        c->why = foreground_why(sh, &c->needs_input);
    if (sh->phase == SHELL_SAVING) { /* it has ended; only its state is still being written */
        if (stage == SESSION_STOP_INT)
            c->stop_stage = SESSION_STOP_NONE;
        ev_timer_stop(&c->timer);
        return;
    }
    if (sh->phase == SHELL_DRAINING)
        return; /* over in a moment by itself */
    if (stage == SESSION_STOP_KILL || sh->unwound) {
        sh->rounds = 0;
        check_stopped(sh);
        return;
    }
    struct proc_list list = {0};
    (void)survivors_list(sh, &list);
    if (stage == SESSION_STOP_INT) {
        /*
         * It unwinds bash to its reader once the child that it waits for has died of it too. bash
         * goes first: if it hears of it after its child's end, it runs the next command of the
         * list.
         */
        (void)kill_bash_with(sh, SIGINT);
        (void)proc_tree_kill(&list, SIGINT, NULL, NULL);
    } else {
        /* After a child that died of TERM bash would run the next command: it must not live. */
        shell_kill_bash(sh);
        end_softly(&list);
    }
    proc_list_done(&list);
}

int foreground_signal(struct shell *sh, struct command *c, int signal, struct err *err)
{
    (void)c;
    struct proc_list list = {0};
    (void)survivors_list(sh, &list);
    size_t n = proc_tree_kill(&list, signal, NULL, NULL);
    proc_list_done(&list);
    if (n && signal != SIGINT)
        return 0;
    /*
     * Only the shell runs. What would end a program, but not this shell, unwinds it: an
     * interactive bash ignores TERM unless the user has a trap.
     */
    if (signal == SIGTERM && process_has_signal(sh->pid, "SigIgn", SIGTERM))
        signal = SIGINT;
    int rc = kill_bash_with(sh, signal);
    return rc < 0 && !n ? err_set(err, -rc, "signal the shell of the command") : 0;
}

/* ---- the saved state ---- */

static bool read_state(struct shell *sh, const char *name)
{
    auto_buf struct buf raw = BUF_INIT(STATE_MAX);
    auto_buf struct buf state = BUF_INIT(STATE_MAX);
    if (native_dir_read(sh->dirfd, name, STATE_MAX, &raw) < 0)
        return false;
    struct state_facts facts;
    struct state_rest rest = {.marker = sh->marker, .cwd = sh->session->cwd, .pid = sh->pid};
    const char *old = session_state(sh->session, &rest.old_len);
    rest.old = old ? old : "";
    if (native_state_build(raw.data, raw.len, &rest, &state, &facts) < 0)
        return false;
    sh->facts = facts;
    session_kind_state(sh->session, state.data, state.len);
    return true;
}

static void keep_exit_state(struct shell *sh)
{
    auto_buf struct buf cwd = BUF_INIT(REPORT_MAX);
    if (!sh->own_exit_trap || native_dir_read(sh->dirfd, "bye.cwd", REPORT_MAX, &cwd) < 0)
        return;
    const char *pwd = buf_cstr(&cwd);
    size_t len = strlen(pwd);
    if (len >= cwd.len)
        return; /* the trap did not get that far */
    auto_free char *real = xstrdup(pwd + len + 1);
    size_t real_len = strlen(real);
    if (real_len && real[real_len - 1] == '\n')
        real[real_len - 1] = '\0';
    shell_tell_dir(sh, pwd, real);
    (void)read_state(sh, "bye.state");
}

void foreground_saves_long(struct shell *sh)
{
    shell_wake_bash(sh); /* a child may have stopped its whole group */
    /* Its report is missing; or it was stopped, and has left a prompt that hangs as it did. */
    bool hurry = !shell_dir_is_whole(sh) || shell_waits_for_lines(sh) ||
                 sh->session->current->stop_stage != SESSION_STOP_NONE;
    if (++sh->rounds < (hurry ? 2 : SAVE_LIMIT_MS / CHECK_DIR_MS))
        ev_timer_start(&sh->timer, CHECK_DIR_MS);
    else
        shell_kill_bash(sh); /* its end leads on */
}

void save_report(struct shell *sh)
{
    if (!read_state(sh, "state")) /* then that of before stays */
        sh->session->current->limit = "state";
    auto_buf struct buf lines = BUF_INIT(256);
    if (sh->own_exit_trap && sh->facts.has_own_exit_trap)
        (void)buf_append_str(&lines, "\\builtin trap - EXIT\n");
    if (sh->facts.reader_variables)
        native_unset_reader_variables(sh->facts.reader_variables, &lines);
    if (lines.len)
        (void)shell_send(sh, &lines, NULL); /* if bash has ended, so has what they undo */
    sh->own_exit_trap = false;
    tell(sh);
}

void save_failed(struct shell *sh)
{
    (void)read_state(sh, "state"); /* whole if only the report is missing */
    tell(sh);
}
