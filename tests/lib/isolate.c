/* SPDX-License-Identifier: MIT */
#include "lib/isolate.h"

#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/test.h"
#include "sandbox/landlock.h"
#include "sandbox/plan.h"

enum { HOST_ROOT = 1876543210, HOST_PAYLOAD, PAYLOAD = 1000 };

bool isolate_wanted(void)
{
    const char *text = getenv("NACRE_TEST_ISOLATED");
    return text && strcmp(text, "1") == 0;
}

static void add_system(struct sandbox_plan *plan)
{
    static const char *const dirs[] = {"/usr", "/etc", "/opt"};
    static const char *const links[][2] = {
        {"usr/bin",   "/bin"  },
        {"usr/sbin",  "/sbin" },
        {"usr/lib",   "/lib"  },
        {"usr/lib64", "/lib64"},
    };
    for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
        sandbox_plan_mount(plan, SANDBOX_BIND, dirs[i], dirs[i],
                           SANDBOX_READ_ONLY | SANDBOX_OPTIONAL);
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
        sandbox_plan_mount(plan, SANDBOX_SYMLINK, links[i][0], links[i][1], 0);
    sandbox_plan_mount(plan, SANDBOX_PROC, NULL, "/proc", 0);
    sandbox_plan_mount(plan, SANDBOX_DEV, NULL, "/dev", 0);
    struct sandbox_mount *tmp = sandbox_plan_mount(plan, SANDBOX_TMPFS, NULL, "/tmp", 0);
    if (tmp)
        tmp->mode = 01777;
}

/* Programs of the build that a test runs in its session. */
static void add_build(struct sandbox_plan *plan)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (n <= 0)
        return;
    path[n] = '\0';
    const char *dir = dirname(path);
    sandbox_plan_mount(plan, SANDBOX_BIND, dir, dir, SANDBOX_READ_ONLY);
}

int isolate_plan(void *ctx, const struct session *s, struct sandbox_plan *plan, struct err *err)
{
    (void)ctx;
    (void)s;
    (void)err;
    plan->layers = SANDBOX_USER | SANDBOX_PID | SANDBOX_MOUNT | SANDBOX_IPC | SANDBOX_UTS |
                   SANDBOX_CGROUP_NS | SANDBOX_NET | SANDBOX_TIME | SANDBOX_CAPS | SANDBOX_SECCOMP |
                   SANDBOX_LANDLOCK | SANDBOX_NO_NEW_PRIVS;
    if (sandbox_landlock_abi() == 0)
        plan->layers &= ~(uint32_t)SANDBOX_LANDLOCK;
    sandbox_plan_own_ids(plan);
    if (geteuid() == 0)
        plan->ids = (struct sandbox_ids){.uid = PAYLOAD,
                                         .gid = PAYLOAD,
                                         .host_uid = HOST_PAYLOAD,
                                         .host_gid = HOST_PAYLOAD,
                                         .host_root = HOST_ROOT};
    add_system(plan);
    add_build(plan);
    const char *dir = test_dir();
    struct sandbox_mount *work = sandbox_plan_mount(plan, SANDBOX_BIND, dir, dir, SANDBOX_OWNED);
    struct stat st;
    if (work && stat(dir, &st) == 0) {
        work->owner = st.st_uid;
        work->owner_gid = st.st_gid;
    }
    return 0;
}
