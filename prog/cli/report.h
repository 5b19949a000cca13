/* SPDX-License-Identifier: MIT */
/* cli/report - what the program says itself, on both of its streams. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <stddef.h>

#include "cli/cli.h"

struct err;

/* "nacre exec: <text>" on standard error; returns CLI_FAILED, or CLI_DENIED for a refusal. */
int cli_fail(const struct cli_args *args, const struct err *err);

/* The same with a hint at --help; returns CLI_USAGE. */
int cli_usage(const struct cli_args *args, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The same line without any consequence. */
void cli_note(const struct cli_args *args, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* To standard output, buffered; the program ends with cli_flush(). */
void cli_print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void cli_print_bytes(const void *p, size_t n);

/*
 * Whether all that was printed has arrived: `status` if so; else it says why and returns
 * CLI_FAILED, or, if the reader has gone, ends the program as cli_broken_pipe() does.
 */
int cli_flush(const struct cli_args *args, int status);

/* The reader of standard output has gone: ends the program by SIGPIPE, as any tool would. */
_Noreturn void cli_broken_pipe(void);

#endif
