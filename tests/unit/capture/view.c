/* SPDX-License-Identifier: MIT */
#include "capture/view.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "capture/log.h"
#include "lib/test.h"

static struct capture_options options_of(size_t view_max, bool files)
{
    struct capture_options options = {.spill_dir = -1, .view_max = view_max};
    if (files) {
        options.spill_dir = open(test_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        CHECK(options.spill_dir >= 0);
        options.spill_name = "c_view";
        options.memory_max = 16;
    }
    return options;
}

static void options_done(const struct capture_options *options)
{
    if (options->spill_dir < 0)
        return;
    CHECK_INT(capture_log_remove(options->spill_dir, options->spill_name), 0);
    close(options->spill_dir);
}

static void check_view(struct capture_log *log, int which, const char *text)
{
    AUTO(capture_view_done) struct capture_view view;
    capture_log_view(log, which, &view);
    CHECK_MEM(view.head, view.head_len, text, strlen(text));
    CHECK_INT(view.tail_len, 0);
    CHECK_INT(view.total, strlen(text));
    CHECK_INT(view.omitted, 0);
    CHECK(!view.truncated);
    CHECK(view.utf8);
}

TEST(what_fits_is_whole)
{
    for (int files = 0; files < 2; files++) {
        struct capture_options options = options_of(64, files);
        struct capture_log *log = capture_log_new(&options);
        check_view(log, CAPTURE_OUTPUT, "");
        capture_log_append(log, CAPTURE_STDOUT, "one\n", 4);
        check_view(log, CAPTURE_OUTPUT, "one\n");
        check_view(log, CAPTURE_STDERR, "");
        capture_log_append(log, CAPTURE_STDERR, "two\n", 4);
        capture_log_append(log, CAPTURE_STDOUT, "three three three\n", 18);
        check_view(log, CAPTURE_OUTPUT, "one\ntwo\nthree three three\n");
        check_view(log, CAPTURE_STDOUT, "one\nthree three three\n");
        check_view(log, CAPTURE_STDERR, "two\n");
        capture_log_finish(log);
        check_view(log, CAPTURE_OUTPUT, "one\ntwo\nthree three three\n");
        capture_log_free(log);
        options_done(&options);
    }
}

TEST(exactly_the_budget_is_whole_and_one_more_is_not)
{
    for (int files = 0; files < 2; files++) {
        struct capture_options options = options_of(0, files);
        struct capture_log *log = capture_log_new(&options);
        char *text = xmalloc(CAPTURE_VIEW_MAX);
        memset(text, 'a', CAPTURE_VIEW_MAX);
        capture_log_append(log, CAPTURE_STDOUT, text, CAPTURE_VIEW_MAX);
        struct capture_view view;
        capture_log_view(log, CAPTURE_OUTPUT, &view);
        CHECK_MEM(view.head, view.head_len, text, CAPTURE_VIEW_MAX);
        CHECK(!view.truncated);
        capture_view_done(&view);

        capture_log_append(log, CAPTURE_STDOUT, "b", 1);
        capture_log_view(log, CAPTURE_OUTPUT, &view);
        CHECK_INT(view.head_len, CAPTURE_VIEW_MAX / 8 * 3);
        CHECK_INT(view.tail_len, CAPTURE_VIEW_MAX / 8 * 5);
        CHECK_INT(view.omitted, 1);
        CHECK_INT(view.tail[view.tail_len - 1], 'b');
        CHECK(view.truncated && view.utf8);
        capture_view_done(&view);
        free(text);
        capture_log_free(log);
        options_done(&options);
    }
}

/* Two streams that each fit are whole, though together they pass the memory. */
TEST(budgets_are_apart)
{
    for (int files = 0; files < 2; files++) {
        struct capture_options options = options_of(0, files);
        struct capture_log *log = capture_log_new(&options);
        char *text = xmalloc(CAPTURE_VIEW_MAX);
        memset(text, 'o', CAPTURE_VIEW_MAX);
        capture_log_append(log, CAPTURE_STDOUT, text, CAPTURE_VIEW_MAX);
        capture_log_append(log, CAPTURE_STDERR, text, CAPTURE_VIEW_MAX);
        for (int which = 1; which < 3; which++) {
            struct capture_view view;
            capture_log_view(log, which, &view);
            CHECK_INT(view.omitted, 0);
            CHECK_INT(view.head_len + view.tail_len, CAPTURE_VIEW_MAX);
            capture_view_done(&view);
        }
        free(text);
        capture_log_free(log);
        options_done(&options);
    }
}

TEST(flood_on_stdout_shows_the_line_on_stderr)
{
    for (int files = 0; files < 2; files++) {
        struct capture_options options = options_of(0, files);
        struct capture_log *log = capture_log_new(&options);
        char text[4096];
        memset(text, 'o', sizeof(text));
        for (int i = 0; i < 1250; i++)
            capture_log_append(log, CAPTURE_STDOUT, text, sizeof(text));
        capture_log_append(log, CAPTURE_STDERR, "warning\n", 8);
        for (int i = 0; i < 1250; i++)
            capture_log_append(log, CAPTURE_STDOUT, text, sizeof(text));
        check_view(log, CAPTURE_STDERR, "warning\n");
        struct capture_view view;
        capture_log_view(log, CAPTURE_OUTPUT, &view);
        CHECK_INT(view.total, 2500 * 4096 + 8);
        CHECK_INT(view.head_len, CAPTURE_VIEW_MAX / 8 * 3);
        CHECK_INT(view.tail_len, CAPTURE_VIEW_MAX / 8 * 5);
        CHECK_INT(view.omitted, view.total - CAPTURE_VIEW_MAX);
        capture_view_done(&view);
        capture_log_free(log);
        options_done(&options);
    }
}

/* Head and tail as they should be, from the text alone. */
static void check_cut(const struct capture_view *view, const char *text, size_t len, size_t max)
{
    size_t head = utf8_floor(text, len, max / 8 * 3);
    size_t tail = utf8_ceil(text, len, len - (max - max / 8 * 3));
    CHECK_MEM(view->head, view->head_len, text, head);
    CHECK_MEM(view->tail, view->tail_len, text + tail, len - tail);
    CHECK_INT(view->omitted, tail - head);
    CHECK(view->utf8);
}

enum { CUT_MAX = 64 };

/* The views of a text that arrived in small pieces. */
static void check_cuts(const struct buf *text, bool files)
{
    struct capture_options options = options_of(CUT_MAX, files);
    struct capture_log *log = capture_log_new(&options);
    for (size_t at = 0; at < text->len; at += 7)
        capture_log_append(log, CAPTURE_STDOUT, text->data + at,
                           text->len - at < 7 ? text->len - at : 7);
    for (int which = CAPTURE_OUTPUT; which <= CAPTURE_STDOUT; which++) {
        struct capture_view view;
        capture_log_view(log, which, &view);
        check_cut(&view, text->data, text->len, CUT_MAX);
        capture_view_done(&view);
    }
    capture_log_free(log);
    options_done(&options);
}

/* Characters of 1 to 4 bytes, cut at every place that the two cuts can have. */
TEST(no_character_is_split)
{
    static const char *const chars[] = {"a", "\u00e9", "\u20ac", "\U0001f600"};
    for (int i = 0; i < 2 * 4 * 5 * 5; i++) {
        const char *c = chars[i / 2 % 4];
        auto_buf struct buf text = BUF_INIT(1000);
        (void)buf_append(&text, "12345", (size_t)(i / 8 % 5));
        while (text.len < 400)
            (void)buf_append_str(&text, c);
        (void)buf_append(&text, "67890", (size_t)(i / 40));
        check_cuts(&text, i % 2);
    }
}

TEST(bytes_that_are_no_text_are_said_to_be_none)
{
    struct capture_log *log = capture_log_new(NULL);
    capture_log_append(log, CAPTURE_STDOUT, "a\n\0\nb\n\377\376", 8);
    capture_log_append(log, CAPTURE_STDERR, "x\0y", 3);
    struct capture_view view;
    capture_log_view(log, CAPTURE_STDOUT, &view);
    CHECK_MEM(view.head, view.head_len, "a\n\0\nb\n\377\376", 8);
    CHECK(!view.utf8);
    capture_view_done(&view);
    capture_log_view(log, CAPTURE_STDERR, &view); /* NUL is a character */
    CHECK_MEM(view.head, view.head_len, "x\0y", 3);
    CHECK(view.utf8);
    capture_view_done(&view);
    capture_log_free(log);
}

TEST(binary_flood_keeps_head_and_tail)
{
    struct capture_options options = options_of(64, true);
    struct capture_log *log = capture_log_new(&options);
    char bytes[1000];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)(0x80 + i % 64);
    capture_log_append(log, CAPTURE_STDOUT, bytes, sizeof(bytes));
    struct capture_view view;
    capture_log_view(log, CAPTURE_STDOUT, &view);
    CHECK_MEM(view.head, view.head_len, bytes, 24);
    CHECK_MEM(view.tail, view.tail_len, bytes + 960, 40);
    CHECK(!view.utf8);
    capture_view_done(&view);
    capture_log_free(log);
    options_done(&options);
}

