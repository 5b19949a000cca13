/* SPDX-License-Identifier: MIT */
#include "cli/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int old_flags[3] = {-1, -1, -1}; /* of descriptors that were changed in place */

void cli_stdio_restore(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (old_flags[fd] >= 0)
            (void)fcntl(fd, F_SETFL, old_flags[fd]);
}

static int change_in_place(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (flags < 0 || copy < 0)
        return -1;
    if (!(flags & O_NONBLOCK)) {
        static bool registered;
        if (!registered)
            (void)atexit(cli_stdio_restore);
        registered = true;
        old_flags[fd] = flags;
        (void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    }
    return copy;
}

int cli_stdio_open(int fd, bool writes)
{
    struct stat st;
    if (fstat(fd, &st) < 0 || S_ISREG(st.st_mode) || S_ISBLK(st.st_mode) || S_ISDIR(st.st_mode))
        return -1;
    /* A descriptor of the wrong direction stays as it is, so that using it fails as it would. */
    int mode = fcntl(fd, F_GETFL) & O_ACCMODE;
    if (mode == (writes ? O_RDONLY : O_WRONLY))
        return -1;

    char path[32];
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    int copy = open(path, (writes ? O_WRONLY : O_RDONLY) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return copy >= 0 ? copy : change_in_place(fd);
}

bool cli_stdio_is_same(int a, int b)
{
    struct stat x, y;
    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}
