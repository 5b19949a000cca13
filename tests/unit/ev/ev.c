/* SPDX-License-Identifier: MIT */
#include "ev/ev.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/io.h"
#include "lib/test.h"

enum { ITEMS = 100 };

/* Notes what happened, one letter each. */
struct notes {
    char text[256];
    size_t len;
};

static void note(struct notes *notes, char c)
{
    if (notes->len + 1 < sizeof(notes->text))
        notes->text[notes->len++] = c;
}

struct watch {
    struct ev *ev;
    struct ev_fd fd;
    struct ev_timer timer;
    struct notes *notes;
    char letter;
    unsigned events; /* as last told */
    int n_calls;
    int read_fd; /* to read a byte from when called; -1: none */
};

static void on_fd(void *ctx, unsigned events)
{
    struct watch *w = ctx;
    w->events = events;
    w->n_calls++;
    char byte;
    if (w->read_fd >= 0)
        CHECK_INT(read(w->read_fd, &byte, 1), 1);
}

static void on_timer(void *ctx)
{
    struct watch *w = ctx;
    w->n_calls++;
    note(w->notes, w->letter);
}

static void turns(struct ev *ev, int n)
{
    for (int i = 0; i < n; i++)
        (void)ev_run_once(ev, false);
}

static struct ev *new_ev(void)
{
    struct ev *ev = ev_new();
    CHECK(ev);
    return ev;
}

TEST(a_descriptor_is_watched_while_started)
{
    struct ev *ev = new_ev();
    int fds[2];
    CHECK_INT(io_pipe(fds), 0);
    struct watch w = {.read_fd = fds[0]};
    CHECK_INT(ev_fd_init(ev, &w.fd, fds[0], on_fd, &w), 0);
    CHECK_INT(write(fds[1], "xyz", 3), 3);
    turns(ev, 2);
    CHECK_INT(w.n_calls, 0); /* not started yet */

    ev_fd_start(&w.fd, EV_READ);
    CHECK(ev_run_once(ev, true));
    CHECK_INT(w.n_calls, 1);
    CHECK_INT(w.events, EV_READ);
    CHECK(ev_run_once(ev, true)); /* level-triggered */
    CHECK_INT(w.n_calls, 2);

    ev_fd_stop(&w.fd);
    CHECK(!ev_run_once(ev, true)); /* nothing to wait for: returns at once */
    turns(ev, 3);
    CHECK_INT(w.n_calls, 2);

    ev_fd_start(&w.fd, EV_READ);
    CHECK(ev_run_once(ev, true));
    CHECK_INT(w.n_calls, 3);
    ev_fd_close(&w.fd);
    ev_fd_close(&w.fd); /* no harm */
    (void)close(fds[0]);
    (void)close(fds[1]);
    ev_free(ev);
}

TEST(events_can_be_changed_while_started)
{
    struct ev *ev = new_ev();
    int fds[2];
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    struct watch w = {.read_fd = -1};
    CHECK_INT(ev_fd_init(ev, &w.fd, fds[0], on_fd, &w), 0);
    ev_fd_start(&w.fd, EV_READ | EV_WRITE);
    CHECK(ev_run_once(ev, true));
    CHECK_INT(w.events, EV_WRITE);
    ev_fd_start(&w.fd, EV_READ);
    turns(ev, 3);
    CHECK_INT(w.n_calls, 1);
    CHECK_INT(write(fds[1], "x", 1), 1);
    CHECK(ev_run_once(ev, true));
    CHECK_INT(w.events, EV_READ);
    ev_fd_start(&w.fd, EV_READ | EV_WRITE);
    CHECK(ev_run_once(ev, true));
    CHECK_INT(w.events, EV_READ | EV_WRITE);
    ev_fd_close(&w.fd);
    (void)close(fds[0]);
    (void)close(fds[1]);
    ev_free(ev);
}

