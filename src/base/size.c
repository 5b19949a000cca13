/* SPDX-License-Identifier: MIT */
#include "base/size.h"

#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

#include "base/err.h"
#include "base/num.h"

/* The first name that fits is the one that is written. */
static const struct unit {
    const char *name;
    uint64_t bytes;
} units[] = {
    {"PiB", 1ULL << 50      },
    {"TiB", 1ULL << 40      },
    {"GiB", 1ULL << 30      },
    {"MiB", 1ULL << 20      },
    {"KiB", 1ULL << 10      },
    {"B",   1               },
    {"",    1               },
    {"P",   1ULL << 50      },
    {"T",   1ULL << 40      },
    {"G",   1ULL << 30      },
    {"M",   1ULL << 20      },
    {"K",   1ULL << 10      },
    {"PB",  1000000000000000},
    {"TB",  1000000000000   },
    {"GB",  1000000000      },
    {"MB",  1000000         },
    {"kB",  1000            },
};

enum { N_UNITS = sizeof(units) / sizeof(units[0]) };

static const struct unit *find_unit(const char *name)
{
    for (size_t i = 0; i < N_UNITS; i++)
        if (strcasecmp(units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

int size_parse(const char *text, uint64_t *ret_bytes, struct err *err)
{
    const char *at = text;
    struct num_decimal number;
    if (!num_read_decimal(&at, &number))
        return err_set(err, ERR_INVALID, "size '%.64s': expected a number, as in 64KiB", text);
    const struct unit *unit = find_unit(at);
    if (!unit)
        return err_set(
            err, ERR_INVALID,
            "size '%.64s': expected a unit (B, KiB, MiB, GiB, K, M, kB, ...), not '%.16s'", text,
            at);
    if (!num_scale(number, unit->bytes, ret_bytes))
        return err_set(err, ERR_INVALID, "size '%.64s' is too large or not in whole bytes", text);
    return 0;
}

char *size_format(uint64_t bytes, char buf[SIZE_TEXT_SIZE])
{
    const struct unit *unit = units;
    while (unit->bytes > 1 && (bytes == 0 || bytes % unit->bytes))
        unit++;
    (void)snprintf(buf, SIZE_TEXT_SIZE, "%" PRIu64 "%s", bytes / unit->bytes, unit->name);
    return buf;
}
