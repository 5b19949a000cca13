/* SPDX-License-Identifier: MIT */
/*
 * Zygote and supervisor by their protocol, with what the runtime never sends.
 */
#include "sandbox/zygote.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "lib/test.h"
#include "sandbox/plan.h"
#include "sandbox/proto.h"
#include "sandbox/spec.h"

struct zygote {
    pid_t pid;
    int sock;
};

static void make_pair(int socks[2])
{
    CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks), 0);
}

static struct zygote start_zygote(void)
{
    int socks[2];
    make_pair(socks);
    struct zygote z = {.pid = fork(), .sock = socks[0]};
    CHECK(z.pid >= 0);
    if (z.pid == 0) {
        (void)close(socks[0]);
        _exit(sandbox_zygote_serve(socks[1]));
    }
    (void)close(socks[1]);
    return z;
}

static void end_zygote(struct zygote *z)
{
    (void)close(z->sock);
    int status;
    CHECK_INT(waitpid(z->pid, &status, 0), z->pid);
    CHECK_INT(status, 0);
}

static struct sandbox_msg receive(int sock)
{
    struct sandbox_msg msg;
    struct sandbox_fds fds;
    CHECK_INT(sandbox_msg_recv(sock, &msg, &fds, 0), 1);
    CHECK_INT(fds.n_fds, 0);
    return msg;
}

static void send_msg(int sock, uint16_t type, uint32_t tag, const int *fds, size_t n_fds)
{
    struct sandbox_msg msg = {.type = type, .tag = tag};
    CHECK_INT(sandbox_msg_send(sock, &msg, fds, n_fds, 0), 0);
}

/* Asks for a box with this plan; the socket to its supervisor, if there will be one. */
static int open_box(struct zygote *z, const void *plan, size_t len, uint32_t id)
{
    int socks[2];
    make_pair(socks);
    int fds[] = {socks[1], io_memfd("plan", plan, len)};
    CHECK(fds[1] >= 0);
    send_msg(z->sock, SANDBOX_MSG_OPEN, id, fds, 2);
    (void)close(fds[0]);
    (void)close(fds[1]);
    return socks[0];
}

static int open_good_box(struct zygote *z, uint32_t id)
{
    struct sandbox_plan plan;
    sandbox_plan_init(&plan);
    int sock = open_box(z, &plan, sizeof(plan), id);
    struct sandbox_msg msg = receive(sock);
    CHECK_INT(msg.type, SANDBOX_MSG_READY);
    CHECK(msg.pid > 0);
    return sock;
}

static void check_end(int sock)
{
    struct sandbox_msg msg;
    struct sandbox_fds fds;
    CHECK_INT(sandbox_msg_recv(sock, &msg, &fds, 0), 0);
    (void)close(sock);
}

static void check_lost(struct zygote *z, uint32_t id, int code)
{
    struct sandbox_msg msg = receive(z->sock);
    CHECK_INT(msg.type, SANDBOX_MSG_LOST);
    CHECK_INT(msg.tag, id);
    CHECK_INT(msg.code, code);
}

TEST(a_box_that_cannot_be_opened_is_lost)
{
    struct zygote z = start_zygote();
    struct sandbox_plan plan;
    sandbox_plan_init(&plan);
    int sock = open_box(&z, &plan, sandbox_plan_size(&plan) - 1, 5);
    check_lost(&z, 5, EPROTO);
    check_end(sock);
    plan.version = 99;
    sock = open_box(&z, &plan, sizeof(plan), 6);
    check_lost(&z, 6, EINVAL);
    check_end(sock);
    send_msg(z.sock, SANDBOX_MSG_OPEN, 7, NULL, 0);
    check_lost(&z, 7, EPROTO);

    sock = open_good_box(&z, 8); /* the zygote is none the worse */
    send_msg(sock, SANDBOX_MSG_CLOSE, 0, NULL, 0);
    CHECK_INT(receive(sock).type, SANDBOX_MSG_GONE);
    check_end(sock);
    end_zygote(&z);
}

