/* SPDX-License-Identifier: MIT */
/*
 * native/state - what the files about saved states share: state.c puts one together.
 */
#ifndef NATIVE_STATE_H
#define NATIVE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "native/priv.h"

struct span {
    const char *p;
    size_t len;
};

bool state_starts_with(const char *p, size_t len, const char *start);
bool state_ends_with(const char *p, size_t len, const char *what);
bool state_is_listed(const char *const *names, size_t n, const char *name, size_t len);
/* The length of the line at p, without its newline; a quoted one goes on to its last quote. */
size_t state_line_len(const char *p, const char *end, bool is_quoted);
/* The length of the statement of a state at p, without its newline. */
size_t state_statement_len(const char *p, const char *end);

/*
 * state_variables.c: all is what `declare -p` printed. `printed` is what a shell prints that ends
 * (else empty): it tells which of them are some function's own, which keep the value of before.
 */
int state_add_variables(struct buf *out, struct span all, struct span printed,
                        const struct state_rest *rest);
/* Takes away those that every bash has and that are not in `part`. */
int state_add_unset(struct buf *out, struct span part);
/* For native_unset_reader_variables(). */
unsigned state_reader_variables(struct span part);
/* Whether the state was printed while a function ran. */
bool state_is_in_function(struct span all);

/* state_functions.c: what `declare -f` and `declare -F` printed. */
int state_add_functions(struct buf *out, struct span part, struct span flags);
int state_add_function_flags(struct buf *out, struct span part);

/* state_limits.c: what differs from our own limits, with which a new shell starts. */
int state_add_limits(struct buf *out, pid_t pid, struct span printed);

#endif
