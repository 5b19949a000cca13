/* SPDX-License-Identifier: MIT */
#include "sandbox/proto.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/own.h"

/* Aligned for the header of a control message. */
union control {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(int) * SANDBOX_FDS_MAX) + CMSG_SPACE(sizeof(struct ucred))];
};

struct sandbox_msg sandbox_msg_failure(enum sandbox_msg_type type, uint32_t tag, int code,
                                       const char *step, const struct err *err)
{
    struct sandbox_msg msg = {.type = (uint16_t)type, .tag = tag, .code = code};
    (void)snprintf(msg.step, sizeof(msg.step), "%s", step);
    (void)snprintf(msg.text, sizeof(msg.text), "%s", err->text);
    return msg;
}

void sandbox_fds_done(struct sandbox_fds *fds)
{
    for (size_t i = 0; i < fds->n_fds; i++)
        own_close_fd(&fds->fds[i]);
    fds->n_fds = 0;
}

static int send_message(int sock, const struct msghdr *head, int flags)
{
    ssize_t sent;
    do
        sent = sendmsg(sock, head, flags | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : 0;
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
    return send_message(sock, &head, flags);
}

int sandbox_msg_send_pid(int sock, struct sandbox_msg *msg)
{
    msg->version = SANDBOX_PROTO_VERSION;
    msg->flags |= SANDBOX_PID_IS_SENT;
    struct iovec part = {.iov_base = msg, .iov_len = sizeof(*msg)};
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(struct ucred))];
    } control = {0};
    struct msghdr head = {.msg_iov = &part,
                          .msg_iovlen = 1,
                          .msg_control = &control,
                          .msg_controllen = sizeof(control)};
    struct cmsghdr *cmsg = CMSG_FIRSTHDR(&head);
    cmsg->cmsg_level = SOL_SOCKET;
    cmsg->cmsg_type = SCM_CREDENTIALS;
    cmsg->cmsg_len = CMSG_LEN(sizeof(struct ucred));
    struct ucred who = {.pid = msg->pid, .uid = geteuid(), .gid = getegid()};
    memcpy(CMSG_DATA(cmsg), &who, sizeof(who));
    return send_message(sock, &head, 0);
}

static void take_control(struct msghdr *head, struct sandbox_fds *ret_fds, pid_t *ret_pid)
{
    for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(head); cmsg; cmsg = CMSG_NXTHDR(head, cmsg)) {
        if (cmsg->cmsg_level != SOL_SOCKET)
            continue;
        if (cmsg->cmsg_type == SCM_CREDENTIALS) {
            struct ucred who;
            memcpy(&who, CMSG_DATA(cmsg), sizeof(who));
            *ret_pid = who.pid;
        }
        if (cmsg->cmsg_type != SCM_RIGHTS)
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
    /* A peer that ended without having read all is told first, and once: what it sent is still
     * there. */
    while (got < 0 && (errno == EINTR || errno == ECONNRESET));
    if (got < 0)
        return -errno;
    pid_t sender = 0;
    take_control(&head, ret_fds, &sender);
    if (got == 0)
        return 0; /* an empty packet is taken for the end too: nobody sends one */
    if (got != (ssize_t)sizeof(*ret_msg) || head.msg_flags & (MSG_TRUNC | MSG_CTRUNC) ||
        ret_msg->version != SANDBOX_PROTO_VERSION) {
        sandbox_fds_done(ret_fds);
        return -EPROTO;
    }
    /* Every message carries its sender where that was asked for: only these are about a process. */
    bool tells_pid = ret_msg->type == SANDBOX_MSG_READY || ret_msg->type == SANDBOX_MSG_SPAWNED ||
                     ret_msg->type == SANDBOX_MSG_EXITED;
    if (sender > 0 && tells_pid && ret_msg->flags & SANDBOX_PID_IS_SENT)
        ret_msg->pid = sender;
    ret_msg->step[sizeof(ret_msg->step) - 1] = '\0';
    ret_msg->text[sizeof(ret_msg->text) - 1] = '\0';
    return 1;
}
