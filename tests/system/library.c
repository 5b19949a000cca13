/* SPDX-License-Identifier: MIT */
/*
 * The installed library, by its header alone. Every case runs twice: in a runtime
 * within the test, and through the daemon.
 */
#include "system/library.h"

#include <errno.h>
#include <nacre/nacre.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* ---- results ---- */

static void result_says_it_all(struct nacre *n)
{
    struct nacre_session *s = open_session(n);
    struct nacre_result *r = run_with(s, "cd /; echo out; echo err >&2; (exit 7)", NULL);
    size_t len = 0, survivors = 1;
    CHECK_INT(nacre_result_status(r), NACRE_STATUS_EXITED);
    CHECK_STR(nacre_result_status_name(r), "exited");
    CHECK(!nacre_result_running(r));
    CHECK_INT(nacre_result_exit_code(r), 7);
    CHECK_INT(nacre_result_signal(r), 0);
    CHECK_STR(nacre_result_stdout(r, &len), "out\n");
    CHECK_INT(len, 4);
    CHECK_STR(nacre_result_stderr(r, &len), "err\n");
    CHECK_INT(nacre_result_bytes(r, NACRE_OUTPUT), 8);
    CHECK_INT(nacre_result_bytes(r, NACRE_STDERR), 4);
    CHECK_INT(nacre_result_omitted(r, NACRE_OUTPUT), 0);
    CHECK_STR(nacre_result_cwd(r), "/");
    CHECK_INT(nacre_result_flags(r), 0);
    CHECK(nacre_result_duration(r) > 0 && nacre_result_duration(r) < 20000);
    CHECK(nacre_result_started(r) > 1600000000000);
    CHECK(!nacre_result_limit(r));
    CHECK(!nacre_result_survivors(r, &survivors));
    CHECK_INT(survivors, 0);
    CHECK_STR(nacre_result_session_id(r), nacre_session_id(s));
    CHECK(strncmp(nacre_result_id(r), "c_", 2) == 0);
    CHECK(strstr(nacre_result_json(r), "\"exitCode\":7"));
    CHECK(strstr(nacre_result_json(r), "\"stdout\":\"out\\n\""));
    nacre_result_free(r);
    end_session(s);
}

static void bytes_survive(struct nacre *n)
{
    static const char expected[] = "a\0b\377\376\n";
    struct nacre_session *s = open_session(n);
    struct nacre_result *r = run_with(s, "printf 'a\\0b\\377\\376\\n'; printf '\\0' >&2", NULL);
    size_t len = 0;
    const char *out = nacre_result_stdout(r, &len);
    CHECK_MEM(out, len, expected, sizeof(expected) - 1);
    (void)nacre_result_stderr(r, &len);
    CHECK_INT(len, 1);
    nacre_result_free(r);
    end_session(s);
}

static void signals_are_told(struct nacre *n)
{
    struct nacre_session *s = open_session(n);
    struct nacre_result *r = run_with(s, "kill -TERM $BASHPID; (kill -KILL $BASHPID)", NULL);
    CHECK_INT(nacre_result_exit_code(r), 137);
    nacre_result_free(r);
    r = run_with(s, "kill -KILL $$", NULL);
    CHECK_INT(nacre_result_exit_code(r), 137);
    CHECK_INT(nacre_result_signal(r), SIGKILL);
    nacre_result_free(r);
    end_session(s);
}

static void state_outlives_the_shell(struct nacre *n)
{
    struct nacre_session *s = open_session(n);
    expect(s, "cd /usr; x='a b'; f() { echo \"f $x\"; }", "");
    struct nacre_result *r = run_with(s, "exit 3", NULL);
    CHECK_INT(nacre_result_exit_code(r), 3);
    nacre_result_free(r);
    r = run_with(s, "f; pwd", NULL);
    CHECK_STR(nacre_result_stdout(r, NULL), "f a b\n/usr\n");
    CHECK_INT(nacre_result_flags(r), NACRE_FLAG_RESTORED);
    nacre_result_free(r);
    end_session(s);
}

