/* SPDX-License-Identifier: MIT */
#include "proc/spawn.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "box_util.h"
#include "proc/pty.h"
#include "proc/tree.h"

static const char *const path_env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", NULL};

static int run_sh(struct fixture *f, const char *script, struct buf *ret)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    struct proc_spec spec = {.argv = argv, .envp = path_env, .umask = -1};
    return fixture_run(f, &spec, ret);
}

TEST(arguments_arrive_as_they_are)
{
    struct fixture *f = fixture_new();
    const char *argv[] = {"sh",   "-c",  "printf '%s|' \"$0\" \"$@\"; echo $#",
                          "",     "a b", "",
                          "*",    "\\",  "'\"$x`\n",
                          "\xff", "",    NULL};
    struct proc_spec spec = {.path = "/bin/sh", .argv = argv, .umask = -1};
    auto_buf struct buf out = BUF_INIT(OUTPUT_MAX);
    CHECK_INT(fixture_run(f, &spec, &out), 0);
    CHECK_STR(buf_cstr(&out), "|a b||*|\\|'\"$x`\n|\xff||7\n");
    fixture_free(f);
}

TEST(argv0_may_differ_from_the_path)
{
    struct fixture *f = fixture_new();
    const char *argv[] = {"-other", "-c", "tr '\\0' '|' </proc/$$/cmdline", NULL};
    struct proc_spec spec = {.path = "sh", .argv = argv, .envp = path_env, .umask = -1};
    auto_buf struct buf out = BUF_INIT(OUTPUT_MAX);
    CHECK_INT(fixture_run(f, &spec, &out), 0);
    CHECK(strncmp(buf_cstr(&out), "-other|", 7) == 0);
    fixture_free(f);
}

TEST(an_environment_of_a_megabyte_arrives)
{
    enum { VARIABLES = 16, SIZE = 64 * 1024 };
    struct fixture *f = fixture_new();
    const char *envp[VARIABLES + 1] = {NULL};
    for (int i = 0; i < VARIABLES; i++) {
        char *text = malloc(SIZE);
        CHECK(text);
        memset(text, 'a' + i, SIZE - 1);
        text[0] = 'V';
        text[1] = (char)('a' + i);
        text[2] = '=';
        text[SIZE - 1] = '\0';
        envp[i] = text;
    }
    const char *argv[] = {"cat", "/proc/self/environ", NULL};
    struct proc_spec spec = {.path = "/bin/cat", .argv = argv, .envp = envp, .umask = -1};
    auto_buf struct buf out = BUF_INIT(OUTPUT_MAX);
    CHECK_INT(fixture_run(f, &spec, &out), 0);
    CHECK_INT(out.len, VARIABLES * SIZE);
    for (int i = 0; i < VARIABLES; i++) {
        CHECK_MEM(out.data + (size_t)i * SIZE, SIZE, envp[i], SIZE);
        free((char *)envp[i]);
    }
    fixture_free(f);
}

TEST(too_much_for_the_kernel_is_told_as_such)
{
    enum { SIZE = 3 << 20 };
    struct fixture *f = fixture_new();
    char *big = malloc(SIZE);
    CHECK(big);
    memset(big, 'x', SIZE - 1);
    big[SIZE - 1] = '\0';
    const char *argv[] = {"true", big, NULL};
    struct proc_spec spec = {.path = "/bin/true", .argv = argv, .umask = -1};
    CHECK_INT(fixture_spawn(f, &spec, 0), 0);
    CHECK_STR(f->told[0].step, "exec");
    CHECK_INT(f->told[0].err.code, E2BIG);
    const char *many[] = {"true", big, big, big, big, big, big, NULL};
    spec.argv = many;
    struct err err;
    CHECK_INT(proc_box_spawn(f->box, &spec, 1, &err), -E2BIG);
    free(big);
    fixture_free(f);
}

static void check_exec_fails(struct fixture *f, const char *path, int code)
{
    const char *argv[] = {"name", NULL};
    struct proc_spec spec = {.path = path, .argv = argv, .envp = path_env, .umask = -1};
    CHECK_INT(fixture_spawn(f, &spec, 0), 0);
    CHECK_STR(f->told[0].step, "exec");
    CHECK_INT(f->told[0].err.code, code);
    CHECK(strstr(f->told[0].err.text, path));
}

