/* SPDX-License-Identifier: MIT */
#include "proc/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "sandbox/walk.h"

enum { ROUNDS_MAX = 8 }; /* there is no end to those that do nothing but fork */

static int compare_pids(const void *a, const void *b)
{
    pid_t x = *(const pid_t *)a;
    pid_t y = *(const pid_t *)b;
    return (x > y) - (x < y);
}

static void append(struct proc_list *list, const struct proc_info *info)
{
    if (list->n_items == list->cap) {
        list->cap = list->cap ? 2 * list->cap : 32;
        list->items = xreallocarray(list->items, list->cap, sizeof(*list->items));
    }
    list->items[list->n_items++] = *info;
}

/* A sorted copy, for the caller to free. */
static pid_t *sort_pids(const struct sandbox_pids *pids)
{
    pid_t *sorted = xmemdup(pids->items, pids->n_items * sizeof(pid_t));
    if (pids->n_items > 1)
        qsort(sorted, pids->n_items, sizeof(pid_t), compare_pids);
    return sorted;
}

/*
 * Adds the children that the roots have by now and that are not there: what belonged to a parent
 * that ended while the walk was between the root and it. Returns whether there were any.
 */
static bool add_latecomers(struct sandbox_pids *pids, size_t n_roots)
{
    AUTO(sandbox_pids_done) struct sandbox_pids now = {.max = pids->max};
    for (size_t i = 0; i < n_roots; i++)
        sandbox_walk_children(&now, pids->items[i], SANDBOX_WALK_FAST);
    if (now.n_items == 0)
        return false;
    auto_free pid_t *known = sort_pids(pids);
    size_t n_known = pids->n_items;
    for (size_t i = 0; i < now.n_items; i++)
        if (!bsearch(&now.items[i], known, n_known, sizeof(pid_t), compare_pids))
            sandbox_pids_add(pids, now.items[i]);
    return pids->n_items > n_known;
}

/* Whether a walk met a process twice, as it does if that one's parent ends meanwhile. */
static bool has_twins(const struct sandbox_pids *pids)
{
    auto_free pid_t *sorted = sort_pids(pids);
    for (size_t i = 1; i < pids->n_items; i++)
        if (sorted[i] == sorted[i - 1])
            return true;
    return false;
}

static bool is_listed(const struct sandbox_pids *pids, size_t n, pid_t pid)
{
    for (size_t i = 0; i < n; i++)
        if (pids->items[i] == pid)
            return true;
    return false;
}

int proc_tree_list(const pid_t *roots, size_t n_roots, struct proc_list *list)
{
    AUTO(sandbox_pids_done) struct sandbox_pids pids = {.max = n_roots + PROC_LIST_MAX + 1};
    for (size_t i = 0; i < n_roots; i++)
        sandbox_pids_add(&pids, roots[i]);
    bool more = n_roots > 0;
    for (size_t walked = 0, round = 0; more && round < ROUNDS_MAX; round++) {
        sandbox_walk(&pids, walked, SANDBOX_WALK_FAST, NULL, NULL);
        walked = pids.n_items;
        more = add_latecomers(&pids, n_roots);
    }

    bool twins = n_roots > 0 && has_twins(&pids); /* so that the usual case is not quadratic */
    for (size_t i = n_roots; i < pids.n_items; i++) {
        if (i - n_roots == PROC_LIST_MAX)
            return -ERR_LIMIT;
        struct proc_info info;
        if (twins && is_listed(&pids, i, pids.items[i]))
            continue;
        if (proc_info_read(pids.items[i], &info) == 0)
            append(list, &info);
    }
    return 0;
}

void proc_list_clear(struct proc_list *list)
{
    list->n_items = 0;
}

void proc_list_done(struct proc_list *list)
{
    free(list->items);
    *list = (struct proc_list){0};
}

size_t proc_tree_kill(const struct proc_list *list, int signo, proc_match_fn skip, void *ctx)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n_items; i++) {
        const struct proc_info *info = &list->items[i];
        if (skip && skip(info, ctx))
            continue;
        if (proc_kill(info->pid, info->starttime, signo) == 0)
            n++;
    }
    return n;
}
