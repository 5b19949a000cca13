/* SPDX-License-Identifier: MIT */
#include "base/rundir.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "lib/test.h"

TEST(a_killed_runtimes_directory_is_swept_and_a_living_ones_is_not)
{
    struct rundir living, next;
    struct err err = {0};
    const char *base = test_dir();
    auto_free char *dead = xasprintf("%s/rt-dead", base);
    auto_free char *file = xasprintf("%s/file", dead);
    CHECK_INT(mkdir(dead, 0700), 0);
    CHECK_INT(close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)), 0);

    CHECK_INT(rundir_open(base, &living, &err), 0);
    CHECK(access(dead, F_OK) < 0);
    CHECK_INT(rundir_open(base, &next, &err), 0);
    CHECK_INT(access(living.path, F_OK), 0);

    auto_free char *path = xstrdup(next.path);
    rundir_close(&next);
    CHECK(access(path, F_OK) < 0);
    rundir_close(&living);
}

TEST(a_directory_that_others_may_write_is_refused)
{
    struct err err = {0};
    auto_free char *path = NULL;
    auto_free char *shm = xasprintf("/dev/shm/nacre-test-%d", (int)getpid());
    auto_free char *own = xasprintf("%s/nacre", shm);
    CHECK_INT(mkdir(shm, 0700), 0);
    CHECK_INT(mkdir(own, 0700), 0);
    CHECK_INT(chmod(own, 0777), 0);
    CHECK_INT(setenv("XDG_RUNTIME_DIR", shm, 1), 0);
    CHECK_INT(rundir_find(&path, &err), -ERR_DENIED);
    CHECK_INT(chmod(own, 0700), 0);
    CHECK_INT(rundir_find(&path, &err), 0);
    CHECK_STR(path, own);
    CHECK_INT(rmdir(own), 0);
    CHECK_INT(rmdir(shm), 0);
}
