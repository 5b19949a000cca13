/* SPDX-License-Identifier: MIT */
/*
 * The operations: which fields each knows (wire/proto.h says what they mean) and
 * which function does it.
 */
#include <string.h>

#include "base/err.h"
#include "control/priv.h"
#include "json/read.h"

#define B(field)   FIELD_BIT(FIELD_##field)
#define COMMAND_ID (B(ID) | B(CHANNEL))

/* For operations on a command: exactly one of the two names it. */
enum { NO_COMMAND, NEEDS_COMMAND };

static const struct op {
    const char *name;
    op_fn fn;
    int command;
    uint64_t required, optional;
} ops[] = {
    {"hello",           op_hello,            NO_COMMAND,    B(PROTOCOL),          B(CLIENT)                                              },
    {"status",          op_status,           NO_COMMAND,    0,                    0                                                      },
    {"shutdown",        op_shutdown,         NO_COMMAND,    0,                    0                                                      },
    {"detach",          op_detach,           NO_COMMAND,    B(CHANNEL),           0                                                      },
    {"exec",            op_exec,             NO_COMMAND,    B(TEXT),
     B(SESSION) | B(CREATE) | B(KIND) | B(CWD) | B(START_CWD) | B(ENV) | B(TIMEOUT) | B(GRACE) |
         B(YIELD) | B(STDIN) | B(STDIN_OPEN) | B(BACKGROUND) | B(WAIT) | B(PTY) | B(ROWS) |
         B(COLS) | B(STREAM)                                                                                                             },
    {"input",           op_input,            NEEDS_COMMAND, 0,                    COMMAND_ID | B(DATA) | B(END) | B(STREAM)              },
    {"inputEnd",        op_input_end,        NEEDS_COMMAND, 0,                    COMMAND_ID                                             },
    {"resize",          op_resize,           NEEDS_COMMAND, B(ROWS) | B(COLS),    COMMAND_ID                                             },
    {"signal",          op_signal,           NEEDS_COMMAND, B(SIGNAL),            COMMAND_ID                                             },
    {"stop",            op_stop,             NEEDS_COMMAND, 0,                    COMMAND_ID                                             },
    {"result",          op_result,           NEEDS_COMMAND, 0,                    COMMAND_ID                                             },
    {"ps",              op_ps,               NO_COMMAND,    0,                    B(SESSION) | B(ALL)                                    },
    {"logs",            op_logs,             NEEDS_COMMAND, 0,                    COMMAND_ID | B(CURSOR) | B(FOLLOW) | B(FILTER) | B(MAX)},
    {"wait",            op_wait,             NEEDS_COMMAND, B(UNTIL),
     COMMAND_ID | B(PATTERN) | B(REGEX) | B(HOST) | B(PORT) | B(TIMEOUT)                                                                 },
    {"sessionOpen",     op_session_open,     NO_COMMAND,    0,
     B(SESSION) | B(KIND) | B(CWD) | B(ENV) | B(STATE) | B(MAY_EXIST)                                                                    },
    {"sessionList",     op_session_list,     NO_COMMAND,    0,                    0                                                      },
    {"sessionShow",     op_session_show,     NO_COMMAND,    B(SESSION),           0                                                      },
    {"sessionClose",    op_session_close,    NO_COMMAND,    B(SESSION),           0                                                      },
    {"sessionReset",    op_session_reset,    NO_COMMAND,    B(SESSION),           0                                                      },
    {"sessionFork",     op_session_fork,     NO_COMMAND,    B(SESSION),           B(NEW_SESSION)                                         },
    {"sessionSnapshot", op_session_snapshot, NO_COMMAND,    B(SESSION) | B(NAME), 0                                                      },
    {"sessionRestore",  op_session_restore,  NO_COMMAND,    B(SESSION) | B(NAME), 0                                                      },
    {"sessionExport",   op_session_export,   NO_COMMAND,    B(SESSION),           0                                                      },
    {"sessionImport",   op_session_import,   NO_COMMAND,    B(FILE),              B(NEW_SESSION)                                         },
};

enum { ARENA_KEEP = 256 * 1024 };

static const struct op *find_op(const char *name)
{
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        if (strcmp(ops[i].name, name) == 0)
            return &ops[i];
    return NULL;
}

/* The command that the request names, as an id. */
static int resolve_command(const struct channel *ch, struct request *req, struct err *err)
{
    bool by_channel = req->given & B(CHANNEL), by_id = req->given & B(ID);
    if (by_channel == by_id)
        return err_set(err, ERR_INVALID, "fields 'id' and 'channel': expected one of them");
    if (by_id)
        return 0;
    const struct channel *other = channel_find(ch->conn, (uint32_t)req->channel);
    if (!other || !other->run)
        return err_set(err, ERR_NOT_FOUND, "channel %u runs no command", (unsigned)req->channel);
    req->id = other->run->id;
    return 0;
}

static int handle(struct channel *ch, const struct json_node *root, struct err *err)
{
    if (json_type(root) != JSON_OBJECT)
        return err_set(err, ERR_INVALID, "request: expected an object, not %s",
                       json_type_name(json_type(root)));
    struct request req = {.op = json_cstr(json_get(root, "op"))};
    const struct op *op = req.op ? find_op(req.op) : NULL;
    if (!req.op)
        return err_set(err, ERR_INVALID, "field 'op': expected the name of an operation");
    if (!op)
        return err_set(err, ERR_UNSUPPORTED, "no operation '%.40s'", req.op);
    if (!ch->conn->said_hello && op->fn != op_hello)
        return err_set(err, ERR_PROTOCOL, "'%s' comes before 'hello'", req.op);
    if (ch->conn->n_channels > WIRE_CHANNELS_MAX)
        return err_set(err, ERR_BUSY, "%d requests are open, the maximum", WIRE_CHANNELS_MAX);

    int rc = request_read(root, op->required | op->optional, op->required,
                          &ch->conn->control->arena, &req, err);
    if (rc == 0 && op->command == NEEDS_COMMAND)
        rc = resolve_command(ch, &req, err);
    return rc < 0 ? rc : op->fn(ch, &req, err);
}

void ops_handle(struct channel *ch, const struct wire_frame *frame)
{
    struct control *control = ch->conn->control;
    struct conn *conn = ch->conn;
    struct json_node *root;
    struct err err = {0};
    static const struct json_limits limits = {.dup = JSON_DUP_ERROR};
    int rc = json_parse(frame->data, frame->len, &limits, &control->arena, &root, &err);
    if (rc < 0)
        rc = err_wrap(&err, rc, "request");
    else
        rc = handle(ch, root, &err);
    if (rc < 0) {
        if (!err.code) /* a failure whose reason nobody has told */
            (void)err_wrap(&err, rc, "request");
        if (!conn->said_hello) /* whoever begins like that speaks something else */
            conn->ending = true;
        answer_error(ch, &err);
    }
    if (control->arena.used > ARENA_KEEP)
        arena_done(&control->arena);
    else
        arena_clear(&control->arena);
}
