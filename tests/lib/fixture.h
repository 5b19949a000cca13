/* SPDX-License-Identifier: MIT */
/*
 * fixture - a runtime with one bash session in it, used synchronously.
 *
 *     TEST(name)
 *     {
 *         struct fx fx;
 *         fx_open(&fx);
 *         FX_RUN(&fx, "echo a", 0, "a\n", "");
 *         fx_close(&fx);
 *     }
 *
 * A command that is handed out stays valid until fx_close() or fx_forget(), and so
 * do texts. Calls that wait turn the loop; a test that waits in vain is ended by
 * its own time limit. Everything is closed by fx_close(), so that the checks of
 * lib/test see what a runtime leaves behind.
 */
#ifndef TESTS_LIB_FIXTURE_H
#define TESTS_LIB_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/list.h"
#include "base/rundir.h"
#include "capture/log.h"
#include "ev/ev.h"
#include "rt/rt.h"
#include "session/command.h"

struct json_node;
struct native;
struct session_kind;
struct store;

/* How a runtime is opened; zeroed: as fx_open() does. */
struct fx_settings {
    bool stored;      /* sessions and results in a store, for fx_reopen() */
    bool spills;      /* large output goes to files; implied by stored */
    size_t pool_size; /* shells that are started ahead */
    bool isolated;    /* sessions have the plan of lib/isolate.h */
    const char *cwd;  /* of the session; NULL: the scratch directory of the test */
    const char *const *env;
    const char *dir;       /* for all files of the runtime; NULL: one in memory */
    const char *state_dir; /* for what outlives it; NULL: in the same place */
    struct rt_policy policy;
    struct rt_record record;
    int64_t timeout_max_ms;
    int64_t session_idle_ms;
    uint64_t spill_max;
};

struct fx {
    struct fx_settings settings;
    struct ev *ev;
    struct ev_timer tick; /* so that waiting for the world outside never sleeps for long */
    struct native *native;
    struct store *store;
    struct rt *rt;
    struct rundir dir;
    char *run_dir, *state_dir;
    const struct session_kind *kinds[2];
    const char *session; /* where commands run */
    struct list runs;    /* fx_run.link */
    struct list kept;    /* fx_kept.link */
    struct arena arena;
    char mark[64];
};

void fx_open(struct fx *fx);
void fx_open_with(struct fx *fx, const struct fx_settings *settings);
/* What a restart of the daemon is: all ends, and a new runtime reads the store. */
void fx_reopen(struct fx *fx);
void fx_close(struct fx *fx);
/* Drops the commands and texts so far. */
void fx_forget(struct fx *fx);

/* One turn of the loop, 5 ms at most. */
void fx_turn(struct fx *fx);
#define FX_UNTIL(fx, cond)                                                                         \
    do {                                                                                           \
        while (!(cond))                                                                            \
            fx_turn(fx);                                                                           \
    } while (0)

/* ---- commands ---- */

struct fx_opt {
    const char *session; /* NULL: that of the fixture */
    int64_t timeout_ms, grace_ms, yield_ms;
    const char *cwd;
    const char *const *env;
    const char *in; /* standard input, in_len bytes (0: a string) */
    size_t in_len;
    bool in_open;
    bool background, pty;
    uint16_t rows, cols;
};

/* Runs to the end. */
const struct command *fx_exec(struct fx *fx, const char *text);
/* Runs until it ends or yields. opt may be NULL. */
const struct command *fx_exec_opt(struct fx *fx, const char *text, const struct fx_opt *opt);
/* Starts and does not wait. */
const struct command *fx_start(struct fx *fx, const char *text, const struct fx_opt *opt);
/* The same of any bytes; *ret_c is set only if the command was taken. */
int fx_try(struct fx *fx, const char *text, size_t len, const struct fx_opt *opt,
           const struct command **ret_c, struct err *err);
/* Until it is final. */
void fx_wait(struct fx *fx, const struct command *c);
/* Until nobody holds a descriptor of it any more. */
void fx_wait_quiet(struct fx *fx, const struct command *c);
/* How often the end, or the yield, of c was told. */
unsigned fx_times_told(struct fx *fx, const struct command *c);
/* Until this text is in the output (CAPTURE_...) of c. */
void fx_wait_text(struct fx *fx, const struct command *c, int which, const char *text);
/* Stops c and waits for its end. */
void fx_stop(struct fx *fx, const struct command *c);
void fx_input(struct fx *fx, const struct command *c, const char *text);
void fx_input_end(struct fx *fx, const struct command *c);

struct fx_expect {
    const char *text;
    int code;
    const char *out, *err; /* NULL: not looked at */
};

/* Runs a text; it must exit by itself with this code and print exactly this. */
#define FX_RUN(fx, text, code, out, err)                                                           \
    fx_run(__FILE__, __LINE__, fx, &(struct fx_expect){text, code, out, err})
const struct command *fx_run(const char *file, int line, struct fx *fx,
                             const struct fx_expect *expect);

/* ---- what came of it ---- */

/* All bytes printed (CAPTURE_...), with a NUL behind them. */
const char *fx_text(struct fx *fx, const struct command *c, int which, size_t *ret_len);
#define fx_out(fx, c) fx_text(fx, c, CAPTURE_STDOUT, NULL)
#define fx_err(fx, c) fx_text(fx, c, CAPTURE_STDERR, NULL)
/* The first number printed on stdout. */
long fx_number(struct fx *fx, const struct command *c);
/* The result object. */
const struct json_node *fx_result(struct fx *fx, const char *id);
/* A member of it by path: a string, "true"/"false", "null", or a number as it is written. */
const char *fx_field(struct fx *fx, const char *id, const char *path);

/* ---- the world outside ---- */

/* Puts a mark into the environment of all that the session starts from here on. */
void fx_mark(struct fx *fx);
/* How many live processes bear it. */
size_t fx_marked(const struct fx *fx);
/* Whether it runs (a zombie does not). */
bool fx_lives(pid_t pid);
/* Zombies below this process. */
size_t fx_zombies(void);
/* Descriptors that this process has open. */
size_t fx_fds(void);
/* Whether a program is in PATH. */
bool fx_has_program(const char *name);
/* A file as a text; "" if it is not there. */
const char *fx_file(struct fx *fx, const char *path);
double fx_seconds(void);

#endif
