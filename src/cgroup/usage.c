/* SPDX-License-Identifier: MIT */
#include "cgroup/usage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "cgroup/priv.h"

enum { IO_MAX = 1 << 18 };

static struct cgroup_number known(const struct cgroup_tree *tree, uint64_t value)
{
    return (struct cgroup_number){.value = value, .source = tree->version};
}

/* Sets *ret if the file has a number; tree may be NULL. */
static bool read_number(const struct cgroup_tree *tree, const char *dir, const char *file,
                        struct cgroup_number *ret)
{
    uint64_t value;
    if (!tree || cgroup_file_u64(tree, dir, file, &value) < 0)
        return false;
    *ret = known(tree, value);
    return true;
}

/* The same for a number with a key. */
static bool find_number(const struct cgroup_tree *tree, const char *text, const char *key,
                        struct cgroup_number *ret)
{
    uint64_t value;
    if (!cgroup_text_find(text, key, &value))
        return false;
    *ret = known(tree, value);
    return true;
}

/* ---- CPU ---- */

static void read_cpu_v2(const struct cgroup *group, struct cgroup_usage *ret)
{
    const struct cgroup_tree *tree = cgroup_v2_of(group);
    char text[CGROUP_TEXT_SIZE];
    if (!tree || cgroup_file_read(tree, group->path, "cpu.stat", text, sizeof(text)) < 0)
        return;
    (void)find_number(tree, text, "user_usec", &ret->user_us); /* else it is not known */
    (void)find_number(tree, text, "system_usec", &ret->system_us);
    (void)find_number(tree, text, "throttled_usec", &ret->throttled_us);
}

static void read_cpu_v1(const struct cgroup *group, struct cgroup_usage *ret)
{
    const struct cgroup_tree *acct = cgroup_of(group, CGROUP_CPUACCT);
    struct cgroup_number ns, user, system;
    if (!ret->user_us.source && read_number(acct, group->path, "cpuacct.usage", &ns) &&
        read_number(acct, group->path, "cpuacct.usage_user", &user) &&
        read_number(acct, group->path, "cpuacct.usage_sys", &system)) {
        /* The whole is exact, its parts are counted in ticks: they only share it out. */
        double sum = (double)user.value + (double)system.value;
        double share = sum > 0 ? (double)user.value / sum : 1;
        uint64_t user_us = (uint64_t)((double)ns.value / 1000 * share);
        ret->user_us = known(acct, user_us);
        ret->system_us = known(acct, ns.value / 1000 > user_us ? ns.value / 1000 - user_us : 0);
    }

    const struct cgroup_tree *cpu = cgroup_of(group, CGROUP_CPU);
    char text[CGROUP_TEXT_SIZE];
    if (cpu && cpu->version == CGROUP_V1 &&
        cgroup_file_read(cpu, group->path, "cpu.stat", text, sizeof(text)) >= 0 &&
        find_number(cpu, text, "throttled_time", &ns))
        ret->throttled_us = known(cpu, ns.value / 1000);
}

/* ---- memory ---- */

static void read_memory(struct cgroup *group, struct cgroup_usage *ret)
{
    const struct cgroup_tree *tree = cgroup_of(group, CGROUP_MEMORY);
    bool is_v2 = tree && tree->version == CGROUP_V2;
    const char *now = is_v2 ? "memory.current" : "memory.usage_in_bytes";
    const char *peak = is_v2 ? "memory.peak" : "memory.max_usage_in_bytes";
    if (!read_number(tree, group->path, now, &ret->memory_now))
        return;
    if (ret->memory_now.value > group->memory_peak)
        group->memory_peak = ret->memory_now.value;
    if (read_number(tree, group->path, peak, &ret->memory_peak))
        return;
    ret->memory_peak = known(tree, group->memory_peak);
    ret->memory_peak_sampled = true;
}

/* ---- events ---- */

static int add_oom_kills(const struct cgroup_tree *tree, const char *dir, void *ctx)
{
    char text[CGROUP_TEXT_SIZE];
    uint64_t value;
    if (cgroup_file_read(tree, dir, "memory.oom_control", text, sizeof(text)) >= 0 &&
        cgroup_text_find(text, "oom_kill", &value))
        *(uint64_t *)ctx += value;
    return 0;
}

/*
 * Version 1 counts a kill for the group of the victim alone: they are summed up, and those of
 * groups that are gone are remembered. memory.events covers all.
 */
static void read_oom_kills(struct cgroup *group, struct cgroup_usage *ret)
{
    const struct cgroup_tree *tree = cgroup_of(group, CGROUP_MEMORY);
    char text[CGROUP_TEXT_SIZE];
    if (!tree)
        return;
    if (tree->version == CGROUP_V2) {
        uint64_t groups = 0;
        if (cgroup_file_read(tree, group->path, "memory.events", text, sizeof(text)) < 0 ||
            !find_number(tree, text, "oom_kill", &ret->oom_kills))
            return;
        /* When a whole group is killed, the process that was chosen first counts twice. */
        (void)cgroup_text_find(text, "oom_group_kill", &groups); /* Linux 5.17 */
        if (ret->oom_kills.value > groups)
            ret->oom_kills.value -= groups;
        return;
    }
    uint64_t sum = group->past.oom_kills;
    if (cgroup_walk(tree, group->path, add_oom_kills, &sum) == 0)
        ret->oom_kills = known(tree, sum);
}

static int add_refused(const struct cgroup_tree *tree, const char *dir, void *ctx)
{
    char text[256];
    uint64_t value;
    if (cgroup_file_read(tree, dir, "pids.events", text, sizeof(text)) >= 0 &&
        cgroup_text_find(text, "max", &value))
        *(uint64_t *)ctx += value;
    return 0;
}

