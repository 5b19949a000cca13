/* SPDX-License-Identifier: MIT */
/*
 * sandbox/seccomp_list - the system calls that a payload is refused, and why.
 *
 * Whatever no rule names is allowed, but for calls that are newer than the list:
 * nobody has looked at those, so they do not exist (ENOSYS). A new kernel's calls
 * are to be judged here, and SANDBOX_LAST_CALL raised.
 */
#ifndef SANDBOX_SECCOMP_LIST_H
#define SANDBOX_SECCOMP_LIST_H

#include <stddef.h>
#include <stdint.h>

/* The highest number that was judged; calls have one number on all machines since 424. */
enum { SANDBOX_LAST_CALL = 469 };

enum { SANDBOX_RULE_ARGS = 2, SANDBOX_RULE_CALLS = 16 };

/*
 * A test of one argument. Only its low 32 bits are looked at, as the kernel does with an int: a
 * request with something in the high half would pass a filter that compares 64 bits.
 */
enum sandbox_arg_test {
    SANDBOX_ARG_NONE,    /* no test */
    SANDBOX_ARG_IS,      /* (arg & mask) == value */
    SANDBOX_ARG_HAS_ANY, /* (arg & mask) != 0 */
    SANDBOX_ARG_NOT_IN,  /* (arg & mask) is none of `set`; the last test of a rule */
};

struct sandbox_arg {
    uint8_t test; /* enum sandbox_arg_test */
    uint8_t n;    /* of the argument, from 0 */
    uint32_t mask;
    uint32_t value;
    const uint32_t *set;
    size_t n_set;
};

/* The calls are refused if all tests hold. */
struct sandbox_rule {
    const char *calls[SANDBOX_RULE_CALLS]; /* those that a machine does not have are passed over */
    int error;                             /* errno they fail with */
    uint32_t unless;                       /* enum sandbox_filter_flag: not with any of these */
    uint32_t only;                         /* with one of these only; 0: always */
    struct sandbox_arg args[SANDBOX_RULE_ARGS];
    const char *why;
};

extern const struct sandbox_rule sandbox_rules[];
extern const size_t sandbox_n_rules;

/* The number of a call on this machine, negative if it has none. */
int sandbox_call_number(const char *name);

#endif
