/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "sandbox/caps.h"
#include "sandbox/landlock.h"
#include "sandbox/plan.h"
#include "sandbox/seccomp.h"
#include "sandbox/space.h"

static int add_niceness(const struct sandbox_plan *plan, const struct sandbox_means *means,
                        struct err *err)
{
    (void)means;
    if (plan->nice == 0)
        return 0;
    errno = 0;
    int now = getpriority(PRIO_PROCESS, 0);
    if (now == -1 && errno != 0)
        return err_set(err, errno, "read the niceness");
    if (setpriority(PRIO_PROCESS, 0, now + plan->nice) < 0)
        return err_set(err, errno, "add %d to the niceness", plan->nice);
    return 0;
}

static int set_umask(const struct sandbox_plan *plan, const struct sandbox_means *means,
                     struct err *err)
{
    (void)means;
    (void)err;
    (void)umask(plan->umask < 0 ? 022 : (mode_t)plan->umask);
    return 0;
}

static rlim_t lower_of(rlim_t a, rlim_t b)
{
    return a < b ? a : b; /* RLIM_INFINITY is the largest */
}

static int set_rlimits(const struct sandbox_plan *plan, const struct sandbox_means *means,
                       struct err *err)
{
    (void)means;
    for (int i = 0; i < RLIM_NLIMITS; i++) {
        const struct sandbox_rlimit *limit = &plan->rlimits[i];
        if (!limit->set)
            continue;
        struct rlimit want = {.rlim_cur = limit->soft, .rlim_max = limit->hard};
        if (setrlimit((__rlimit_resource_t)i, &want) == 0)
            continue;
        if (errno != EPERM)
            return err_set(err, errno, "set resource limit %d", i);
        /* Not allowed to raise the hard limit, even for root in some containers. */
        struct rlimit now;
        if (getrlimit((__rlimit_resource_t)i, &now) < 0)
            return err_set(err, errno, "read resource limit %d", i);
        want.rlim_max = lower_of(want.rlim_max, now.rlim_max);
        want.rlim_cur = lower_of(want.rlim_cur, want.rlim_max);
        if (setrlimit((__rlimit_resource_t)i, &want) < 0)
            return err_set(err, errno, "lower resource limit %d", i);
    }
    return 0;
}

/*
 * The raw calls, since the child shares the memory of its parent: what the C library keeps about
 * its threads' ids must not change. Capabilities outlive the change, to be dropped by themselves.
 */
static int change_ids(const struct sandbox_plan *plan, const struct sandbox_means *means,
                      struct err *err)
{
    (void)means;
    if (!sandbox_space_is_privileged(plan))
        return 0;
    unsigned uid = plan->ids.uid, gid = plan->ids.gid;
    if (plan->layers & SANDBOX_CAPS &&
        prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP | SECBIT_NOROOT) < 0)
        return err_set(err, errno, "keep ids and capabilities apart");
    if (syscall(SYS_setgroups, 0, NULL) < 0)
        return err_set(err, errno, "leave all groups");
    if (syscall(SYS_setresgid, gid, gid, gid) < 0)
        return err_set(err, errno, "change to group %u", gid);
    if (syscall(SYS_setresuid, uid, uid, uid) < 0)
        return err_set(err, errno, "change to user %u", uid);
    return 0;
}

static int set_no_new_privs(const struct sandbox_plan *plan, const struct sandbox_means *means,
                            struct err *err)
{
    (void)means;
    if (plan->layers & SANDBOX_NO_NEW_PRIVS && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return err_set(err, errno, "give up new privileges");
    return 0;
}

static int drop_capabilities(const struct sandbox_plan *plan, const struct sandbox_means *means,
                             struct err *err)
{
    (void)means;
    return plan->layers & SANDBOX_CAPS ? sandbox_caps_drop(0, err) : 0;
}

static int restrict_access(const struct sandbox_plan *plan, const struct sandbox_means *means,
                           struct err *err)
{
    return plan->layers & SANDBOX_LANDLOCK ? sandbox_landlock_restrict(means->landlock_fd, err) : 0;
}

static int install_filter(const struct sandbox_plan *plan, const struct sandbox_means *means,
                          struct err *err)
{
    return plan->layers & SANDBOX_SECCOMP ? sandbox_filter_install(means->filter, err) : 0;
}

/*
 * The order is the design: each step may still need what the next takes away.
 */
static const struct step {
    const char *name;
    int (*apply)(const struct sandbox_plan *plan, const struct sandbox_means *means,
                 struct err *err);
} steps[] = {
    {"niceness",               add_niceness     },
    {"umask",                  set_umask        },
    {"resource limits",        set_rlimits      },
    {"ids",                    change_ids       },
    {"capabilities",           drop_capabilities},
    {"no new privileges",      set_no_new_privs },
    {"Landlock rules",         restrict_access  },
    {"filter of system calls", install_filter   },
};

int sandbox_apply(const struct sandbox_plan *plan, const struct sandbox_means *means,
                  struct err *err)
{
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        int rc = steps[i].apply(plan, means, err);
        if (rc < 0)
            return err_wrap(err, rc, "sandbox: %s", steps[i].name);
    }
    return 0;
}
