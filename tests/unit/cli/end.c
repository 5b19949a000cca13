/* SPDX-License-Identifier: MIT */
#include "cli/end.h"

#include <string.h>

#include "base/arena.h"
#include "json/read.h"
#include "lib/test.h"

static const struct {
    const char *result;
    int signo, status;
} cases[] = {
    {"{\"status\":\"exited\",\"exitCode\":0}",             0,  0  },
    {"{\"status\":\"exited\",\"exitCode\":7}",             0,  7  },
    {"{\"status\":\"exited\",\"exitCode\":7}",             2,  7  },
    {"{\"status\":\"signaled\",\"exitCode\":137}",         0,  137},
    {"{\"status\":\"timed_out\",\"exitCode\":124}",        0,  124},
    {"{\"status\":\"cancelled\",\"exitCode\":143}",        0,  143},
    {"{\"status\":\"cancelled\",\"exitCode\":143}",        2,  130},
    {"{\"status\":\"cancelled\",\"exitCode\":137}",        15, 143},
    {"{\"status\":\"denied\",\"exitCode\":126}",           0,  126},
    {"{\"status\":\"session_lost\",\"exitCode\":1}",       0,  125},
    {"{\"status\":\"spawn_failed\",\"exitCode\":127}",     0,  125},
    {"{\"status\":\"running\",\"exitCode\":null}",         0,  0  },
    {"{\"status\":\"queued\",\"exitCode\":null}",          0,  0  },
    {"{\"status\":\"needs_approval\",\"exitCode\":null}",  0,  0  },
    {"{\"status\":\"of another version\",\"exitCode\":3}", 0,  0  },
    {"{}",                                                 0,  0  },
};

TEST(every_state_has_its_status)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        auto_arena struct arena arena;
        arena_init(&arena, 65536);
        struct json_node *result;
        const char *text = cases[i].result;
        CHECK_INT(json_parse(text, strlen(text), NULL, &arena, &result, NULL), 0);
        struct cli_end end = cli_end_of_result(result);
        int status = cli_end_status(&end, cases[i].signo);
        if (status != cases[i].status)
            FAIL("%s (signal %d): %d, not %d", text, cases[i].signo, status, cases[i].status);
    }
}

TEST(reasons_are_read)
{
    auto_arena struct arena arena;
    arena_init(&arena, 65536);
    struct json_node *result;
    const char *text =
        "{\"status\":\"exited\",\"why\":{\"summary\":\"it waits\"},\"limit\":\"memory\"}";
    CHECK_INT(json_parse(text, strlen(text), NULL, &arena, &result, NULL), 0);
    struct cli_end end = cli_end_of_result(result);
    CHECK_STR(end.why, "it waits");
    CHECK_STR(end.limit, "memory");
    end = cli_end_of_result(NULL);
    CHECK_STR(end.why, NULL);
    CHECK_STR(end.limit, NULL);
}
