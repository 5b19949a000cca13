/* SPDX-License-Identifier: MIT */
#include "base/probe.h"

#include <stdatomic.h>

static _Atomic(probe_sink_fn) sink;
static _Atomic(void *) sink_ctx;

void probe_connect(probe_sink_fn fn, void *ctx)
{
    atomic_store(&sink, NULL); /* the new one must not meet the old context */
    atomic_store(&sink_ctx, ctx);
    atomic_store(&sink, fn);
}

bool probe_is_connected(void)
{
    return atomic_load_explicit(&sink, memory_order_relaxed) != NULL;
}

void probe_emit(const char *name, const struct probe_arg *args, size_t n_args)
{
    probe_sink_fn fn = atomic_load(&sink);
    if (fn)
        fn(atomic_load(&sink_ctx), name, args, n_args);
}
