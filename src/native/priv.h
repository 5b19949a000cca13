/* SPDX-License-Identifier: MIT */
/*
 * native/priv - what the files of this module share.
 *
 * A shell is a box (supervisor), a directory for its FIFOs and files, and the
 * bash in it, which may be replaced by a new one. Its phases:
 *
 *   DOWN -> STARTING -> IDLE -> RUNNING -> (DRAINING) -> (SAVING) -> IDLE
 *
 * Any phase -> DOWN when bash ends. A shell in the pool belongs to no session.
 */
#ifndef NATIVE_PRIV_H
#define NATIVE_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"
#include "base/strv.h"
#include "ev/ev.h"
#include "native/native.h"
#include "proc/spawn.h"
#include "proc/tree.h"
#include "session/kind.h"
#include "session/session.h"

struct command;

enum {
    IO_CHUNK = 256 * 1024,
    NONCE_LEN = 12,
    REPORT_MAX = 16 * 1024, /* a report is a nonce, a number and a path */
    STATE_MAX = 8 * 1024 * 1024,
    INPUT_MAX = 4 * 1024 * 1024, /* bytes that may wait for a command to read them */
    DRAIN_MS = 20,               /* for what a command's last children still print */
    TREE_POLL_MS = 10,
    SAVE_LIMIT_MS = 10000,
    CHECK_DIR_MS = 1000,
    START_LIMIT_MS = 20000,
    RESTORE_LIMIT_MS = 10000, /* for a state that has to be read to its end */
    POOL_MAX = 16,
    ORDER_BUCKETS = 1024,
    ORDER_RUNS_MAX = 128,
    SHELL_DIR_LEN = 5,
};

enum shell_phase {
    SHELL_DOWN,
    SHELL_STARTING,
    SHELL_IDLE,
    SHELL_RUNNING,
    SHELL_DRAINING,
    SHELL_SAVING,
};

/* One named pipe that we read. */
struct channel {
    const char *name; /* in the shell's directory */
    int stream;       /* CAPTURE_STDOUT, CAPTURE_STDERR; 0: the report channel */
    int rd;           /* -1 when not open */
    int keep;         /* our own write end: without it poll would tell of a hang-up for ever */
    struct ev_fd watch;
    struct shell *shell;
    int wd; /* of inotify; -1: not watched */
    struct channel *next_watched;
};

/* Who wrote first, for all shells of the engine. */
struct order {
    int fd; /* -1: not to be had */
    struct channel *watched[ORDER_BUCKETS];
};

struct order_bytes {
    const char *p;
    size_t len;
};

/* A pipe that is still held after its command has ended. */
struct tail {
    struct native *n;
    struct command *command; /* a reference */
    int stream;
    int fd;
    struct ev_fd watch;
    struct list link; /* shell.tails or background.tails */
};

/* Input on its way to a command. */
struct input {
    struct native *n;
    struct command *command; /* borrowed; NULL: none */
    int fd;                  /* -1: not open (yet) */
    bool end;                /* close when pending is empty */
    struct buf pending;
    struct ev_fd watch;
    struct ev_timer retry; /* until the reader has opened the FIFO */
    char *path;
};

/* What later commands must know of a state. */
struct state_facts {
    bool has_definitions;      /* functions or aliases: no text is known to be harmless */
    bool has_debug_trap;       /* DEBUG or RETURN, which a sourced file would hide or fire */
    bool has_exit_trap;        /* the user's */
    bool has_own_exit_trap;    /* ours: it is not part of the state */
    bool has_builtin_function; /* shadows what our own lines use */
    unsigned reader_variables; /* to be unset, see native_unset_reader_variables() */
};

/* What bash does not print of its state, and where it comes from. */
struct state_rest {
    const char *marker;
    const char *cwd; /* can be NULL */
    pid_t pid;       /* of bash; 0: it has ended */
    const char *old; /* the state before; "" if there is none */
    size_t old_len;
};

