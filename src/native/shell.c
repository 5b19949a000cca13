/* SPDX-License-Identifier: MIT */
/*
 * One bash: its start, the lines it is sent, the reports that come back, its end.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/rand.h"
#include "capture/log.h"
#include "native/priv.h"
#include "sandbox/plan.h"

enum {
    LINES_MAX = 64 * 1024,
    READ_SIZE = 4096,
    READS_PER_TURN = 16,
    STARTS_MAX = 3, /* in a row, in boxes that die at once */
};

static const char init_line[] = "unset -v PS1 PS2 MAILCHECK\n";

static void make_nonce(char *nonce)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
    unsigned char r[NONCE_LEN];
    rand_bytes(r, sizeof(r));
    for (int i = 0; i < NONCE_LEN; i++)
        nonce[i] = digits[r[i] % 32];
    nonce[NONCE_LEN] = '\0';
}

void shell_add_report(struct shell *sh, struct buf *lines, const char *code)
{
    make_nonce(sh->nonce);
    /*
     * NUL ends a report: a directory's name may hold anything else. One before parts it from what
     * others wrote into the pipe. LINENO: the next line is 1.
     */
    (void)buf_printf(lines, "\\builtin printf \\\\0%%s\\\\0 \"%s %s ${PWD-}\">%s/s;LINENO=0\n",
                     sh->nonce, code, sh->dir);
}