/* ---- output ---- */

struct collected {
    size_t bytes[3];
    size_t calls;
    unsigned sum;
};

static void collect(void *ctx, enum nacre_stream stream, const char *bytes, size_t len)
{
    struct collected *c = ctx;
    c->calls++;
    c->bytes[stream] += len;
    for (size_t i = 0; i < len; i++)
        c->sum = c->sum * 31 + (unsigned char)bytes[i];
}

static void output_is_live(struct nacre *n)
{
    struct collected live = {0};
    struct nacre_session *s = open_session(n);
    struct nacre_result *r =
        run_with(s, "echo one; sleep 0.2; echo two >&2",
                 OPTIONS(nacre_exec_options, .on_output = collect, .ctx = &live));
    CHECK_INT(live.bytes[NACRE_STDOUT], 4);
    CHECK_INT(live.bytes[NACRE_STDERR], 4);
    CHECK_INT(live.calls, 2);
    nacre_result_free(r);
    end_session(s);
}

static void large_output_is_cut_and_kept(struct nacre *n)
{
    struct collected live = {0}, read = {0};
    struct nacre_session *s = open_session(n);
    struct nacre_result *r =
        run_with(s, "seq 1 200000; echo the end >&2",
                 OPTIONS(nacre_exec_options, .on_output = collect, .ctx = &live));
    size_t len;
    CHECK_INT(nacre_result_bytes(r, NACRE_STDOUT), 1288895);
    CHECK(nacre_result_omitted(r, NACRE_STDOUT) > 1000000);
    CHECK_INT(nacre_result_flags(r), NACRE_FLAG_TRUNCATED);
    const char *out = nacre_result_stdout(r, &len);
    CHECK(len > 60000 && len < 66000);
    CHECK(strncmp(out, "1\n2\n3\n", 6) == 0);
    CHECK_STR(out + len - 7, "200000\n");
    CHECK_STR(nacre_result_stderr(r, NULL), "the end\n");
    CHECK_INT(live.bytes[NACRE_STDOUT], 1288895);

    struct nacre_command *c = NULL;
    OK(nacre_command_find(n, nacre_result_id(r), &c, &error));
    struct nacre_log log = {.size = sizeof(log), .on_output = collect, .ctx = &read};
    OK(nacre_command_log(c, &log, &error));
    CHECK(log.ended);
    CHECK_INT(log.bytes + log.lost, 1288895 + 8);
    CHECK_INT(log.cursor, 1288895 + 8);
    if (log.lost == 0)
        CHECK_INT(read.sum, live.sum);
    OK(nacre_command_log(c, &log, &error));
    CHECK_INT(log.bytes, 0);
    nacre_command_free(c);
    nacre_result_free(r);
    end_session(s);
}

static void logs_are_read_by_cursor(struct nacre *n)
{
    struct collected read = {0};
    struct nacre_command *c = NULL;
    struct nacre_session *s = open_session(n);
    OK(nacre_start(s, "echo one; sleep 0.3; echo two", NACRE_TEXT, NULL, &c, &error));
    struct nacre_log log = {
        .size = sizeof(log), .wait_ms = 20000, .on_output = collect, .ctx = &read};
    OK(nacre_command_log(c, &log, &error));
    CHECK_INT(log.cursor, 4);
    CHECK(!log.ended);
    log.wait_ms = 0;
    OK(nacre_command_log(c, &log, &error));
    CHECK_INT(log.bytes, 0);
    log.wait_ms = -1;
    OK(nacre_command_log(c, &log, &error));
    CHECK_INT(log.cursor, 8);
    while (!log.ended)
        OK(nacre_command_log(c, &log, &error));
    CHECK_INT(read.bytes[NACRE_STDOUT], 8);
    log.cursor = 100;
    FAILS(NACRE_ERR_INVALID, nacre_command_log(c, &log, &error));
    nacre_command_free(c);
    end_session(s);
}

/* ---- input ---- */

