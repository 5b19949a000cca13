/* SPDX-License-Identifier: MIT */
/* cli/path - directories that mean the same to a daemon which runs elsewhere. */
#ifndef CLI_PATH_H
#define CLI_PATH_H

struct err;

/*
 * The absolute path of dir; NULL stands for the current directory. For the caller to free.
 * -ERR_NOT_FOUND when the current directory is needed and has been removed.
 */
int cli_path_resolve(const char *dir, char **ret, struct err *err);

#endif
