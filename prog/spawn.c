/* SPDX-License-Identifier: MIT */
/*
 * nacre-spawn --zygote FD - starts processes for a runtime, which talks to it
 * over FD (sandbox/proto). Not for people.
 */
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/zygote.h"

enum { USAGE = 2, SOCK = 3 };

static int parse_socket(const char *text)
{
    char *end;
    long fd = strtol(text, &end, 10);
    if (end == text || *end || fd < 3 || fd > 65535)
        return -1;
    int type;
    socklen_t len = sizeof(type);
    if (getsockopt((int)fd, SOL_SOCKET, SO_TYPE, &type, &len) < 0 || type != SOCK_SEQPACKET)
        return -1;
    return (int)fd;
}

/* Nothing is kept of what the runtime had open, but its socket. */
static void keep_only(int fd)
{
    if (fd != SOCK)
        (void)dup3(fd, SOCK, O_CLOEXEC);
    else
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    (void)close_range(SOCK + 1, ~0U, 0);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; i < 3; i++)
        (void)dup2(null, i);
    (void)close(null);
}

/* The environment could be read in /proc by those who are started here. */
static void wipe(char **strings)
{
    for (; *strings; strings++)
        memset(*strings, 0, strlen(*strings));
}

int main(int argc, char **argv)
{
    int fd = argc == 3 && strcmp(argv[1], "--zygote") == 0 ? parse_socket(argv[2]) : -1;
    if (fd < 0) {
        (void)fputs("nacre-spawn is started by nacre, with a socket\n", stderr);
        return USAGE;
    }
    wipe(environ);
    keep_only(fd);
    return sandbox_zygote_serve(SOCK);
}
