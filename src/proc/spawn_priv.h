/* SPDX-License-Identifier: MIT */
/*
 * proc/spawn_priv - what zygote.c and box.c know of each other.
 */
#ifndef PROC_SPAWN_PRIV_H
#define PROC_SPAWN_PRIV_H

#include "base/list.h"
#include "proc/chan_priv.h"
#include "proc/spawn.h"

struct sandbox_msg;

struct proc_zygote {
    struct ev *ev;
    struct chan chan; /* closed while there is none */
    pid_t pid;        /* 0 while there is none */
    uint64_t run;     /* counts its starts */
    uint32_t next_box;
    struct list boxes; /* proc_box.link */
};

/* Starts a zygote unless one runs. */
int proc_zygote_ensure(struct proc_zygote *z, struct err *err);

/* Whether the zygote that was started as the run-th still runs. */
bool proc_zygote_is_run(const struct proc_zygote *z, uint64_t run);

uint32_t proc_box_id(const struct proc_box *box);
struct proc_box *proc_box_of_link(struct list *link);

/*
 * The zygote says that nothing of the box is left; code as in SANDBOX_MSG_LOST. May call callbacks
 * and free the box.
 */
void proc_box_lost(struct proc_box *box, int code);

/*
 * After the zygote has ended, which then says nothing any more: true if the box was waiting for its
 * word, and so is gone now. May call callbacks and free any box.
 */
bool proc_box_check(struct proc_box *box);

#endif
