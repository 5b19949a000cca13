/* SPDX-License-Identifier: MIT */
/* The resource limits of a saved state. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "native/state.h"

static const struct {
    int resource;
    char option;
    unsigned unit;
} limits[] = {
    {RLIMIT_CORE,       'c', 1024},
    {RLIMIT_DATA,       'd', 1024},
    {RLIMIT_NICE,       'e', 1   },
    {RLIMIT_FSIZE,      'f', 1024},
    {RLIMIT_SIGPENDING, 'i', 1   },
    {RLIMIT_MEMLOCK,    'l', 1024},
    {RLIMIT_NOFILE,     'n', 1   },
    {RLIMIT_MSGQUEUE,   'q', 1   },
    {RLIMIT_RTPRIO,     'r', 1   },
    {RLIMIT_STACK,      's', 1024},
    {RLIMIT_CPU,        't', 1   },
    {RLIMIT_NPROC,      'u', 1   },
    {RLIMIT_AS,         'v', 1024},
    {RLIMIT_LOCKS,      'x', 1   },
};

static int add_limit(struct buf *out, char kind, char option, unsigned unit, rlim_t value)
{
    if (value == RLIM_INFINITY)
        return buf_printf(out, "\\builtin ulimit -%c%c unlimited\n", kind, option);
    return buf_printf(out, "\\builtin ulimit -%c%c %llu\n", kind, option,
                      (unsigned long long)value / unit);
}

/* The value of an option in what `ulimit -a` prints: "... (kbytes, -s) 8192". */
static bool read_limit(struct span text, char option, unsigned unit, rlim_t *ret_value)
{
    const char name[] = {'-', option, ')', ' '};
    const char *p = text.len ? memmem(text.p, text.len, name, sizeof(name)) : NULL;
    if (!p)
        return false;
    p += sizeof(name);
    if (*p < '0' || *p > '9')
        *ret_value = RLIM_INFINITY; /* "unlimited" */
    else
        *ret_value = (rlim_t)strtoull(p, NULL, 10) * unit;
    return true;
}

/* The limits of a bash that lives, or of one that printed them before it ended, soft ones first. */
static bool get_limits(size_t i, pid_t pid, struct span printed, struct rlimit *ret)
{
    if (pid > 0)
        return prlimit(pid, (enum __rlimit_resource)limits[i].resource, NULL, ret) == 0;
    static const char hard_mark[] = "\nhard\n";
    const char *hard =
        printed.len ? memmem(printed.p, printed.len, hard_mark, sizeof(hard_mark) - 1) : NULL;
    if (!hard)
        return false;
    struct span part[] = {
        {printed.p, (size_t)(hard - printed.p)              },
        {hard,      (size_t)(printed.p + printed.len - hard)}
    };
    return read_limit(part[0], limits[i].option, limits[i].unit, &ret->rlim_cur) &&
           read_limit(part[1], limits[i].option, limits[i].unit, &ret->rlim_max);
}

/* What differs from our own limits, with which a new shell starts. */
int state_add_limits(struct buf *out, pid_t pid, struct span printed)
{
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        struct rlimit has, ours;
        if (!get_limits(i, pid, printed, &has) ||
            prlimit(0, (enum __rlimit_resource)limits[i].resource, NULL, &ours) < 0)
            continue;
        rlim_t unit = limits[i].unit;
        int rc = 0;
        if (has.rlim_cur / unit != ours.rlim_cur / unit)
            rc = add_limit(out, 'S', limits[i].option, limits[i].unit, has.rlim_cur);
        if (rc == 0 && has.rlim_max / unit != ours.rlim_max / unit)
            rc = add_limit(out, 'H', limits[i].option, limits[i].unit, has.rlim_max);
        if (rc < 0)
            return rc;
    }
    return 0;
}
