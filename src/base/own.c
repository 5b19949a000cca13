/* SPDX-License-Identifier: MIT */
#include "base/own.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void own_free(void *p)
{
    int saved = errno;
    void *owned;
    memcpy(&owned, p, sizeof(owned));
    free(owned);
    errno = saved;
}

void own_close(const int *fd)
{
    if (*fd < 0)
        return;
    int saved = errno;
    (void)close(*fd); /* the descriptor is gone whatever it returns, close(2) */
    errno = saved;
}

void own_close_fd(int *fd)
{
    own_close(fd);
    *fd = -1;
}
