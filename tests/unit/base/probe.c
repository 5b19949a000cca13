/* SPDX-License-Identifier: MIT */
#include "base/probe.h"

#include <stdio.h>
#include <string.h>

#include "lib/test.h"

static int n_evaluated;

static int64_t count(void)
{
    return ++n_evaluated;
}

static void note(void *ctx, const char *name, const struct probe_arg *args, size_t n_args)
{
    char *text = ctx;
    size_t len = (size_t)snprintf(text, 200, "%s", name);
    for (size_t i = 0; i < n_args; i++) {
        len += (size_t)snprintf(text + len, 200 - len, " %s=", args[i].key);
        switch (args[i].type) {
        case PROBE_TYPE_STR:
            len += (size_t)snprintf(text + len, 200 - len, "%s", args[i].value.str);
            break;
        case PROBE_TYPE_INT:
            len += (size_t)snprintf(text + len, 200 - len, "%ld", (long)args[i].value.num);
            break;
        case PROBE_TYPE_DOUBLE:
            len += (size_t)snprintf(text + len, 200 - len, "%g", args[i].value.real);
            break;
        case PROBE_TYPE_BOOL:
            len +=
                (size_t)snprintf(text + len, 200 - len, "%s", args[i].value.truth ? "yes" : "no");
            break;
        }
    }
}

TEST(without_a_sink_nothing_is_evaluated)
{
    CHECK(!probe_is_connected());
    PROBE("a.b", PROBE_INT("n", count()));
    probe_emit("a.b", NULL, 0);
    CHECK_INT(n_evaluated, 0);
}

TEST(sink_gets_name_and_arguments)
{
    char text[200] = "";
    probe_connect(note, text);
    CHECK(probe_is_connected());
    PROBE("proc.exit", PROBE_STR("id", "c_1"), PROBE_INT("n", count()), PROBE_DOUBLE("s", 0.5),
          PROBE_BOOL("ok", true));
    CHECK_STR(text, "proc.exit id=c_1 n=1 s=0.5 ok=yes");
    probe_emit("bare", NULL, 0);
    CHECK_STR(text, "bare");
}

TEST(one_sink_at_a_time)
{
    char first[200] = "", second[200] = "";
    probe_connect(note, first);
    probe_connect(note, second);
    PROBE("x", PROBE_BOOL("b", false));
    CHECK_STR(first, "");
    CHECK_STR(second, "x b=no");
    probe_connect(NULL, NULL);
    PROBE("y", PROBE_BOOL("b", false));
    CHECK_STR(second, "x b=no");
    CHECK(!probe_is_connected());
}
