/* SPDX-License-Identifier: MIT */
#include "base/strv.h"

#include <string.h>

#include "base/err.h"
#include "lib/test.h"

enum { PER = sizeof(char *) + 1 }; /* what the empty string costs */

TEST(push_and_items)
{
    auto_strv struct strv v = STRV_INIT(1000);
    CHECK(strv_items(&v)[0] == NULL);
    CHECK_INT(strv_push(&v, "one"), 0);
    CHECK_INT(strv_push_n(&v, "twofold", 3), 0);
    CHECK_INT(strv_pushf(&v, "%d", 3), 0);
    CHECK_INT(strv_push(&v, ""), 0);
    char **items = strv_items(&v);
    CHECK_INT(v.n, 4);
    CHECK_STR(items[0], "one");
    CHECK_STR(items[1], "two");
    CHECK_STR(items[2], "3");
    CHECK_STR(items[3], "");
    CHECK(items[4] == NULL);
    CHECK(strv_has(&v, "two") && !strv_has(&v, "twofold"));
}

TEST(nul_inside_is_refused)
{
    auto_strv struct strv v = STRV_INIT(1000);
    CHECK_INT(strv_push_n(&v, "a\0b", 3), -ERR_INVALID);
    CHECK_INT(strv_push_n(&v, NULL, 0), 0);
    CHECK_INT(v.n, 1);
}

TEST(limit_is_exact)
{
    auto_strv struct strv v;
    strv_init(&v, 3 + PER + PER);
    CHECK_INT(strv_push(&v, "abcd"), 0);
    CHECK_INT(strv_push(&v, ""), -ERR_LIMIT);
    strv_clear(&v);
    CHECK_INT(strv_push(&v, "abc"), 0);
    CHECK_INT(strv_pushf(&v, "%s", "x"), -ERR_LIMIT);
    CHECK_INT(strv_push(&v, ""), 0);
    CHECK_INT(v.bytes, v.max);
    CHECK_INT(strv_push(&v, ""), -ERR_LIMIT);
    strv_remove(&v, 0);
    CHECK_INT(strv_push(&v, "abc"), 0);
    CHECK_INT(v.n, 2);
}

TEST(push_all_or_none)
{
    static const char *const items[] = {"a", "b", "c", NULL};
    auto_strv struct strv v = STRV_INIT(1 + PER + 2 * (PER + 1));
    CHECK_INT(strv_push(&v, "x"), 0);
    CHECK_INT(strv_push_all(&v, items), -ERR_LIMIT);
    CHECK_INT(v.n, 1);
    CHECK(strv_items(&v)[1] == NULL);
    v.max = 1000;
    CHECK_INT(strv_push_all(&v, items), 0);
    CHECK_STR(strv_items(&v)[3], "c");
    CHECK(strv_items(&v)[4] == NULL);
}

TEST(remove_moves_up)
{
    static const char *const items[] = {"a", "b", "c", NULL};
    auto_strv struct strv v = STRV_INIT(1000);
    CHECK_INT(strv_push_all(&v, items), 0);
    strv_remove(&v, 1);
    CHECK_STR(strv_items(&v)[1], "c");
    CHECK(strv_items(&v)[2] == NULL);
    strv_remove(&v, 1);
    strv_remove(&v, 0);
    CHECK_INT(v.n, 0);
    CHECK_INT(v.bytes, 0);
    CHECK(strv_items(&v)[0] == NULL);
}

TEST(many)
{
    auto_strv struct strv v = STRV_INIT(1 << 20);
    for (int i = 0; i < 10000; i++)
        CHECK_INT(strv_pushf(&v, "%d", i), 0);
    CHECK_STR(strv_items(&v)[9999], "9999");
    CHECK(strv_items(&v)[10000] == NULL);
    strv_clear(&v);
    CHECK(strv_items(&v)[0] == NULL);
}

TEST(key_and_name_rules)
{
    CHECK(env_name_is_valid("PATH") && env_name_is_valid("_") && env_name_is_valid("a1_B"));
    CHECK(!env_name_is_valid("") && !env_name_is_valid("1a") && !env_name_is_valid("a-b"));
    CHECK(!env_name_is_valid("a b") && !env_name_is_valid("a=") && !env_name_is_valid("\xc3\xa9"));
    CHECK(env_key_is_valid("BASH_FUNC_x%%") && env_key_is_valid("1") && env_key_is_valid("a b"));
    CHECK(!env_key_is_valid("") && !env_key_is_valid("a=b") && !env_key_is_valid("a\nb"));
    CHECK(!env_key_is_valid("\x7f") && env_key_is_valid("\xc3\xa9"));
}

TEST(env_set_get_unset)
{
    auto_strv struct strv v = STRV_INIT(1000);
    CHECK(strv_get_env(&v, "A") == NULL);
    CHECK(!strv_unset_env(&v, "A"));
    CHECK_INT(strv_set_env(&v, "A", "1"), 0);
    CHECK_INT(strv_set_env(&v, "AB", "2"), 0);
    CHECK_INT(strv_set_env(&v, "EMPTY", ""), 0);
    CHECK_INT(strv_set_env(&v, "EQ", "a=b=c"), 0);
    CHECK_STR(strv_get_env(&v, "A"), "1");
    CHECK_STR(strv_get_env(&v, "AB"), "2");
    CHECK_STR(strv_get_env(&v, "EMPTY"), "");
    CHECK_STR(strv_get_env(&v, "EQ"), "a=b=c");
    CHECK_INT(strv_set_env(&v, "A", "longer"), 0);
    CHECK_STR(strv_items(&v)[0], "A=longer");
    CHECK_INT(v.n, 4);
    CHECK(strv_unset_env(&v, "A"));
    CHECK(strv_get_env(&v, "A") == NULL);
    CHECK_STR(strv_get_env(&v, "AB"), "2");
    CHECK_INT(strv_set_env(&v, "A=B", "1"), -ERR_INVALID);
    CHECK_INT(strv_set_env(&v, "", "1"), -ERR_INVALID);
}

TEST(env_with_a_name_twice)
{
    static const char *const items[] = {"A=1", "B=2", "A=3", "A=4", "novalue", NULL};
    auto_strv struct strv v = STRV_INIT(1000);
    CHECK_INT(strv_push_all(&v, items), 0);
    CHECK_STR(strv_get_env(&v, "A"), "1");
    CHECK(strv_get_env(&v, "novalue") == NULL);
    CHECK_INT(strv_set_env(&v, "A", "new"), 0);
    CHECK_INT(v.n, 3);
    CHECK_STR(strv_items(&v)[0], "A=new");
    CHECK_INT(strv_push(&v, "B=5"), 0);
    CHECK(strv_unset_env(&v, "B"));
    CHECK(strv_get_env(&v, "B") == NULL);
    CHECK_INT(v.n, 2);
}

TEST(env_limit)
{
    auto_strv struct strv v = STRV_INIT(PER + 5);
    CHECK_INT(strv_set_env(&v, "A", "12"), 0);
    CHECK_INT(strv_set_env(&v, "A", "1234"), -ERR_LIMIT);
    CHECK_STR(strv_get_env(&v, "A"), "12");
    CHECK_INT(strv_set_env(&v, "A", "123"), 0);
    CHECK_INT(strv_set_env(&v, "A", ""), 0);
    CHECK_INT(v.bytes, PER + 2);
    strv_done(NULL);
}
