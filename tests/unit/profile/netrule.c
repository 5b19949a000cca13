/* SPDX-License-Identifier: MIT */
#include "profile/netrule.h"

#include <string.h>

#include "base/err.h"
#include "lib/test.h"

TEST(hosts_have_one_form)
{
    static const struct {
        const char *text, *canonical; /* NULL: none */
    } cases[] = {
        {"example.org",                                       "example.org"          },
        {"EXAMPLE.Org.",                                      "example.org"          },
        {"a_b.example",                                       "a_b.example"          },
        {"localhost",                                         "localhost"            },
        {"b\u00fccher.example",                               "xn--bcher-kva.example"},
        {"B\u00fcCHER.example.",                              "xn--bcher-kva.example"},
        {"XN--BCHER-KVA.example",                             "xn--bcher-kva.example"},
        {"m\u00fcnchen.de",                                   "xn--mnchen-3ya.de"    },
        {"\u4f8b\u3048.jp",                                   "xn--r8jz45g.jp"       },
        {"\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444", "xn--e1afmkfd.xn--p1ai"},
        {"fa\u00df.de",                                       "xn--fa-hia.de"        },
        {"192.0.2.7",                                         "192.0.2.7"            },
        {"192.0.2.7.",                                        "192.0.2.7"            },
        {"2001:DB8:0:0::7",                                   "2001:db8::7"          },
        {"[2001:db8::7]",                                     "2001:db8::7"          },
        {"::ffff:192.0.2.7",                                  "192.0.2.7"            },
        {"1.example",                                         "1.example"            },
        {"0xample.org",                                       "0xample.org"          },
        {"",                                                  NULL                   },
        {".",                                                 NULL                   },
        {"a..b",                                              NULL                   },
        {".a",                                                NULL                   },
        {"a..",                                               NULL                   },
        {"-a.org",                                            NULL                   },
        {"a-.org",                                            NULL                   },
        {"a b.org",                                           NULL                   },
        {"a/b.org",                                           NULL                   },
        {"a@b.org",                                           NULL                   },
        {"a%2eorg",                                           NULL                   },
        {"*.org",                                             NULL                   },
        {"\xff.org",                                          NULL                   },
        {"a\u3002org",                                        NULL                   },
        {"127.1",                                             NULL                   },
        {"2130706433",                                        NULL                   },
        {"0x7f.0.0.1",                                        NULL                   },
        {"0x7f.1",                                            NULL                   },
        {"0x7f000001",                                        NULL                   },
        {"0177.0.0.1",                                        NULL                   },
        {"127.0.0.0x1",                                       NULL                   },
        {"256.0.0.1",                                         NULL                   },
        {"1.2.3.4.5",                                         NULL                   },
        {"a:80",                                              NULL                   },
        {"fe80::1%eth0",                                      NULL                   },
        {"[::1]:80",                                          NULL                   },
        {"[::1",                                              NULL                   },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char host[NETRULE_HOST_SIZE] = "";
        struct err err = {0};
        int rc = netrule_host(cases[i].text, host, &err);
        if (rc != (cases[i].canonical ? 0 : -ERR_INVALID))
            FAIL("'%s': %d (%s)", cases[i].text, rc, err.text);
        CHECK_STR(host, cases[i].canonical ? cases[i].canonical : "");
        CHECK(rc == 0 || strstr(err.text, "expected"));
    }
}

TEST(lengths_of_hosts)
{
    char text[400], host[NETRULE_HOST_SIZE];
    memset(text, 'a', sizeof(text));
    text[63] = '\0';
    CHECK_INT(netrule_host(text, host, NULL), 0);
    text[63] = 'a';
    text[64] = '\0';
    CHECK_INT(netrule_host(text, host, NULL), -ERR_INVALID);
    text[64] = 'a';
    for (int i = 60; i < 400; i += 60)
        text[i] = '.';
    text[253] = '\0';
    CHECK_INT(netrule_host(text, host, NULL), 0);
    CHECK_INT(netrule_domain(text, host, NULL), 0);
    text[253] = '.';
    text[254] = '\0';
    CHECK_INT(netrule_host(text, host, NULL), 0);
    text[253] = 'a';
    CHECK_INT(netrule_host(text, host, NULL), -ERR_INVALID);
    text[253] = 'a';
    text[255] = 'a';
    text[399] = '\0';
    CHECK_INT(netrule_host(text, host, NULL), -ERR_INVALID);
}

