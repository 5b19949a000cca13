/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/rundir.h"
#include "client/priv.h"

enum { BACKLOG_RETRY_MS = 2, NS_PER_MS = 1000000 };

int64_t client_deadline(int64_t timeout_ms)
{
    return timeout_ms < 0 ? -1 : clock_mono_ns() + timeout_ms * NS_PER_MS;
}

int client_poll_ms(int64_t deadline)
{
    if (deadline < 0)
        return -1;
    int64_t left = deadline - clock_mono_ns();
    return left <= 0 ? 0 : (int)(left / NS_PER_MS < 3600000 ? left / NS_PER_MS + 1 : 3600000);
}

int client_socket_path(struct buf *ret, struct err *err)
{
    const char *given = getenv("NACRE_SOCKET");
    buf_clear(ret);
    if (given && *given) {
        if (*given != '/')
            return err_set(err, ERR_INVALID, "NACRE_SOCKET is '%s': expected an absolute path",
                           given);
        return buf_append_str(ret, given);
    }
    auto_free char *dir = NULL;
    int rc = rundir_find(&dir, err);
    return rc < 0 ? rc : buf_printf(ret, "%s/nacred.sock", dir);
}

static bool is_trusted(uid_t uid)
{
    return uid == 0 || uid == geteuid();
}

/* Somebody else who may write the directory could put a socket of his own there. */
static int check_directory(const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    auto_free char *dir = slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup(".");
    struct stat st;
    if (stat(dir, &st) < 0 && errno == ENOENT)
        return err_set(err, ERR_CLOSED, "no daemon listens on '%s'", path);
    if (stat(dir, &st) < 0)
        return err_set(err, errno, "look at the directory '%s'", dir);
    if (!is_trusted(st.st_uid) || (st.st_mode & 022))
        return err_set(err, ERR_DENIED,
                       "directory '%s' of the socket: expected one that only this user may write",
                       dir);
    return 0;
}

static int check_peer(int fd, const char *path, struct err *err)
{
    struct ucred peer;
    socklen_t len = sizeof(peer);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
        return err_set(err, errno, "look at the other end of '%s'", path);
    if (!is_trusted(peer.uid))
        return err_set(err, ERR_DENIED, "socket '%s' belongs to user %u, not to this user or root",
                       path, peer.uid);
    return 0;
}

/* EAGAIN: the listener's queue is full, which passes. */
static int connect_until(int fd, const struct sockaddr_un *addr, int64_t deadline)
{
    for (;;) {
        if (connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) == 0)
            return 0;
        if (errno != EAGAIN && errno != EINTR)
            return -errno;
        if (client_poll_ms(deadline) == 0)
            return -ERR_TIMEOUT;
        (void)poll(NULL, 0, BACKLOG_RETRY_MS);
    }
}

int client_try_connect(const char *path, int64_t deadline, struct err *err)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    size_t len = strlen(path);
    if (len >= sizeof(addr.sun_path))
        return err_set(err, ERR_INVALID, "socket '%s': longer than the %zu bytes that are possible",
                       path, sizeof(addr.sun_path) - 1);
    memcpy(addr.sun_path, path, len);

    int rc = check_directory(path, err);
    if (rc < 0)
        return rc;
    auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_set(err, errno, "make a socket");
    rc = connect_until(fd, &addr, deadline);
    if (rc == -ENOENT || rc == -ECONNREFUSED)
        return err_set(err, ERR_CLOSED, "no daemon listens on '%s'", path);
    if (rc < 0)
        return err_set(err, -rc, "connect to the daemon on '%s'", path);
    rc = check_peer(fd, path, err);
    return rc < 0 ? rc : take_fd(&fd);
}

int client_open_socket(const struct client_options *options, const char *path, int64_t deadline,
                       struct err *err)
{
    int fd = client_try_connect(path, deadline, err);
    if (fd != -ERR_CLOSED || options->no_start)
        return fd;
    int rc = client_start_daemon(options, path, deadline, err);
    return rc < 0 ? rc : client_try_connect(path, deadline, err);
}
