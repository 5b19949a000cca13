/* SPDX-License-Identifier: MIT */
#include "sandbox/kill.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

enum {
    PAUSE_MIN_NS = 1000000,
    PAUSE_MAX_NS = 100000000,
    AFRESH = 64, /* passes after which nothing is taken for known */
    BITS = 64,
};

static bool is_killed(const struct sandbox_killer *killer, pid_t pid)
{
    size_t word = (size_t)pid / BITS;
    return word < killer->n_words && killer->killed[word] >> (size_t)pid % BITS & 1;
}

static void note_killed(struct sandbox_killer *killer, pid_t pid)
{
    size_t word = (size_t)pid / BITS;
    if (word >= killer->n_words) {
        size_t n = word + word / 2 + 64;
        killer->killed = xreallocarray(killer->killed, n, sizeof(*killer->killed));
        memset(killer->killed + killer->n_words, 0,
               (n - killer->n_words) * sizeof(*killer->killed));
        killer->n_words = n;
    }
    killer->killed[word] |= (uint64_t)1 << (size_t)pid % BITS;
}

void sandbox_killer_forget(struct sandbox_killer *killer, pid_t pid)
{
    if (is_killed(killer, pid))
        killer->killed[(size_t)pid / BITS] &= ~((uint64_t)1 << (size_t)pid % BITS);
}

/*
 * Once SIGKILL is sent, a process cannot complete a fork any more. So the children that are looked
 * up after that are all it will ever have, unless it is dead already and they have come to us.
 */
static void kill_one(pid_t pid, void *ctx)
{
    note_killed(ctx, pid);
    (void)kill(pid, SIGKILL);
}

/* Keeps the children that are to be killed now; returns how many were killed, or are to be. */
static size_t choose(struct sandbox_killer *killer, sandbox_keep_fn keep, void *ctx)
{
    struct sandbox_pids *pids = &killer->pids;
    size_t n_new = 0;
    size_t n = 0;
    for (size_t i = 0; i < pids->n_items; i++) {
        if (keep && keep(pids->items[i], ctx))
            continue;
        n++;
        if (!is_killed(killer, pids->items[i]))
            pids->items[n_new++] = pids->items[i];
    }
    pids->n_items = n_new;
    return n;
}

bool sandbox_killer_run(struct sandbox_killer *killer, sandbox_keep_fn keep, void *ctx)
{
    int64_t now = clock_mono_ns();
    if (now < killer->next_ns)
        return false;
    if (++killer->n_passes % AFRESH == 0 && killer->n_words > 0)
        memset(killer->killed, 0, killer->n_words * sizeof(*killer->killed));

    killer->pids.n_items = 0;
    sandbox_walk_children(&killer->pids, getpid(), SANDBOX_WALK_FAST);
    size_t n = choose(killer, keep, ctx);
    sandbox_walk(&killer->pids, 0, SANDBOX_WALK_FAST, kill_one, killer);

    /* The pause grows for what cannot die yet, as in an uninterruptible wait. */
    int64_t pause = killer->pause_ns + killer->pause_ns / 4;
    if (pause < PAUSE_MIN_NS)
        pause = PAUSE_MIN_NS;
    if (pause > PAUSE_MAX_NS)
        pause = PAUSE_MAX_NS;
    if (killer->pids.n_items > 0)
        pause = 0;
    killer->pause_ns = pause;
    killer->next_ns = now + pause;
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
    free(killer->killed);
    *killer = (struct sandbox_killer){0};
}
