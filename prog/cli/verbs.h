/* SPDX-License-Identifier: MIT */
/*
 * cli/verbs - the table of verbs and the functions it names.
 *
 * A new verb is a row in verbs.c, a function in a file of its name, and an item in
 * docs/man/nacre.1; tests/system/docs.py fails when the last is forgotten.
 */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "cli/cli.h"

/* Ends with a row whose name is NULL. */
extern const struct cli_verb cli_verbs[];

int cli_attach(const struct cli_args *args);
int cli_completion(const struct cli_args *args);
int cli_doctor(const struct cli_args *args);
int cli_exec(const struct cli_args *args);
int cli_help(const struct cli_args *args);
int cli_input(const struct cli_args *args);
int cli_kill(const struct cli_args *args);
int cli_logs(const struct cli_args *args);
int cli_profile_check(const struct cli_args *args);
int cli_profile_list(const struct cli_args *args);
int cli_profile_show(const struct cli_args *args);
int cli_ps(const struct cli_args *args);
int cli_result(const struct cli_args *args);
int cli_serve(const struct cli_args *args);
int cli_session_close(const struct cli_args *args);
int cli_session_export(const struct cli_args *args);
int cli_session_fork(const struct cli_args *args);
int cli_session_import(const struct cli_args *args);
int cli_session_list(const struct cli_args *args);
int cli_session_open(const struct cli_args *args);
int cli_session_reset(const struct cli_args *args);
int cli_session_restore(const struct cli_args *args);
int cli_session_show(const struct cli_args *args);
int cli_session_snapshot(const struct cli_args *args);
int cli_shutdown(const struct cli_args *args);
int cli_version(const struct cli_args *args);
int cli_wait(const struct cli_args *args);

#endif
