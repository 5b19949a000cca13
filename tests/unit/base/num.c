/* SPDX-License-Identifier: MIT */
#include "base/num.h"

#include <string.h>

#include "base/err.h"
#include "lib/test.h"

TEST(unsigned_numbers)
{
    uint64_t n = 7;
    CHECK_INT(num_parse_u64("0", UINT64_MAX, &n), 0);
    CHECK(n == 0);
    CHECK_INT(num_parse_u64("00012", UINT64_MAX, &n), 0);
    CHECK(n == 12);
    CHECK_INT(num_parse_u64("18446744073709551615", UINT64_MAX, &n), 0);
    CHECK(n == UINT64_MAX);
    CHECK_INT(num_parse_u64("100", 100, &n), 0);
    CHECK(n == 100);
    static const char *const bad[] = {
        "",
        "-1",
        "+1",
        " 1",
        "1 ",
        "1x",
        "0x10",
        "1.0",
        "101",
        "18446744073709551616",
        "99999999999999999999999",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (num_parse_u64(bad[i], 100, &n) != -ERR_INVALID)
            FAIL("'%s' was taken", bad[i]);
    CHECK(n == 100);
}

TEST(signed_numbers)
{
    int64_t n = 7;
    CHECK_INT(num_parse_i64("-9223372036854775808", INT64_MIN, INT64_MAX, &n), 0);
    CHECK(n == INT64_MIN);
    CHECK_INT(num_parse_i64("9223372036854775807", INT64_MIN, INT64_MAX, &n), 0);
    CHECK(n == INT64_MAX);
    CHECK_INT(num_parse_i64("-0", INT64_MIN, INT64_MAX, &n), 0);
    CHECK(n == 0);
    CHECK_INT(num_parse_i64("-5", -5, 5, &n), 0);
    CHECK(n == -5);
    static const char *const bad[] = {
        "", "-", "--1", "+1", "-6", "6", "- 1", "9223372036854775808", "-9223372036854775809",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (num_parse_i64(bad[i], -5, 5, &n) != -ERR_INVALID)
            FAIL("'%s' was taken", bad[i]);
    CHECK_INT(num_parse_i64("9223372036854775808", INT64_MIN, INT64_MAX, &n), -ERR_INVALID);
    CHECK(n == -5);
}

TEST(decimals)
{
    static const struct {
        const char *text;
        uint64_t value;
        unsigned n_fraction;
        const char *rest;
    } good[] = {
        {"1",                    1,          0, ""  },
        {"12.50x",               1250,       2, "x" },
        {"0.123456789",          123456789,  9, ""  },
        {"3s",                   3,          0, "s" },
        {"1.5.5",                15,         1, ".5"},
        {"18446744073709551615", UINT64_MAX, 0, ""  },
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        const char *at = good[i].text;
        struct num_decimal d;
        CHECK(num_read_decimal(&at, &d));
        CHECK(d.value == good[i].value);
        CHECK_INT(d.n_fraction, good[i].n_fraction);
        CHECK_STR(at, good[i].rest);
    }
    static const char *const bad[] = {
        "",
        "x",
        ".5",
        "1.",
        "1.x",
        "-1",
        "0.1234567890",
        "18446744073709551616",
        "1844674407370955161.66",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const char *at = bad[i];
        struct num_decimal d;
        if (num_read_decimal(&at, &d))
            FAIL("'%s' was taken", bad[i]);
        CHECK(at == bad[i]);
    }
}

TEST(scaling_is_exact)
{
    uint64_t n = 7;
    CHECK(num_scale((struct num_decimal){15, 1}, 60000, &n) && n == 90000);
    CHECK(num_scale((struct num_decimal){25, 2}, 4, &n) && n == 1);
    CHECK(num_scale((struct num_decimal){1000000000, 9}, 1, &n) && n == 1);
    CHECK(num_scale((struct num_decimal){0, 9}, 1, &n) && n == 0);
    CHECK(num_scale((struct num_decimal){INT64_MAX, 0}, 1, &n) && n == INT64_MAX);
    CHECK(!num_scale((struct num_decimal){(uint64_t)INT64_MAX + 1, 0}, 1, &n));
    CHECK(!num_scale((struct num_decimal){UINT64_MAX, 0}, UINT64_MAX, &n));
    CHECK(!num_scale((struct num_decimal){5, 1}, 1, &n));
    CHECK(!num_scale((struct num_decimal){1, 1}, 5, &n));
    CHECK(num_scale((struct num_decimal){5, 1}, 2, &n) && n == 1);
    CHECK(num_scale((struct num_decimal){2, 1}, 5, &n) && n == 1);
}
