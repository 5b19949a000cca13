/* SPDX-License-Identifier: MIT */
/*
 * What a process waits for, told from the system call that a thread is in. Where
 * that may not be read (another user, a process that is not dumpable), the name of
 * the kernel function it sleeps in has to do.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "proc/stat_priv.h"
#include "proc/tree.h"

enum { PATH_SIZE = 96 };

/* How the kind follows from a call. */
enum rule {
    RULE_KIND,  /* it is the kind of the row */
    RULE_READ,  /* by the type of the descriptor in the first argument */
    RULE_WRITE, /* the same, for writing */
};

static const struct {
    long number;
    enum rule rule;
    enum proc_wait_kind kind;
} calls[] = {
    {SYS_read,            RULE_READ,  PROC_WAIT_OTHER },
    {SYS_readv,           RULE_READ,  PROC_WAIT_OTHER },
    {SYS_recvfrom,        RULE_READ,  PROC_WAIT_SOCKET},
    {SYS_recvmsg,         RULE_READ,  PROC_WAIT_SOCKET},
    {SYS_accept4,         RULE_READ,  PROC_WAIT_SOCKET},
    {SYS_accept,          RULE_READ,  PROC_WAIT_SOCKET},
    {SYS_connect,         RULE_READ,  PROC_WAIT_SOCKET},
    {SYS_splice,          RULE_READ,  PROC_WAIT_OTHER },
    {SYS_write,           RULE_WRITE, PROC_WAIT_WRITE },
    {SYS_writev,          RULE_WRITE, PROC_WAIT_WRITE },
    {SYS_sendto,          RULE_WRITE, PROC_WAIT_WRITE },
    {SYS_sendmsg,         RULE_WRITE, PROC_WAIT_WRITE },
    {SYS_wait4,           RULE_KIND,  PROC_WAIT_CHILD },
    {SYS_waitid,          RULE_KIND,  PROC_WAIT_CHILD },
#ifdef SYS_vfork  /* newer architectures have clone only */
    {SYS_vfork,           RULE_KIND,  PROC_WAIT_CHILD },
#endif
    {SYS_nanosleep,       RULE_KIND,  PROC_WAIT_TIMER },
    {SYS_clock_nanosleep, RULE_KIND,  PROC_WAIT_TIMER },
    {SYS_futex,           RULE_KIND,  PROC_WAIT_LOCK  },
    {SYS_flock,           RULE_KIND,  PROC_WAIT_LOCK  },
    {SYS_fcntl,           RULE_KIND,  PROC_WAIT_LOCK  },
#ifdef SYS_poll
    {SYS_poll,            RULE_KIND,  PROC_WAIT_POLL  },
    {SYS_select,          RULE_KIND,  PROC_WAIT_POLL  },
    {SYS_epoll_wait,      RULE_KIND,  PROC_WAIT_POLL  },
#endif
    {SYS_ppoll,           RULE_KIND,  PROC_WAIT_POLL  },
    {SYS_pselect6,        RULE_KIND,  PROC_WAIT_POLL  },
    {SYS_epoll_pwait,     RULE_KIND,  PROC_WAIT_POLL  },
};

/* Names of functions that begin so. */
static const struct {
    const char *prefix;
    enum proc_wait_kind kind;
} functions[] = {
    {"n_tty_read",        PROC_WAIT_TTY   },
    {"pipe_read",         PROC_WAIT_PIPE  },
    {"anon_pipe_read",    PROC_WAIT_PIPE  },
    {"fifo_pipe_read",    PROC_WAIT_PIPE  },
    {"pipe_write",        PROC_WAIT_WRITE },
    {"anon_pipe_write",   PROC_WAIT_WRITE },
    {"unix_stream_read",  PROC_WAIT_SOCKET},
    {"inet_csk_accept",   PROC_WAIT_SOCKET},
    {"do_wait",           PROC_WAIT_CHILD },
    {"hrtimer_nanosleep", PROC_WAIT_TIMER },
    {"do_nanosleep",      PROC_WAIT_TIMER },
    {"futex_",            PROC_WAIT_LOCK  },
    {"poll_",             PROC_WAIT_POLL  },
    {"do_poll",           PROC_WAIT_POLL  },
    {"do_select",         PROC_WAIT_POLL  },
    {"ep_poll",           PROC_WAIT_POLL  },
    {"do_epoll_wait",     PROC_WAIT_POLL  },
};

static bool is_terminal(dev_t rdev)
{
    unsigned type = major(rdev); /* devices.txt: consoles and serial lines, /dev/tty, ptys */
    return type == 4 || type == 5 || (type >= 136 && type <= 143) || type == 204;
}

