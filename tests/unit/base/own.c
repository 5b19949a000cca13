/* SPDX-License-Identifier: MIT */
#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/mem.h"
#include "lib/test.h"

static int n_released;

struct thing {
    int value;
};

static void thing_free(struct thing *thing)
{
    n_released += thing != NULL;
    own_free(&thing);
}
DEFINE_AUTO(struct thing *, thing_free)

static void thing_done(struct thing *thing)
{
    n_released += thing->value;
}
DEFINE_AUTO_DONE(struct thing, thing_done)

TEST(auto_free_accepts_null_and_frees)
{
    auto_free char *nothing = NULL;
    auto_free char *text = xstrdup("freed at the end");
    CHECK(nothing == NULL);
    CHECK_STR(text, "freed at the end");
}

TEST(take_ptr_moves)
{
    auto_free char *text = xstrdup("x");
    auto_free char *taken = take_ptr(text);
    CHECK(text == NULL);
    CHECK_STR(taken, "x");
}

TEST(auto_close_closes_and_leaves_errno)
{
    int copy;
    {
        auto_close int none = -1;
        auto_close int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        CHECK(fd >= 0 && none < 0);
        copy = fd;
        errno = EXDEV;
    }
    CHECK_INT(errno, EXDEV);
    CHECK_INT(fcntl(copy, F_GETFD), -1);
}

TEST(take_fd_moves)
{
    auto_close int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    auto_close int taken = take_fd(&fd);
    CHECK_INT(fd, -1);
    CHECK(fcntl(taken, F_GETFD) >= 0);
}

TEST(close_fd_marks_it_closed)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    own_close_fd(&fd);
    CHECK_INT(fd, -1);
    own_close_fd(&fd);
}

TEST(types_join_by_one_line)
{
    {
        AUTO(thing_free) struct thing *heap = xnew(struct thing);
        AUTO(thing_free) struct thing *null = NULL;
        AUTO(thing_done) struct thing in_place = {.value = 10};
        CHECK(heap && !null && in_place.value);
    }
    CHECK_INT(n_released, 11);
}
