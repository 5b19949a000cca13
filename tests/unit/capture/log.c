/* SPDX-License-Identifier: MIT */
#include "capture/log.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "capture/log_priv.h"
#include "lib/test.h"

/* What was printed, kept in the simplest way: the reference. */
enum { MODEL_MAX = 1 << 20 };

struct model {
    char output[MODEL_MAX];
    char stream_of[MODEL_MAX]; /* 1, 2 */
    char stream[3][MODEL_MAX];
    size_t len[3]; /* [0]: the output */
};

static struct model *model_new(void)
{
    return xnew(struct model);
}

static void both_append(struct model *m, struct capture_log *log, int stream, const char *p,
                        size_t n)
{
    memcpy(m->output + m->len[0], p, n);
    memset(m->stream_of + m->len[0], stream, n);
    memcpy(m->stream[stream] + m->len[stream], p, n);
    m->len[0] += n;
    m->len[stream] += n;
    capture_log_append(log, stream, p, n);
}

/* What a reader checks while it reads. */
struct check {
    const struct model *m;
    int which;
    uint64_t at;    /* where the next piece must start */
    uint64_t bytes; /* seen */
    size_t stop;    /* stop after so many pieces; 0: never */
    bool any;
    char *seen; /* one byte per byte: set when read; may be NULL */
};

static int check_piece(const struct capture_piece *piece, void *ctx)
{
    struct check *c = ctx;
    const struct model *m = c->m;
    CHECK(piece->len > 0);
    if (c->any)
        CHECK_INT(piece->at, c->at);
    c->any = true;
    const char *want = c->which == CAPTURE_OUTPUT ? m->output : m->stream[c->which];
    CHECK(piece->at + piece->len <= m->len[c->which]);
    CHECK_MEM(piece->bytes, piece->len, want + piece->at, piece->len);
    for (size_t i = 0; i < piece->len; i++)
        CHECK_INT(piece->stream,
                  c->which == CAPTURE_OUTPUT ? m->stream_of[piece->at + i] : c->which);
    if (c->seen)
        memset(c->seen + piece->at, 1, piece->len);
    c->at = piece->at + piece->len;
    c->bytes += piece->len;
    return c->stop && --c->stop == 0;
}

/* Reads once and checks what can be: the next cursor. */
static uint64_t read_once(struct capture_log *log, struct check *c, uint64_t cursor, size_t max)
{
    struct capture_request request = {.which = c->which, .cursor = cursor, .max = max};
    struct capture_read ret;
    uint64_t before = c->bytes;
    c->any = false;
    c->at = cursor;
    CHECK_INT(capture_log_read(log, &request, check_piece, c, &ret, NULL), 0);
    CHECK_INT(ret.gap_from, cursor);
    CHECK(ret.gap_to >= ret.gap_from);
    CHECK_INT(ret.next, ret.gap_to + (c->bytes - before));
    if (max)
        CHECK(c->bytes - before <= max);
    CHECK(ret.next > cursor || cursor == c->m->len[c->which]);
    return ret.next;
}

/* Reads all in steps: how many bytes were there. Every byte comes once. */
static uint64_t read_all(struct capture_log *log, const struct model *m, int which, size_t step,
                         char *ret_seen)
{
    struct check c = {.m = m, .which = which};
    c.seen = ret_seen;
    uint64_t cursor = 0;
    while (cursor < m->len[which])
        cursor = read_once(log, &c, cursor, step);
    CHECK_INT(cursor, m->len[which]);
    return c.bytes;
}

static void check_totals(const struct capture_log *log, const struct model *m)
{
    for (int which = 0; which < 3; which++)
        CHECK_INT(capture_log_bytes(log, which), m->len[which]);
}

