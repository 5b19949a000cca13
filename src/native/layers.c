/* SPDX-License-Identifier: MIT */
/* Names of layers for results, which outlive their session: one list per set, for ever. */
#include <stdlib.h>

#include "base/list.h"
#include "base/mem.h"
#include "native/priv.h"
#include "sandbox/plan.h"

enum { LAYERS_MAX = 32 };

struct layer_names {
    struct list link; /* native.layer_names */
    uint32_t layers;
    const char *names[LAYERS_MAX + 1];
};

const char *const *native_layer_names(struct native *n, const struct sandbox_plan *plan)
{
    LIST_FOREACH(link, &n->layer_names)
    {
        struct layer_names *known = list_entry(link, struct layer_names, link);
        if (known->layers == plan->layers)
            return known->names;
    }
    struct layer_names *names = xnew(struct layer_names);
    names->layers = plan->layers;
    for (size_t i = 0; i < LAYERS_MAX; i++)
        names->names[i] = sandbox_plan_layer(plan, i);
    list_add_tail(&n->layer_names, &names->link);
    return names->names;
}

void native_layer_names_free(struct native *n)
{
    LIST_FOREACH(link, &n->layer_names)
    free(list_entry(link, struct layer_names, link));
    list_init(&n->layer_names);
}
