/* SPDX-License-Identifier: MIT */
/*
 * base/mem - allocation for bookkeeping of a small, fixed size.
 *
 * These never return NULL: when memory has run out they call one handler, which
 * must not return (the default writes a line to stderr and aborts). What grows
 * with input belongs in a container with a limit (base/buf, base/arena).
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdarg.h>
#include <stddef.h>

typedef void (*mem_oom_fn)(size_t size);

/* A zeroed object of the type. */
#define xnew(type) ((type *)xcalloc(1, sizeof(type)))

/* n zeroed objects of the type. */
#define xnew_n(type, n) ((type *)xcalloc((n), sizeof(type)))

void *xmalloc(size_t size) __attribute__((malloc, alloc_size(1), returns_nonnull));
void *xcalloc(size_t n, size_t size) __attribute__((malloc, alloc_size(1, 2), returns_nonnull));
void *xrealloc(void *p, size_t size) __attribute__((alloc_size(2), returns_nonnull));

/* As xrealloc(p, n * size); a product that overflows counts as out of memory. */
void *xreallocarray(void *p, size_t n, size_t size)
    __attribute__((alloc_size(2, 3), returns_nonnull));

char *xstrdup(const char *text) __attribute__((malloc, returns_nonnull));

/* Copies at most len bytes, up to the first NUL, and ends the copy with one. */
char *xstrndup(const char *text, size_t len) __attribute__((malloc, returns_nonnull));

/* Copies len bytes and puts a NUL after them (not counted). */
void *xmemdup(const void *data, size_t len) __attribute__((malloc, returns_nonnull));

char *xasprintf(const char *fmt, ...)
    __attribute__((malloc, format(printf, 1, 2), returns_nonnull));
char *xvasprintf(const char *fmt, va_list args)
    __attribute__((malloc, format(printf, 1, 0), returns_nonnull));

/* Replaces the handler and returns the one before; NULL sets the default. */
mem_oom_fn mem_set_oom_handler(mem_oom_fn handler);

#endif
