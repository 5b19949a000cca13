/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_MIN = 4096, BLOCK_MAX = 1024 * 1024 };

struct arena_block {
    struct arena_block *next; /* older */
    size_t size;              /* of data */
    alignas(ARENA_ALIGN) char data[];
};

/* Under the address sanitizer pieces lie apart, with what is not in use fenced off. */
#ifdef __has_feature
#    if __has_feature(address_sanitizer)
#        define WITH_FENCES 1
#    endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(WITH_FENCES)
#    include <sanitizer/asan_interface.h>
enum { FENCE = ARENA_ALIGN };
#else
#    define ASAN_POISON_MEMORY_REGION(p, len)   ((void)(p), (void)(len))
#    define ASAN_UNPOISON_MEMORY_REGION(p, len) ((void)(p), (void)(len))
enum { FENCE = 0 };
#endif

static struct arena_block *new_block(size_t size)
{
    struct arena_block *block = malloc(sizeof(*block) + size);
    if (!block)
        return NULL;
    block->size = size;
    ASAN_POISON_MEMORY_REGION(block->data, size);
    return block;
}

static void free_blocks(struct arena_block *block)
{
    while (block) {
        struct arena_block *older = block->next;
        ASAN_UNPOISON_MEMORY_REGION(block->data, block->size);
        free(block);
        block = older;
    }
}

/* Twice the newest block, within bounds and not beyond what the limit leaves. */
static size_t next_block_size(const struct arena *arena)
{
    size_t size = arena->blocks ? 2 * arena->blocks->size : BLOCK_MIN;
    if (size > BLOCK_MAX)
        size = BLOCK_MAX;
    size_t open = arena->max - arena->used;
    return open < size && open >= BLOCK_MIN ? open / ARENA_ALIGN * ARENA_ALIGN : size;
}

/*
 * A piece for which the newest block has no room. A large one gets a block to itself,
 * behind the newest, so that the rest of that is not lost.
 */
static char *alloc_outside(struct arena *arena, size_t size)
{
    size_t block_size = next_block_size(arena);
    if (size > block_size / 4) {
        struct arena_block *own = new_block(size);
        if (!own)
            return NULL;
        struct arena_block **at = arena->blocks ? &arena->blocks->next : &arena->blocks;
        own->next = *at;
        *at = own;
        return own->data;
    }

    struct arena_block *block = new_block(block_size);
    if (!block)
        return NULL;
    block->next = arena->blocks;
    arena->blocks = block;
    arena->next = block->data + size;
    arena->left = block_size - size;
    return block->data;
}

void arena_init(struct arena *arena, size_t max)
{
    *arena = (struct arena){.max = max};
}

void *arena_alloc(struct arena *arena, size_t size)
{
    assert(arena->used <= arena->max);
    if (size > arena->max - arena->used || size > SIZE_MAX / 2)
        return NULL;
    size_t rounded = (size + !size + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    if (rounded > arena->max - arena->used)
        return NULL;

    char *piece = arena->next;
    if (rounded + FENCE <= arena->left) {
        arena->next += rounded + FENCE;
        arena->left -= rounded + FENCE;
    } else {
        piece = alloc_outside(arena, rounded + FENCE);
        if (!piece)
            return NULL;
    }
    ASAN_UNPOISON_MEMORY_REGION(piece, size);
    arena->used += rounded;
    return piece;
}

void *arena_zalloc(struct arena *arena, size_t size)
{
    void *piece = arena_alloc(arena, size);
    return piece ? memset(piece, 0, size) : NULL;
}

void *arena_zalloc_n(struct arena *arena, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size)
        return NULL;
    return arena_zalloc(arena, n * size);
}

char *arena_strndup(struct arena *arena, const char *text, size_t len)
{
    if (len == SIZE_MAX)
        return NULL;
    char *copy = arena_alloc(arena, len + 1);
    if (!copy)
        return NULL;
    if (len)
        memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

char *arena_printf(struct arena *arena, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *text = len < 0 ? NULL : arena_alloc(arena, (size_t)len + 1);
    if (!text)
        return NULL;

    va_start(args, fmt);
    (void)vsnprintf(text, (size_t)len + 1, fmt, args); /* as long as it was before */
    va_end(args);
    return text;
}

void arena_clear(struct arena *arena)
{
    struct arena_block *kept = arena->blocks;
    if (!kept)
        return;
    free_blocks(kept->next);
    kept->next = NULL;
    ASAN_POISON_MEMORY_REGION(kept->data, kept->size);
    arena->next = kept->data;
    arena->left = kept->size;
    arena->used = 0;
}

void arena_done(struct arena *arena)
{
    if (!arena)
        return;
    free_blocks(arena->blocks);
    arena_init(arena, arena->max);
}
