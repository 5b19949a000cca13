/* SPDX-License-Identifier: MIT */
/* cli/check - what nacre needs on a machine, looked at one by one. */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

#include <stddef.h>

#include "base/err.h"

/* What a check found. */
struct cli_check_result {
    char detail[ERR_TEXT_SIZE]; /* what is there, or why it failed */
    const char *hint;           /* how to mend it; static; NULL when all is well */
};

struct cli_check {
    const char *name; /* NULL ends the table */
    const char *hint; /* when it fails and says nothing better */
    int (*run)(struct cli_check_result *ret, struct err *err);
};

extern const struct cli_check cli_checks[];

/* Runs one: 0, or the failure's code; ret is filled in either case. */
int cli_check_run(const struct cli_check *check, struct cli_check_result *ret);

#endif