static void input_is_given_at_the_start(struct nacre *n)
{
    static const char data[] = "a\0b\377";
    struct nacre_session *s = open_session(n);
    struct nacre_result *r = run_with(
        s, "wc -c", OPTIONS(nacre_exec_options, .stdin_data = data, .stdin_len = sizeof(data)));
    CHECK_INT(strtol(nacre_result_stdout(r, NULL), NULL, 10), sizeof(data));
    nacre_result_free(r);
    expect(s, "wc -c </dev/stdin", "0\n");
    end_session(s);
}

static void input_follows(struct nacre *n)
{
    struct nacre_command *c = NULL;
    struct nacre_result *r = NULL;
    struct nacre_session *s = open_session(n);
    OK(nacre_start(s, "read -r line; echo \"got $line\"; wc -c", NACRE_TEXT,
                   OPTIONS(nacre_exec_options, .stdin_open = true), &c, &error));
    OK(nacre_command_input(c, "hello\n", 6, &error));
    OK(nacre_command_wait_log(c, "got hello", false, 20000, NULL, &error));
    OK(nacre_command_input(c, "abc", 3, &error));
    OK(nacre_command_input_end(c, &error));
    OK(nacre_command_wait(c, -1, &r, &error));
    CHECK_STR(nacre_result_stdout(r, NULL), "got hello\n3\n");
    FAILS(NACRE_ERR_EXITED, nacre_command_input(c, "x", 1, &error));
    nacre_result_free(r);
    nacre_command_free(c);
    end_session(s);
}

/* ---- options ---- */

static void options_are_for_one_command(struct nacre *n)
{
    static const char *const env[] = {"ONCE=1 2", NULL};
    struct nacre_session *s = open_session(n);
    struct nacre_result *r =
        run_with(s, "echo \"$ONCE $PWD\"", OPTIONS(nacre_exec_options, .cwd = "/usr", .env = env));
    CHECK_STR(nacre_result_stdout(r, NULL), "1 2 /usr\n");
    nacre_result_free(r);
    expect(s, "echo \"[$ONCE]\"; cd /", "[]\n");
    end_session(s);
}

static void session_options_count(struct nacre *n)
{
    static const char *const env[] = {"OF_SESSION=yes", NULL};
    struct nacre_session *s = NULL, *same = NULL;
    const struct nacre_session_options *o =
        OPTIONS(nacre_session_options, .id = "my.session-1", .cwd = "/usr", .env = env);
    OK(nacre_session_open(n, o, &s, &error));
    CHECK_STR(nacre_session_id(s), "my.session-1");
    expect(s, "echo \"$OF_SESSION $PWD\"", "yes /usr\n");
    FAILS(NACRE_ERR_EXISTS, nacre_session_open(n, o, &same, &error));
    OK(nacre_session_open(
        n, OPTIONS(nacre_session_options, .id = "my.session-1", .may_exist = true), &same, &error));
    expect(same, "echo $OF_SESSION", "yes\n");
    nacre_session_free(same);
    end_session(s);
}

/* ---- time ---- */

static void time_runs_out(struct nacre *n)
{
    struct nacre_session *s = open_session(n);
    struct nacre_result *r =
        run_with(s, "echo before; sleep 60", OPTIONS(nacre_exec_options, .timeout_ms = 200));
    CHECK_INT(nacre_result_status(r), NACRE_STATUS_TIMED_OUT);
    CHECK_INT(nacre_result_exit_code(r), 124);
    CHECK(nacre_result_flags(r) & NACRE_FLAG_TIMED_OUT);
    CHECK_STR(nacre_result_stdout(r, NULL), "before\n");
    nacre_result_free(r);
    expect(s, "echo alive", "alive\n");
    end_session(s);
}

