/* SPDX-License-Identifier: MIT */
/* Sockets that lead out of a sandbox without a network, or into seldom used code. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "attack.h"

static enum attack_result connect_ip(const char *address, uint16_t port)
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_port = htons(port)};
    (void)inet_pton(AF_INET, address, &addr.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval wait = {.tv_sec = 2};
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
    return attack_refused(connect(fd, (struct sockaddr *)&addr, sizeof(addr)));
}

static enum attack_result loopback_outside(void)
{
    long port = attack_number("ATTACK_TCP");
    return port < 0 ? ATTACK_NOT_APPLICABLE : connect_ip("127.0.0.1", (uint16_t)port);
}

static enum attack_result metadata(void)
{
    return connect_ip("169.254.169.254", 80);
}

/* Nothing is sent: a route says enough. */
static enum attack_result route(int family, const char *address)
{
    struct sockaddr_storage addr = {.ss_family = (sa_family_t)family};
    socklen_t len = sizeof(struct sockaddr_in);
    void *at = &((struct sockaddr_in *)&addr)->sin_addr;
    ((struct sockaddr_in *)&addr)->sin_port = htons(53);
    if (family == AF_INET6) {
        at = &((struct sockaddr_in6 *)&addr)->sin6_addr;
        len = sizeof(struct sockaddr_in6);
    }
    (void)inet_pton(family, address, at);
    int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return attack_refused(connect(fd, (struct sockaddr *)&addr, len));
}

static enum attack_result route_ipv4(void)
{
    return route(AF_INET, "192.0.2.1");
}

static enum attack_result route_ipv6(void)
{
    return route(AF_INET6, "2001:db8::1");
}

static enum attack_result connect_unix(const char *name, size_t at)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    size_t len = name ? strlen(name) : 0;
    if (!name || len >= sizeof(addr.sun_path) - at)
        return ATTACK_NOT_APPLICABLE;
    memcpy(addr.sun_path + at, name, len);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + at + len);
    return attack_refused(connect(fd, (struct sockaddr *)&addr, size));
}

static enum attack_result abstract_socket(void)
{
    return connect_unix(getenv("ATTACK_ABSTRACT"), 1);
}

static enum attack_result unix_socket(void)
{
    return connect_unix(getenv("ATTACK_SOCKET"), 0);
}

static enum attack_result docker_socket(void)
{
    return connect_unix("/var/run/docker.sock", 0);
}

/* Past a filter that compares 64 bits, the kernel would see AF_VSOCK. */
static enum attack_result vsock_high_bits(void)
{
    return attack_refused(syscall(SYS_socket, AF_VSOCK | 1UL << 32, SOCK_STREAM, 0));
}

static const struct attack_case cases[] = {
    {"socket-packet",     NULL,             SYS_socket, {AF_PACKET, SOCK_RAW, 0x300}                  },
    {"socket-packet-old", NULL,             SYS_socket, {AF_INET, SOCK_PACKET, 0x300}                 },
    {"socket-raw",        NULL,             SYS_socket, {AF_INET, SOCK_RAW, IPPROTO_ICMP}             },
    {"socket-raw6",       NULL,             SYS_socket, {AF_INET6, SOCK_RAW, IPPROTO_ICMPV6}          },
    {"socket-vsock",      NULL,             SYS_socket, {AF_VSOCK, SOCK_STREAM, 0}                    },
    {"socket-alg",        NULL,             SYS_socket, {AF_ALG, SOCK_SEQPACKET, 0}                   },
    {"socket-key",        NULL,             SYS_socket, {AF_KEY, SOCK_RAW, 2}                         },
    {"socket-bluetooth",  NULL,             SYS_socket, {AF_BLUETOOTH, SOCK_RAW, 1}                   },
    {"socket-tipc",       NULL,             SYS_socket, {30, SOCK_STREAM, 0}                          },
    {"socket-xdp",        NULL,             SYS_socket, {44, SOCK_RAW, 0}                             },
    {"socket-sctp",       NULL,             SYS_socket, {AF_INET, SOCK_STREAM, 132}                   },
    {"socket-mptcp",      NULL,             SYS_socket, {AF_INET, SOCK_STREAM, 262}                   },
    {"netlink-netfilter", NULL,             SYS_socket, {AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER}     },
    {"netlink-audit",     NULL,             SYS_socket, {AF_NETLINK, SOCK_RAW, NETLINK_AUDIT}         },
    {"netlink-uevent",    NULL,             SYS_socket, {AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT}},
    {"netlink-generic",   NULL,             SYS_socket, {AF_NETLINK, SOCK_RAW, NETLINK_GENERIC}       },
    {"socket-vsock-high", vsock_high_bits,  0,          {0}                                           },
    {"tcp-loopback",      loopback_outside, 0,          {0}                                           },
    {"tcp-metadata",      metadata,         0,          {0}                                           },
    {"route-ipv4",        route_ipv4,       0,          {0}                                           },
    {"route-ipv6",        route_ipv6,       0,          {0}                                           },
    {"unix-abstract",     abstract_socket,  0,          {0}                                           },
    {"unix-path",         unix_socket,      0,          {0}                                           },
    {"unix-docker",       docker_socket,    0,          {0}                                           },
};

const struct attack_group attack_network = {cases, sizeof(cases) / sizeof(cases[0])};
