/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "proc/stat_priv.h"

ssize_t proc_read_file(const char *path, char *ret_text, size_t size)
{
    char full[128];
    (void)snprintf(full, sizeof(full), "/proc/%s", path);
    auto_close int fd = open(full, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? -ESRCH : -errno;
    size_t len = 0;
    while (len < size - 1) {
        ssize_t n = read(fd, ret_text + len, size - 1 - len);
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n == 0)
            break;
        if (n > 0)
            len += (size_t)n;
    }
    ret_text[len] = '\0';
    return (ssize_t)len;
}

/* Fields of proc(5), counted there from 1. */
enum {
    FIELD_PPID = 4,
    FIELD_PGID = 5,
    FIELD_SID = 6,
    FIELD_UTIME = 14,
    FIELD_STIME = 15,
    FIELD_CUTIME = 16,
    FIELD_CSTIME = 17,
    FIELD_STARTTIME = 22,
    N_FIELDS = 23,
};

/* "12 (comm) S 1 ...": the name may hold blanks and brackets, so its end is the last one. */
static int parse(const char *text, struct proc_stat *ret)
{
    const char *open = strchr(text, '(');
    const char *close = strrchr(text, ')');
    if (!open || !close || close < open || close[1] != ' ' || close[2] == '\0')
        return -EPROTO;
    struct proc_info *info = &ret->info;
    size_t len = (size_t)(close - open - 1);
    if (len >= sizeof(info->comm))
        len = sizeof(info->comm) - 1;
    memcpy(info->comm, open + 1, len);
    info->comm[len] = '\0';
    info->state = close[2];

    uint64_t fields[N_FIELDS] = {0};
    const char *at = close + 3;
    for (int i = FIELD_PPID; i < N_FIELDS; i++) {
        char *end;
        fields[i] = strtoull(at, &end, 10); /* a negative number wraps, and back in the cast */
        if (end == at)
            return -EPROTO;
        at = end;
    }
    info->pid = (pid_t)strtol(text, NULL, 10);
    info->ppid = (pid_t)fields[FIELD_PPID];
    info->pgid = (pid_t)fields[FIELD_PGID];
    info->sid = (pid_t)fields[FIELD_SID];
    info->starttime = fields[FIELD_STARTTIME];
    ret->user_ticks = fields[FIELD_UTIME];
    ret->system_ticks = fields[FIELD_STIME];
    ret->children_user_ticks = fields[FIELD_CUTIME];
    ret->children_system_ticks = fields[FIELD_CSTIME];
    return 0;
}

int proc_stat_read(const char *path, struct proc_stat *ret_stat)
{
    char text[1024];
    ssize_t n = proc_read_file(path, text, sizeof(text));
    if (n < 0)
        return (int)n;
    if (n == 0)
        return -ESRCH;
    struct proc_stat stat = {0};
    int rc = parse(text, &stat);
    if (rc == 0)
        *ret_stat = stat;
    return rc;
}