TEST(a_failing_exec_says_why)
{
    struct fixture *f = fixture_new();
    int fd = open("text", O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    CHECK_INT(write(fd, "plain\n", 6), 6);
    (void)close(fd);
    CHECK_INT(mkdir("dir", 0755), 0);

    check_exec_fails(f, "/nowhere/at/all", ENOENT);
    check_exec_fails(f, "no-such-program", ENOENT);
    check_exec_fails(f, "/etc/passwd", EACCES);
    check_exec_fails(f, "/etc/passwd/x", ENOTDIR);
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s/text", test_dir());
    check_exec_fails(f, path, ENOEXEC);
    (void)snprintf(path, sizeof(path), "%s/dir", test_dir());
    check_exec_fails(f, path, EACCES);

    auto_buf struct buf out = BUF_INIT(OUTPUT_MAX); /* the box is none the worse */
    CHECK_INT(run_sh(f, "echo fine", &out), 0);
    CHECK_STR(buf_cstr(&out), "fine\n");
    CHECK_INT(f->n_failed, 6);
    fixture_free(f);
}

TEST(a_missing_directory_is_told_by_its_step)
{
    struct fixture *f = fixture_new();
    const char *argv[] = {"pwd", NULL};
    struct proc_spec spec = {.path = "/bin/pwd", .argv = argv, .cwd = "/no/dir", .umask = -1};
    CHECK_INT(fixture_spawn(f, &spec, 0), 0);
    CHECK_STR(f->told[0].step, "chdir");
    CHECK_INT(f->told[0].err.code, ENOENT);
    auto_buf struct buf out = BUF_INIT(OUTPUT_MAX);
    spec.cwd = "/usr/bin";
    CHECK_INT(fixture_run(f, &spec, &out), 0);
    spec.cwd = NULL;
    CHECK_INT(fixture_run(f, &spec, &out), 0);
    CHECK_STR(buf_cstr(&out), "/usr/bin\n/\n");
    fixture_free(f);
}

TEST(a_spec_that_makes_no_sense_is_refused)
{
    struct fixture *f = fixture_new();
    const char *none[] = {NULL};
    const char *argv[] = {"true", NULL};
    struct proc_fd twice[] = {
        {0, 5},
        {1, 5}
    };
    struct proc_fd negative[] = {
        {0, -1}
    };
    struct proc_fd closed[] = {
        {999, 5}
    };
    struct proc_fd many[PROC_FDS_MAX + 1] = {{0}};
    const struct {
        struct proc_spec spec;
        int rc;
    } cases[] = {
        {{.argv = none, .umask = -1},                                         -EINVAL},
        {{.argv = argv, .path = "", .umask = -1},                             -EINVAL},
        {{.argv = argv, .fds = twice, .n_fds = 2, .umask = -1},               -EINVAL},
        {{.argv = argv, .fds = negative, .n_fds = 1, .umask = -1},            -EINVAL},
        {{.argv = argv, .fds = closed, .n_fds = 1, .umask = -1},              -EBADF },
        {{.argv = argv, .fds = many, .n_fds = PROC_FDS_MAX + 1, .umask = -1}, -EINVAL},
        {{.argv = argv, .flags = PROC_CTTY, .umask = -1},                     -EINVAL},
        {{.argv = argv, .flags = 1U << 20, .umask = -1},                      -EINVAL},
        {{.argv = argv, .umask = 01000},                                      -EINVAL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct err err = {0};
        CHECK_INT(proc_box_spawn(f->box, &cases[i].spec, 1, &err), cases[i].rc);
        CHECK(err.text[0]);
    }
    fixture_free(f);
}

/* Makes a file with this content and returns it opened for reading. */
static int make_file(const char *text)
{
    int fd = io_memfd("test", text, strlen(text));
    CHECK(fd >= 0);
    return fd;
}

TEST(descriptors_get_their_numbers_even_when_these_overlap)
{
    enum { N = 20 };
    struct fixture *f = fixture_new();
    struct proc_fd fds[N + 2];
    /* In the supervisor they arrive as 6, 7, 8 …, so these targets are a shuffle of the sources. */
    for (int i = 0; i < N; i++) {
        char text[16];
        (void)snprintf(text, sizeof(text), "%d,", i);
        fds[i] = (struct proc_fd){.fd = make_file(text), .target = 3 + (i * 7 + 4) % N};
    }
    int out_pipe[2];
    CHECK_INT(io_pipe(out_pipe), 0);
    fds[N] = (struct proc_fd){.fd = out_pipe[1], .target = 1};
    fds[N + 1] = (struct proc_fd){.fd = out_pipe[1], .target = 500};

    const char *argv[] = {
        "sh", "-c",
        "i=3; while [ $i -lt 23 ]; do cat /proc/self/fd/$i; i=$((i+1)); done;"
        "echo; ls /proc/self/fd | sort -n | tr '\\n' ' '; readlink /proc/self/fd/0",
        NULL};
    struct proc_spec spec = {
        .argv = argv, .envp = path_env, .fds = fds, .n_fds = N + 2, .umask = -1};
    CHECK(fixture_spawn(f, &spec, 0) > 0);
    (void)close(out_pipe[1]);
    auto_buf struct buf out = BUF_INIT(OUTPUT_MAX);
    CHECK_INT(io_read_fd(out_pipe[0], OUTPUT_MAX, &out), 0);
    CHECK_INT(fixture_wait_exit(f, 0), 0);

    auto_buf struct buf want = BUF_INIT(OUTPUT_MAX);
    for (int target = 3; target < 3 + N; target++)
        for (int i = 0; i < N; i++)
            if (fds[i].target == target)
                CHECK_INT(buf_printf(&want, "%d,", i), 0);
    /* 23 is the directory that ls reads: nothing else is open. */
    CHECK_INT(buf_append_str(&want, "\n0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 "
                                    "23 500 /dev/null\n"),
              0);
    CHECK_STR(buf_cstr(&out), buf_cstr(&want));
    (void)close(out_pipe[0]);
    for (int i = 0; i < N; i++)
        (void)close(fds[i].fd);
    fixture_free(f);
}

TEST(exit_codes_and_signals_are_exact)
{
    struct fixture *f = fixture_new();
    auto_buf struct buf out = BUF_INIT(OUTPUT_MAX);
    for (int code = 0; code < 256; code += 51) {
        char script[32];
        (void)snprintf(script, sizeof(script), "exit %d", code);
        int status = run_sh(f, script, &out);
        CHECK(WIFEXITED(status));
        CHECK_INT(WEXITSTATUS(status), code);
    }
    static const int signals[] = {SIGTERM, SIGKILL, SIGSEGV, SIGHUP, SIGPIPE};
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        char script[32];
        (void)snprintf(script, sizeof(script), "kill -%d $$", signals[i]);
        int status = run_sh(f, script, &out);
        CHECK(WIFSIGNALED(status));
        CHECK_INT(WTERMSIG(status), signals[i]);
    }
    fixture_free(f);
}

TEST(usage_is_told_with_that_of_waited_children)
{
    struct fixture *f = fixture_new();
    auto_buf struct buf out = BUF_INIT(OUTPUT_MAX);
    CHECK_INT(run_sh(f, "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; true", &out),
              0);
    const struct proc_exit *exit = &f->told[0].exit;
    CHECK(exit->user_us > 20000);
    CHECK(exit->user_us + exit->system_us < 60000000);
    CHECK(exit->maxrss_bytes > 256 << 10);
    CHECK(exit->maxrss_bytes < 256 << 20);
    fixture_free(f);
}

TEST(a_process_starts_with_clean_signals)
{
    (void)signal(SIGINT, SIG_IGN); /* ours is not theirs */
    (void)signal(SIGPIPE, SIG_IGN);
    struct fixture *f = fixture_new();
    auto_buf struct buf out = BUF_INIT(OUTPUT_MAX);
    const char *argv[] = {"cat", "/proc/self/status", NULL};
    struct proc_spec spec = {.path = "cat", .argv = argv, .envp = path_env, .umask = -1};
    CHECK_INT(fixture_run(f, &spec, &out), 0);
    const char *blocked = strstr(buf_cstr(&out), "SigBlk");
    CHECK(blocked);
    *strstr(blocked, "CapInh") = '\0';
    CHECK_STR(blocked, "SigBlk:\t0000000000000000\n"
                       "SigIgn:\t0000000000000000\n"
                       "SigCgt:\t0000000000000000\n");
    fixture_free(f);
}

static long number_after(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    CHECK(at);
    return strtol(at + strlen(key), NULL, 10);
}

TEST(flags_give_session_group_and_umask)
{
    struct fixture *f = fixture_new();
    const char *argv[] = {"sh", "-c",
                          "read pid comm s ppid pgid sid rest </proc/self/stat;"
                          "echo pid=$pid pgid=$pgid sid=$sid umask=$(umask)",
                          NULL};
    struct proc_spec spec = {.argv = argv, .envp = path_env, .umask = -1};
    auto_buf struct buf out = BUF_INIT(OUTPUT_MAX);
    CHECK_INT(fixture_run(f, &spec, &out), 0);
    pid_t box = proc_box_pid(f->box);
    CHECK_INT(number_after(buf_cstr(&out), "pgid="), box);
    CHECK_INT(number_after(buf_cstr(&out), "sid="), box);
    CHECK_INT(number_after(buf_cstr(&out), "umask="), 22);

    buf_clear(&out);
    spec.flags = PROC_PGRP;
    spec.umask = 077;
    CHECK_INT(fixture_run(f, &spec, &out), 0);
    long pid = number_after(buf_cstr(&out), "pid=");
    CHECK_INT(number_after(buf_cstr(&out), "pgid="), pid);
    CHECK_INT(number_after(buf_cstr(&out), "sid="), box);
    CHECK_INT(number_after(buf_cstr(&out), "umask="), 77);

    buf_clear(&out);
    spec.flags = PROC_SETSID;
    spec.umask = 0;
    CHECK_INT(fixture_run(f, &spec, &out), 0);
    pid = number_after(buf_cstr(&out), "pid=");
    CHECK_INT(number_after(buf_cstr(&out), "sid="), pid);
    CHECK_INT(number_after(buf_cstr(&out), "umask="), 0);
    fixture_free(f);
}

TEST(a_terminal_becomes_the_controlling_one)
{
    struct fixture *f = fixture_new();
    int master, slave;
    struct err err;
    CHECK_INT(proc_pty_open(31, 117, &master, &slave, &err), 0);
    struct proc_fd fds[] = {
        {slave, 0},
        {slave, 1},
        {slave, 2}
    };
    const char *argv[] = {"sh", "-c",
                          "stty size; ps -o tty= -p $$ >/dev/null; : >/dev/tty && echo ok", NULL};
    struct proc_spec spec = {.argv = argv,
                             .envp = path_env,
                             .fds = fds,
                             .n_fds = 3,
                             .flags = PROC_SETSID | PROC_CTTY,
                             .umask = -1};
    CHECK(fixture_spawn(f, &spec, 0) > 0);
    (void)close(slave);
    char text[256];
    size_t len = 0;
    ssize_t n;
    while ((n = read(master, text + len, sizeof(text) - 1 - len)) > 0)
        len += (size_t)n;
    CHECK_INT(n, -1);
    CHECK_INT(errno, EIO);
    text[len] = '\0';
    CHECK_STR(text, "31 117\r\nok\r\n");
    CHECK_INT(fixture_wait_exit(f, 0), 0);
    (void)close(master);

    struct proc_fd null[] = {
        {-1, 0}
    };
    null[0].fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    spec.fds = null;
    spec.n_fds = 1;
    CHECK_INT(fixture_spawn(f, &spec, 1), 0);
    CHECK_STR(f->told[1].step, "terminal");
    CHECK_INT(f->told[1].err.code, ENOTTY);
    (void)close(null[0].fd);
    fixture_free(f);
}

TEST(limits_of_the_plan_bind)
{
    struct fixture *f = fixture_new();
    proc_box_free(f->box);
    f->plan.rlimits[RLIMIT_NOFILE] = (struct sandbox_rlimit){.set = true, .soft = 40, .hard = 41};
    f->plan.rlimits[RLIMIT_CORE] = (struct sandbox_rlimit){.set = true, .soft = 0, .hard = 0};
    f->plan.rlimits[RLIMIT_STACK] = /* more than may be had is what may be had */
        (struct sandbox_rlimit){.set = true, .soft = RLIM_INFINITY, .hard = RLIM_INFINITY};
    f->plan.layers = SANDBOX_NO_NEW_PRIVS;
    f->plan.nice = 3;
    f->plan.umask = 027;
    fixture_open_box(f);
    auto_buf struct buf out = BUF_INIT(OUTPUT_MAX);
    CHECK_INT(run_sh(f,
                     "ulimit -Sn; ulimit -Hn; ulimit -c; umask; nice;"
                     "grep NoNewPrivs /proc/self/status",
                     &out),
              0);
    CHECK_STR(buf_cstr(&out), "40\n41\n0\n0027\n3\nNoNewPrivs:\t1\n");
    CHECK_STR(sandbox_plan_layer(&f->plan, 0), "no-new-privs");
    CHECK_STR(sandbox_plan_layer(&f->plan, 1), NULL);
    fixture_free(f);
}

TEST(many_requests_at_once_are_answered_in_order)
{
    enum { N = 400 };
    struct fixture *f = fixture_new();
    auto_buf struct buf out = BUF_INIT(OUTPUT_MAX);
    const char *argv[] = {"true", NULL};
    struct proc_spec spec = {.path = "/bin/true", .argv = argv, .umask = -1};
    int fds[2];
    CHECK_INT(io_pipe(fds), 0);
    struct proc_fd keep[] = {
        {fds[1], 3}
    };
    spec.fds = keep;
    spec.n_fds = 1;
    CHECK_INT(run_sh(f, "true", &out), 0);
    f->n_exited = 0;
    CHECK_INT(kill(proc_box_pid(f->box), SIGSTOP), 0);
    struct err err;
    for (uint32_t i = 0; i < N; i++) /* more than the socket takes: some are queued */
        CHECK_INT(proc_box_spawn(f->box, &spec, i, &err), 0);
    (void)close(fds[1]);
    memset(f->told, 0, sizeof(f->told));
    CHECK_INT(kill(proc_box_pid(f->box), SIGCONT), 0);
    fixture_wait(f, &f->n_exited, N);
    for (uint32_t i = 0; i < N; i++)
        CHECK(f->told[i].pid > 0 && f->told[i].exited && f->told[i].exit.status == 0);
    char byte;
    CHECK_INT(read(fds[0], &byte, 1), 0); /* nobody has kept a copy of the writer */
    (void)close(fds[0]);
    fixture_free(f);
}

/* 0 if it may not be looked at: the helpers hide themselves from other processes of their user. */
static int count_fds(pid_t pid)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%d/fd", pid);
    DIR *dir = opendir(path);
    if (!dir) {
        CHECK_INT(errno, EACCES);
        return 0;
    }
    int n = 0;
    while (readdir(dir))
        n++;
    (void)closedir(dir);
    return n;
}