struct shell {
    struct native *n;
    struct session *session; /* NULL in the pool */
    struct proc_box *box;
    char name[SHELL_DIR_LEN];
    char *dir; /* absolute */
    int dirfd;
    enum shell_phase phase;
    pid_t pid;          /* of bash; 0 when down */
    pid_t last_pid;     /* of the bash that was */
    uint32_t tag;       /* of the spawn that is current */
    int cmd;            /* write end of bash's standard input, -1 when down */
    size_t n_sent;      /* bytes of lines for the current command */
    size_t n_to_run;    /* bytes of them up to the line that runs the text */
    size_t n_unread;    /* of what was sent, when bash ended */
    int shell_children; /* see proc_children_open(); -1 */
    int box_children;
    struct channel out, err, report;
    signed char runs[ORDER_RUNS_MAX]; /* streams in the order of their writes */
    size_t n_runs;
    unsigned n_events; /* of writes to both pipes; it wraps */
    struct input input;
    struct buf reports; /* unparsed */
    char nonce[NONCE_LEN + 1];
    char marker[2 * NONCE_LEN + 1]; /* parts the sections of a saved state */
    struct ev_timer timer;          /* draining, tree polling, limits of starting and saving */
    unsigned n_guarded;             /* reports whose $? is in a file's name */
    int last_code;                  /* what $? is for the next command */
    bool may_save;                  /* the current command could change the state */
    bool own_exit_trap;             /* our trap on EXIT was set for it */
    bool own_cwd;                   /* it runs in a directory of its own */
    struct state_facts facts;
    bool reported;        /* while starting: bash is up, its number may not be known yet */
    bool restored;        /* the next command runs in a restored shell */
    bool unwound;         /* a stopped command: the shell is back, its tree may not be */
    const char *lost_why; /* why we gave the shell up; NULL: we did not */
    bool doomed;          /* we have killed this bash */
    bool box_lost;        /* the supervisor died, and all its processes with it */
    bool closing;
    bool closed;        /* and told so */
    int rounds;         /* of draining, killing, or finding that a report is missing */
    int n_rescans;      /* for processes of a stopped command that were not seen */
    int n_starts;       /* that failed in a row, since their box died */
    struct err refused; /* why the plan of its box could not be applied */
    struct proc_exit exit;
    struct session_outcome outcome; /* of the current command, once known */
    struct proc_list before;        /* what lived before the current command */
    struct proc_cpu cpu;            /* last reading */
    struct list tails;              /* tail.link */
    struct list background;         /* background.link */
    struct list link;               /* native.pool */
    struct command *waiting;        /* for the shell to come up; borrowed (session.current) */
    bool start_cwd;                 /* a starting shell was given a directory */
    int command_fd;                 /* of the file with the text */
    size_t command_len;
    int64_t owner, owner_gid; /* of the directory's files, where it is not us; -1 */
    bool start_stripped;      /* of what may have ended the one before */
    char *start_state;        /* what a starting shell restores, owned; may be NULL */
};

struct background {
    struct shell *shell;
    struct command *command; /* a reference */
    struct proc_box *box;
    pid_t pid;
    char *script; /* file name in the shell's directory */
    int fd[2];    /* stdout, stderr (or the terminal and -1); -1 */
    struct ev_fd watch[2];
    struct input input;
    struct ev_timer timer;
    struct proc_exit exit;
    bool exited; /* the leader has ended */
    bool done;   /* the result was told; survivors may still write */
    int rounds;
    struct list link; /* shell.background */
};

struct native {
    struct session_kind kind;
    struct ev *ev;
    struct proc_zygote *zygote;
    char *bash;
    char *run_dir;
    size_t pool_size;
    struct list pool; /* shell.link */
    size_t n_pool;
    struct ev_timer refill;
    char *io; /* IO_CHUNK bytes, for whoever reads now */
    struct order order;
    struct strv base_env;
    native_plan_fn plan; /* NULL: nothing is isolated */
    void *plan_ctx;
    struct list layer_names; /* layer_names.link, for session.isolation */
};

/* native.c: tells the session once nothing of a closing shell is left. */
void native_check_closed(struct shell *sh);
void native_leave_pool(struct shell *sh);

