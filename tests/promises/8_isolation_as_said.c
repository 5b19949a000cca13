/* SPDX-License-Identifier: MIT */
/* Promise 8: isolation is what the result says. */
#include <stdlib.h>

#include "json/read.h"
#include "lib/fixture.h"
#include "lib/test.h"

/* Layers are named when they are active, and no other ones. Sessions have none of them now. */
TEST(only_layers_that_are_active_are_named)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c =
        FX_RUN(&fx, "grep NoNewPrivs /proc/self/status", 0, "NoNewPrivs:\t0\n", "");
    const struct json_node *isolation = json_get(fx_result(&fx, c->id), "isolation");
    CHECK_INT(json_type(isolation), JSON_ARRAY);
    CHECK_INT(json_len(isolation), 0);
    /* The names of the kernel agree: the namespaces are ours. */
    FX_RUN(&fx,
           "for n in user pid mnt net ipc uts; do [ \"$(readlink /proc/$PPID/ns/$n)\" = "
           "\"$(readlink /proc/self/ns/$n)\" ] || echo $n; done",
           0, "", "");
    fx_close(&fx);
}

TEST(what_is_ours_is_not_for_commands)
{
    struct fx fx;
    CHECK_INT(setenv("SECRET_KEY", "s3cret", 1), 0);
    CHECK_INT(setenv("LD_PRELOAD", "", 1), 0);
    CHECK_INT(setenv("BASH_ENV", "/nosuch", 1), 0);
    CHECK_INT(setenv("NODE_OPTIONS", "--x", 1), 0);
    CHECK_INT(setenv("BASH_FUNC_echo%%", "() { printf no; }", 1), 0);
    fx_open(&fx);
    FX_RUN(&fx, "env | grep -E 'SECRET|LD_|BASH|NODE|NACRE' ; declare -F; echo ok", 0, "ok\n", "");
    CHECK_INT(fx_exec_opt(&fx, "env | grep -E 'SECRET|LD_|BASH|NODE|NACRE|TEST_'",
                          &(struct fx_opt){.background = true})
                  ->exit_code,
              1);
    FX_RUN(&fx, "exit 1", 1, "", "");
    FX_RUN(&fx, "env | grep -E 'SECRET|LD_|BASH|NODE|NACRE'", 1, "", "");
    fx_close(&fx);
}
