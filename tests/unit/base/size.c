/* SPDX-License-Identifier: MIT */
#include "base/size.h"

#include "base/err.h"
#include "lib/test.h"

TEST(parse)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {
        {"0",                   0            },
        {"4096",                4096         },
        {"4096B",               4096         },
        {"64K",                 65536        },
        {"64k",                 65536        },
        {"64KiB",               65536        },
        {"64kib",               65536        },
        {"1M",                  1 << 20      },
        {"1.5GiB",              1610612736   },
        {"2T",                  2ULL << 40   },
        {"1PiB",                1ULL << 50   },
        {"10kB",                10000        },
        {"10KB",                10000        },
        {"2MB",                 2000000      },
        {"1GB",                 1000000000   },
        {"3TB",                 3000000000000},
        {"0.5K",                512          },
        {"9223372036854775807", INT64_MAX    },
        {"8191PiB",             8191ULL << 50},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t bytes = 7;
        struct err err = {0};
        CHECK_INT(size_parse(cases[i].text, &bytes, &err), 0);
        CHECK(bytes == cases[i].bytes);
    }
}

TEST(parse_says_what_is_wrong)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"",                    "size '': expected a number, as in 64KiB"                                },
        {"K",                   "size 'K': expected a number, as in 64KiB"                               },
        {"-1",                  "size '-1': expected a number, as in 64KiB"                              },
        {"1X",                  "size '1X': expected a unit (B, KiB, MiB, GiB, K, M, kB, ...), not 'X'"  },
        {"1 K",                 "size '1 K': expected a unit (B, KiB, MiB, GiB, K, M, kB, ...), not ' K'"},
        {"1Ki",                 "size '1Ki': expected a unit (B, KiB, MiB, GiB, K, M, kB, ...), not 'Ki'"},
        {"0.3K",                "size '0.3K' is too large or not in whole bytes"                         },
        {"1.5",                 "size '1.5' is too large or not in whole bytes"                          },
        {"8192PiB",             "size '8192PiB' is too large or not in whole bytes"                      },
        {"9223372036854775808", "size '9223372036854775808' is too large or not in whole bytes"          },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t bytes = 7;
        struct err err = {0};
        CHECK_INT(size_parse(cases[i].text, &bytes, &err), -ERR_INVALID);
        CHECK_STR(err.text, cases[i].why);
        CHECK(bytes == 7);
    }
}

TEST(format)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {
        {0,          "0B"                   },
        {1,          "1B"                   },
        {1000,       "1000B"                },
        {1024,       "1KiB"                 },
        {65536,      "64KiB"                },
        {1536,       "1536B"                },
        {1 << 20,    "1MiB"                 },
        {1610612736, "1536MiB"              },
        {1ULL << 40, "1TiB"                 },
        {1ULL << 60, "1024PiB"              },
        {UINT64_MAX, "18446744073709551615B"},
    };
    char buf[SIZE_TEXT_SIZE];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK_STR(size_format(cases[i].bytes, buf), cases[i].text);
        uint64_t back;
        if (cases[i].bytes <= INT64_MAX)
            CHECK(size_parse(buf, &back, NULL) == 0 && back == cases[i].bytes);
    }
}
