/* SPDX-License-Identifier: MIT */
#include "bare.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report.h"

static void say(const struct bare *b, const char *text)
{
    size_t len = strlen(text);
    if (write(b->in, text, len) != (ssize_t)len)
        fail("write to bash: %s", strerror(errno));
}

/* The number that it answers. */
static int hear(const struct bare *b)
{
    char text[64];
    ssize_t n = read(b->answer, text, sizeof(text) - 1);
    if (n <= 0 || text[n - 1] != '\n')
        fail("bash does not answer");
    text[n] = '\0';
    return (int)strtol(text, NULL, 10);
}

static int open_pipe_file(const char *dir, const char *name)
{
    char path[96];
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    int fd = mkfifo(path, 0600) < 0 ? -1 : open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        fail("make '%s': %s", path, strerror(errno));
    return fd;
}

static _Noreturn void become_bash(int in, int answer)
{
    /* Out of the way of 0 and 3 first. */
    in = fcntl(in, F_DUPFD_CLOEXEC, 10);
    answer = fcntl(answer, F_DUPFD_CLOEXEC, 10);
    if (dup2(in, 0) < 0 || dup2(answer, 3) < 0)
        _exit(126);
    execlp("bash", "bash", "--norc", "--noprofile", (char *)NULL);
    _exit(127);
}

static void start(struct bare *b)
{
    int in[2], answer[2];
    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(answer, O_CLOEXEC) < 0)
        fail("pipe: %s", strerror(errno));
    b->pid = vfork(); /* NOLINT(clang-analyzer-*): the least, nothing of ours is copied */
    if (b->pid == 0)
        become_bash(in[0], answer[1]);
    if (b->pid < 0)
        fail("vfork: %s", strerror(errno));
    (void)close(in[0]);
    (void)close(answer[1]);
    b->in = in[1];
    b->answer = answer[0];
}

static void end(struct bare *b)
{
    (void)close(b->in);
    (void)close(b->answer);
    (void)kill(b->pid, SIGKILL);
    (void)waitpid(b->pid, NULL, 0);
}

void bare_open(struct bare *b)
{
    *b = (struct bare){.dir = "/dev/shm/nacre-bench-XXXXXX"};
    if (!mkdtemp(b->dir))
        fail("make '%s': %s", b->dir, strerror(errno));
    b->out = open_pipe_file(b->dir, "o");
    b->err = open_pipe_file(b->dir, "e");
    start(b);
    bare_colon(b);
}

void bare_close(struct bare *b)
{
    char path[96];
    end(b);
    (void)close(b->out);
    (void)close(b->err);
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof(path), "%s/%c", b->dir, "oe"[i]);
        (void)unlink(path);
    }
    (void)rmdir(b->dir);
}

void bare_colon(struct bare *b)
{
    say(b, ":\necho $? >&3\n");
    if (hear(b) != 0)
        fail("bare ':' failed");
}

/* Reads what is there; a floor has nothing to do with it. */
static void read_streams(const struct bare *b)
{
    char bytes[4096];
    while (read(b->out, bytes, sizeof(bytes)) > 0)
        ;
    while (read(b->err, bytes, sizeof(bytes)) > 0)
        ;
}

void bare_group(struct bare *b)
{
    char text[256];
    (void)snprintf(text, sizeof(text), "{ :\n} </dev/null >%s/o 2>%s/e 3>&-\necho $? >&3\n", b->dir,
                   b->dir);
    say(b, text);
    if (hear(b) != 0)
        fail("bare group failed");
    read_streams(b);
}

void bare_source(struct bare *b, const char *file)
{
    char text[512];
    (void)snprintf(text, sizeof(text), ". %s </dev/null >%s/o 2>%s/e 3>&-\necho $? >&3\n", file,
                   b->dir, b->dir);
    say(b, text);
    if (hear(b) != 0)
        fail("bare '. %s' failed", file);
    read_streams(b);
}

double bare_start_us(void)
{
    struct bare b;
    double from = now_us();
    start(&b);
    say(&b, ":\necho $? >&3\n");
    (void)hear(&b);
    double us = now_us() - from;
    end(&b);
    return us;
}

double bare_run_us(const char *const argv[])
{
    double from = now_us();
    pid_t pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork): what is measured */
    if (pid == 0) {
        /* NOLINTNEXTLINE(clang-analyzer-unix.Vfork): no memory is touched */
        int null = open("/dev/null", O_RDWR);
        for (int fd = 0; fd < 3; fd++)
            (void)dup2(null, fd);
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
        fail("'%s' does not run", argv[0]);
    return now_us() - from;
}
