/* SPDX-License-Identifier: MIT */
/*
 * sandbox/proto - what the runtime and nacre-spawn say to each other.
 *
 * Messages of one fixed size over SOCK_SEQPACKET, with descriptors. Whatever
 * varies in size (a command line, an environment) is in a sealed memory file that
 * is sent along (sandbox/spec), so nothing is limited by the socket and nothing
 * shows in argv. Both ends are of one build: another version is an error.
 *
 * Runtime and zygote share one socket, runtime and supervisor another:
 *
 *   runtime -> zygote      OPEN
 *   zygote -> runtime      LOST
 *   runtime -> supervisor  SPAWN*, OPEN*, CLOSE
 *   supervisor -> runtime  READY, then SPAWNED | FAILED for each SPAWN, in order, and EXITED after
 *                          its SPAWNED; LOST for each OPEN that has come to its end; GONE, the
 * last. Or BROKEN, alone.
 *
 * OPEN to a supervisor asks for another one inside its namespaces, for processes that are to end
 * by themselves; it has no plan of its own.
 *
 * A supervisor in a PID namespace does not know the numbers that processes have outside. It sends
 * its own and those it tells of as credentials (SCM_CREDENTIALS), and the kernel translates them
 * for the runtime, which has asked for that by SO_PASSCRED.
 *
 * The end of a socket is a message as well: to the zygote and a supervisor it says that the
 * runtime is gone, so everything below has to end.
 */
#ifndef SANDBOX_PROTO_H
#define SANDBOX_PROTO_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
    SANDBOX_PROTO_VERSION = 2,
    SANDBOX_TARGETS_MAX = 64,
    SANDBOX_FDS_MAX = SANDBOX_TARGETS_MAX + 1,
};

enum sandbox_msg_type {
    SANDBOX_MSG_OPEN =
        1, /* tag: the box; fds: the supervisor's end of a new socket, and to the zygote the plan */
    SANDBOX_MSG_LOST,    /* tag: the box; code: why it did not start, 0 if its supervisor died.
                            No process of it is left. */
    SANDBOX_MSG_SPAWN,   /* tag; fds: the spec, then one for each of its targets */
    SANDBOX_MSG_CLOSE,   /* end all processes */
    SANDBOX_MSG_READY,   /* pid: the supervisor's */
    SANDBOX_MSG_SPAWNED, /* tag, pid */
    SANDBOX_MSG_FAILED,  /* tag, code, step, text */
    SANDBOX_MSG_EXITED,  /* tag, pid, code: the wait status; user_us, system_us, maxrss_bytes */
    SANDBOX_MSG_GONE,    /* no process of the box is left */
    SANDBOX_MSG_BROKEN,  /* code, step, text: the plan could not be applied; the supervisor ends */
};

enum { SANDBOX_PID_IS_SENT = 1 << 0 }; /* as a credential */

/* Fields that a type does not name are zero. */
struct sandbox_msg {
    uint16_t version;
    uint16_t type;
    uint32_t tag;
    int32_t pid;
    int32_t code;
    uint32_t flags; /* SANDBOX_PID_IS_SENT */
    uint64_t user_us;
    uint64_t system_us;
    uint64_t maxrss_bytes;
    char step[16]; /* NUL-terminated, as is text */
    char text[ERR_TEXT_SIZE];
};

/* FAILED or BROKEN, with a step and err's text, cut to what fits. */
struct sandbox_msg sandbox_msg_failure(enum sandbox_msg_type type, uint32_t tag, int code,
                                       const char *step, const struct err *err);

/* Descriptors that came with a message; whoever takes one sets it to -1. */
struct sandbox_fds {
    int fds[SANDBOX_FDS_MAX];
    size_t n_fds;
};

/* Closes what was not taken. */
void sandbox_fds_done(struct sandbox_fds *fds);

/*
 * Sends msg, whose version it sets, with descriptors, which stay the caller's. flags as of
 * sendmsg(2); no SIGPIPE. 0 or -errno.
 */
int sandbox_msg_send(int sock, struct sandbox_msg *msg, const int *fds, size_t n_fds, int flags);

/*
 * The same without descriptors, with msg->pid as a credential: the caller itself, or a process of
 * its PID namespace if it has CAP_SYS_ADMIN there.
 */
int sandbox_msg_send_pid(int sock, struct sandbox_msg *msg);

/*
 * Takes the next message: 1; 0 at the end of the socket; -EPROTO for what
 * is no message of this version, which is dropped; or -errno. The descriptors are close-on-exec and
 * the caller's. A pid that came as a credential is put in place of msg->pid.
 */
int sandbox_msg_recv(int sock, struct sandbox_msg *ret_msg, struct sandbox_fds *ret_fds, int flags);

#endif
