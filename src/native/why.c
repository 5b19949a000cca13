/* SPDX-License-Identifier: MIT */
/*
 * What a command is waiting for, told from the system calls its processes are in:
 * never from what it printed.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "native/priv.h"

enum { WHY_PROCESSES = 4, WHY_MAX = 4096 };

static const char *const wait_texts[] = {
    [PROC_WAIT_NONE] = "is running",
    [PROC_WAIT_TTY] = "waits for input from a terminal",
    [PROC_WAIT_PIPE] = "waits for input from a pipe",
    [PROC_WAIT_SOCKET] = "waits for a socket",
    [PROC_WAIT_WRITE] = "waits for somebody to read its output",
    [PROC_WAIT_CHILD] = "waits for a child process",
    [PROC_WAIT_TIMER] = "sleeps",
    [PROC_WAIT_LOCK] = "waits for a lock",
    [PROC_WAIT_POLL] = "waits for several things at once",
    [PROC_WAIT_DISK] = "waits for a device",
    [PROC_WAIT_STOPPED] = "is stopped",
    [PROC_WAIT_ENDED] = "has ended and was not waited for",
    [PROC_WAIT_OTHER] = "waits in the kernel",
};

static bool has_child(const struct proc_list *list, pid_t pid)
{
    for (size_t i = 0; i < list->n_items; i++)
        if (list->items[i].ppid == pid)
            return true;
    return false;
}

/* Whether the process reads what our input is written to. */
static bool reads_input(pid_t pid, const struct proc_wait *wait, const struct input *in)
{
    struct stat st;
    if (wait->kind == PROC_WAIT_TTY)
        return true;
    return wait->kind == PROC_WAIT_PIPE && in->fd >= 0 && fstat(in->fd, &st) == 0 &&
           proc_holds_file(pid, st.st_dev, st.st_ino) == 1;
}

static bool add_process(struct buf *text, pid_t pid, const char *name, const struct input *in,
                        bool *needs_input)
{
    struct proc_wait wait;
    if (proc_wait_read(pid, &wait) < 0)
        return false;
    if (reads_input(pid, &wait, in))
        *needs_input = true;
    (void)buf_printf(text, "%s%s (pid %d) %s", text->len ? "; " : "", name, (int)pid,
                     wait_texts[wait.kind]);
    return true;
}

char *why_of(const struct proc_list *list, pid_t shell, const struct input *in, bool *needs_input)
{
    auto_buf struct buf text = BUF_INIT(WHY_MAX);
    int n = 0;
    *needs_input = false;
    for (size_t i = 0; i < list->n_items && n < WHY_PROCESSES; i++) {
        const struct proc_info *p = &list->items[i];
        /* Who waits for a child says nothing new: the child does. */
        if (!has_child(list, p->pid) && add_process(&text, p->pid, p->comm, in, needs_input))
            n++;
    }
    if (!n && shell > 0)
        (void)add_process(&text, shell, "the shell itself", in, needs_input);
    return text.len ? xstrdup(buf_cstr(&text)) : NULL;
}
