/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/signame.h"
#include "control/priv.h"
#include "json/read.h"
#include "wire/field.h"

/* TEXT64, BYTES and ENV may come as base64 under `x64`. */
enum field_type { TEXT, TEXT64, BYTES, BOOL, INT, ENV, SIGNAL };

/* Ten years: far from what overflows in nanoseconds. */
#define MS_MAX INT64_C(315360000000)
/* Integers that survive every JSON reader. */
#define EXACT_MAX (INT64_C(1) << 53)

#define AT(member) offsetof(struct request, member)

static const struct field {
    const char *name;
    enum field_type type;
    size_t at;
    int64_t min, max; /* INT */
} fields[N_FIELDS] = {
    [FIELD_PROTOCOL] = {"protocol",   INT,    AT(protocol),    0,  EXACT_MAX },
    [FIELD_CLIENT] = {"client",     TEXT,   AT(client),      0,  0         },
    [FIELD_SESSION] = {"session",    TEXT,   AT(session),     0,  0         },
    [FIELD_NEW_SESSION] = {"newSession", TEXT,   AT(new_session), 0,  0         },
    [FIELD_NAME] = {"name",       TEXT,   AT(name),        0,  0         },
    [FIELD_KIND] = {"kind",       TEXT,   AT(kind),        0,  0         },
    [FIELD_CWD] = {"cwd",        TEXT64, AT(cwd),         0,  0         },
    [FIELD_START_CWD] = {"startCwd",   TEXT64, AT(start_cwd),   0,  0         },
    [FIELD_ENV] = {"env",        ENV,    AT(env),         0,  0         },
    [FIELD_TEXT] = {"text",       BYTES,  AT(text),        0,  0         },
    [FIELD_STDIN] = {"stdin",      BYTES,  AT(stdin_data),  0,  0         },
    [FIELD_DATA] = {"data",       BYTES,  AT(data),        0,  0         },
    [FIELD_STATE] = {"state",      BYTES,  AT(state),       0,  0         },
    [FIELD_FILE] = {"file",       BYTES,  AT(file),        0,  0         },
    [FIELD_CREATE] = {"create",     BOOL,   AT(create),      0,  0         },
    [FIELD_BACKGROUND] = {"background", BOOL,   AT(background),  0,  0         },
    [FIELD_WAIT] = {"wait",       BOOL,   AT(wait),        0,  0         },
    [FIELD_STDIN_OPEN] = {"stdinOpen",  BOOL,   AT(stdin_open),  0,  0         },
    [FIELD_PTY] = {"pty",        BOOL,   AT(pty),         0,  0         },
    [FIELD_STREAM] = {"stream",     BOOL,   AT(stream),      0,  0         },
    [FIELD_ALL] = {"all",        BOOL,   AT(all),         0,  0         },
    [FIELD_FOLLOW] = {"follow",     BOOL,   AT(follow),      0,  0         },
    [FIELD_END] = {"end",        BOOL,   AT(end),         0,  0         },
    [FIELD_REGEX] = {"regex",      BOOL,   AT(regex),       0,  0         },
    [FIELD_MAY_EXIST] = {"mayExist",   BOOL,   AT(may_exist),   0,  0         },
    [FIELD_ROWS] = {"rows",       INT,    AT(rows),        1,  UINT16_MAX},
    [FIELD_COLS] = {"cols",       INT,    AT(cols),        1,  UINT16_MAX},
    [FIELD_PORT] = {"port",       INT,    AT(port),        1,  UINT16_MAX},
    [FIELD_TIMEOUT] = {"timeoutMs",  INT,    AT(timeout_ms),  -1, MS_MAX    },
    [FIELD_GRACE] = {"graceMs",    INT,    AT(grace_ms),    1,  MS_MAX    },
    [FIELD_YIELD] = {"yieldMs",    INT,    AT(yield_ms),    1,  MS_MAX    },
    [FIELD_CURSOR] = {"cursor",     INT,    AT(cursor),      0,  EXACT_MAX },
    [FIELD_MAX] = {"max",        INT,    AT(max),         1,  EXACT_MAX },
    [FIELD_ID] = {"id",         TEXT,   AT(id),          0,  0         },
    [FIELD_CHANNEL] = {"channel",    INT,    AT(channel),     1,  UINT32_MAX},
    [FIELD_SIGNAL] = {"signal",     SIGNAL, AT(signal),      0,  0         },
    [FIELD_UNTIL] = {"until",      TEXT,   AT(until),       0,  0         },
    [FIELD_PATTERN] = {"pattern",    TEXT64, AT(pattern),     0,  0         },
    [FIELD_HOST] = {"host",       TEXT,   AT(host),        0,  0         },
    [FIELD_FILTER] = {"filter",     TEXT,   AT(filter),      0,  0         },
};

static int expected(const struct field *f, const char *what, const struct json_node *node,
                    struct err *err)
{
    return err_set(err, ERR_INVALID, "field '%s': expected %s, not %s", f->name, what,
                   json_type_name(json_type(node)));
}

static int read_int(const struct field *f, const struct json_node *node, int64_t *ret,
                    struct err *err)
{
    const char *text = json_number_text(node, NULL);
    if (!text)
        return expected(f, "a number", node, err);
    if (json_i64(node, ret) < 0 || *ret < f->min || *ret > f->max)
        return err_set(err, ERR_INVALID,
                       "field '%s': expected an integer from %lld to %lld, not %s", f->name,
                       (long long)f->min, (long long)f->max, text);
    return 0;
}

