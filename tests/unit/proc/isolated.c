/* SPDX-License-Identifier: MIT */
/* Boxes with namespaces and a root of their own; as root, and as an ordinary user. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "box_util.h"
#include "proc/spawn.h"
#include "proc/tree.h"
#include "sandbox/landlock.h"

enum { HOST_ROOT = 1234500000, HOST_UID, OWNER = 4321, ORDINARY = 12345 };

enum {
    ALL = SANDBOX_USER | SANDBOX_PID | SANDBOX_MOUNT | SANDBOX_IPC | SANDBOX_UTS |
          SANDBOX_CGROUP_NS | SANDBOX_NET | SANDBOX_TIME | SANDBOX_CAPS | SANDBOX_SECCOMP |
          SANDBOX_LANDLOCK | SANDBOX_NO_NEW_PRIVS,
};

static char workspace[64];

static void make_workspace(void)
{
    (void)snprintf(workspace, sizeof(workspace), "/tmp/nacre-isolated-XXXXXX");
    CHECK(mkdtemp(workspace));
}

static void remove_workspace(void)
{
    char command[128];
    (void)snprintf(command, sizeof(command), "rm -rf %s", workspace);
    CHECK_INT(test_sh(command), 0);
}

/* Where it is missing the test says so; it is there on every machine that a release is made on. */
static void need_namespaces(void)
{
    int status = test_sh("unshare -Ur true 2>/dev/null");
    if (status != 0)
        SKIP("no user namespaces here");
}

static void add_mounts(struct sandbox_plan *plan)
{
    sandbox_plan_mount(plan, SANDBOX_BIND, "/usr", "/usr", SANDBOX_READ_ONLY);
    sandbox_plan_mount(plan, SANDBOX_SYMLINK, "usr/bin", "/bin", 0);
    sandbox_plan_mount(plan, SANDBOX_SYMLINK, "usr/lib", "/lib", 0);
    sandbox_plan_mount(plan, SANDBOX_SYMLINK, "usr/lib64", "/lib64", 0);
    sandbox_plan_mount(plan, SANDBOX_BIND, "/etc/passwd", "/etc/passwd", SANDBOX_READ_ONLY);
    sandbox_plan_mount(plan, SANDBOX_BIND, "/nosuch", "/nosuch", SANDBOX_OPTIONAL);
    sandbox_plan_mount(plan, SANDBOX_PROC, NULL, "/proc", 0);
    sandbox_plan_mount(plan, SANDBOX_DEV, NULL, "/dev", 0);
    struct sandbox_mount *tmp = sandbox_plan_mount(plan, SANDBOX_TMPFS, NULL, "/tmp", 0);
    tmp->mode = 01777;
    tmp->size = 1 << 20;
    tmp->inodes = 100;
    struct sandbox_mount *work =
        sandbox_plan_mount(plan, SANDBOX_BIND, workspace, workspace, SANDBOX_OWNED);
    work->owner = getuid() == 0 ? OWNER : getuid();
    work->owner_gid = getuid() == 0 ? OWNER : getgid();
}

static struct fixture *isolated_new(void)
{
    struct fixture *f = fixture_new();
    proc_box_free(f->box);
    f->plan.layers = ALL;
    if (sandbox_landlock_abi() == 0)
        f->plan.layers &= ~(uint32_t)SANDBOX_LANDLOCK;
    if (getuid() == 0) {
        f->plan.ids = (struct sandbox_ids){.uid = 1000,
                                           .gid = 1000,
                                           .host_uid = HOST_UID,
                                           .host_gid = HOST_UID,
                                           .host_root = HOST_ROOT};
        CHECK_INT(chown(workspace, OWNER, OWNER), 0);
    } else {
        sandbox_plan_own_ids(&f->plan);
    }
    add_mounts(&f->plan);
    struct err err;
    if (sandbox_plan_check(&f->plan, &err) < 0)
        FAIL("%s", err.text);
    fixture_open_box(f);
    return f;
}

