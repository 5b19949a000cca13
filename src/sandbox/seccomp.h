/* SPDX-License-Identifier: MIT */
/*
 * sandbox/seccomp - a filter that refuses system calls to a process and all it starts.
 *
 * What is refused is a list (sandbox/seccomp_list). A refused call fails with an
 * errno, mostly EPERM as if a capability were missing, so that programs that only
 * try go on. Calls of another architecture (int 0x80, x32) kill the process: there
 * the numbers mean other calls.
 */
#ifndef SANDBOX_SECCOMP_H
#define SANDBOX_SECCOMP_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct sock_filter;

enum sandbox_filter_flag {
    /* Debuggers: ptrace(2), process_vm_readv(2), kcmp(2). Whom they may touch is the kernel's rule:
       processes of the same user in the same PID namespace. */
    SANDBOX_FILTER_ALLOW_PTRACE = 1 << 0,
    /* Sandboxes within: namespaces, mounts, chroot(2), clone3(2). */
    SANDBOX_FILTER_NESTED = 1 << 1,
    /* No sockets but local ones, for want of a network namespace. */
    SANDBOX_FILTER_NO_INET = 1 << 2,
    /* No local sockets either, but for connected pairs. */
    SANDBOX_FILTER_NO_UNIX = 1 << 3,
    /* No file gets a set-user-ID or set-group-ID bit. */
    SANDBOX_FILTER_NO_SETID = 1 << 4,
};

enum { SANDBOX_FILTER_FLAGS = (1 << 5) - 1 };

struct sandbox_filter {
    struct sock_filter *items;
    unsigned short n_items;
};

/* Makes the program for the flags; to be released by sandbox_filter_done(). */
int sandbox_filter_compile(uint32_t flags, struct sandbox_filter *ret, struct err *err);

/*
 * Puts the filter on the calling thread, for good. Needs no_new_privs or CAP_SYS_ADMIN. Allocates
 * nothing: for the child between fork and exec.
 */
int sandbox_filter_install(const struct sandbox_filter *filter, struct err *err);

/* Frees the program of a filter, which may be zeroed. */
void sandbox_filter_done(struct sandbox_filter *filter);

#endif
