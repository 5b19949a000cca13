/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/err.h"
#include "control/priv.h"

static const char *const untils[] = {
    [RT_WAIT_EXIT] = "exit",
    [RT_WAIT_LOG] = "log",
    [RT_WAIT_PORT] = "port",
};

static const char *const ends[] = {
    [RT_WAIT_MET] = "met",
    [RT_WAIT_TIMEOUT] = "timeout",
    [RT_WAIT_EXITED] = "exited",
};

static void answer(struct channel *ch, enum rt_wait_end end, const char *line, size_t len)
{
    struct answer a;
    struct json_w *w = answer_begin(&a, ch);
    json_w_obj(w);
    json_w_kstr(w, "end", ends[end]);
    if (line) {
        json_w_key(w, "line");
        json_w_str_lossy(w, line, len);
    }
    json_w_obj_end(w);
    answer_end(&a);
}

/* The waiter has freed itself by now. */
static void on_end(enum rt_wait_end end, const char *line, size_t len, void *ctx)
{
    struct channel *ch = ctx;
    ch->waiter = NULL;
    answer(ch, end, line, len);
}

int op_wait(struct channel *ch, const struct request *req, struct err *err)
{
    size_t what = 0, n = sizeof(untils) / sizeof(untils[0]);
    while (what < n && strcmp(untils[what], req->until) != 0)
        what++;
    if (what == n)
        return err_set(err, ERR_INVALID,
                       "field 'until': expected 'exit', 'log' or 'port', not '%.40s'", req->until);
    const struct rt_wait wait = {
        .id = req->id,
        .what = (enum rt_wait_what)what,
        .pattern = req->pattern,
        .is_regex = req->regex,
        .host = req->host,
        .port = (uint16_t)req->port,
        .timeout_ms = req->timeout_ms,
        .cb = on_end,
        .ctx = ch,
    };
    return rt_wait(ch->conn->control->rt, &wait, &ch->waiter, err);
}
