/* SPDX-License-Identifier: MIT */
/*
 * profile - what a sandbox shall be: a YAML file as plain data. docs/profiles.md has the
 * fields and what they mean.
 *
 * A profile extends another one (`default` unless it says so) and names only what differs;
 * struct profile is the whole. Its texts live in the arena it was loaded into. Nothing here
 * looks at the machine: a layer may be missing, a path may not be there, "~" and "." are as
 * written.
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/netrule.h"

struct arena;
struct buf;
struct err;
struct yaml_input;

enum { PROFILE_BYTES_MAX = 256 * 1024, PROFILE_ITEMS_MAX = 1024 };

/* A limit that is none. */
#define PROFILE_UNLIMITED UINT64_MAX

enum profile_layer {
    PROFILE_LAYER_USER,
    PROFILE_LAYER_MOUNT,
    PROFILE_LAYER_PID,
    PROFILE_LAYER_IPC,
    PROFILE_LAYER_UTS,
    PROFILE_LAYER_CGROUP,
    PROFILE_LAYER_NET,
    PROFILE_LAYER_TIME,
    PROFILE_LAYER_CAPS,
    PROFILE_LAYER_NO_NEW_PRIVS,
    PROFILE_LAYER_LANDLOCK,
    PROFILE_LAYER_SECCOMP,
    PROFILE_LAYER_RLIMITS,
    PROFILE_LAYER_CGROUP_LIMITS,
    PROFILE_N_LAYERS
};

enum profile_need {
    PROFILE_OFF,
    PROFILE_OPTIONAL, /* used where it works */
    PROFILE_REQUIRED  /* without it no command runs */
};

enum profile_home {
    PROFILE_HOME_HIDDEN,  /* not there, or empty and read-only */
    PROFILE_HOME_PRIVATE, /* empty, writable, gone with the session */
    PROFILE_HOME_HOST
};

enum profile_workspace {
    PROFILE_WORKSPACE_RW,
    PROFILE_WORKSPACE_RO,
    PROFILE_WORKSPACE_OVERLAY, /* writable, changes are kept apart */
    PROFILE_WORKSPACE_NONE
};

enum profile_network { PROFILE_NETWORK_NONE, PROFILE_NETWORK_ALLOW, PROFILE_NETWORK_HOST };

enum profile_limit {
    PROFILE_LIMIT_MEMORY,     /* bytes */
    PROFILE_LIMIT_SWAP,       /* bytes */
    PROFILE_LIMIT_PROCESSES,  /* and threads */
    PROFILE_LIMIT_CPU,        /* percent of one CPU */
    PROFILE_LIMIT_CPU_TIME,   /* milliseconds */
    PROFILE_LIMIT_TIME,       /* milliseconds */
    PROFILE_LIMIT_OPEN_FILES, /* of one process */
    PROFILE_LIMIT_FILE_SIZE,  /* bytes, of one file */
    PROFILE_LIMIT_CORE,       /* bytes */
    PROFILE_LIMIT_DISK,       /* bytes written and still there */
    PROFILE_LIMIT_OUTPUT,     /* bytes, both streams */
    PROFILE_N_LIMITS
};

struct profile_list {
    const char *const *items;
    size_t n;
};

struct profile_tmpfs {
    const char *path;
    uint64_t max_bytes;
};

struct profile_filesystem {
    /* Absolute, or "~" and below; without ".", ".." and "//". None is in two of the lists. */
    struct profile_list read_only, read_write, hidden;
    struct profile_list devices; /* "/dev/..."; '*' and '?' in the last part are patterns */
    const struct profile_tmpfs *tmpfs;
    size_t n_tmpfs;
    enum profile_home home;
    struct {
        const char *path; /* as above, or ".": the directory a session starts in */
        enum profile_workspace mode;
        uint64_t max_bytes, max_files; /* that a session may add */
    } workspace;
};

struct profile {
    const char *name;
    const char *description; /* one line, or "" */
    const char *source;      /* the file, or "built-in" */
    enum profile_need layers[PROFILE_N_LAYERS];
    struct profile_filesystem filesystem;
    struct {
        enum profile_network mode;
        const struct netrule *allow; /* only with PROFILE_NETWORK_ALLOW */
        size_t n_allow;
        bool allow_private; /* addresses that are not public, metadata never */
    } network;
    struct {
        uint64_t session[PROFILE_N_LIMITS], command[PROFILE_N_LIMITS];
    } limits;
    const char *user;              /* a name or a number; NULL: who starts the runtime */
    struct profile_list syscalls;  /* that the filter lets through nevertheless */
    struct profile_list variables; /* of the environment to pass; "LC_*", "*" */
    int umask;                     /* -1: as it is */
    unsigned nice;                 /* added */
};

/* Where profiles are looked for, first to last; after them the built-in ones. */
struct profile_dirs {
    const char *const *paths;
    size_t n;
};

/* $XDG_CONFIG_HOME/nacre/profiles (else ~/.config/...), /etc/nacre/profiles. */
int profile_dirs_find(struct arena *arena, struct profile_dirs *ret);

/*
 * Loads a profile by name from dirs (NULL: only built-in ones). A profile NAME that extends
 * NAME extends the next one of that name. -ERR_NOT_FOUND, or what is wrong with the file, as
 * "FILE:LINE:COLUMN: ...". -ERR_DENIED for a file that others may have written.
 */
int profile_load(const char *name, const struct profile_dirs *dirs, struct arena *arena,
                 struct profile *ret, struct err *err);

/* The same for a text; the profile's name is the input's without directory and ending. */
int profile_parse(const struct yaml_input *input, const struct profile_dirs *dirs,
                  struct arena *arena, struct profile *ret, struct err *err);

struct profile_entry {
    const char *name;
    const char *source; /* as in struct profile */
};

/* All names that can be loaded, sorted, each with the place that counts. */
int profile_list(const struct profile_dirs *dirs, struct arena *arena, struct profile_entry **ret,
                 size_t *ret_n, struct err *err);

/* Appends the whole profile as a file that extends none; reading it gives the same. */
int profile_to_yaml(const struct profile *profile, struct buf *ret);

/* "cgroup-limits", "cpu_time": as in the files. */
const char *profile_layer_name(enum profile_layer layer);
const char *profile_limit_name(enum profile_limit limit);

#endif
