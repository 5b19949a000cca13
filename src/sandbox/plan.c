/* SPDX-License-Identifier: MIT */
#include "sandbox/plan.h"

#include <errno.h>
#include <sys/resource.h>

#include "base/err.h"

_Static_assert((int)RLIM_NLIMITS <= (int)SANDBOX_RLIMITS, "a plan has room for every limit");

/* In the order in which a result lists them. */
static const struct {
    uint32_t layer;
    const char *name;
} layers[] = {
    {SANDBOX_NO_NEW_PRIVS, "no-new-privs"},
};

enum { N_LAYERS = sizeof(layers) / sizeof(layers[0]) };

void sandbox_plan_init(struct sandbox_plan *plan)
{
    *plan = (struct sandbox_plan){.version = SANDBOX_PLAN_VERSION, .umask = -1};
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
    if (plan->umask < -1 || plan->umask > 0777)
        return err_set(err, EINVAL, "sandbox plan with umask 0%o", (unsigned)plan->umask);
    if (plan->nice < -40 || plan->nice > 40)
        return err_set(err, EINVAL, "sandbox plan with niceness %d", plan->nice);
    return 0;
}

const char *sandbox_plan_layer(const struct sandbox_plan *plan, size_t i)
{
    for (size_t k = 0; k < N_LAYERS; k++)
        if (plan->layers & layers[k].layer && i-- == 0)
            return layers[k].name;
    return NULL;
}