static struct capture_options spill_options(void)
{
    int fd = open(test_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(fd >= 0);
    return (struct capture_options){.spill_dir = fd, .spill_name = "c_test"};
}

/* ---- small and cheap ---- */

TEST(empty_log_is_small)
{
    struct capture_options options = {.spill_dir = 0, .spill_name = "c_aaaaaaaaaaaaaaaa"};
    struct capture_log *log = capture_log_new(&options);
    CHECK(sizeof(struct capture_log) + strlen(options.spill_name) + 1 <= 200);
    CHECK(malloc_usable_size(log) <= 216);
    CHECK_INT(capture_log_bytes(log, CAPTURE_OUTPUT), 0);
    CHECK(capture_log_spill_name(log) == NULL);
    CHECK_INT(capture_log_storage_error(log, NULL), 0);
    capture_log_finish(log);
    capture_log_free(log);
    capture_log_free(NULL);
}

TEST(small_output_touches_no_disk)
{
    struct capture_options options = spill_options();
    struct capture_log *log = capture_log_new(&options);
    char text[1000];
    memset(text, 'x', sizeof(text));
    for (int i = 0; i < 65; i++)
        capture_log_append(log, CAPTURE_STDOUT, text, sizeof(text));
    capture_log_finish(log);
    CHECK(capture_log_spill_name(log) == NULL);
    CHECK(faccessat(options.spill_dir, options.spill_name, F_OK, 0) < 0);
    capture_log_free(log);
    close(options.spill_dir);
}

TEST(exactly_the_memory_stays_in_memory)
{
    struct capture_options options = spill_options();
    struct capture_log *log = capture_log_new(&options);
    char *text = xcalloc(1, CAPTURE_MEMORY_MAX + 1);
    capture_log_append(log, CAPTURE_STDOUT, text, CAPTURE_MEMORY_MAX);
    CHECK(capture_log_spill_name(log) == NULL);
    capture_log_append(log, CAPTURE_STDOUT, text, 1);
    CHECK_STR(capture_log_spill_name(log), "c_test");
    struct stat st;
    CHECK_INT(fstatat(options.spill_dir, "c_test/stdout", &st, 0), 0);
    CHECK_INT(st.st_size, CAPTURE_MEMORY_MAX + 1);
    CHECK_INT(fstatat(options.spill_dir, "c_test/order", &st, 0), 0);
    CHECK_INT(st.st_size, CAPTURE_SEG_SIZE);
    capture_log_free(log);
    CHECK_INT(capture_log_remove(options.spill_dir, "c_test"), 0);
    CHECK(faccessat(options.spill_dir, "c_test", F_OK, 0) < 0);
    CHECK_INT(capture_log_remove(options.spill_dir, "c_test"), 0);
    free(text);
    close(options.spill_dir);
}

TEST(segments_of_a_stream_run_on)
{
    struct model *m = model_new();
    struct capture_log *log = capture_log_new(NULL);
    for (int i = 0; i < 100; i++)
        both_append(m, log, CAPTURE_STDOUT, "abc", 3);
    both_append(m, log, CAPTURE_STDERR, "E", 1);
    both_append(m, log, CAPTURE_STDERR, "", 0);
    both_append(m, log, CAPTURE_STDERR, "F", 1);
    both_append(m, log, CAPTURE_STDOUT, "d", 1);
    CHECK_INT(log->n_segs, 3);
    CHECK_INT(read_all(log, m, CAPTURE_OUTPUT, 0, NULL), 303);
    check_totals(log, m);
    capture_log_free(log);
    free(m);
}

TEST(any_byte_survives)
{
    struct model *m = model_new();
    struct capture_log *log = capture_log_new(NULL);
    char all[256];
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    both_append(m, log, CAPTURE_STDERR, all, sizeof(all));
    both_append(m, log, CAPTURE_STDOUT, "a\n\0\nb\n\377\376", 8);
    CHECK_INT(read_all(log, m, CAPTURE_OUTPUT, 7, NULL), 264);
    CHECK_INT(read_all(log, m, CAPTURE_STDERR, 7, NULL), 256);
    capture_log_free(log);
    free(m);
}

/* ---- cursors ---- */

static int refuse(const struct capture_piece *piece, void *ctx)
{
    (void)piece;
    return *(int *)ctx;
}

TEST(cursor_rules)
{
    struct capture_log *log = capture_log_new(NULL);
    capture_log_append(log, CAPTURE_STDOUT, "hello", 5);
    struct capture_read ret = {.next = 99};
    struct err err;
    struct capture_request request = {.which = CAPTURE_OUTPUT, .cursor = 6};
    int answer = 0;
    CHECK_INT(capture_log_read(log, &request, refuse, &answer, &ret, &err), -ERR_INVALID);
    CHECK(strstr(err.text, "6") && strstr(err.text, "5"));
    CHECK_INT(ret.next, 99);

    request.cursor = 5; /* the end is a place to read from */
    CHECK_INT(capture_log_read(log, &request, refuse, &answer, &ret, NULL), 0);
    CHECK_INT(ret.next, 5);
    CHECK_INT(ret.gap_to, ret.gap_from);

    request.cursor = 1;
    answer = -ERR_LIMIT; /* the caller's failure comes back, and the cursor stays */
    CHECK_INT(capture_log_read(log, &request, refuse, &answer, &ret, NULL), -ERR_LIMIT);
    CHECK_INT(ret.next, 5);
    CHECK_INT(capture_log_storage_error(log, NULL), 0);

    request.which = CAPTURE_STDERR;
    CHECK_INT(capture_log_read(log, &request, refuse, &answer, &ret, NULL), -ERR_INVALID);
    capture_log_free(log);
}

TEST(reader_that_stops_goes_on_where_it_was)
{
    struct model *m = model_new();
    struct capture_log *log = capture_log_new(NULL);
    for (int i = 0; i < 50; i++)
        both_append(m, log, 1 + i % 2, "abcdefg", 7);
    struct check c = {.m = m};
    uint64_t cursor = 0;
    for (int i = 0; i < 50; i++) {
        c.stop = 1;
        cursor = read_once(log, &c, cursor, 0);
        CHECK_INT(cursor, 7 * (i + 1));
    }
    capture_log_free(log);
    free(m);
}

TEST(gap_is_told)
{
    struct model *m = model_new();
    struct capture_options options = {.spill_dir = -1, .view_max = 64, .memory_max = 128};
    struct capture_log *log = capture_log_new(&options);
    char text[1000];
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)('a' + i % 26);
    both_append(m, log, CAPTURE_STDOUT, text, sizeof(text));
    CHECK_INT(capture_log_dropped(log, CAPTURE_STDOUT), 1000 - 112 - 64);
    CHECK_INT(capture_log_dropped(log, CAPTURE_OUTPUT), 1000 - 112 - 64);

