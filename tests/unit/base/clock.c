/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/test.h"

static void check_text(int64_t ms, const char *text)
{
    char buf[CLOCK_ISO8601_SIZE];
    int64_t back = -1;
    CHECK_STR(clock_iso8601(ms, buf), text);
    CHECK(clock_parse_iso8601(text, &back));
    CHECK_INT(back, ms);
}

TEST(mono_goes_forward)
{
    int64_t before = clock_mono_ns();
    for (int i = 0; i < 1000; i++) {
        int64_t now = clock_mono_ns();
        CHECK(now >= before);
        before = now;
    }
    CHECK(before > 0);
}

TEST(wall_is_the_time_of_day)
{
    int64_t seconds = (int64_t)time(NULL);
    int64_t ms = clock_wall_ms();
    CHECK(ms / 1000 >= seconds - 1 && ms / 1000 <= seconds + 60);
}

TEST(times_as_text)
{
    check_text(0, "1970-01-01T00:00:00.000Z");
    check_text(-1, "1969-12-31T23:59:59.999Z");
    check_text(1709210096789, "2024-02-29T12:34:56.789Z");
    check_text(951782400000, "2000-02-29T00:00:00.000Z");
    check_text(4107542400000, "2100-03-01T00:00:00.000Z");
    check_text(-62167219200000, "0000-01-01T00:00:00.000Z");
    check_text(253402300799999, "9999-12-31T23:59:59.999Z");
}

TEST(beyond_the_years_is_clamped)
{
    char buf[CLOCK_ISO8601_SIZE];
    CHECK_STR(clock_iso8601(INT64_MAX, buf), "9999-12-31T23:59:59.999Z");
    CHECK_STR(clock_iso8601(INT64_MIN, buf), "0000-01-01T00:00:00.000Z");
}

TEST(agrees_with_the_c_library_day_by_day)
{
    for (int64_t day = -800000; day < 3000000; day += 97) {
        time_t t = (time_t)(day * 86400);
        struct tm tm;
        if (!gmtime_r(&t, &tm) || tm.tm_year + 1900 < 0 || tm.tm_year + 1900 > 9999)
            continue;
        char want[64], got[CLOCK_ISO8601_SIZE];
        (void)snprintf(want, sizeof(want), "%04d-%02d-%02dT00:00:00.000Z", tm.tm_year + 1900,
                       tm.tm_mon + 1, tm.tm_mday);
        CHECK_STR(clock_iso8601(day * 86400000, got), want);
        int64_t back;
        CHECK(clock_parse_iso8601(want, &back) && back == day * 86400000);
    }
}

TEST(parse_fractions_and_zones)
{
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {
        {"1970-01-01T00:00:01Z",           1000    },
        {"1970-01-01T00:00:00.5Z",         500     },
        {"1970-01-01T00:00:00.123999999Z", 123     },
        {"1970-01-01T00:00:00.001Z",       1       },
        {"1970-01-01T01:00:00+01:00",      0       },
        {"1969-12-31T23:30:00-00:30",      0       },
        {"1970-01-01T00:00:00.25-23:59",   86340250},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t ms = -1;
        CHECK(clock_parse_iso8601(cases[i].text, &ms));
        CHECK_INT(ms, cases[i].ms);
    }
}

TEST(parse_refuses)
{
    static const char *const texts[] = {
        "",
        "1970",
        "1970-01-01",
        "1970-01-01T00:00:00",
        "1970-01-01 00:00:00Z",
        "1970-01-01t00:00:00z",
        "1970-13-01T00:00:00Z",
        "1970-00-01T00:00:00Z",
        "1970-01-00T00:00:00Z",
        "1970-01-32T00:00:00Z",
        "1970-02-29T00:00:00Z",
        "2100-02-29T00:00:00Z",
        "2024-02-30T00:00:00Z",
        "2024-04-31T00:00:00Z",
        "1970-01-01T24:00:00Z",
        "1970-01-01T00:60:00Z",
        "1970-01-01T00:00:60Z",
        "1970-01-01T00:00:00.Z",
        "1970-01-01T00:00:00.1234567890Z",
        "1970-01-01T00:00:00+0100",
        "1970-01-01T00:00:00+24:00",
        "1970-01-01T00:00:00+01:60",
        "1970-01-01T00:00:00Zx",
        " 1970-01-01T00:00:00Z",
        "+970-01-01T00:00:00Z",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        int64_t ms = 77;
        if (clock_parse_iso8601(texts[i], &ms))
            FAIL("'%s' is %" PRId64, texts[i], ms);
        CHECK_INT(ms, 77);
    }
}
