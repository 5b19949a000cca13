/* SPDX-License-Identifier: MIT */
/*
 * proc/stat_priv - reading the files of one process in /proc.
 */
#ifndef PROC_STAT_PRIV_H
#define PROC_STAT_PRIV_H

#include <stdint.h>
#include <sys/types.h>

#include "proc/tree.h"

struct proc_stat {
    struct proc_info info;
    uint64_t user_ticks;
    uint64_t system_ticks;
    uint64_t children_user_ticks;
    uint64_t children_system_ticks;
};

/*
 * Reads a small file whose path is relative to /proc, cut to size - 1 bytes and with a NUL behind.
 * Bytes, or -errno, -ESRCH in place of -ENOENT.
 */
ssize_t proc_read_file(const char *path, char *ret_text, size_t size);

/* `path` is "PID/stat" or "PID/task/TID/stat". */
int proc_stat_read(const char *path, struct proc_stat *ret_stat);

#endif
