/* SPDX-License-Identifier: MIT */
#include "sandbox/landlock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/own.h"
#include "lib/test.h"
#include "sandbox/seccomp.h"

static void need_abi(int abi)
{
    if (sandbox_landlock_abi() < abi)
        SKIP("no Landlock of ABI %d", abi);
}

/* The runner looks for open descriptors. */
#define PROC                                                                                       \
    {                                                                                              \
        .path = "/proc", .access = SANDBOX_ACCESS_READ, .fd = AT_FDCWD                             \
    }

/* Restricts the process of the test. Returns what is lacking. */
static uint32_t restrict_to(const struct sandbox_landlock_rules *rules)
{
    auto_close int fd = -1;
    uint32_t lacks = 0;
    struct err err = {0};
    if (sandbox_landlock_open(rules, &fd, &lacks, &err) < 0)
        FAIL("%s", err.text);
    CHECK_INT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    if (sandbox_landlock_restrict(fd, &err) < 0)
        FAIL("%s", err.text);
    return lacks;
}

static void make(const char *path, mode_t mode)
{
    auto_close int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, mode);
    CHECK(fd >= 0);
    CHECK_INT(write(fd, "x", 1), 1);
}

static int try_open(const char *path, int flags)
{
    auto_close int fd = open(path, flags | O_CLOEXEC, 0600);
    return fd < 0 ? errno : 0;
}

