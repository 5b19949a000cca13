/* SPDX-License-Identifier: MIT */
#include "cli/report.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

/* "nacre exec: " */
static void start_line(const struct cli_args *args)
{
    const char *name = args->verb ? args->verb->name : args->group;
    (void)fprintf(stderr, "nacre%s%s: ", name ? " " : "", name ? name : "");
}

/* Where to look for what was not found; "" if nothing is known. */
static const char *hint_of(const struct err *err)
{
    static const struct {
        const char *text, *hint;
    } hints[] = {
        {"no command '", "; 'nacre ps -a' lists those that are known"},
        {"no session '", "; 'nacre session list' lists them"         },
    };
    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
        if (err->code == ERR_NOT_FOUND &&
            strncmp(err->text, hints[i].text, strlen(hints[i].text)) == 0)
            return hints[i].hint;
    return "";
}

int cli_fail(const struct cli_args *args, const struct err *err)
{
    start_line(args);
    (void)fprintf(stderr, "%s%s\n", err->text, hint_of(err));
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
    (void)vfprintf(stdout, fmt, list); /* cli_flush() looks at the stream's error */
    va_end(list);
}

void cli_print_bytes(const void *p, size_t n)
{
    (void)fwrite(p, 1, n, stdout);
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
    if (errno == EPIPE)
        cli_broken_pipe();
    struct err err;
    (void)err_set(&err, errno ? errno : EIO, "write to standard output");
    return cli_fail(args, &err);
}
