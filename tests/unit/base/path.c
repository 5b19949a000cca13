/* SPDX-License-Identifier: MIT */
#include "base/path.h"

#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "lib/test.h"

TEST(safe_names)
{
    static const char *const good[] = {
        "a", "A-Z_9.x", "x..", "0",
        "0123456789012345678901234567890123456789012345678901234567890123"};
    static const char *const bad[] = {
        "",
        ".",
        "..",
        ".x",
        "a/b",
        "a b",
        "a\n",
        "\xc3\xa9",
        "a:b",
        "~",
        "01234567890123456789012345678901234567890123456789012345678901234"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        CHECK(path_is_safe_name(good[i]));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(!path_is_safe_name(bad[i]));
}

TEST(join)
{
    static const char *const cases[][3] = {
        {"a",   "b",    "a/b"   },
        {"a/",  "b",    "a/b"   },
        {"/",   "b",    "/b"    },
        {"a",   "/b",   "/b"    },
        {"",    "b",    "b"     },
        {"a",   "",     "a"     },
        {"",    "",     ""      },
        {"a//", "b/",   "a//b/" },
        {"a",   "../b", "a/../b"},
    };
    auto_buf struct buf b = BUF_INIT(100);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK_INT(path_join(cases[i][0], cases[i][1], &b), 0);
        CHECK_STR(buf_cstr(&b), cases[i][2]);
    }
}

TEST(normalise)
{
    static const char *const cases[][2] = {
        {"",                "."      },
        {".",               "."      },
        {"./",              "."      },
        {"/",               "/"      },
        {"//",              "/"      },
        {"///a//b///",      "/a/b"   },
        {"/.",              "/"      },
        {"/..",             "/"      },
        {"/../..",          "/"      },
        {"/../a",           "/a"     },
        {"/a/..",           "/"      },
        {"/a/../..",        "/"      },
        {"/a/./b/../c",     "/a/c"   },
        {"a/..",            "."      },
        {"a/../..",         ".."     },
        {"..",              ".."     },
        {"../..",           "../.."  },
        {"../a/..",         ".."     },
        {"../a/../..",      "../.."  },
        {"a/b/../../c",     "c"      },
        {"a/../../b/..",    ".."     },
        {"...",             "..."    },
        {"/...",            "/..."   },
        {".../..",          "."      },
        {"a/b/..",          "a"      },
        {"..a/b..",         "..a/b.."},
        {"/a/b/c/../../..", "/"      },
    };
    auto_buf struct buf b = BUF_INIT(100);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK_INT(path_normalise(cases[i][0], &b), 0);
        CHECK_STR(buf_cstr(&b), cases[i][1]);
    }
}

TEST(resolve)
{
    static const char *const cases[][3] = {
        {"/home/u", "x",        "/home/u/x"},
        {"/home/u", "../x",     "/home/x"  },
        {"/home/u", "/etc",     "/etc"     },
        {"/home/u", "",         "/home/u"  },
        {"/home/u", ".",        "/home/u"  },
        {"/",       "..",       "/"        },
        {"/a",      "../../b",  "/b"       },
        {"a",       "../../b",  "../b"     },
        {"..",      "../b",     "../../b"  },
        {"",        "",         "."        },
        {"/a//b/",  "/x/../y/", "/y"       },
    };
    auto_buf struct buf b = BUF_INIT(100);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK_INT(path_resolve(cases[i][0], cases[i][1], &b), 0);
        CHECK_STR(buf_cstr(&b), cases[i][2]);
    }
}

TEST(limits)
{
    auto_buf struct buf b = BUF_INIT(4);
    CHECK_INT(path_join("ab", "cd", &b), -ERR_LIMIT);
    CHECK_INT(path_normalise("/abcd", &b), -ERR_LIMIT);
    CHECK_INT(path_normalise("/abc", &b), 0);
    CHECK_INT(path_normalise("a/b/c", &b), -ERR_LIMIT);
    CHECK_INT(path_resolve("/a", "bc", &b), -ERR_LIMIT);
    struct buf none = {0};
    CHECK_INT(path_normalise("", &none), -ERR_LIMIT);
}

TEST(within)
{
    CHECK(path_is_within("/a", "/a") && path_is_within("/a", "/a/b"));
    CHECK(path_is_within("/a/", "/a/b") && path_is_within("/a/", "/a"));
    CHECK(!path_is_within("/a", "/ab") && !path_is_within("/a", "/") && !path_is_within("/a", "a"));
    CHECK(path_is_within("/", "/") && path_is_within("/", "/x") && !path_is_within("/", "x"));
    CHECK(!path_is_within("/a/b", "/a"));
}

TEST(basename)
{
    CHECK_STR(path_basename("/a/b"), "b");
    CHECK_STR(path_basename("b"), "b");
    CHECK_STR(path_basename("a/"), "");
    CHECK_STR(path_basename(""), "");
}
