/* SPDX-License-Identifier: MIT */
/* cli/probe - what nacre's own parts say when they are tried. */
#ifndef CLI_PROBE_H
#define CLI_PROBE_H

#include <stddef.h>

struct err;

/* Starts a program through nacre-spawn and waits for its end; ret says which nacre-spawn. */
int cli_probe_spawn(char *ret, size_t size, struct err *err);

/* What is known of the daemon; it is well if one runs, or could be started. */
int cli_probe_daemon(char *ret, size_t size, struct err *err);

#endif
