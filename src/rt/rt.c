/* SPDX-License-Identifier: MIT */
#include "rt/rt.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/duration.h"
#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/own.h"
#include "capture/log.h"
#include "json/write.h"
#include "rt/priv.h"

enum { IDLE_CHECK_MS = 30000 };

struct rt_session *rt_get_session(struct rt *rt, const char *id, struct err *err)
{
    struct rt_session *rs = id ? map_get(&rt->sessions, id) : NULL;
    if (!rs)
        (void)err_set(err, ERR_NOT_FOUND, "no session '%.80s'", id ? id : "");
    return rs;
}

struct rt_command *rt_get_command(struct rt *rt, const char *id, struct err *err)
{
    struct rt_command *rc = id ? map_get(&rt->commands, id) : NULL;
    if (rc)
        return rc;
    if (!id || !rt->o.store.get_command || rt->freeing) {
        (void)err_set(err, ERR_NOT_FOUND, "no command '%.80s'", id ? id : "");
        return NULL;
    }
    if (rt_stored_get(rt, id, &rc, err) < 0)
        return NULL;
    ev_defer(rt->ev, rt_forget_old, rt); /* not now: the caller may hold another */
    return rc;
}

struct rt_command *rt_command_new(struct rt *rt, const struct command_spec *spec,
                                  const char *kind_name)
{
    struct rt_command *rc = xnew(struct rt_command);
    rc->rt = rt;
    rc->c = command_new(spec);
    rc->kind_name = kind_name;
    list_init(&rc->observers);
    list_init(&rc->link);
    return rc;
}

const struct command *rt_find_command(struct rt *rt, const char *id)
{
    struct rt_command *rc = rt_get_command(rt, id, NULL);
    return rc ? rc->c : NULL;
}

const char *rt_status_name(const struct command *c)
{
    return command_state_name(c->state);
}

bool rt_has_ended(const struct command *c)
{
    return command_state_is_final(c->state);
}

void rt_observe(struct rt_command *rc, struct rt_observer *o)
{
    o->rc = rc;
    list_add_tail(&rc->observers, &o->link);
}

void rt_unobserve(struct rt_observer *o)
{
    list_remove(&o->link);
    o->rc = NULL;
}

void rt_command_free(struct rt_command *rc)
{
    (void)map_remove(&rc->rt->commands, rc->c->id);
    list_remove(&rc->link);
    LIST_FOREACH(link, &rc->observers)
    rt_unobserve(list_entry(link, struct rt_observer, link));
    ev_timer_close(&rc->yield);
    rc->c->on_output = NULL;
    rc->c->on_final = NULL;
    rc->c->on_quiet = NULL;
    command_unref(rc->c);
    buf_done(&rc->fixed);
    free(rc->storage_error);
    free(rc);
}

/* A limit from the environment; a value that makes no sense is an error, not a default. */
static int env_ms(const char *name, int64_t *value, int64_t fallback, struct err *err)
{
    const char *text = getenv(name);
    if (*value > 0)
        return 0;
    if (!text || !*text) {
        *value = fallback;
        return 0;
    }
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (errno || *end || n <= 0)
        return err_set(err, ERR_INVALID,
                       "%s: expected a positive number of milliseconds, not '%.40s'", name, text);
    *value = n;
    return 0;
}

static void on_idle_timer(void *ctx)
{
    rt_sessions_check_idle(ctx);
}

int rt_new(struct ev *ev, const struct rt_options *options, struct rt **ret_rt, struct err *err)
{
    assert(options->kinds && options->kinds[0]);
    struct rt *rt = xnew(struct rt);
    rt->ev = ev;
    rt->o = *options;
    rt->spill_dir = -1;
    rt->run_dir = xstrdup(options->run_dir);
    map_init(&rt->sessions, RT_SESSIONS_MAX);
    map_init(&rt->commands, RT_COMMANDS_MAX);
    list_init(&rt->finished);
    list_init(&rt->goodbyes);
    list_init(&rt->spills);
    if (!rt->o.keep_results)
        rt->o.keep_results = RT_KEEP_RESULTS;
    if (!rt->o.session_idle_ms)
        rt->o.session_idle_ms = RT_SESSION_IDLE_MS;
    ev_timer_init(ev, &rt->idle, on_idle_timer, rt);

    int rc =
        env_ms("NACRE_MAX_COMMAND_TIMEOUT_MS", &rt->o.timeout_max_ms, COMMAND_TIMEOUT_MAX, err);
    if (rc == 0)
        rc = env_ms("NACRE_DEFAULT_COMMAND_TIMEOUT_MS", &rt->o.timeout_default_ms,
                    COMMAND_TIMEOUT_DEFAULT, err);
    if (rc == 0 && rt->o.timeout_default_ms > rt->o.timeout_max_ms)
        rt->o.timeout_default_ms = rt->o.timeout_max_ms;
    if (rc == 0)
        rc = rt_spill_open(rt, err);
    if (rc == 0)
        rc = rt_sessions_load(rt, err);
    if (rc < 0) {
        rt_free(rt);
        return rc;
    }
    if (rt->o.session_idle_ms > 0)
        ev_timer_repeat(&rt->idle, IDLE_CHECK_MS);
    *ret_rt = rt;
    return 0;
}

/* Asks all to end and lets the loop run until they have. */
static void close_all(struct rt *rt)
{
    size_t cursor = 0;
    void *value;
    while (map_next(&rt->sessions, &cursor, NULL, &value)) {
        struct rt_session *rs = value;
        if (!rs->s || rs->closed)
            continue;
        rt->n_ending++;
        rs->closing = true;
        session_close(rs->s); /* one that is closing already just goes on */
    }
    while (rt->n_ending && ev_run_once(rt->ev, true))
        ;
    LIST_FOREACH(link, &rt->goodbyes)
    rt_say_goodbye(list_entry(link, struct rt_goodbye, link));
}

void rt_free(struct rt *rt)
{
    if (!rt)
        return;
    rt->freeing = true;
    ev_timer_close(&rt->idle);
    close_all(rt);
    ev_defer_cancel(rt->ev, rt);
    rt_free_discarded(rt);
    size_t cursor = 0;
    void *value;
    while (map_next(&rt->sessions, &cursor, NULL, &value))
        rt_session_free(value);
    cursor = 0;
    while (map_next(&rt->commands, &cursor, NULL, &value))
        rt_command_free(value);
    map_done(&rt->sessions);
    map_done(&rt->commands);
    rt_spill_close(rt);
    free(rt->run_dir);
    free(rt);
}
