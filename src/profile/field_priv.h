/* SPDX-License-Identifier: MIT */
/* profile/field_priv - the fields of a profile as a table, which reader and writer walk. */
#ifndef PROFILE_FIELD_PRIV_H
#define PROFILE_FIELD_PRIV_H

#include "profile/profile.h"

/* How a field is written. */
enum field_kind {
    FIELD_GROUP,    /* fields of its own */
    FIELD_EXTENDS,  /* read before all others */
    FIELD_LINE,     /* one line of text */
    FIELD_LAYERS,   /* list of layers that get a need */
    FIELD_PATHS,    /* list of paths; what it names leaves the lists beside it */
    FIELD_PATTERNS, /* list of devices */
    FIELD_TMPFS,    /* map of paths and sizes */
    FIELD_PLACE,    /* a path or "." */
    FIELD_CHOICE,   /* one of some words */
    FIELD_BOOL,
    FIELD_SIZE,
    FIELD_COUNT,
    FIELD_PERCENT,
    FIELD_DURATION,
    FIELD_RULES, /* list of maps */
    FIELD_USER,
    FIELD_SYSCALLS,
    FIELD_VARIABLES,
    FIELD_UMASK,
    FIELD_NICE
};

struct field {
    const char *name; /* NULL ends a table */
    enum field_kind kind;
    size_t at; /* offset in struct profile */
    const struct field *fields;
    const char *const *words; /* by value, NULL ends */
    uint64_t min, max;        /* of numbers; FIELD_LAYERS: min is the need */
};

extern const struct field profile_fields[];

/* NULL ends. */
extern const char *const profile_layer_names[];

/* Where a field is kept. */
#define FIELD_IN(profile, field, type) ((type *)(void *)((char *)(profile) + (field)->at))

#endif
