/* SPDX-License-Identifier: MIT */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/write.h"
#include "lib/test.h"

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static size_t n_digits(const char *text)
{
    char digits[64];
    size_t n = 0;
    for (; *text && *text != 'e'; text++)
        if (*text >= '0' && *text <= '9' && (n || *text != '0'))
            digits[n++] = *text;
    while (n > 1 && digits[n - 1] == '0')
        n--;
    return n;
}

/* That it reads back, that fewer digits would not, and that the length is right. */
static void check_shortest(double value)
{
    char text[JSON_DOUBLE_SIZE], fewer[64];
    size_t len = json_format_double(value, text);
    CHECK_INT(strlen(text), len);
    if (strtod(text, NULL) != value)
        FAIL("%.17g became %s", value, text);
    int n = (int)n_digits(text);
    if (n > 1) {
        (void)snprintf(fewer, sizeof(fewer), "%.*e", n - 2, value);
        if (strtod(fewer, NULL) == value)
            FAIL("%s for %s", text, fewer);
    }
}

static void check_text(double value, const char *want)
{
    char text[JSON_DOUBLE_SIZE];
    (void)json_format_double(value, text);
    CHECK_STR(text, want);
}

/* RFC 8785, appendix B: IEEE 754 bits and the text they must become. */
TEST(rfc_8785_samples)
{
    static const struct {
        uint64_t bits;
        const char *text;
    } samples[] = {
        {0x0000000000000000, "0"                        },
        {0x8000000000000000, "0"                        },
        {0x0000000000000001, "5e-324"                   },
        {0x8000000000000001, "-5e-324"                  },
        {0x7fefffffffffffff, "1.7976931348623157e+308"  },
        {0xffefffffffffffff, "-1.7976931348623157e+308" },
        {0x4340000000000000, "9007199254740992"         },
        {0xc340000000000000, "-9007199254740992"        },
        {0x4430000000000000, "295147905179352830000"    },
        {0x44b52d02c7e14af5, "9.999999999999997e+22"    },
        {0x44b52d02c7e14af6, "1e+23"                    },
        {0x44b52d02c7e14af7, "1.0000000000000001e+23"   },
        {0x444b1ae4d6e2ef4e, "999999999999999700000"    },
        {0x444b1ae4d6e2ef4f, "999999999999999900000"    },
        {0x444b1ae4d6e2ef50, "1e+21"                    },
        {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"     },
        {0x3eb0c6f7a0b5ed8d, "0.000001"                 },
        {0x41b3de4355555553, "333333333.3333332"        },
        {0x41b3de4355555554, "333333333.33333325"       },
        {0x41b3de4355555555, "333333333.3333333"        },
        {0x41b3de4355555556, "333333333.3333334"        },
        {0x41b3de4355555557, "333333333.33333343"       },
        {0xbecbf647612f3696, "-0.0000033333333333333333"},
        {0x43143ff3c1cb0959, "1424953923781206.2"       },
    };
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
        check_text(from_bits(samples[i].bits), samples[i].text);
}

TEST(everyday_numbers)
{
    check_text(1, "1");
    check_text(-1, "-1");
    check_text(0.1, "0.1");
    check_text(1.84, "1.84");
    check_text(100, "100");
    check_text(123456789012345680000.0, "123456789012345680000");
    check_text(1e21, "1e+21");
    check_text(1.5e300, "1.5e+300");
    check_text(1e-7, "1e-7");
    check_text(1.25e-7, "1.25e-7");
    check_text(0.000001, "0.000001");
    check_text(123456.789, "123456.789");
    check_text(0.1 + 0.2, "0.30000000000000004");
    check_text(5e-324, "5e-324");
    check_text(DBL_MIN, "2.2250738585072014e-308");
    check_text(from_bits(0x000fffffffffffff), "2.225073858507201e-308");
}

TEST(powers_of_two_are_shortest)
{
    for (int e = -1074; e <= 1023; e++) {
        check_shortest(ldexp(1, e));
        check_shortest(-nextafter(ldexp(1, e), 0) - DBL_TRUE_MIN * (e <= -1074));
        if (e < 1023)
            check_shortest(nextafter(ldexp(1, e), (double)INFINITY));
    }
    check_text(ldexp(1, -44), "5.684341886080802e-14"); /* the nearest of 16 digits ends in 1 */
}

TEST(powers_of_ten)
{
    char text[16];
    for (int e = -323; e <= 308; e++) {
        (void)snprintf(text, sizeof(text), "1e%d", e);
        check_shortest(strtod(text, NULL));
        check_shortest(strtod(text, NULL) / 7 * 3);
    }
}

TEST(random_bits_and_random_decimals)
{
    uint64_t seed = 42;
    for (int i = 0; i < 40000; i++) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        double value = from_bits(seed ^ seed >> 29);
        if (isfinite(value) && value != 0)
            check_shortest(value);
        check_shortest((double)(seed >> 40) / 1000 + 0.001);
        check_shortest((double)(seed >> 11) + 1);
    }
}

TEST(locale_does_not_matter)
{
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        SKIP("no locale with a decimal comma");
    check_text(0.1 + 0.2, "0.30000000000000004");
    check_text(1.5e300, "1.5e+300");
}
