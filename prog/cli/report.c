/* SPDX-License-Identifier: MIT */
#include "cli/report.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "json/write.h"
#include "wire/error.h"

enum { ERROR_OBJECT_MAX = 64 * 1024 };

static int print_error; /* of the first write to standard output that failed */

/* "nacre exec: " */
static void start_line(const struct cli_args *args)
{
    const char *name = args->verb ? args->verb->name : args->group;
    (void)fprintf(stderr, "nacre%s%s: ", name ? " " : "", name ? name : "");
}

/*
 * What to do about an error, by what its text starts with and, if that alone does not tell, holds;
 * verb NULL: of any. A "%s" is the first operand.
 */
static const struct hint {
    const char *start, *part, *verb, *hint;
} hints[] = {
    {"no command '",       "'",                      NULL,             "; 'nacre ps -a' lists those that are known"         },
    {"no session '",       "'",                      NULL,             "; 'nacre session list' lists them"                  },
    {"session '",          "' has no snapshot '",    NULL,             "; 'nacre session show %s' lists them"               },
    {"session '",          "' exists already",       "session import", "; --name NAME gives it another name"                },
    {"session '",          "' is running a command", NULL,             "; 'nacre ps' lists it, 'nacre kill' stops it"       },
    {"start the daemon '", " holds '",               NULL,             "; set NACRE_SOCKET to its socket, or XDG_STATE_HOME"},
    {"start the daemon '", "'",                      NULL,             "; 'nacre doctor' says how to mend it"               },
};

static bool fits(const struct hint *h, const struct cli_args *args, const char *text)
{
    size_t len = strlen(h->start);
    return strncmp(text, h->start, len) == 0 && strstr(text + len, h->part) &&
           (!h->verb || (args->verb && strcmp(args->verb->name, h->verb) == 0));
}

static void add_hint(const struct cli_args *args, const char *text)
{
    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
        if (!fits(&hints[i], args, text))
            continue;
        const char *hint = hints[i].hint, *name = strstr(hint, "%s");
        if (name)
            (void)fprintf(stderr, "%.*s%s%s", (int)(name - hint), hint,
                          args->n_operands ? args->operands[0] : "NAME", name + 2);
        else
            (void)fputs(hint, stderr);
        return;
    }
}

/* For a program that reads JSON and nothing else; stdio writes it at exit, if it can. */
static void print_error_object(const struct err *err)
{
    auto_buf struct buf text = BUF_INIT(ERROR_OBJECT_MAX);
    struct json_w w;
    json_w_init(&w, &text);
    wire_write_error(&w, err);
    if (json_w_finish(&w) == 0)
        cli_print("%.*s\n", (int)text.len, text.data);
}

int cli_fail(const struct cli_args *args, const struct err *err)
{
    start_line(args);
    (void)fputs(err->text, stderr);
    add_hint(args, err->text);
    (void)fputc('\n', stderr);
    if (args->json)
        print_error_object(err);
    return err->code == ERR_DENIED ? CLI_DENIED : CLI_FAILED;
}

int cli_usage(const struct cli_args *args, const char *fmt, ...)
{
    start_line(args);
    va_list list;
    va_start(list, fmt);
    (void)vfprintf(stderr, fmt, list);
    va_end(list);
    const char *name = args->verb ? args->verb->name : args->group;
    (void)fprintf(stderr, "\nTry 'nacre %s%s--help'.\n", name ? name : "", name ? " " : "");
    return CLI_USAGE;
}

void cli_note(const struct cli_args *args, const char *fmt, ...)
{
    start_line(args);
    va_list list;
    va_start(list, fmt);
    (void)vfprintf(stderr, fmt, list);
    va_end(list);
    (void)fputc('\n', stderr);
}

void cli_print(const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    if (vfprintf(stdout, fmt, list) < 0 && !print_error)
        print_error = errno;
    va_end(list);
}

void cli_print_bytes(const void *p, size_t n)
{
    if (fwrite(p, 1, n, stdout) < n && !print_error)
        print_error = errno;
}

void cli_broken_pipe(void)
{
    (void)signal(SIGPIPE, SIG_DFL);
    (void)raise(SIGPIPE);
    _exit(CLI_SIGNALED + SIGPIPE); /* whoever started us blocks the signal */
}

int cli_flush(const struct cli_args *args, int status)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    int error = print_error ? print_error : errno ? errno : EIO;
    if (error == EPIPE)
        cli_broken_pipe();
    struct err err;
    (void)err_set(&err, error, "write to standard output");
    return cli_fail(args, &err);
}
