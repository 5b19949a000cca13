/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"
#include "client/client.h"
#include "json/write.h"
#include "lib/test.h"
#include "wire/frame.h"

static void check_connect(const struct client_options *options, int code, const char *text)
{
    struct client *c = NULL;
    struct err err = {0};
    CHECK_INT(client_connect(options, &c, &err), -code);
    CHECK(c == NULL);
    if (!strstr(err.text, text))
        FAIL("\"%s\" is not in \"%s\"", text, err.text);
}

static char *path_of(const char *name, char ret[200])
{
    (void)snprintf(ret, 200, "%s/%s", test_dir(), name);
    return ret;
}

TEST(nobody_listens)
{
    char path[200];
    (void)chmod(".", 0700);
    struct client_options options = {.socket = path_of("s", path), .no_start = true};
    check_connect(&options, ERR_CLOSED, "no daemon listens on '");
    options.socket = path_of("none/s", path);
    check_connect(&options, ERR_CLOSED, "no daemon listens on '");
}

TEST(a_directory_that_others_may_write_is_not_trusted)
{
    char path[200];
    CHECK_INT(mkdir("d", 0700), 0);
    CHECK_INT(chmod("d", 0777), 0);
    struct client_options options = {.socket = path_of("d/s", path), .no_start = true};
    check_connect(&options, ERR_DENIED, "expected one that only this user may write");
    CHECK_INT(chmod("d", 01777), 0);
    check_connect(&options, ERR_DENIED, "expected one that only this user may write");
}

TEST(a_path_may_be_too_long)
{
    char path[200];
    memset(path, 'x', sizeof(path));
    path[0] = '/';
    path[sizeof(path) - 1] = '\0';
    struct client_options options = {.socket = path, .no_start = true};
    check_connect(&options, ERR_INVALID, "longer than the 107 bytes that are possible");
}

TEST(the_environment_names_the_socket)
{
    auto_buf struct buf path = BUF_INIT(1000);
    struct err err = {0};
    CHECK_INT(setenv("NACRE_SOCKET", "/x/y", 1), 0);
    CHECK_INT(client_socket_path(&path, &err), 0);
    CHECK_STR(buf_cstr(&path), "/x/y");
    CHECK_INT(setenv("NACRE_SOCKET", "y", 1), 0);
    CHECK_INT(client_socket_path(&path, &err), -ERR_INVALID);
    CHECK_STR(err.text, "NACRE_SOCKET is 'y': expected an absolute path");
    CHECK_INT(setenv("NACRE_SOCKET", "", 1), 0);
    CHECK_INT(client_socket_path(&path, &err), 0);
    CHECK(strstr(buf_cstr(&path), "/nacred.sock") != NULL);
}

static void write_script(const char *name, const char *text)
{
    CHECK_INT(io_write_file(AT_FDCWD, name, text, strlen(text), 0755, NULL), 0);
}

TEST(the_environment_names_the_daemon)
{
    auto_buf struct buf path = BUF_INIT(1000);
    struct err err = {0};
    CHECK_INT(setenv("NACRED", "/none/nacred", 1), 0);
    CHECK_INT(client_find_daemon(&path, &err), -ERR_NOT_FOUND);
    CHECK_STR(err.text, "NACRED is '/none/nacred': No such file or directory");
    CHECK_INT(unsetenv("NACRED"), 0);
    CHECK_INT(mkdir("bin", 0700), 0);
    write_script("bin/nacred", "#!/bin/sh\n");
    char want[200];
    CHECK_INT(setenv("PATH", path_of("bin", want), 1), 0);
    CHECK_INT(client_find_daemon(&path, &err), 0);
    CHECK(strstr(buf_cstr(&path), "/nacred") != NULL);
}

TEST(a_daemon_that_does_not_start_says_why)
{
    char path[200], program[200];
    (void)chmod(".", 0700);
    struct client_options options = {.socket = path_of("s", path),
                                     .nacred = path_of("nacred", program)};
    check_connect(&options, ERR_SPAWN, "No such file or directory");
    write_script("nacred", "#!/bin/sh\necho 'nacred: the moon is full' >&2\nexit 3\n");
    check_connect(&options, ERR_SPAWN, "nacred: the moon is full (exit status 3)");
    write_script("nacred", "#!/bin/sh\nexit 0\n");
    check_connect(&options, ERR_CLOSED, "no daemon listens on '");
    write_script("nacred", "#!/bin/sh\nexec sleep 1000\n");
    options.timeout_ms = 300;
    check_connect(&options, ERR_TIMEOUT, "takes too long to start");
}

TEST(a_daemon_gets_its_options)
{
    char path[200], program[200];
    (void)chmod(".", 0700);
    write_script("nacred", "#!/bin/sh\necho \"$@\" >&2\nexit 1\n");
    struct client_options options = {.socket = path_of("s", path),
                                     .nacred = path_of("nacred", program),
                                     .state_dir = "/st",
                                     .idle_exit_s = 7};
    check_connect(&options, ERR_SPAWN, "/s --state-dir=/st --idle-exit=7 (exit status 1)");
}

