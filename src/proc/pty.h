/* SPDX-License-Identifier: MIT */
/*
 * proc/pty - pseudo-terminals.
 */
#ifndef PROC_PTY_H
#define PROC_PTY_H

#include <stdint.h>

struct err;

/*
 * Opens a pair of the given size, both O_CLOEXEC and O_NOCTTY. The slave is for a process's
 * descriptors 0 to 2; close it here once that was spawned. Reading the master says EIO after the
 * last slave was closed.
 */
int proc_pty_open(uint16_t rows, uint16_t cols, int *ret_master, int *ret_slave, struct err *err);

/* Changes the size; the foreground process group gets SIGWINCH. */
int proc_pty_resize(int master, uint16_t rows, uint16_t cols, struct err *err);

#endif
