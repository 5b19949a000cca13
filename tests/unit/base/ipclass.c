/* SPDX-License-Identifier: MIT */
#include "base/ipclass.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "lib/test.h"

static const struct {
    const char *text;
    enum ip_class class;
    bool embedded;
} cases[] = {
    {"8.8.8.8",                IP_PUBLIC,      false},
    {"0.0.0.0",                IP_UNSPECIFIED, false},
    {"0.1.2.3",                IP_UNSPECIFIED, false},
    {"1.0.0.0",                IP_PUBLIC,      false},
    {"9.255.255.255",          IP_PUBLIC,      false},
    {"10.0.0.0",               IP_PRIVATE,     false},
    {"10.255.255.255",         IP_PRIVATE,     false},
    {"11.0.0.0",               IP_PUBLIC,      false},
    {"100.63.255.255",         IP_PUBLIC,      false},
    {"100.64.0.0",             IP_PRIVATE,     false},
    {"100.100.100.200",        IP_METADATA,    false},
    {"100.100.100.201",        IP_PRIVATE,     false},
    {"100.127.255.255",        IP_PRIVATE,     false},
    {"100.128.0.0",            IP_PUBLIC,      false},
    {"126.255.255.255",        IP_PUBLIC,      false},
    {"127.0.0.1",              IP_LOOPBACK,    false},
    {"127.255.255.254",        IP_LOOPBACK,    false},
    {"128.0.0.0",              IP_PUBLIC,      false},
    {"168.63.129.16",          IP_METADATA,    false},
    {"168.63.129.17",          IP_PUBLIC,      false},
    {"169.253.255.255",        IP_PUBLIC,      false},
    {"169.254.0.1",            IP_LINK_LOCAL,  false},
    {"169.254.169.254",        IP_METADATA,    false},
    {"169.254.169.255",        IP_LINK_LOCAL,  false},
    {"169.254.170.2",          IP_METADATA,    false},
    {"169.255.0.0",            IP_PUBLIC,      false},
    {"172.15.255.255",         IP_PUBLIC,      false},
    {"172.16.0.1",             IP_PRIVATE,     false},
    {"172.31.255.255",         IP_PRIVATE,     false},
    {"172.32.0.0",             IP_PUBLIC,      false},
    {"192.0.0.1",              IP_RESERVED,    false},
    {"192.0.0.192",            IP_METADATA,    false},
    {"192.0.2.1",              IP_RESERVED,    false},
    {"192.88.99.1",            IP_RESERVED,    false},
    {"192.167.255.255",        IP_PUBLIC,      false},
    {"192.168.1.1",            IP_PRIVATE,     false},
    {"192.169.0.0",            IP_PUBLIC,      false},
    {"198.17.255.255",         IP_PUBLIC,      false},
    {"198.18.0.1",             IP_RESERVED,    false},
    {"198.19.255.255",         IP_RESERVED,    false},
    {"198.20.0.0",             IP_PUBLIC,      false},
    {"198.51.100.1",           IP_RESERVED,    false},
    {"203.0.113.1",            IP_RESERVED,    false},
    {"223.255.255.255",        IP_PUBLIC,      false},
    {"224.0.0.1",              IP_MULTICAST,   false},
    {"239.255.255.255",        IP_MULTICAST,   false},
    {"240.0.0.1",              IP_RESERVED,    false},
    {"255.255.255.254",        IP_RESERVED,    false},
    {"255.255.255.255",        IP_BROADCAST,   false},

    {"2606:4700::1111",        IP_PUBLIC,      false},
    {"2a00:1450::1",           IP_PUBLIC,      false},
    {"::",                     IP_UNSPECIFIED, false},
    {"::1",                    IP_LOOPBACK,    false},
    {"::2",                    IP_UNSPECIFIED, true }, /* 0.0.0.2 */
    {"::127.0.0.1",            IP_LOOPBACK,    true },
    {"::ffff:127.0.0.1",       IP_LOOPBACK,    true },
    {"::ffff:10.1.2.3",        IP_PRIVATE,     true },
    {"::ffff:169.254.169.254", IP_METADATA,    true },
    {"::ffff:a9fe:a9fe",       IP_METADATA,    true },
    {"::ffff:8.8.8.8",         IP_PUBLIC,      true },
    {"::ffff:0:192.168.0.1",   IP_PRIVATE,     true },
    {"64:ff9b::10.0.0.1",      IP_PRIVATE,     true },
    {"64:ff9b::8.8.8.8",       IP_PUBLIC,      true },
    {"64:ff9b:1::8.8.8.8",     IP_PRIVATE,     false},
    {"2002:7f00:1::",          IP_LOOPBACK,    true },
    {"2002:808:808::1",        IP_PUBLIC,      true },
    {"2001::1",                IP_RESERVED,    false}, /* Teredo */
    {"2001:1ff:ffff::1",       IP_RESERVED,    false},
    {"2001:200::1",            IP_PUBLIC,      false},
    {"2001:db8::1",            IP_RESERVED,    false},
    {"2001:db9::1",            IP_PUBLIC,      false},
    {"3fff::1",                IP_RESERVED,    false},
    {"3fff:1000::1",           IP_PUBLIC,      false},
    {"4000::1",                IP_RESERVED,    false},
    {"100::1",                 IP_RESERVED,    false}, /* discard */
    {"fc00::1",                IP_PRIVATE,     false},
    {"fdff::1",                IP_PRIVATE,     false},
    {"fd00:ec2::254",          IP_METADATA,    false},
    {"fd00:ec2::23",           IP_METADATA,    false},
    {"fd00:ec2::255",          IP_PRIVATE,     false},
    {"fd20:ce::254",           IP_METADATA,    false},
    {"fe80::1",                IP_LINK_LOCAL,  false},
    {"febf::1",                IP_LINK_LOCAL,  false},
    {"fec0::1",                IP_PRIVATE,     false},
    {"fe00::1",                IP_RESERVED,    false},
    {"ff02::1",                IP_MULTICAST,   false},
};

static struct ip_kind classify(const char *text)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        return ip_classify((const struct sockaddr *)&v4);
    if (inet_pton(AF_INET6, text, &v6.sin6_addr) != 1)
        FAIL("'%s' is no address", text);
    return ip_classify((const struct sockaddr *)&v6);
}

TEST(addresses)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ip_kind kind = classify(cases[i].text);
        if (kind.class != cases[i].class || kind.embedded != cases[i].embedded)
            FAIL("%s is %s%s, not %s", cases[i].text, ip_class_name(kind.class),
                 kind.embedded ? " (embedded)" : "", ip_class_name(cases[i].class));
    }
}

/* Every IPv4 address is the same inside IPv6. */
TEST(mapped_is_what_it_carries)
{
    for (uint32_t ip = 0; ip < 0xfffe0000; ip += 65537) {
        struct in_addr v4 = {.s_addr = htonl(ip)};
        struct in6_addr v6 = {
            .s6_addr = {[10] = 0xff, [11] = 0xff}
        };
        memcpy(&v6.s6_addr[12], &v4, sizeof(v4));
        CHECK_INT(ip_classify_v6(&v6).class, ip_classify_v4(v4).class);
    }
}

TEST(other_families_are_reserved)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    CHECK_INT(ip_classify((const struct sockaddr *)&un).class, IP_RESERVED);
    CHECK_STR(ip_class_name(IP_LINK_LOCAL), "link-local");
}