/* A server that says these bytes to each client, then waits for its end. */
static pid_t serve(const char *path, const char *bytes, size_t len, bool stays)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    memcpy(addr.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0);
    (void)unlink(path);
    CHECK_INT(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
    CHECK_INT(listen(fd, 5), 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    while (pid == 0) {
        int client = accept(fd, NULL, NULL);
        char in[4096];
        if (client < 0 || read(client, in, sizeof(in)) < 0 ||
            (len && io_write_all(client, bytes, len) < 0))
            _exit(1);
        while (stays && read(client, in, sizeof(in)) > 0)
            ;
        (void)close(client);
    }
    (void)close(fd);
    return pid;
}

static void end(pid_t pid)
{
    CHECK_INT(kill(pid, SIGKILL), 0);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
}

static void check_server(const char *bytes, size_t len, bool stays, int code, const char *text)
{
    char path[200];
    (void)chmod(".", 0700);
    struct client_options options = {
        .socket = path_of("s", path), .no_start = true, .timeout_ms = 300};
    pid_t pid = serve(path, bytes, len, stays);
    check_connect(&options, code, text);
    end(pid);
}

static size_t put_json(char *ret, size_t size, uint32_t channel, const char *json)
{
    auto_buf struct buf b = BUF_INIT(4096);
    CHECK_INT(wire_put(&b, WIRE_JSON, channel, json, strlen(json)), 0);
    CHECK(b.len <= size);
    memcpy(ret, b.data, b.len);
    return b.len;
}

TEST(a_server_that_lies_is_found_out)
{
    char bytes[4096];
    check_server("", 0, false, ERR_CLOSED, "the daemon has closed the connection");
    check_server("", 0, true, ERR_TIMEOUT, "no answer");
    check_server("HTTP/1.1 400 Bad Request\r\n", 26, true, ERR_PROTOCOL, "frame of length");
    size_t len = put_json(bytes, sizeof(bytes), 1, "nonsense");
    check_server(bytes, len, true, ERR_SYNTAX, "message of the daemon");
    len = put_json(bytes, sizeof(bytes), 1, "{\"what\":1}");
    check_server(bytes, len, true, ERR_PROTOCOL, "neither event nor answer");
    len = put_json(bytes, sizeof(bytes), 1,
                   "{\"error\":{\"code\":\"unsupported\",\"message\":\"protocol 1\"}}");
    check_server(bytes, len, true, ERR_UNSUPPORTED, "protocol 1");
    len = put_json(bytes, sizeof(bytes), 0,
                   "{\"error\":{\"code\":\"busy\",\"message\":\"too many clients\"}}");
    check_server(bytes, len, true, ERR_BUSY, "too many clients");
    /* A part of a frame, and no more. */
    check_server(bytes, len - 1, false, ERR_CLOSED, "closed the connection");
}

TEST(an_answer_may_be_late_and_others_come_before_it)
{
    char path[200], bytes[4096];
    (void)chmod(".", 0700);
    size_t len = put_json(bytes, sizeof(bytes), 1, "{\"result\":{\"version\":\"9\",\"pid\":7}}");
    len += put_json(bytes + len, sizeof(bytes) - len, 9, "{\"event\":\"gap\",\"from\":1,\"to\":2}");
    len += put_json(bytes + len, sizeof(bytes) - len, 9, "{\"event\":\"odd\"}");
    len += put_json(bytes + len, sizeof(bytes) - len, 2,
                    "{\"error\":{\"code\":\"not_found\",\"message\":\"no\"}}");
    pid_t pid = serve(path_of("s", path), bytes, len, true);
    struct client_options options = {.socket = path, .no_start = true, .timeout_ms = 5000};
    struct client *c;
    struct err err = {0};
    CHECK_INT(client_connect(&options, &c, &err), 0);
    CHECK_STR(client_daemon_version(c), "9");
    CHECK_INT(client_daemon_pid(c), 7);

    (void)client_begin(c, "ps");
    CHECK_INT(client_call(c, NULL, 5000, NULL, &err), -ERR_NOT_FOUND);
    CHECK_STR(err.text, "no");
    struct client_message m;
    CHECK_INT(client_next(c, 0, &m, &err), 1);
    CHECK_INT(m.what, CLIENT_GAP);
    CHECK_INT(m.channel, 9);
    CHECK_INT(m.from, 1);
    CHECK_INT(m.to, 2);
    CHECK_INT(client_next(c, 0, &m, &err), 1);
    CHECK_INT(m.what, CLIENT_EVENT);
    CHECK_STR(m.name, "odd");
    CHECK_INT(client_next(c, 0, &m, &err), 0);
    CHECK_INT(client_next(c, 50, &m, &err), 0);

    (void)client_begin(c, "ps");
    CHECK_INT(client_call(c, NULL, 50, NULL, &err), -ERR_TIMEOUT);
    end(pid);
    CHECK_INT(client_next(c, CLIENT_WAIT, &m, &err), -ERR_CLOSED);
    CHECK_INT(client_fd(c), -1);
    (void)client_begin(c, "ps");
    CHECK_INT(client_send(c, NULL, &err), -ERR_CLOSED);
    client_free(c);
}
