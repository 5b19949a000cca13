/* SPDX-License-Identifier: MIT */
/*
 * base/probe - named events for whoever reports them.
 *
 * Lower layers emit; a program connects one sink. Without a sink an event costs one
 * load. Names are dotted and constant ("session.open").
 *
 *     PROBE("proc.exit", PROBE_STR("id", id), PROBE_INT("status", status));
 *
 * The sink is connected before threads start; it may be called from any of them.
 */
#ifndef BASE_PROBE_H
#define BASE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum probe_type { PROBE_TYPE_STR, PROBE_TYPE_INT, PROBE_TYPE_DOUBLE, PROBE_TYPE_BOOL };

struct probe_arg {
    const char *key;
    enum probe_type type;
    union {
        const char *str; /* can be NULL */
        int64_t num;
        double real;
        bool truth;
    } value;
};

/* Gets an event; everything is borrowed for the call. It must not emit itself. */
typedef void (*probe_sink_fn)(void *ctx, const char *name, const struct probe_arg *args,
                              size_t n_args);

/* clang-format off */
#define PROBE_STR(k, v)    {.key = (k), .type = PROBE_TYPE_STR, .value = {.str = (v)}}
#define PROBE_INT(k, v)    {.key = (k), .type = PROBE_TYPE_INT, .value = {.num = (v)}}
#define PROBE_DOUBLE(k, v) {.key = (k), .type = PROBE_TYPE_DOUBLE, .value = {.real = (v)}}
#define PROBE_BOOL(k, v)   {.key = (k), .type = PROBE_TYPE_BOOL, .value = {.truth = (v)}}
/* clang-format on */

/* Emits; the arguments are evaluated only if there is a sink. */
#define PROBE(name, ...)                                                                           \
    do {                                                                                           \
        if (probe_is_connected()) {                                                                \
            const struct probe_arg probe_args_[] = {__VA_ARGS__};                                  \
            probe_emit((name), probe_args_, sizeof(probe_args_) / sizeof(probe_args_[0]));         \
        }                                                                                          \
    } while (0)

/* Makes fn the sink, in place of any other; NULL disconnects. */
void probe_connect(probe_sink_fn fn, void *ctx);

bool probe_is_connected(void);

void probe_emit(const char *name, const struct probe_arg *args, size_t n_args);

#endif