    struct check c = {.m = m};
    CHECK_INT(read_once(log, &c, 0, 0), 112); /* ends before the gap */
    struct capture_request request = {.cursor = 112};
    struct capture_read ret;
    c.any = false;
    CHECK_INT(capture_log_read(log, &request, check_piece, &c, &ret, NULL), 0);
    CHECK_INT(ret.gap_from, 112);
    CHECK_INT(ret.gap_to, 936);
    CHECK_INT(ret.next, 1000);
    request.cursor = 500; /* in the gap */
    c.any = false;
    CHECK_INT(capture_log_read(log, &request, check_piece, &c, &ret, NULL), 0);
    CHECK_INT(ret.gap_from, 500);
    CHECK_INT(ret.gap_to, 936);
    capture_log_free(log);
    free(m);
}

/* A stream that floods leaves the other one whole (memory only, and in files). */
static void flood(struct capture_options options)
{
    struct model *m = model_new();
    struct capture_log *log = capture_log_new(&options);
    char text[1024];
    memset(text, 'y', sizeof(text));
    both_append(m, log, CAPTURE_STDERR, "first\n", 6);
    for (int i = 0; i < 300; i++)
        both_append(m, log, CAPTURE_STDOUT, text, sizeof(text));
    both_append(m, log, CAPTURE_STDERR, "warning: one line\n", 18);
    for (int i = 0; i < 300; i++)
        both_append(m, log, CAPTURE_STDOUT, text, sizeof(text));
    CHECK_INT(read_all(log, m, CAPTURE_STDERR, 0, NULL), 24);
    CHECK_INT(capture_log_dropped(log, CAPTURE_STDERR), 0);
    CHECK(capture_log_dropped(log, CAPTURE_STDOUT) > 0);

    /* In the output the line is there too, between two gaps. */
    char *seen = xcalloc(1, m->len[0]);
    read_all(log, m, CAPTURE_OUTPUT, 0, seen);
    CHECK(seen[0] && seen[6 + 300 * 1024] && seen[m->len[0] - 1]);
    free(seen);
    capture_log_free(log);
    free(m);
}

