/* SPDX-License-Identifier: MIT */
/*
 * sandbox/spec - how one process is to be started, as it travels in a memory file.
 *
 * The runtime encodes a spec; the supervisor maps the file and reads the strings
 * where they are. The file must be sealed, so that it cannot change (or shrink)
 * under its reader.
 */
#ifndef SANDBOX_SPEC_H
#define SANDBOX_SPEC_H

#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;

enum { SANDBOX_SPEC_MAX = 16 << 20 }; /* bytes; the kernel takes 6 MiB of argv and envp at most */

enum sandbox_spec_flag {
    SANDBOX_SETSID = 1 << 0,
    SANDBOX_CTTY = 1 << 1, /* needs SANDBOX_SETSID and a target 0 */
    SANDBOX_PGRP = 1 << 2,
};

struct sandbox_spec {
    const char *path; /* never NULL; without a slash: looked up in PATH of envp */
    const char *cwd;  /* never NULL */
    const char *const *argv;
    const char *const *envp;
    const int *targets; /* the number that each descriptor gets */
    size_t n_targets;
    uint32_t flags;
    int32_t umask; /* -1: as the plan says */
};

/* Checks spec and appends its encoding to ret. -EINVAL or -E2BIG, with the reason. */
int sandbox_spec_encode(const struct sandbox_spec *spec, struct buf *ret, struct err *err);

/* A decoded spec, which points into the mapped file. */
struct sandbox_block {
    struct sandbox_spec spec;
    void *map;
    size_t map_len;
    const char **strings; /* argv and envp */
    int *targets;
};

/* Maps and checks the file. On success to be released by sandbox_block_done(). */
int sandbox_block_map(int memfd, struct sandbox_block *ret_block, struct err *err);
void sandbox_block_done(struct sandbox_block *block);

#endif
