/* SPDX-License-Identifier: MIT */
/*
 * base/buf - bytes that grow up to a limit.
 *
 * len never exceeds max. An append either adds everything or nothing; it fails
 * with -ERR_LIMIT past max and -ENOMEM when the system has no memory. There is
 * always room for one byte behind the content, so buf_cstr() cannot fail.
 *
 * A zeroed struct buf is valid, empty and can hold nothing.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>

#include "base/own.h"

struct buf {
    char *data; /* NULL until something is added */
    size_t len;
    size_t cap; /* bytes allocated; 0 or more than len */
    size_t max;
};

/* clang-format off */
#define BUF_INIT(limit) {.data = NULL, .len = 0, .cap = 0, .max = (limit)}
/* clang-format on */

/* An empty buffer that holds at most max bytes; allocates nothing yet. */
void buf_init(struct buf *b, size_t max);

/* data may be NULL if len is 0; it may not point into b. */
int buf_append(struct buf *b, const void *data, size_t len);
int buf_append_str(struct buf *b, const char *text);
int buf_append_byte(struct buf *b, char byte);
int buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int buf_vprintf(struct buf *b, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));

/*
 * Makes room for len bytes behind the content and points *ret at it. They count
 * only after buf_commit(); any other change of b makes the pointer invalid.
 */
int buf_reserve(struct buf *b, size_t len, char **ret);

/* Counts len bytes that were written into reserved room. */
void buf_commit(struct buf *b, size_t len);

/* Drops len bytes from the front (len <= b->len); moves the rest. */
void buf_consume(struct buf *b, size_t len);

/* Cuts to len bytes (len <= b->len). */
void buf_truncate(struct buf *b, size_t len);

/* Empties b but keeps its memory. */
void buf_clear(struct buf *b);

/*
 * Moves the content out: a malloc'd string with a NUL behind it, never NULL. Read
 * b->len before if the content may hold NULs. b is empty afterwards.
 */
char *buf_take(struct buf *b);

/* The content with a NUL behind it; valid until b changes. Never NULL. */
const char *buf_cstr(struct buf *b);

/* Releases the memory; b is empty and usable afterwards. */
void buf_done(struct buf *b);

DEFINE_AUTO_DONE(struct buf, buf_done)
#define auto_buf AUTO(buf_done)

#endif
