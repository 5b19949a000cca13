/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/own.h"
#include "lib/fixture.h"
#include "lib/test.h"
#include "rt/rt.h"
#include "session/session.h"

static void count(void *ctx)
{
    (*(int *)ctx)++;
}

static int open_main(struct fx *fx, bool may_exist, struct err *err)
{
    char id[SESSION_ID_MAX];
    struct rt_session_spec spec = {.id = "main", .may_exist = may_exist};
    return rt_session_open(fx->rt, NULL, &spec, id, err);
}

TEST(one_that_is_closing_is_not_handed_out)
{
    struct fx fx;
    struct err err = {0};
    int n = 0;
    fx_open(&fx);
    FX_RUN(&fx, "x=1", 0, "", "");
    CHECK_INT(rt_session_close(fx.rt, "main", count, &n, NULL), 0);
    for (int may_exist = 0; may_exist < 2; may_exist++) {
        CHECK_INT(open_main(&fx, may_exist, &err), -ERR_CLOSED);
        CHECK_STR(err.text, "session 'main' is closing");
    }
    CHECK_INT(rt_session_close(fx.rt, "main", count, &n, &err), -ERR_CLOSED);
    FX_UNTIL(&fx, !rt_session_exists(fx.rt, "main"));
    CHECK_INT(n, 1);
    CHECK_INT(open_main(&fx, true, NULL), 0);
    FX_RUN(&fx, "echo ${x-none}", 0, "none\n", "");
    fx_close(&fx);
}

/* Whoever waits for the end of a session hears of it, even if the runtime ends first. */
TEST(the_end_of_the_runtime_is_that_of_its_sessions)
{
    struct fx fx;
    int n = 0;
    fx_open(&fx);
    (void)fx_start(&fx, "trap '' INT TERM; sleep 600", NULL);
    CHECK_INT(rt_session_close(fx.rt, "main", count, &n, NULL), 0);
    rt_free(take_ptr(fx.rt));
    CHECK_INT(n, 1);
    fx_close(&fx);
}

TEST(also_of_one_that_sleeps)
{
    struct fx fx;
    int n = 0;
    fx_open_with(&fx, &(struct fx_settings){.stored = true});
    fx_reopen(&fx); /* it sleeps now */
    CHECK_INT(rt_session_close(fx.rt, "main", count, &n, NULL), 0);
    CHECK_INT(n, 0);
    CHECK(!rt_session_exists(fx.rt, "main"));
    rt_free(take_ptr(fx.rt));
    CHECK_INT(n, 1);
    fx_close(&fx);
}

/* The end may come between the word that a session has ended and its last memory. */
static void free_runtime(void *ctx)
{
    struct fx *fx = ctx;
    fx->session = NULL;
}

TEST(the_runtime_may_end_right_after_a_session)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, ":", 0, "", "");
    CHECK_INT(rt_session_close(fx.rt, "main", free_runtime, &fx, NULL), 0);
    FX_UNTIL(&fx, !fx.session);
    rt_free(take_ptr(fx.rt));
    fx_close(&fx);
}
