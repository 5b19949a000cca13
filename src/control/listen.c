/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/path.h"
#include "control/control.h"

enum { BACKLOG = 128 };

/* Who may write the directory may put a socket of his own under our name. */
static int make_directory(const char *path, struct err *err)
{
    auto_free char *dir = xstrndup(path, (size_t)(path_basename(path) - path));
    int rc = io_mkdir_p(dir, 0700, err);
    if (rc < 0)
        return rc;
    struct stat st;
    if (stat(dir, &st) < 0)
        return err_set(err, errno, "look at the directory '%s'", dir);
    if ((st.st_uid != geteuid() && st.st_uid != 0) || (st.st_mode & 022))
        return err_set(err, ERR_DENIED,
                       "directory '%s' of the socket: expected one that only this user may write",
                       dir);
    return 0;
}

/* Only a socket is replaced: a wrong path must not cost anybody a file. */
static int check_replaced(const char *path, struct err *err)
{
    struct stat st;
    if (lstat(path, &st) == 0 && !S_ISSOCK(st.st_mode))
        return err_set(err, ERR_EXISTS, "'%s' is there and is no socket", path);
    return 0;
}

static int bind_and_listen(int fd, const struct sockaddr_un *addr)
{
    (void)unlink(addr->sun_path);
    if (bind(fd, (const struct sockaddr *)addr, sizeof(*addr)) < 0 ||
        chmod(addr->sun_path, 0600) < 0 || listen(fd, BACKLOG) < 0)
        return -errno;
    return 0;
}

int control_listen(const char *path, struct err *err)
{
    static const char suffix[] = ".new";
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    size_t room = sizeof(addr.sun_path) - sizeof(suffix);
    if (*path != '/')
        return err_set(err, ERR_INVALID, "socket '%s': expected an absolute path", path);
    if (strlen(path) > room)
        return err_set(err, ERR_INVALID, "socket '%s': longer than the %zu bytes that are possible",
                       path, room);
    (void)snprintf(addr.sun_path, sizeof(addr.sun_path), "%s%s", path, suffix);

    int rc = make_directory(path, err);
    if (rc == 0)
        rc = check_replaced(path, err);
    if (rc < 0)
        return rc;
    auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_set(err, errno, "make a socket");
    rc = bind_and_listen(fd, &addr);
    if (rc == 0 && rename(addr.sun_path, path) < 0)
        rc = -errno;
    if (rc < 0) {
        (void)unlink(addr.sun_path);
        return err_set(err, -rc, "listen on '%s'", path);
    }
    return take_fd(&fd);
}
