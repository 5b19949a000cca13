/* SPDX-License-Identifier: MIT */
#include "sandbox/plan.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "sandbox/seccomp.h"

_Static_assert((int)RLIM_NLIMITS <= (int)SANDBOX_RLIMITS, "a plan has room for every limit");

/* In the order in which a result lists them. */
static const struct {
    uint32_t layer;
    const char *name;
} layers[] = {
    {SANDBOX_USER,         "user"        },
    {SANDBOX_PID,          "pid"         },
    {SANDBOX_MOUNT,        "mount"       },
    {SANDBOX_IPC,          "ipc"         },
    {SANDBOX_UTS,          "uts"         },
    {SANDBOX_CGROUP_NS,    "cgroup-ns"   },
    {SANDBOX_NET,          "net"         },
    {SANDBOX_TIME,         "time"        },
    {SANDBOX_CAPS,         "caps"        },
    {SANDBOX_SECCOMP,      "seccomp"     },
    {SANDBOX_LANDLOCK,     "landlock"    },
    {SANDBOX_NO_NEW_PRIVS, "no-new-privs"},
};

enum { N_LAYERS = sizeof(layers) / sizeof(layers[0]) };

/* Set instead of the number of mounts when one did not fit: it fails the check. */
enum { BROKEN = SANDBOX_MOUNTS + 1 };

void sandbox_plan_init(struct sandbox_plan *plan)
{
    *plan = (struct sandbox_plan){.version = SANDBOX_PLAN_VERSION, .umask = -1, .n_text = 1};
}

void sandbox_plan_own_ids(struct sandbox_plan *plan)
{
    uint32_t uid = geteuid(), gid = getegid();
    plan->ids = (struct sandbox_ids){
        .uid = uid, .gid = gid, .host_uid = uid, .host_gid = gid, .host_root = uid};
}

/* Absolute, without empty, "." and ".." parts. */
static bool is_plain_path(const char *path)
{
    if (*path != '/')
        return false;
    while (*path == '/') {
        size_t len = strcspn(++path, "/");
        if (len == 0 || (len <= 2 && strspn(path, ".") >= len))
            return false;
        path += len;
    }
    return true;
}

static uint16_t add_text(struct sandbox_plan *plan, const char *text)
{
    size_t size = strlen(text) + 1;
    if (size > sizeof(plan->text) - plan->n_text)
        return 0;
    uint16_t offset = (uint16_t)plan->n_text;
    memcpy(plan->text + offset, text, size);
    plan->n_text += (uint32_t)size;
    return offset;
}

struct sandbox_mount *sandbox_plan_mount(struct sandbox_plan *plan, enum sandbox_mount_type type,
                                         const char *source, const char *target, unsigned flags)
{
    uint16_t from = source ? add_text(plan, source) : 0;
    uint16_t to = is_plain_path(target) ? add_text(plan, target) : 0;
    if (plan->n_mounts >= SANDBOX_MOUNTS || to == 0 || (source && from == 0)) {
        plan->n_mounts = BROKEN;
        return NULL;
    }
    struct sandbox_mount *mount = &plan->mounts[plan->n_mounts++];
    *mount = (struct sandbox_mount){.type = (uint16_t)type,
                                    .flags = (uint16_t)flags,
                                    .source = from,
                                    .target = to,
                                    .mode = 0755};
    return mount;
}

const char *sandbox_plan_text(const struct sandbox_plan *plan, uint16_t offset)
{
    return plan->text + offset;
}

size_t sandbox_plan_size(const struct sandbox_plan *plan)
{
    return offsetof(struct sandbox_plan, text) + plan->n_text;
}

static int check_mount(const struct sandbox_plan *plan, const struct sandbox_mount *mount,
                       struct err *err)
{
    if (mount->source >= plan->n_text || mount->target >= plan->n_text ||
        !is_plain_path(sandbox_plan_text(plan, mount->target)))
        return err_set(err, EINVAL, "sandbox plan with a mount without a place");
    bool wants_source = mount->type == SANDBOX_BIND || mount->type == SANDBOX_SYMLINK;
    if (mount->type > SANDBOX_MASK || wants_source != (mount->source != 0))
        return err_set(err, EINVAL, "sandbox plan with a wrong mount on '%s'",
                       sandbox_plan_text(plan, mount->target));
    if (mount->type == SANDBOX_BIND && !is_plain_path(sandbox_plan_text(plan, mount->source)))
        return err_set(err, EINVAL, "sandbox plan with a mount of '%s'",
                       sandbox_plan_text(plan, mount->source));
    return 0;
}

static int check_mounts(const struct sandbox_plan *plan, struct err *err)
{
    if (plan->n_mounts > SANDBOX_MOUNTS)
        return err_set(err, EINVAL,
                       "sandbox plan with more than %d mounts, more than %d bytes of "
                       "paths, or one that is not absolute and plain",
                       SANDBOX_MOUNTS, SANDBOX_TEXT);
    if (plan->n_text < 1 || plan->n_text > SANDBOX_TEXT || plan->text[0] ||
        plan->text[plan->n_text - 1])
        return err_set(err, EINVAL, "sandbox plan with unterminated paths");
    for (uint32_t i = 0; i < plan->n_mounts; i++) {
        int rc = check_mount(plan, &plan->mounts[i], err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int sandbox_plan_check(const struct sandbox_plan *plan, struct err *err)
{
    if (plan->version != SANDBOX_PLAN_VERSION)
        return err_set(err, EINVAL, "sandbox plan of version %u, not %d", plan->version,
                       SANDBOX_PLAN_VERSION);
    uint32_t known = 0;
    for (size_t i = 0; i < N_LAYERS; i++)
        known |= layers[i].layer;
    if (plan->layers & ~known)
        return err_set(err, EINVAL, "sandbox plan with unknown layers 0x%x", plan->layers & ~known);
    for (int i = 0; i < SANDBOX_RLIMITS; i++) {
        const struct sandbox_rlimit *limit = &plan->rlimits[i];
        if (limit->set && (i >= RLIM_NLIMITS || limit->soft > limit->hard))
            return err_set(err, EINVAL, "sandbox plan with a wrong resource limit %d", i);
    }
    if (plan->filter & ~(uint32_t)SANDBOX_FILTER_FLAGS)
        return err_set(err, EINVAL, "sandbox plan with unknown flags 0x%x of the filter",
                       plan->filter & ~(uint32_t)SANDBOX_FILTER_FLAGS);
    if (plan->layers & (SANDBOX_SECCOMP | SANDBOX_LANDLOCK) &&
        !(plan->layers & SANDBOX_NO_NEW_PRIVS))
        return err_set(err, EINVAL,
                       "sandbox plan with a filter or rules that new privileges could undo");
    if (plan->umask < -1 || plan->umask > 0777)
        return err_set(err, EINVAL, "sandbox plan with umask 0%o", (unsigned)plan->umask);
    if (plan->nice < -40 || plan->nice > 40)
        return err_set(err, EINVAL, "sandbox plan with niceness %d", plan->nice);
    return check_mounts(plan, err);
}

const char *sandbox_plan_layer(const struct sandbox_plan *plan, size_t i)
{
    for (size_t k = 0; k < N_LAYERS; k++)
        if (plan->layers & layers[k].layer && i-- == 0)
            return layers[k].name;
    return NULL;
}
