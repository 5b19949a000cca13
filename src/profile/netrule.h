/* SPDX-License-Identifier: MIT */
/*
 * profile/netrule - what a command may reach: names, ports, methods, paths.
 *
 * Everything is compared in one canonical form, and what has none is not allowed: a host is
 * in lower case, without the dot at its end, in ASCII (bücher.example is
 * xn--bcher-kva.example), an address as inet_ntop(3) writes it. Addresses in odd forms
 * (0x7f.1, 2130706433) are no hosts. A rule says nothing about where a name leads: that is
 * checked after it was resolved (base/ipclass).
 */
#ifndef PROFILE_NETRULE_H
#define PROFILE_NETRULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

enum { NETRULE_HOST_SIZE = 256 };

struct netrule_ports {
    uint16_t first, last;
};

struct netrule {
    const char *domain; /* canonical: "*", "*.example.org", "example.org", "192.0.2.7" */
    const struct netrule_ports *ports;
    size_t n_ports;
    const char *const *methods; /* none: any, seen or not */
    size_t n_methods;
    const char *const *paths; /* patterns; none: any, seen or not */
    size_t n_paths;
};

/* What is asked for. */
struct netrule_request {
    const char *host; /* canonical */
    uint16_t port;
    const char *method; /* NULL: it cannot be seen (TLS, SOCKS) */
    const char *path;   /* of the URL, as sent; NULL: it cannot be seen */
};

/* The canonical form of a host name or address; -ERR_INVALID says why there is none. */
int netrule_host(const char *text, char ret[NETRULE_HOST_SIZE], struct err *err);

/* The same for what a rule has: also "*" (any host) and "*.x" (all below x, not x itself). */
int netrule_domain(const char *text, char ret[NETRULE_HOST_SIZE], struct err *err);

/* Whether a host is meant; both canonical. */
bool netrule_domain_matches(const char *domain, const char *host);

/* -ERR_INVALID unless text can be a path pattern. */
int netrule_path_check(const char *text, struct err *err);

/*
 * Whether the path (without its query) is meant. '*' stands for any text within one segment;
 * at the end of the pattern for all that follows. Escaped letters count as the letters. A path
 * that servers may read in several ways (with "..", "//", an escaped slash) matches nothing.
 */
bool netrule_path_matches(const char *pattern, const char *path);

/* Whether the rule lets the request through. What it asks for and cannot see does not match. */
bool netrule_allows(const struct netrule *rule, const struct netrule_request *request);

#endif
