/* SPDX-License-Identifier: MIT */
#include "sandbox/space.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/own.h"
#include "sandbox/plan.h"

#ifndef CLONE_NEWTIME
#    define CLONE_NEWTIME 0x00000080
#endif

enum {
    ROOT_STANDS_ASIDE = 65533, /* user 0 of a map in which 0 is the payload */
    KEPT_MAPS = 16,
};

static const struct {
    uint32_t layer;
    uint64_t flag;
} spaces[] = {
    {SANDBOX_USER,      CLONE_NEWUSER  },
    {SANDBOX_PID,       CLONE_NEWPID   },
    {SANDBOX_MOUNT,     CLONE_NEWNS    },
    {SANDBOX_IPC,       CLONE_NEWIPC   },
    {SANDBOX_UTS,       CLONE_NEWUTS   },
    {SANDBOX_CGROUP_NS, CLONE_NEWCGROUP},
    {SANDBOX_NET,       CLONE_NEWNET   },
};

bool sandbox_space_is_privileged(const struct sandbox_plan *plan)
{
    return plan->layers & SANDBOX_USER && plan->ids.host_root != plan->ids.host_uid;
}

static uint64_t clone_flags(const struct sandbox_plan *plan)
{
    uint64_t flags = 0;
    for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++)
        if (plan->layers & spaces[i].layer)
            flags |= spaces[i].flag;
    return flags;
}

static pid_t fork_into(uint64_t flags)
{
    struct clone_args args = {.flags = flags, .exit_signal = SIGCHLD};
    pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
    if (pid >= 0 || errno != ENOSYS)
        return pid;
    /* A filter around us may not know it: the old call has the same flags, but for the stack. */
    return (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
}

static int write_file(const char *path, const char *text, struct err *err)
{
    auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set(err, errno, "open '%s'", path);
    if (write(fd, text, strlen(text)) < 0)
        return err_set(err, errno, "write '%s'", path);
    return 0;
}

/* pid "self" or a number. */
static int write_map(const char *pid, const char *kind, const char *text, struct err *err)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%s/%s", pid, kind);
    return write_file(path, text, err);
}

/* Two ids: the payload's, and 0 as far as it is not that one. */
static void format_map(char *ret_text, size_t size, uint32_t inside, uint32_t outside,
                       uint32_t root_outside)
{
    uint32_t root_inside = inside == 0 ? ROOT_STANDS_ASIDE : 0;
    (void)snprintf(ret_text, size, "%u %u 1\n%u %u 1\n", root_inside, root_outside, inside,
                   outside);
}

static int map_two(pid_t pid, const struct sandbox_ids *ids, uint32_t uid, uint32_t gid,
                   struct err *err)
{
    char name[16], text[80];
    (void)snprintf(name, sizeof(name), "%d", pid);
    format_map(text, sizeof(text), uid, ids->host_uid, ids->host_root);
    int rc = write_map(name, "uid_map", text, err);
    if (rc < 0)
        return rc;
    format_map(text, sizeof(text), gid, ids->host_gid, ids->host_root);
    return write_map(name, "gid_map", text, err);
}

/* What an ordinary user may do: its own ids, and no change of groups. */
static int map_own(const struct sandbox_ids *ids, struct err *err)
{
    char text[40];
    (void)prctl(PR_SET_DUMPABLE, 1); /* otherwise its files in /proc are root's */
    int rc = write_map("self", "setgroups", "deny", err);
    (void)snprintf(text, sizeof(text), "%u %u 1\n", ids->uid, ids->host_uid);
    if (rc == 0)
        rc = write_map("self", "uid_map", text, err);
    (void)snprintf(text, sizeof(text), "%u %u 1\n", ids->gid, ids->host_gid);
    if (rc == 0)
        rc = write_map("self", "gid_map", text, err);
    (void)prctl(PR_SET_DUMPABLE, 0);
    return rc;
}

/* The supervisor's own user, which is not the payload's: the payload can neither trace nor kill. */
static int become_root_inside(const struct sandbox_ids *ids, struct err *err)
{
    uint32_t gid = ids->gid == 0 ? ROOT_STANDS_ASIDE : 0;
    uint32_t uid = ids->uid == 0 ? ROOT_STANDS_ASIDE : 0;
    if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
        return err_set(err, errno, "become the supervisor's user");
    (void)prctl(PR_SET_DUMPABLE, 0);
    return 0;
}

static void report(int fd, int rc, const struct err *err)
{
    struct err told = *err;
    told.code = -rc;
    ssize_t n = write(fd, &told, sizeof(told));
    (void)n; /* the parent takes the end of the pipe for a failure too */
}

/* In the child: waits until the parent has mapped its ids, and tells it of a failure. */
static int finish_ids(const struct sandbox_plan *plan, int from_parent, int to_parent)
{
    struct err err = {0};
    int rc = 0;
    if (sandbox_space_is_privileged(plan)) {
        char go;
        if (read(from_parent, &go, 1) != 1)
            return -ECANCELED;
        rc = become_root_inside(&plan->ids, &err);
    } else if (plan->layers & SANDBOX_USER) {
        rc = map_own(&plan->ids, &err);
    }
    report(to_parent, rc, &err);
    return rc;
}

