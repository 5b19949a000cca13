/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "cli/call.h"
#include "cli/report.h"
#include "cli/verbs.h"
#include "client/client.h"
#include "json/write.h"
#include "wire/field.h"

enum { PIECE = 64 * 1024, RETRY_MS = 10, ARENA_MAX = 1024 * 1024, TEXT_MAX = 16 * 1024 * 1024 };

struct giving {
    const struct cli_args *args;
    struct client *client;
    struct arena arena;
};

/* Gives a piece; waits while the command has no room for it. */
static int give(struct giving *g, const void *p, size_t n, struct err *err)
{
    for (;;) {
        struct json_w *w = client_begin(g->client, "input");
        json_w_kstr(w, "id", g->args->operands[0]);
        wire_field_put(w, "data", p, n);
        arena_clear(&g->arena);
        int rc = client_call(g->client, &g->arena, CLIENT_WAIT, NULL, err);
        if (rc != -ERR_BUSY)
            return rc;
        (void)poll(NULL, 0, RETRY_MS);
    }
}

static int give_text(struct giving *g, const char *text, struct err *err)
{
    auto_buf struct buf line = BUF_INIT(TEXT_MAX);
    int rc = buf_printf(&line, "%s\n", text);
    if (rc < 0)
        return err_set(err, -rc, "text of over %d bytes", TEXT_MAX);
    for (size_t at = 0; at < line.len && rc == 0; at += PIECE)
        rc = give(g, line.data + at, line.len - at < PIECE ? line.len - at : PIECE, err);
    return rc;
}

static int give_stdin(struct giving *g, struct err *err)
{
    char piece[PIECE];
    bool given = g->args->end; /* what follows then asks for the command too */
    for (;;) {
        ssize_t n = read(STDIN_FILENO, piece, sizeof(piece));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(err, errno, "read standard input");
        if (n == 0 && given)
            return 0;
        int rc = give(g, piece, (size_t)n, err); /* even nothing: is there such a command? */
        if (rc < 0 || n == 0)
            return rc;
        given = true;
    }
}

static int give_all(struct giving *g, struct err *err)
{
    const struct cli_args *args = g->args;
    int rc = 0;
    if (args->operands[1])
        rc = give_text(g, args->operands[1], err);
    else if (!args->end || !isatty(STDIN_FILENO))
        rc = give_stdin(g, err);
    if (rc < 0 || !args->end)
        return rc;
    json_w_kstr(client_begin(g->client, "inputEnd"), "id", args->operands[0]);
    return client_call(g->client, &g->arena, CLIENT_WAIT, NULL, err);
}

int cli_input(const struct cli_args *args)
{
    struct giving g = {.args = args};
    arena_init(&g.arena, ARENA_MAX);
    struct err err;
    int rc = cli_connect(&g.client, &err);
    if (rc == 0)
        rc = give_all(&g, &err);
    client_free(g.client);
    arena_done(&g.arena);
    return rc < 0 ? cli_fail(args, &err) : CLI_OK;
}
