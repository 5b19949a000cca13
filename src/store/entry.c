/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "store/priv.h"

struct store_entry *store_entry_new(enum store_kind kind, const char *const part[STORE_N_PARTS],
                                    const size_t len[STORE_N_PARTS])
{
    size_t size = 0;
    for (int i = 0; i < STORE_N_PARTS; i++)
        size += part[i] ? len[i] + 1 : 0;
    struct store_entry *e = calloc(1, sizeof(*e) + size);
    if (!e)
        return NULL;
    e->kind = kind;
    e->size = size;
    char *at = e->data;
    for (int i = 0; i < STORE_N_PARTS; i++) {
        if (!part[i])
            continue;
        if (len[i])
            memcpy(at, part[i], len[i]);
        e->part[i] = at;
        e->len[i] = len[i];
        at += len[i] + 1;
    }
    return e;
}

void store_entries_free(struct list *entries)
{
    LIST_FOREACH(link, entries)
    {
        list_remove(link);
        free(list_entry(link, struct store_entry, link));
    }
}
