/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "bare.h"
#include "bench.h"
#include "report.h"

struct nacre_session *stage_session(struct nacre *n)
{
    struct nacre_session *s = NULL;
    struct nacre_error *error = NULL;
    if (nacre_session_open(n, NULL, &s, &error) < 0)
        fail("open a session: %s", nacre_error_message(error));
    stage_run(s, ":", 1);
    return s;
}

void stage_session_end(struct nacre_session *s)
{
    if (s && nacre_session_close(s, NULL) < 0)
        fail("cannot close a session");
    nacre_session_free(s);
}

void stage_run(struct nacre_session *s, const char *text, size_t len)
{
    struct nacre_result *r = NULL;
    struct nacre_error *error = NULL;
    if (nacre_exec(s, text, len, NULL, &r, &error) < 0)
        fail("run a command: %s", nacre_error_message(error));
    if (nacre_result_status(r) != NACRE_STATUS_EXITED || nacre_result_exit_code(r) != 0)
        fail("a command ended with %d: %s", nacre_result_exit_code(r),
             nacre_result_output(r, NULL));
    nacre_result_free(r);
}

size_t stage_rounds(const struct stage *stage, size_t n)
{
    return stage->quick ? (n > 20 ? n / 20 : 1) : n;
}

long process_kib(pid_t pid, const char *file, const char *field)
{
    char path[64], line[256];
    (void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
    FILE *f = fopen(path, "re");
    if (!f)
        return -1;
    long kib = -1;
    while (kib < 0 && fgets(line, sizeof(line), f))
        if (strncmp(line, field, strlen(field)) == 0)
            kib = strtol(line + strlen(field), NULL, 10);
    (void)fclose(f);
    return kib;
}

/* ---- a daemon of our own ---- */

static char daemon_dir[64];

/* Who listens on the socket. */
static pid_t peer_pid(const char *path)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    struct ucred peer = {0};
    socklen_t len = sizeof(peer);
    (void)snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0 ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
        fail("cannot ask '%s' who it is: %s", path, strerror(errno));
    (void)close(fd);
    return peer.pid;
}

/* Everything the daemon keeps goes below a directory of ours, on disk as a user has it. */
void stage_daemon_start(struct stage *stage)
{
    char path[64];
    struct nacre_error *error = NULL;
    (void)snprintf(daemon_dir, sizeof(daemon_dir), "/var/tmp/nacre-bench-XXXXXX");
    if (!mkdtemp(daemon_dir))
        fail("make '%s': %s", daemon_dir, strerror(errno));
    (void)snprintf(path, sizeof(path), "%.50s/socket", daemon_dir);
    if (setenv("NACRE_SOCKET", path, 1) < 0 || setenv("XDG_STATE_HOME", daemon_dir, 1) < 0)
        fail("setenv");
    if (nacre_connect(NULL, &stage->daemon, &error) < 0)
        fail("connect: %s", nacre_error_message(error));
    stage->daemon_pid = peer_pid(path);
}

void stage_daemon_stop(struct stage *stage)
{
    if (!stage->daemon)
        return;
    nacre_close(stage->daemon);
    (void)kill(stage->daemon_pid, SIGTERM);
    for (int i = 0; i < 1000 && kill(stage->daemon_pid, 0) == 0; i++)
        usleep(10000);
    const char *const argv[] = {"rm", "-rf", daemon_dir, NULL};
    (void)bare_run_us(argv);
}
