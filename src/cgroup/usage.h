/* SPDX-License-Identifier: MIT */
/*
 * cgroup/usage - what the processes of a group have used, and which limits they met.
 *
 * Every number has its source. One that nobody counts is not known, which is not the same as 0.
 * The numbers cover the group and all groups that are, or were, in it. Those of version 1 start
 * when processes are attached. cgroup-v2.rst: "Core Interface Files" and those of the controllers.
 */
#ifndef CGROUP_USAGE_H
#define CGROUP_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cgroup/system.h"

struct cgroup;

struct cgroup_number {
    uint64_t value;
    enum cgroup_version source; /* CGROUP_NONE: not known */
};

/* Pressure: how long some, or all, were held up, in us. */
struct cgroup_pressure {
    struct cgroup_number some_us, full_us;
};

struct cgroup_usage {
    struct cgroup_number user_us, system_us;      /* CPU time */
    struct cgroup_number memory_now, memory_peak; /* bytes charged, caches included */
    bool memory_peak_sampled; /* no more than the largest of what was read (Linux before 5.19) */
    struct cgroup_number pids_now, pids_peak; /* threads, and zombies that nobody has reaped */
    /* What reached disks. Version 1 counts only where a limit is set. */
    struct cgroup_number io_read_bytes, io_written_bytes;
    struct cgroup_pressure cpu, memory, io;

    struct cgroup_number oom_kills;    /* processes killed for want of memory */
    struct cgroup_number pids_refused; /* forks that failed at a limit */
    struct cgroup_number throttled_us; /* held back at the CPU limit of this very group */
    unsigned hit; /* CGROUP_BIT()s of MEMORY, PIDS, CPU: the three above that are not 0 */
};

/* Reads it all: 10 small files at most. A group that is gone has numbers that are not known. */
void cgroup_usage_read(struct cgroup *group, struct cgroup_usage *ret_usage);

/*
 * The limits that were met, for people: "2 processes killed for want of memory, 5 forks refused,
 * held back at the CPU limit for 1.250 s"; "" if there were none. Returns text.
 */
const char *cgroup_usage_describe(const struct cgroup_usage *usage, char *text, size_t size);

#endif
