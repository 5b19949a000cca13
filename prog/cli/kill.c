/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/signame.h"
#include "cli/call.h"
#include "cli/report.h"
#include "cli/verbs.h"
#include "client/client.h"
#include "json/read.h"
#include "json/write.h"

enum { RUNGS = 3 /* INT, TERM, KILL */, END_MS = 30000 };

struct killing {
    const struct cli_args *args;
    struct client *client;
    struct arena arena;
    const char *id;
};

static int send_signal(struct killing *k, struct err *err)
{
    char name[SIGNAME_SIZE];
    struct json_w *w = client_begin(k->client, "signal");
    json_w_kstr(w, "id", k->id);
    json_w_kstr(w, "signal", signame_long(k->args->signal, name));
    return client_call(k->client, &k->arena, CLIENT_WAIT, NULL, err);
}

/* One request goes one rung further. A command that has ended is what is wanted. */
static int stop(struct killing *k, struct err *err)
{
    int n = k->args->tree ? RUNGS : 1, rc = 0;
    for (int i = 0; i < n && rc == 0; i++) {
        json_w_kstr(client_begin(k->client, "stop"), "id", k->id);
        rc = client_call(k->client, &k->arena, CLIENT_WAIT, NULL, err);
        if (rc == -ERR_EXITED && i == 0)
            cli_note(k->args, "%s", err->text);
    }
    if (rc == -ERR_EXITED)
        return 0;
    if (rc < 0)
        return rc;
    struct json_w *w = client_begin(k->client, "wait");
    json_w_kstr(w, "id", k->id);
    json_w_kstr(w, "until", "exit");
    json_w_kint(w, "timeoutMs", END_MS);
    const struct json_node *result;
    rc = client_call(k->client, &k->arena, CLIENT_WAIT, &result, err);
    if (rc < 0)
        return rc;
    const char *end = json_cstr(json_get(result, "end"));
    if (end && strcmp(end, "timeout") == 0)
        return err_set(err, ERR_TIMEOUT, "command '%s' has not ended after %d s; try --tree", k->id,
                       END_MS / 1000);
    return 0;
}

static int print_result(struct killing *k, struct err *err)
{
    const struct json_node *result;
    json_w_kstr(client_begin(k->client, "result"), "id", k->id);
    int rc = client_call(k->client, &k->arena, CLIENT_WAIT, &result, err);
    if (rc == 0)
        cli_print_json(result);
    return rc;
}

/* Goes through all, whatever becomes of one. */
static int kill_all(struct killing *k)
{
    int status = CLI_OK;
    for (size_t i = 0; i < k->args->n_operands; i++) {
        struct err err;
        arena_clear(&k->arena);
        k->id = k->args->operands[i];
        int rc = k->args->signal ? send_signal(k, &err) : stop(k, &err);
        if (rc == 0 && k->args->json)
            rc = print_result(k, &err);
        if (rc < 0)
            status = cli_fail(k->args, &err);
    }
    return cli_flush(k->args, status);
}

int cli_kill(const struct cli_args *args)
{
    if (args->signal && args->tree)
        return cli_usage(args, "--tree goes up to KILL by itself: -s makes no sense with it");
    struct killing k = {.args = args};
    arena_init(&k.arena, CLI_ANSWER_MAX);
    struct err err;
    if (cli_connect(&k.client, &err) < 0)
        return cli_fail(args, &err);
    int status = kill_all(&k);
    client_free(k.client);
    arena_done(&k.arena);
    return status;
}
