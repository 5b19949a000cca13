/* SPDX-License-Identifier: MIT */
#include "sandbox/plan.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/err.h"
#include "lib/test.h"

static const struct sandbox_means no_means;

TEST(a_new_plan_isolates_nothing)
{
    struct sandbox_plan plan;
    sandbox_plan_init(&plan);
    CHECK_INT(sandbox_plan_check(&plan, NULL), 0);
    CHECK_STR(sandbox_plan_layer(&plan, 0), NULL);
    struct rlimit before, after;
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &before), 0);
    CHECK_INT(sandbox_apply(&plan, &no_means, NULL), 0);
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &after), 0);
    CHECK_INT(before.rlim_cur, after.rlim_cur);
    CHECK_INT(umask(0), 022);
    CHECK_INT(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 0);
}

TEST(a_plan_that_makes_no_sense_is_refused)
{
    struct sandbox_plan good;
    sandbox_plan_init(&good);
    struct sandbox_plan bad[6] = {good, good, good, good, good, {0}};
    bad[0].version++;
    bad[1].layers = 1U << 31;
    bad[2].rlimits[RLIMIT_CPU] = (struct sandbox_rlimit){.set = true, .soft = 2, .hard = 1};
    bad[3].umask = 01000;
    bad[4].nice = 41;
    for (int i = 0; i < 6; i++) {
        struct err err = {0};
        CHECK_INT(sandbox_plan_check(&bad[i], &err), -EINVAL);
        CHECK(err.text[0]);
    }
}

TEST(a_limit_above_the_one_in_force_is_clamped)
{
    struct sandbox_plan plan;
    sandbox_plan_init(&plan);
    plan.rlimits[RLIMIT_NOFILE] = (struct sandbox_rlimit){.set = true, .soft = 50, .hard = 60};
    CHECK_INT(sandbox_apply(&plan, &no_means, NULL), 0);
    plan.rlimits[RLIMIT_NOFILE].soft = 55;
    CHECK_INT(sandbox_apply(&plan, &no_means, NULL), 0);
    struct rlimit now;
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &now), 0);
    CHECK_INT(now.rlim_cur, 55);

    /* Root may raise what others may not; either way the result is what the plan allows. */
    plan.rlimits[RLIMIT_NOFILE] = (struct sandbox_rlimit){.set = true, .soft = 100, .hard = 200};
    CHECK_INT(sandbox_apply(&plan, &no_means, NULL), 0);
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &now), 0);
    CHECK(now.rlim_cur == 60 || now.rlim_cur == 100);
}

TEST(layers_are_named)
{
    struct sandbox_plan plan;
    sandbox_plan_init(&plan);
    plan.layers = SANDBOX_NO_NEW_PRIVS;
    CHECK_STR(sandbox_plan_layer(&plan, 0), "no-new-privs");
    CHECK_STR(sandbox_plan_layer(&plan, 1), NULL);
    CHECK_INT(sandbox_apply(&plan, &no_means, NULL), 0);
    CHECK_INT(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1);
}
