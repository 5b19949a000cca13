/* SPDX-License-Identifier: MIT */
#include "base/signame.h"

#include <signal.h>

#include "base/err.h"
#include "lib/test.h"

TEST(all_round_trip)
{
    char name[SIGNAME_SIZE];
    for (int sig = 0; sig <= SIGRTMAX; sig++) {
        CHECK_INT(signame_parse(signame_long(sig, name)), sig);
        CHECK_INT(signame_parse(signame_short(sig, name)), sig);
    }
}

TEST(names_written)
{
    static const struct {
        int sig;
        const char *full, *brief;
    } cases[] = {
        {0,               "EXIT",        "EXIT"       },
        {SIGHUP,          "SIGHUP",      "HUP"        },
        {SIGKILL,         "SIGKILL",     "KILL"       },
        {SIGTERM,         "SIGTERM",     "TERM"       },
        {SIGCHLD,         "SIGCHLD",     "CHLD"       },
        {SIGIO,           "SIGIO",       "IO"         },
        {SIGSYS,          "SIGSYS",      "SYS"        },
        {SIGVTALRM,       "SIGVTALRM",   "VTALRM"     },
        {32,              "32",          "32"         },
        {33,              "33",          "33"         },
        {34,              "SIGRTMIN",    "RTMIN"      },
        {35,              "SIGRTMIN+1",  "RTMIN+1"    },
        {49,              "SIGRTMIN+15", "RTMIN+15"   },
        {50,              "SIGRTMAX-14", "RTMAX-14"   },
        {63,              "SIGRTMAX-1",  "RTMAX-1"    },
        {64,              "SIGRTMAX",    "RTMAX"      },
        {65,              "65",          "65"         },
        {-1,              "-1",          "-1"         },
        {-2147483647 - 1, "-2147483648", "-2147483648"},
    };
    char name[SIGNAME_SIZE];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK_STR(signame_long(cases[i].sig, name), cases[i].full);
        CHECK_STR(signame_short(cases[i].sig, name), cases[i].brief);
    }
}

TEST(forms_read)
{
    CHECK_INT(signame_parse("TERM"), SIGTERM);
    CHECK_INT(signame_parse("SIGTERM"), SIGTERM);
    CHECK_INT(signame_parse("sigterm"), SIGTERM);
    CHECK_INT(signame_parse("term"), SIGTERM);
    CHECK_INT(signame_parse("15"), SIGTERM);
    CHECK_INT(signame_parse("0"), 0);
    CHECK_INT(signame_parse("exit"), 0);
    CHECK_INT(signame_parse("CLD"), SIGCHLD);
    CHECK_INT(signame_parse("SIGPOLL"), SIGIO);
    CHECK_INT(signame_parse("IOT"), SIGABRT);
    CHECK_INT(signame_parse("RTMIN"), SIGRTMIN);
    CHECK_INT(signame_parse("rtmin+30"), SIGRTMAX);
    CHECK_INT(signame_parse("SIGRTMAX-30"), SIGRTMIN);
    CHECK_INT(signame_parse("64"), 64);
}

TEST(what_is_refused)
{
    static const char *const names[] = {
        "",        "SIG",     "TERMX",    " TERM",  "TERM ",    "SIGSIGTERM",
        "65",      "-1",      "+15",      "1 5",    "RTMIN+",   "RTMIN+31",
        "RTMIN-1", "RTMAX+1", "RTMAX-31", "RTMIN3", "RTMIN+-1", "999999999999999999999",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (signame_parse(names[i]) != -ERR_INVALID)
            FAIL("'%s' was taken", names[i]);
}
