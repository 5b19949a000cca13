/* SPDX-License-Identifier: MIT */
/*
 * kill -9 of the process that runs the runtime, in every phase: no process of it is
 * left, its short-lived files are swept by the next one, and what it had acknowledged
 * (results, the state of the session) is there.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cage.h"
#include "lib/fixture.h"
#include "lib/test.h"
#include "phase.h"

enum { GONE_LIMIT_S = 15 };

/* What the process tells of itself once it is where it shall be hit. */
struct told {
    char id[COMMAND_ID_MAX]; /* of an acknowledged command */
};

static struct fx_settings settings(void)
{
    return (struct fx_settings){.state_dir = "state", .stored = true, .dir = test_dir()};
}

/* The forked process: it never returns. */
static _Noreturn void live(const struct phase *phase, int ready)
{
    static struct fx fx;
    struct told told = {0};
    struct fx_settings s = settings();
    fx_open_with(&fx, &s);
    FX_RUN(&fx, "n=7; cd /usr; f() { echo f$n; }", 0, "", "");
    const struct command *c = FX_RUN(&fx, "f; echo error >&2; (exit 5)", 5, "f7\n", "error\n");
    memcpy(told.id, c->id, sizeof(told.id));
    (void)fx_start(&fx, "setsid -f sleep 600; trap '' TERM INT HUP; sleep 600",
                   &(struct fx_opt){.background = true});
    (void)phase->reach(&fx);
    CHECK_INT(write(ready, &told, sizeof(told)), sizeof(told));
    for (;;)
        fx_turn(&fx);
}

static int count_dirs(const char *prefix)
{
    DIR *dir = opendir(test_dir());
    int n = 0;
    CHECK(dir);
    for (struct dirent *e; (e = readdir(dir));)
        n += strncmp(e->d_name, prefix, strlen(prefix)) == 0;
    (void)closedir(dir);
    return n;
}

static void wait_until_all_gone(const char *phase)
{
    for (double until = fx_seconds() + GONE_LIMIT_S; cage_count() != 0; (void)usleep(500))
        if (fx_seconds() > until)
            FAIL("%s: %d processes outlived their runtime", phase, cage_count());
}

static void kill_the_runtime(const struct phase *phase)
{
    struct told told;
    int ready[2];
    CHECK_INT(pipe(ready), 0);
    printf("%s\n", phase->name);
    pid_t pid = fork();
    if (pid == 0)
        live(phase, ready[1]);
    (void)close(ready[1]);
    CHECK_INT(read(ready[0], &told, sizeof(told)), sizeof(told));
    (void)close(ready[0]);
    CHECK_INT(kill(pid, SIGKILL), 0);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    wait_until_all_gone(phase->name);
    CHECK_INT(count_dirs("rt-"), 1); /* that of the killed one */

    struct fx fx;
    struct fx_settings s = settings();
    fx_open_with(&fx, &s);
    CHECK_INT(count_dirs("rt-"), 1); /* its own */
    CHECK_STR(fx_field(&fx, told.id, "status"), "exited");
    CHECK_STR(fx_field(&fx, told.id, "exitCode"), "5");
    CHECK_STR(fx_field(&fx, told.id, "stdout"), "f7\n");
    CHECK_STR(fx_field(&fx, told.id, "stderr"), "error\n");
    FX_RUN(&fx, "echo $n $PWD; f", 0, "7 /usr\nf7\n", "");
    CHECK_INT(rt_session_close(fx.rt, fx.session, NULL, NULL, NULL), 0);
    fx_close(&fx);
    wait_until_all_gone(phase->name);
}

TEST_TIMEOUT(the_runtime_in_every_phase, 240)
{
    if (cage_missing())
        SKIP("%s", cage_missing());
    for (int i = 0; i < n_phases; i++)
        kill_the_runtime(&phases[i]);
}

void test_collect(void)
{
    cage_enter();
}