int shell_send(struct shell *sh, const struct buf *lines, struct err *err)
{
    if (sh->cmd < 0)
        return err_set(err, ERR_LOST, "the shell has ended");
    size_t done = 0;
    while (done < lines->len) {
        ssize_t n = write(sh->cmd, lines->data + done, lines->len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(err, errno, "send to the shell");
        done += (size_t)n;
    }
    return 0;
}

int shell_write_command(struct shell *sh, const void *p, size_t n, struct err *err)
{
    /* Kept open: to open and truncate it each time costs 5 us. It is gone if its links are. */
    if (sh->command_fd < 0) {
        (void)io_remove_tree(sh->dirfd, "command");
        sh->command_fd =
            openat(sh->dirfd, "command", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        sh->command_len = 0;
    }
    if (sh->command_fd < 0 || shell_give_fd(sh, sh->command_fd) < 0)
        return err_set(err, errno, "write '%s/command'", sh->dir);
    size_t done = 0;
    while (done < n) {
        ssize_t put = pwrite(sh->command_fd, (const char *)p + done, n - done, (off_t)done);
        if (put < 0 && errno != EINTR)
            return err_set(err, errno, "write '%s/command'", sh->dir);
        done += put > 0 ? (size_t)put : 0;
    }
    if (n < sh->command_len && ftruncate(sh->command_fd, (off_t)n) < 0)
        return err_set(err, errno, "cut '%s/command'", sh->dir);
    sh->command_len = n;
    return 0;
}

int shell_write_file(struct shell *sh, const char *name, const void *p, size_t n, struct err *err)
{
    /* The file may have been replaced by a command: O_NOFOLLOW, and a fresh one where needed. */
    int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
    auto_close int fd = openat(sh->dirfd, name, flags, 0600);
    if (fd < 0) {
        (void)io_remove_tree(sh->dirfd, name);
        fd = openat(sh->dirfd, name, flags, 0600);
    }
    if (fd < 0)
        return err_set(err, errno, "write '%s/%s'", sh->dir, name);
    int rc = shell_give_fd(sh, fd);
    if (rc == 0)
        rc = io_write_all(fd, p, n);
    return rc < 0 ? err_set(err, -rc, "write '%s/%s'", sh->dir, name) : 0;
}

int kill_bash_with(struct shell *sh, int signal)
{
    struct proc_info info;
    if (sh->pid <= 0)
        return -ESRCH;
    int rc = proc_info_read(sh->pid, &info);
    return rc < 0 ? rc : proc_kill(sh->pid, info.starttime, signal);
}

void shell_wake_supervisor(struct shell *sh)
{
    struct proc_info info;
    pid_t pid = sh->box ? proc_box_pid(sh->box) : 0;
    if (pid > 0 && proc_info_read(pid, &info) == 0 && info.state == 'T')
        (void)proc_kill(pid, info.starttime, SIGCONT); /* if it has just ended, that is told */
}

void shell_wake_bash(struct shell *sh)
{
    struct proc_info info;
    if (sh->pid > 0 && proc_info_read(sh->pid, &info) == 0 && info.state == 'T')
        (void)proc_kill(sh->pid, info.starttime, SIGCONT); /* if it has just ended, that is told */
}

bool shell_waits_for_lines(const struct shell *sh)
{
    struct proc_wait wait;
    struct stat ours, theirs;
    char path[64];
    int n = 0;
    if (sh->pid <= 0 || ioctl(sh->cmd, FIONREAD, &n) < 0 || n > 0 ||
        proc_wait_read(sh->pid, &wait) < 0 || wait.kind != PROC_WAIT_PIPE || wait.fd < 0)
        return false;
    (void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)sh->pid, wait.fd);
    return stat(path, &theirs) == 0 && fstat(sh->cmd, &ours) == 0 && theirs.st_dev == ours.st_dev &&
           theirs.st_ino == ours.st_ino;
}

bool shell_bash_is_zombie(const struct shell *sh)
{
    struct proc_info info;
    return sh->pid > 0 && proc_info_read(sh->pid, &info) == 0 && info.state == 'Z';
}

void shell_kill_bash(struct shell *sh)
{
    sh->doomed = sh->pid > 0;
    (void)kill_bash_with(sh, SIGKILL); /* if it has ended, so much the better */
}

void shell_give_up(struct shell *sh, const char *why)
{
    sh->lost_why = why;
    shell_kill_bash(sh);
}

static bool must_restore(const struct shell *sh)
{
    return sh->session && sh->session->must_restore && sh->start_state;
}

/* A state that has to be read was not: there is no session without it. */
static void restore_failed(struct shell *sh, int code, const char *why)
{
    struct err err = {0};
    (void)err_set(&err, code, "session state: the shell that read it %s", why);
    sh->phase = SHELL_DOWN;
    session_kind_lost(sh->session, &err);
}

/* What a shell writes that has read a state to its end: an open quote or `return` keeps it away. */
static bool was_read(struct shell *sh)
{
    return unlinkat(sh->dirfd, "read", 0) == 0;
}

/* A starting bash is up once it has reported and its number is known, in either order. */
static void check_up(struct shell *sh)
{
    if (sh->phase != SHELL_STARTING || !sh->reported || !sh->pid)
        return;
    if (must_restore(sh) && !was_read(sh))
        restore_failed(sh, ERR_INVALID, "did not come to its end: a syntax error, or 'return'");
    else
        shell_became_idle(sh);
}

static bool is_same_dir(const char *a, const char *b)
{
    struct stat sa, sb;
    return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
           sa.st_ino == sb.st_ino;
}

/*
 * PWD names the directory as the user sees it, symbolic links and all, but may be set to anything
 * or be readonly. A directory that was removed has no other name.
 */
void shell_tell_dir(struct shell *sh, const char *pwd, const char *real)
{
    bool is_there = *real == '/' && access(real, F_OK) == 0;
    bool trust = *pwd == '/' && (!is_there || strcmp(pwd, real) == 0 || is_same_dir(pwd, real));
    if (trust || is_there)
        session_kind_cwd(sh->session, trust ? pwd : real);
}

/* What is new, or is about to be kept, is compared with what the kernel says. */
static void check_dir(struct shell *sh, const char *pwd)
{
    const char *known = sh->session->cwd;
    if (sh->phase != SHELL_SAVING && *pwd == '/' && known && strcmp(known, pwd) == 0)
        return;
    auto_free char *real = NULL;
    (void)proc_cwd(sh->pid, &real); /* it stays NULL when bash has just ended */
    shell_tell_dir(sh, pwd, real ? real : "");
}

static void on_one_report(struct shell *sh, char *text)
{
    char *code = strchr(text, ' ');
    char *cwd = code ? strchr(code + 1, ' ') : NULL;
    if (!cwd || (size_t)(code - text) != NONCE_LEN || memcmp(text, sh->nonce, NONCE_LEN) != 0)
        return; /* not ours, or an old one */
    *code++ = *cwd++ = '\0';
    sh->nonce[0] = '\0';
    ev_timer_stop(&sh->timer);
    if (sh->session && !(sh->phase == SHELL_RUNNING && sh->own_cwd))
        check_dir(sh, cwd);
    switch (sh->phase) {
    case SHELL_STARTING:
        sh->reported = true;
        check_up(sh);
        break;
    case SHELL_RUNNING:
        foreground_report(sh, code);
        break;
    case SHELL_SAVING:
        save_report(sh);
        break;
    case SHELL_DOWN:
    case SHELL_IDLE:
    case SHELL_DRAINING:
        break;
    }
}

/* Takes the reports out of what was read. */
static void cut_reports(struct shell *sh)
{
    char *end;
    while (sh->reports.len && (end = memchr(sh->reports.data, '\0', sh->reports.len))) {
        size_t len = (size_t)(end - sh->reports.data) + 1;
        auto_free char *one = len > 1 ? xmemdup(sh->reports.data, len) : NULL;
        buf_consume(&sh->reports, len);
        if (one)
            on_one_report(sh, one);
    }
}

/* A command may write into the pipe too: what is no report is dropped. */
static void read_reports(struct shell *sh)
{
    for (int i = 0; i < READS_PER_TURN; i++) {
        char *room;
        if (buf_reserve(&sh->reports, READ_SIZE, &room) < 0) {
            buf_clear(&sh->reports); /* longer than any report, and there is no NUL in it */
            continue;
        }
        ssize_t n = read(sh->report.rd, room, READ_SIZE);
        if (n <= 0)
            break;
        buf_commit(&sh->reports, (size_t)n);
        if (memchr(room, '\0', (size_t)n))
            cut_reports(sh);
        if (n < READ_SIZE)
            break;
    }
}

static void on_report(void *ctx, unsigned events)
{
    (void)events;
    read_reports(ctx);
}

void shell_forget_bash(struct shell *sh)
{
    own_close_fd(&sh->cmd);
    own_close_fd(&sh->shell_children);
    if (sh->pid)
        sh->last_pid = sh->pid;
    sh->pid = 0;
    sh->tag++;
    sh->nonce[0] = '\0';
    sh->facts = (struct state_facts){0};
    ev_timer_stop(&sh->timer);
}

/* Without what may have ended the shell: a trap on DEBUG that exits, a limit of its memory. */
static bool start_stripped(struct shell *sh, const char *state)
{
    auto_buf struct buf text = BUF_INIT(STATE_MAX);
    if (sh->start_stripped || native_state_strip(state, strlen(state), true, &text) < 0)
        return false;
    sh->start_stripped = true;
    return shell_start(sh, buf_cstr(&text), text.len, NULL, NULL) == 0;
}

/* How a bash ended before it had read a state that has to be read. */
static void restore_ended(struct shell *sh)
{
    char why[64];
    int status = sh->exit.status;
    if (WIFSIGNALED(status))
        (void)snprintf(why, sizeof(why), "was ended by signal %d", WTERMSIG(status));
    else
        (void)snprintf(why, sizeof(why), "ended with exit code %d", WEXITSTATUS(status));
    restore_failed(sh, ERR_INVALID, why);
}

/* A start that failed is tried again with less, then the session is given up. */
static void start_failed(struct shell *sh, const struct err *err)
{
    auto_free char *state = take_ptr(sh->start_state);
    bool had_cwd = sh->start_cwd;
    bool is_lost = sh->session && sh->session->must_restore;
    sh->phase = SHELL_DOWN;
    if (!sh->session) { /* in the pool */
        native_leave_pool(sh);
        shell_free(sh);
        return;
    }
    /* Without what may have been the cause: some of the state, all of it, then the directory. */
    if (state && !is_lost && start_stripped(sh, state))
        return;
    if ((state || had_cwd) && !is_lost &&
        shell_start(sh, NULL, 0, state ? sh->session->cwd : NULL, NULL) == 0)
        return;
    session_kind_lost(sh->session, err);
}

static void on_bash_ended(struct shell *sh)
{
    read_reports(sh); /* it may have reported just before */
    enum shell_phase phase = sh->phase;
    int n = 0;
    sh->n_unread = sh->cmd >= 0 && ioctl(sh->cmd, FIONREAD, &n) == 0 && n > 0 ? (size_t)n : 0;
    shell_forget_bash(sh);
    if (sh->closing && phase == SHELL_STARTING)
        return; /* on_gone() leads on */
    if (phase == SHELL_STARTING && must_restore(sh) && !sh->box_lost) {
        restore_ended(sh);
        return;
    }
    struct err err = {0};
    switch (phase) {
    case SHELL_STARTING:
        if (sh->refused.code)
            (void)err_set(&err, ERR_SPAWN, "make the sandbox of session '%s': %s", sh->session->id,
                          sh->refused.text);
        else if (sh->box_lost)
            (void)err_set(&err, ERR_SPAWN, "nacre-spawn ended while it was to start bash");
        else
            (void)err_set(&err, ERR_SPAWN, "bash ended while it started (wait status %d)",
                          sh->exit.status);
        start_failed(sh, &err);
        break;
    case SHELL_RUNNING:
        foreground_shell_ended(sh);
        break;
    case SHELL_DRAINING:
        ev_timer_start(&sh->timer, 0); /* with bash its timer was stopped */
        break;
    case SHELL_SAVING:
        save_failed(sh);
        break;
    case SHELL_IDLE:
        sh->phase = SHELL_DOWN; /* a new one is started when it is needed */
        sh->restored = true;
        break;
    case SHELL_DOWN:
        break;
    }
}

static void on_spawned(void *ctx, uint32_t tag, pid_t pid)
{
    struct shell *sh = ctx;
    if (tag != sh->tag)
        return;
    sh->pid = pid;
    sh->shell_children = proc_children_open(pid);
    if (sh->box_children < 0)
        sh->box_children = proc_children_open(proc_box_pid(sh->box));
    check_up(sh);
}

static void on_failed(void *ctx, uint32_t tag, const char *step, const struct err *err)
{
    struct shell *sh = ctx;
    const struct err *refusal = proc_box_refusal(sh->box);
    if (refusal) {
        sh->refused = *refusal;
        sh->n_starts = STARTS_MAX;
        return;
    }
    if (tag != sh->tag || strcmp(step, "open") == 0) /* then the box is gone, see on_gone() */
        return;
    shell_forget_bash(sh);
    if (!sh->closing)
        start_failed(sh, err);
}

static void on_exit_event(void *ctx, uint32_t tag, pid_t pid, const struct proc_exit *ended)
{
    (void)pid;
    struct shell *sh = ctx;
    if (tag != sh->tag)
        return;
    sh->exit = *ended;
    on_bash_ended(sh);
}

/* The box died before bash was started in it. */
static bool start_in_new_box(struct shell *sh)
{
    struct session *s = sh->session;
    if (sh->phase != SHELL_STARTING || sh->pid || sh->n_starts++ >= STARTS_MAX)
        return false;
    shell_forget_bash(sh);
    auto_free char *state = take_ptr(sh->start_state);
    return shell_start(sh, state, state ? strlen(state) : 0, s ? s->cwd : NULL, NULL) == 0;
}

static void on_gone(void *ctx, bool lost)
{
    struct shell *sh = ctx;
    (void)lost;
    proc_box_free(sh->box);
    sh->box = NULL;
    own_close_fd(&sh->box_children);
    if (sh->closing) {
        shell_forget_bash(sh);
        sh->phase = SHELL_DOWN;
        native_check_closed(sh);
        return;
    }
    if (start_in_new_box(sh))
        return;
    sh->exit.status = 128 + SIGKILL; /* as wait(2) would say, had anybody waited */
    sh->box_lost = true;
    on_bash_ended(sh);
}

static const struct proc_box_events box_events = {on_spawned, on_failed, on_exit_event, on_gone};

static void on_timer(void *ctx)
{
    struct shell *sh = ctx;
    if (sh->closing)
        native_check_closed(sh);
    else if (sh->phase == SHELL_STARTING && !sh->pid && sh->box)
        proc_box_close(sh->box); /* a supervisor that does not answer; on_gone() leads on */
    else if (sh->phase == SHELL_SAVING)
        foreground_saves_long(sh);
    else if (sh->phase == SHELL_STARTING && must_restore(sh))
        restore_failed(sh, ERR_TIMEOUT, "was not done after 10 s");
    else if (sh->phase == SHELL_STARTING)
        shell_kill_bash(sh); /* its end leads on */
    else
        foreground_timer(sh);
}

static int make_dir(struct shell *sh, struct err *err)
{
    if (sh->dirfd >= 0)
        return 0;
    /* Short, since bash reads it four times a command, byte by byte. */
    char id[RAND_ID_SIZE];
    do {
        free(sh->dir);
        memcpy(sh->name, rand_id(id, sizeof(id), ""), SHELL_DIR_LEN - 1);
        sh->dir = xasprintf("%s/%s", sh->n->run_dir, sh->name);
    } while (mkdir(sh->dir, 0700) < 0 && errno == EEXIST);
    sh->dirfd = open(sh->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (sh->dirfd < 0)
        return err_set(err, errno, "open '%s'", sh->dir);
    int rc = shell_give_fd(sh, sh->dirfd);
    return rc < 0 ? err_set(err, -rc, "give '%s' to the session's user", sh->dir) : 0;
}

static int fill_dir(struct shell *sh, struct err *err)
{
    int rc = make_dir(sh, err);
    if (rc == 0)
        rc = channel_open(&sh->out, sh, "o", CAPTURE_STDOUT, err);
    if (rc == 0)
        rc = channel_open(&sh->err, sh, "e", CAPTURE_STDERR, err);
    if (rc == 0)
        rc = channel_open(&sh->report, sh, "s", 0, err);
    if (rc < 0)
        return rc;
    rc = ev_fd_init(sh->n->ev, &sh->report.watch, sh->report.rd, on_report, sh);
    if (rc < 0)
        return err_set(err, -rc, "watch '%s/s'", sh->dir);
    ev_fd_start(&sh->report.watch, EV_READ);

    auto_buf struct buf script = BUF_INIT(4096);
    native_save_script(sh, &script);
    rc = shell_write_command(sh, "", 0, err);
    if (rc == 0)
        rc = shell_write_file(sh, "save", script.data, script.len, err);
    if (rc < 0)
        return rc;
    buf_clear(&script);
    native_exit_script(sh, &script);
    rc = shell_write_file(sh, "bye", script.data, script.len, err);
    if (rc < 0)
        return rc;
    buf_clear(&script);
    (void)buf_printf(&script, ">|%s/ok\n", sh->dir);
    return shell_write_file(sh, "sound", script.data, script.len, err);
}

/* A command may have removed what is ours: `rm -rf /dev/shm/` followed by a star is enough. */
bool shell_dir_is_whole(const struct shell *sh)
{
    const int fds[] = {sh->out.rd, sh->err.rd, sh->report.rd, sh->command_fd};
    struct stat st;
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
        if (fds[i] < 0 || fstat(fds[i], &st) < 0 || st.st_nlink == 0)
            return false;
    return true;
}

static bool dir_is_there(const struct shell *sh)
{
    struct stat st, named;
    return sh->dirfd >= 0 && fstat(sh->dirfd, &st) == 0 && stat(sh->dir, &named) == 0 &&
           st.st_ino == named.st_ino && st.st_dev == named.st_dev;
}

int shell_mend_dir(struct shell *sh, struct err *err)
{
    if (shell_dir_is_whole(sh))
        return 0;
    channel_close(&sh->out);
    channel_close(&sh->err);
    channel_close(&sh->report);
    buf_clear(&sh->reports);
    own_close_fd(&sh->command_fd);
    if (!dir_is_there(sh)) { /* a box that has it mounted needs it to stay the same */
        own_close_fd(&sh->dirfd);
        if (sh->dir)
            (void)io_remove_tree(AT_FDCWD, sh->dir);
        free(take_ptr(sh->dir));
    }
    int rc = io_mkdir_p(sh->n->run_dir, 0700, err);
    return rc < 0 ? rc : fill_dir(sh, err);
}

struct shell *shell_new(struct native *n)
{
    struct shell *sh = xnew(struct shell);
    sh->n = n;
    sh->dirfd = sh->cmd = sh->shell_children = sh->box_children = sh->command_fd = -1;
    sh->out.rd = sh->out.keep = sh->err.rd = sh->err.keep = -1;
    sh->report.rd = sh->report.keep = -1;
    sh->owner = sh->owner_gid = -1;
    list_init(&sh->tails);
    list_init(&sh->background);
    list_init(&sh->link);
    buf_init(&sh->reports, REPORT_MAX);
    input_init(&sh->input, n);
    ev_timer_init(n->ev, &sh->timer, on_timer, sh);
    char *marker = sh->marker;
    make_nonce(marker);
    make_nonce(marker + NONCE_LEN);
    return sh;
}

/* The session's, and in it what the runtime and bash meet in. */
static int make_plan(struct shell *sh, struct sandbox_plan *plan, struct err *err)
{
    int rc = sh->n->plan(sh->n->plan_ctx, sh->session, plan, err);
    if (rc < 0)
        return rc;
    if (plan->layers & SANDBOX_USER && plan->ids.host_uid != geteuid()) {
        sh->owner = plan->ids.host_uid;
        sh->owner_gid = plan->ids.host_gid;
    }
    rc = shell_mend_dir(sh, err); /* it has to be there to be mounted */
    if (rc < 0)
        return rc;
    if (plan->layers & SANDBOX_MOUNT)
        (void)sandbox_plan_mount(plan, SANDBOX_BIND, sh->dir, sh->dir, SANDBOX_NO_EXEC);
    sh->session->isolation = native_layer_names(sh->n, plan);
    return 0;
}

static int open_box(struct shell *sh, struct err *err)
{
    if (sh->box)
        return 0;
    struct sandbox_plan plan;
    sandbox_plan_init(&plan);
    sh->box_lost = false;
    int rc = sh->n->plan ? make_plan(sh, &plan, err) : 0;
    return rc < 0 ? rc : proc_box_open(sh->n->zygote, &plan, &box_events, sh, &sh->box, err);
}

/* The lines that make a fresh bash ours, then the state, or the directory, it starts with. */
static int start_lines(struct shell *sh, struct buf *lines, struct err *err)
{
    (void)buf_append_str(lines, init_line);
    if (sh->start_state) {
        auto_buf struct buf text = BUF_INIT(STATE_MAX + PATH_MAX);
        (void)buf_append_str(&text, sh->start_state);
        if (must_restore(sh))
            (void)buf_printf(&text, "\n>|%s/read\n", sh->dir);
        int rc = shell_write_file(sh, "restore", text.data, text.len, err);
        if (rc < 0)
            return rc;
        (void)buf_printf(lines, "\\builtin . %s/restore </dev/null >/dev/null 2>&1\n", sh->dir);
    } else if (sh->session && sh->session->env.n) {
        auto_buf struct buf text = BUF_INIT((size_t)8 * COMMAND_ENV_MAX);
        native_env_script(&sh->session->env, &text);
        int rc = shell_write_file(sh, "adopt", text.data, text.len, err);
        if (rc < 0)
            return rc;
        (void)buf_printf(lines, "\\builtin . %s/adopt </dev/null >/dev/null 2>&1\n", sh->dir);
    }
    shell_add_report(sh, lines, "0");
    return 0;
}

static int spawn_bash(struct shell *sh, const struct strv *env, const char *cwd, struct err *err)
{
    int fds[2];
    int rc = io_pipe(fds);
    if (rc < 0)
        return err_set(err, -rc, "make the shell's command pipe");
    static const char *const argv[] = {"bash", "--norc", "--noprofile", "--noediting", "-i",
                                       "+H",   "+o",     "history",     NULL};
    const struct proc_fd map[] = {
        {fds[0], 0}
    };
    struct proc_spec spec = {
        .path = sh->n->bash,
        .argv = argv,
        .envp = (const char *const *)strv_items(env),
        .cwd = cwd,
        .fds = map,
        .n_fds = 1,
        .flags = PROC_SETSID,
        .umask = -1,
    };
    rc = proc_box_spawn(sh->box, &spec, ++sh->tag, err);
    close(fds[0]);
    if (rc < 0) {
        close(fds[1]);
        return rc;
    }
    (void)io_set_nonblock(fds[1], true);
    sh->cmd = fds[1];
    sh->doomed = false;
    return 0;
}

int shell_start(struct shell *sh, const char *state, size_t state_len, const char *cwd,
                struct err *err)
{
    free(sh->start_state);
    sh->start_state = state ? xstrndup(state, state_len) : NULL;
    /* A saved state holds all variables, and knows which of the defaults were unset. */
    auto_strv struct strv vars = STRV_INIT((size_t)4 * COMMAND_ENV_MAX);
    int rc = 0;
    if (!state)
        rc = strv_push_all(&vars, (const char *const *)strv_items(&sh->n->base_env));
    sh->start_cwd = !state && cwd && *cwd == '/';
    if (rc == 0 && sh->start_cwd) /* with its symlinks, if it is the same directory */
        rc = strv_set_env(&vars, "PWD", cwd);
    if (rc < 0)
        return err_set(err, -rc, "environment of the shell");
    sh->lost_why = NULL;
    rc = open_box(sh, err);
    shell_wake_supervisor(sh);
    if (rc == 0)
        rc = spawn_bash(sh, &vars, sh->start_cwd ? cwd : "/", err);
    int mended = shell_mend_dir(sh, err); /* while bash starts */
    if (mended < 0)
        return mended;
    if (rc < 0 && rc != -EPIPE) /* the box is about to go, and on_gone() starts in a new one */
        return rc;

    auto_buf struct buf lines = BUF_INIT(LINES_MAX);
    if (rc == 0)
        rc = start_lines(sh, &lines, err);
    if (lines.len && rc == 0)
        rc = shell_send(sh, &lines, err);
    if (rc < 0 && rc != -EPIPE)
        return rc;
    sh->phase = SHELL_STARTING;
    sh->reported = false;
    native_state_facts(state ? state : "", state ? state_len : 0, &sh->facts);
    ev_timer_start(&sh->timer, must_restore(sh) ? RESTORE_LIMIT_MS : START_LIMIT_MS);
    return 0;
}

void shell_became_idle(struct shell *sh)
{
    sh->n_starts = 0;
    sh->start_stripped = false;
    free(take_ptr(sh->start_state));
    sh->phase = SHELL_IDLE;
    if (!sh->session)
        return;
    if (sh->waiting)
        foreground_waiting(sh);
    else
        session_kind_ready(sh->session);
}

void shell_free(struct shell *sh)
{
    if (!sh)
        return;
    list_remove(&sh->link);
    LIST_FOREACH(link, &sh->background)
    background_free(list_entry(link, struct background, link));
    tails_free(&sh->tails);
    input_close(&sh->input);
    ev_timer_close(&sh->timer);
    channel_close(&sh->out);
    channel_close(&sh->err);
    channel_close(&sh->report);
    proc_box_free(sh->box);
    own_close_fd(&sh->cmd);
    own_close_fd(&sh->shell_children);
    own_close_fd(&sh->box_children);
    own_close_fd(&sh->command_fd);
    if (sh->dirfd >= 0) {
        own_close_fd(&sh->dirfd);
        (void)io_remove_tree(AT_FDCWD, sh->dir);
    }
    buf_done(&sh->reports);
    proc_list_done(&sh->before);
    free(sh->start_state);
    free(sh->dir);
    free(sh);
}
