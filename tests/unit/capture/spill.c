/* SPDX-License-Identifier: MIT */
/* Storage that fails: the output stays, with head and tail, and the failure is said. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "capture/log.h"
#include "capture/view.h"
#include "lib/test.h"

enum { LINE_LEN = 12 };

/* Numbered lines of LINE_LEN bytes. */
static void print_lines(struct capture_log *log, int stream, int n)
{
    for (int i = 0; i < n; i++) {
        char line[32];
        (void)snprintf(line, sizeof(line), "line %06d\n", i);
        capture_log_append(log, stream, line, LINE_LEN);
    }
}

/* Head and tail of n such lines are shown, and the counts are right. */
static void check_lines(struct capture_log *log, int which, int n)
{
    AUTO(capture_view_done) struct capture_view view;
    char last[32];
    (void)snprintf(last, sizeof(last), "line %06d\n", n - 1);
    capture_log_view(log, which, &view);
    CHECK_INT(view.total, n * LINE_LEN);
    CHECK(view.head_len >= LINE_LEN);
    CHECK_MEM(view.head, LINE_LEN, "line 000000\n", LINE_LEN);
    const char *end = view.truncated ? view.tail + view.tail_len : view.head + view.head_len;
    CHECK_MEM(end - LINE_LEN, LINE_LEN, last, LINE_LEN);
    if (view.total > CAPTURE_VIEW_MAX)
        CHECK_INT(view.head_len + view.tail_len, CAPTURE_VIEW_MAX);
    else
        CHECK_INT(view.omitted, 0);
}

/* A file system of `kib` KiB at test_dir(), in a mount namespace of this test. */
static int tiny_disk(int kib)
{
    char data[32];
    (void)snprintf(data, sizeof(data), "size=%dk", kib);
    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("tiny", test_dir(), "tmpfs", 0, data) < 0)
        SKIP("no mount namespace: %s", strerror(errno));
    int fd = open(test_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(fd >= 0);
    return fd;
}

static void check_full(struct capture_log *log, int code)
{
    const char *text = NULL;
    CHECK_INT(capture_log_storage_error(log, &text), code);
    CHECK_STR(text, strerror(code));
}

