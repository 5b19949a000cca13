/* SPDX-License-Identifier: MIT */
/*
 * cli - what a verb of the program nacre is: its row in the table, its arguments.
 *
 * Parsing, help, completion and the check of the manual page walk the table of
 * verbs (cli/verbs.h). A verb's function gets parsed arguments and returns the
 * exit status.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strv.h"

struct cli_args;

/* Exit statuses of nacre's own; a command's pass through unchanged. */
enum {
    CLI_OK = 0,
    CLI_UNMET = 1,       /* the answer is no: a check failed, the awaited thing did not come */
    CLI_USAGE = 2,       /* the command line makes no sense */
    CLI_TIMED_OUT = 124, /* as timeout(1) */
    CLI_FAILED = 125,    /* nacre itself failed */
    CLI_DENIED = 126,    /* the command may not run */
    CLI_SIGNALED = 128,  /* + the signal */
};

enum cli_type {
    CLI_FLAG,     /* bool */
    CLI_TEXT,     /* const char * */
    CLI_ENV,      /* struct strv, one NAME=VALUE per use */
    CLI_DURATION, /* int64_t, milliseconds, positive */
    CLI_LIMIT,    /* as CLI_DURATION, or "none": -1 */
    CLI_CURSOR,   /* uint64_t */
    CLI_PORT,     /* uint16_t, 1 to 65535 */
    CLI_SIGNAL,   /* int, 1 to 64 */
};

struct cli_option {
    const char *name; /* without dashes; NULL ends a table */
    char letter;      /* 0: none */
    enum cli_type type;
    size_t field;    /* offset in struct cli_args */
    const char *arg; /* "DURATION"; NULL for a flag */
    const char *help;
};

struct cli_verb {
    const char *name;     /* "exec", "session open"; NULL ends the table */
    const char *operands; /* as the usage line shows them; may be NULL */
    size_t min, max;      /* how many; max CLI_MANY: no limit */
    bool pass;            /* all that follows goes to another program as it is */
    const struct cli_option *options;
    const char *summary;
    const char *help; /* lines of further text, may be NULL */
    int (*run)(const struct cli_args *args);
};

enum { CLI_MANY = 1 << 20 };

/* What a command line says; a zeroed field was not given. */
struct cli_args {
    const struct cli_verb *verb; /* NULL when none was named */
    const char *group;           /* "session" when help for the group is wanted */
    bool help;
    bool version;

    bool all, background, end, follow, from_stdin, json, only_stderr, only_stdout, plain, pty, tree;
    const char *cwd, *file, *kind, *log, *log_regex, *name, *output, *session;
    int64_t grace_ms, timeout_ms, yield_ms;
    uint64_t cursor;
    uint16_t port;
    int signal;
    struct strv env;

    char **operands; /* n_operands and a NULL */
    size_t n_operands;
    size_t n_plain; /* of these, how many came before "--" */
};

#endif
