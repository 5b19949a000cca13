/* SPDX-License-Identifier: MIT */
#include "cli/out.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "lib/test.h"

static int standard_output = -1; /* of the test's own */

/* Standard output becomes fd, until put_back(). */
static void redirect(int fd)
{
    CHECK(fd >= 0);
    standard_output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    CHECK(standard_output >= 0);
    CHECK_INT(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
}

static void put_back(void)
{
    CHECK_INT(dup2(standard_output, STDOUT_FILENO), STDOUT_FILENO);
    CHECK_INT(close(standard_output), 0);
}

/* A stream into a pipe, and what to count. */
struct bench {
    struct ev *ev;
    struct cli_out out;
    int reader, writer;
    int n_room;
};

static void on_room(void *ctx)
{
    struct bench *b = ctx;
    b->n_room++;
}

static void open_bench(struct bench *b)
{
    *b = (struct bench){.ev = ev_new()};
    int fds[2];
    CHECK(b->ev);
    CHECK_INT(io_pipe(fds), 0);
    b->reader = fds[0];
    b->writer = fds[1];
    redirect(fds[1]);
    cli_out_init(&b->out, b->ev, STDOUT_FILENO);
    b->out.on_room = on_room;
    b->out.ctx = b;
    (void)signal(SIGPIPE, SIG_IGN);
}

static void close_bench(struct bench *b)
{
    cli_out_done(&b->out);
    ev_free(b->ev);
    put_back();
    own_close_fd(&b->reader);
    own_close_fd(&b->writer);
}

/* Reads n bytes, which must count up from `first`, and lets the loop go on meanwhile. */
static void expect(struct bench *b, size_t n, size_t first)
{
    unsigned char piece[4096];
    for (size_t at = 0; at < n;) {
        size_t want = n - at < sizeof(piece) ? n - at : sizeof(piece);
        ssize_t got = read(b->reader, piece, want);
        CHECK(got > 0);
        for (ssize_t i = 0; i < got; i++)
            CHECK_INT(piece[i], (first + at + (size_t)i) % 251);
        at += (size_t)got;
        (void)ev_run_once(b->ev, false);
    }
}

static char *counting(size_t n)
{
    char *bytes = xmalloc(n);
    for (size_t i = 0; i < n; i++)
        bytes[i] = (char)(i % 251);
    return bytes;
}

TEST(what_fits_is_written_at_once)
{
    struct bench b;
    open_bench(&b);
    auto_free char *bytes = counting(1000);
    cli_out_write(&b.out, bytes, 1000);
    CHECK_INT(b.out.queue.len, 0);
    expect(&b, 1000, 0);
    close_bench(&b);
}

TEST(what_does_not_fit_waits_and_keeps_its_order)
{
    enum { N = 3 * 1024 * 1024 };
    struct bench b;
    open_bench(&b);
    auto_free char *bytes = counting(N);
    for (size_t at = 0; at < N; at += N / 8)
        cli_out_write(&b.out, bytes + at, N / 8);
    CHECK(cli_out_is_full(&b.out));
    CHECK_INT(b.n_room, 0);
    expect(&b, N, 0);
    CHECK_INT(b.out.queue.len, 0);
    CHECK_INT(b.n_room, 1);
    close_bench(&b);
}

TEST(waiting_for_room_is_bounded)
{
    enum { N = 2 * 1024 * 1024 };
    struct bench b;
    open_bench(&b);
    auto_free char *bytes = counting(N);
    cli_out_write(&b.out, bytes, N);
    uint64_t begin = ev_now_ns(b.ev);
    cli_out_wait(&b.out); /* nobody reads */
    CHECK(ev_now_ns(b.ev) - begin >= 50000000);
    CHECK(cli_out_is_full(&b.out));
    close_bench(&b);
}

TEST(a_reader_that_goes_away_is_told_once)
{
    struct bench b;
    open_bench(&b);
    own_close_fd(&b.reader);
    cli_out_write(&b.out, "x", 1);
    CHECK_INT(b.out.error, EPIPE);
    CHECK_INT(b.n_room, 1);
    cli_out_write(&b.out, "x", 1); /* is dropped */
    cli_out_wait(&b.out);
    CHECK_INT(b.n_room, 1);
    close_bench(&b);
}

TEST(the_shared_description_stays_blocking)
{
    struct bench b;
    open_bench(&b);
    CHECK(!(fcntl(STDOUT_FILENO, F_GETFL) & O_NONBLOCK));
    CHECK(fcntl(b.out.fd, F_GETFL) & O_NONBLOCK);
    close_bench(&b);
}

TEST(files_are_written_straight)
{
    struct ev *ev = ev_new();
    int fd = open("file", O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    redirect(fd);
    struct cli_out out;
    cli_out_init(&out, ev, STDOUT_FILENO);
    cli_out_write(&out, "hello", 5);
    char back[8];
    CHECK_INT(pread(fd, back, sizeof(back), 0), 5);
    CHECK_MEM(back, 5, "hello", 5);
    cli_out_done(&out);
    CHECK_INT(close(fd), 0);
    ev_free(ev);
    put_back();
}

TEST(errors_are_kept)
{
    struct ev *ev = ev_new();
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    redirect(fd);
    struct cli_out out;
    cli_out_init(&out, ev, STDOUT_FILENO);
    cli_out_write(&out, "hello", 5);
    CHECK_INT(out.error, ENOSPC);
    cli_out_done(&out);
    CHECK_INT(close(fd), 0);
    ev_free(ev);
    put_back();
}
