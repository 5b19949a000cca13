/* SPDX-License-Identifier: MIT */
/* The installed library: opening and closing runtimes, and what outlives them. */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>

#include "system/library.h"

TEST(version_is_told)
{
    CHECK(strchr(nacre_version(), '.'));
}

TEST(no_error_has_a_text_too)
{
    CHECK_INT(nacre_error_code(NULL), 0);
    CHECK_STR(nacre_error_message(NULL), "no error");
    nacre_error_free(NULL);
}

TEST(directories_are_checked)
{
    struct nacre *n = NULL;
    FAILS(NACRE_ERR_INVALID, nacre_open(OPTIONS(nacre_options, .run_dir = "relative"), &n, &error));
    FAILS(ENOENT, nacre_open(OPTIONS(nacre_options, .state_dir = "/no/such/dir"), &n, &error));
}

/* A runtime with nothing to do wakes nobody, and a closed one has nothing to poll. */
TEST(an_idle_runtime_lets_loops_sleep)
{
    struct nacre *n = NULL;
    OK(nacre_open(NULL, &n, &error));
    CHECK(nacre_poll_fd(n) >= 0);
    int sleeps = 0;
    for (int i = 0; i < 100 && sleeps == 0; i++) {
        struct pollfd p = {.fd = nacre_poll_fd(n), .events = POLLIN};
        int timeout_ms = nacre_poll_timeout(n);
        sleeps = (timeout_ms < 0 || timeout_ms >= 100) && poll(&p, 1, 100) == 0;
        OK(nacre_dispatch(n, &error));
    }
    CHECK_INT(sleeps, 1);
    struct nacre_session *s = open_session(n);
    nacre_close(n);
    CHECK_INT(nacre_poll_fd(n), -1); /* the handle of the session keeps it valid */
    CHECK_INT(nacre_poll_timeout(n), -1);
    nacre_session_free(s);
}

TEST(no_daemon_is_an_error)
{
    struct nacre *n = NULL;
    char path[100];
    (void)snprintf(path, sizeof(path), "%s/nobody", test_dir());
    FAILS(NACRE_ERR_CLOSED, nacre_connect(path, &n, &error));
}

TEST(handles_outlive_the_runtime)
{
    struct nacre *n = NULL;
    struct nacre_command *c = NULL;
    struct nacre_result *r = NULL;
    OK(nacre_open(NULL, &n, &error));
    struct nacre_session *s = open_session(n);
    r = run_with(s, "echo kept", NULL);
    OK(nacre_start(s, "sleep 60", NACRE_TEXT, NULL, &c, &error));
    nacre_close(n);
    CHECK_STR(nacre_result_output(r, NULL), "kept\n");
    CHECK(!nacre_result_json(r));
    FAILS(NACRE_ERR_CLOSED, nacre_exec(s, ":", 1, NULL, NULL, &error));
    FAILS(NACRE_ERR_CLOSED, nacre_command_stop(c, &error));
    FAILS(NACRE_ERR_CLOSED, nacre_session_close(s, &error));
    nacre_result_free(r);
    nacre_command_free(c);
    nacre_session_free(s);
}

TEST(runtimes_are_apart)
{
    struct nacre *a = NULL, *b = NULL;
    struct nacre_session *found = NULL;
    OK(nacre_open(NULL, &a, &error));
    OK(nacre_open(NULL, &b, &error));
    struct nacre_session *s = open_session(a);
    FAILS(NACRE_ERR_NOT_FOUND, nacre_session_find(b, nacre_session_id(s), &found, &error));
    end_session(s);
    nacre_close(a);
    nacre_close(b);
}

TEST(shells_wait_in_a_pool)
{
    struct nacre *n = NULL;
    OK(nacre_open(OPTIONS(nacre_options, .pool = 2), &n, &error));
    for (int i = 0; i < 5; i++) {
        struct nacre_session *s = NULL;
        OK(nacre_session_open(n, OPTIONS(nacre_session_options, .cwd = "/usr"), &s, &error));
        expect(s, "pwd; sleep 0.02", "/usr\n");
        end_session(s);
    }
    nacre_close(n);
}