static void check_sh(struct fixture *f, const char *script, const char *expected)
{
    static const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
    const char *argv[] = {"sh", "-c", script, NULL};
    struct proc_spec spec = {.argv = argv, .envp = env, .cwd = workspace, .umask = -1};
    auto_buf struct buf out = BUF_INIT(OUTPUT_MAX);
    (void)fixture_run(f, &spec, &out);
    CHECK_STR(buf_cstr(&out), expected);
}

/* Runs the check in a process that is an ordinary user, or in this one. */
static void run_as(uid_t uid, void (*check)(void))
{
    need_namespaces();
    if (uid == getuid()) {
        make_workspace();
        check();
        remove_workspace();
        return;
    }
    if (getuid() != 0)
        SKIP("needs root to become somebody else");
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        CHECK_INT(setgroups(0, NULL), 0);
        CHECK_INT(setresgid(uid, uid, uid), 0);
        CHECK_INT(setresuid(uid, uid, uid), 0);
        make_workspace();
        check();
        remove_workspace();
        exit(0);
    }
    int status;
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(status, 0);
}

static void check_view(void)
{
    struct fixture *f = isolated_new();
    check_sh(f, "ls -A /", "bin\ndev\netc\nlib\nlib64\nproc\ntmp\nusr\n");
    check_sh(f, "ls -A /etc /dev/shm; pwd | sed 's/-[^-]*$//'",
             "/dev/shm:\n\n/etc:\npasswd\n/tmp/nacre-isolated\n");
    check_sh(f, "echo x 2>/dev/null >/x || echo refused; echo x >/tmp/x; cat /tmp/x",
             "refused\nx\n");
    check_sh(f, "(echo x >/usr/x) 2>&1 | sed 's/.*: //'", "Read-only file system\n");
    check_sh(f, "ls /dev",
             "fd\nfull\nnull\nptmx\npts\nrandom\nshm\nstderr\nstdin\nstdout\ntty\nurandom\nzero\n");
    check_sh(f, "echo x >/dev/null; head -c 2 /dev/zero | wc -c; cat /dev/null", "2\n");
    check_sh(f,
             "cat /proc/keys /proc/timer_list; (echo h >/proc/sys/kernel/core_pattern) 2>&1 | sed "
             "'s/.*: //'",
             "Read-only file system\n");
    fixture_close_box(f);
    fixture_free(f);
}

static void check_identity(void)
{
    bool root = getuid() == 0;
    char expected[32];
    (void)snprintf(expected, sizeof(expected), "%u\n", root ? 1000 : getuid());
    struct fixture *f = isolated_new();
    check_sh(f, "id -u", expected);
    check_sh(f, "uname -n; cat /proc/net/dev | grep -c :; grep NoNewPrivs /proc/self/status",
             "nacre\n1\nNoNewPrivs:\t1\n");
    check_sh(f, "grep -E '^(Cap|Seccomp:)' /proc/self/status | tr -d '\\t' | sort -u",
             "CapAmb:0000000000000000\nCapBnd:0000000000000000\nCapEff:0000000000000000\n"
             "CapInh:0000000000000000\nCapPrm:0000000000000000\nSeccomp:2\n");
    check_sh(f, "unshare -U true 2>/dev/null || echo refused", "refused\n");
    /* Files are the owner's outside, and the payload's inside. */
    check_sh(f, "echo in >made; stat -c %u made", expected);
    char path[96];
    (void)snprintf(path, sizeof(path), "%s/made", workspace);
    struct stat st;
    CHECK_INT(stat(path, &st), 0);
    CHECK_INT(st.st_uid, root ? OWNER : (int)getuid());
    CHECK_INT(st.st_gid, root ? OWNER : (int)getgid());
    fixture_close_box(f);
    fixture_free(f);
}