static void exec_yields(struct nacre *n)
{
    struct nacre_command *c = NULL;
    struct nacre_session *s = open_session(n);
    struct nacre_result *r =
        run_with(s, "echo a; sleep 0.4; echo b", OPTIONS(nacre_exec_options, .yield_ms = 150));
    CHECK(nacre_result_running(r));
    CHECK_INT(nacre_result_exit_code(r), -1);
    CHECK_STR(nacre_result_stdout(r, NULL), "a\n");
    OK(nacre_command_find(n, nacre_result_id(r), &c, &error));
    nacre_result_free(r);
    FAILS(NACRE_ERR_TIMEOUT, nacre_command_wait(c, 0, NULL, &error));
    OK(nacre_command_wait(c, -1, &r, &error));
    CHECK_STR(nacre_result_stdout(r, NULL), "a\nb\n");
    CHECK_INT(nacre_result_status(r), NACRE_STATUS_EXITED);
    nacre_result_free(r);
    nacre_command_free(c);
    end_session(s);
}

static void commands_are_stopped(struct nacre *n)
{
    struct nacre_command *c = NULL;
    struct nacre_result *r = NULL;
    struct nacre_session *s = open_session(n);
    OK(nacre_start(s, "echo on; while :; do :; done", NACRE_TEXT, NULL, &c, &error));
    OK(nacre_command_wait_log(c, "on", false, -1, NULL, &error));
    OK(nacre_command_stop(c, &error));
    OK(nacre_command_wait(c, 20000, &r, &error));
    CHECK_INT(nacre_result_status(r), NACRE_STATUS_CANCELLED);
    nacre_result_free(r);
    nacre_command_free(c);
    expect(s, "echo alive", "alive\n");
    end_session(s);
}

static void signals_are_sent(struct nacre *n)
{
    struct nacre_command *c = NULL;
    struct nacre_result *r = NULL;
    struct nacre_session *s = open_session(n);
    OK(nacre_start(s, "trap 'echo usr1; exit 4' USR1; echo on; while :; do sleep 0.05; done",
                   NACRE_TEXT, OPTIONS(nacre_exec_options, .background = true), &c, &error));
    OK(nacre_command_wait_log(c, "on", false, -1, NULL, &error));
    OK(nacre_command_signal(c, SIGUSR1, &error));
    OK(nacre_command_wait(c, 20000, &r, &error));
    nacre_result_free(r);
    FAILS(NACRE_ERR_EXITED, nacre_command_signal(c, SIGUSR1, &error));
    nacre_command_free(c);
    end_session(s);
}

/* ---- background ---- */

static void servers_are_waited_for(struct nacre *n)
{
    struct nacre_command *c = NULL;
    struct nacre_result *r = NULL;
    char *line = NULL;
    struct nacre_session *s = open_session(n);
    OK(nacre_start(s,
                   "exec python3 -u -c 'import socket,time\n"
                   "s=socket.socket(); s.bind((\"127.0.0.1\",0)); s.listen()\n"
                   "print(\"port\",s.getsockname()[1],flush=True)\n"
                   "time.sleep(60)'",
                   NACRE_TEXT, OPTIONS(nacre_exec_options, .background = true), &c, &error));
    OK(nacre_command_wait_log(c, "^port \\d+$", true, 20000, &line, &error));
    long port = strtol(line + 5, NULL, 10);
    nacre_free(line);
    OK(nacre_command_wait_port(c, NULL, (uint16_t)port, 20000, &error));
    FAILS(NACRE_ERR_TIMEOUT, nacre_command_wait_log(c, "never", false, 50, NULL, &error));
    expect(s, "echo free", "free\n");
    OK(nacre_command_result(c, &r, &error));
    CHECK(nacre_result_running(r));
    CHECK(nacre_result_pid(r) > 0);
    nacre_result_free(r);
    OK(nacre_command_stop(c, &error));
    OK(nacre_command_wait(c, 20000, NULL, &error));
    FAILS(NACRE_ERR_EXITED, nacre_command_wait_log(c, "never", false, -1, NULL, &error));
    nacre_command_free(c);
    end_session(s);
}

