/* SPDX-License-Identifier: MIT */
/*
 * phase - brings a session to where it shall be hit.
 *
 * Phases are looked up in the shell itself and not waited for by the clock: the
 * loop is turned until the shell is there.
 */
#ifndef TESTS_KILL_PHASE_H
#define TESTS_KILL_PHASE_H

#include <stdbool.h>

#include "lib/fixture.h"
#include "native/priv.h"

struct phase {
    const char *name;
    /* The command that is in it, NULL if none is. */
    const struct command *(*reach)(struct fx *fx);
};

extern const struct phase phases[];
extern const int n_phases;

/* The shell of the session of the fixture. */
struct shell *phase_shell(struct fx *fx);

enum target { TARGET_BASH, TARGET_SUPERVISOR, TARGET_ZYGOTE, N_TARGETS };
extern const char *const target_names[N_TARGETS];
/* Whose number it is now; 0: it is not there. */
pid_t target_pid(struct fx *fx, enum target t);

#endif
