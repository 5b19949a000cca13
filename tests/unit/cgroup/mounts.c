/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "cgroup/priv.h"
#include "lib/test.h"

static void done(struct cgroup_system *system)
{
    for (size_t i = 0; i < CGROUP_TREES_MAX; i++) {
        free(system->trees[i].mount);
        free(system->trees[i].own);
    }
}

TEST(version_2_alone)
{
    struct cgroup_system system = {0};
    cgroup_mounts_parse(&system,
                        "22 1 0:20 / / rw - ext4 /dev/vda rw\n"
                        "31 22 0:27 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n",
                        "0::/user.slice/user-1000.slice/session-3.scope\n");
    CHECK_INT(system.n_trees, 1);
    CHECK_INT(system.trees[0].version, CGROUP_V2);
    CHECK_STR(system.trees[0].mount, "/sys/fs/cgroup");
    CHECK_STR(system.trees[0].own, "/sys/fs/cgroup/user.slice/user-1000.slice/session-3.scope");
    done(&system);
}

TEST(hybrid)
{
    struct cgroup_system system = {0};
    cgroup_mounts_parse(
        &system,
        "30 22 0:27 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
        "31 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
        "32 30 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "33 30 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
        "34 30 0:31 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
        "35 30 0:32 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
        "5:cpuacct,cpu:/a b\n4:memory:/\n2:name=systemd:/x\n0::/x (deleted)\n");
    CHECK_INT(system.n_trees, 3);
    CHECK_STR(system.trees[0].mount, "/sys/fs/cgroup/unified");
    CHECK_STR(system.trees[0].own, NULL); /* removed under us */
    CHECK_INT(system.trees[1].version, CGROUP_V1);
    CHECK_INT(system.trees[1].controllers, CGROUP_BIT(CGROUP_CPU) | CGROUP_BIT(CGROUP_CPUACCT));
    CHECK_STR(system.trees[1].own, "/sys/fs/cgroup/cpu,cpuacct/a b");
    CHECK_INT(system.trees[2].controllers, CGROUP_BIT(CGROUP_MEMORY));
    CHECK_STR(system.trees[2].own, "/sys/fs/cgroup/memory");
    done(&system);
}

TEST(part_of_a_tree)
{
    /* A bind mount in a container: the mount's root is a group. */
    struct cgroup_system system = {0};
    cgroup_mounts_parse(&system,
                        "31 30 0:28 /other /mnt/x rw - cgroup cgroup rw,pids\n"
                        "32 30 0:28 /docker/1 /mnt/pids\\040here ro - cgroup cgroup rw,pids\n"
                        "33 30 0:28 /docker/1 /mnt/again rw - cgroup cgroup rw,pids\n"
                        "35 30 0:32 /../.. /mnt/v2 rw - cgroup2 none rw\n",
                        "1:pids:/docker/1/sub\n0::/../x\n");
    CHECK_INT(system.n_trees, 2);
    CHECK_STR(system.trees[0].own, NULL);
    CHECK_STR(system.trees[0].mount, "/mnt/v2");
    CHECK_STR(system.trees[1].mount, "/mnt/pids here");
    CHECK_STR(system.trees[1].own, "/mnt/pids here/sub");
    done(&system);
}

TEST(nothing_and_nonsense)
{
    struct cgroup_system system = {0};
    cgroup_mounts_parse(&system,
                        "\n-\n - \n - cgroup2\n1 2 - cgroup2 x y\n - cgroup - memory\n"
                        "1 2 0:1 / / rw - tmpfs cgroup2 rw,memory\n",
                        ":\n::\n0\n");
    CHECK_INT(system.n_trees, 1);
    CHECK_INT(system.trees[0].version, CGROUP_NONE);
    CHECK_STR(cgroup_system_why(&system, CGROUP_PIDS), "no control groups are mounted");
    done(&system);
}

TEST(texts)
{
    uint64_t value = 7;
    CHECK(cgroup_text_find("a 1\nab 2\nb 3\n", "ab", &value) && value == 2);
    CHECK(cgroup_text_find("a 1\nab 2\nb 3\n", "b", &value) && value == 3);
    CHECK(!cgroup_text_find("a 1\nab 2\n", "c", &value) && value == 3);
    CHECK(!cgroup_text_find("", "", &value));
    CHECK(cgroup_text_has("cpuset cpu io\n", "cpu") && cgroup_text_has("rw,cpu,x", "cpu"));
    CHECK(!cgroup_text_has("cpuset cpuacct", "cpu") && !cgroup_text_has("", "cpu"));
}

TEST(limits_that_were_met_are_told)
{
    char text[256];
    struct cgroup_usage usage = {0};
    CHECK_STR(cgroup_usage_describe(&usage, text, sizeof(text)), "");
    usage.oom_kills.value = 2;
    usage.pids_refused.value = 1;
    usage.throttled_us.value = 1250999;
    CHECK_STR(cgroup_usage_describe(&usage, text, sizeof(text)),
              "2 processes killed for want of memory, 1 fork refused, "
              "held back at the CPU limit for 1.250 s");
    CHECK_STR(cgroup_usage_describe(&usage, text, 5), "2 pr");
}
