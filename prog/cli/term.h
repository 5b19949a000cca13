/* SPDX-License-Identifier: MIT */
/*
 * cli/term - the terminal that the program runs on.
 *
 * cooked <-> raw. However the program ends, short of SIGKILL, the terminal is put back.
 */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include <stdbool.h>
#include <stdint.h>

/* Rows and columns of the terminal on standard input or output; false if there is none. */
bool cli_term_size(uint16_t *ret_rows, uint16_t *ret_cols);

/* Raw mode for standard input, if that is a terminal: whether it is. Again after SIGCONT. */
bool cli_term_raw(void);

/* Back to what it was; nothing if it was not raw. Safe in a signal handler. */
void cli_term_restore(void);

#endif
