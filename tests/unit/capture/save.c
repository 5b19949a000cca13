/* SPDX-License-Identifier: MIT */
/* Logs as bytes, and logs that outlive their process. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "capture/log.h"
#include "capture/log_priv.h"
#include "capture/view.h"
#include "lib/test.h"

enum { HEADER_LEN = 120 }; /* of a saved log */

static struct capture_options spill_options(void)
{
    int fd = open(test_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(fd >= 0);
    return (struct capture_options){.spill_dir = fd, .spill_name = "c_save", .view_max = 200};
}

static void print_lines(struct capture_log *log, int n)
{
    for (int i = 0; i < n; i++) {
        char line[64];
        int len = snprintf(line, sizeof(line), "line %d \u20ac\n", i);
        capture_log_append(log, i % 7 == 3 ? CAPTURE_STDERR : CAPTURE_STDOUT, line, (size_t)len);
    }
}

/* All bytes and gaps as text; neighbouring pieces of a stream are one. */
struct description {
    struct buf *text;
    int stream;
    uint64_t at;
};

static int describe_piece(const struct capture_piece *piece, void *ctx)
{
    struct description *d = ctx;
    if (piece->stream != d->stream || piece->at != d->at)
        CHECK_INT(buf_printf(d->text, "<%d@%ju>", piece->stream, (uintmax_t)piece->at), 0);
    CHECK_INT(buf_append(d->text, piece->bytes, piece->len), 0);
    d->stream = piece->stream;
    d->at = piece->at + piece->len;
    return 0;
}

static void describe(struct capture_log *log, struct buf *ret)
{
    for (int which = 0; which < 3; which++) {
        struct capture_read read = {.next = 0};
        while (read.next < capture_log_bytes(log, which)) {
            struct description d = {.text = ret};
            struct capture_request request = {.which = which, .cursor = read.next};
            CHECK_INT(capture_log_read(log, &request, describe_piece, &d, &read, NULL), 0);
            CHECK_INT(
                buf_printf(ret, "[gap %ju %ju]", (uintmax_t)read.gap_from, (uintmax_t)read.gap_to),
                0);
        }
        AUTO(capture_view_done) struct capture_view view;
        capture_log_view(log, which, &view);
        CHECK_INT(capture_view_text(&view, ret), 0);
        CHECK_INT(buf_printf(ret, "[%ju %ju %d %d]", (uintmax_t)view.total, (uintmax_t)view.omitted,
                             view.truncated, view.utf8),
                  0);
    }
}

static void check_same(struct capture_log *a, struct capture_log *b)
{
    auto_buf struct buf x = BUF_INIT(SIZE_MAX);
    auto_buf struct buf y = BUF_INIT(SIZE_MAX);
    describe(a, &x);
    describe(b, &y);
    CHECK_MEM(x.data, x.len, y.data, y.len);
}

static const struct {
    struct capture_options options; /* spill_dir: 1 for files */
    int lines;
} setups[] = {
    {{.spill_dir = -1},                                                        0   },
    {{.spill_dir = -1},                                                        1   },
    {{.spill_dir = -1, .view_max = 100},                                       300 },
    {{.spill_dir = -1, .view_max = 100, .memory_max = 200},                    5000},
    {{.spill_dir = 1, .view_max = 100},                                        5   },
    {{.spill_dir = 1, .view_max = 100, .memory_max = 1000},                    5000},
    {{.spill_dir = 1, .view_max = 100, .memory_max = 100, .spill_max = 5000},  9000},
    {{.spill_dir = 1, .view_max = 10000, .memory_max = 1, .spill_max = 50000}, 9000},
};

TEST(saved_logs_are_the_same)
{
    for (size_t i = 0; i < sizeof(setups) / sizeof(setups[0]); i++) {
        struct capture_options files = spill_options();
        struct capture_options options = setups[i].options;
        if (options.spill_dir > 0) {
            options.spill_dir = files.spill_dir;
            options.spill_name = files.spill_name;
        }
        struct capture_log *log = capture_log_new(&options);
        print_lines(log, setups[i].lines);
        auto_buf struct buf saved = BUF_INIT(SIZE_MAX);
        CHECK_INT(capture_log_save(log, &saved), 0); /* while it goes on */
        struct capture_log *again = NULL;
        CHECK_INT(capture_log_load(&options, saved.data, saved.len, &again, NULL), 0);
        check_same(log, again);
        capture_log_free(again);

        capture_log_finish(log);
        if (capture_log_spill_name(log)) {
            CHECK_INT(capture_log_open(&options, &again, NULL), 0);
            CHECK(!capture_log_is_partial(again));
            check_same(log, again);
            capture_log_free(again);
        }
        capture_log_free(log);
        CHECK_INT(capture_log_remove(files.spill_dir, files.spill_name), 0);
        close(files.spill_dir);
    }
}

TEST(loaded_log_goes_on)
{
    struct capture_options options = spill_options();
    options.memory_max = 1000;
    for (int lines = 10; lines < 1000; lines += 490) {
        struct capture_log *log = capture_log_new(&options);
        print_lines(log, lines);
        capture_log_finish(log);
        auto_buf struct buf saved = BUF_INIT(SIZE_MAX);
        CHECK_INT(capture_log_save(log, &saved), 0);
        capture_log_free(log);
        CHECK_INT(capture_log_load(&options, saved.data, saved.len, &log, NULL), 0);
        print_lines(log, 500);
        capture_log_finish(log);

        struct capture_options memory = {.spill_dir = -1, .view_max = 200, .memory_max = 1 << 20};
        struct capture_log *whole = capture_log_new(&memory);
        print_lines(whole, lines);
        print_lines(whole, 500);
        AUTO(capture_view_done) struct capture_view a;
        AUTO(capture_view_done) struct capture_view b;
        capture_log_view(log, CAPTURE_OUTPUT, &a);
        capture_log_view(whole, CAPTURE_OUTPUT, &b);
        CHECK_MEM(a.head, a.head_len, b.head, b.head_len);
        CHECK_MEM(a.tail, a.tail_len, b.tail, b.tail_len);
        CHECK_INT(a.omitted, b.omitted);
        capture_log_free(whole);
        capture_log_free(log);
        CHECK_INT(capture_log_remove(options.spill_dir, options.spill_name), 0);
    }
    close(options.spill_dir);
}

TEST(save_is_all_or_nothing)
{
    struct capture_log *log = capture_log_new(NULL);
    print_lines(log, 100);
    auto_buf struct buf small = BUF_INIT(500);
    CHECK_INT(buf_append_str(&small, "before"), 0);
    CHECK_INT(capture_log_save(log, &small), -ERR_LIMIT);
    CHECK_STR(buf_cstr(&small), "before");
    capture_log_free(log);
}

/* Reads whatever a loaded log has; nothing may go wrong but by an error. */
static int swallow(const struct capture_piece *piece, void *ctx)
{
    uint64_t *sum = ctx;
    for (size_t i = 0; i < piece->len; i++)
        *sum += (unsigned char)piece->bytes[i];
    return 0;
}

static void use(struct capture_log *log)
{
    uint64_t sum = 0;
    for (int which = 0; which < 3; which++) {
        struct capture_read read = {.next = 0};
        struct capture_request request = {.which = which};
        while (request.cursor < capture_log_bytes(log, which) &&
               capture_log_read(log, &request, swallow, &sum, &read, NULL) == 0)
            request.cursor = read.next;
        AUTO(capture_view_done) struct capture_view view;
        capture_log_view(log, which, &view);
    }
    capture_log_append(log, CAPTURE_STDOUT, "more", 4);
    capture_log_append(log, CAPTURE_STDERR, "more", 4);
    capture_log_finish(log);
}

/* Turns one bit over. */
static void damage(char *bytes, size_t len)
{
    CHECK(len > 0);
    unsigned char *byte = (unsigned char *)bytes + (size_t)rand() % len;
    *byte = (unsigned char)(*byte ^ (1U << rand() % 8));
}

TEST_TIMEOUT(damaged_bytes_are_refused_or_harmless, 60)
{
    srand(7);
    for (int kind = 0; kind < 2; kind++) {
        struct capture_options options = {.spill_dir = -1, .view_max = 100};
        if (kind == 1)
            options.memory_max = 200;
        struct capture_log *log = capture_log_new(&options);
        print_lines(log, 100);
        auto_buf struct buf saved = BUF_INIT(SIZE_MAX);
        CHECK_INT(capture_log_save(log, &saved), 0);
        capture_log_free(log);

        for (size_t len = 0; len < saved.len; len++) {
            char *copy = xmemdup(saved.data, len);
            struct err err;
            log = NULL;
            CHECK_INT(capture_log_load(&options, copy, len, &log, &err), -ERR_INVALID);
            free(copy);
        }
        for (int i = 0; i < 20000; i++) {
            char *copy = xmemdup(saved.data, saved.len);
            for (int k = rand() % 3; k >= 0; k--)
                damage(copy, rand() % 2 ? HEADER_LEN : saved.len);
            if (capture_log_load(&options, copy, saved.len, &log, NULL) == 0) {
                use(log);
                capture_log_free(log);
            }
            free(copy);
        }
    }
}

/* ---- a process that dies ---- */

/* Prints in a child that is killed before it can finish. */
static void print_and_die(const struct capture_options *options, int lines)
{
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        struct capture_log *log = capture_log_new(options);
        print_lines(log, lines);
        kill(getpid(), SIGKILL);
    }
    int status;
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFSIGNALED(status));
}

