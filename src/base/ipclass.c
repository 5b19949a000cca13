/* SPDX-License-Identifier: MIT */
#include "base/ipclass.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

/* The first that matches counts, so the narrow ones stand first. */

#define V4(a, b, c, d) ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (d))

static const struct {
    uint32_t prefix;
    uint8_t bits;
    enum ip_class class;
} v4_ranges[] = {
    {V4(169, 254, 169, 254), 32, IP_METADATA   }, /* AWS, Azure, Google, Oracle, DigitalOcean */
    {V4(169, 254, 169, 253), 32, IP_METADATA   }, /* AWS: DNS and time */
    {V4(169, 254, 170, 2),   32, IP_METADATA   }, /* AWS ECS: credentials of the task */
    {V4(169, 254, 170, 23),  32, IP_METADATA   }, /* AWS EKS: credentials of the pod */
    {V4(100, 100, 100, 200), 32, IP_METADATA   }, /* Alibaba */
    {V4(168, 63,  129, 16),  32, IP_METADATA   }, /* Azure: its host's agent */
    {V4(192, 0,   0,   192), 32, IP_METADATA   }, /* Oracle, classic */
    {V4(0,   0,   0,   0),   8,  IP_UNSPECIFIED}, /* "this host": reaches loopback on Linux */
    {V4(10,  0,   0,   0),   8,  IP_PRIVATE    },
    {V4(100, 64,  0,   0),   10, IP_PRIVATE    }, /* RFC 6598 */
    {V4(127, 0,   0,   0),   8,  IP_LOOPBACK   },
    {V4(169, 254, 0,   0),   16, IP_LINK_LOCAL },
    {V4(172, 16,  0,   0),   12, IP_PRIVATE    },
    {V4(192, 0,   0,   0),   24, IP_RESERVED   }, /* RFC 6890 */
    {V4(192, 0,   2,   0),   24, IP_RESERVED   }, /* documentation */
    {V4(192, 88,  99,  0),   24, IP_RESERVED   }, /* 6to4 relays, RFC 7526 */
    {V4(192, 168, 0,   0),   16, IP_PRIVATE    },
    {V4(198, 18,  0,   0),   15, IP_RESERVED   }, /* benchmarks */
    {V4(198, 51,  100, 0),   24, IP_RESERVED   }, /* documentation */
    {V4(203, 0,   113, 0),   24, IP_RESERVED   }, /* documentation */
    {V4(224, 0,   0,   0),   4,  IP_MULTICAST  },
    {V4(255, 255, 255, 255), 32, IP_BROADCAST  },
    {V4(240, 0,   0,   0),   4,  IP_RESERVED   },
};

/* Where the IPv4 address lies in an IPv6 one. */
enum { NOWHERE = -1 };

static const struct {
    uint8_t prefix[16];
    uint8_t bits;
    enum ip_class class;
    int v4_at;
} v6_ranges[] = {
    {{0},                                                128, IP_UNSPECIFIED, NOWHERE},
    {{[15] = 1},                                         128, IP_LOOPBACK,    NOWHERE},
    {{[10] = 0xff, [11] = 0xff},                         96,  IP_PUBLIC,      12     }, /* mapped */
    {{[8] = 0xff, [9] = 0xff},                           96,  IP_PUBLIC,      12     }, /* SIIT */
    {{0},                                                96,  IP_PUBLIC,      12     }, /* compatible */
    {{0x00, 0x64, 0xff, 0x9b},                           96,  IP_PUBLIC,      12     }, /* NAT64 */
    {{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01},               48,  IP_PRIVATE,     NOWHERE}, /* RFC 8215 */
    {{0x20, 0x02},                                       16,  IP_PUBLIC,      2      }, /* 6to4 */
    {{0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, [15] = 0x54}, 128, IP_METADATA,    NOWHERE}, /* AWS */
    {{0xfd, 0x00, 0x0e, 0xc2, [15] = 0x23},              128, IP_METADATA,    NOWHERE}, /* EKS */
    {{0xfd, 0x20, 0x00, 0xce, [14] = 0x02, [15] = 0x54}, 128, IP_METADATA,    NOWHERE}, /* Google */
    {{0xfc},                                             7,   IP_PRIVATE,     NOWHERE},
    {{0xfe, 0x80},                                       10,  IP_LINK_LOCAL,  NOWHERE},
    {{0xfe, 0xc0},                                       10,  IP_PRIVATE,     NOWHERE}, /* site-local */
    {{0xff},                                             8,   IP_MULTICAST,   NOWHERE},
    {{0x20, 0x01, 0x0d, 0xb8},                           32,  IP_RESERVED,    NOWHERE}, /* documentation */
    {{0x20, 0x01},                                       23,  IP_RESERVED,    NOWHERE}, /* Teredo and others */
    {{0x3f, 0xff},                                       20,  IP_RESERVED,    NOWHERE}, /* documentation */
    {{0x20},                                             3,   IP_PUBLIC,      NOWHERE}, /* global unicast */
};

struct ip_kind ip_classify_v4(struct in_addr addr)
{
    uint32_t ip = ntohl(addr.s_addr);
    for (size_t i = 0; i < sizeof(v4_ranges) / sizeof(v4_ranges[0]); i++)
        if ((ip ^ v4_ranges[i].prefix) >> (32 - v4_ranges[i].bits) == 0)
            return (struct ip_kind){.class = v4_ranges[i].class};
    return (struct ip_kind){.class = IP_PUBLIC};
}

static bool has_prefix(const uint8_t ip[16], const uint8_t prefix[16], unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;
    if (memcmp(ip, prefix, whole) != 0)
        return false;
    return rest == 0 || (ip[whole] ^ prefix[whole]) >> (8 - rest) == 0;
}

struct ip_kind ip_classify_v6(const struct in6_addr *addr)
{
    for (size_t i = 0; i < sizeof(v6_ranges) / sizeof(v6_ranges[0]); i++) {
        if (!has_prefix(addr->s6_addr, v6_ranges[i].prefix, v6_ranges[i].bits))
            continue;
        if (v6_ranges[i].v4_at == NOWHERE)
            return (struct ip_kind){.class = v6_ranges[i].class};
        struct in_addr inner;
        memcpy(&inner, addr->s6_addr + v6_ranges[i].v4_at, sizeof(inner));
        return (struct ip_kind){.class = ip_classify_v4(inner).class, .embedded = true};
    }
    return (struct ip_kind){.class = IP_RESERVED}; /* nothing is assigned outside 2000::/3 */
}

struct ip_kind ip_classify(const struct sockaddr *addr)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    switch (addr->sa_family) {
    case AF_INET:
        memcpy(&v4, addr, sizeof(v4));
        return ip_classify_v4(v4.sin_addr);
    case AF_INET6:
        memcpy(&v6, addr, sizeof(v6));
        return ip_classify_v6(&v6.sin6_addr);
    default:
        return (struct ip_kind){.class = IP_RESERVED};
    }
}

const char *ip_class_name(enum ip_class class)
{
    static const char *const names[] = {
        [IP_PUBLIC] = "public",       [IP_UNSPECIFIED] = "unspecified", [IP_LOOPBACK] = "loopback",
        [IP_PRIVATE] = "private",     [IP_LINK_LOCAL] = "link-local",   [IP_METADATA] = "metadata",
        [IP_MULTICAST] = "multicast", [IP_BROADCAST] = "broadcast",     [IP_RESERVED] = "reserved",
    };
    return names[class];
}
