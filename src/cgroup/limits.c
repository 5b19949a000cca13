/* SPDX-License-Identifier: MIT */
/*
 * Limits as the files of either version have them. cgroup-v2.rst "Controllers";
 * cgroup-v1/memory.rst, cgroup-v1/blkio-controller.rst, scheduler/sched-bwc.rst.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/err.h"
#include "base/own.h"
#include "cgroup/priv.h"

enum { CPU_PERIOD_US = 100000 };

typedef int (*limit_fn)(const struct cgroup_tree *tree, const char *dir,
                        const struct cgroup_limits *limits);

static uint64_t or_none(uint64_t value)
{
    return value ? value : UINT64_MAX;
}

/* A number for version 2, where no limit is "max". */
static int write_max(const struct cgroup_tree *tree, const char *dir, const char *file,
                     uint64_t value)
{
    if (value == UINT64_MAX)
        return cgroup_file_write(tree, dir, file, "max");
    return cgroup_file_printf(tree, dir, file, "%" PRIu64, value);
}

/* Where a kernel lacks a file, there is nothing to limit by it. */
static int unless_missing(int rc)
{
    return rc == -ENOENT ? 0 : rc;
}

static int memory_v2(const struct cgroup_tree *tree, const char *dir,
                     const struct cgroup_limits *limits)
{
    uint64_t swap = limits->memory_bytes ? limits->swap_bytes : UINT64_MAX;
    int rc = write_max(tree, dir, "memory.max", or_none(limits->memory_bytes));
    if (rc == 0)
        rc = unless_missing(write_max(tree, dir, "memory.swap.max", swap));
    if (rc == 0) /* Linux 4.19 */
        rc = unless_missing(
            cgroup_file_write(tree, dir, "memory.oom.group", limits->oom_group ? "1" : "0"));
    return rc;
}

/* memsw is memory and swap together, never less than memory; -1 is no limit. */
static int memory_v1(const struct cgroup_tree *tree, const char *dir,
                     const struct cgroup_limits *limits)
{
    static const char memsw[] = "memory.memsw.limit_in_bytes"; /* absent without swapaccount */
    static const char memory[] = "memory.limit_in_bytes";
    int rc = unless_missing(cgroup_file_write(tree, dir, memsw, "-1"));
    if (rc < 0 || !limits->memory_bytes)
        return rc < 0 ? rc : cgroup_file_write(tree, dir, memory, "-1");
    rc = cgroup_file_printf(tree, dir, memory, "%" PRIu64, limits->memory_bytes);
    uint64_t both;
    if (rc < 0 || __builtin_add_overflow(limits->memory_bytes, limits->swap_bytes, &both))
        return rc;
    return unless_missing(cgroup_file_printf(tree, dir, memsw, "%" PRIu64, both));
}

static int limit_pids(const struct cgroup_tree *tree, const char *dir,
                      const struct cgroup_limits *limits)
{
    return write_max(tree, dir, "pids.max", or_none(limits->pids));
}

static uint64_t quota_us(const struct cgroup_limits *limits)
{
    return (uint64_t)limits->cpu_percent * CPU_PERIOD_US / 100;
}

static int cpu_v2(const struct cgroup_tree *tree, const char *dir,
                  const struct cgroup_limits *limits)
{
    if (!limits->cpu_percent)
        return cgroup_file_write(tree, dir, "cpu.max", "max");
    return cgroup_file_printf(tree, dir, "cpu.max", "%" PRIu64 " %d", quota_us(limits),
                              CPU_PERIOD_US);
}

static int cpu_v1(const struct cgroup_tree *tree, const char *dir,
                  const struct cgroup_limits *limits)
{
    if (!limits->cpu_percent)
        return unless_missing(cgroup_file_write(tree, dir, "cpu.cfs_quota_us", "-1"));
    int rc = cgroup_file_printf(tree, dir, "cpu.cfs_period_us", "%d", CPU_PERIOD_US);
    if (rc == 0)
        rc = cgroup_file_printf(tree, dir, "cpu.cfs_quota_us", "%" PRIu64, quota_us(limits));
    /* More than the group around it has is refused; then that one is what limits. */
    return rc == -EINVAL ? 0 : rc;
}

/* ---- disks ---- */

static bool read_dev(const char *path, dev_t *ret)
{
    char text[32];
    auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (len <= 0)
        return false;
    text[len] = '\0';
    char *end;
    unsigned long major_id = strtoul(text, &end, 10);
    if (*end != ':')
        return false;
    *ret = makedev((unsigned)major_id, (unsigned)strtoul(end + 1, NULL, 10));
    return true;
}

/* Limits are of whole disks: that of a partition is its disk's. */
static dev_t disk_of(dev_t dev)
{
    char path[PATH_MAX];
    dev_t disk;
    (void)snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/partition", major(dev), minor(dev));
    if (access(path, F_OK) < 0)
        return dev;
    (void)snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/../dev", major(dev), minor(dev));
    return read_dev(path, &disk) ? disk : dev;
}