/* dir.c: -errno; -EINVAL for what is there but is of another kind. */
int native_dir_read(int dirfd, const char *name, size_t max, struct buf *ret);
int native_dir_fifo(int dirfd, const char *name, int flags);
/* A pipe in the directory, in place of whatever has that name. */
int shell_make_fifo(struct shell *sh, const char *name, struct err *err);
/* Makes the payload's user the owner of what fd is: pipes are opened by name in /proc/self/fd. */
int shell_give_fd(const struct shell *sh, int fd);

/* layers.c: NULL-terminated, as long as the engine lives. */
const char *const *native_layer_names(struct native *n, const struct sandbox_plan *plan);
void native_layer_names_free(struct native *n);

/* env.c */
void native_base_env(struct strv *env);
/*
 * The lines that give a bash these variables. They are not in its environment when it starts: some
 * would end it (PROMPT_COMMAND), or keep it from reading what we want it to (POSIXLY_CORRECT).
 */
void native_env_script(const struct strv *env, struct buf *out);

/* classify.c: false only if the text cannot change the state of a shell without functions/aliases.
 */
bool native_may_change_state(const char *text, size_t len);
/* True if the text may end the shell. */
bool native_may_end_shell(const char *text, size_t len);
/* True if the text may show all traps, ours too. */
bool native_may_list_traps(const char *text, size_t len);

/* state.c */
void native_save_script(const struct shell *sh, struct buf *out);
/* What our trap on EXIT runs, and how that trap ends, by which it is known. */
#define NATIVE_BYE "/bye \"$-\" \"$@\") >/dev/null 2>&1||\\builtin :"
void native_exit_script(const struct shell *sh, struct buf *out);
/* -ERR_PROTOCOL when the raw text is not complete, -ERR_LIMIT. */
int native_state_build(const char *raw, size_t len, const struct state_rest *rest, struct buf *out,
                       struct state_facts *ret_facts);
/* Whether bash would run "NAME=value" by itself before it reads a line of ours. */
bool native_runs_between(const char *var);
/* What a shell that restores this state will be like. */
void native_state_facts(const char *state, size_t len, struct state_facts *ret_facts);
/* The line for a live shell that takes away what no state keeps. */
void native_unset_reader_variables(unsigned which, struct buf *lines);
int native_state_check(const char *state, size_t len, struct err *err);
/* The same without traps, which a copy must not have, and without limits. */
int native_state_strip(const char *state, size_t len, bool limits_too, struct buf *out);
/* Appends 'text' quoted as one shell word. */
int native_quote(struct buf *out, const char *text, size_t len);

/* channel.c */
/* One read into the command (NULL: dropped); false if nothing is there, or at the end. */
bool native_read(struct native *n, int fd, struct command *c, int stream, bool *ret_end);
int channel_open(struct channel *ch, struct shell *sh, const char *name, int stream,
                 struct err *err);
void channel_close(struct channel *ch);
/* Reads what is there from both pipes into the command, in the order in which it was written. */
void channels_drain(struct shell *sh, struct command *c);
/* Watches again the pipes that a flood made us leave. */
void channels_watch(struct shell *sh);
/* Whether anybody else holds the pipe; what it still had goes to the command. */
bool channel_is_held(struct channel *ch, struct command *c);
/* The pipe stays with the command that others hold it for; a new one takes its place. */
int channel_hand_over(struct channel *ch, struct command *c, struct list *tails, struct err *err);
void tail_new(struct native *n, struct command *c, int stream, int fd, struct list *tails);
void tail_free(struct tail *t);
void tails_free(struct list *tails);

/* order.c */
void order_init(struct order *o);
void order_done(struct order *o);
void order_watch(struct order *o, struct channel *ch, const char *path);
void order_unwatch(struct order *o, struct channel *ch);
/* Takes note of all writes so far. */
void order_collect(struct order *o);
/* Gives bytes of both streams ([0]: stdout) to the command in order; first: what was seen first. */
void order_emit(struct shell *sh, struct command *c, const struct order_bytes bytes[2], int first);