TEST(killed_process_leaves_a_whole_log)
{
    struct capture_options options = spill_options();
    options.memory_max = 1000;
    print_and_die(&options, 2000);
    struct capture_log *log = NULL;
    CHECK_INT(capture_log_open(&options, &log, NULL), 0);
    CHECK(capture_log_is_partial(log));

    struct capture_options memory = {.spill_dir = -1, .view_max = 200, .memory_max = 1 << 20};
    struct capture_log *whole = capture_log_new(&memory);
    print_lines(whole, 2000);
    check_same(log, whole);
    capture_log_free(log);
    capture_log_free(whole);
    close(options.spill_dir);
}

TEST(killed_process_past_the_cap_leaves_the_head)
{
    struct capture_options options = spill_options();
    options.memory_max = 1000;
    options.spill_max = 8000;
    print_and_die(&options, 2000);
    struct capture_log *log = NULL;
    CHECK_INT(capture_log_open(&options, &log, NULL), 0);
    struct capture_view view;
    capture_log_view(log, CAPTURE_OUTPUT, &view);
    CHECK(view.head_len >= 70 && memcmp(view.head, "line 0 \u20ac\nline 1 ", 18) == 0);
    CHECK(view.utf8 && view.truncated);
    capture_view_done(&view);
    use(log);
    capture_log_free(log);
    close(options.spill_dir);
}

