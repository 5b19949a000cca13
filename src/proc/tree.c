/* SPDX-License-Identifier: MIT */
#include "proc/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "sandbox/walk.h"

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

/* Whether a walk met a process twice, as it does if that one's parent ends meanwhile. */
static bool has_twins(const struct sandbox_pids *pids, size_t from)
{
    size_t n = pids->n_items - from;
    if (n < 2)
        return false;
    auto_free pid_t *sorted = xmemdup(pids->items + from, n * sizeof(pid_t));
    qsort(sorted, n, sizeof(pid_t), compare_pids);
    for (size_t i = 1; i < n; i++)
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
    sandbox_walk(&pids, 0, SANDBOX_WALK_FAST, NULL, NULL);

    bool twins = has_twins(&pids, 0); /* so that the usual case is not quadratic */
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