/* input.c */
void input_init(struct input *in, struct native *n);
/* Writes to an open descriptor, which it owns. */
void input_open_fd(struct input *in, struct command *c, int fd);
/* Opens the FIFO when its reader is there. */
void input_open_fifo(struct input *in, struct command *c, const char *path);
int input_write(struct input *in, const void *p, size_t n, struct err *err);
void input_end(struct input *in);
/* Gives the command back what nobody has begun to read, for another start. */
void input_take_back(struct input *in);
void input_close(struct input *in);

/* shell.c */
struct shell *shell_new(struct native *n);
int shell_start(struct shell *sh, const char *state, size_t state_len, const char *cwd,
                struct err *err);
/* Sends lines to bash. */
int shell_send(struct shell *sh, const struct buf *lines, struct err *err);
/* A line that reports $? and the directory under a new nonce. */
void shell_add_report(struct shell *sh, struct buf *lines, const char *code);
/* The text of a command, to the file that bash sources. */
int shell_write_command(struct shell *sh, const void *p, size_t n, struct err *err);
int shell_write_file(struct shell *sh, const char *name, const void *p, size_t n, struct err *err);
int kill_bash_with(struct shell *sh, int signal);
void shell_kill_bash(struct shell *sh);
/* A command may have stopped the supervisor, which then neither reaps nor tells. */
void shell_wake_supervisor(struct shell *sh);
/* The same for bash, which may have been stopped by a child that it had. */
void shell_wake_bash(struct shell *sh);
/* Whether bash waits for the next line, having read all that it was sent. */
bool shell_waits_for_lines(const struct shell *sh);
/* Its directory: what PWD says, and what is true ("" if not known). */
void shell_tell_dir(struct shell *sh, const char *pwd, const char *real);
/* bash has ended, and its supervisor has not noticed (yet). */
bool shell_bash_is_zombie(const struct shell *sh);
/* Ends a shell that cannot be trusted to answer; its command is lost. */
void shell_give_up(struct shell *sh, const char *why);
/* The bash that was is not ours any more; its end will not be noticed. */
void shell_forget_bash(struct shell *sh);
void shell_free(struct shell *sh);
/* Whether the pipes are still where bash looks for them; what makes them anew if not. */
bool shell_dir_is_whole(const struct shell *sh);
int shell_mend_dir(struct shell *sh, struct err *err);
/* bash is ready for a command. */
void shell_became_idle(struct shell *sh);

/* foreground.c */
int foreground_start(struct session *s, struct command *c, struct err *err);
int foreground_begin(struct shell *sh, struct command *c, struct err *err);
/* The shell that a command waited for is up. */
void foreground_waiting(struct shell *sh);
void foreground_report(struct shell *sh, const char *code);
void foreground_shell_ended(struct shell *sh);
void foreground_stop(struct shell *sh, struct command *c, enum session_stop_stage stage);
int foreground_signal(struct shell *sh, struct command *c, int signal, struct err *err);
void foreground_timer(struct shell *sh);
char *foreground_why(struct shell *sh, bool *needs_input);
void foreground_saves_long(struct shell *sh);
void save_report(struct shell *sh);
void save_failed(struct shell *sh);

/* survivors.c */
void survivors_mark(struct shell *sh);
/* The processes of the current command that live now, without bash. */
int survivors_list(struct shell *sh, struct proc_list *list);
/* Puts what is left into the result. */
void survivors_record(struct shell *sh, struct command *c);
bool survivors_any(struct shell *sh);
/* Whether a signal is in a set of /proc/PID/status: "SigIgn", "SigCgt". */
bool process_has_signal(pid_t pid, const char *set, int signal);
/* Kills what outlived c, with all below it; returns how many. */
int survivors_kill(struct command *c);

/* why.c: what these processes are doing, in one line; NULL if nothing can be said. */
char *why_of(const struct proc_list *list, pid_t shell, const struct input *in, bool *needs_input);

/* background.c */
int background_start(struct session *s, struct command *c, struct err *err);
struct background *background_of(struct command *c);
int background_input_end(struct command *c);
void background_stop(struct command *c, enum session_stop_stage stage);
int background_signal(struct command *c, int signal, struct err *err);
int background_resize(struct command *c, uint16_t rows, uint16_t cols, struct err *err);
char *background_why(struct background *b, bool *needs_input);
void background_free(struct background *b);

#endif
