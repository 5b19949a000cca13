/* SPDX-License-Identifier: MIT */
#include "base/duration.h"

#include <string.h>

#include "base/err.h"
#include "lib/test.h"

TEST(parse)
{
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {
        {"30s",           30000              },
        {"1500ms",        1500               },
        {"2m",            120000             },
        {"1h",            3600000            },
        {"2d",            172800000          },
        {"250",           250                },
        {"0",             0                  },
        {"0s",            0                  },
        {"1.5s",          1500               },
        {"0.001s",        1                  },
        {"1.25m",         75000              },
        {"1h30m",         5400000            },
        {"1d2h3m4s5ms",   93784005           },
        {"1h0m0.5s",      3600500            },
        {"9223372036854", 9223372036854      },
        {"106751d",       106751LL * 86400000},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t ms = -1;
        struct err err = {0};
        CHECK_INT(duration_parse(cases[i].text, &ms, &err), 0);
        CHECK_INT(ms, cases[i].ms);
    }
}

TEST(parse_says_what_is_wrong)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"",                         "duration '': expected a number, as in 30s"                                },
        {"s",                        "duration 's': expected a number, as in 30s"                               },
        {"-1s",                      "duration '-1s': expected a number, as in 30s"                             },
        {" 1s",                      "duration ' 1s': expected a number, as in 30s"                             },
        {"1s ",                      "duration '1s ': expected a number, as in 30s"                             },
        {"1.s",                      "duration '1.s': expected a number, as in 30s"                             },
        {"1e3s",                     "duration '1e3s': expected a unit (d, h, m, s, ms, in this order), not "
                 "'e3s'"                                                                        },
        {"5x",                       "duration '5x': expected a unit (d, h, m, s, ms, in this order), not 'x'"  },
        {"5 s",                      "duration '5 s': expected a unit (d, h, m, s, ms, in this order), not ' "
                "s'"                                                                             },
        {"1m1h",                     "duration '1m1h': expected a unit (d, h, m, s, ms, in this order), not 'h'"},
        {"1s1s",                     "duration '1s1s': expected a unit (d, h, m, s, ms, in this order), not 's'"},
        {"1h30",                     "duration '1h30': expected a unit (d, h, m, s, ms, in this order), not ''" },
        {"1S",                       "duration '1S': expected a unit (d, h, m, s, ms, in this order), not 'S'"  },
        {"1.5",                      "duration '1.5' is not in whole milliseconds"                              },
        {"0.0001s",                  "duration '0.0001s' is not in whole milliseconds"                          },
        {"9223372036855",            "duration '9223372036855' is too long"                                     },
        {"106751d24h",               "duration '106751d24h' is too long"                                        },
        {"99999999999d",             "duration '99999999999d' is too long"                                      },
        {"99999999999999999999999s",
         "duration '99999999999999999999999s': expected a number, as in "
         "30s"                                                                                                  },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t ms = -7;
        struct err err = {0};
        CHECK_INT(duration_parse(cases[i].text, &ms, &err), -ERR_INVALID);
        CHECK_STR(err.text, cases[i].why);
        CHECK_INT(ms, -7);
        CHECK_INT(duration_parse(cases[i].text, &ms, NULL), -ERR_INVALID);
    }
}

TEST(format_round_trips)
{
    static const struct {
        int64_t ms;
        const char *text;
    } cases[] = {
        {0,             "0ms"                  },
        {250,           "250ms"                },
        {1500,          "1s500ms"              },
        {30000,         "30s"                  },
        {5400000,       "1h30m"                },
        {86400000,      "1d"                   },
        {93784005,      "1d2h3m4s5ms"          },
        {9223372036854, "106751d23h47m16s854ms"},
    };
    char buf[DURATION_SIZE];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t back;
        CHECK_STR(duration_format(cases[i].ms, buf), cases[i].text);
        CHECK_INT(duration_parse(buf, &back, NULL), 0);
        CHECK_INT(back, cases[i].ms);
    }
    CHECK_STR(duration_format(-5, buf), "0ms");
    CHECK(strlen(duration_format(INT64_MAX, buf)) < DURATION_SIZE);
}
