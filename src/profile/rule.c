/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/num.h"
#include "profile/reader_priv.h"

static const struct netrule_ports https = {443, 443};

static int read_domain(const struct reader *r, const struct yaml_node *rule, struct netrule *ret)
{
    const struct yaml_node *node = yaml_get(rule, "domain");
    const char *text = yaml_cstr(node);
    if (!node)
        return reader_fail(r, "allow", rule, "a rule without a domain, expected one");
    if (!text)
        return reader_fail_type(r, "domain", node, "a name such as \"*.example.org\"");
    char domain[NETRULE_HOST_SIZE];
    struct err why = {0};
    if (netrule_domain(text, domain, &why) < 0)
        return reader_fail(r, "domain", node, "%s", why.text);
    ret->domain = arena_strdup(r->arena, domain);
    return ret->domain ? 0 : reader_fail_memory(r);
}

/* 443 or "8000-8099". */
static int parse_ports(const char *text, struct netrule_ports *ret)
{
    char first[8];
    const char *dash = strchr(text, '-');
    size_t len = dash ? (size_t)(dash - text) : strlen(text);
    if (len >= sizeof(first))
        return -ERR_INVALID;
    memcpy(first, text, len);
    first[len] = '\0';
    uint64_t from, to;
    if (num_parse_u64(first, UINT16_MAX, &from) < 0 || from == 0)
        return -ERR_INVALID;
    to = from;
    if (dash && (num_parse_u64(dash + 1, UINT16_MAX, &to) < 0 || to < from))
        return -ERR_INVALID;
    *ret = (struct netrule_ports){(uint16_t)from, (uint16_t)to};
    return 0;
}

static int read_ports(const struct reader *r, const struct yaml_node *node, struct netrule *ret)
{
    ret->ports = &https;
    ret->n_ports = 1;
    if (!node)
        return 0;
    size_t n = yaml_len(node);
    if (yaml_type(node) != YAML_LIST || n == 0 || n > PROFILE_ITEMS_MAX)
        return reader_fail(r, "ports", node, "expected a list of 1 to %d ports", PROFILE_ITEMS_MAX);
    struct netrule_ports *ports = arena_zalloc_n(r->arena, n, sizeof(*ports));
    if (!ports)
        return reader_fail_memory(r);
    for (size_t i = 0; i < n; i++) {
        const char *text = yaml_text(yaml_at(node, i), NULL);
        if (!text || parse_ports(text, &ports[i]) < 0)
            return reader_fail(r, "ports", yaml_at(node, i),
                               "'%.60s', expected a port from 1 to 65535, or two as 8000-8099",
                               text ? text : yaml_type_name(yaml_type(yaml_at(node, i))));
    }
    ret->ports = ports;
    ret->n_ports = n;
    return 0;
}

static int read_method(const struct reader *r, const char *name, const struct yaml_node *item,
                       const char **ret)
{
    const char *text = yaml_cstr(item);
    if (!text || *text == '\0' || strlen(text) > 32 ||
        text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-")])
        return reader_fail(r, name, item, "'%.60s', expected a method in capital letters, as GET",
                           text ? text : yaml_type_name(yaml_type(item)));
    *ret = text;
    return 0;
}

static int read_url_path(const struct reader *r, const char *name, const struct yaml_node *item,
                         const char **ret)
{
    const char *text = yaml_cstr(item);
    struct err why = {0};
    if (!text)
        return reader_fail_type(r, name, item, "a path such as /v1/*");
    if (netrule_path_check(text, &why) < 0)
        return reader_fail(r, name, item, "%s", why.text);
    *ret = text;
    return 0;
}

static int read_rule(const struct reader *r, const struct yaml_node *node, struct netrule *ret)
{
    static const char *const keys[] = {"domain", "ports", "methods", "paths", NULL};
    struct netrule rule = {0};
    struct profile_list methods = {0}, paths = {0};
    int rc = reader_check_keys(r, "allow", keys, node);
    if (rc == 0)
        rc = read_domain(r, node, &rule);
    if (rc == 0)
        rc = read_ports(r, yaml_get(node, "ports"), &rule);
    if (rc == 0 && yaml_get(node, "methods"))
        rc = read_items(r, "methods", yaml_get(node, "methods"), read_method, "a list of methods",
                        &methods);
    if (rc == 0 && yaml_get(node, "paths"))
        rc = read_items(r, "paths", yaml_get(node, "paths"), read_url_path, "a list of paths",
                        &paths);
    if (rc < 0)
        return rc;
    rule.methods = methods.items;
    rule.n_methods = methods.n;
    rule.paths = paths.items;
    rule.n_paths = paths.n;
    *ret = rule;
    return 0;
}

/* An empty list would read as "no method" and mean "any". */
static int check_empty(const struct reader *r, const struct yaml_node *rule)
{
    static const char *const lists[] = {"methods", "paths"};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        const struct yaml_node *list = yaml_get(rule, lists[i]);
        if (yaml_type(list) == YAML_LIST && yaml_len(list) == 0)
            return reader_fail(r, lists[i], list, "is empty, expected some, or the key left out");
    }
    return 0;
}

int read_rules(struct reader *r, const struct field *f, const struct yaml_node *node)
{
    if (yaml_type(node) != YAML_LIST)
        return reader_fail_type(r, f->name, node, "a list of rules");
    size_t n = r->profile->network.n_allow;
    if (yaml_len(node) + n > PROFILE_ITEMS_MAX)
        return reader_fail(r, f->name, node, "expected at most %d rules", PROFILE_ITEMS_MAX);
    struct netrule *rules = arena_zalloc_n(r->arena, n + yaml_len(node) + 1, sizeof(*rules));
    if (!rules)
        return reader_fail_memory(r);
    if (n)
        memcpy(rules, r->profile->network.allow, n * sizeof(*rules));
    YAML_FOREACH(item, node)
    {
        int rc = check_empty(r, item);
        if (rc == 0)
            rc = read_rule(r, item, &rules[n++]);
        if (rc < 0)
            return rc;
    }
    if (yaml_len(node) && r->profile->network.mode != PROFILE_NETWORK_ALLOW)
        return reader_fail(r, f->name, node, "there are rules, expected network.mode to be allow");
    r->profile->network.allow = rules;
    r->profile->network.n_allow = n;
    return 0;
}
