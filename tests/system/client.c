/* SPDX-License-Identifier: MIT */
/* The client with a real daemon, which it starts itself. */
#include "client/client.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "json/read.h"
#include "json/write.h"
#include "lib/test.h"

static char *path_of(const char *name, char ret[200])
{
    (void)snprintf(ret, 200, "%s/%s", test_dir(), name);
    return ret;
}

static struct client *start(void)
{
    char path[200], state[200];
    (void)chmod(".", 0700);
    struct client_options options = {
        .socket = path_of("s", path), .state_dir = path_of("state", state), .timeout_ms = 60000};
    struct client *c = NULL;
    struct err err = {0};
    if (client_connect(&options, &c, &err) < 0)
        FAIL("%s", err.text);
    return c;
}

/* Ends the daemon and waits until it has gone. */
static void stop(struct client *c)
{
    pid_t pid = (pid_t)client_daemon_pid(c);
    (void)client_begin(c, "shutdown");
    CHECK_INT(client_call(c, NULL, 60000, NULL, NULL), 0);
    client_free(c);
    while (kill(pid, 0) == 0)
        (void)poll(NULL, 0, 2);
}

static uint32_t send_exec(struct client *c, const char *text, bool stream, bool stdin_open)
{
    struct json_w *w = client_begin(c, "exec");
    json_w_kstr(w, "text", text);
    json_w_kstr(w, "session", "a");
    json_w_kbool(w, "stream", stream);
    json_w_kbool(w, "stdinOpen", stdin_open);
    uint32_t channel;
    struct err err = {0};
    if (client_send(c, &channel, &err) < 0)
        FAIL("%s", err.text);
    return channel;
}

TEST(a_daemon_is_started_and_found_again)
{
    struct client *c = start(), *again = start();
    CHECK_INT(client_daemon_pid(c), client_daemon_pid(again));
    CHECK_STR(client_daemon_version(c), NACRE_VERSION);
    client_free(again);

    auto_arena struct arena arena;
    arena_init(&arena, 65536);
    struct json_w *w = client_begin(c, "exec");
    json_w_kstr(w, "text", "echo hi; exit 3");
    const struct json_node *result = NULL;
    CHECK_INT(client_call(c, &arena, CLIENT_WAIT, &result, NULL), 0);
    CHECK_STR(json_cstr(json_get(result, "output")), "hi\n");

    json_w_kstr(client_begin(c, "result"), "id", "c_none");
    struct err err = {0};
    CHECK_INT(client_call(c, &arena, CLIENT_WAIT, &result, &err), -ERR_NOT_FOUND);
    CHECK_STR(err.text, "no command 'c_none'");
    stop(c);
}

/* Each of many processes wants a daemon at the same moment. */
TEST_TIMEOUT(many_start_one, 120)
{
    enum { N = 16 };
    int go[2], out[2];
    CHECK_INT(io_pipe(go), 0);
    CHECK_INT(io_pipe(out), 0);
    pid_t pids[N];
    for (int i = 0; i < N; i++) {
        pids[i] = fork();
        CHECK(pids[i] >= 0);
        if (pids[i] == 0) {
            char byte;
            (void)close(go[1]);
            (void)io_read_full(go[0], &byte, 1);
            struct client *c = start();
            int64_t pid = client_daemon_pid(c);
            client_free(c);
            _exit(io_write_all(out[1], &pid, sizeof(pid)) < 0);
        }
    }
    (void)close(go[0]);
    (void)close(go[1]);
    int64_t first = 0;
    for (int i = 0; i < N; i++) {
        int64_t pid;
        CHECK_INT(io_read_full(out[0], &pid, sizeof(pid)), sizeof(pid));
        first = first ? first : pid;
        CHECK_INT(pid, first);
    }
    for (int i = 0; i < N; i++) {
        int status;
        CHECK_INT(waitpid(pids[i], &status, 0), pids[i]);
        CHECK_INT(status, 0);
    }
    (void)close(out[0]);
    (void)close(out[1]);
    stop(start());
}

TEST(a_daemon_that_was_killed_is_replaced)
{
    struct client *c = start();
    pid_t pid = (pid_t)client_daemon_pid(c);
    CHECK_INT(kill(pid, SIGKILL), 0);
    struct client_message m;
    struct err err = {0};
    CHECK_INT(client_next(c, CLIENT_WAIT, &m, &err), -ERR_CLOSED);
    client_free(c);
    c = start();
    CHECK(client_daemon_pid(c) != pid);
    stop(c);
}