static int limit_disk(const struct cgroup_tree *tree, const char *dir,
                      const struct cgroup_limits *limits, dev_t dev)
{
    unsigned maj = major(dev), min = minor(dev);
    if (tree->version == CGROUP_V1) { /* 0 is no limit */
        int rc = cgroup_file_printf(tree, dir, "blkio.throttle.read_bps_device", "%u:%u %" PRIu64,
                                    maj, min, limits->io_read_bps);
        return rc ? rc
                  : cgroup_file_printf(tree, dir, "blkio.throttle.write_bps_device",
                                       "%u:%u %" PRIu64, maj, min, limits->io_write_bps);
    }
    char rbps[24] = "max", wbps[24] = "max";
    if (limits->io_read_bps)
        (void)snprintf(rbps, sizeof(rbps), "%" PRIu64, limits->io_read_bps);
    if (limits->io_write_bps)
        (void)snprintf(wbps, sizeof(wbps), "%" PRIu64, limits->io_write_bps);
    return cgroup_file_printf(tree, dir, "io.max", "%u:%u rbps=%s wbps=%s", maj, min, rbps, wbps);
}

/* Every disk that has a size; it is enough if one can be limited. */
static int limit_disks(const struct cgroup_tree *tree, const char *dir,
                       const struct cgroup_limits *limits)
{
    DIR *d = opendir("/sys/block");
    int rc = -ENODEV;
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        char path[PATH_MAX];
        dev_t dev;
        (void)snprintf(path, sizeof(path), "/sys/block/%s/dev", e->d_name);
        if (e->d_name[0] == '.' || strncmp(e->d_name, "ram", 3) == 0 || !read_dev(path, &dev))
            continue;
        int one = limit_disk(tree, dir, limits, dev);
        rc = rc == 0 ? 0 : one;
    }
    if (d)
        (void)closedir(d); /* it was only read */
    return rc;
}

static int limit_io(const struct cgroup_tree *tree, const char *dir,
                    const struct cgroup_limits *limits)
{
    if (limits->io_device)
        return limit_disk(tree, dir, limits, disk_of(limits->io_device));
    return limit_disks(tree, dir, limits);
}

/* ---- all of them ---- */

static const struct {
    const char *name; /* for people */
    limit_fn v1, v2;
} table[CGROUP_CONTROLLER_END] = {
    [CGROUP_CPU] = {"CPU time",                cpu_v1,     cpu_v2    },
    [CGROUP_MEMORY] = {"memory",                  memory_v1,  memory_v2 },
    [CGROUP_PIDS] = {"the number of processes", limit_pids, limit_pids},
    [CGROUP_IO] = {"disk traffic",            limit_io,   limit_io  },
};

unsigned cgroup_limits_set(const struct cgroup_limits *limits)
{
    return (limits->cpu_percent ? CGROUP_BIT(CGROUP_CPU) : 0) |
           (limits->memory_bytes ? CGROUP_BIT(CGROUP_MEMORY) : 0) |
           (limits->pids ? CGROUP_BIT(CGROUP_PIDS) : 0) |
           (limits->io_read_bps || limits->io_write_bps ? CGROUP_BIT(CGROUP_IO) : 0);
}

static int limit_one(struct cgroup *group, enum cgroup_controller c,
                     const struct cgroup_limits *limits, struct err *err)
{
    const struct cgroup_tree *tree = cgroup_of(group, c);
    if (!tree) {
        const char *why = cgroup_tree_of(group->system, c) ? "the group was made without it"
                                                           : cgroup_system_why(group->system, c);
        return err_set(err, ERR_UNSUPPORTED, "%s cannot be limited: %s", table[c].name, why);
    }
    int rc = (tree->version == CGROUP_V2 ? table[c].v2 : table[c].v1)(tree, group->path, limits);
    if (rc == -ENOENT) /* the group around it does not hand the controller down */
        return err_set(err, ERR_UNSUPPORTED, "%s cannot be limited in '%s/%s'", table[c].name,
                       tree->parent, group->path);
    return rc < 0
               ? err_set(err, -rc, "limit %s of '%s/%s'", table[c].name, tree->parent, group->path)
               : 0;
}

int cgroup_limit(struct cgroup *group, const struct cgroup_limits *limits, unsigned optional,
                 struct err *err)
{
    unsigned wanted = cgroup_limits_set(limits);
    for (enum cgroup_controller c = 0; c < CGROUP_CONTROLLER_END; c++) {
        unsigned bit = CGROUP_BIT(c);
        /* What was limited and shall not be any more has to be written as well. */
        if (!((wanted | group->limited) & bit))
            continue;
        int rc = limit_one(group, c, limits, optional & bit ? NULL : err);
        group->limited &= ~bit;
        if (rc == 0)
            group->limited |= wanted & bit;
        else if (!(optional & bit))
            return rc;
    }
    /* It is of use without a limit, too: the one around may be met. */
    const struct cgroup_tree *tree = cgroup_of(group, CGROUP_MEMORY);
    if (limits->oom_group && !(wanted & CGROUP_BIT(CGROUP_MEMORY)) && tree &&
        tree->version == CGROUP_V2)
        (void)cgroup_file_write(tree, group->path, "memory.oom.group", "1");
    return 0;
}
