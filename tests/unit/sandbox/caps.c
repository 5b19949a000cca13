/* SPDX-License-Identifier: MIT */
#include "sandbox/caps.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "lib/test.h"

#define BIT(cap) (UINT64_C(1) << (cap))

struct caps {
    uint64_t inheritable, permitted, effective, bounding, ambient;
};

static struct caps read_caps(const char *path)
{
    struct caps caps = {0};
    const struct {
        const char *name;
        uint64_t *set;
    } rows[] = {
        {"CapInh:", &caps.inheritable},
        {"CapPrm:", &caps.permitted  },
        {"CapEff:", &caps.effective  },
        {"CapBnd:", &caps.bounding   },
        {"CapAmb:", &caps.ambient    },
    };
    FILE *file = fopen(path, "re");
    CHECK(file);
    char line[256];
    while (fgets(line, sizeof(line), file))
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
            if (strncmp(line, rows[i].name, 7) == 0)
                *rows[i].set = strtoull(line + 7, NULL, 16);
    (void)fclose(file);
    return caps;
}

static struct caps own(void)
{
    return read_caps("/proc/self/status");
}

/* The sets of a program that this process executes. */
static struct caps executed(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        int fd = open("status", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        (void)dup2(fd, STDOUT_FILENO);
        (void)execl("/bin/cat", "cat", "/proc/self/status", (char *)NULL);
        _exit(1);
    }
    int status;
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(status, 0);
    return read_caps("status");
}

static void drop(uint64_t keep)
{
    struct err err = {0};
    if (sandbox_caps_drop(keep, &err) < 0)
        FAIL("%s", err.text);
}

static void check_none(struct caps caps)
{
    CHECK_INT(caps.inheritable | caps.permitted | caps.effective | caps.ambient, 0);
}

static void need(uint64_t caps)
{
    if ((own().effective & caps) != caps)
        SKIP("not started with the capabilities");
}

TEST(root_has_none_left)
{
    need(BIT(CAP_SETPCAP));
    drop(0);
    check_none(own());
    CHECK_INT(own().bounding, 0);
    check_none(executed());
    CHECK_INT(executed().bounding, 0);
}

TEST(it_can_be_done_again)
{
    drop(0);
    drop(0);
    check_none(own());
}

TEST(what_is_kept_outlives_execve)
{
    uint64_t keep = BIT(CAP_CHOWN) | BIT(CAP_KILL);
    need(keep | BIT(CAP_SETPCAP));
    drop(keep);
    struct caps caps = executed();
    CHECK_INT(caps.permitted, keep);
    CHECK_INT(caps.effective, keep);
    CHECK_INT(caps.bounding, keep);
    drop(BIT(CAP_KILL));
    CHECK_INT(executed().permitted, BIT(CAP_KILL));
    drop(keep); /* what is gone does not come back */
    CHECK_INT(own().permitted, BIT(CAP_KILL));
    drop(0);
    check_none(executed());
}

TEST(what_is_not_there_is_not_kept)
{
    need(BIT(CAP_SETPCAP));
    drop(BIT(CAP_KILL));
    drop(BIT(CAP_CHOWN));
    check_none(own());
}

TEST(the_keeper_of_the_bounding_set_may_stay)
{
    need(BIT(CAP_SETPCAP));
    drop(BIT(CAP_SETPCAP));
    CHECK_INT(own().effective, BIT(CAP_SETPCAP));
    CHECK_INT(own().bounding, BIT(CAP_SETPCAP));
    drop(0);
    CHECK_INT(own().bounding, 0);
}

TEST(root_regains_none_by_becoming_root)
{
    need(BIT(CAP_SETPCAP) | BIT(CAP_SETUID));
    drop(BIT(CAP_SETUID));
    CHECK_INT(setresuid(0, 65534, 0), 0);
    CHECK_INT(setresuid(0, 0, 0), 0);
    CHECK((own().permitted & ~BIT(CAP_SETUID)) == 0);
    CHECK(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN, 0, 0) < 0);
}

TEST(a_user_has_nothing_to_drop)
{
    if (geteuid() == 0 &&
        (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0))
        SKIP("no other user");
    drop(0);
    check_none(own());
    drop(BIT(CAP_KILL));
    check_none(own());
}

TEST(in_a_user_namespace)
{
    if (unshare(CLONE_NEWUSER) < 0)
        SKIP("no user namespaces: %s", strerror(errno));
    CHECK(own().permitted != 0);
    drop(0);
    check_none(own());
    CHECK_INT(own().bounding, 0);
}
