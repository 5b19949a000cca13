/* SPDX-License-Identifier: MIT */
/*
 * sandbox/plan - what confines the processes of one box, as plain data.
 *
 * A plan holds no pointers and is copied by assignment. It is made by the
 * runtime and carried to nacre-spawn by sandbox/proto. There the zygote makes the
 * namespaces (sandbox/space), the supervisor, inside them, the view of the files
 * (sandbox/root), and each process gives up what is left between fork and exec
 * (sandbox_apply()). A zeroed plan is not valid: start from sandbox_plan_init(),
 * which isolates nothing.
 *
 * A plan is applied in full or not at all: what a kernel does not have is for its
 * maker to find out, and to leave out or to refuse.
 */
#ifndef SANDBOX_PLAN_H
#define SANDBOX_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct sandbox_filter;

enum {
    SANDBOX_PLAN_VERSION = 2,
    SANDBOX_RLIMITS = 16,
    SANDBOX_MOUNTS = 128,
    SANDBOX_TEXT = 16384, /* bytes of all paths */
};

/* Isolation layers, as bits. Their names are what a result's `isolation` lists. */
enum sandbox_layer {
    SANDBOX_USER = 1 << 0,          /* "user": user_namespaces(7); ids as below */
    SANDBOX_PID = 1 << 1,           /* "pid": the supervisor is process 1 */
    SANDBOX_MOUNT = 1 << 2,         /* "mount": a root of its own, made of `mounts` */
    SANDBOX_IPC = 1 << 3,           /* "ipc" */
    SANDBOX_UTS = 1 << 4,           /* "uts": the host name is "nacre" */
    SANDBOX_CGROUP_NS = 1 << 5,     /* "cgroup-ns": cgroup_namespaces(7) */
    SANDBOX_NET = 1 << 6,           /* "net": a network with nothing but its own loopback */
    SANDBOX_TIME = 1 << 7,          /* "time": time_namespaces(7) */
    SANDBOX_CAPS = 1 << 8,          /* "caps": no capabilities(7) at all */
    SANDBOX_SECCOMP = 1 << 9,       /* "seccomp": the filter of sandbox/seccomp */
    SANDBOX_LANDLOCK = 1 << 10,     /* "landlock": rules that follow from `mounts` */
    SANDBOX_NO_NEW_PRIVS = 1 << 11, /* "no-new-privs" */
};

struct sandbox_rlimit {
    bool set;
    uint64_t soft; /* RLIM_INFINITY as in setrlimit(2) */
    uint64_t hard; /* clamped to the limit in force if it may not be raised */
};

enum sandbox_mount_type {
    SANDBOX_BIND,    /* `source`, a path outside, with what is mounted below it */
    SANDBOX_TMPFS,   /* an empty one, of `size` bytes and `inodes` files */
    SANDBOX_PROC,    /* proc(5) of the PID namespace, its switches read-only */
    SANDBOX_DEV,     /* a /dev with null zero full random urandom tty, pts, shm */
    SANDBOX_DIR,     /* an empty directory */
    SANDBOX_SYMLINK, /* leads to `source` */
    SANDBOX_MASK,    /* covers what is there by an empty file or directory; nothing if nothing is */
};

enum sandbox_mount_flag {
    SANDBOX_READ_ONLY = 1 << 0,
    SANDBOX_NO_EXEC = 1 << 1,
    SANDBOX_DEVICES = 1 << 2,  /* device files work; not otherwise */
    SANDBOX_OPTIONAL = 1 << 3, /* left out when the source is not there */
    SANDBOX_OWNED = 1 << 4,    /* files of `owner` belong to the payload's user inside, and what it
                                  makes there belongs to `owner` outside; see mount_setattr(2) */
};

struct sandbox_mount {
    uint16_t type;   /* enum sandbox_mount_type */
    uint16_t flags;  /* enum sandbox_mount_flag */
    uint16_t source; /* offset in `text`; 0: none */
    uint16_t target; /* as source; absolute, without "." and ".." */
    uint32_t mode;   /* of SANDBOX_TMPFS and SANDBOX_DIR */
    uint32_t owner;  /* of SANDBOX_OWNED: a uid; its gid is owner_gid */
    uint32_t owner_gid;
    uint32_t inodes; /* 0: no limit */
    uint64_t size;   /* bytes; 0: no limit */
};

/*
 * With SANDBOX_USER there are two users inside: that of the supervisor (0) and that of the payload.
 * A runtime that is root maps them to two numbers that nobody else has. Any other can map its own
 * only, to which both are set.
 */
struct sandbox_ids {
    uint32_t uid, gid;           /* of the payload, inside */
    uint32_t host_uid, host_gid; /* of the payload, outside */
    uint32_t host_root;          /* user and group 0 inside; equal to host_uid: there is none */
};

struct sandbox_plan {
    uint32_t version;
    uint32_t layers;                                /* enum sandbox_layer, or-ed */
    struct sandbox_rlimit rlimits[SANDBOX_RLIMITS]; /* by RLIMIT_… */
    int32_t umask;                                  /* -1: 022 */
    int32_t nice;                                   /* added to the runtime's niceness */
    uint32_t filter;                                /* enum sandbox_filter_flag, or-ed */
    struct sandbox_ids ids;                         /* with SANDBOX_USER */
    uint32_t n_mounts;
    uint32_t n_text;
    struct sandbox_mount mounts[SANDBOX_MOUNTS]; /* in the order in which they are made */
    char text[SANDBOX_TEXT];                     /* NUL-terminated strings; text[0] is NUL */
};

/* No isolation, no limits of its own, umask 022. */
void sandbox_plan_init(struct sandbox_plan *plan);

/* The payload keeps the ids that the caller has. */
void sandbox_plan_own_ids(struct sandbox_plan *plan);

/*
 * Appends a mount and returns it, for its other fields to be set. source can be NULL. NULL if there
 * is no room or a path is not of the form above; sandbox_plan_check() then fails as well, so that a
 * caller need not look.
 */
struct sandbox_mount *sandbox_plan_mount(struct sandbox_plan *plan, enum sandbox_mount_type type,
                                         const char *source, const char *target, unsigned flags);

/* A string of the plan. */
const char *sandbox_plan_text(const struct sandbox_plan *plan, uint16_t offset);

/* -EINVAL, with the reason, for a plan that could not be applied. */
int sandbox_plan_check(const struct sandbox_plan *plan, struct err *err);

/* The name of the i-th layer of the plan, for i from 0; NULL after the last. */
const char *sandbox_plan_layer(const struct sandbox_plan *plan, size_t i);

/* Bytes of the plan that mean something: all that has to be copied. */
size_t sandbox_plan_size(const struct sandbox_plan *plan);

/* What was made of a plan beforehand, for all processes of its box. */
struct sandbox_means {
    const struct sandbox_filter *filter; /* with SANDBOX_SECCOMP */
    int landlock_fd;                     /* with SANDBOX_LANDLOCK */
};

/*
 * Applies the plan to the calling process. For the child between fork (or vfork) and exec: it
 * allocates nothing and changes nothing but the process itself. After an error the process is of no
 * more use.
 */
int sandbox_apply(const struct sandbox_plan *plan, const struct sandbox_means *means,
                  struct err *err);

#endif
