/* SPDX-License-Identifier: MIT */
#include "sandbox/kill.h"

#include <signal.h>
#include <unistd.h>

#include "base/clock.h"

enum { PAUSE_MIN_NS = 1000000, PAUSE_MAX_NS = 100000000 };

static void stop(pid_t pid, void *ctx)
{
    (void)ctx;
    (void)kill(pid, SIGSTOP); /* it may have ended */
}

size_t sandbox_kill_pass(struct sandbox_pids *pids, sandbox_keep_fn keep, void *ctx)
{
    pids->n_items = 0;
    sandbox_walk_children(pids, getpid());
    size_t n = 0;
    for (size_t i = 0; i < pids->n_items; i++)
        if (!keep || !keep(pids->items[i], ctx))
            pids->items[n++] = pids->items[i];
    pids->n_items = n;

    /*
     * All are stopped before the first is killed: a stopped process neither forks nor ends, so the
     * tree holds still while it is walked.
     */
    sandbox_walk(pids, 0, SANDBOX_WALK_FAST, stop, NULL);
    for (size_t i = 0; i < pids->n_items; i++)
        (void)kill(pids->items[i], SIGKILL);
    return pids->n_items;
}

bool sandbox_killer_run(struct sandbox_killer *killer, sandbox_keep_fn keep, void *ctx)
{
    int64_t begin = clock_mono_ns();
    if (begin < killer->next_ns)
        return false;
    size_t n = sandbox_kill_pass(&killer->pids, keep, ctx);
    int64_t end = clock_mono_ns();

    /* It grows for what cannot die yet, as in an uninterruptible wait. */
    int64_t pause = killer->pause_ns + killer->pause_ns / 4;
    if (pause < PAUSE_MIN_NS)
        pause = PAUSE_MIN_NS;
    if (pause > PAUSE_MAX_NS)
        pause = PAUSE_MAX_NS;
    killer->pause_ns = pause;
    killer->next_ns = end + (end - begin > pause ? end - begin : pause);
    return n == 0;
}

int sandbox_killer_wait_ms(const struct sandbox_killer *killer)
{
    int64_t left = killer->next_ns - clock_mono_ns();
    return left > 0 ? (int)(left / 1000000) + 1 : 0;
}

void sandbox_killer_done(struct sandbox_killer *killer)
{
    sandbox_pids_done(&killer->pids);
    *killer = (struct sandbox_killer){0};
}
