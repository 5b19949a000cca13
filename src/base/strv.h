/* SPDX-License-Identifier: MIT */
/*
 * base/strv - a vector of strings, NULL-terminated as execve(2) wants it.
 *
 * The strings are copies owned by the vector. Its size is counted as the kernel
 * counts argv: each string with its NUL plus one pointer; past max adding fails
 * with -ERR_LIMIT and the vector stays as it was.
 */
#ifndef BASE_STRV_H
#define BASE_STRV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/own.h"

struct strv {
    char **items; /* n strings and a NULL; NULL while empty: see strv_items() */
    size_t n;
    size_t cap;
    size_t bytes;
    size_t max;
};

/* clang-format off */
#define STRV_INIT(limit) {.items = NULL, .max = (limit)}
/* clang-format on */

/* An empty vector of at most max bytes; allocates nothing yet. */
void strv_init(struct strv *v, size_t max);

int strv_push(struct strv *v, const char *text);

/* Adds len bytes, which hold no NUL (-ERR_INVALID). */
int strv_push_n(struct strv *v, const char *text, size_t len);

int strv_pushf(struct strv *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Adds copies of all strings of a NULL-terminated array; all or none. */
int strv_push_all(struct strv *v, const char *const *items);

/* Removes item i and moves up the rest. */
void strv_remove(struct strv *v, size_t i);

/* The items and a NULL, for execve(2); never NULL. Valid until v changes. */
char **strv_items(const struct strv *v);

/* Whether one item equals text. */
bool strv_has(const struct strv *v, const char *text);

/* Whether key can name an environment variable: not empty, no '=' and no control bytes. */
bool env_key_is_valid(const char *key);

/* Whether name is a shell variable name: [A-Za-z_][A-Za-z0-9_]*. */
bool env_name_is_valid(const char *name);

/*
 * v seen as an environment of "KEY=value": sets, looks up, removes. Setting replaces
 * the value in place; a name that fails env_key_is_valid() is -ERR_INVALID.
 */
int strv_set_env(struct strv *v, const char *name, const char *value);
const char *strv_get_env(const struct strv *v, const char *name);
bool strv_unset_env(struct strv *v, const char *name);

void strv_clear(struct strv *v);
void strv_done(struct strv *v);

DEFINE_AUTO_DONE(struct strv, strv_done)
#define auto_strv AUTO(strv_done)

#endif