static enum proc_wait_kind kind_of_fd(pid_t pid, int fd, enum proc_wait_kind otherwise)
{
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
    struct stat st;
    if (stat(path, &st) < 0)
        return otherwise;
    if (S_ISFIFO(st.st_mode))
        return PROC_WAIT_PIPE;
    if (S_ISSOCK(st.st_mode))
        return PROC_WAIT_SOCKET;
    if (S_ISCHR(st.st_mode) && is_terminal(st.st_rdev))
        return PROC_WAIT_TTY;
    return otherwise;
}

static void judge_call(pid_t pid, long number, unsigned long first, struct proc_wait *wait)
{
    wait->syscall = number;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (calls[i].number != number)
            continue;
        wait->kind = calls[i].kind;
        if (calls[i].rule == RULE_KIND)
            return;
        wait->fd = (int)first;
        if (calls[i].rule == RULE_READ)
            wait->kind = kind_of_fd(pid, wait->fd, calls[i].kind);
        return;
    }
}

static void judge_function(struct proc_wait *wait)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (strncmp(wait->wchan, functions[i].prefix, strlen(functions[i].prefix)) == 0) {
            wait->kind = functions[i].kind;
            return;
        }
    }
}

static void judge_sleeper(pid_t pid, const char *task, struct proc_wait *wait)
{
    char path[PATH_SIZE];
    char text[256];
    (void)snprintf(path, sizeof(path), "%s/wchan", task);
    /* "0": it does not sleep, or it is not for us to know */
    if (proc_read_file(path, wait->wchan, sizeof(wait->wchan)) <= 0 ||
        strcmp(wait->wchan, "0") == 0)
        wait->wchan[0] = '\0';
    (void)snprintf(path, sizeof(path), "%s/syscall", task);
    char *end = text;
    long number = -1; /* "0 0x0 0x7f...": the call and its arguments; or "running" */
    if (proc_read_file(path, text, sizeof(text)) > 0)
        number = strtol(text, &end, 10);
    if (end > text && number >= 0)
        judge_call(pid, number, strtoul(end, NULL, 16), wait);
    else
        judge_function(wait);
}

static int read_thread(pid_t pid, pid_t tid, struct proc_wait *ret)
{
    char task[48];
    char path[PATH_SIZE];
    (void)snprintf(task, sizeof(task), "%d/task/%d", pid, tid);
    (void)snprintf(path, sizeof(path), "%s/stat", task);
    struct proc_stat stat;
    int rc = proc_stat_read(path, &stat);
    if (rc < 0)
        return rc;
    *ret = (struct proc_wait){.kind = PROC_WAIT_OTHER, .tid = tid, .syscall = -1, .fd = -1};
    switch (stat.info.state) {
    case 'R':
        ret->kind = PROC_WAIT_NONE;
        break;
    case 'T':
    case 't':
        ret->kind = PROC_WAIT_STOPPED;
        break;
    case 'Z':
    case 'X':
        ret->kind = PROC_WAIT_ENDED;
        break;
    case 'D':
        judge_sleeper(pid, task, ret);
        /* A vfork waits without being interruptible, and still it is a child that is waited for. */
        if (ret->kind != PROC_WAIT_CHILD)
            ret->kind = PROC_WAIT_DISK;
        break;
    default:
        judge_sleeper(pid, task, ret);
        break;
    }
    return 0;
}

/* Which of several threads speaks for the process: the lowest. */
static int rank(enum proc_wait_kind kind)
{
    switch (kind) {
    case PROC_WAIT_NONE:
        return 0;
    case PROC_WAIT_TTY:
        return 1;
    case PROC_WAIT_PIPE:
        return 2;
    case PROC_WAIT_SOCKET:
        return 3;
    case PROC_WAIT_WRITE:
    case PROC_WAIT_CHILD:
    case PROC_WAIT_TIMER:
    case PROC_WAIT_LOCK:
    case PROC_WAIT_POLL:
    case PROC_WAIT_DISK:
    case PROC_WAIT_STOPPED:
    case PROC_WAIT_OTHER:
        return 4;
    case PROC_WAIT_ENDED: /* a thread that ended says nothing about the rest */
        return 5;
    }
    return 5;
}

int proc_wait_read(pid_t pid, struct proc_wait *ret_wait)
{
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
    DIR *dir = opendir(path);
    if (!dir)
        return errno == ENOENT ? -ESRCH : -errno;
    int rc = -ESRCH;
    struct proc_wait best = {.kind = PROC_WAIT_OTHER};
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        struct proc_wait wait;
        if (!isdigit((unsigned char)entry->d_name[0]) ||
            read_thread(pid, (pid_t)strtol(entry->d_name, NULL, 10), &wait) < 0)
            continue;
        if (rc < 0 || rank(wait.kind) < rank(best.kind))
            best = wait;
        rc = 0;
    }
    (void)closedir(dir);
    if (rc == 0)
        *ret_wait = best;
    return rc;
}
