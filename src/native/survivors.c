/* SPDX-License-Identifier: MIT */
/*
 * Which processes belong to which command.
 *
 * All that descends from the shell or was orphaned to its supervisor, less what
 * lived before the command began and what descends from that. An orphan is told
 * by the session or group of the process it came from, and else by its age.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "native/priv.h"

/* Whether the children file behind fd names another process than `known`. */
static bool has_other_child(int fd, pid_t known)
{
    char text[64];
    ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);
    if (n < 0)
        return true; /* not known: look closely */
    text[n] = '\0';
    char *end = NULL;
    for (char *p = text; *p; p = end) {
        long pid = strtol(p, &end, 10);
        if (end == p)
            break;
        if (pid != known)
            return true;
        while (*end == ' ')
            end++;
    }
    return false;
}

bool survivors_any(struct shell *sh)
{
    if (!sh->box)
        return false;
    return has_other_child(sh->box_children, sh->pid) ||
           (sh->pid && has_other_child(sh->shell_children, 0));
}

static int list_all(struct shell *sh, struct proc_list *list)
{
    proc_list_clear(list);
    if (!sh->box)
        return 0;
    pid_t root = proc_box_pid(sh->box);
    return proc_tree_list(&root, 1, list);
}

void survivors_mark(struct shell *sh)
{
    proc_list_clear(&sh->before);
    if (survivors_any(sh))
        (void)list_all(sh, &sh->before); /* as much as could be read */
}

static const struct proc_info *find(const struct proc_list *list, pid_t pid)
{
    for (size_t i = 0; i < list->n_items; i++)
        if (list->items[i].pid == pid)
            return &list->items[i];
    return NULL;
}

/* The number of the command's bash, also once it has ended: its session and group go on. */
static pid_t bash_of(const struct shell *sh)
{
    return sh->pid ? sh->pid : sh->last_pid;
}

/* An orphan of something that lived before: it kept that one's session or group. */
static bool is_of_before(const struct shell *sh, const struct proc_info *p)
{
    pid_t bash = bash_of(sh);
    for (size_t i = 0; i < sh->before.n_items; i++) {
        const struct proc_info *old = &sh->before.items[i];
        if (old->pid == bash)
            continue;
        if ((old->sid != bash && old->sid == p->sid) || (old->pgid != bash && old->pgid == p->pgid))
            return true;
    }
    return false;
}

int survivors_list(struct shell *sh, struct proc_list *list)
{
    pid_t bash = bash_of(sh);
    int rc = list_all(sh, list);
    pid_t box = sh->box ? proc_box_pid(sh->box) : 0;
    /* Parents come first: what is dropped takes its children along. */
    struct proc_list dropped = {0};
    size_t kept = 0;
    for (size_t i = 0; i < list->n_items; i++) {
        struct proc_info *p = &list->items[i];
        const struct proc_info *old = find(&sh->before, p->pid);
        bool drop = p->pid == bash || p->state == 'Z' || p->state == 'X' ||
                    (old && old->starttime == p->starttime) ||
                    (p->ppid != bash && find(&dropped, p->ppid)) ||
                    (p->ppid == box && is_of_before(sh, p));
        if (!drop) {
            list->items[kept++] = *p;
            continue;
        }
        if (p->pid == bash)
            continue;
        if (dropped.n_items == dropped.cap) {
            dropped.cap = dropped.cap ? 2 * dropped.cap : 16;
            dropped.items = xreallocarray(dropped.items, dropped.cap, sizeof(*dropped.items));
        }
        dropped.items[dropped.n_items++] = *p;
    }
    list->n_items = kept;
    proc_list_done(&dropped);
    return rc;
}

void survivors_record(struct shell *sh, struct command *c)
{
    if (!survivors_any(sh))
        return;
    struct proc_list list = {0};
    (void)survivors_list(sh, &list);
    if (list.n_items) {
        c->survivors = xnew_n(pid_t, list.n_items);
        c->survivor_starts = xnew_n(uint64_t, list.n_items);
        c->n_survivors = list.n_items;
    }
    for (size_t i = 0; i < list.n_items; i++) {
        c->survivors[i] = list.items[i].pid;
        c->survivor_starts[i] = list.items[i].starttime;
    }
    proc_list_done(&list);
}

int survivors_kill(struct command *c)
{
    int n = 0;
    for (size_t i = 0; i < c->n_survivors; i++) {
        struct proc_info info;
        pid_t pid = c->survivors[i];
        if (proc_info_read(pid, &info) < 0 || info.starttime != c->survivor_starts[i] ||
            info.state == 'Z')
            continue;
        /* Its children first: once it is dead they belong to nobody. */
        struct proc_list below = {0};
        (void)proc_tree_list(&pid, 1, &below);
        n += proc_kill(pid, info.starttime, SIGKILL) == 0;
        n += (int)proc_tree_kill(&below, SIGKILL, NULL, NULL);
        proc_list_done(&below);
    }
    return n;
}

bool process_has_signal(pid_t pid, const char *set, int signal)
{
    auto_buf struct buf text = BUF_INIT((size_t)16 * 1024);
    char path[64], field[16];
    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    (void)snprintf(field, sizeof(field), "\n%s:", set);
    if (pid <= 0 || io_read_file(AT_FDCWD, path, text.max, &text, NULL) < 0)
        return false;
    const char *line = strstr(buf_cstr(&text), field);
    return line && signal <= 64 && (strtoull(line + strlen(field), NULL, 16) >> (signal - 1) & 1);
}