static void terminals_have_a_size(struct nacre *n)
{
    struct nacre_command *c = NULL;
    struct nacre_session *s = open_session(n);
    OK(nacre_start(
        s, "stty size; read -r x; stty size", NACRE_TEXT,
        OPTIONS(nacre_exec_options, .background = true, .pty = true, .rows = 30, .cols = 100), &c,
        &error));
    OK(nacre_command_wait_log(c, "30 100", false, 20000, NULL, &error));
    OK(nacre_command_resize(c, 40, 120, &error));
    OK(nacre_command_input(c, "\n", 1, &error));
    OK(nacre_command_wait_log(c, "40 120", false, 20000, NULL, &error));
    OK(nacre_command_wait(c, 20000, NULL, &error));
    nacre_command_free(c);
    end_session(s);
}

static void survivors_are_named(struct nacre *n)
{
    struct nacre_command *c = NULL;
    struct nacre_session *s = open_session(n);
    struct nacre_result *r = run_with(s, "sleep 60 & echo done", NULL);
    size_t n_survivors = 0;
    CHECK_STR(nacre_result_stdout(r, NULL), "done\n");
    const pid_t *pids = nacre_result_survivors(r, &n_survivors);
    CHECK_INT(n_survivors, 1);
    CHECK_INT(kill(pids[0], 0), 0);
    OK(nacre_command_find(n, nacre_result_id(r), &c, &error));
    OK(nacre_command_stop(c, &error));
    nacre_command_free(c);
    nacre_result_free(r);
    end_session(s);
}

/* ---- callbacks ---- */

struct chain {
    struct nacre_session *session;
    struct nacre_command *command;
    int left;
    int busy; /* what a call that waits said in a callback */
};

static void go_on(void *ctx, const struct nacre_result *result)
{
    struct chain *chain = ctx;
    CHECK_STR(nacre_result_stdout(result, NULL), "x\n");
    chain->busy = nacre_exec(chain->session, ":", 1, NULL, NULL, NULL);
    nacre_command_free(chain->command);
    chain->command = NULL;
    if (--chain->left > 0)
        OK(nacre_start(chain->session, "echo x", NACRE_TEXT,
                       OPTIONS(nacre_exec_options, .on_result = go_on, .ctx = chain),
                       &chain->command, &error));
}

/* The next command is started, and the handle freed, by the callback of the one before. */
static void callbacks_start_the_next(struct nacre *n)
{
    struct chain chain = {.session = open_session(n), .left = 5};
    OK(nacre_start(chain.session, "echo x", NACRE_TEXT,
                   OPTIONS(nacre_exec_options, .on_result = go_on, .ctx = &chain), &chain.command,
                   &error));
    while (chain.left > 0)
        OK(nacre_command_wait(chain.command, -1, NULL, &error));
    CHECK_INT(chain.busy, -NACRE_ERR_BUSY);
    CHECK(!chain.command);
    end_session(chain.session);
}

/* A turn of a loop that is not the library's; it sleeps at most 20 s. */
static void turn_of_another(struct nacre *n)
{
    enum { LONG_MS = 20000 };
    struct pollfd p = {.fd = nacre_poll_fd(n), .events = POLLIN};
    int timeout_ms = nacre_poll_timeout(n);
    CHECK(p.fd >= 0);
    CHECK(poll(&p, 1, timeout_ms < 0 || timeout_ms > LONG_MS ? LONG_MS : timeout_ms) >= 0);
    OK(nacre_dispatch(n, &error));
}

static void loops_of_others_drive_it(struct nacre *n)
{
    struct chain chain = {.session = open_session(n), .left = 3};
    OK(nacre_start(chain.session, "sleep 0.1; echo x", NACRE_TEXT,
                   OPTIONS(nacre_exec_options, .on_result = go_on, .ctx = &chain), &chain.command,
                   &error));
    for (int turns = 0; chain.left > 0 && turns < 1000; turns++)
        turn_of_another(n);
    CHECK_INT(chain.left, 0);
    end_session(chain.session);
}

static void count_result(void *ctx, const struct nacre_result *result)
{
    (void)result;
    ++*(int *)ctx;
}