TEST(domains)
{
    static const struct {
        const char *domain, *host;
        bool matches;
    } cases[] = {
        {"example.org",             "example.org",             true },
        {"Example.ORG.",            "example.org",             true },
        {"example.org",             "EXAMPLE.org.",            true },
        {"example.org",             "www.example.org",         false},
        {"example.org",             "example.org.evil.net",    false},
        {"example.org",             "notexample.org",          false},
        {"*.example.org",           "www.example.org",         true },
        {"*.example.org",           "a.b.example.org",         true },
        {"*.EXAMPLE.org.",          "A.example.ORG.",          true },
        {"*.example.org",           "example.org",             false},
        {"*.example.org",           "notexample.org",          false},
        {"*.example.org",           "www.example.org.evil",    false},
        {"*.b\u00fccher.example",   "a.xn--bcher-kva.example", true },
        {"*.xn--bcher-kva.example", "a.b\u00fccher.example",   true },
        {"b\u00fccher.example",     "bucher.example",          false},
        {"*",                       "anything.example",        true },
        {"*",                       "192.0.2.7",               true },
        {"*.org",                   "example.org",             true },
        {"192.0.2.7",               "192.0.2.7",               true },
        {"192.0.2.7",               "::ffff:192.0.2.7",        true },
        {"192.0.2.7",               "192.0.2.70",              false},
        {"[2001:db8::7]",           "2001:db8:0::7",           true },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char domain[NETRULE_HOST_SIZE], host[NETRULE_HOST_SIZE];
        CHECK_INT(netrule_domain(cases[i].domain, domain, NULL), 0);
        CHECK_INT(netrule_host(cases[i].host, host, NULL), 0);
        if (netrule_domain_matches(domain, host) != cases[i].matches)
            FAIL("%s and %s", cases[i].domain, cases[i].host);
    }
    static const char *const bad[] = {"",
                                      "*.",
                                      "**",
                                      "*a.org",
                                      "a.*.org",
                                      "a.*",
                                      "*.*.org",
                                      "*.192.0.2.7",
                                      "*.::1",
                                      "*.1",
                                      "https://example.org"};
    char ret[NETRULE_HOST_SIZE];
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_INT(netrule_domain(bad[i], ret, NULL), -ERR_INVALID);
    CHECK(!netrule_domain_matches("*", ""));
}