/* Adds {"K": "V"} to items as "K=V"; which names and sizes are possible is the runtime's to say. */
static int add_env(const char *name, const struct json_node *node, struct arena *arena,
                   const char **items, size_t *n, struct err *err)
{
    bool coded = strcmp(name, "env") != 0;
    JSON_FOREACH(value, node)
    {
        const char *key = json_key(value, NULL);
        const char *text = NULL;
        int rc = 0;
        if (coded)
            rc = wire_field_decode(value, name, arena, &text, err);
        else
            text = json_cstr(value);
        if (rc < 0)
            return rc;
        if (!text || strlen(key) == 0 || strchr(key, '='))
            return err_set(err, ERR_INVALID,
                           "field '%s': expected names without '=' and texts without NUL", name);
        char *item = arena_printf(arena, "%s=%s", key, text);
        if (!item)
            return err_set(err, ERR_LIMIT, "field '%s': request too large", name);
        items[(*n)++] = item;
    }
    return 0;
}

/* `env` and `env64` together. */
static int read_env(const struct field *f, const struct json_node *root, struct arena *arena,
                    const char *const **ret, struct err *err)
{
    static const char *const names[] = {"env", "env64"};
    const struct json_node *nodes[] = {json_get(root, names[0]), json_get(root, names[1])};
    size_t n = 0, n_items = 0;
    for (int i = 0; i < 2; i++) {
        if (nodes[i] && json_type(nodes[i]) != JSON_OBJECT)
            return expected(f, "an object", nodes[i], err);
        n_items += nodes[i] ? json_len(nodes[i]) : 0;
    }
    const char **items = arena_zalloc_n(arena, n_items + 1, sizeof(*items));
    if (!items)
        return err_set(err, ERR_LIMIT, "field '%s': request too large", f->name);
    int rc = 0;
    for (int i = 0; i < 2 && rc == 0; i++)
        if (nodes[i])
            rc = add_env(names[i], nodes[i], arena, items, &n, err);
    if (rc == 0)
        *ret = items;
    return rc;
}

static int read_signal(const struct field *f, const struct json_node *node, int *ret,
                       struct err *err)
{
    const char *text = json_cstr(node);
    if (!text)
        text = json_number_text(node, NULL);
    int signo = text ? signame_parse(text) : -ERR_INVALID;
    if (signo <= 0)
        return err_set(err, ERR_INVALID,
                       "field '%s': expected the name or number of a signal, not '%.40s'", f->name,
                       text ? text : json_type_name(json_type(node)));
    *ret = signo;
    return 0;
}

static int read_text(const struct field *f, const struct json_node *node, const char **ret,
                     struct err *err)
{
    *ret = json_cstr(node);
    if (*ret)
        return 0;
    if (json_type(node) == JSON_STRING)
        return err_set(err, ERR_INVALID, "field '%s': expected a text without NUL", f->name);
    return expected(f, "a string", node, err);
}

static int read_bytes(const struct field *f, const struct json_node *root, struct arena *arena,
                      struct request_bytes *ret, struct err *err)
{
    return wire_field_bytes(root, f->name, arena, &ret->p, &ret->len, err);
}

static int read_field(const struct field *f, const struct json_node *root,
                      const struct json_node *node, struct arena *arena, struct request *ret,
                      struct err *err)
{
    void *to = (char *)ret + f->at;
    switch (f->type) {
    case TEXT:
        return read_text(f, node, to, err);
    case TEXT64:
        return wire_field_cstr(root, f->name, arena, to, err);
    case BYTES:
        return read_bytes(f, root, arena, to, err);
    case BOOL:
        return json_bool(node, to) < 0 ? expected(f, "true or false", node, err) : 0;
    case INT:
        return read_int(f, node, to, err);
    case ENV:
        return read_env(f, root, arena, to, err);
    case SIGNAL:
        return read_signal(f, node, to, err);
    }
    return err_set(err, ERR_INTERNAL, "field '%s'", f->name);
}

static bool may_be_coded(enum field_type type)
{
    return type == TEXT64 || type == BYTES || type == ENV;
}

/* The field that a key names, `x64` being `x` if that may be; N_FIELDS if there is none. */
static enum request_field find_field(const char *key, size_t len)
{
    for (int i = 0; i < N_FIELDS; i++) {
        size_t name_len = strlen(fields[i].name);
        bool coded = may_be_coded(fields[i].type) && len == name_len + 2 &&
                     memcmp(key + name_len, "64", 2) == 0;
        if ((len == name_len || coded) && memcmp(key, fields[i].name, name_len) == 0)
            return (enum request_field)i;
    }
    return N_FIELDS;
}

static int check_required(uint64_t missing, struct err *err)
{
    for (int i = 0; i < N_FIELDS; i++)
        if (missing & FIELD_BIT(i))
            return err_set(err, ERR_INVALID, "field '%s' is missing", fields[i].name);
    return 0;
}

int request_read(const struct json_node *root, uint64_t allowed, uint64_t required,
                 struct arena *arena, struct request *ret, struct err *err)
{
    JSON_FOREACH(value, root)
    {
        size_t len;
        const char *key = json_key(value, &len);
        if (strcmp(key, "op") == 0)
            continue;
        enum request_field field = find_field(key, len);
        if (field == N_FIELDS || !(allowed & FIELD_BIT(field)))
            return err_set(err, ERR_INVALID, "'%s' knows no field '%.40s'", ret->op, key);
        int rc = read_field(&fields[field], root, value, arena, ret, err);
        if (rc < 0)
            return rc;
        ret->given |= FIELD_BIT(field);
    }
    return check_required(required & ~ret->given, err);
}
