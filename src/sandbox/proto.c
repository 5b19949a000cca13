/* SPDX-License-Identifier: MIT */
#include "sandbox/proto.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/own.h"

/* Aligned for the header of a control message. */
union control {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(int) * SANDBOX_FDS_MAX)];
};

void sandbox_fds_done(struct sandbox_fds *fds)
{
    for (size_t i = 0; i < fds->n_fds; i++)
        own_close_fd(&fds->fds[i]);
    fds->n_fds = 0;
}

int sandbox_msg_send(int sock, struct sandbox_msg *msg, const int *fds, size_t n_fds, int flags)
{
    assert(n_fds <= SANDBOX_FDS_MAX);
    msg->version = SANDBOX_PROTO_VERSION;
    struct iovec part = {.iov_base = msg, .iov_len = sizeof(*msg)};
    struct msghdr head = {.msg_iov = &part, .msg_iovlen = 1};
    union control control;
    if (n_fds > 0) {
        memset(&control, 0, sizeof(control));
        head.msg_control = &control;
        head.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
        struct cmsghdr *cmsg = CMSG_FIRSTHDR(&head);
        cmsg->cmsg_level = SOL_SOCKET;
        cmsg->cmsg_type = SCM_RIGHTS;
        cmsg->cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
        memcpy(CMSG_DATA(cmsg), fds, sizeof(int) * n_fds);
    }
    ssize_t sent;
    do
        sent = sendmsg(sock, &head, flags | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : 0;
}

static void take_control(struct msghdr *head, struct sandbox_fds *ret_fds)
{
    for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(head); cmsg; cmsg = CMSG_NXTHDR(head, cmsg)) {
        if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        assert(ret_fds->n_fds + n <= SANDBOX_FDS_MAX); /* the control buffer holds no more */
        memcpy(&ret_fds->fds[ret_fds->n_fds], CMSG_DATA(cmsg), n * sizeof(int));
        ret_fds->n_fds += n;
    }
}

int sandbox_msg_recv(int sock, struct sandbox_msg *ret_msg, struct sandbox_fds *ret_fds, int flags)
{
    union control control;
    struct iovec part = {.iov_base = ret_msg, .iov_len = sizeof(*ret_msg)};
    struct msghdr head = {.msg_iov = &part,
                          .msg_iovlen = 1,
                          .msg_control = &control,
                          .msg_controllen = sizeof(control)};
    ret_fds->n_fds = 0;
    ssize_t got;
    do
        got = recvmsg(sock, &head, flags | MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno == ECONNRESET ? 0 : -errno;
    take_control(&head, ret_fds);
    if (got == 0)
        return 0; /* an empty packet is taken for the end too: nobody sends one */
    if (got != (ssize_t)sizeof(*ret_msg) || head.msg_flags & (MSG_TRUNC | MSG_CTRUNC) ||
        ret_msg->version != SANDBOX_PROTO_VERSION) {
        sandbox_fds_done(ret_fds);
        return -EPROTO;
    }
    ret_msg->step[sizeof(ret_msg->step) - 1] = '\0';
    ret_msg->text[sizeof(ret_msg->text) - 1] = '\0';
    return 1;
}
