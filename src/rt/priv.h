/* SPDX-License-Identifier: MIT */
/* rt/priv - what the files of this module share. */
#ifndef RT_PRIV_H
#define RT_PRIV_H

#include "base/buf.h"
#include "base/list.h"
#include "base/map.h"
#include "capture/log.h"
#include "ev/ev.h"
#include "rt/rt.h"
#include "session/session.h"

enum {
    RT_SESSIONS_MAX = 10000,
    RT_COMMANDS_MAX = 1000000,
    RT_SNAPSHOTS_MAX = 64,
    /* The text and three views; a control character takes six bytes. What a frame can hold. */
    RT_RESULT_MAX = 16 * 1024 * 1024,
    RT_FILE_MAX = 64 * 1024 * 1024,
    RT_KEEP_RESULTS = 1000,
    RT_SPILL_MIB = 2048,
    RT_SESSION_IDLE_MS = 24 * 3600 * 1000,
};

struct rt_snapshot {
    char name[SESSION_ID_MAX];
    char *state;
    size_t len;
    struct list link; /* rt_session.snapshots */
};

/* A session; without a struct session it sleeps: it starts when it is used. */
struct rt_session {
    struct rt *rt;
    char id[SESSION_ID_MAX];
    const struct session_kind *kind;
    struct session *s; /* NULL: asleep */
    char *tenant;
    char *cwd; /* as asked for, then as last seen */
    struct strv env;
    char *state; /* while asleep; can be NULL */
    size_t state_len;
    int64_t created_ms;
    uint64_t n_commands;
    bool temporary, closing;
    struct list snapshots; /* rt_snapshot.link */
    void (*on_closed)(void *ctx);
    void *on_closed_ctx;
    bool closed;    /* nothing of s is left but its memory */
    bool importing; /* its state is being read for the first time: not stored yet */
    rt_import_fn on_imported;
    void *on_imported_ctx;
};

/* Somebody who is to be told, by the loop, that a session that slept is closed. */
struct rt_goodbye {
    struct rt *rt;
    void (*cb)(void *ctx);
    void *ctx;
    struct list link; /* rt.goodbyes */
};

/* Somebody who watches a command: followers, waiters. The calls may free the observer. */
struct rt_observer {
    void (*on_output)(struct rt_observer *o, int stream, const void *p, size_t n);
    void (*on_final)(struct rt_observer *o);
    void (*on_quiet)(struct rt_observer *o);
    struct rt_command *rc;
    struct list link; /* rt_command.observers */
};

struct rt_command {
    struct rt *rt;
    struct command *c; /* a reference */
    char session_id[SESSION_ID_MAX];
    const char *kind_name;
    struct rt_command_events events;
    struct ev_timer yield;
    struct list observers; /* rt_observer.link */
    struct list link;      /* rt.finished, oldest first */
    const char *const *isolation;
    char *storage_error; /* can be NULL */
    bool has_forecast;   /* stored, in case that this process dies first */
    bool is_stored;      /* made anew from its stored result, which is in fixed */
    struct buf fixed;    /* the result, where more output may follow it; else empty */
    uint64_t fixed_bytes;
};

struct rt {
    struct ev *ev;
    struct rt_options o;
    char *run_dir;
    int spill_dir;
    char *spill_path;
    struct capture_budget spill_budget;
    struct list spills;  /* rt_spill.link; of finished commands, oldest first */
    struct map sessions; /* id -> rt_session */
    struct map commands; /* id -> rt_command */
    struct list finished;
    size_t n_finished;
    struct ev_timer idle;
    struct list goodbyes;       /* rt_goodbye.link */
    size_t n_ending;            /* sessions that rt_free() waits for */
    struct session **discarded; /* to be freed by the loop */
    size_t n_discarded;
    bool freeing;
};

/* rt.c */
struct rt_session *rt_get_session(struct rt *rt, const char *id, struct err *err);
/* One of which only the result is stored is made anew; NULL: there is none, or the store failed. */
struct rt_command *rt_get_command(struct rt *rt, const char *id, struct err *err);
struct rt_command *rt_command_new(struct rt *rt, const struct command_spec *spec,
                                  const char *kind_name);
void rt_command_free(struct rt_command *rc);
void rt_observe(struct rt_command *rc, struct rt_observer *o);
void rt_unobserve(struct rt_observer *o);

/* session.c */
void rt_say_goodbye(void *ctx); /* struct rt_goodbye, which it frees */
/* Starts a session that sleeps. */
int rt_session_wake(struct rt_session *rs, struct err *err);
void rt_session_free(struct rt_session *rs);
void rt_free_discarded(void *ctx); /* struct rt */
int rt_sessions_load(struct rt *rt, struct err *err);
void rt_sessions_check_idle(struct rt *rt);
const char *rt_session_state(const struct rt_session *rs, size_t *ret_len);

/* exec.c */
/* The oldest finished commands make room for new ones; what is stored stays stored. */
void rt_forget_old(void *ctx); /* struct rt */

/* spill.c */
int rt_spill_open(struct rt *rt, struct err *err);
void rt_spill_close(struct rt *rt);
/* A finished command has files, if it has: they may go when room is needed. */
void rt_spill_add(const struct rt_command *rc);
/* If the files that a result names are gone: it names none. */
void rt_spill_check(const struct rt *rt, const char *id, struct buf *json);

/* stored.c */
/* A log of what a result shows; NULL if that makes no sense. */
struct capture_log *rt_stored_log(const struct buf *json);
int rt_stored_get(struct rt *rt, const char *id, struct rt_command **ret_rc, struct err *err);

/* result.c */
void rt_result_write(const struct rt_command *rc, struct json_w *w);
/* What a list shows of it. */
void rt_command_summary(const struct rt_command *rc, struct json_w *w);

#endif