TEST(output_and_input_are_exact)
{
    enum { TOTAL = 6 * 1024 * 1024, PIECE = 128 * 1024 };
    struct client *c = start();
    uint32_t channel = send_exec(c, "cat", true, true);
    auto_free char *piece = xmalloc(PIECE);
    for (size_t i = 0; i < PIECE; i++)
        piece[i] = (char)(i * 7 % 251);
    size_t sent = 0, got = 0;
    bool ended = false, over = false;
    while (!over) {
        struct err err = {0};
        if (sent < TOTAL && client_input_room(c, channel) >= PIECE) {
            CHECK_INT(client_input(c, channel, piece, PIECE, &err), 0);
            sent += PIECE;
            continue;
        }
        if (sent < TOTAL)
            CHECK_INT(client_input(c, channel, piece, PIECE, &err), -ERR_BUSY);
        else if (!ended)
            CHECK_INT(client_input_end(c, channel, &err), 0);
        ended = sent == TOTAL;
        struct client_message m;
        CHECK_INT(client_next(c, CLIENT_WAIT, &m, &err), 1);
        CHECK(m.what != CLIENT_ERROR && m.what != CLIENT_GAP);
        for (size_t i = 0; m.what == CLIENT_OUTPUT && i < m.len; i++, got++)
            CHECK(m.data[i] == piece[got % PIECE]);
        over = m.what == CLIENT_RESULT;
    }
    CHECK_INT(got, TOTAL);
    stop(c);
}

/* Both sides have more to say than fits between them. */
TEST(nobody_waits_for_the_other_for_ever)
{
    enum { REQUESTS = 400 };
    struct client *c = start();
    (void)send_exec(c, "head -c 8000000 /dev/zero", true, false);
    static char text[30000];
    memset(text, '#', sizeof(text) - 1);
    for (int i = 0; i < REQUESTS; i++) {
        struct json_w *w = client_begin(c, "ps");
        json_w_kstr(w, "session", "a");
        struct err err = {0};
        if (client_send(c, NULL, &err) < 0)
            FAIL("%s", err.text);
    }
    for (int i = 0; i < 3; i++) { /* over 64 KiB of text for one command: large answers too */
        struct json_w *w = client_begin(c, "exec");
        json_w_kstr(w, "text", text);
        CHECK_INT(client_send(c, NULL, NULL), 0);
    }
    size_t bytes = 0;
    for (int answers = 0; answers < REQUESTS + 4;) {
        struct client_message m;
        CHECK_INT(client_next(c, 30000, &m, NULL), 1);
        CHECK(m.what != CLIENT_ERROR);
        answers += m.what == CLIENT_RESULT;
        bytes += m.what == CLIENT_OUTPUT ? m.len : 0;
    }
    CHECK_INT(bytes, 8000000);
    stop(c);
}

TEST(what_comes_during_a_call_is_kept)
{
    struct client *c = start();
    uint32_t channel = send_exec(c, "echo one; read x; echo two", true, true);
    struct client_message m;
    do
        CHECK_INT(client_next(c, CLIENT_WAIT, &m, NULL), 1);
    while (m.what != CLIENT_OUTPUT);
    CHECK_MEM(m.data, m.len, "one\n", 4);
    CHECK_INT(client_input(c, channel, "\n", 1, NULL), 0);

    /* The answer of this comes when the other command has ended. */
    auto_arena struct arena arena;
    arena_init(&arena, 65536);
    struct json_w *w = client_begin(c, "wait");
    json_w_kuint(w, "channel", channel);
    json_w_kstr(w, "until", "exit");
    CHECK_INT(client_call(c, &arena, CLIENT_WAIT, NULL, NULL), 0);

    bool two = false;
    do {
        CHECK_INT(client_next(c, CLIENT_WAIT, &m, NULL), 1);
        two |= m.what == CLIENT_OUTPUT && m.len == 4 && memcmp(m.data, "two\n", 4) == 0;
    } while (m.what != CLIENT_RESULT);
    CHECK(two);
    CHECK_INT(m.channel, channel);
    stop(c);
}

TEST(a_caller_with_a_loop_polls)
{
    struct client *c = start();
    (void)send_exec(c, "sleep .1; echo x", true, false);
    struct client_message m = {0};
    int polls = 0;
    while (m.what != CLIENT_RESULT) {
        struct pollfd p = {.fd = client_fd(c), .events = POLLIN};
        CHECK_INT(poll(&p, 1, 10000), 1);
        polls++;
        for (int rc; (rc = client_next(c, 0, &m, NULL)) != 0;) {
            CHECK_INT(rc, 1);
            if (m.what == CLIENT_RESULT)
                break;
        }
    }
    CHECK(polls >= 1);
    stop(c);
}