TEST(paths)
{
    static const struct {
        const char *pattern, *path;
        bool matches;
    } cases[] = {
        {"/",             "/",                true },
        {"/",             "/a",               false},
        {"/*",            "/",                true },
        {"/*",            "/a/b?c=d",         true },
        {"/v1/*",         "/v1/a",            true },
        {"/v1/*",         "/v1/a/b",          true },
        {"/v1/*",         "/v1/",             true },
        {"/v1/*",         "/v1",              false},
        {"/v1/*",         "/v10/a",           false},
        {"/v1*",          "/v10/a",           true },
        {"/v1/a",         "/v1/a?x=/../b",    true },
        {"/v1/a",         "/v1/a#x",          true },
        {"/v1/a",         "/V1/a",            false},
        {"/u/*/public",   "/u/x/public",      true },
        {"/u/*/public",   "/u//public",       false},
        {"/u/*/public",   "/u/x/y/public",    false},
        {"/u/*/public",   "/u/x/public/y",    false},
        {"/u/*/public/*", "/u/x/public/y/z",  true },
        {"/*.json",       "/a.json",          true },
        {"/*.json",       "/a.json.json",     true },
        {"/*.json",       "/b/a.json",        false},
        {"/*a*b/c",       "/xaybb/c",         true },
        {"/**",           "/a/b",             true },
        {"/v1/*",         "/v1/../admin",     false},
        {"/v1/*",         "/v1/%2e%2e/admin", false},
        {"/v1/*",         "/v1/.%2E/admin",   false},
        {"/v1/*",         "/v1/..;/admin",    false},
        {"/v1/*",         "/v1/..",           false},
        {"/v1/*",         "/v1/./a",          false},
        {"/v1/*",         "/v1//a",           false},
        {"/v1/*",         "//v1/a",           false},
        {"/v1/*",         "/v1/a%2fb",        false},
        {"/v1/*",         "/v1/a%5Cb",        false},
        {"/v1/*",         "/v1/a\\b",         false},
        {"/v1/*",         "/v1/a%00b",        false},
        {"/v1/*",         "/v1/a%0ab",        false},
        {"/v1/*",         "/v1/a%zz",         false},
        {"/v1/*",         "/v1/a%",           false},
        {"/v1/*",         "/v1/a b",          false},
        {"/v1/*",         "/v1/;a",           false},
        {"/v1/*",         "/v1/...",          true },
        {"/v1/*",         "/%76%31/a",        true },
        {"/%761/a",       "/v1/a",            true },
        {"/a%3ab",        "/a%3Ab",           true },
        {"/a%2a",         "/ab",              false},
        {"/v1/*",         "v1/a",             false},
        {"/v1/*",         "",                 false},
        {"/v1/*",         "http://x/v1/a",    false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (netrule_path_matches(cases[i].pattern, cases[i].path) != cases[i].matches)
            FAIL("%s and %s", cases[i].pattern, cases[i].path);
    static const char *const bad[] = {"",    "v1",   "/a/../b", "//", "/a?b",
                                      "/a#", "/a b", "/%2f",    "/%"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_INT(netrule_path_check(bad[i], NULL), -ERR_INVALID);
    CHECK_INT(netrule_path_check("/v1/*", NULL), 0);
}

TEST(long_paths_take_no_time)
{
    char pattern[2000], path[12000];
    for (size_t i = 0; i < sizeof(pattern); i++)
        pattern[i] = i % 2 ? '*' : 'a';
    memset(path, 'a', sizeof(path));
    pattern[0] = path[0] = '/';
    pattern[sizeof(pattern) - 2] = 'b';
    pattern[sizeof(pattern) - 1] = path[sizeof(path) - 1] = '\0';
    CHECK(!netrule_path_matches(pattern, path));
}

TEST(rules)
{
    static const struct netrule_ports ports[] = {
        {443,  443 },
        {8000, 8099}
    };
    static const char *const methods[] = {"GET", "HEAD"};
    static const char *const paths[] = {"/v1/*", "/health"};
    struct netrule open = {.domain = "*.example.org", .ports = ports, .n_ports = 2};
    struct netrule narrow = open;
    narrow.methods = methods;
    narrow.n_methods = 2;
    narrow.paths = paths;
    narrow.n_paths = 2;
    static const struct {
        struct netrule_request request;
        bool open, narrow;
    } cases[] = {
        {{"a.example.org", 443, "GET", "/v1/x"},     true,  true },
        {{"a.example.org", 8000, "HEAD", "/health"}, true,  true },
        {{"a.example.org", 8099, "GET", "/v1/x"},    true,  true },
        {{"a.example.org", 8100, "GET", "/v1/x"},    false, false},
        {{"a.example.org", 80, "GET", "/v1/x"},      false, false},
        {{"example.org", 443, "GET", "/v1/x"},       false, false},
        {{"a.example.org", 443, "POST", "/v1/x"},    true,  false},
        {{"a.example.org", 443, "get", "/v1/x"},     true,  false},
        {{"a.example.org", 443, "GET", "/v2/x"},     true,  false},
        {{"a.example.org", 443, NULL, "/v1/x"},      true,  false},
        {{"a.example.org", 443, "GET", NULL},        true,  false},
        {{"a.example.org", 443, NULL, NULL},         true,  false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK_INT(netrule_allows(&open, &cases[i].request), cases[i].open);
        CHECK_INT(netrule_allows(&narrow, &cases[i].request), cases[i].narrow);
    }
    struct netrule no_ports = {.domain = "*"};
    CHECK(!netrule_allows(&no_ports, &cases[0].request));
}
