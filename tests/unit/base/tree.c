/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"
#include "base/own.h"
#include "lib/test.h"

static void touch(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    (void)close(fd);
}

static bool exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

TEST(mkdir_p_makes_all_that_is_missing)
{
    struct err err = {0};
    CHECK_INT(io_mkdir_p("a/b/c", 0755, &err), 0);
    CHECK_INT(io_mkdir_p("a/b/c", 0755, &err), 0);
    CHECK_INT(io_mkdir_p("a//b/d/", 0700, &err), 0);
    CHECK_INT(io_mkdir_p("./a/../a/e", 0700, &err), 0);
    CHECK(exists("a/b/c") && exists("a/b/d") && exists("a/e"));
    CHECK_INT(io_mkdir_p("/", 0700, &err), 0);
    CHECK_INT(io_mkdir_p(".", 0700, &err), 0);
    struct stat st;
    CHECK_INT(stat("a/b/d", &st), 0);
    CHECK_INT(st.st_mode & 0777, 0700);
}

TEST(mkdir_p_errors)
{
    struct err err;
    touch("file");
    CHECK_INT(io_mkdir_p("file", 0755, &err), -ENOTDIR);
    CHECK_STR(err.text, "create the directory 'file': Not a directory");
    CHECK_INT(io_mkdir_p("file/x", 0755, &err), -ENOTDIR);
    CHECK_INT(io_mkdir_p("", 0755, &err), -ENOENT);
    char path[5000];
    memset(path, 'x', sizeof(path));
    path[4999] = '\0';
    CHECK_INT(io_mkdir_p(path, 0755, &err), -ENAMETOOLONG);
    CHECK_INT(symlink("nowhere/at/all", "dangling"), 0);
    CHECK(io_mkdir_p("dangling", 0755, &err) < 0);
}

TEST(remove_tree_of_all_kinds)
{
    CHECK_INT(io_mkdir_p("t/a/b", 0755, NULL), 0);
    CHECK_INT(io_mkdir_p("t/empty", 0755, NULL), 0);
    touch("t/f");
    touch("t/a/f");
    touch("t/.hidden");
    CHECK_INT(mkfifo("t/fifo", 0600), 0);
    CHECK_INT(symlink("nowhere", "t/dangling"), 0);
    CHECK_INT(symlink("..", "t/a/up"), 0);
    CHECK_INT(io_remove_tree(AT_FDCWD, "t"), 0);
    CHECK(!exists("t"));
}

TEST(remove_tree_of_what_is_no_directory)
{
    touch("f");
    CHECK_INT(symlink("f", "link"), 0);
    CHECK_INT(io_remove_tree(AT_FDCWD, "link"), 0);
    CHECK(exists("f") && !exists("link"));
    CHECK_INT(io_remove_tree(AT_FDCWD, "f"), 0);
    CHECK(!exists("f"));
    CHECK_INT(io_remove_tree(AT_FDCWD, "f"), 0);
    CHECK_INT(io_remove_tree(AT_FDCWD, "no/such/thing"), 0);
    CHECK_INT(io_remove_tree(-1, "x"), -EBADF);
}

TEST(remove_tree_never_follows_links)
{
    CHECK_INT(io_mkdir_p("keep/sub", 0755, NULL), 0);
    touch("keep/f");
    touch("keep/sub/f");
    CHECK_INT(io_mkdir_p("t/a", 0755, NULL), 0);
    CHECK_INT(symlink("../keep", "t/keep"), 0);
    CHECK_INT(symlink("../../keep/sub", "t/a/sub"), 0);
    CHECK_INT(symlink("keep", "top"), 0);
    CHECK_INT(io_remove_tree(AT_FDCWD, "t"), 0);
    CHECK_INT(io_remove_tree(AT_FDCWD, "top"), 0);
    CHECK(exists("keep/f") && exists("keep/sub/f") && !exists("t") && !exists("top"));
}

TEST(remove_tree_opens_up_directories)
{
    CHECK_INT(io_mkdir_p("t/a/b", 0755, NULL), 0);
    touch("t/a/f");
    touch("t/a/b/f");
    CHECK_INT(chmod("t/a/b", 0), 0);
    CHECK_INT(chmod("t/a", 0555), 0);
    CHECK_INT(chmod("t", 0500), 0);
    CHECK_INT(io_remove_tree(AT_FDCWD, "t"), 0);
    CHECK(!exists("t"));
}

TEST(remove_tree_at_any_depth_with_few_descriptors)
{
    enum { DEPTH = 500 };
    char name[200];
    memset(name, 'n', sizeof(name));
    name[sizeof(name) - 1] = '\0';

    auto_close int top = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_INT(mkdir("t", 0755), 0);
    CHECK_INT(chdir("t"), 0);
    for (int i = 0; i < DEPTH; i++) {
        touch("f");
        CHECK_INT(mkdir(name, 0755), 0);
        CHECK_INT(chdir(name), 0);
    }
    CHECK_INT(fchdir(top), 0);

    struct rlimit before, few;
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = (struct rlimit){.rlim_cur = 12, .rlim_max = before.rlim_max};
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &few), 0);
    CHECK_INT(io_remove_tree(top, "t"), 0);
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &before), 0);
    CHECK(!exists("t"));
}

TEST(remove_tree_that_is_wide)
{
    char path[64];
    CHECK_INT(mkdir("t", 0755), 0);
    for (int i = 0; i < 1500; i++) {
        (void)snprintf(path, sizeof(path), "t/f%d", i);
        touch(path);
        if (i % 10 == 0) {
            (void)snprintf(path, sizeof(path), "t/d%d", i);
            CHECK_INT(mkdir(path, 0755), 0);
        }
    }
    CHECK_INT(io_remove_tree(AT_FDCWD, "t"), 0);
    CHECK(!exists("t"));
}

TEST(remove_tree_stops_at_the_first_failure)
{
    CHECK_INT(io_mkdir_p("t/a", 0755, NULL), 0);
    CHECK_INT(chdir("t"), 0);
    CHECK_INT(io_remove_tree(AT_FDCWD, "."), -EINVAL); /* rmdir(2) of "." */
    CHECK_INT(io_remove_tree(AT_FDCWD, "/proc/self/fd"), -EPERM);
}