/* While a command sleeps so does the loop; and the time limit wakes it. */
static void loops_of_others_sleep(struct nacre *n)
{
    struct nacre_command *c = NULL;
    struct nacre_session *s = open_session(n);
    int n_results = 0, turns = 0;
    expect(s, "echo warm", "warm\n");
    OK(nacre_start(s, "sleep 60", NACRE_TEXT,
                   OPTIONS(nacre_exec_options, .timeout_ms = 1000, .on_result = count_result,
                           .ctx = &n_results),
                   &c, &error));
    for (; n_results == 0 && turns < 1000; turns++)
        turn_of_another(n);
    CHECK_INT(n_results, 1);
    CHECK(turns < 100); /* some for the start, some for the end; a loop that spins has thousands */
    nacre_command_free(c);
    end_session(s);
}

/* ---- sessions ---- */

static void sessions_are_listed_and_found(struct nacre *n)
{
    struct nacre_session *a = open_session(n), *b = open_session(n), *found = NULL;
    char **ids = NULL, *json = NULL;
    int seen = 0;
    OK(nacre_session_list(n, &ids, &error));
    for (size_t i = 0; ids[i]; i++)
        seen +=
            strcmp(ids[i], nacre_session_id(a)) == 0 || strcmp(ids[i], nacre_session_id(b)) == 0;
    CHECK_INT(seen, 2);
    nacre_free(ids);
    expect(a, "v=of-a", "");
    OK(nacre_session_find(n, nacre_session_id(a), &found, &error));
    expect(found, "echo $v", "of-a\n");
    OK(nacre_session_show(found, &json, &error));
    CHECK(strstr(json, nacre_session_id(a)));
    nacre_free(json);
    nacre_session_free(found);
    FAILS(NACRE_ERR_NOT_FOUND, nacre_session_find(n, "nobody", &found, &error));
    end_session(a);
    FAILS(NACRE_ERR_NOT_FOUND, nacre_session_find(n, "nobody", &found, &error));
    end_session(b);
}

static void sessions_are_forked(struct nacre *n)
{
    struct nacre_session *a = open_session(n), *b = NULL;
    expect(a, "v=1; cd /usr", "");
    OK(nacre_session_fork(a, NULL, &b, &error));
    CHECK(strcmp(nacre_session_id(a), nacre_session_id(b)) != 0);
    expect(b, "echo $v $PWD; v=2", "1 /usr\n");
    expect(a, "echo $v", "1\n");
    end_session(a);
    end_session(b);
}

static void sessions_go_back(struct nacre *n)
{
    struct nacre_session *s = open_session(n);
    expect(s, "v=1; cd /usr", "");
    OK(nacre_session_snapshot(s, "before", &error));
    expect(s, "v=2; cd /", "");
    OK(nacre_session_restore(s, "before", &error));
    expect(s, "echo $v $PWD", "1 /usr\n");
    FAILS(NACRE_ERR_NOT_FOUND, nacre_session_restore(s, "never", &error));
    FAILS(NACRE_ERR_INVALID, nacre_session_snapshot(s, "../x", &error));
    OK(nacre_session_reset(s, &error));
    expect(s, "echo \"[$v]\"", "[]\n");
    end_session(s);
}

static void sessions_move(struct nacre *n)
{
    struct nacre_session *a = open_session(n), *b = NULL;
    char *file = NULL;
    size_t len = 0;
    expect(a, "v='x y'; f() { echo \"f:$v\"; }", "");
    OK(nacre_session_export(a, &file, &len, &error));
    CHECK_INT(strlen(file), len);
    end_session(a);
    OK(nacre_session_import(n, file, len, "moved", &b, &error));
    CHECK_STR(nacre_session_id(b), "moved");
    expect(b, "f", "f:x y\n");
    end_session(b);
    FAILS(NACRE_ERR_SYNTAX, nacre_session_import(n, "{", 1, NULL, &b, &error));
    static const char ends[] =
        "{\"nacreSession\":1,\"id\":\"ends\",\"state\":\"# nacre shell state 1\\nexit 3\"}";
    FAILS(NACRE_ERR_INVALID, nacre_session_import(n, ends, sizeof(ends) - 1, NULL, &b, &error));
    FAILS(NACRE_ERR_NOT_FOUND, nacre_session_find(n, "ends", &b, &error));
    nacre_free(file);
}

