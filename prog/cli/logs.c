/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"
#include "capture/log.h"
#include "capture/plain.h"
#include "cli/call.h"
#include "cli/report.h"
#include "cli/verbs.h"
#include "client/client.h"
#include "json/write.h"
#include "wire/field.h"

enum { PIECE_MAX = 4 * 1024 * 1024, SETTLE_MS = 50 };

struct printing {
    const struct cli_args *args;
    struct client *client;
    struct capture_plain *plain[3]; /* by stream; NULL: raw */
    struct buf piece;
    int error; /* of writing */
};

/* Straight to the descriptor: a reader sees what there is at once. */
static void write_out(struct printing *p, int stream, const void *data, size_t n)
{
    int rc = io_write_all(stream == CAPTURE_STDERR ? STDERR_FILENO : STDOUT_FILENO, data, n);
    if (rc < 0 && stream == CAPTURE_STDOUT)
        p->error = -rc;
}

static void write_json(struct printing *p, const struct client_message *m)
{
    struct json_w w;
    buf_clear(&p->piece);
    json_w_init(&w, &p->piece);
    json_w_obj(&w);
    if (m->what == CLIENT_GAP) {
        json_w_kobj(&w, "gap");
        json_w_kuint(&w, "from", m->from);
        json_w_kuint(&w, "to", m->to);
        json_w_obj_end(&w);
    } else {
        json_w_kstr(&w, "stream", m->stream == CAPTURE_STDERR ? "stderr" : "stdout");
        bool is_base64;
        json_w_key(&w, "text");
        json_w_bytes(&w, m->data, m->len, &is_base64);
        json_w_kstr(&w, "encoding", is_base64 ? "base64" : "utf-8");
        json_w_kuint(&w, "cursor", m->cursor + m->len);
    }
    json_w_obj_end(&w);
    (void)buf_append_byte(&p->piece, '\n');
    write_out(p, CAPTURE_STDOUT, p->piece.data, p->piece.len);
}

static void write_piece(struct printing *p, const struct client_message *m)
{
    if (p->args->json) {
        write_json(p, m);
    } else if (m->what == CLIENT_GAP) {
        cli_note(p->args, "%llu bytes are no longer held", (unsigned long long)(m->to - m->from));
    } else if (p->plain[m->stream]) {
        buf_clear(&p->piece);
        (void)capture_plain_feed(p->plain[m->stream], m->data, m->len, &p->piece);
        write_out(p, m->stream, p->piece.data, p->piece.len);
    } else {
        write_out(p, m->stream, m->data, m->len);
    }
}

/* An unfinished line, when nothing followed it for a moment or at the end. */
static void write_rest(struct printing *p, bool at_end)
{
    for (int stream = CAPTURE_STDOUT; stream <= CAPTURE_STDERR; stream++) {
        if (!p->plain[stream])
            continue;
        buf_clear(&p->piece);
        (void)(at_end ? capture_plain_end(p->plain[stream], &p->piece)
                      : capture_plain_flush(p->plain[stream], &p->piece));
        write_out(p, stream, p->piece.data, p->piece.len);
    }
}

static int print_all(struct printing *p, struct err *err)
{
    while (!p->error) {
        struct client_message m;
        int rc =
            client_next(p->client, p->plain[CAPTURE_STDOUT] ? SETTLE_MS : CLIENT_WAIT, &m, err);
        if (rc < 0)
            return rc;
        if (rc == 0)
            write_rest(p, false);
        else if (m.what == CLIENT_OUTPUT || m.what == CLIENT_GAP)
            write_piece(p, &m);
        else if (m.what == CLIENT_ERROR)
            return err_set(err, -m.code, "%s", m.text);
        else if (m.what == CLIENT_RESULT)
            break;
    }
    write_rest(p, true);
    return p->error ? err_set(err, p->error, "write to standard output") : 0;
}

static int ask(struct printing *p, struct err *err)
{
    const struct cli_args *args = p->args;
    struct json_w *w = client_begin(p->client, "logs");
    json_w_kstr(w, "id", args->operands[0]);
    cli_put_number(w, "cursor", (int64_t)args->cursor);
    json_w_kbool(w, "follow", args->follow);
    if (args->only_stdout || args->only_stderr)
        json_w_kstr(w, "filter", args->only_stdout ? "stdout" : "stderr");
    return client_send(p->client, NULL, err);
}

int cli_logs(const struct cli_args *args)
{
    if (args->only_stdout && args->only_stderr)
        return cli_usage(args, "--stdout and --stderr exclude each other; without them both come");
    if (args->json && args->plain)
        return cli_usage(args, "--plain is for people: it makes no sense with --json");
    struct printing p = {.args = args, .piece = BUF_INIT(PIECE_MAX)};
    if (args->plain) {
        p.plain[CAPTURE_STDOUT] = capture_plain_new();
        p.plain[CAPTURE_STDERR] = capture_plain_new();
    }
    struct err err;
    int rc = cli_connect(&p.client, &err);
    if (rc == 0)
        rc = ask(&p, &err);
    if (rc == 0)
        rc = print_all(&p, &err);
    client_free(p.client);
    capture_plain_free(p.plain[CAPTURE_STDOUT]);
    capture_plain_free(p.plain[CAPTURE_STDERR]);
    buf_done(&p.piece);
    if (p.error == EPIPE)
        cli_broken_pipe();
    return rc < 0 ? cli_fail(args, &err) : CLI_OK;
}