static int map_and_wait(const struct sandbox_plan *plan, pid_t pid, int to_child, int from_child,
                        struct err *err)
{
    if (sandbox_space_is_privileged(plan)) {
        int rc = map_two(pid, &plan->ids, plan->ids.uid, plan->ids.gid, err);
        if (rc < 0)
            return rc;
        if (write(to_child, "", 1) != 1)
            return err_set(err, errno, "let the supervisor go on");
    }
    struct err told;
    if (read(from_child, &told, sizeof(told)) != (ssize_t)sizeof(told))
        return err_set(err, ESRCH, "the supervisor ended while its ids were mapped");
    if (told.code != 0 && err)
        *err = told;
    return -told.code;
}

pid_t sandbox_space_fork(const struct sandbox_plan *plan, struct err *err)
{
    if (!(plan->layers & SANDBOX_USER)) {
        pid_t pid = fork_into(clone_flags(plan));
        return pid < 0 ? err_set(err, errno, "make the namespaces") : pid;
    }
    int down[2], up[2];
    if (pipe2(down, O_CLOEXEC) < 0)
        return err_set(err, errno, "make a pipe to the supervisor");
    auto_close int down_read = down[0], down_write = down[1];
    if (pipe2(up, O_CLOEXEC) < 0)
        return err_set(err, errno, "make a pipe from the supervisor");
    auto_close int up_read = up[0], up_write = up[1];

    pid_t pid = fork_into(clone_flags(plan));
    if (pid < 0)
        return err_set(err, errno, "make the namespaces");
    if (pid == 0) {
        own_close_fd(&down_write);
        own_close_fd(&up_read);
        if (finish_ids(plan, down_read, up_write) < 0)
            _exit(1);
        return 0;
    }
    own_close_fd(&down_read);
    own_close_fd(&up_write);
    int rc = map_and_wait(plan, pid, down_write, up_read, err);
    if (rc < 0) {
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
        return rc;
    }
    return pid;
}

/* ---- inside ---- */

static int raise_loopback(struct err *err)
{
    auto_close int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (sock < 0)
        return err_set(err, errno, "make a socket to raise the loopback device");
    struct ifreq request = {.ifr_name = "lo"};
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    if (ioctl(sock, SIOCSIFFLAGS, &request) < 0)
        return err_set(err, errno, "raise the loopback device");
    return 0;
}

int sandbox_space_settle(const struct sandbox_plan *plan, struct err *err)
{
    static const char host[] = "nacre";
    if (plan->layers & SANDBOX_UTS && sethostname(host, sizeof(host) - 1) < 0)
        return err_set(err, errno, "set the host name");
    if (plan->layers & SANDBOX_NET) {
        int rc = raise_loopback(err);
        if (rc < 0)
            return rc;
    }
    if (plan->layers & SANDBOX_TIME && unshare(CLONE_NEWTIME) < 0)
        return err_set(err, errno, "make a time namespace");
    /* One wall more behind the filter of system calls; not every kernel lets us. */
    if (plan->layers & SANDBOX_USER)
        (void)write_file("/proc/sys/user/max_user_namespaces", "0", NULL);
    return 0;
}

/* ---- maps of owners ---- */

struct owner_map {
    uint32_t owner, owner_gid;
    struct sandbox_ids ids;
    int fd;
};

static bool is_map_of(const struct owner_map *map, const struct sandbox_ids *ids, uint32_t owner,
                      uint32_t owner_gid)
{
    return map->owner == owner && map->owner_gid == owner_gid &&
           map->ids.host_uid == ids->host_uid && map->ids.host_gid == ids->host_gid &&
           map->ids.host_root == ids->host_root;
}

static int make_owner_map(const struct sandbox_ids *ids, uint32_t owner, uint32_t owner_gid,
                          struct err *err)
{
    pid_t pid = fork_into(CLONE_NEWUSER);
    if (pid < 0)
        return err_set(err, errno, "make a user namespace for the owner of files");
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            (void)pause(); /* until it is killed: only its namespace is wanted */
    }
    int fd = map_two(pid, ids, owner, owner_gid, err);
    if (fd == 0) {
        char path[64];
        (void)snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            fd = err_set(err, errno, "open '%s'", path);
    }
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    return fd;
}

int sandbox_space_owner_map(const struct sandbox_plan *plan, uint32_t owner, uint32_t owner_gid,
                            struct err *err)
{
    static struct owner_map kept[KEPT_MAPS];
    static size_t n_kept, oldest;
    for (size_t i = 0; i < n_kept; i++)
        if (is_map_of(&kept[i], &plan->ids, owner, owner_gid))
            return kept[i].fd;
    int fd = make_owner_map(&plan->ids, owner, owner_gid, err);
    if (fd < 0)
        return fd;
    size_t place = n_kept;
    if (n_kept < KEPT_MAPS) {
        n_kept++;
    } else {
        place = oldest++ % KEPT_MAPS;
        (void)close(kept[place].fd);
    }
    kept[place] = (struct owner_map){owner, owner_gid, plan->ids, fd};
    return fd;
}
