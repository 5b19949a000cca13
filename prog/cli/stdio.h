/* SPDX-License-Identifier: MIT */
/*
 * cli/stdio - the program's own descriptors without making others feel it.
 *
 * O_NONBLOCK belongs to the open file, which a terminal or pipe shares with the shell and with
 * other programs. So a stream that can block is opened anew where that is possible; where it is
 * not (sockets), the flag is set and is taken off again by cli_stdio_restore().
 */
#ifndef CLI_STDIO_H
#define CLI_STDIO_H

#include <stdbool.h>

/*
 * A non-blocking descriptor for what fd (0 to 2) is, close-on-exec; or -1 if fd never blocks
 * (a regular file) or is not open: then use fd itself.
 */
int cli_stdio_open(int fd, bool writes);

/* At the end of the program, and safe in a signal handler. */
void cli_stdio_restore(void);

/* Whether both are the same terminal, pipe, socket or file. */
bool cli_stdio_is_same(int a, int b);

#endif