/* Before pids.events.local (Linux 6.11) and in version 1, it counts for the group that forks. */
static bool counts_locally(const struct cgroup_tree *tree, const struct cgroup *group)
{
    return tree->version == CGROUP_V1 ||
           !cgroup_file_exists(tree, group->path, "pids.events.local");
}

static void read_pids(struct cgroup *group, struct cgroup_usage *ret)
{
    const struct cgroup_tree *tree = cgroup_of(group, CGROUP_PIDS);
    if (!read_number(tree, group->path, "pids.current", &ret->pids_now))
        return;
    (void)read_number(tree, group->path, "pids.peak", &ret->pids_peak); /* Linux 6.1 */
    uint64_t sum = group->past.pids_refused;
    int rc = counts_locally(tree, group) ? cgroup_walk(tree, group->path, add_refused, &sum)
                                         : add_refused(tree, group->path, &sum);
    if (rc == 0)
        ret->pids_refused = known(tree, sum);
}

struct cgroup_past cgroup_past_read(struct cgroup *group)
{
    struct cgroup_past past = {0};
    struct cgroup_usage usage = {0};
    const struct cgroup_tree *pids = cgroup_of(group, CGROUP_PIDS);
    read_oom_kills(group, &usage);
    if (usage.oom_kills.source == CGROUP_V1)
        past.oom_kills = usage.oom_kills.value;
    if (pids && counts_locally(pids, group)) {
        read_pids(group, &usage);
        past.pids_refused = usage.pids_refused.value;
    }
    return past;
}

/* ---- disks ---- */

/* Sums up "KEY=N" or "KEY N" over all devices. */
static uint64_t sum_up(const char *text, const char *key)
{
    uint64_t sum = 0;
    for (const char *at = strstr(text, key); at; at = strstr(at, key)) {
        at += strlen(key);
        sum += strtoull(at, NULL, 10);
    }
    return sum;
}

static void read_io(const struct cgroup *group, struct cgroup_usage *ret)
{
    const struct cgroup_tree *tree = cgroup_of(group, CGROUP_IO);
    bool is_v2 = tree && tree->version == CGROUP_V2;
    if (!tree || (!is_v2 && !(group->limited & CGROUP_BIT(CGROUP_IO))))
        return;
    auto_free char *text = malloc(IO_MAX);
    const char *file = is_v2 ? "io.stat" : "blkio.throttle.io_service_bytes_recursive";
    if (!text || cgroup_file_read(tree, group->path, file, text, IO_MAX) < 0)
        return;
    ret->io_read_bytes = known(tree, sum_up(text, is_v2 ? " rbytes=" : " Read "));
    ret->io_written_bytes = known(tree, sum_up(text, is_v2 ? " wbytes=" : " Write "));
}

/* ---- pressure ---- */

static void read_total(const struct cgroup_tree *tree, const char *text, const char *who,
                       struct cgroup_number *ret)
{
    const char *line = strstr(text, who);
    const char *total = line ? strstr(line, "total=") : NULL;
    if (total)
        *ret = known(tree, strtoull(total + 6, NULL, 10));
}

static void read_pressure(const struct cgroup *group, const char *file, struct cgroup_pressure *ret)
{
    const struct cgroup_tree *tree = cgroup_v2_of(group);
    char text[512];
    if (!tree || cgroup_file_read(tree, group->path, file, text, sizeof(text)) < 0)
        return;
    read_total(tree, text, "some ", &ret->some_us);
    read_total(tree, text, "full ", &ret->full_us);
}

/* ---- all of it ---- */

void cgroup_usage_read(struct cgroup *group, struct cgroup_usage *ret_usage)
{
    struct cgroup_usage usage = {0};
    read_cpu_v2(group, &usage);
    read_cpu_v1(group, &usage);
    read_memory(group, &usage);
    read_oom_kills(group, &usage);
    read_pids(group, &usage);
    read_io(group, &usage);
    read_pressure(group, "cpu.pressure", &usage.cpu);
    read_pressure(group, "memory.pressure", &usage.memory);
    read_pressure(group, "io.pressure", &usage.io);
    usage.hit = (usage.oom_kills.value ? CGROUP_BIT(CGROUP_MEMORY) : 0) |
                (usage.pids_refused.value ? CGROUP_BIT(CGROUP_PIDS) : 0) |
                (usage.throttled_us.value ? CGROUP_BIT(CGROUP_CPU) : 0);
    *ret_usage = usage;
}

const char *cgroup_usage_describe(const struct cgroup_usage *usage, char *text, size_t size)
{
    auto_buf struct buf b = BUF_INIT(512); /* cannot be filled: three short phrases */
    uint64_t kills = usage->oom_kills.value;
    uint64_t refused = usage->pids_refused.value;
    uint64_t ms = usage->throttled_us.value / 1000;
    if (kills)
        (void)buf_printf(&b, ", %" PRIu64 " process%s killed for want of memory", kills,
                         kills == 1 ? "" : "es");
    if (refused)
        (void)buf_printf(&b, ", %" PRIu64 " fork%s refused", refused, refused == 1 ? "" : "s");
    if (usage->throttled_us.value)
        (void)buf_printf(&b, ", held back at the CPU limit for %" PRIu64 ".%03" PRIu64 " s",
                         ms / 1000, ms % 1000);
    (void)snprintf(text, size, "%s", b.len > 0 ? buf_cstr(&b) + 2 : "");
    return text;
}