TEST(five_hundred_cycles_leave_descriptors_flat)
{
    struct fixture *f = fixture_new();
    auto_buf struct buf out = BUF_INIT(OUTPUT_MAX);
    CHECK_INT(run_sh(f, "true", &out), 0);
    pid_t box = proc_box_pid(f->box);
    int ours = count_fds(getpid());
    int theirs = count_fds(box);
    int zygotes = count_fds(proc_zygote_pid(f->zygote));
    const char *argv[] = {"true", NULL};
    struct proc_spec good = {.path = "/bin/true", .argv = argv, .umask = -1};
    struct proc_spec bad = {.path = "/bin/none", .argv = argv, .umask = -1};
    for (int i = 0; i < 500; i++) {
        CHECK_INT(fixture_run(f, &good, &out), 0);
        CHECK_INT(fixture_spawn(f, &bad, 1), 0);
    }
    CHECK_INT(count_fds(getpid()), ours);
    CHECK_INT(count_fds(box), theirs);
    for (int i = 0; i < 50; i++) {
        fixture_close_box(f);
        fixture_open_box(f);
    }
    CHECK_INT(run_sh(f, "true", &out), 0);
    CHECK_INT(count_fds(getpid()), ours);
    CHECK_INT(count_fds(proc_zygote_pid(f->zygote)), zygotes);
    fixture_free(f);
}