TEST(a_request_that_makes_no_sense_fails)
{
    struct zygote z = start_zygote();
    int sock = open_good_box(&z, 1);
    send_msg(sock, SANDBOX_MSG_SPAWN, 1, NULL, 0);
    struct sandbox_msg msg = receive(sock);
    CHECK_INT(msg.type, SANDBOX_MSG_FAILED);
    CHECK_INT(msg.tag, 1);
    CHECK_INT(msg.code, EPROTO);
    CHECK_STR(msg.step, "request");
    CHECK(msg.text[0]);

    int garbage = io_memfd("spec", "garbage", 7);
    send_msg(sock, SANDBOX_MSG_SPAWN, 2, &garbage, 1);
    CHECK_INT(receive(sock).code, EPROTO);
    (void)close(garbage);

    const char *argv[] = {"true", NULL};
    const char *envp[] = {NULL};
    struct sandbox_spec spec = {
        .path = "/bin/true",
        .cwd = "/",
        .argv = argv,
        .envp = envp,
        .targets = (int[]){0, 1},
        .n_targets = 2,
        .umask = -1
    };
    auto_buf struct buf text = BUF_INIT(SANDBOX_SPEC_MAX);
    CHECK_INT(sandbox_spec_encode(&spec, &text, NULL), 0);
    int fds[] = {io_memfd("spec", text.data, text.len), 0, 0};
    send_msg(sock, SANDBOX_MSG_SPAWN, 3, fds, 2); /* one descriptor for two targets */
    CHECK_INT(receive(sock).code, EPROTO);
    send_msg(sock, SANDBOX_MSG_SPAWN, 4, fds, 3);
    CHECK_INT(receive(sock).type, SANDBOX_MSG_SPAWNED);
    CHECK_INT(receive(sock).type, SANDBOX_MSG_EXITED);
    (void)close(fds[0]);
    (void)close(sock);
    end_zygote(&z);
}

TEST(what_is_no_message_ends_the_box)
{
    struct zygote z = start_zygote();
    int sock = open_good_box(&z, 1);
    CHECK_INT(send(sock, "nonsense", 8, 0), 8);
    CHECK_INT(receive(sock).type, SANDBOX_MSG_GONE);
    check_end(sock);
    end_zygote(&z);
}

TEST(signals_to_all_do_not_end_them)
{
    struct zygote z = start_zygote();
    int socks[2];
    struct sandbox_plan plan;
    sandbox_plan_init(&plan);
    socks[0] = open_box(&z, &plan, sizeof(plan), 1);
    pid_t box = receive(socks[0]).pid;
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGUSR1, SIGALRM, SIGTSTP};
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        CHECK_INT(kill(box, signals[i]), 0);
        CHECK_INT(kill(z.pid, signals[i]), 0);
    }
    CHECK_INT(getsid(box), box);
    CHECK_INT(getsid(z.pid), z.pid);
    socks[1] = open_good_box(&z, 2);
    send_msg(socks[0], SANDBOX_MSG_CLOSE, 0, NULL, 0);
    CHECK_INT(receive(socks[0]).type, SANDBOX_MSG_GONE);
    (void)close(socks[0]);
    (void)close(socks[1]);
    end_zygote(&z);
}

TEST(the_death_of_many_supervisors_is_told_for_each)
{
    enum { N = 20 };
    struct zygote z = start_zygote();
    struct sandbox_plan plan;
    sandbox_plan_init(&plan);
    int socks[N];
    pid_t pids[N];
    for (uint32_t i = 0; i < N; i++) {
        socks[i] = open_box(&z, &plan, sizeof(plan), i);
        pids[i] = receive(socks[i]).pid;
    }
    for (int i = 0; i < N; i += 2)
        CHECK_INT(kill(pids[i], SIGKILL), 0);
    bool told[N] = {false};
    for (int i = 0; i < N; i += 2) {
        struct sandbox_msg msg = receive(z.sock);
        CHECK_INT(msg.type, SANDBOX_MSG_LOST);
        CHECK(msg.tag < N && msg.tag % 2 == 0 && !told[msg.tag]);
        told[msg.tag] = true;
    }
    for (int i = 0; i < N; i++)
        (void)close(socks[i]);
    end_zygote(&z);
}