TEST(flood_leaves_the_other_stream)
{
    struct capture_options options = spill_options();
    options.spill_max = UINT64_C(102400);
    flood(options);
    close(options.spill_dir);
    flood((struct capture_options){.spill_dir = -1});
}

/* ---- everything against the reference ---- */

struct setup {
    struct capture_options options; /* spill_dir: 1 for files */
    size_t chunk_max;
    size_t bytes;
    unsigned switch_in; /* one in so many appends changes the stream */
};

static const struct setup setups[] = {
    {{.spill_dir = -1},                                                      300,  60000,  2},
    {{.spill_dir = -1},                                                      5000, 500000, 5},
    {{.spill_dir = -1, .view_max = 100, .memory_max = 200},                  90,   20000,  2},
    {{.spill_dir = -1, .view_max = 100, .memory_max = 200},                  3,    9000,   1},
    {{.spill_dir = -1, .view_max = 64, .memory_max = 1, .tail_max = 1000},   200,  9000,   3},
    {{.spill_dir = 1},                                                       3000, 700000, 3},
    {{.spill_dir = 1, .memory_max = 100},                                    50,   100000, 2},
    {{.spill_dir = 1, .memory_max = 1, .view_max = 10},                      2,    20000,  1},
    {{.spill_dir = 1, .memory_max = 100, .view_max = 50, .spill_max = 5000}, 50,   30000,  2},
    {{.spill_dir = 1, .memory_max = 100, .view_max = 50, .spill_max = 5000}, 4,    30000,  1},
    {{.spill_dir = 1, .memory_max = 1000, .spill_max = 8000},                9000, 300000, 4},
};

/* What can be said of all reads at one time. */
static void check_reads(struct capture_log *log, const struct model *m)
{
    static char seen[3][MODEL_MAX];
    check_totals(log, m);
    for (int which = 0; which < 3; which++) {
        memset(seen[which], 0, m->len[which]);
        uint64_t got = read_all(log, m, which, (size_t)(1 + rand() % 5000), seen[which]);
        if (which != CAPTURE_OUTPUT)
            CHECK_INT(got, m->len[which] - capture_log_dropped(log, which));
        /* The end is always there, and so is the start. */
        size_t tail = m->len[which] < log->tail_max ? m->len[which] : log->tail_max;
        for (size_t i = m->len[which] - tail; i < m->len[which]; i++)
            CHECK(seen[which][i]);
    }
    CHECK(m->len[0] == 0 || seen[0][0] || log->memory_max < 2);

    /* The output has what the streams have, unless the order is lost. */
    size_t at[3] = {0};
    for (size_t i = 0; i < m->len[0]; i++) {
        unsigned char s = (unsigned char)m->stream_of[i];
        if (seen[0][i])
            CHECK(seen[s][at[s]]);
        else if (log->order_end == CAPTURE_NO_END)
            CHECK(!seen[s][at[s]]);
        at[s]++;
    }
}

/* A follower that reads what is new from its cursor on. */
static void follow(struct capture_log *log, struct check *c, uint64_t *cursor)
{
    uint64_t next = read_once(log, c, *cursor, (size_t)(rand() % 3000));
    CHECK(next >= *cursor);
    *cursor = next;
}