static void commands_are_listed(struct nacre *n)
{
    char *json = NULL;
    struct nacre_session *s = open_session(n);
    struct nacre_result *r = run_with(s, "echo 'marker 1'", NULL);
    OK(nacre_command_list(n, nacre_session_id(s), true, &json, &error));
    CHECK(strstr(json, nacre_result_id(r)));
    nacre_free(json);
    FAILS(NACRE_ERR_NOT_FOUND, nacre_command_list(n, "nobody", true, &json, &error));
    nacre_result_free(r);
    end_session(s);
}

/* ---- bad input ---- */

static void bad_arguments_are_named(struct nacre *n)
{
    struct nacre_session *s = open_session(n), *other = NULL;
    struct nacre_result *r = NULL;
    struct nacre_command *c = NULL;
    FAILS(NACRE_ERR_INVALID, nacre_exec(s, "a\0b", 3, NULL, &r, &error));
    FAILS(NACRE_ERR_INVALID,
          nacre_exec(s, ":", 1, &(const struct nacre_exec_options){0}, &r, &error));
    FAILS(NACRE_ERR_INVALID,
          nacre_exec(s, ":", 1, OPTIONS(nacre_exec_options, .timeout_ms = -1), &r, &error));
    FAILS(NACRE_ERR_INVALID,
          nacre_exec(s, ":", 1, OPTIONS(nacre_exec_options, .yield_ms = -1), &r, &error));
    FAILS(NACRE_ERR_INVALID,
          nacre_exec(s, ":", 1, OPTIONS(nacre_exec_options, .pty = true), &r, &error));
    FAILS(NACRE_ERR_INVALID,
          nacre_session_open(n, OPTIONS(nacre_session_options, .id = "../x"), &other, &error));
    FAILS(NACRE_ERR_INVALID,
          nacre_session_open(n, OPTIONS(nacre_session_options, .cwd = "relative"), &other, &error));
    FAILS(NACRE_ERR_NOT_FOUND, nacre_command_find(n, "c_nobody", &c, &error));
    FAILS(NACRE_ERR_NOT_FOUND,
          nacre_command_find(n, "a-name-that-is-longer-than-any-id-can-ever-be", &c, &error));
    expect(s, "echo fine", "fine\n");
    end_session(s);
}

static void texts_have_a_maximum(struct nacre *n)
{
    enum { MAX = 1024 * 1024 };
    char *text = malloc(MAX + 1);
    struct nacre_result *r = NULL;
    struct nacre_session *s = open_session(n);
    static const char head[] = "echo '", tail[] = "' | wc -c";
    memset(text, ' ', MAX + 1);
    for (size_t i = 0; head[i]; i++)
        text[i] = head[i];
    for (size_t i = 0; tail[i]; i++)
        text[MAX - 10 + i] = tail[i];
    OK(nacre_exec(s, text, MAX, NULL, &r, &error));
    CHECK_INT(strtol(nacre_result_stdout(r, NULL), NULL, 10), MAX - 10 - 6 + 1);
    nacre_result_free(r);
    FAILS(NACRE_ERR_LIMIT, nacre_exec(s, text, MAX + 1, NULL, &r, &error));
    free(text);
    end_session(s);
}

/* A program that was built for a header with one field more. */
static void newer_programs_are_served(struct nacre *n)
{
    struct {
        struct nacre_exec_options o;
        long added;
    } newer = {.o = {.size = sizeof(newer)}};
    struct nacre_session *s = open_session(n);
    struct nacre_result *r = run_with(s, "echo x", &newer.o);
    nacre_result_free(r);
    newer.added = 1;
    FAILS(NACRE_ERR_UNSUPPORTED, nacre_exec(s, ":", 1, &newer.o, &r, &error));
    end_session(s);
}

/* ---- the cases, once for each way ---- */

