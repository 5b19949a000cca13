/* SPDX-License-Identifier: MIT */
/*
 * sandbox/landlock - what a process may reach of files, TCP ports and others' processes.
 *
 * landlock(7) takes rights from a process and all it starts; nothing gives them
 * back. Which rights it knows depends on its ABI. Rules ask for what they want, and
 * are told what this kernel could not give.
 *
 * A process with rules about files can neither mount nor change its root, whatever
 * it was permitted before.
 *
 * Rules are opened in one place, where the paths mean what they are to mean, and
 * put on a process in another, or on many. Nothing here allocates memory.
 */
#ifndef SANDBOX_LANDLOCK_H
#define SANDBOX_LANDLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* What may be done with a file, or below a directory. */
enum sandbox_access {
    SANDBOX_ACCESS_READ = 1 << 0,    /* read files, list directories */
    SANDBOX_ACCESS_EXEC = 1 << 1,    /* execute files */
    SANDBOX_ACCESS_WRITE = 1 << 2,   /* write, make, remove and move; no device files */
    SANDBOX_ACCESS_DEVICES = 1 << 3, /* ioctl(2) on device files, terminals among them */
    SANDBOX_ACCESS_SOCKETS = 1 << 4, /* connect to the Unix sockets of processes outside */
    SANDBOX_ACCESS_READ_EXEC = SANDBOX_ACCESS_READ | SANDBOX_ACCESS_EXEC,
    SANDBOX_ACCESS_READ_WRITE = SANDBOX_ACCESS_READ_EXEC | SANDBOX_ACCESS_WRITE,
};

struct sandbox_landlock_path {
    const char *path; /* NULL: fd is it */
    int fd;           /* O_PATH; with a path: the directory that it is relative to, AT_FDCWD */
    uint32_t access;  /* enum sandbox_access, or-ed */
    bool optional;    /* passed over when it is not there */
};

struct sandbox_landlock_port {
    uint16_t port;
    bool bind;
    bool connect;
};

struct sandbox_landlock_rules {
    bool files; /* nothing but `paths` may be reached; false: files are not restricted */
    const struct sandbox_landlock_path *paths;
    size_t n_paths;
    bool tcp; /* nothing but `ports` may be used; false: TCP is not restricted */
    const struct sandbox_landlock_port *ports;
    size_t n_ports;
    bool scope_abstract; /* no abstract Unix sockets of processes outside */
    bool scope_signals;  /* no signals to processes outside */
    int max_abi;         /* act like a kernel with no more than this; 0: no limit */
};

/* What was asked for and this kernel cannot do. */
enum sandbox_landlock_lack {
    SANDBOX_LACKS_LANDLOCK = 1 << 0, /* all of it */
    SANDBOX_LACKS_REFER = 1 << 1,    /* ABI 2: moves between directories are refused */
    SANDBOX_LACKS_TRUNCATE = 1 << 2, /* ABI 3: files that may be read only can be emptied */
    SANDBOX_LACKS_TCP = 1 << 3,      /* ABI 4: TCP is not restricted */
    SANDBOX_LACKS_IOCTL = 1 << 4,    /* ABI 5: ioctl(2) is not restricted */
    SANDBOX_LACKS_SCOPES = 1 << 5,   /* ABI 6: the scopes are not set */
    SANDBOX_LACKS_SOCKETS = 1 << 6,  /* ABI 9: Unix sockets of processes outside can be reached */
};

/* The ABI of this kernel; 0 if there is no Landlock, with errno as to why. */
int sandbox_landlock_abi(void);

/*
 * Makes a set of rules, as a descriptor that is close-on-exec. *ret_lacks (may be NULL) gets enum
 * sandbox_landlock_lack, or-ed, on failure as well. -ENOSYS or -EOPNOTSUPP if there is no Landlock.
 */
int sandbox_landlock_open(const struct sandbox_landlock_rules *rules, int *ret_fd,
                          uint32_t *ret_lacks, struct err *err);

/* Puts the rules on the calling thread, for good. Needs no_new_privs or CAP_SYS_ADMIN. */
int sandbox_landlock_restrict(int fd, struct err *err);

#endif