TEST(text_form_has_the_marker)
{
    struct capture_options options = options_of(16, false);
    struct capture_log *log = capture_log_new(&options);
    capture_log_append(log, CAPTURE_STDOUT, "abcdefghijklmnopqrstuvwxyz", 26);
    AUTO(capture_view_done) struct capture_view view;
    capture_log_view(log, CAPTURE_OUTPUT, &view);
    auto_buf struct buf text = BUF_INIT(100);
    CHECK_INT(capture_view_text(&view, &text), 0);
    CHECK_STR(buf_cstr(&text), "abcdef\n[... 10 bytes omitted ...]\nqrstuvwxyz");
    CHECK_INT(view.head_len + view.tail_len, 16);

    auto_buf struct buf small = BUF_INIT(20);
    CHECK_INT(capture_view_text(&view, &small), -ERR_LIMIT);
    CHECK_INT(small.len, 0);
    char marker[CAPTURE_MARKER_MAX];
    CHECK(capture_view_marker(UINT64_MAX, marker) < CAPTURE_MARKER_MAX);
    (void)capture_view_marker(1, marker);
    CHECK_STR(marker, "\n[... 1 byte omitted ...]\n");
    capture_log_free(log);
}

TEST(tiny_views)
{
    for (size_t max = 1; max < 12; max++) {
        struct capture_options options = options_of(max, max % 2);
        struct capture_log *log = capture_log_new(&options);
        for (int i = 0; i < 50; i++)
            capture_log_append(log, 1 + i % 2, "\u20acx", 4);
        for (int which = 0; which < 3; which++) {
            struct capture_view view;
            capture_log_view(log, which, &view);
            CHECK(view.head_len + view.tail_len <= max);
            CHECK(view.utf8 && view.truncated);
            capture_view_done(&view);
        }
        capture_log_free(log);
        options_done(&options);
    }
}

/* Files that somebody has removed are a fact to report; what they held counts as omitted. */
TEST(lost_files_are_omitted)
{
    struct capture_options options = options_of(64, true);
    options.spill_max = 1000;
    struct capture_log *log = capture_log_new(&options);
    for (int i = 0; i < 300; i++)
        capture_log_append(log, CAPTURE_STDOUT, "0123456789", 10);
    capture_log_finish(log);
    CHECK_INT(capture_log_remove(options.spill_dir, options.spill_name), 0);
    struct capture_view view;
    capture_log_view(log, CAPTURE_STDOUT, &view);
    CHECK_INT(view.head_len, 0);
    CHECK_INT(view.omitted, view.total - view.tail_len);
    CHECK(capture_log_storage_error(log, NULL) != 0);
    capture_view_done(&view);
    struct capture_request request = {.which = CAPTURE_STDOUT};
    struct capture_read ret;
    CHECK_INT(capture_log_read(log, &request, NULL, NULL, &ret, NULL), -ERR_STORAGE);
    capture_log_free(log);
    options_done(&options);
}
