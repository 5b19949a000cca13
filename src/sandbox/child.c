/* SPDX-License-Identifier: MIT */
#include "sandbox/child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "sandbox/plan.h"
#include "sandbox/spec.h"

/* Lives in the parent's memory, where the child, which shares it until it executes, writes. */
struct attempt {
    const struct sandbox_child *child;
    pid_t parent;
    const char *step; /* the step that failed */
    struct err err;
    int rc; /* < 0: a step failed */
};

/* Again after a change of ids, which undoes it. */
static int die_with_parent(const struct attempt *a, struct err *err)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return err_set(err, errno, "tie the process to its supervisor");
    if (getppid() != a->parent) /* it died before it could tell */
        return err_set(err, ESRCH, "the supervisor is gone");
    return 0;
}

static int start_session(const struct attempt *a, struct err *err)
{
    uint32_t flags = a->child->spec->flags;
    if (flags & SANDBOX_SETSID) {
        if (setsid() < 0)
            return err_set(err, errno, "start a session");
    } else if (flags & SANDBOX_PGRP) {
        if (setpgid(0, 0) < 0)
            return err_set(err, errno, "start a process group");
    }
    return 0;
}

/*
 * Targets may be numbers that other descriptors of the request have now. So those are first moved
 * above all targets.
 */
static int place_descriptors(const struct attempt *a, struct err *err)
{
    const struct sandbox_spec *spec = a->child->spec;
    int *fds = a->child->fds;
    int top = 2;
    for (size_t i = 0; i < spec->n_targets; i++)
        if (spec->targets[i] > top)
            top = spec->targets[i];
    for (size_t i = 0; i < spec->n_targets; i++) {
        if (fds[i] > top)
            continue;
        int fd = fcntl(fds[i], F_DUPFD_CLOEXEC, top + 1);
        if (fd < 0)
            return err_set(err, errno, "move descriptor %d above %d", fds[i], top);
        fds[i] = fd;
    }
    /* Ours all are close-on-exec from birth: this is for what a caller may have left open. */
    if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
        return err_set(err, errno, "close other descriptors");
    for (size_t i = 0; i < spec->n_targets; i++)
        if (dup2(fds[i], spec->targets[i]) < 0)
            return err_set(err, errno, "place descriptor %d", spec->targets[i]);
    return 0;
}

static int take_terminal(const struct attempt *a, struct err *err)
{
    if (a->child->spec->flags & SANDBOX_CTTY && ioctl(STDIN_FILENO, TIOCSCTTY, 0) < 0)
        return err_set(err, errno, "make descriptor 0 the controlling terminal");
    return 0;
}

static int apply_plan(const struct attempt *a, struct err *err)
{
    int rc = sandbox_apply(a->child->plan, a->child->means, err);
    if (rc < 0)
        return rc;
    if (a->child->spec->umask >= 0)
        (void)umask((mode_t)a->child->spec->umask);
    return 0;
}

static int enter_directory(const struct attempt *a, struct err *err)
{
    const char *cwd = a->child->spec->cwd;
    if (chdir(cwd) < 0)
        return err_set(err, errno, "enter directory '%s'", cwd);
    return 0;
}

static const char *find_path(const char *const *envp)
{
    for (; *envp; envp++)
        if (strncmp(*envp, "PATH=", 5) == 0)
            return *envp + 5;
    return "/usr/local/bin:/usr/bin:/bin";
}

static void try_exec(const struct sandbox_spec *spec, const char *path)
{
    (void)execve(path, (char *const *)spec->argv, (char *const *)spec->envp);
}

/* As execvpe(3), but a text file without "#!" is not handed to a shell. */
static void search_and_exec(const struct sandbox_spec *spec)
{
    int reason = ENOENT;
    const char *dir = find_path(spec->envp);
    for (;;) {
        size_t len = strcspn(dir, ":");
        char path[4096];
        int n = snprintf(path, sizeof(path), "%.*s%s%s", (int)len, dir, len > 0 ? "/" : "./",
                         spec->path);
        errno = ENAMETOOLONG;
        if (n > 0 && (size_t)n < sizeof(path))
            try_exec(spec, path);
        if (errno == EACCES)
            reason = EACCES; /* told if no other directory has it */
        else if (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG)
            return;
        if (dir[len] == '\0')
            break;
        dir += len + 1;
    }
    errno = reason;
}

static int run_program(const struct attempt *a, struct err *err)
{
    const struct sandbox_spec *spec = a->child->spec;
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (strchr(spec->path, '/'))
        try_exec(spec, spec->path);
    else
        search_and_exec(spec);
    return err_set(err, errno, "execute '%s'", spec->path);
}

/*
 * The order is the design. Descriptors come first, since moving them needs room that a limit of the
 * plan may take away; the directory is entered after the plan, in whose view of the files it lies.
 */
static const struct step {
    const char *name;
    int (*run)(const struct attempt *a, struct err *err);
} steps[] = {
    {"supervisor",  die_with_parent  },
    {"session",     start_session    },
    {"descriptors", place_descriptors},
    {"terminal",    take_terminal    },
    {"sandbox",     apply_plan       },
    {"supervisor",  die_with_parent  },
    {"chdir",       enter_directory  },
    {"exec",        run_program      },
};

static _Noreturn void run_child(struct attempt *a)
{
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        a->rc = steps[i].run(a, &a->err);
        if (a->rc < 0) {
            a->step = steps[i].name;
            break;
        }
    }
    _exit(127);
}

/*
 * The child runs in the memory of its parent, which waits until it executes or exits: nothing is
 * copied, and a failure is read where the child noted it. What it changes apart from that (signal
 * mask, descriptors, directory) is its own. It is kept in a function by itself, so that no variable
 * of the caller is live across the second return.
 */
static __attribute__((noinline)) pid_t start(struct attempt *a)
{
    pid_t pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork): see above */
    if (pid == 0)
        run_child(a); /* NOLINT(clang-analyzer-unix.Vfork) */
    /* To the compiler a function that does not return cannot have changed what the caller sees. */
    __asm__ volatile("" : : "r"(a) : "memory");
    return pid;
}

int sandbox_child_start(const struct sandbox_child *child, pid_t *ret_pid, const char **ret_step,
                        struct err *err)
{
    struct attempt a = {.child = child, .parent = getpid()};
    pid_t pid = start(&a);
    if (pid < 0) {
        *ret_step = "fork";
        return err_set(err, errno, "start a process");
    }
    if (a.rc < 0) {
        (void)waitpid(pid, NULL, 0);
        *ret_step = a.step;
        if (err)
            *err = a.err;
        return a.rc;
    }
    *ret_pid = pid;
    return 0;
}
