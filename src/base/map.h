/* SPDX-License-Identifier: MIT */
/*
 * base/map - strings to pointers.
 *
 * Keys are copied; values belong to the caller (a value may not be NULL). The hash
 * is keyed per process, so chosen keys cannot collide on purpose. Walks go in the
 * order of insertion.
 *
 * Not thread-safe.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/own.h"

struct map_entry;

struct map {
    struct map_entry *entries; /* in order of insertion, with holes */
    uint32_t *index;           /* hash table of entry numbers + 1 */
    size_t n_entries;          /* with holes */
    size_t n_live;
    size_t index_size; /* power of two */
    size_t max;
};

/* clang-format off */
#define MAP_INIT(limit) {.entries = NULL, .max = (limit)}
/* clang-format on */

/* An empty map for at most max keys (below 2^31). */
void map_init(struct map *map, size_t max);

/*
 * Sets the value of key, which is copied. A value that was there is forgotten, not
 * freed: fetch it first if it must be. -ERR_LIMIT if the key is new and the map full.
 */
int map_set(struct map *map, const char *key, void *value);

/* The value of key, or NULL. */
void *map_get(const struct map *map, const char *key);

/* The same for a key of len bytes, which needs no NUL behind it. */
void *map_get_n(const struct map *map, const char *key, size_t len);

/* Removes key and returns its value, or NULL if there is none. Safe during a walk. */
void *map_remove(struct map *map, const char *key);

size_t map_count(const struct map *map);

/*
 * Steps a walk: *cursor starts at 0. False at the end. ret_key (may be NULL) is
 * valid until its entry is removed. During a walk entries may be removed but not added.
 */
bool map_next(const struct map *map, size_t *cursor, const char **ret_key, void **ret_value);

/* Removes all keys; the values are the caller's. */
void map_clear(struct map *map);

/* Releases the map but not the values. */
void map_done(struct map *map);

DEFINE_AUTO_DONE(struct map, map_done)
#define auto_map AUTO(map_done)

#endif
