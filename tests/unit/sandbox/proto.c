/* SPDX-License-Identifier: MIT */
#include "sandbox/proto.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/io.h"
#include "lib/test.h"

static void make_pair(int socks[2])
{
    CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks), 0);
}

TEST(messages_arrive_whole_with_their_descriptors)
{
    int socks[2], pipes[2];
    make_pair(socks);
    CHECK_INT(io_pipe(pipes), 0);
    int fds[SANDBOX_FDS_MAX];
    for (int i = 0; i < SANDBOX_FDS_MAX; i++)
        fds[i] = pipes[1];
    struct sandbox_msg out = {
        .type = SANDBOX_MSG_EXITED, .tag = 7, .code = -3, .user_us = 1ULL << 40};
    CHECK_INT(sandbox_msg_send(socks[0], &out, fds, SANDBOX_FDS_MAX, 0), 0);
    CHECK_INT(sandbox_msg_send(socks[0], &out, NULL, 0, 0), 0);
    (void)close(pipes[1]);

    struct sandbox_msg in;
    struct sandbox_fds got;
    CHECK_INT(sandbox_msg_recv(socks[1], &in, &got, 0), 1);
    CHECK_MEM(&in, sizeof(in), &out, sizeof(out));
    CHECK_INT(got.n_fds, SANDBOX_FDS_MAX);
    for (size_t i = 0; i < got.n_fds; i++)
        CHECK_INT(fcntl(got.fds[i], F_GETFD), FD_CLOEXEC);
    sandbox_fds_done(&got);
    CHECK_INT(sandbox_msg_recv(socks[1], &in, &got, 0), 1);
    CHECK_INT(got.n_fds, 0);
    CHECK_INT(sandbox_msg_recv(socks[1], &in, &got, MSG_DONTWAIT), -EAGAIN);
    char byte;
    CHECK_INT(read(pipes[0], &byte, 1), 0);
    (void)close(pipes[0]);
    (void)close(socks[0]);
    CHECK_INT(sandbox_msg_recv(socks[1], &in, &got, 0), 0);
    CHECK_INT(sandbox_msg_send(socks[1], &out, NULL, 0, 0), -EPIPE); /* and no signal */
    (void)close(socks[1]);
}

TEST(other_versions_and_sizes_are_refused)
{
    int socks[2];
    make_pair(socks);
    struct sandbox_msg msg = {.version = SANDBOX_PROTO_VERSION + 1};
    char large[sizeof(msg) + 1] = {0};
    struct sandbox_msg in;
    struct sandbox_fds got;
    CHECK_INT(send(socks[0], &msg, sizeof(msg), 0), sizeof(msg));
    CHECK_INT(sandbox_msg_recv(socks[1], &in, &got, 0), -EPROTO);
    CHECK_INT(send(socks[0], &msg, 5, 0), 5);
    CHECK_INT(sandbox_msg_recv(socks[1], &in, &got, 0), -EPROTO);
    memcpy(large, &(struct sandbox_msg){.version = SANDBOX_PROTO_VERSION}, sizeof(msg));
    CHECK_INT(send(socks[0], large, sizeof(large), 0), sizeof(large));
    CHECK_INT(sandbox_msg_recv(socks[1], &in, &got, 0), -EPROTO);
    (void)close(socks[0]);
    (void)close(socks[1]);
}
