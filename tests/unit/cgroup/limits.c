/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "cgroup/priv.h"
#include "unit/cgroup/util.h"

enum { MIB = 1 << 20, WRITTEN = 2 * MIB };

static int fork_until_refused(void)
{
    int n = 0;
    for (; n < 50; n++) {
        pid_t pid = fork();
        if (pid < 0)
            break;
        if (pid == 0) {
            (void)pause();
            _exit(0);
        }
    }
    return errno == EAGAIN ? n : 99;
}

static void check_pids(struct world *w)
{
    world_need(w, CGROUP_PIDS);
    struct cgroup *group =
        make_group(w->instance, &(struct cgroup_options){.name = "few", .limits = {.pids = 5}});
    CHECK_INT(cgroup_limited(group), CGROUP_BIT(CGROUP_PIDS));
    int status = run_in(group, fork_until_refused);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 4);
    CHECK(cgroup_is_populated(group));
    struct cgroup_usage usage;
    cgroup_usage_read(group, &usage);
    CHECK_INT(usage.pids_now.value, 4);
    CHECK(usage.pids_peak.source == CGROUP_NONE || usage.pids_peak.value == 5);
    end_group(group, &usage);
    CHECK(usage.pids_refused.value >= 1);
    CHECK_INT(usage.pids_refused.source, cgroup_system_version(w->system, CGROUP_PIDS));
    CHECK_INT(usage.hit, CGROUP_BIT(CGROUP_PIDS));
}

TEST(too_many_processes)
{
    struct world w = {0};
    world_open(&w);
    world_begin(&w);
    check_pids(&w);
    world_close(&w);
}

TEST(too_many_processes_without_version_2)
{
    struct world w = {0};
    world_open(&w);
    world_hide_v2(&w);
    world_need(&w, CGROUP_PIDS);
    world_begin(&w);
    check_pids(&w);
    world_close(&w);
}

/* What is called 32 MiB here is 4 in the rig, and so on. */
static size_t mib(size_t n)
{
    return n * MIB / (is_slow() ? 8 : 1);
}

static int use_memory(size_t size)
{
    char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return 98;
    for (size_t i = 0; i < size; i += 4096)
        p[i] = 1;
    return 0;
}

static int use_64_mib(void)
{
    return use_memory(mib(64));
}

static int use_8_mib(void)
{
    return use_memory(mib(8));
}

TEST(too_much_memory)
{
    struct world w = {0};
    world_open(&w);
    world_need(&w, CGROUP_MEMORY);
    world_begin(&w);
    struct cgroup_limits limits = {.memory_bytes = mib(32), .oom_group = true};
    struct cgroup *group =
        make_group(w.instance, &(struct cgroup_options){.name = "small", .limits = limits});
    CHECK_INT(run_in(group, use_8_mib), 0);
    struct cgroup_usage usage;
    cgroup_usage_read(group, &usage);
    CHECK(usage.memory_peak.value >= mib(8) && usage.memory_peak.value < mib(24));
    CHECK_INT(usage.hit, 0);
    CHECK_INT(usage.oom_kills.source, usage.memory_peak.source);
    int status = run_in(group, use_64_mib);
    CHECK(WIFSIGNALED(status));
    CHECK_INT(WTERMSIG(status), SIGKILL);
    end_group(group, &usage);
    CHECK_INT(usage.oom_kills.value, 1);
    CHECK_INT(usage.hit, CGROUP_BIT(CGROUP_MEMORY));
    CHECK(usage.memory_peak.value >= mib(30) && usage.memory_peak.value <= mib(32));
    world_close(&w);
}

/* The limit of a session is met by a command in a group of its own, which is gone then. */
TEST(limits_hold_for_groups_inside)
{
    struct world w = {0};
    world_open(&w);
    world_need(&w, CGROUP_MEMORY);
    world_need(&w, CGROUP_PIDS);
    world_begin(&w);
    struct cgroup_limits limits = {.memory_bytes = mib(32), .pids = 10};
    struct cgroup *session = make_group(
        w.instance,
        &(struct cgroup_options){.name = "session", .limits = limits, .holds_groups = true});
    struct cgroup_options options = {
        .name = "1", .account = CGROUP_BIT(CGROUP_MEMORY) | CGROUP_BIT(CGROUP_PIDS)};
    struct cgroup *command = make_group(session, &options);
    CHECK_INT(WTERMSIG(run_in(command, use_64_mib)), SIGKILL);
    CHECK_INT(WEXITSTATUS(run_in(command, fork_until_refused)), 9);
    struct cgroup_usage usage;
    end_group(command, &usage);
    CHECK_INT(usage.oom_kills.value, 1);
    for (int i = 0; i < 2; i++) {
        cgroup_usage_read(session, &usage);
        CHECK_INT(usage.oom_kills.value, 1);
        CHECK(usage.pids_refused.value >= 1);
        CHECK_INT(usage.hit, CGROUP_BIT(CGROUP_MEMORY) | CGROUP_BIT(CGROUP_PIDS));
    }
    end_group(session, NULL);
    world_close(&w);
}

static int burn_80_ms(void)
{
    struct timespec used;
    do {
        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    } while (used.tv_sec == 0 && used.tv_nsec < 80000000);
    return 0;
}

TEST(too_much_cpu)
{
    struct world w = {0};
    world_open(&w);
    world_need(&w, CGROUP_CPU);
    world_begin(&w);
    struct cgroup *group = make_group(
        w.instance, &(struct cgroup_options){.name = "slow", .limits = {.cpu_percent = 5}});
    CHECK_INT(run_in(group, burn_80_ms), 0);
    struct cgroup_usage usage;
    end_group(group, &usage);
    /* Burnt in slices of 5 ms, unless the machine lets it have less than that anyway. */
    CHECK(usage.throttled_us.value > 0);
    CHECK_INT(usage.hit, CGROUP_BIT(CGROUP_CPU));
    CHECK(usage.user_us.source != CGROUP_NONE && usage.system_us.source != CGROUP_NONE);
    uint64_t used = usage.user_us.value + usage.system_us.value;
    CHECK(used > 75000 && (used < 300000 || is_slow()));
    world_close(&w);
}

