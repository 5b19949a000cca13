/* SPDX-License-Identifier: MIT */
/* nacre shutdown: asks the daemon to end, and waits until its process has. */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/own.h"
#include "cli/report.h"
#include "cli/verbs.h"
#include "client/client.h"

enum { END_MS = 30000 };

/* Of the process at the other end; -1 when it cannot be had, as across PID namespaces. */
static int open_peer(const struct client *client)
{
    struct ucred peer = {0};
    socklen_t len = sizeof(peer);
    if (getsockopt(client_fd(client), SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 || peer.pid <= 0)
        return -1;
    return (int)syscall(SYS_pidfd_open, peer.pid, 0);
}

static int wait_for_end(int pidfd, struct err *err)
{
    struct pollfd p = {.fd = pidfd, .events = POLLIN};
    int n = pidfd < 0 ? 1 : poll(&p, 1, END_MS); /* no signal is caught: EINTR cannot be */
    if (n < 0)
        return err_set(err, errno, "wait for the end of the daemon");
    return n ? 0 : err_set(err, ERR_TIMEOUT, "the daemon has not ended after %d s", END_MS / 1000);
}

int cli_shutdown(const struct cli_args *args)
{
    AUTO(client_free) struct client *client = NULL;
    const struct client_options options = {.name = "nacre " NACRE_VERSION, .no_start = true};
    struct err err;
    int rc = client_connect(&options, &client, &err);
    if (rc == -ERR_CLOSED) {
        if (args->json)
            cli_print("{\"ended\":false}\n");
        else
            cli_note(args, "%s", err.text);
        return cli_flush(args, CLI_UNMET);
    }
    if (rc < 0)
        return cli_fail(args, &err);
    long long pid = (long long)client_daemon_pid(client);
    auto_close int pidfd = open_peer(client);
    (void)client_begin(client, "shutdown");
    rc = client_call(client, NULL, CLIENT_WAIT, NULL, &err);
    if (rc == 0)
        rc = wait_for_end(pidfd, &err);
    if (rc < 0)
        return cli_fail(args, &err);
    if (args->json)
        cli_print("{\"ended\":true,\"pid\":%lld}\n", pid);
    return cli_flush(args, CLI_OK);
}
