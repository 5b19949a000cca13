/* SPDX-License-Identifier: MIT */
#include "base/err.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

enum { FIRST_CODE = ERR_SYNTAX };

static const struct {
    const char *name; /* on the wire */
    const char *text; /* for people */
} codes[] = {
    [ERR_SYNTAX - FIRST_CODE] = {"syntax_error",     "syntax error"                    },
    [ERR_DENIED - FIRST_CODE] = {"denied",           "denied"                          },
    [ERR_LIMIT - FIRST_CODE] = {"limit_exceeded",   "limit exceeded"                  },
    [ERR_BUSY - FIRST_CODE] = {"busy",             "busy"                            },
    [ERR_NOT_FOUND - FIRST_CODE] = {"not_found",        "not found"                       },
    [ERR_EXISTS - FIRST_CODE] = {"already_exists",   "exists already"                  },
    [ERR_INVALID - FIRST_CODE] = {"invalid_argument", "invalid argument"                },
    [ERR_TIMEOUT - FIRST_CODE] = {"timeout",          "timed out"                       },
    [ERR_CLOSED - FIRST_CODE] = {"closed",           "closed"                          },
    [ERR_LOST - FIRST_CODE] = {"session_lost",     "the session was lost"            },
    [ERR_SPAWN - FIRST_CODE] = {"spawn_failed",     "the program could not be started"},
    [ERR_PROTOCOL - FIRST_CODE] = {"protocol_error",   "protocol error"                  },
    [ERR_EXITED - FIRST_CODE] = {"already_exited",   "has ended already"               },
    [ERR_UNSUPPORTED - FIRST_CODE] = {"unsupported",      "not supported here"              },
    [ERR_STORAGE - FIRST_CODE] = {"storage_error",    "storage error"                   },
    [ERR_INTERNAL - FIRST_CODE] = {"internal",         "internal error"                  },
};

enum { N_CODES = sizeof(codes) / sizeof(codes[0]) };
_Static_assert(ERR_CODE_END - FIRST_CODE == N_CODES, "a code without a row in the table");

/* Invalid bytes become '?': the text goes into JSON answers as it is. */
static void make_valid(char *text, size_t len)
{
    for (size_t at = utf8_valid_prefix(text, len); at < len;
         at += utf8_valid_prefix(text + at, len - at))
        text[at++] = '?';
}

/* Cuts text, which holds len bytes, to at most max; "..." shows that something is missing. */
static size_t shorten(char *text, size_t len, size_t max)
{
    if (len <= max)
        return len;
    size_t cut = max < 3 ? 0 : utf8_floor(text, len, max - 3);
    for (len = cut; len < max && len < cut + 3; len++)
        text[len] = '.';
    return len;
}

/*
 * Makes text head and tail. If they are too long together, the head is cut to a third:
 * the reason stands at the end.
 */
static void join(struct err *err, char *head, const char *tail)
{
    enum { ROOM = ERR_TEXT_SIZE - 1 };
    char end[ERR_TEXT_SIZE];
    (void)snprintf(end, sizeof(end), "%s", tail);

    size_t end_len = strlen(end);
    size_t head_max = end_len < ROOM - ROOM / 3 ? ROOM - end_len : ROOM / 3;
    size_t head_len = shorten(head, strlen(head), head_max);
    end_len = shorten(end, end_len, ROOM - head_len);

    memcpy(err->text, head, head_len);
    memcpy(err->text + head_len, end, end_len);
    err->text[head_len + end_len] = '\0';
    make_valid(err->text, head_len + end_len);
}

/* More than fits the text in the end, so that join() sees that something is missing. */
__attribute__((format(printf, 2, 0))) static void format_head(char head[2 * ERR_TEXT_SIZE],
                                                              const char *fmt, va_list args)
{
    if (vsnprintf(head, (size_t)2 * ERR_TEXT_SIZE, fmt, args) < 0)
        head[0] = '\0';
}

const char *err_describe(int code)
{
    if (code < 0)
        code = -code;
    if (code >= FIRST_CODE && code < ERR_CODE_END)
        return codes[code - FIRST_CODE].text;
    const char *text = strerrordesc_np(code);
    return text ? text : "unknown error";
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
    assert(code > 0);
    if (!err)
        return -code;

    char head[2 * ERR_TEXT_SIZE];
    va_list args;
    va_start(args, fmt);
    format_head(head, fmt, args);
    va_end(args);

    char tail[128] = "";
    if (code < FIRST_CODE)
        (void)snprintf(tail, sizeof(tail), ": %s", err_describe(code));
    err->code = code;
    join(err, head, tail);
    return -code;
}

int err_wrap(struct err *err, int rc, const char *fmt, ...)
{
    assert(rc < 0);
    if (!err)
        return rc;

    char head[2 * ERR_TEXT_SIZE];
    va_list args;
    va_start(args, fmt);
    format_head(head, fmt, args);
    va_end(args);

    const char *reason = err->code ? err->text : err_describe(rc);
    char tail[ERR_TEXT_SIZE + 2];
    (void)snprintf(tail, sizeof(tail), ": %s", reason);
    err->code = -rc;
    join(err, head, tail);
    return rc;
}

void err_clear(struct err *err)
{
    if (!err)
        return;
    err->code = 0;
    err->text[0] = '\0';
}

const char *err_name(int code)
{
    if (code < 0)
        code = -code;
    if (code >= FIRST_CODE && code < ERR_CODE_END)
        return codes[code - FIRST_CODE].name;
    return "internal";
}

int err_from_name(const char *name)
{
    for (int i = 0; i < N_CODES; i++)
        if (strcmp(codes[i].name, name) == 0)
            return FIRST_CODE + i;
    return 0;
}