/* Any rest of files opens, or says what is wrong. */
TEST(damaged_files_are_reported_or_harmless)
{
    struct capture_options options = spill_options();
    options.memory_max = 100;
    static const char *const names[] = {"stdout", "stderr", "order", "meta"};
    for (int file = 0; file < 4; file++)
        for (int way = 0; way < 4; way++) {
            struct capture_log *log = capture_log_new(&options);
            print_lines(log, 500);
            capture_log_finish(log);
            capture_log_free(log);
            auto_close int dirfd = openat(options.spill_dir, "c_save", O_RDONLY | O_DIRECTORY);
            CHECK(dirfd >= 0);
            auto_close int fd = openat(dirfd, names[file], O_RDWR | O_CLOEXEC);
            CHECK(fd >= 0);
            if (way == 0)
                CHECK_INT(ftruncate(fd, 0), 0);
            if (way == 1)
                CHECK_INT(ftruncate(fd, 77), 0);
            if (way == 2)
                CHECK_INT(pwrite(fd, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8, 8), 8);
            if (way == 3)
                CHECK_INT(unlinkat(dirfd, names[file], 0), 0);
            struct err err;
            int rc = capture_log_open(&options, &log, &err);
            if (rc == 0) {
                use(log);
                capture_log_free(log);
            } else {
                CHECK_INT(rc, -ERR_STORAGE);
                CHECK(strstr(err.text, "c_save") != NULL);
            }
            CHECK_INT(capture_log_remove(options.spill_dir, "c_save"), 0);
        }
    close(options.spill_dir);
}

TEST(what_is_not_there_is_not_found)
{
    struct capture_options options = spill_options();
    struct capture_log *log = NULL;
    struct err err;
    CHECK_INT(capture_log_open(&options, &log, &err), -ERR_NOT_FOUND);
    CHECK(strstr(err.text, "c_save") != NULL);
    options.spill_name = "../etc";
    CHECK_INT(capture_log_open(&options, &log, &err), -ERR_INVALID);
    CHECK_INT(mkdirat(options.spill_dir, "c_file", 0700), 0);
    options.spill_name = "c_file";
    CHECK_INT(capture_log_open(&options, &log, &err), -ERR_STORAGE);
    CHECK(log == NULL);
    close(options.spill_dir);
}
