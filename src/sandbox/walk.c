/* SPDX-License-Identifier: MIT */
#include "sandbox/walk.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

struct parent {
    pid_t ppid;
    pid_t pid;
};

struct scan {
    struct parent *items; /* sorted by ppid */
    size_t n_items;
    size_t cap;
};

static bool is_full(const struct sandbox_pids *pids)
{
    return pids->max > 0 && pids->n_items >= pids->max;
}

void sandbox_pids_add(struct sandbox_pids *pids, pid_t pid)
{
    if (is_full(pids))
        return;
    if (pids->n_items == pids->cap) {
        pids->cap = pids->cap ? 2 * pids->cap : 64;
        pids->items = xreallocarray(pids->items, pids->cap, sizeof(*pids->items));
    }
    pids->items[pids->n_items++] = pid;
}

void sandbox_pids_done(struct sandbox_pids *pids)
{
    free(pids->items);
    *pids = (struct sandbox_pids){.max = pids->max};
}

/* Appends the numbers of a `children` file, "12 13 14 ". They may be split between reads. */
static void read_children(struct sandbox_pids *pids, int dirfd, const char *path)
{
    auto_close int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    char text[4096];
    pid_t pid = 0;
    for (;;) {
        ssize_t n = read(fd, text, sizeof(text));
        if (n <= 0)
            return;
        for (ssize_t i = 0; i < n; i++) {
            if (isdigit((unsigned char)text[i])) {
                pid = 10 * pid + (text[i] - '0');
            } else if (pid > 0) {
                sandbox_pids_add(pids, pid);
                pid = 0;
            }
        }
    }
}

static void read_children_of_threads(struct sandbox_pids *pids, const char *task_dir)
{
    DIR *dir = opendir(task_dir);
    if (!dir)
        return;
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        char path[sizeof(entry->d_name) + sizeof("/children")];
        (void)snprintf(path, sizeof(path), "%s/children", entry->d_name);
        read_children(pids, dirfd(dir), path);
    }
    (void)closedir(dir);
}

static void read_children_of(struct sandbox_pids *pids, pid_t pid)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
    struct stat st;
    if (stat(path, &st) < 0)
        return;
    /* The directory has a link for each thread besides its own two. */
    if (st.st_nlink != 3) {
        read_children_of_threads(pids, path);
        return;
    }
    (void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
    read_children(pids, AT_FDCWD, path);
}

/* The fourth field of a stat file; the second, in brackets, may hold anything. */
static pid_t read_ppid(int proc_fd, const char *pid)
{
    char text[512];
    (void)snprintf(text, sizeof(text), "%.20s/stat", pid);
    auto_close int fd = openat(proc_fd, text, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, text, sizeof(text) - 1);
    if (n <= 0)
        return -1;
    text[n] = '\0';
    const char *bracket = strrchr(text, ')');
    if (!bracket || strlen(bracket) < 5)
        return -1;
    return (pid_t)strtol(bracket + 4, NULL, 10);
}

static int compare_parents(const void *a, const void *b)
{
    pid_t x = ((const struct parent *)a)->ppid;
    pid_t y = ((const struct parent *)b)->ppid;
    return (x > y) - (x < y);
}

static void scan_proc(struct scan *scan)
{
    DIR *dir = opendir("/proc");
    if (!dir)
        return;
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        pid_t ppid = read_ppid(dirfd(dir), entry->d_name);
        if (ppid <= 0)
            continue;
        if (scan->n_items == scan->cap) {
            scan->cap = scan->cap ? 2 * scan->cap : 256;
            scan->items = xreallocarray(scan->items, scan->cap, sizeof(*scan->items));
        }
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        scan->items[scan->n_items++] = (struct parent){.ppid = ppid, .pid = pid};
    }
    (void)closedir(dir);
    if (scan->n_items > 0)
        qsort(scan->items, scan->n_items, sizeof(*scan->items), compare_parents);
}

static void add_scanned_children(const struct scan *scan, struct sandbox_pids *pids, pid_t pid)
{
    size_t low = 0;
    size_t high = scan->n_items;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (scan->items[middle].ppid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i < scan->n_items && scan->items[i].ppid == pid; i++)
        sandbox_pids_add(pids, scan->items[i].pid);
}

static bool kernel_lists_children(void)
{
    static int known; /* 0: not looked yet */
    if (known == 0)
        known = access("/proc/thread-self/children", R_OK) == 0 ? 1 : -1;
    return known > 0;
}

void sandbox_walk_children(struct sandbox_pids *pids, pid_t pid, enum sandbox_walk_way way)
{
    if (way == SANDBOX_WALK_FAST && kernel_lists_children()) {
        read_children_of(pids, pid);
        return;
    }
    struct scan scan = {0};
    scan_proc(&scan);
    add_scanned_children(&scan, pids, pid);
    free(scan.items);
}

void sandbox_walk(struct sandbox_pids *pids, size_t from, enum sandbox_walk_way way,
                  sandbox_visit_fn visit, void *ctx)
{
    struct scan scan = {0};
    bool fast = way == SANDBOX_WALK_FAST && kernel_lists_children();
    if (!fast && from < pids->n_items)
        scan_proc(&scan);
    for (size_t i = from; i < pids->n_items; i++) {
        pid_t pid = pids->items[i];
        if (visit)
            visit(pid, ctx);
        if (fast)
            read_children_of(pids, pid);
        else
            add_scanned_children(&scan, pids, pid);
    }
    free(scan.items);
}
