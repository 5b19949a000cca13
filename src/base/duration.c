/* SPDX-License-Identifier: MIT */
#include "base/duration.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"

/* From the largest down: the order in which they may follow one another. */
static const struct unit {
    const char *name;
    uint64_t ms;
} units[] = {
    {"d",  86400000},
    {"h",  3600000 },
    {"m",  60000   },
    {"s",  1000    },
    {"ms", 1       },
};

enum { N_UNITS = sizeof(units) / sizeof(units[0]) };

static const uint64_t max_ms = INT64_MAX / 1000000; /* in nanoseconds it fits */

/* Length of the letters at text. */
static size_t unit_len(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

/* Reads the unit at *text, which must be smaller than unit number `first - 1`. */
static const struct unit *read_unit(const char **text, size_t first)
{
    size_t len = unit_len(*text);
    for (size_t i = first; i < N_UNITS; i++) {
        if (strlen(units[i].name) == len && strncmp(units[i].name, *text, len) == 0) {
            *text += len;
            return &units[i];
        }
    }
    return NULL;
}

int duration_parse(const char *text, int64_t *ret_ms, struct err *err)
{
    const char *at = text;
    size_t next = 0;
    uint64_t total = 0;
    do {
        struct num_decimal number;
        if (!num_read_decimal(&at, &number))
            return err_set(err, ERR_INVALID, "duration '%.64s': expected a number, as in 30s",
                           text);
        bool is_bare = at[0] == '\0' && next == 0;
        const struct unit *unit = is_bare ? &units[N_UNITS - 1] : read_unit(&at, next);
        if (!unit)
            return err_set(err, ERR_INVALID,
                           "duration '%.64s': expected a unit (d, h, m, s, ms, in this order), not "
                           "'%.*s'",
                           text, (int)strnlen(at, 16), at);
        next = (size_t)(unit - units) + 1;

        uint64_t ms;
        if (!num_scale(number, unit->ms, &ms))
            return err_set(err, ERR_INVALID, "duration '%.64s' is not in whole milliseconds", text);
        if (ms > max_ms || (total += ms) > max_ms)
            return err_set(err, ERR_INVALID, "duration '%.64s' is too long", text);
    } while (*at);
    *ret_ms = (int64_t)total;
    return 0;
}

char *duration_format(int64_t ms, char buf[DURATION_SIZE])
{
    uint64_t rest = ms < 0 ? 0 : (uint64_t)ms;
    size_t len = 0;
    for (size_t i = 0; i < N_UNITS; i++) {
        uint64_t n = rest / units[i].ms;
        rest %= units[i].ms;
        if (n)
            len +=
                (size_t)snprintf(buf + len, DURATION_SIZE - len, "%" PRIu64 "%s", n, units[i].name);
    }
    if (len == 0)
        (void)snprintf(buf, DURATION_SIZE, "0ms");
    return buf;
}
