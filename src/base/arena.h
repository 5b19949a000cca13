/* SPDX-License-Identifier: MIT */
/*
 * base/arena - memory for things that live and die together.
 *
 * Pieces are cut from blocks and are given back all at once. An arena has a limit
 * on the bytes it hands out; past it (or when the system has no memory) the
 * functions return NULL and the arena stays as it was. Pieces never move.
 *
 * Not thread-safe.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "base/own.h"

enum { ARENA_ALIGN = 16 };

struct arena_block;

struct arena {
    struct arena_block *blocks; /* newest first */
    char *next;                 /* free part of the newest block */
    size_t left;                /* bytes there */
    size_t used;                /* handed out, with rounding */
    size_t max;
};

/* One zeroed object of the type, or NULL. */
#define arena_new(arena, type) ((type *)arena_zalloc((arena), sizeof(type)))

/* An arena that hands out at most max bytes; allocates nothing yet. */
void arena_init(struct arena *arena, size_t max);

/* size bytes, aligned for any type, not initialised; NULL past the limit. */
void *arena_alloc(struct arena *arena, size_t size);

/* The same, zeroed. */
void *arena_zalloc(struct arena *arena, size_t size);

/* n * size zeroed bytes; a product that overflows is past the limit. */
void *arena_zalloc_n(struct arena *arena, size_t n, size_t size);

char *arena_strdup(struct arena *arena, const char *text);

/* Copies exactly len bytes, NULs too, and puts a NUL after them. */
char *arena_strndup(struct arena *arena, const char *text, size_t len);

char *arena_printf(struct arena *arena, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Gives everything back except one block, which is kept for the next use. */
void arena_clear(struct arena *arena);

/* Gives everything back; the arena can be used again with the same limit. */
void arena_done(struct arena *arena);

DEFINE_AUTO_DONE(struct arena, arena_done)
#define auto_arena AUTO(arena_done)

#endif
