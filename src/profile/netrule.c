/* SPDX-License-Identifier: MIT */
#include "profile/netrule.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/utf8.h"
#include "profile/punycode_priv.h"

enum { LABEL_MAX = 63, NAME_MAX_LEN = 253, PATH_BYTES_MAX = 16 * 1024 };

/* --- hosts -------------------------------------------------------------------------- */

static bool is_ascii(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] >= 0x80)
            return false;
    return true;
}

static char lower(char c)
{
    if (c >= 'A' && c <= 'Z')
        c = (char)(c | 0x20);
    return c;
}

/* '_' is in no host name by the book, and in many by habit. */
static bool is_label_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           (unsigned char)c >= 0x80;
}

/* Writes a label in its canonical form and returns its length, or 0 if it has none. */
static size_t write_label(const char *text, size_t len, char ret[LABEL_MAX + 1])
{
    char label[4 * LABEL_MAX];
    if (len == 0 || len > sizeof(label) || text[0] == '-' || text[len - 1] == '-')
        return 0;
    for (size_t i = 0; i < len; i++) {
        label[i] = lower(text[i]);
        if (!is_label_char(label[i]))
            return 0;
    }
    if (!is_ascii(label, len)) {
        memcpy(ret, "xn--", 4);
        return punycode_encode(label, len, ret + 4, LABEL_MAX + 1 - 4) < 0 ? 0 : strlen(ret);
    }
    if (len > LABEL_MAX)
        return 0;
    memcpy(ret, label, len);
    return len;
}

/* Dots of other scripts, which some clients take for dots. */
static bool has_strange_dot(const char *text)
{
    return strstr(text, "\u3002") || strstr(text, "\uff0e") || strstr(text, "\uff61");
}

/* Whether a resolver would take the name for an address: its last label is a number. */
static bool ends_in_number(const char *name)
{
    const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
    if (last[0] == '0' && last[1] == 'x')
        return last[2 + strspn(last + 2, "0123456789abcdef")] == '\0';
    return last[strspn(last, "0123456789")] == '\0';
}

static int write_name(const char *text, char ret[NETRULE_HOST_SIZE], struct err *err)
{
    size_t used = 0;
    for (const char *at = text;;) {
        size_t len = strcspn(at, ".");
        char label[LABEL_MAX + 1] = "";
        size_t label_len = write_label(at, len, label);
        if (label_len == 0)
            return err_set(err, ERR_INVALID,
                           "'%s' is no host name, expected labels of 1 to 63 letters, digits and "
                           "'-' with dots between",
                           text);
        if (used + label_len > NAME_MAX_LEN)
            return err_set(err, ERR_INVALID, "'%s' is no host name, expected at most %d bytes",
                           text, NAME_MAX_LEN);
        memcpy(ret + used, label, label_len);
        used += label_len;
        at += len;
        if (at[0] == '\0' || at[1] == '\0')
            break; /* the end, or the dot at the end */
        ret[used++] = '.';
        at++;
    }
    ret[used] = '\0';
    return 0;
}

static int write_v4(const char *text, char ret[NETRULE_HOST_SIZE], struct err *err)
{
    struct in_addr v4;
    if (inet_pton(AF_INET, ret, &v4) != 1)
        return err_set(err, ERR_INVALID,
                       "'%s' is an address in an odd form, expected four numbers, as 192.0.2.7",
                       text);
    return inet_ntop(AF_INET, &v4, ret, NETRULE_HOST_SIZE) ? 0 : -ERR_INVALID;
}

static int write_v6(const char *text, char ret[NETRULE_HOST_SIZE], struct err *err)
{
    char bare[INET6_ADDRSTRLEN + 2];
    struct in6_addr v6;
    size_t len = strlen(text);
    bool brackets = len > 2 && text[0] == '[' && text[len - 1] == ']';
    size_t bare_len = brackets ? len - 2 : len;
    if (bare_len < sizeof(bare)) {
        memcpy(bare, text + brackets, bare_len);
        bare[bare_len] = '\0';
    }
    if (bare_len >= sizeof(bare) || inet_pton(AF_INET6, bare, &v6) != 1)
        return err_set(err, ERR_INVALID,
                       "'%s' is no IPv6 address, expected one as 2001:db8::7, without a port",
                       text);
    /* One host, one form. */
    if (IN6_IS_ADDR_V4MAPPED(&v6))
        return inet_ntop(AF_INET, &v6.s6_addr[12], ret, NETRULE_HOST_SIZE) ? 0 : -ERR_INVALID;
    return inet_ntop(AF_INET6, &v6, ret, NETRULE_HOST_SIZE) ? 0 : -ERR_INVALID;
}

int netrule_host(const char *text, char ret[NETRULE_HOST_SIZE], struct err *err)
{
    if (strchr(text, ':'))
        return write_v6(text, ret, err);
    if (!utf8_is_valid(text, strlen(text)) || has_strange_dot(text))
        return err_set(err, ERR_INVALID, "'%s' is no host name, expected UTF-8 with ASCII dots",
                       text);
    char name[NETRULE_HOST_SIZE] = "";
    int rc = write_name(text, name, err);
    if (rc < 0)
        return rc;
    if (ends_in_number(name)) {
        rc = write_v4(text, name, err);
        if (rc < 0)
            return rc;
    }
    memcpy(ret, name, sizeof(name));
    return 0;
}