static void run_setup(const struct setup *setup)
{
    struct capture_options options = setup->options;
    struct capture_options files = spill_options();
    if (options.spill_dir > 0) {
        options.spill_dir = files.spill_dir;
        options.spill_name = files.spill_name;
    }
    struct model *m = model_new();
    struct capture_log *log = capture_log_new(&options);
    struct check c[3] = {
        {.m = m     },
        { .m = m, .which = 1},
        { .m = m, .which = 2}
    };
    uint64_t cursors[3] = {0};
    char *chunk = xmalloc(setup->chunk_max);
    int stream = CAPTURE_STDOUT, step = 0;
    while (m->len[0] < setup->bytes) {
        if ((unsigned)rand() % setup->switch_in == 0)
            stream = 3 - stream;
        size_t n = 1 + (size_t)rand() % setup->chunk_max;
        for (size_t i = 0; i < n; i++)
            chunk[i] = (char)rand();
        both_append(m, log, stream, chunk, n);
        int which = rand() % 3;
        follow(log, &c[which], &cursors[which]);
        if (++step % 1000 == 3)
            check_reads(log, m);
        if (step == 50)
            capture_log_finish(log); /* an append opens it again */
    }
    check_reads(log, m);
    capture_log_finish(log);
    check_reads(log, m);
    CHECK_INT(capture_log_storage_error(log, NULL), 0);
    CHECK_INT(capture_log_spill_name(log) != NULL, setup->options.spill_dir > 0);
    free(chunk);
    capture_log_free(log);
    free(m);
    CHECK_INT(capture_log_remove(files.spill_dir, files.spill_name), 0);
    close(files.spill_dir);
}

TEST_TIMEOUT(reads_equal_the_reference, 120)
{
    for (size_t i = 0; i < sizeof(setups) / sizeof(setups[0]); i++)
        for (unsigned seed = 1; seed <= 3; seed++) {
            srand(seed);
            run_setup(&setups[i]);
        }
}

TEST(disk_use_is_bounded)
{
    struct capture_options options = spill_options();
    options.memory_max = 100;
    options.spill_max = 80000;
    struct capture_log *log = capture_log_new(&options);
    for (int i = 0; i < 300000; i++) /* the worst for the order */
        capture_log_append(log, 1 + i % 2, "x", 1);
    struct stat out, order;
    CHECK_INT(fstatat(options.spill_dir, "c_test/order", &order, 0), 0);
    CHECK(order.st_size <= 80000 / 8);
    char text[1000] = {0};
    for (int i = 0; i < 500; i++)
        capture_log_append(log, CAPTURE_STDOUT, text, sizeof(text));
    CHECK_INT(fstatat(options.spill_dir, "c_test/stdout", &out, 0), 0);
    CHECK(out.st_size <= 70000);
    CHECK_INT(capture_log_bytes(log, CAPTURE_OUTPUT), 300000 + 500000);
    CHECK_INT(capture_log_storage_error(log, NULL), 0); /* a limit is no failure */
    capture_log_free(log);
    close(options.spill_dir);
}

/* acceptance F1: a gigabyte later the log holds what it held at its limits. */
static void check_flat(struct capture_options options)
{
    enum { CHUNK = 64 * 1024, N_CHUNKS = 16 * 1024, SLACK = 512 * 1024 };
    char *chunk = xcalloc(1, CHUNK);
    struct capture_log *log = capture_log_new(&options);
    struct mallinfo2 before = mallinfo2();
    for (int i = 0; i < N_CHUNKS; i++)
        capture_log_append(log, i % 16 == 0 ? CAPTURE_STDERR : CAPTURE_STDOUT, chunk, CHUNK);
    struct mallinfo2 after = mallinfo2();
    CHECK(after.uordblks + after.hblkhd < before.uordblks + before.hblkhd + SLACK);
    CHECK_INT(capture_log_bytes(log, CAPTURE_OUTPUT), UINT64_C(1) << 30);
    capture_log_free(log);
    free(chunk);
}

TEST(memory_stays_flat)
{
    struct capture_options options = spill_options();
    options.spill_max = UINT64_C(4) << 20;
    check_flat(options);
    close(options.spill_dir);
    check_flat((struct capture_options){.spill_dir = -1});
}
