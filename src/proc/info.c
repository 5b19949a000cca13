/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "proc/stat_priv.h"
#include "proc/tree.h"

enum { CMDLINE_MAX = 4096, PATH_SIZE = 64 };

int proc_info_read(pid_t pid, struct proc_info *ret_info)
{
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof(path), "%d/stat", pid);
    struct proc_stat stat;
    int rc = proc_stat_read(path, &stat);
    if (rc == 0)
        *ret_info = stat.info;
    return rc;
}

int proc_check(struct err *err)
{
    char self[PATH_SIZE];
    ssize_t n = readlink("/proc/self", self, sizeof(self) - 1);
    if (n > 0) {
        self[n] = '\0';
        if (strtol(self, NULL, 10) == getpid())
            return 0;
    }
    if (n < 0 && access("/proc/1/stat", F_OK) < 0)
        return err_set(err, ERR_UNSUPPORTED, "/proc is not mounted");
    return err_set(err, ERR_UNSUPPORTED, "/proc shows the processes of another PID namespace");
}

int proc_kill(pid_t pid, uint64_t starttime, int signo)
{
    /* The descriptor names whoever has the number now; that it is the right one is seen after. */
    auto_close int pidfd = pidfd_open(pid, 0);
    if (pidfd < 0)
        return -errno;
    struct proc_info info = {0};
    int rc = proc_info_read(pid, &info);
    if (rc < 0)
        return rc;
    if (info.starttime != starttime)
        return -ESRCH;
    return pidfd_send_signal(pidfd, signo, NULL, 0) < 0 ? -errno : 0;
}

int proc_children_open(pid_t pid)
{
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        return fd;
    if (errno != ENOENT)
        return -errno;
    return access("/proc/thread-self/children", F_OK) == 0 ? -ESRCH : -EOPNOTSUPP;
}

int proc_has_children(int fd)
{
    char byte;
    ssize_t n = pread(fd, &byte, 1, 0);
    return n < 0 ? -errno : n > 0;
}

static bool is_file(int dirfd, const char *name, dev_t dev, ino_t ino)
{
    struct stat st;
    return fstatat(dirfd, name, &st, 0) == 0 && st.st_dev == dev && st.st_ino == ino;
}

int proc_holds_file(pid_t pid, dev_t dev, ino_t ino)
{
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof(path), "/proc/%d/fd", pid);
    DIR *dir = opendir(path);
    if (!dir)
        return errno == ENOENT ? -ESRCH : -errno;
    int found = 0;
    for (struct dirent *entry = readdir(dir); entry && !found; entry = readdir(dir))
        if (isdigit((unsigned char)entry->d_name[0]) &&
            is_file(dirfd(dir), entry->d_name, dev, ino))
            found = 1;
    (void)closedir(dir);
    return found;
}

int proc_cwd(pid_t pid, char **ret_path)
{
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof(path), "/proc/%d/cwd", pid);
    char target[PATH_MAX + 16];
    ssize_t n = readlink(path, target, sizeof(target) - 1);
    if (n < 0)
        return errno == ENOENT ? -ESRCH : -errno;
    *ret_path = xstrndup(target, (size_t)n);
    return 0;
}

int proc_cmdline(pid_t pid, char **ret_text)
{
    char path[PATH_SIZE];
    char text[CMDLINE_MAX + 1];
    (void)snprintf(path, sizeof(path), "%d/cmdline", pid);
    ssize_t n = proc_read_file(path, text, sizeof(text));
    if (n < 0)
        return (int)n;
    while (n > 0 && text[n - 1] == '\0')
        n--;
    if (n == 0) {
        struct proc_info info;
        int rc = proc_info_read(pid, &info);
        if (rc < 0)
            return rc;
        *ret_text = xasprintf("[%s]", info.comm);
        return 0;
    }
    for (ssize_t i = 0; i < n; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    *ret_text = xstrndup(text, (size_t)n);
    return 0;
}

int proc_cpu_read(pid_t pid, struct proc_cpu *ret_cpu)
{
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof(path), "%d/stat", pid);
    struct proc_stat stat;
    int rc = proc_stat_read(path, &stat);
    if (rc < 0)
        return rc;
    uint64_t tick_us = 1000000 / (uint64_t)sysconf(_SC_CLK_TCK);
    *ret_cpu = (struct proc_cpu){.user_us = stat.user_ticks * tick_us,
                                 .system_us = stat.system_ticks * tick_us,
                                 .children_user_us = stat.children_user_ticks * tick_us,
                                 .children_system_us = stat.children_system_ticks * tick_us};
    return 0;
}
