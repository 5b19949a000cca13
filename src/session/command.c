/* SPDX-License-Identifier: MIT */
#include "session/command.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/rand.h"
#include "base/strv.h"
#include "capture/log.h"
#include "ev/ev.h"
#include "session/kind.h"
#include "session/session.h"

static const char *const state_names[] = {
    [COMMAND_QUEUED] = "queued",
    [COMMAND_NEEDS_APPROVAL] = "needs_approval",
    [COMMAND_RUNNING] = "running",
    [COMMAND_EXITED] = "exited",
    [COMMAND_SIGNALED] = "signaled",
    [COMMAND_TIMED_OUT] = "timed_out",
    [COMMAND_CANCELLED] = "cancelled",
    [COMMAND_DENIED] = "denied",
    [COMMAND_SESSION_LOST] = "session_lost",
    [COMMAND_SPAWN_FAILED] = "spawn_failed",
};
enum { N_STATES = sizeof(state_names) / sizeof(state_names[0]) };

const char *command_state_name(enum command_state state)
{
    assert((size_t)state < N_STATES);
    return state_names[state];
}

int command_state_find(const char *name)
{
    for (int i = 0; i < N_STATES; i++)
        if (strcmp(state_names[i], name) == 0)
            return i;
    return -1;
}

bool command_state_is_final(enum command_state state)
{
    return state != COMMAND_QUEUED && state != COMMAND_NEEDS_APPROVAL && state != COMMAND_RUNNING;
}

static int check_env(const char *const *env, struct err *err)
{
    size_t bytes = 0;
    for (size_t i = 0; env && env[i]; i++) {
        const char *eq = strchr(env[i], '=');
        if (!eq)
            return err_set(err, ERR_INVALID, "env '%.60s': expected NAME=VALUE", env[i]);
        auto_free char *name = xstrndup(env[i], (size_t)(eq - env[i]));
        if (!env_name_is_valid(name))
            return err_set(err, ERR_INVALID,
                           "env '%.60s': expected a name of letters, digits and '_' that does not "
                           "start with a digit",
                           name);
        bytes += strlen(env[i]) + 1;
        if (bytes > COMMAND_ENV_MAX)
            return err_set(err, ERR_LIMIT, "env: more than %d bytes", COMMAND_ENV_MAX);
    }
    return 0;
}

int command_spec_check(const struct command_spec *spec, struct err *err)
{
    if (spec->text_len > COMMAND_TEXT_MAX)
        return err_set(err, ERR_LIMIT, "command of %zu bytes: the maximum is %d", spec->text_len,
                       COMMAND_TEXT_MAX);
    const char *nul = spec->text_len ? memchr(spec->text, '\0', spec->text_len) : NULL;
    if (nul)
        return err_set(err, ERR_INVALID,
                       "command: NUL byte at offset %zu; a shell text cannot hold one",
                       (size_t)(nul - spec->text));
    if (spec->cwd && !*spec->cwd)
        return err_set(err, ERR_INVALID, "cwd: expected a directory, not an empty string");
    if (spec->timeout_ms < -1 || (spec->timeout_ms == -1 && !spec->background))
        return err_set(err, ERR_INVALID,
                       "timeoutMs: expected a positive number (or -1 in the background), not %lld",
                       (long long)spec->timeout_ms);
    if (spec->grace_ms < 0)
        return err_set(err, ERR_INVALID, "graceMs: expected a positive number, not %lld",
                       (long long)spec->grace_ms);
    if (spec->pty && !spec->background)
        return err_set(err, ERR_INVALID, "pty: a terminal needs a background command");
    if (spec->stdin_len && !spec->stdin_data)
        return err_set(err, ERR_INVALID, "stdin: length without data");
    return check_env(spec->env, err);
}

struct command *command_new(const struct command_spec *spec)
{
    struct command *c = xnew(struct command);
    rand_id(c->id, sizeof(c->id), "c_");
    c->state = COMMAND_QUEUED;
    c->background = spec->background;
    c->pty = spec->pty;
    c->rows = spec->rows;
    c->cols = spec->cols;
    c->stdin_open = spec->stdin_open;
    c->text = xstrndup(spec->text ? spec->text : "", spec->text_len);
    c->text_len = spec->text_len;
    c->cwd = spec->cwd ? xstrdup(spec->cwd) : NULL;
    strv_init(&c->env, (size_t)2 * COMMAND_ENV_MAX);
    if (spec->env)
        (void)strv_push_all(&c->env, spec->env); /* its size was checked */
    if (spec->stdin_len) {
        c->stdin_data = xmemdup(spec->stdin_data, spec->stdin_len);
        c->stdin_len = spec->stdin_len;
    }
    c->timeout_ms = spec->timeout_ms;
    c->grace_ms = spec->grace_ms ? spec->grace_ms : COMMAND_GRACE_DEFAULT;
    c->queued_ms = clock_wall_ms();
    c->usage = (struct command_usage){-1, -1, -1, -1};
    c->refs = 1;
    list_init(&c->link);
    return c;
}

struct command *command_ref(struct command *c)
{
    assert(c->refs > 0);
    c->refs++;
    return c;
}

void command_unref(struct command *c)
{
    if (!c || --c->refs > 0)
        return;
    ev_timer_close(&c->timer);
    capture_log_free(c->log);
    free(c->text);
    free(c->cwd);
    strv_done(&c->env);
    free(c->stdin_data);
    free(c->why);
    free(c->result_cwd);
    free(c->survivors);
    free(c->survivor_starts);
    free(c);
}

void command_started(struct command *c)
{
    if (c->state != COMMAND_QUEUED)
        return;
    c->state = COMMAND_RUNNING;
    c->started_ms = clock_wall_ms();
    c->started_ns = (uint64_t)clock_mono_ns();
}

void command_output(struct command *c, int stream, const void *p, size_t n)
{
    command_started(c); /* it prints: the word that it was spawned is still on its way */
    capture_log_append(c->log, stream, p, n);
    if (c->on_output)
        c->on_output(c, stream, p, n, c->ctx);
}

void command_finish(struct command *c, enum command_state state, int exit_code, int signal)
{
    assert(command_state_is_final(state));
    if (command_state_is_final(c->state))
        return;
    c->state = state;
    c->exit_code = exit_code;
    c->signal = signal;
    if (!c->ended_ns) /* the kind may know better */
        c->ended_ns = (uint64_t)clock_mono_ns();
    if (!c->started_ns) /* it never ran */
        c->started_ns = c->ended_ns;
    ev_timer_stop(&c->timer);
    if (c->on_final)
        c->on_final(c, c->ctx);
}

void command_quiet(struct command *c)
{
    if (c->quiet)
        return;
    c->quiet = true;
    if (c->log)
        capture_log_finish(c->log);
    if (c->on_quiet)
        c->on_quiet(c, c->ctx);
}