TEST(the_other_ends_death_is_told_as_what_was_wanted)
{
    struct ev *ev = new_ev();
    int fds[2];
    CHECK_INT(io_pipe(fds), 0);
    (void)signal(SIGPIPE, SIG_IGN);
    struct watch w = {.read_fd = -1};
    CHECK_INT(ev_fd_init(ev, &w.fd, fds[1], on_fd, &w), 0);
    ev_fd_start(&w.fd, EV_WRITE);
    (void)close(fds[0]);
    for (int i = 1; i <= 3; i++) { /* for as long as the owner does not react */
        CHECK(ev_run_once(ev, true));
        CHECK_INT(w.n_calls, i);
        CHECK_INT(w.events, EV_WRITE);
    }
    CHECK_INT(write(fds[1], "x", 1), -1);
    CHECK_INT(errno, EPIPE);
    ev_fd_stop(&w.fd);
    CHECK(!ev_run_once(ev, true));
    turns(ev, 3);
    CHECK_INT(w.n_calls, 3);
    ev_fd_close(&w.fd);
    (void)close(fds[1]);
    ev_free(ev);
}

TEST(what_cannot_be_watched_is_refused)
{
    struct ev *ev = new_ev();
    int file = open("file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct ev_fd f = {0};
    CHECK_INT(ev_fd_init(ev, &f, file, on_fd, NULL), -EPERM);
    (void)close(file);
    CHECK_INT(ev_fd_init(ev, &f, file, on_fd, NULL), -EBADF);
    int fds[2];
    CHECK_INT(io_pipe(fds), 0);
    struct ev_fd other = {0};
    CHECK_INT(ev_fd_init(ev, &f, fds[0], on_fd, NULL), 0);
    ev_fd_start(&f, EV_READ);
    CHECK_INT(ev_fd_init(ev, &other, fds[0], on_fd, NULL), -EEXIST);
    ev_fd_close(&f);
    CHECK_INT(ev_fd_init(ev, &f, fds[0], on_fd, NULL), 0); /* at once, without a turn between */
    ev_fd_close(&f);
    (void)close(fds[0]);
    (void)close(fds[1]);
    ev_free(ev);
}

static void never(void *ctx)
{
    (void)ctx;
    FAIL("a closed timer has fired");
}

static void close_and_free(void *ctx, unsigned events)
{
    (void)events;
    struct watch *w = ctx;
    ev_fd_close(&w->fd);
    ev_timer_close(&w->timer);
    (void)close(w->read_fd);
    ++*(int *)w->notes;
    free(w);
}

TEST(an_owner_is_freed_within_its_callback)
{
    struct ev *ev = new_ev();
    int n_freed = 0;
    int writers[ITEMS];
    for (int i = 0; i < ITEMS; i++) {
        int fds[2];
        CHECK_INT(io_pipe(fds), 0);
        struct watch *w = calloc(1, sizeof(*w));
        CHECK(w);
        w->read_fd = fds[0];
        w->notes = (struct notes *)&n_freed;
        writers[i] = fds[1];
        CHECK_INT(ev_fd_init(ev, &w->fd, fds[0], close_and_free, w), 0);
        ev_timer_init(ev, &w->timer, never, NULL);
        ev_timer_start(&w->timer, 1);
        ev_fd_start(&w->fd, EV_READ);
        CHECK_INT(write(writers[i], "x", 1), 1);
    }
    while (ev_run_once(ev, true))
        ;
    CHECK_INT(n_freed, ITEMS);
    for (int i = 0; i < ITEMS; i++)
        (void)close(writers[i]);
    ev_free(ev);
}

struct pair {
    struct ev_fd fds[2];
    int n_calls;
};

/* Whichever is told first closes both. */
static void close_both(void *ctx, unsigned events)
{
    (void)events;
    struct pair *pair = ctx;
    pair->n_calls++;
    ev_fd_close(&pair->fds[0]);
    ev_fd_close(&pair->fds[1]);
}

TEST(a_watcher_closed_by_another_is_not_told)
{
    struct ev *ev = new_ev();
    int a[2], b[2];
    CHECK_INT(io_pipe(a), 0);
    CHECK_INT(io_pipe(b), 0);
    struct pair pair = {0};
    CHECK_INT(ev_fd_init(ev, &pair.fds[0], a[0], close_both, &pair), 0);
    CHECK_INT(ev_fd_init(ev, &pair.fds[1], b[0], close_both, &pair), 0);
    ev_fd_start(&pair.fds[0], EV_READ);
    ev_fd_start(&pair.fds[1], EV_READ);
    CHECK_INT(write(a[1], "x", 1), 1);
    CHECK_INT(write(b[1], "x", 1), 1);
    while (ev_run_once(ev, true))
        ;
    CHECK_INT(pair.n_calls, 1);
    for (int i = 0; i < 2; i++) {
        (void)close(a[i]);
        (void)close(b[i]);
    }
    ev_free(ev);
}

static void init_timer(struct ev *ev, struct watch *w, struct notes *notes, char letter)
{
    *w = (struct watch){.ev = ev, .notes = notes, .letter = letter};
    ev_timer_init(ev, &w->timer, on_timer, w);
}

TEST(the_fake_clock_fires_timers_in_order)
{
    struct ev *ev = new_ev();
    ev_set_fake_clock(ev);
    struct notes notes = {0};
    struct watch a, b, c, d;
    init_timer(ev, &a, &notes, 'a');
    init_timer(ev, &b, &notes, 'b');
    init_timer(ev, &c, &notes, 'c');
    init_timer(ev, &d, &notes, 'd');
    uint64_t begin = ev_now_ns(ev);
    ev_timer_start(&c.timer, 30);
    ev_timer_start(&b.timer, 20);
    ev_timer_start(&d.timer, 30); /* after c, which was started first */
    ev_timer_repeat(&a.timer, 10);
    CHECK(!ev_run_once(ev, true)); /* does not wait for timers */
    CHECK_STR(notes.text, "");

    ev_advance(ev, 9);
    CHECK_STR(notes.text, "");
    ev_advance(ev, 1);
    CHECK_STR(notes.text, "a");
    CHECK_INT(ev_now_ns(ev) - begin, 10000000);
    ev_advance(ev, 25);
    CHECK_STR(notes.text, "abacda");
    CHECK(!ev_timer_active(&b.timer));
    CHECK(ev_timer_active(&a.timer));
    ev_timer_stop(&a.timer);
    ev_timer_stop(&a.timer);
    ev_timer_start(&b.timer, 5);
    ev_timer_start(&b.timer, 50); /* replaces */
    ev_advance(ev, 49);
    CHECK_STR(notes.text, "abacda");
    ev_advance(ev, 1);
    CHECK_STR(notes.text, "abacdab");
    ev_timer_start(&b.timer, UINT64_MAX);
    ev_advance(ev, 1000000000);
    CHECK_STR(notes.text, "abacdab");
    ev_timer_close(&b.timer);
    ev_free(ev);
}

TEST(many_timers_keep_their_order)
{
    struct ev *ev = new_ev();
    ev_set_fake_clock(ev);
    struct notes notes = {0};
    static struct watch items[26];
    for (int i = 0; i < 26; i++) {
        init_timer(ev, &items[i], &notes, (char)('a' + i));
        ev_timer_start(&items[i].timer, 1000);
    }
    for (int i = 0; i < 26; i++) /* a permutation: 7 and 26 have no common factor */
        ev_timer_start(&items[i * 7 % 26].timer, (uint64_t)(i * 7 % 26) + 1);
    for (int i = 0; i < 26; i += 3)
        ev_timer_stop(&items[i].timer);
    ev_advance(ev, 100);
    CHECK_STR(notes.text, "bcefhiklnoqrtuwxz");
    ev_free(ev);
}

static void restart(void *ctx)
{
    struct watch *w = ctx;
    w->n_calls++;
    ev_timer_start(&w->timer, 0);
}

TEST(real_timers_wake_the_loop)
{
    struct ev *ev = new_ev();
    struct notes notes = {0};
    struct watch a, b;
    struct watch c = {.read_fd = -1};
    init_timer(ev, &a, &notes, 'a');
    init_timer(ev, &b, &notes, 'b');
    ev_timer_init(ev, &c.timer, restart, &c);
    uint64_t begin = ev_now_ns(ev);
    ev_timer_start(&a.timer, 20);
    ev_timer_start(&b.timer, 10);
    ev_run(ev); /* until no timer is left */
    CHECK_STR(notes.text, "ba");
    CHECK(ev_now_ns(ev) - begin >= 20000000);

    ev_timer_start(&c.timer, 0);
    for (int i = 1; i <= 3; i++) { /* once in a turn, though due at once */
        CHECK(ev_run_once(ev, true));
        CHECK(c.n_calls <= i);
    }
    CHECK(c.n_calls > 0);
    ev_timer_close(&c.timer);
    ev_free(ev);
}

/* Beside a descriptor on which nothing comes, which alone would make the loop wait for ever. */
TEST_TIMEOUT(a_timer_that_is_due_before_the_wait_ends_it, 10)
{
    struct ev *ev = new_ev();
    struct watch w = {.read_fd = -1};
    int fds[2];
    CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
    CHECK_INT(ev_fd_init(ev, &w.fd, fds[0], on_fd, &w), 0);
    ev_fd_start(&w.fd, EV_READ);
    ev_timer_init(ev, &w.timer, restart, &w);
    ev_timer_start(&w.timer, 0);
    while (w.n_calls < 20)
        (void)ev_run_once(ev, true);
    ev_timer_close(&w.timer);
    ev_fd_close(&w.fd);
    CHECK_INT(close(fds[0]), 0);
    CHECK_INT(close(fds[1]), 0);
    ev_free(ev);
}

/* Sleeps as a loop around this one would, at most a second; then gives it a turn. */
static void turn_of_another(struct ev *ev)
{
    struct pollfd p = {.fd = ev_poll_fd(ev), .events = POLLIN};
    int timeout_ms = ev_poll_timeout(ev);
    CHECK(poll(&p, 1, timeout_ms < 0 || timeout_ms > 1000 ? 1000 : timeout_ms) >= 0);
    (void)ev_run_once(ev, false);
}

TEST(another_loop_may_wait_for_it)
{
    struct ev *ev = ev_new();
    int pipe_fds[2];
    CHECK_INT(pipe(pipe_fds), 0);
    struct notes notes = {0};
    struct watch w = {.ev = ev, .notes = &notes, .letter = 't', .read_fd = pipe_fds[0]};
    CHECK_INT(ev_poll_timeout(ev), -1);

    CHECK_INT(ev_fd_init(ev, &w.fd, pipe_fds[0], on_fd, &w), 0);
    ev_fd_start(&w.fd, EV_READ);
    CHECK_INT(write(pipe_fds[1], "x", 1), 1);
    for (int i = 0; i < 10 && w.n_calls == 0; i++)
        turn_of_another(ev);
    CHECK_INT(w.n_calls, 1);
    CHECK_INT(ev_poll_timeout(ev), -1);

    ev_timer_init(ev, &w.timer, on_timer, &w);
    ev_timer_start(&w.timer, 60000);
    int left_ms = ev_poll_timeout(ev);
    CHECK(left_ms > 50000 && left_ms <= 60001);
    ev_timer_start(&w.timer, 20);
    usleep(10000); /* the time that passes outside the loop counts */
    CHECK(ev_poll_timeout(ev) <= 11);
    for (int i = 0; i < 10 && w.n_calls == 1; i++)
        turn_of_another(ev);
    CHECK_STR(notes.text, "t");

    ev_defer(ev, on_timer, &w);
    CHECK_INT(ev_poll_timeout(ev), 0);
    turn_of_another(ev);
    CHECK_STR(notes.text, "tt");

    ev_fd_close(&w.fd);
    ev_timer_close(&w.timer);
    CHECK_INT(ev_poll_timeout(ev), -1);
    ev_free(ev);
    CHECK_INT(close(pipe_fds[0]) | close(pipe_fds[1]), 0);
}

TEST(a_repeating_timer_is_stopped_by_ev_stop)
{
    struct ev *ev = new_ev();
    struct ev_timer timer;
    ev_timer_init(ev, &timer, (ev_fn)ev_stop, ev);
    ev_timer_repeat(&timer, 1);
    for (int i = 0; i < 3; i++)
        ev_run(ev);
    ev_timer_close(&timer);
    ev_stop(ev);
    ev_run(ev);
    ev_free(ev);
}

struct deferral {
    struct ev *ev;
    struct notes notes;
    int n;
};

static void defer_more(void *ctx)
{
    struct deferral *d = ctx;
    note(&d->notes, (char)('0' + d->n));
    if (d->n++ < 3)
        ev_defer(d->ev, defer_more, d);
    note(&d->notes, '.');
}

TEST(deferred_calls_come_in_the_same_turn)
{
    struct ev *ev = new_ev();
    struct deferral d = {.ev = ev};
    struct deferral cancelled = {.ev = ev};
    ev_defer(ev, defer_more, &d);
    ev_defer(ev, defer_more, &cancelled);
    ev_defer(ev, defer_more, &cancelled);
    ev_defer_cancel(ev, &cancelled);
    CHECK_STR(d.notes.text, "");
    CHECK(!ev_run_once(ev, true)); /* does not sleep */
    CHECK_STR(d.notes.text, "0.1.2.3.");
    CHECK_STR(cancelled.notes.text, "");
    ev_free(ev);
}

static void on_signal(void *ctx, int signo)
{
    *(int *)ctx += signo;
}

TEST(a_signal_is_told_to_all_watchers)
{
    struct ev *ev = new_ev();
    int got[2] = {0, 0};
    struct ev_signal s[2] = {{0}, {0}};
    for (int i = 0; i < 2; i++)
        CHECK_INT(ev_signal_init(ev, &s[i], SIGUSR1, on_signal, &got[i]), 0);
    CHECK_INT(raise(SIGUSR1), 0);
    while (got[0] == 0 || got[1] == 0)
        CHECK(ev_run_once(ev, true));
    CHECK_INT(got[0], SIGUSR1);
    CHECK_INT(got[1], SIGUSR1);
    struct ev_signal none = {0};
    CHECK(ev_signal_init(ev, &none, SIGKILL, on_signal, got) < 0);
    ev_signal_close(&s[0]);
    ev_signal_close(&s[0]);
    ev_signal_close(&s[1]);
    ev_free(ev);
}

struct waker {
    struct ev *ev;
    struct ev_wake wake;
    int n_calls;
};

static void on_wake(void *ctx)
{
    struct waker *w = ctx;
    w->n_calls++;
    ev_stop(w->ev);
}

static void *send_wake(void *arg)
{
    ev_wake_send(arg);
    ev_wake_send(arg);
    return NULL;
}

TEST(another_thread_wakes_the_loop)
{
    struct waker w = {.ev = new_ev()};
    CHECK_INT(ev_wake_init(w.ev, &w.wake, on_wake, &w), 0);
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, send_wake, &w.wake), 0);
    ev_run(w.ev);
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK(w.n_calls >= 1);
    ev_wake_close(&w.wake);
    ev_wake_close(&w.wake);
    CHECK(!ev_run_once(w.ev, true));
    ev_free(w.ev);
}