TEST(disk_is_full_from_the_start)
{
    struct capture_options options = {.spill_dir = tiny_disk(64), .spill_name = "c_full"};
    int fd = openat(options.spill_dir, "ballast", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    char page[4096] = {0};
    while (write(fd, page, sizeof(page)) > 0)
        ;
    close(fd);
    struct capture_log *log = capture_log_new(&options);
    print_lines(log, CAPTURE_STDOUT, 50000);
    print_lines(log, CAPTURE_STDERR, 100);
    check_lines(log, CAPTURE_STDOUT, 50000);
    check_lines(log, CAPTURE_STDERR, 100);
    check_full(log, ENOSPC);
    CHECK(capture_log_spill_name(log) == NULL);
    CHECK(faccessat(options.spill_dir, "c_full", F_OK, 0) < 0); /* nothing half-done is left */
    capture_log_finish(log);
    check_lines(log, CAPTURE_STDOUT, 50000);
    capture_log_free(log);
    close(options.spill_dir);
}

TEST(disk_gets_full)
{
    struct capture_options options = {.spill_dir = tiny_disk(256), .spill_name = "c_full"};
    struct capture_log *log = capture_log_new(&options);
    print_lines(log, CAPTURE_STDOUT, 50000);
    check_full(log, ENOSPC);
    CHECK_STR(capture_log_spill_name(log), "c_full");
    check_lines(log, CAPTURE_STDOUT, 50000);
    check_lines(log, CAPTURE_OUTPUT, 50000);
    print_lines(log, CAPTURE_STDERR, 3000);
    check_lines(log, CAPTURE_STDERR, 3000); /* fits the memory of its end */
    capture_log_finish(log);                /* `meta` does not fit either */
    check_lines(log, CAPTURE_STDOUT, 50000);
    check_lines(log, CAPTURE_STDERR, 3000);
    capture_log_free(log);

    CHECK_INT(capture_log_open(&options, &log, NULL), 0);
    CHECK(capture_log_is_partial(log));
    struct capture_view view;
    capture_log_view(log, CAPTURE_STDOUT, &view);
    CHECK_MEM(view.head, LINE_LEN, "line 000000\n", LINE_LEN);
    capture_view_done(&view);
    capture_log_free(log);
    close(options.spill_dir);
}

/* The disk fills while two streams take turns: no byte is doubled or moved. */
TEST(disk_gets_full_between_streams)
{
    struct capture_options options = {.spill_dir = tiny_disk(200), .spill_name = "c_full"};
    struct capture_log *log = capture_log_new(&options);
    for (int i = 0; i < 40000; i++)
        print_lines(log, 1 + i % 2, 1);
    check_full(log, ENOSPC);
    struct capture_view view;
    for (int which = 0; which < 3; which++) {
        capture_log_view(log, which, &view);
        CHECK_INT(view.total, (which ? 20000 : 40000) * LINE_LEN);
        CHECK_INT(view.head_len + view.tail_len, CAPTURE_VIEW_MAX);
        for (size_t i = 0; i < view.head_len; i++)
            CHECK_INT(view.head[i], "line 000000\n"[i % LINE_LEN]);
        for (size_t i = 0; i < view.tail_len; i++)
            CHECK_INT(view.tail[view.tail_len - 1 - i], "\n000000 enil"[i % LINE_LEN]);
        capture_view_done(&view);
    }
    capture_log_free(log);
    close(options.spill_dir);
}

TEST(file_size_limit)
{
    struct capture_options options = {.spill_name = "c_limit"};
    options.spill_dir = open(test_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    struct rlimit limit = {.rlim_cur = 200000, .rlim_max = RLIM_INFINITY};
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
    struct capture_log *log = capture_log_new(&options);
    print_lines(log, CAPTURE_STDOUT, 50000);
    print_lines(log, CAPTURE_STDERR, 10000); /* its own file still takes it */
    check_full(log, EFBIG);
    check_lines(log, CAPTURE_STDOUT, 50000);
    check_lines(log, CAPTURE_STDERR, 10000);
    CHECK_INT(capture_log_dropped(log, CAPTURE_STDERR), 0);
    capture_log_finish(log);
    capture_log_free(log);
    CHECK_INT(capture_log_open(&options, &log, NULL), 0);
    CHECK(!capture_log_is_partial(log));
    check_full(log, EFBIG);
    check_lines(log, CAPTURE_STDOUT, 50000);
    capture_log_free(log);
    close(options.spill_dir);
}

static void spill_fails(const struct capture_options *options, int code)
{
    struct capture_log *log = capture_log_new(options);
    print_lines(log, CAPTURE_STDOUT, 20000);
    check_lines(log, CAPTURE_STDOUT, 20000);
    check_full(log, code);
    capture_log_free(log);
}

TEST(names_and_directories_that_cannot_be)
{
    struct capture_options options = {.spill_name = "../c_up"};
    options.spill_dir = open(test_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    spill_fails(&options, EINVAL);
    CHECK_INT(mkdirat(options.spill_dir, "c_other", 0700), 0); /* another log's: left alone */
    options.spill_name = "c_other";
    spill_fails(&options, EEXIST);
    CHECK_INT(faccessat(options.spill_dir, "c_other", F_OK, 0), 0);
    CHECK_INT(rmdir(test_dir()) < 0 ? errno : 0, ENOTEMPTY);
    close(options.spill_dir);
    options.spill_dir = open("/dev/null", O_RDONLY | O_CLOEXEC);
    spill_fails(&options, ENOTDIR);
    close(options.spill_dir);
}

TEST(no_descriptor_stays_open)
{
    struct capture_options options = {.spill_name = "c_fd", .memory_max = 10};
    options.spill_dir = open(test_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct capture_log *log = capture_log_new(&options);
    print_lines(log, CAPTURE_STDOUT, 10);
    capture_log_finish(log);
    check_lines(log, CAPTURE_STDOUT, 10);
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    CHECK_INT(fd, options.spill_dir + 1);
    close(fd);
    capture_log_free(log);
    close(options.spill_dir);
}
