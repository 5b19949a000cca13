/* SPDX-License-Identifier: MIT */
/* profile/load_priv - the built-in profiles, as the build made them from profiles/. */
#ifndef PROFILE_LOAD_PRIV_H
#define PROFILE_LOAD_PRIV_H

#include <stddef.h>

struct profile_builtin {
    const char *name; /* NULL ends */
    const char *text;
    size_t len;
};

extern const struct profile_builtin profile_builtins[];

#endif
