/* SPDX-License-Identifier: MIT */
#include "base/map.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"

enum { INDEX_MIN = 16, MAX_KEYS = 0x7fffffff };

struct map_entry {
    char *key; /* NULL: a hole, its key was removed */
    size_t len;
    uint64_t hash;
    void *value;
};

/* Half of the index may be in use, so a walk along it always meets a free slot. */
static size_t entries_cap(size_t index_size)
{
    return index_size / 2;
}

/* The slot where the key is, or the free one where it would go. */
static size_t find_slot(const struct map *map, const char *key, size_t len, uint64_t hash)
{
    size_t mask = map->index_size - 1;
    for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
        uint32_t number = map->index[slot];
        if (number == 0)
            return slot;
        const struct map_entry *entry = &map->entries[number - 1];
        if (entry->hash == hash && entry->len == len && memcmp(entry->key, key, len) == 0)
            return slot;
    }
}

static struct map_entry *find_entry(const struct map *map, const char *key, size_t len)
{
    if (map->n_live == 0)
        return NULL;
    size_t slot = find_slot(map, key, len, hash_bytes(key, len));
    return map->index[slot] ? &map->entries[map->index[slot] - 1] : NULL;
}

/* Closes the holes and builds the index anew with this size. */
static void rebuild(struct map *map, size_t index_size)
{
    size_t n = 0;
    for (size_t i = 0; i < map->n_entries; i++)
        if (map->entries[i].key)
            map->entries[n++] = map->entries[i];
    map->n_entries = n;

    map->entries = xreallocarray(map->entries, entries_cap(index_size), sizeof(*map->entries));
    free(map->index);
    map->index = xcalloc(index_size, sizeof(*map->index));
    map->index_size = index_size;
    for (size_t i = 0; i < n; i++) {
        const struct map_entry *entry = &map->entries[i];
        map->index[find_slot(map, entry->key, entry->len, entry->hash)] = (uint32_t)i + 1;
    }
}

static void make_room(struct map *map)
{
    size_t cap = entries_cap(map->index_size);
    if (map->n_entries < cap)
        return;
    if (map->index_size == 0)
        rebuild(map, INDEX_MIN);
    else
        rebuild(map, map->n_live > cap / 2 ? 2 * map->index_size : map->index_size);
}

/* Frees a slot, and moves up those behind it that are not where their hash says. */
static void free_slot(struct map *map, size_t slot)
{
    size_t mask = map->index_size - 1;
    size_t hole = slot;
    for (size_t at = (slot + 1) & mask; map->index[at]; at = (at + 1) & mask) {
        size_t home = map->entries[map->index[at] - 1].hash & mask;
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        map->index[hole] = map->index[at];
        hole = at;
    }
    map->index[hole] = 0;
}

void map_init(struct map *map, size_t max)
{
    *map = (struct map)MAP_INIT(max);
}

int map_set(struct map *map, const char *key, void *value)
{
    assert(value);
    size_t len = strlen(key);
    struct map_entry *entry = find_entry(map, key, len);
    if (entry) {
        entry->value = value;
        return 0;
    }
    if (map->n_live >= map->max || map->n_live >= MAX_KEYS)
        return -ERR_LIMIT;

    make_room(map);
    uint64_t hash = hash_bytes(key, len);
    size_t slot = find_slot(map, key, len, hash);
    map->entries[map->n_entries++] =
        (struct map_entry){.key = xmemdup(key, len), .len = len, .hash = hash, .value = value};
    map->index[slot] = (uint32_t)map->n_entries;
    map->n_live++;
    return 0;
}

void *map_get_n(const struct map *map, const char *key, size_t len)
{
    const struct map_entry *entry = find_entry(map, key, len);
    return entry ? entry->value : NULL;
}

void *map_get(const struct map *map, const char *key)
{
    return map_get_n(map, key, strlen(key));
}

void *map_remove(struct map *map, const char *key)
{
    struct map_entry *entry = find_entry(map, key, strlen(key));
    if (!entry)
        return NULL;
    free_slot(map, find_slot(map, entry->key, entry->len, entry->hash));
    void *value = entry->value;
    free(entry->key);
    *entry = (struct map_entry){.key = NULL};
    map->n_live--;
    return value;
}

size_t map_count(const struct map *map)
{
    return map->n_live;
}

bool map_next(const struct map *map, size_t *cursor, const char **ret_key, void **ret_value)
{
    while (*cursor < map->n_entries) {
        const struct map_entry *entry = &map->entries[(*cursor)++];
        if (!entry->key)
            continue;
        if (ret_key)
            *ret_key = entry->key;
        if (ret_value)
            *ret_value = entry->value;
        return true;
    }
    return false;
}

void map_clear(struct map *map)
{
    for (size_t i = 0; i < map->n_entries; i++)
        free(map->entries[i].key);
    if (map->index_size)
        memset(map->index, 0, map->index_size * sizeof(*map->index));
    map->n_entries = map->n_live = 0;
}

void map_done(struct map *map)
{
    if (!map)
        return;
    map_clear(map);
    free(map->entries);
    free(map->index);
    map_init(map, map->max);
}
