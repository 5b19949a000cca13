/* SPDX-License-Identifier: MIT */
/* Promise 8, of sessions that have every layer. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json/read.h"
#include "lib/fixture.h"
#include "lib/test.h"
#include "sandbox/landlock.h"

static void open_isolated(struct fx *fx)
{
    if (test_sh("unshare -Ur true 2>/dev/null") != 0)
        SKIP("no user namespaces here");
    fx_open_with(fx, &(struct fx_settings){.isolated = true});
}

TEST(the_layers_are_named_and_there)
{
    static const char *const names[] = {"user", "pid",       "mount",    "ipc",
                                        "uts",  "cgroup-ns", "net",      "time",
                                        "caps", "seccomp",   "landlock", "no-new-privs"};
    struct fx fx;
    if (sandbox_landlock_abi() == 0)
        SKIP("no Landlock here");
    open_isolated(&fx);
    const struct command *c =
        FX_RUN(&fx, "grep NoNewPrivs /proc/self/status", 0, "NoNewPrivs:\t1\n", "");
    const struct json_node *isolation = json_get(fx_result(&fx, c->id), "isolation");
    size_t n = sizeof(names) / sizeof(names[0]);
    CHECK_INT(json_len(isolation), n);
    for (size_t i = 0; i < n; i++)
        CHECK_STR(json_cstr(json_at(isolation, i)), names[i]);
    static const char *const spaces[] = {"user", "pid", "mnt", "net", "ipc", "uts", "cgroup"};
    for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
        char text[64], path[64], here[64];
        (void)snprintf(path, sizeof(path), "/proc/self/ns/%s", spaces[i]);
        ssize_t len = readlink(path, here, sizeof(here) - 1);
        CHECK(len > 0);
        here[len] = '\0';
        (void)snprintf(text, sizeof(text), "readlink /proc/self/ns/%s", spaces[i]);
        CHECK(strncmp(fx_out(&fx, fx_exec(&fx, text)), here, (size_t)len) != 0);
    }
    fx_close(&fx);
}

TEST(background_commands_are_in_the_same_world)
{
    struct fx fx;
    open_isolated(&fx);
    FX_RUN(&fx, "echo kept >/tmp/file; fn() { cat /tmp/file; }", 0, "", "");
    const struct command *c =
        fx_exec_opt(&fx, "fn; echo $PPID; readlink /proc/self/ns/pid >/tmp/ns",
                    &(struct fx_opt){.background = true});
    CHECK_INT(c->exit_code, 0);
    CHECK(strncmp(fx_out(&fx, c), "kept\n", 5) == 0);
    FX_RUN(&fx, "readlink /proc/self/ns/pid | cmp - /tmp/ns", 0, "", "");
    c = fx_start(&fx, "echo up; sleep 1000", &(struct fx_opt){.background = true});
    fx_wait_text(&fx, c, CAPTURE_STDOUT, "up\n");
    FX_RUN(&fx, "until grep -q '^sleep' /proc/[0-9]*/comm 2>/dev/null; do :; done", 0, "", "");
    fx_stop(&fx, c);
    FX_RUN(&fx, "cat /proc/[0-9]*/comm 2>/dev/null | grep -c sleep", 1, "0\n", "");
    fx_close(&fx);
}

TEST(streams_can_be_opened_by_name)
{
    struct fx fx;
    open_isolated(&fx);
    FX_RUN(&fx, "echo a >/dev/stdout; echo b >/dev/stderr; cat </dev/stdin", 0, "a\n", "b\n");
    const struct command *c =
        fx_exec_opt(&fx, "echo a >/dev/stdout; echo b >/proc/self/fd/2; cat /dev/stdin",
                    &(struct fx_opt){.background = true, .in = "in\n"});
    CHECK_STR(fx_out(&fx, c), "a\nin\n");
    CHECK_STR(fx_err(&fx, c), "b\n");
    fx_close(&fx);
}

TEST(files_belong_to_the_owner_of_the_directory)
{
    struct fx fx;
    open_isolated(&fx);
    FX_RUN(&fx, "echo x >made; mkdir dir; touch dir/in; [ -O made ] && [ -O . ] && echo ours", 0,
           "ours\n", "");
    struct stat dir, made;
    CHECK_INT(stat(".", &dir), 0);
    CHECK_INT(stat("dir/in", &made), 0);
    CHECK_INT(made.st_uid, dir.st_uid);
    CHECK_INT(made.st_gid, dir.st_gid);
    fx_close(&fx);
}

/* Where runtime and bash meet, the commands can put anything. */
TEST(links_do_not_lead_the_runtime_outside)
{
    struct fx fx;
    open_isolated(&fx);
    static const char secret[] = "../tmp/secret"; /* nothing that the session sees */
    int fd = open(secret, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK_INT(write(fd, "stolen=yes\n", 11), 11);
    (void)close(fd);
    char path[PATH_MAX], text[PATH_MAX + 512];
    CHECK(realpath(secret, path));
    FX_RUN(&fx, "x=1", 0, "", "");
    (void)snprintf(text, sizeof(text),
                   "d=$(dirname /dev/shm/*/*/run/*/command); cd \"$d\" || exit;"
                   "for f in *; do ln -sf %s \"$f.new\"; mv -f \"$f.new\" \"$f\"; done; x=2",
                   path);
    (void)fx_exec(&fx, text); /* what becomes of it is up to them; not what comes after it */
    (void)fx_exec(&fx, "y=2");
    FX_RUN(&fx, "echo ${stolen-no}", 0, "no\n", "");
    FX_RUN(&fx, "exit 3", 3, "", "");
    FX_RUN(&fx, "echo ${stolen-no}", 0, "no\n", "");
    char now[32] = "";
    fd = open(secret, O_RDONLY | O_CLOEXEC);
    CHECK_INT(read(fd, now, sizeof(now) - 1), 11);
    (void)close(fd);
    CHECK_STR(now, "stolen=yes\n");
    CHECK_INT(unlink(secret), 0);
    fx_close(&fx);
}

TEST(nothing_is_left_of_a_session)
{
    struct fx fx;
    open_isolated(&fx);
    FX_RUN(&fx, "for i in 1 2 3 4 5; do setsid sleep 1000 >/dev/null 2>&1 & done; echo x >/tmp/x",
           0, "", "");
    fx_close(&fx); /* the leak check looks for processes, descriptors and files */
}