static const struct lib_case {
    const char *name;
    void (*body)(struct nacre *n);
} cases[] = {
    {"result_says_it_all",            result_says_it_all           },
    {"bytes_survive",                 bytes_survive                },
    {"signals_are_told",              signals_are_told             },
    {"state_outlives_the_shell",      state_outlives_the_shell     },
    {"output_is_live",                output_is_live               },
    {"large_output_is_cut_and_kept",  large_output_is_cut_and_kept },
    {"logs_are_read_by_cursor",       logs_are_read_by_cursor      },
    {"input_is_given_at_the_start",   input_is_given_at_the_start  },
    {"input_follows",                 input_follows                },
    {"options_are_for_one_command",   options_are_for_one_command  },
    {"session_options_count",         session_options_count        },
    {"time_runs_out",                 time_runs_out                },
    {"exec_yields",                   exec_yields                  },
    {"commands_are_stopped",          commands_are_stopped         },
    {"signals_are_sent",              signals_are_sent             },
    {"servers_are_waited_for",        servers_are_waited_for       },
    {"terminals_have_a_size",         terminals_have_a_size        },
    {"survivors_are_named",           survivors_are_named          },
    {"callbacks_start_the_next",      callbacks_start_the_next     },
    {"loops_of_others_drive_it",      loops_of_others_drive_it     },
    {"loops_of_others_sleep",         loops_of_others_sleep        },
    {"sessions_are_listed_and_found", sessions_are_listed_and_found},
    {"sessions_are_forked",           sessions_are_forked          },
    {"sessions_go_back",              sessions_go_back             },
    {"sessions_move",                 sessions_move                },
    {"commands_are_listed",           commands_are_listed          },
    {"bad_arguments_are_named",       bad_arguments_are_named      },
    {"texts_have_a_maximum",          texts_have_a_maximum         },
    {"newer_programs_are_served",     newer_programs_are_served    },
};
enum { N_CASES = sizeof(cases) / sizeof(cases[0]) };

static void run_embedded(const struct test_case *test)
{
    struct nacre *n = NULL;
    OK(nacre_open(NULL, &n, &error));
    ((const struct lib_case *)test->arg)->body(n);
    nacre_close(n);
}

/* Ends the daemon behind a socket and waits until it is gone. */
static void end_daemon(const char *path)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    struct ucred peer = {0};
    socklen_t len = sizeof(peer);
    (void)snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_INT(connect(fd, (const struct sockaddr *)&addr, sizeof(addr)), 0);
    CHECK_INT(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len), 0);
    (void)close(fd);
    CHECK_INT(kill(peer.pid, SIGTERM), 0);
    for (int i = 0; i < 1000 && kill(peer.pid, 0) == 0; i++)
        usleep(10000);
}

static void run_connected(const struct test_case *test)
{
    struct nacre *n = NULL;
    char path[100];
    if (access(test_env("NACRED"), X_OK) < 0)
        SKIP("no daemon is built");
    (void)snprintf(path, sizeof(path), "%s/s", test_dir());
    CHECK_INT(setenv("NACRE_SOCKET", path, 1) | setenv("XDG_STATE_HOME", test_dir(), 1), 0);
    OK(nacre_connect(NULL, &n, &error));
    ((const struct lib_case *)test->arg)->body(n);
    nacre_close(n);
    end_daemon(path);
}

static void add(struct test_case *test, const char *way, void (*body)(const struct test_case *),
                const struct lib_case *lib_case)
{
    static char names[2 * N_CASES][64];
    static size_t n_names;
    char *name = names[n_names++];
    (void)snprintf(name, sizeof(names[0]), "%s_%s", way, lib_case->name);
    *test = (struct test_case){.name = name,
                               .body = body,
                               .timeout_s = TEST_TIMEOUT_S,
                               .arg = (void *)(uintptr_t)lib_case};
    test_add(test);
}

void test_collect(void)
{
    static struct test_case tests[2 * N_CASES];
    for (size_t i = 0; i < N_CASES; i++)
        add(&tests[i], "embedded", run_embedded, &cases[i]);
    for (size_t i = 0; i < N_CASES; i++)
        add(&tests[N_CASES + i], "connected", run_connected, &cases[i]);
}