int netrule_domain(const char *text, char ret[NETRULE_HOST_SIZE], struct err *err)
{
    if (strcmp(text, "*") == 0) {
        memcpy(ret, "*", 2);
        return 0;
    }
    const char *host = strncmp(text, "*.", 2) == 0 ? text + 2 : text;
    if (strchr(host, '*'))
        return err_set(err, ERR_INVALID,
                       "'%s': expected '*' only as the whole first label, as in "
                       "*.example.org",
                       text);
    char name[NETRULE_HOST_SIZE] = "";
    int rc = netrule_host(host, name, err);
    if (rc < 0)
        return rc;
    if (host != text && (strchr(name, ':') || ends_in_number(name)))
        return err_set(err, ERR_INVALID, "'%s': expected a name behind '*.', not an address", text);
    if (strlen(name) + 2 >= NETRULE_HOST_SIZE)
        return err_set(err, ERR_INVALID, "'%s' is too long", text);
    (void)snprintf(ret, NETRULE_HOST_SIZE, "%s%.253s", host == text ? "" : "*.", name);
    return 0;
}

bool netrule_domain_matches(const char *domain, const char *host)
{
    if (strcmp(domain, "*") == 0)
        return *host != '\0';
    if (strncmp(domain, "*.", 2) != 0)
        return strcmp(domain, host) == 0;
    const char *end = domain + 1; /* with its dot */
    size_t end_len = strlen(end), host_len = strlen(host);
    return host_len > end_len && strcmp(host + host_len - end_len, end) == 0;
}

/* --- paths -------------------------------------------------------------------------- */

static int hex(char c)
{
    c = lower(c);
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_unreserved(char c)
{
    return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || strchr("-._~", c);
}

/* One escape, "%41" and on: the letter itself, or "%3A" with capital digits. */
static bool put_escape(const char *at, struct buf *ret)
{
    int high = hex(at[1]), low = high < 0 ? -1 : hex(at[2]);
    if (low < 0)
        return false;
    char c = (char)(high << 4 | low);
    if (c == '/' || c == '\\' || (unsigned char)c < 0x20 || c == 0x7f)
        return false;
    if (is_unreserved(c))
        return buf_append_byte(ret, c) == 0;
    return buf_printf(ret, "%%%02X", (unsigned)(unsigned char)c) == 0;
}

/* Segments that servers resolve, drop or cut: "", ".", "..", "..;x". Only the last may be "". */
static bool has_odd_segment(const char *path)
{
    for (const char *at = path; *at == '/';) {
        size_t len = strcspn(++at, "/");
        size_t name = strcspn(at, "/;");
        if ((len == 0 && at[0] == '/') || (len && name == 0) || (name == 1 && at[0] == '.') ||
            (name == 2 && at[0] == '.' && at[1] == '.'))
            return true;
        at += len;
    }
    return false;
}

/* The canonical form of a path without its query; false if there is none. */
static bool write_path(const char *text, struct buf *ret)
{
    if (*text != '/')
        return false;
    for (; *text && *text != '?' && *text != '#'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c <= 0x20 || c == 0x7f || c == '\\')
            return false;
        if (c != '%') {
            if (buf_append_byte(ret, *text) < 0)
                return false;
            continue;
        }
        if (!put_escape(text, ret))
            return false;
        text += 2;
    }
    return !has_odd_segment(buf_cstr(ret));
}

int netrule_path_check(const char *text, struct err *err)
{
    auto_buf struct buf path = BUF_INIT(PATH_BYTES_MAX);
    if (*text == '/' && !strpbrk(text, "?#") && write_path(text, &path))
        return 0;
    return err_set(err, ERR_INVALID,
                   "'%s' is no path, expected one as /v1/*, without '..', '//', blanks, a query or "
                   "an escaped slash",
                   text);
}

/* '*' takes as little as it can, and one character more each time the rest does not match. */
static bool glob(const char *pattern, const char *text)
{
    const char *star = NULL, *resume = NULL;
    while (*text) {
        if (*pattern == '*') {
            if (pattern[1] == '\0')
                return true;
            star = pattern++;
            resume = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star && *resume != '/') {
            pattern = star + 1;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

bool netrule_path_matches(const char *pattern, const char *path)
{
    auto_buf struct buf want = BUF_INIT(PATH_BYTES_MAX), have = BUF_INIT(PATH_BYTES_MAX);
    return write_path(pattern, &want) && write_path(path, &have) &&
           glob(buf_cstr(&want), buf_cstr(&have));
}

/* --- rules -------------------------------------------------------------------------- */

static bool port_is_in(const struct netrule *rule, uint16_t port)
{
    for (size_t i = 0; i < rule->n_ports; i++)
        if (port >= rule->ports[i].first && port <= rule->ports[i].last)
            return true;
    return false;
}

static bool method_is_in(const struct netrule *rule, const char *method)
{
    for (size_t i = 0; method && i < rule->n_methods; i++)
        if (strcmp(rule->methods[i], method) == 0)
            return true;
    return rule->n_methods == 0;
}

static bool path_is_in(const struct netrule *rule, const char *path)
{
    for (size_t i = 0; path && i < rule->n_paths; i++)
        if (netrule_path_matches(rule->paths[i], path))
            return true;
    return rule->n_paths == 0;
}

bool netrule_allows(const struct netrule *rule, const struct netrule_request *request)
{
    return netrule_domain_matches(rule->domain, request->host) && port_is_in(rule, request->port) &&
           method_is_in(rule, request->method) && path_is_in(rule, request->path);
}