TEST(the_helpers_hold_nothing_and_tell_nothing)
{
    CHECK_INT(setenv("SECRET_OF_THE_RUNTIME", "1", 1), 0);
    int leak[2];
    CHECK_INT(pipe(leak), 0); /* not close-on-exec, as a host program may have them */
    struct fixture *f = fixture_new();
    auto_buf struct buf out = BUF_INIT(OUTPUT_MAX);
    CHECK_INT(run_sh(f, "true", &out), 0);
    struct stat st;
    CHECK_INT(fstat(leak[0], &st), 0);
    if (geteuid() != 0) {
        CHECK_INT(proc_holds_file(proc_box_pid(f->box), st.st_dev, st.st_ino), -EACCES);
        (void)close(leak[0]);
        (void)close(leak[1]);
        fixture_free(f);
        SKIP("the right to look into processes that hide themselves");
    }
    pid_t pids[] = {proc_zygote_pid(f->zygote), proc_box_pid(f->box)};
    for (size_t i = 0; i < 2; i++) {
        CHECK_INT(proc_holds_file(pids[i], st.st_dev, st.st_ino), 0);
        char path[64];
        (void)snprintf(path, sizeof(path), "/proc/%d/environ", pids[i]);
        buf_clear(&out);
        CHECK_INT(io_read_file(AT_FDCWD, path, OUTPUT_MAX, &out, NULL), 0);
        CHECK_INT(out.len, 0);
    }
    (void)close(leak[0]);
    (void)close(leak[1]);
    fixture_free(f);
}

