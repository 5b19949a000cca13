/* SPDX-License-Identifier: MIT */
/*
 * What an agent does with a shell: a few commands that build on each other, output as
 * it comes, a command that takes too long, a server in the background.
 *
 *     agent_loop             runs everything in this process
 *     agent_loop SOCKET      in the daemon on that socket; "" for the user's own
 */
#include <nacre/nacre.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All errors end here: an example has nobody to tell but the terminal. */
static void check(int rc, struct nacre_error **error, const char *what)
{
    if (rc >= 0)
        return;
    (void)fprintf(stderr, "%s: %s (%s)\n", what, nacre_error_message(*error),
                  nacre_error_name(*error));
    exit(1);
}

/* Output is shown as it arrives. */
static void show(void *ctx, enum nacre_stream stream, const char *bytes, size_t len)
{
    (void)ctx;
    FILE *to = stream == NACRE_STDERR ? stderr : stdout;
    (void)fwrite(bytes, 1, len, to);
    (void)fflush(to);
}

static void run(struct nacre_session *session, const char *text, int64_t timeout_ms)
{
    struct nacre_exec_options options = {
        .size = sizeof(options), .timeout_ms = timeout_ms, .on_output = show};
    struct nacre_result *result = NULL;
    struct nacre_error *error = NULL;
    printf("$ %s\n", text);
    check(nacre_exec(session, text, NACRE_TEXT, &options, &result, &error), &error, "exec");

    printf("[%s, exit code %d, in %s, %.1f ms]\n\n", nacre_result_status_name(result),
           nacre_result_exit_code(result), nacre_result_cwd(result), nacre_result_duration(result));
    nacre_result_free(result);
}

/* A server: started in the background, used once it listens, stopped with all it started. */
static void serve(struct nacre_session *session)
{
    static const char text[] = "exec python3 -u -m http.server --bind 127.0.0.1 0";
    struct nacre_exec_options options = {.size = sizeof(options), .background = true};
    struct nacre_command *server = NULL;
    struct nacre_result *result = NULL;
    struct nacre_error *error = NULL;
    char *line = NULL, request[160];
    printf("$ %s &\n", text);
    check(nacre_start(session, text, NACRE_TEXT, &options, &server, &error), &error, "start");
    check(nacre_command_wait_log(server, "port \\d+", true, 20000, &line, &error), &error,
          "wait for the line that names the port");
    const char *found = strstr(line, "port ");
    long port = found ? strtol(found + 5, NULL, 10) : 0;
    nacre_free(line);
    check(nacre_command_wait_port(server, NULL, (uint16_t)port, 20000, &error), &error,
          "wait for the port");
    (void)snprintf(request, sizeof(request),
                   "exec 3<>/dev/tcp/127.0.0.1/%ld; printf 'HEAD / HTTP/1.0\r\n\r\n' >&3; "
                   "read -r line <&3; echo \"$line\"; exec 3<&-",
                   port);
    run(session, request, 0);

    check(nacre_command_stop(server, &error), &error, "stop");
    check(nacre_command_wait(server, -1, &result, &error), &error, "wait");
    printf("[server: %s]\n", nacre_result_status_name(result));
    nacre_result_free(result);
    nacre_command_free(server);
}

int main(int argc, char **argv)
{
    struct nacre *nacre = NULL;
    struct nacre_session *session = NULL;
    struct nacre_error *error = NULL;
    if (argc > 1)
        check(nacre_connect(argv[1][0] ? argv[1] : NULL, &nacre, &error), &error, "connect");
    else
        check(nacre_open(NULL, &nacre, &error), &error, "open");
    check(nacre_session_open(nacre, NULL, &session, &error), &error, "open a session");

    run(session, "cd /tmp; greeting='state stays'", 0);
    run(session, "echo \"$greeting in $PWD\"; ls /no/such/dir", 0);
    run(session, "for i in 1 2 3; do echo $i; sleep 0.1; done", 0);
    run(session, "echo before; sleep 60; echo never", 300);
    run(session, "exit 3", 0);
    run(session, "echo \"and still: $greeting\"", 0);
    serve(session);

    check(nacre_session_close(session, &error), &error, "close the session");
    nacre_session_free(session);
    nacre_close(nacre);
    return 0;
}
