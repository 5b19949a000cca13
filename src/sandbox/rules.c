/* SPDX-License-Identifier: MIT */
#include "sandbox/rules.h"

#include <fcntl.h>

#include "base/err.h"
#include "sandbox/landlock.h"
#include "sandbox/plan.h"

enum { FRAME = 1 }; /* rules besides those of mounts */

static uint32_t access_of(const struct sandbox_mount *mount)
{
    uint32_t access = SANDBOX_ACCESS_READ;
    if (!(mount->flags & SANDBOX_NO_EXEC))
        access |= SANDBOX_ACCESS_EXEC;
    if (!(mount->flags & SANDBOX_READ_ONLY))
        access |= SANDBOX_ACCESS_WRITE;
    if (mount->flags & SANDBOX_DEVICES || mount->type == SANDBOX_DEV)
        access |= SANDBOX_ACCESS_DEVICES;
    return access;
}

/* Makes a thing of its own, as opposed to a name for another one. */
static bool has_access(const struct sandbox_mount *mount)
{
    return mount->type != SANDBOX_SYMLINK && mount->type != SANDBOX_MASK &&
           mount->type != SANDBOX_DIR;
}

int sandbox_rules_open(const struct sandbox_plan *plan, int *ret_fd, struct err *err)
{
    struct sandbox_landlock_path paths[SANDBOX_MOUNTS + FRAME];
    size_t n = 0;
    bool own_root = plan->layers & SANDBOX_MOUNT;
    if (own_root) /* where nothing is but what was put there */
        paths[n++] = (struct sandbox_landlock_path){
            .path = "/", .fd = AT_FDCWD, .access = SANDBOX_ACCESS_READ_EXEC};
    for (uint32_t i = 0; i < plan->n_mounts; i++) {
        const struct sandbox_mount *mount = &plan->mounts[i];
        if (has_access(mount))
            paths[n++] = (struct sandbox_landlock_path){
                .path = sandbox_plan_text(plan, mount->target),
                .fd = AT_FDCWD,
                .access = access_of(mount),
                .optional = mount->flags & SANDBOX_OPTIONAL || !own_root,
            };
    }
    /*
     * Each process of a box has the rules for itself, so scopes would part those of one session
     * from each other. The namespaces keep to themselves what the scopes would.
     */
    const struct sandbox_landlock_rules rules = {
        .files = true,
        .paths = paths,
        .n_paths = n,
        .scope_abstract = !(plan->layers & SANDBOX_NET),
        .scope_signals = !(plan->layers & SANDBOX_PID),
    };
    return sandbox_landlock_open(&rules, ret_fd, NULL, err);
}