TEST(cpu_time_without_version_2)
{
    struct world w = {0};
    world_open(&w);
    world_hide_v2(&w);
    world_need(&w, CGROUP_CPUACCT);
    world_begin(&w);
    struct cgroup *group = make_group(w.instance, &(struct cgroup_options){.name = "counted"});
    CHECK_INT(run_in(group, burn_80_ms), 0);
    struct cgroup_usage usage;
    end_group(group, &usage);
    CHECK_INT(usage.user_us.source, CGROUP_V1);
    CHECK(usage.user_us.value + usage.system_us.value > 75000);
    CHECK_INT(usage.memory_peak.source, CGROUP_NONE);
    CHECK_INT(usage.cpu.some_us.source, CGROUP_NONE);
    world_close(&w);
}

static int write_2_mib(void)
{
    int fd = open("direct", O_WRONLY | O_CREAT | O_DIRECT | O_CLOEXEC, 0600);
    void *data;
    if (fd < 0 || posix_memalign(&data, 4096, WRITTEN) != 0)
        return 77;
    memset(data, 0, WRITTEN);
    return write(fd, data, WRITTEN) == WRITTEN ? 0 : 77;
}

TEST(disk_traffic)
{
    struct world w = {0};
    struct stat st;
    world_open(&w);
    world_need(&w, CGROUP_IO);
    CHECK_INT(stat(".", &st), 0);
    if (major(st.st_dev) == 0) {
        world_close(&w);
        SKIP("the scratch directory is not on a disk");
    }
    world_begin(&w);
    struct cgroup_limits limits = {
        .io_write_bps = 1 << 30, .io_read_bps = 1 << 30, .io_device = st.st_dev};
    struct cgroup *group =
        make_group(w.instance, &(struct cgroup_options){.name = "disk", .limits = limits});
    int status = run_in(group, write_2_mib);
    struct cgroup_usage usage;
    end_group(group, &usage);
    world_close(&w);
    if (WEXITSTATUS(status) == 77)
        SKIP("no direct writes here");
    CHECK(usage.io_written_bytes.value >= WRITTEN);
    CHECK(usage.io_read_bytes.source != CGROUP_NONE);
}

TEST(limits_can_be_changed)
{
    struct world w = {0};
    world_open(&w);
    world_need(&w, CGROUP_MEMORY);
    world_need(&w, CGROUP_PIDS);
    world_need(&w, CGROUP_CPU);
    world_begin(&w);
    struct cgroup_limits limits = {.memory_bytes = mib(32), .pids = 5, .cpu_percent = 50};
    struct cgroup *group =
        make_group(w.instance, &(struct cgroup_options){.name = "g", .limits = limits});
    limits = (struct cgroup_limits){
        .memory_bytes = mib(128), .swap_bytes = MIB, .pids = 8, .cpu_percent = 250};
    CHECK_INT(cgroup_limit(group, &limits, 0, NULL), 0);
    CHECK_INT(run_in(group, use_64_mib), 0);
    CHECK_INT(WEXITSTATUS(run_in(group, fork_until_refused)), 7);
    CHECK_INT(cgroup_limit(group, &(struct cgroup_limits){.memory_bytes = mib(64)}, 0, NULL), 0);
    CHECK_INT(cgroup_limited(group), CGROUP_BIT(CGROUP_MEMORY));
    CHECK_INT(cgroup_limit(group, &(struct cgroup_limits){.swap_bytes = 1}, 0, NULL), 0);
    CHECK_INT(cgroup_limited(group), 0);
    CHECK_INT(run_in(group, use_64_mib), 0);

    /* A group may ask for more than the one around it has. */
    end_group(group, NULL);
    group = make_group(
        w.instance,
        &(struct cgroup_options){.name = "g", .limits = {.cpu_percent = 20}, .holds_groups = true});
    struct cgroup *inner =
        make_group(group, &(struct cgroup_options){.name = "inner", .limits = {.cpu_percent = 80}});
    CHECK_INT(cgroup_limited(inner), CGROUP_BIT(CGROUP_CPU));
    end_group(inner, NULL);
    end_group(group, NULL);
    world_close(&w);
}

TEST(a_limit_that_cannot_be_had)
{
    struct world w = {0};
    world_open(&w);
    world_begin(&w);
    for (size_t i = 0; i < w.system->n_trees; i++)
        w.system->trees[i].usable &= ~CGROUP_BIT(CGROUP_MEMORY);
    struct cgroup *group = NULL;
    struct err err = {0};
    struct cgroup_options options = {.name = "g", .limits = {.memory_bytes = MIB}};
    CHECK_INT(cgroup_create(w.instance, &options, &group, &err), -ERR_UNSUPPORTED);
    CHECK(strstr(err.text, "memory cannot be limited: "));
    err_clear(&err);
    options.optional = CGROUP_BIT(CGROUP_MEMORY);
    CHECK_INT(cgroup_create(w.instance, &options, &group, &err), 0);
    CHECK_INT(err.code, 0);
    CHECK_INT(cgroup_limited(group), 0);
    struct cgroup_usage usage;
    cgroup_usage_read(group, &usage);
    CHECK_INT(usage.memory_peak.source, CGROUP_NONE);
    end_group(group, NULL);
    world_close(&w);
}