static void check_processes(void)
{
    struct fixture *f = isolated_new();
    check_sh(f, "echo /proc/[0-9]* | tr ' ' '\\n' | head -1; cat /proc/1/comm",
             "/proc/1\nnacre-box\n");
    check_sh(f, "cat /proc/1/environ 2>/dev/null || echo refused", "refused\n");
    check_sh(f, "kill -9 1 2>/dev/null; kill -STOP 1 2>/dev/null; echo alive", "alive\n");

    /* The numbers that are told are those of outside, of the supervisor as well. */
    pid_t pid = fixture_start_script(f, "echo >&9; exec sleep 1000", 5);
    struct proc_info info;
    CHECK_INT(proc_info_read(pid, &info), 0);
    CHECK(strcmp(info.comm, "sleep") == 0 || strcmp(info.comm, "sh") == 0);
    CHECK_INT(info.ppid, proc_box_pid(f->box));
    CHECK_INT(kill(pid, SIGTERM), 0);
    CHECK_INT(fixture_wait_exit(f, 5), SIGTERM);

    /* Whatever they do, all are gone when the box is. */
    pid = fixture_start_script(
        f,
        "trap '' TERM INT HUP; setsid sh -c 'sleep 1000 & kill -STOP $$' &\n"
        "i=0; while [ $i -lt 50 ]; do (setsid sleep 1000 &) ; i=$((i+1)); done;"
        "echo >&9; wait",
        6);
    pid_t supervisor = proc_box_pid(f->box);
    fixture_close_box(f);
    CHECK_INT(kill(pid, 0), -1);
    struct proc_list left = {0};
    CHECK_INT(proc_tree_list(&supervisor, 1, &left), 0);
    CHECK_INT(left.n_items, 0);
    proc_list_done(&left);
    CHECK(f->told[6].exited);
    fixture_free(f);
}

/* A background command: it sees what the session sees, and ends alone, or with the session. */
static void check_inner(void)
{
    struct fixture *f = isolated_new();
    struct proc_box *outer = f->box, *inner;
    struct err err;
    if (proc_box_open_inside(outer, &fixture_events, f, &inner, &err) < 0)
        FAIL("%s", err.text);
    f->box = inner;
    pid_t pid = fixture_start_script(
        f,
        "echo made >/tmp/x; (setsid sleep 1000 &);"
        "while ! grep -q sleep /proc/[0-9]*/comm; do :; done; echo >&9; exec sleep 1001",
        2);
    f->box = outer;
    check_sh(f, "cat /tmp/x; cat /proc/[0-9]*/comm 2>/dev/null | grep -c sleep", "made\n2\n");
    f->box = inner;
    fixture_close_box(f);
    CHECK(!f->lost);
    CHECK_INT(kill(pid, 0), -1);
    CHECK(f->told[2].exited);
    f->box = outer;
    check_sh(f, "cat /tmp/x; cat /proc/[0-9]*/comm 2>/dev/null | grep -c sleep", "made\n0\n");

    /* One that is killed is told of, with all it had; one that is open ends with the outer one. */
    CHECK_INT(proc_box_open_inside(outer, &fixture_events, f, &inner, &err), 0);
    f->box = inner;
    (void)fixture_start_script(f, "echo >&9; exec sleep 1000", 3);
    CHECK_INT(kill(proc_box_pid(inner), SIGKILL), 0);
    fixture_wait(f, &f->n_gone, 2);
    CHECK(f->lost);
    proc_box_free(inner);
    CHECK_INT(proc_box_open_inside(outer, &fixture_events, f, &inner, &err), 0);
    f->box = inner;
    pid = fixture_start_script(f, "echo >&9; exec sleep 1000", 4);
    proc_box_close(outer);
    fixture_wait(f, &f->n_gone, 4);
    CHECK(proc_box_is_gone(inner) && proc_box_is_gone(outer));
    CHECK_INT(kill(pid, 0), -1);
    proc_box_free(inner);
    f->box = outer;
    fixture_free(f);
}

static void check_sizes(void)
{
    struct fixture *f = isolated_new();
    check_sh(f, "head -c 2000000 /dev/zero 2>/dev/null >/tmp/big; stat -c %s /tmp/big",
             "1048576\n");
    check_sh(f,
             "rm /tmp/big; i=0; while mkdir /tmp/$i 2>/dev/null; do i=$((i+1)); done;"
             "[ $i -lt 100 ] && echo bounded",
             "bounded\n");
    fixture_close_box(f);
    fixture_free(f);
}