TEST(nothing_can_be_asked_of_a_closed_box)
{
    struct fixture *f = fixture_new();
    const char *argv[] = {"true", NULL};
    struct proc_spec spec = {.path = "/bin/true", .argv = argv, .umask = -1};
    proc_box_close(f->box);
    proc_box_close(f->box);
    CHECK_INT(proc_box_spawn(f->box, &spec, 1, NULL), -EPIPE);
    CHECK_INT(f->n_gone, 0); /* not from within the call */
    fixture_wait(f, &f->n_gone, 1);
    CHECK(!f->lost);
    CHECK(proc_box_is_gone(f->box));
    CHECK_INT(proc_box_spawn(f->box, &spec, 1, NULL), -EPIPE);
    proc_box_close(f->box);
    fixture_free(f);
}

TEST(a_missing_program_is_named)
{
    CHECK_INT(setenv("NACRE_SPAWN", "/no/nacre-spawn", 1), 0);
    struct ev *ev = ev_new();
    struct proc_zygote *zygote;
    struct err err;
    CHECK_INT(proc_zygote_new(ev, &zygote, &err), -ENOENT);
    CHECK(strstr(err.text, "/no/nacre-spawn"));
    ev_free(ev);
}

struct freer {
    struct fixture *f;
    int n_calls;
};

static void free_on_exit(void *ctx, uint32_t tag, pid_t pid, const struct proc_exit *exit)
{
    (void)tag;
    (void)pid;
    (void)exit;
    struct freer *freer = ctx;
    freer->n_calls++;
    proc_box_free(freer->f->box);
    freer->f->box = NULL;
}

TEST(a_box_may_be_freed_in_its_callback)
{
    struct fixture *f = fixture_new();
    struct freer freer = {.f = f};
    const struct proc_box_events events = {.on_exit = free_on_exit};
    proc_box_free(f->box);
    struct err err;
    CHECK_INT(proc_box_open(f->zygote, &f->plan, &events, &freer, &f->box, &err), 0);
    const char *argv[] = {"true", NULL};
    struct proc_spec spec = {.path = "/bin/true", .argv = argv, .umask = -1};
    for (uint32_t i = 0; i < 10; i++)
        CHECK_INT(proc_box_spawn(f->box, &spec, i, &err), 0);
    while (freer.n_calls == 0)
        CHECK(ev_run_once(f->ev, true));
    for (int i = 0; i < 10; i++)
        (void)ev_run_once(f->ev, false);
    CHECK_INT(freer.n_calls, 1);
    fixture_free(f);
}
