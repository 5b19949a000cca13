/* SPDX-License-Identifier: MIT */
/*
 * Input on its way from a channel to a command. The client may have a window of bytes
 * on their way; what the command has read, or refuses to read, makes room for more.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "control/priv.h"

enum { AGAIN_MS = 2 };

static size_t waiting(const struct channel *ch)
{
    const struct control_input *in = ch->input;
    const struct command *c = in->closed ? NULL : rt_find_command(ch->conn->control->rt, in->id);
    return in->held.len + (c ? c->stdin_pending : 0);
}

/*
 * Not for each byte: when all is taken, or a good part of the window. What waits may grow
 * without any of it being new: input that came before the command started, or with it.
 */
static void tell_taken(struct channel *ch)
{
    struct control_input *in = ch->input;
    size_t left = waiting(ch);
    uint64_t taken = in->received > left ? in->received - left : 0;
    if (taken <= in->told || (left && taken - in->told < WIRE_INPUT_WINDOW / 4))
        return;
    in->told = taken;
    struct answer a;
    struct json_w *w = event_begin(&a, ch, "input");
    json_w_kuint(w, "taken", taken);
    event_end(&a);
}

/* The command takes no more. What an exec says of it is its result. */
static void close_input(struct channel *ch, const struct err *err)
{
    struct control_input *in = ch->input;
    in->closed = true;
    buf_clear(&in->held);
    ev_timer_stop(&in->again);
    if (!in->answers)
        return;
    if (err)
        answer_error(ch, err);
    else
        answer_empty(ch);
}

/* Gives bytes to the command: whether it had room. */
static int give(struct channel *ch, const void *p, size_t n, struct err *err)
{
    return n ? rt_input(ch->conn->control->rt, ch->input->id, p, n, err) : 0;
}

/* What was held goes first, then the end. False when the channel may be gone. */
static bool go_on(struct channel *ch)
{
    struct control_input *in = ch->input;
    struct err err = {0};
    int rc = give(ch, in->held.data, in->held.len, &err);
    if (rc == -ERR_BUSY)
        return true;
    if (rc == 0) {
        buf_clear(&in->held);
        rc = in->end ? rt_input_end(ch->conn->control->rt, in->id, &err) : 0;
    }
    if (rc < 0 || in->end) {
        close_input(ch, rc < 0 ? &err : NULL);
        return false;
    }
    return true;
}

static void watch(struct channel *ch)
{
    tell_taken(ch);
    if (waiting(ch))
        ev_timer_start(&ch->input->again, AGAIN_MS);
}

static void on_again(void *ctx)
{
    struct channel *ch = ctx;
    if (go_on(ch))
        watch(ch);
}

void input_start(struct channel *ch, const char *id, bool answers)
{
    struct control_input *in = xnew(struct control_input);
    (void)snprintf(in->id, sizeof(in->id), "%s", id);
    buf_init(&in->held, WIRE_INPUT_WINDOW);
    in->answers = answers;
    ev_timer_init(ch->conn->control->ev, &in->again, on_again, ch);
    ch->input = in;
}

static void refuse(struct channel *ch, const char *why)
{
    struct err err = {0};
    (void)err_set(&err, ERR_PROTOCOL, "%s", why);
    answer_error(ch, &err);
}

void input_take(struct channel *ch, const void *p, size_t n)
{
    struct control_input *in = ch->input;
    if (!in || in->end) {
        refuse(ch, in ? "input after its end" : "input on a channel that takes none");
        return;
    }
    in->received += n;
    if (in->received - in->told > WIRE_INPUT_WINDOW) {
        refuse(ch, "more input on its way than the window allows");
        return;
    }
    if (in->closed) {
        tell_taken(ch);
        return;
    }
    struct err err = {0};
    int rc = in->held.len ? -ERR_BUSY : give(ch, p, n, &err);
    if (rc == -ERR_BUSY)
        rc = buf_append(&in->held, p, n); /* the window fits */
    if (rc < 0) {
        bool is_over = in->answers;
        close_input(ch, &err);
        if (is_over)
            return;
    }
    watch(ch);
}

void input_take_end(struct channel *ch)
{
    struct control_input *in = ch->input;
    if (!in || in->end) {
        refuse(ch, in ? "a second end of input" : "input on a channel that takes none");
        return;
    }
    in->end = true;
    if (!in->closed && go_on(ch))
        watch(ch);
}

void input_stop(struct channel *ch)
{
    struct control_input *in = ch->input;
    if (!in)
        return;
    ch->input = NULL;
    ev_timer_close(&in->again);
    buf_done(&in->held);
    free(in);
}
