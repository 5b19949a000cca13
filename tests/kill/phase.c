/* SPDX-License-Identifier: MIT */
#include "phase.h"

#include <signal.h>

#include "lib/test.h"
#include "proc/spawn.h"
#include "rt/priv.h"

const char *const target_names[N_TARGETS] = {"bash", "supervisor", "zygote"};

struct shell *phase_shell(struct fx *fx)
{
    struct rt_session *rs = rt_get_session(fx->rt, fx->session, NULL);
    CHECK(rs && rs->s);
    return rs->s->kind_data;
}

pid_t target_pid(struct fx *fx, enum target t)
{
    struct shell *sh = phase_shell(fx);
    switch (t) {
    case TARGET_BASH:
        return sh->pid;
    case TARGET_SUPERVISOR:
        return sh->box ? proc_box_pid(sh->box) : 0;
    case TARGET_ZYGOTE:
        return proc_zygote_pid(fx->native->zygote);
    case N_TARGETS:
        break;
    }
    return 0;
}

static const struct command *idle(struct fx *fx)
{
    FX_UNTIL(fx, phase_shell(fx)->phase == SHELL_IDLE);
    return NULL;
}

/* bash is stopped, so that it reads nothing of what it is sent: the next one runs the text. */
static const struct command *sent(struct fx *fx)
{
    (void)idle(fx);
    CHECK_INT(kill(phase_shell(fx)->pid, SIGSTOP), 0);
    return fx_start(fx, "echo late", NULL);
}

static const struct command *running(struct fx *fx)
{
    const struct command *c = fx_start(fx, "echo a; sleep 600", NULL);
    fx_wait_text(fx, c, CAPTURE_STDOUT, "a\n");
    return c;
}

static const struct command *looping(struct fx *fx)
{
    const struct command *c = fx_start(fx, "echo a; while :; do :; done", NULL);
    fx_wait_text(fx, c, CAPTURE_STDOUT, "a\n");
    return c;
}

static const struct command *queued(struct fx *fx)
{
    (void)running(fx);
    return fx_start(fx, ":", NULL);
}

static const struct command *printing(struct fx *fx)
{
    const struct command *c = fx_start(fx, "yes & yes >&2", NULL);
    FX_UNTIL(fx, capture_log_bytes(c->log, CAPTURE_OUTPUT) > 300000);
    return c;
}

static const struct command *reading(struct fx *fx)
{
    const struct command *c =
        fx_start(fx, "echo a; read x; read y", &(struct fx_opt){.in_open = true});
    fx_wait_text(fx, c, CAPTURE_STDOUT, "a\n");
    fx_input(fx, c, "one\n");
    return c;
}

/* A command that no rung but the last one ends, on this rung. */
static const struct command *stopped(struct fx *fx, int rung)
{
    const struct command *c =
        fx_start(fx, "sh -c \"trap '' INT TERM; echo a; while :; do sleep 1; done\"",
                 &(struct fx_opt){.grace_ms = 60000});
    fx_wait_text(fx, c, CAPTURE_STDOUT, "a\n");
    while (c->stop_stage < rung)
        CHECK_INT(rt_stop(fx->rt, c->id, NULL), 0);
    return c;
}

static const struct command *stopped_int(struct fx *fx)
{
    return stopped(fx, SESSION_STOP_INT);
}

static const struct command *stopped_term(struct fx *fx)
{
    return stopped(fx, SESSION_STOP_TERM);
}

static const struct command *stopped_kill(struct fx *fx)
{
    return stopped(fx, SESSION_STOP_KILL);
}

static const struct command *in_shell_phase(struct fx *fx, const char *text, enum shell_phase phase)
{
    const struct command *c = fx_start(fx, text, NULL);
    FX_UNTIL(fx, phase_shell(fx)->phase == phase || command_state_is_final(c->state));
    return c;
}

static const struct command *draining(struct fx *fx)
{
    return in_shell_phase(fx, "sleep 600 & echo a", SHELL_DRAINING);
}

static const struct command *saving(struct fx *fx)
{
    return in_shell_phase(fx, "saved=$n", SHELL_SAVING);
}

/* What ends the shell by itself: its state is saved in its last moment. */
static const struct command *exiting(struct fx *fx)
{
    return fx_start(fx, "saved=$n; exit 3", NULL);
}

const struct phase phases[] = {
    {"idle",                 idle        },
    {"its text written",     sent        },
    {"running",              running     },
    {"looping",              looping     },
    {"one is queued",        queued      },
    {"printing",             printing    },
    {"waiting for input",    reading     },
    {"stopped by INT",       stopped_int },
    {"stopped by TERM",      stopped_term},
    {"stopped by KILL",      stopped_kill},
    {"draining",             draining    },
    {"saving",               saving      },
    {"ending its own shell", exiting     },
};
const int n_phases = sizeof(phases) / sizeof(phases[0]);
