/* SPDX-License-Identifier: MIT */
/*
 * base/ipclass - what kind of address an IP address is.
 *
 * An IPv6 address that carries an IPv4 one (mapped, compatible, translated, 6to4) is what
 * the IPv4 address is: ::ffff:127.0.0.1 is loopback. What is set aside for anything but
 * the public Internet is never IP_PUBLIC.
 */
#ifndef BASE_IPCLASS_H
#define BASE_IPCLASS_H

#include <netinet/in.h>
#include <stdbool.h>

struct sockaddr;

enum ip_class {
    IP_PUBLIC,
    IP_UNSPECIFIED, /* 0.0.0.0/8, :: */
    IP_LOOPBACK,
    IP_PRIVATE,    /* RFC 1918, shared (100.64/10), unique local, site-local */
    IP_LINK_LOCAL, /* 169.254/16, fe80::/10 */
    IP_METADATA,   /* where clouds tell machines their secrets */
    IP_MULTICAST,
    IP_BROADCAST,
    IP_RESERVED /* documentation, benchmarks, protocols, future use */
};

struct ip_kind {
    enum ip_class class;
    bool embedded; /* an IPv4 address inside an IPv6 one */
};

struct ip_kind ip_classify_v4(struct in_addr addr);
struct ip_kind ip_classify_v6(const struct in6_addr *addr);

/* An address of another family than these two is IP_RESERVED. */
struct ip_kind ip_classify(const struct sockaddr *addr);

/* "public", "link-local", ...: for messages and records. Never NULL. */
const char *ip_class_name(enum ip_class class);

#endif