static int try_exec(const char *path)
{
    pid_t pid = fork();
    if (pid == 0) {
        (void)execl(path, path, (char *)NULL);
        _exit(errno);
    }
    int status;
    CHECK_INT(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int result(int rc)
{
    return rc < 0 ? errno : 0;
}

static void copy(const char *from, const char *to)
{
    auto_close int in = open(from, O_RDONLY | O_CLOEXEC);
    auto_close int out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    while (sendfile(out, in, NULL, 1 << 20) > 0)
        ;
}

/* A directory for each kind of access, and one that no rule names. */
static void make_tree(void)
{
    static const char *const dirs[] = {"read", "exec", "work", "none"};
    for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
        char path[32];
        CHECK_INT(mkdir(dirs[i], 0755), 0);
        (void)snprintf(path, sizeof(path), "%s/file", dirs[i]);
        make(path, 0644);
        (void)snprintf(path, sizeof(path), "%s/true", dirs[i]);
        copy("/bin/true", path);
    }
}

static const struct sandbox_landlock_path paths[] = {
    PROC,
    {.path = "/usr",                       .access = SANDBOX_ACCESS_READ_EXEC, .fd = AT_FDCWD },
    {.path = "/lib",                       .access = SANDBOX_ACCESS_READ_EXEC, .fd = AT_FDCWD,  .optional = true},
    {.path = "/lib64",                                    .access = SANDBOX_ACCESS_READ_EXEC,                                                       .fd = AT_FDCWD, .optional = true},
    {.path = "/nowhere/at/all",                    .access = SANDBOX_ACCESS_READ,                                                      .fd = AT_FDCWD,                                             .optional = true},
    {.path = "read",                      .access = SANDBOX_ACCESS_READ,.fd = AT_FDCWD},
    {.path = "exec",.access = SANDBOX_ACCESS_READ_EXEC,                    .fd = AT_FDCWD                                                                             },
    {.path = "work",                 .access = SANDBOX_ACCESS_READ_WRITE,                  .fd = AT_FDCWD},
    {.path = "none/file",.access = SANDBOX_ACCESS_READ_WRITE,.fd = AT_FDCWD                                               },
    {.path = "/dev/null",                 .access = SANDBOX_ACCESS_READ_WRITE,                                                  .fd = AT_FDCWD                 },
};
static const struct sandbox_landlock_rules files = {
    .files = true, .paths = paths, .n_paths = sizeof(paths) / sizeof(paths[0])};

TEST(files_are_as_the_rules_say)
{
    need_abi(3);
    make_tree();
    (void)restrict_to(&files);
    CHECK_INT(try_open("read/file", O_RDONLY), 0);
    CHECK_INT(try_open("read", O_RDONLY | O_DIRECTORY), 0);
    CHECK_INT(try_open("read/file", O_WRONLY), EACCES);
    CHECK_INT(try_open("read/new", O_WRONLY | O_CREAT), EACCES);
    CHECK_INT(result(truncate("read/file", 0)), EACCES);
    CHECK_INT(result(unlink("read/file")), EACCES);
    CHECK_INT(try_exec("read/true"), EACCES);

    CHECK_INT(try_exec("exec/true"), 0);
    CHECK_INT(try_open("exec/file", O_WRONLY), EACCES);

    CHECK_INT(try_open("work/file", O_RDWR | O_TRUNC), 0);
    CHECK_INT(try_open("work/new", O_WRONLY | O_CREAT | O_EXCL), 0);
    CHECK_INT(result(mkdir("work/dir", 0755)), 0);
    CHECK_INT(result(rename("work/new", "work/dir/new")), 0);
    CHECK_INT(result(mkfifo("work/fifo", 0600)), 0);
    CHECK_INT(result(symlink("/", "work/link")), 0);
    CHECK_INT(result(unlink("work/dir/new")), 0);
    CHECK_INT(try_exec("work/true"), 0);

    CHECK_INT(try_open("none", O_RDONLY | O_DIRECTORY), EACCES);
    CHECK_INT(try_open("none/true", O_RDONLY), EACCES);
    CHECK_INT(try_open("none/file", O_RDWR), 0);
    CHECK_INT(try_open("work/link/etc/passwd", O_RDONLY), EACCES);
    CHECK_INT(result(link("exec/file", "work/hard")), EXDEV);
    CHECK_INT(try_open("/dev/null", O_RDWR), 0);
    CHECK_INT(try_open("/dev/zero", O_RDONLY), EACCES);
}

TEST(a_descriptor_can_stand_for_a_path)
{
    need_abi(1);
    CHECK_INT(mkdir("a", 0755), 0);
    make("a/file", 0600);
    auto_close int dir = open("a", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct sandbox_landlock_path allowed[] = {
        PROC, {.fd = dir, .access = SANDBOX_ACCESS_READ}
    };
    struct sandbox_landlock_rules rules = {.files = true, .paths = allowed, .n_paths = 2};
    CHECK_INT(rename("a", "b"), 0);
    (void)restrict_to(&rules);
    CHECK_INT(try_open("b/file", O_RDONLY), 0);
    CHECK_INT(try_open("b/file", O_WRONLY), EACCES);
}

TEST(what_runs_later_is_restricted_as_well)
{
    need_abi(3);
    make_tree();
    (void)restrict_to(&files);
    pid_t pid = fork();
    if (pid == 0)
        _exit(try_open("none/true", O_RDONLY));
    int status;
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(WEXITSTATUS(status), EACCES);
}

TEST(a_path_that_is_missing_is_named)
{
    need_abi(1);
    struct sandbox_landlock_path path = {.path = "missing", .fd = AT_FDCWD, .access = 1};
    struct sandbox_landlock_rules rules = {.files = true, .paths = &path, .n_paths = 1};
    int fd;
    struct err err = {0};
    CHECK_INT(sandbox_landlock_open(&rules, &fd, NULL, &err), -ENOENT);
    CHECK(strstr(err.text, "'missing'"));
}

TEST(nothing_is_mounted_under_rules)
{
    need_abi(1);
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        SKIP("no user namespaces");
    CHECK_INT(mkdir("at", 0755), 0);
    struct sandbox_landlock_path allowed[] = {PROC};
    struct sandbox_landlock_rules rules = {.files = true, .paths = allowed, .n_paths = 1};
    (void)restrict_to(&rules);
    CHECK_INT(result(mount("tmpfs", "at", "tmpfs", 0, NULL)), EPERM);
}

TEST(devices_are_steered_where_allowed_only)
{
    need_abi(5);
    int master, slave;
    char name[64];
    CHECK_INT(openpty(&master, &slave, name, NULL, NULL), 0);
    struct sandbox_landlock_path allowed[] = {
        PROC, {.path = "/dev/pts", .fd = AT_FDCWD, .access = SANDBOX_ACCESS_READ_WRITE}
    };
    struct sandbox_landlock_rules rules = {.files = true, .paths = allowed, .n_paths = 2};
    pid_t pid = fork();
    if (pid == 0) {
        (void)restrict_to(&rules);
        _exit(isatty(open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)));
    }
    int status;
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(status, 0);
    allowed[1].access |= SANDBOX_ACCESS_DEVICES;
    (void)restrict_to(&rules);
    auto_close int again = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    CHECK(isatty(again));
    (void)close(master);
    (void)close(slave);
}

/* ---- TCP ---- */

static struct sockaddr_in loopback(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int listen_somewhere(uint16_t *ret_port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in addr = loopback(0);
    socklen_t len = sizeof(addr);
    if (fd < 0 || bind(fd, (struct sockaddr *)&addr, len) < 0 || listen(fd, 4) < 0)
        SKIP("no loopback");
    CHECK_INT(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
    *ret_port = ntohs(addr.sin_port);
    return fd;
}

static int try_connect(uint16_t port)
{
    auto_close int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in addr = loopback(port);
    return result(connect(fd, (struct sockaddr *)&addr, sizeof(addr)));
}

static int try_bind(uint16_t port)
{
    auto_close int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in addr = loopback(port);
    return result(bind(fd, (struct sockaddr *)&addr, sizeof(addr)));
}

TEST(only_the_ports_of_the_rules_are_connected_to)
{
    need_abi(4);
    uint16_t open_port, other_port;
    auto_close int a = listen_somewhere(&open_port);
    auto_close int b = listen_somewhere(&other_port);
    CHECK(a >= 0 && b >= 0 && open_port != other_port);
    struct sandbox_landlock_port port = {.port = open_port, .connect = true};
    struct sandbox_landlock_rules rules = {.tcp = true, .ports = &port, .n_ports = 1};
    (void)restrict_to(&rules);
    CHECK_INT(try_connect(open_port), 0);
    CHECK_INT(try_connect(other_port), EACCES);
    CHECK_INT(try_bind(0), EACCES);
    CHECK_INT(try_open("/etc/passwd", O_RDONLY), 0);
}

TEST(without_ports_there_is_no_tcp)
{
    need_abi(4);
    uint16_t port;
    auto_close int a = listen_somewhere(&port);
    CHECK(a >= 0);
    struct sandbox_landlock_rules rules = {.tcp = true};
    (void)restrict_to(&rules);
    CHECK_INT(try_connect(port), EACCES);
    CHECK_INT(try_bind(0), EACCES);
}

TEST(a_port_may_be_for_servers)
{
    need_abi(4);
    struct sandbox_landlock_port port = {.port = 0, .bind = true};
    struct sandbox_landlock_rules rules = {.tcp = true, .ports = &port, .n_ports = 1};
    (void)restrict_to(&rules);
    CHECK_INT(try_bind(0), 0);
    CHECK_INT(try_connect(1), EACCES);
}

/* ---- processes outside ---- */

static struct sockaddr_un abstract_name(socklen_t *ret_len)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int n = snprintf(addr.sun_path + 1, sizeof(addr.sun_path) - 1, "nacre-test-%d", getpid());
    *ret_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    return addr;
}

TEST(abstract_sockets_outside_cannot_be_reached)
{
    need_abi(6);
    socklen_t len;
    struct sockaddr_un addr = abstract_name(&len);
    auto_close int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_INT(bind(server, (struct sockaddr *)&addr, len), 0);
    CHECK_INT(listen(server, 4), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct sandbox_landlock_rules rules = {.scope_abstract = true};
        (void)restrict_to(&rules);
        auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        _exit(result(connect(fd, (struct sockaddr *)&addr, len)));
    }
    int status;
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(WEXITSTATUS(status), EPERM);
}

TEST(processes_outside_get_no_signals)
{
    need_abi(6);
    pid_t pid = fork();
    if (pid == 0) {
        struct sandbox_landlock_rules rules = {.scope_signals = true};
        (void)restrict_to(&rules);
        if (kill(getpid(), 0) < 0)
            _exit(1);
        _exit(result(kill(getppid(), 0)));
    }
    int status;
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(WEXITSTATUS(status), EPERM);
}

/* ---- older kernels ---- */

static uint32_t lacks_of(int abi)
{
    struct sandbox_landlock_rules rules = {
        .files = true, .tcp = true, .scope_abstract = true, .scope_signals = true, .max_abi = abi};
    auto_close int fd = -1;
    uint32_t lacks = UINT32_MAX;
    CHECK_INT(sandbox_landlock_open(&rules, &fd, &lacks, NULL), 0);
    CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    return lacks;
}

TEST(it_says_what_an_older_abi_lacks)
{
    static const uint32_t lacks[] = {
        SANDBOX_LACKS_REFER, SANDBOX_LACKS_TRUNCATE, SANDBOX_LACKS_TCP,
        SANDBOX_LACKS_IOCTL, SANDBOX_LACKS_SCOPES,   SANDBOX_LACKS_SOCKETS,
    };
    static const int since[] = {2, 3, 4, 5, 6, 9};
    for (int abi = 1; abi <= sandbox_landlock_abi(); abi++) {
        uint32_t expected = 0;
        for (size_t i = 0; i < sizeof(since) / sizeof(since[0]); i++)
            if (since[i] > abi)
                expected |= lacks[i];
        CHECK_INT(lacks_of(abi), expected);
    }
}

TEST(what_was_not_asked_for_is_not_lacking)
{
    need_abi(1);
    struct sandbox_landlock_rules rules = {.tcp = true, .max_abi = 1};
    int fd;
    uint32_t lacks = 0;
    CHECK_INT(sandbox_landlock_open(&rules, &fd, &lacks, NULL), -EOPNOTSUPP);
    CHECK_INT(lacks, SANDBOX_LACKS_TCP);
}

TEST(an_older_abi_still_guards_files)
{
    need_abi(1);
    make_tree();
    struct sandbox_landlock_rules rules = files;
    rules.max_abi = 1;
    CHECK(restrict_to(&rules) & SANDBOX_LACKS_TRUNCATE);
    CHECK_INT(try_open("read/file", O_WRONLY), EACCES);
    CHECK_INT(try_open("work/file", O_WRONLY), 0);
    CHECK_INT(try_open("none/true", O_RDONLY), EACCES);
}

/* A filter under which the kernel has no Landlock. */
static void hide_landlock(void)
{
    struct sock_filter items[] = {
        {.code = BPF_LD | BPF_W | BPF_ABS, .k = offsetof(struct seccomp_data, nr)},
        {.code = BPF_JMP | BPF_JEQ | BPF_K,                                .k = SYS_landlock_create_ruleset,                                 .jf = 1},
        {.code = BPF_RET | BPF_K,                         .k = SECCOMP_RET_ERRNO | ENOSYS                         },
        {.code = BPF_RET | BPF_K,.k = SECCOMP_RET_ALLOW},
    };
    struct sandbox_filter filter = {.items = items, .n_items = 4};
    CHECK_INT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    CHECK_INT(sandbox_filter_install(&filter, NULL), 0);
}

TEST(a_kernel_without_landlock)
{
    hide_landlock();
    CHECK_INT(sandbox_landlock_abi(), 0);
    CHECK_INT(errno, ENOSYS);
    struct sandbox_landlock_rules rules = {.files = true, .tcp = true, .scope_signals = true};
    int fd;
    uint32_t lacks = 0;
    struct err err = {0};
    CHECK_INT(sandbox_landlock_open(&rules, &fd, &lacks, &err), -ENOSYS);
    CHECK_INT(lacks, SANDBOX_LACKS_LANDLOCK | SANDBOX_LACKS_TCP | SANDBOX_LACKS_SCOPES);
    CHECK(strstr(err.text, "Landlock"));
}
