/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/err.h"
#include "capture/log.h"
#include "control/priv.h"

static int find_filter(const char *name, int *ret, struct err *err)
{
    if (!name)
        *ret = CAPTURE_OUTPUT;
    else if (strcmp(name, "stdout") == 0)
        *ret = CAPTURE_STDOUT;
    else if (strcmp(name, "stderr") == 0)
        *ret = CAPTURE_STDERR;
    else
        return err_set(err, ERR_INVALID,
                       "field 'filter': expected 'stdout' or 'stderr', not '%.40s'", name);
    return 0;
}

static void answer_logs(struct channel *ch, const char *id, uint64_t cursor)
{
    const struct command *c = rt_find_command(ch->conn->control->rt, id);
    struct answer a;
    struct json_w *w = answer_begin(&a, ch);
    json_w_obj(w);
    json_w_kuint(w, "cursor", cursor);
    json_w_kstr(w, "status", c ? rt_status_name(c) : NULL);
    json_w_obj_end(w);
    answer_end(&a);
}

void logs_finish(struct channel *ch)
{
    answer_logs(ch, ch->stream->id, ch->stream->cursor);
}

int op_logs(struct channel *ch, const struct request *req, struct err *err)
{
    const struct command *c = rt_find_command(ch->conn->control->rt, req->id);
    if (!c)
        return err_set(err, ERR_NOT_FOUND, "no command '%.80s' with a log", req->id);
    struct control_stream stream = {
        .cursor = (uint64_t)req->cursor,
        .left = req->max ? (uint64_t)req->max : UINT64_MAX,
        .target = req->follow ? UINT64_MAX : capture_log_bytes(c->log, CAPTURE_OUTPUT),
        .is_logs = true,
    };
    int rc = find_filter(req->filter, &stream.filter, err);
    if (rc < 0)
        return rc;
    if (stream.cursor == stream.target) { /* there is nothing to read, now or later */
        answer_logs(ch, req->id, stream.cursor);
        return 0;
    }
    return stream_start(ch, req->id, &stream, err);
}
