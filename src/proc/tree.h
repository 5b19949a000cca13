/* SPDX-License-Identifier: MIT */
/*
 * proc/tree - looking at processes, and at trees of them, through /proc.
 *
 * What is read is a picture of a moment: processes may start and end meanwhile.
 * Signals are sent through a pidfd after the start time was compared, so that
 * they never reach another process that got the same number.
 *
 * Functions about one process return -ESRCH when there is none (any more), and
 * -EACCES or -EPERM when it may not be looked at.
 */
#ifndef PROC_TREE_H
#define PROC_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

struct proc_info {
    pid_t pid;
    pid_t ppid;
    pid_t pgid;
    pid_t sid;
    uint64_t starttime; /* clock ticks after boot; pid and starttime name a process for ever */
    char state;         /* R S D T t Z X I, as in proc(5) */
    char comm[17];      /* as it calls itself: any bytes but NUL */
};

struct proc_list {
    struct proc_info *items;
    size_t n_items;
    size_t cap;
};

/*
 * Appends all descendants of the roots, most parents before their children; the roots themselves
 * are left out. A process is listed once. One whose parent ends meanwhile is not missed if it then
 * belongs to a root, as in a box whose supervisor is the root. At most PROC_LIST_MAX (then
 * -ERR_LIMIT, with the list filled so far).
 */
enum { PROC_LIST_MAX = 65536 };
int proc_tree_list(const pid_t *roots, size_t n_roots, struct proc_list *list);
void proc_list_clear(struct proc_list *list);
void proc_list_done(struct proc_list *list);

typedef bool (*proc_match_fn)(const struct proc_info *info, void *ctx);

/*
 * Sends signo to all in the list that still run and for which `skip` (may be NULL) is false.
 * Returns how many got it.
 */
size_t proc_tree_kill(const struct proc_list *list, int signo, proc_match_fn skip, void *ctx);

int proc_info_read(pid_t pid, struct proc_info *ret_info);

/*
 * Whether /proc shows the processes of this PID namespace, by the numbers that they have in it.
 * Without that no tree can be seen and none be ended: -ERR_UNSUPPORTED.
 */
int proc_check(struct err *err);

/* Sends signo if the process is still the one that started then; -ESRCH if not. */
int proc_kill(pid_t pid, uint64_t starttime, int signo);

/*
 * A descriptor that tells quickly (a few us) whether the main thread of pid has children, zombies
 * included. It stays valid, and says -ESRCH, after the process has ended.
 */
int proc_children_open(pid_t pid);
int proc_has_children(int fd); /* 1, 0, or -errno */

/* Whether pid holds an open descriptor of this file (a pipe's inode, say): 1, 0, or -errno. */
int proc_holds_file(pid_t pid, dev_t dev, ino_t ino);

/* The working directory; "/x (deleted)" if it is no more. *ret_path is for the caller to free. */
int proc_cwd(pid_t pid, char **ret_path);

/*
 * The command line with blanks between arguments, cut at 4 KiB; "[comm]" if there is none.
 * *ret_text is for the caller to free. It is what the process claims, any bytes but NUL.
 */
int proc_cmdline(pid_t pid, char **ret_text);

struct proc_cpu {
    uint64_t user_us;
    uint64_t system_us;
    uint64_t children_user_us; /* of those that it waited for */
    uint64_t children_system_us;
};

/* Resolution is that of the clock tick, 10 ms. */
int proc_cpu_read(pid_t pid, struct proc_cpu *ret_cpu);

enum proc_wait_kind {
    PROC_WAIT_NONE,   /* running, or waiting for a CPU */
    PROC_WAIT_TTY,    /* reads from a terminal */
    PROC_WAIT_PIPE,   /* reads from a pipe */
    PROC_WAIT_SOCKET, /* reads from, connects or accepts on a socket */
    PROC_WAIT_WRITE,  /* writes to what is full */
    PROC_WAIT_CHILD,  /* waits for a child */
    PROC_WAIT_TIMER,  /* sleeps */
    PROC_WAIT_LOCK,   /* waits for a lock in memory or on a file */
    PROC_WAIT_POLL,   /* waits for several things */
    PROC_WAIT_DISK,   /* uninterruptible */
    PROC_WAIT_STOPPED,
    PROC_WAIT_ENDED, /* a zombie */
    PROC_WAIT_OTHER,
};

struct proc_wait {
    enum proc_wait_kind kind;
    pid_t tid;      /* the thread that it was seen in */
    long syscall;   /* -1 when not known */
    int fd;         /* what it reads or writes; -1 when that is not known */
    char wchan[32]; /* kernel function it sleeps in; "" when not known */
};

/*
 * What a process waits for. Of several threads, one that runs wins (PROC_WAIT_NONE), then one that
 * reads from a terminal, pipe or socket, then the first.
 */
int proc_wait_read(pid_t pid, struct proc_wait *ret_wait);

#endif