static void check_nothing_in_users_tree(void)
{
    char inner[96];
    (void)snprintf(inner, sizeof(inner), "%s/missing/deep", workspace);
    struct fixture *f = isolated_new();
    fixture_close_box(f);
    sandbox_plan_mount(&f->plan, SANDBOX_MASK, NULL, inner, 0); /* nothing to hide */
    fixture_open_box(f);
    check_sh(f, "ls -A | wc -l", "0\n");
    fixture_close_box(f);
    sandbox_plan_mount(&f->plan, SANDBOX_TMPFS, NULL, inner, 0); /* no place for it */
    fixture_open_box(f);
    const char *argv[] = {"true", NULL};
    struct proc_spec spec = {.argv = argv, .umask = -1};
    CHECK_INT(fixture_spawn(f, &spec, 1), 0);
    CHECK_STR(f->told[1].step, "root");
    CHECK_INT(f->told[1].err.code, ENOENT);
    CHECK(strstr(f->told[1].err.text, "missing/deep"));
    fixture_wait(f, &f->n_gone, 3);
    CHECK(f->lost);
    proc_box_free(f->box);
    f->box = NULL;
    CHECK_INT(rmdir(workspace), 0); /* nothing was made in it */
    CHECK_INT(mkdir(workspace, 0755), 0);
    fixture_free(f);
}

static void check_masks(void)
{
    char file[96], dir[96];
    (void)snprintf(dir, sizeof(dir), "%s/.ssh", workspace);
    (void)snprintf(file, sizeof(file), "%s/.netrc", workspace);
    CHECK_INT(mkdir(dir, 0755), 0);
    int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    CHECK_INT(write(fd, "secret", 6), 6);
    (void)close(fd);
    struct fixture *f = isolated_new();
    fixture_close_box(f);
    sandbox_plan_mount(&f->plan, SANDBOX_MASK, NULL, dir, 0);
    sandbox_plan_mount(&f->plan, SANDBOX_MASK, NULL, file, 0);
    fixture_open_box(f);
    check_sh(f, "cat .netrc; ls -A .ssh; (echo x >.ssh/x) 2>/dev/null || echo refused",
             "refused\n");
    fixture_close_box(f);
    fixture_free(f);
}

TEST(root_sees_only_what_is_bound)
{
    run_as(getuid(), check_view);
}

TEST(an_ordinary_user_sees_only_what_is_bound)
{
    run_as(ORDINARY, check_view);
}

TEST(root_gives_the_payload_ids_of_its_own)
{
    run_as(getuid(), check_identity);
}

TEST(an_ordinary_user_keeps_its_ids)
{
    run_as(ORDINARY, check_identity);
}

TEST(processes_are_by_themselves_and_end_together)
{
    run_as(getuid(), check_processes);
}

TEST(processes_of_an_ordinary_user_are_by_themselves)
{
    run_as(ORDINARY, check_processes);
}

TEST(a_box_inside_of_another_shares_its_view)
{
    run_as(getuid(), check_inner);
}

TEST(a_box_of_an_ordinary_user_has_one_inside)
{
    run_as(ORDINARY, check_inner);
}

TEST(file_systems_in_memory_have_their_sizes)
{
    run_as(getuid(), check_sizes);
}

TEST(nothing_is_made_in_a_bound_tree)
{
    run_as(getuid(), check_nothing_in_users_tree);
}

TEST(nothing_is_made_in_a_bound_tree_of_an_ordinary_user)
{
    run_as(ORDINARY, check_nothing_in_users_tree);
}

TEST(masks_hide_what_is_there)
{
    run_as(getuid(), check_masks);
}

TEST(masks_of_an_ordinary_user_hide_what_is_there)
{
    run_as(ORDINARY, check_masks);
}
