/* SPDX-License-Identifier: MIT */
/*
 * Every attack on what a process gives up by itself: ids, capabilities, resource limits, Landlock
 * and the filter of system calls. It runs in a cage (lib/cage.h), so that nothing outside is
 * reached by what these do not stop; the cage's namespaces are shared with the attacked side.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "lib/cage.h"
#include "lib/test.h"
#include "sandbox/caps.h"
#include "sandbox/landlock.h"
#include "sandbox/seccomp.h"

enum { NOBODY = 65534, CASE_TIMEOUT_S = 40, MIB = 1 << 20 };

/* What needs a layer that is not here. */
static const struct {
    const char *name;
    const char *needs;
} exceptions[] = {
    {"proc-init-environ", "a PID namespace"                                },
    {"see-outside",       "a PID namespace"                                },
    {"shm-outside",       "an IPC namespace, where the user is the same"   },
    {"unix-path",         "a mount namespace, or Landlock ABI 9"           },
    {"exec-memfd",        "programs may be made; it is the filter's policy"},
    {"memory-many",       "a memory cgroup"                                },
    {"memory-shared",     "a memory cgroup"                                },
    {"memory-file",       "a memory cgroup"                                },
    {"memory-buffers",    "a memory cgroup"                                },
    {"fill-work",         "a limited file system"                          },
    {"fill-tmp",          "a limited file system"                          },
    {"fill-shm",          "a limited file system"                          },
    {"many-files",        "a limited file system"                          },
    {"deep-directories",  "a limited file system"                          },
    {"inherited-fds",     "the supervisor, which closes them"              },
};

static const char *exception(const char *name)
{
    for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++)
        if (strcmp(exceptions[i].name, name) == 0)
            return exceptions[i].needs;
    return NULL;
}

/* ---- what is attacked ---- */

static void set_number(const char *name, long value)
{
    char text[24];
    (void)snprintf(text, sizeof(text), "%ld", value);
    (void)setenv(name, text, 1);
}

static int plant_abstract(void)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX, .sun_path = "\0nacre-attacked"};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t len = offsetof(struct sockaddr_un, sun_path) + sizeof("\0nacre-attacked") - 1;
    if (bind(fd, (struct sockaddr *)&addr, len) == 0 && listen(fd, 4) == 0)
        (void)setenv("ATTACK_ABSTRACT", "nacre-attacked", 1);
    return fd;
}

static int plant_socket(void)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    (void)snprintf(addr.sun_path, sizeof(addr.sun_path), "socket");
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0 && listen(fd, 4) == 0);
    CHECK_INT(chmod("socket", 0777), 0);
    (void)setenv("ATTACK_SOCKET", "socket", 1);
    return fd;
}

static int plant_tcp(void)
{
    struct sockaddr_in addr = {.sin_family = AF_INET};
    socklen_t len = sizeof(addr);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(fd, (struct sockaddr *)&addr, len) == 0 && listen(fd, 4) == 0);
    CHECK_INT(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
    set_number("ATTACK_TCP", ntohs(addr.sin_port));
    return fd;
}

/* ---- how it is confined ---- */

static void limit(__rlimit_resource_t what, rlim_t value)
{
    const struct rlimit both = {value, value};
    if (setrlimit(what, &both) < 0)
        _exit(100);
}

static int restrict_files(struct err *err)
{
    static const struct sandbox_landlock_path paths[] = {
        {.path = "/usr",                      .fd = AT_FDCWD,                    .access = SANDBOX_ACCESS_READ_EXEC},
        {.path = "/lib",                                   .fd = AT_FDCWD,                                                       .access = SANDBOX_ACCESS_READ_EXEC, .optional = true},
        {.path = "/lib64", .fd = AT_FDCWD,.access = SANDBOX_ACCESS_READ_EXEC, .optional = true},
        {.path = "/bin",                    .fd = AT_FDCWD,                                       .access = SANDBOX_ACCESS_READ_EXEC, .optional = true},
        {.path = "/proc",                   .fd = AT_FDCWD,                                                    .access = SANDBOX_ACCESS_READ},
        {.path = "/dev/null",  .fd = AT_FDCWD,.access = SANDBOX_ACCESS_READ_WRITE},
        {.path = ".",                                   .fd = AT_FDCWD,                                                      .access = SANDBOX_ACCESS_READ_WRITE},
        {.fd = 3,      .access = SANDBOX_ACCESS_READ_EXEC},
    };
    static const struct sandbox_landlock_rules rules = {.files = true,
                                                        .paths = paths,
                                                        .n_paths = sizeof(paths) / sizeof(paths[0]),
                                                        .tcp = true,
                                                        .scope_abstract = true,
                                                        .scope_signals = true};
    int fd = -1;
    int rc = sandbox_landlock_open(&rules, &fd, NULL, err);
    if (rc == 0)
        rc = sandbox_landlock_restrict(fd, err);
    own_close(&fd);
    return rc;
}

static int give_up(const struct sandbox_filter *filter, struct err *err)
{
    if (geteuid() == 0 && (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
                           setresuid(NOBODY, NOBODY, NOBODY) < 0))
        return err_set(err, errno, "become nobody");
    int rc = sandbox_caps_drop(0, err);
    if (rc == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        rc = err_set(err, errno, "no new privileges");
    if (rc == 0)
        rc = restrict_files(err);
    return rc < 0 ? rc : sandbox_filter_install(filter, err);
}

static _Noreturn void attack(const struct sandbox_filter *filter, const char *name)
{
    struct err err = {0};
    int program = open(test_env("ATTACK"), O_PATH | O_CLOEXEC);
    (void)dup3(program, 3, O_CLOEXEC);
    (void)close_range(4, ~0U, 0);
    (void)setsid();
    limit(RLIMIT_NPROC, 64);
    limit(RLIMIT_NOFILE, 128);
    limit(RLIMIT_FSIZE, (rlim_t)64 * MIB);
    limit(RLIMIT_MEMLOCK, 64 << 10);
    limit(RLIMIT_SIGPENDING, 256);
    limit(RLIMIT_DATA, (rlim_t)128 * MIB);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_NICE, 0);
    limit(RLIMIT_RTPRIO, 0);
    if (give_up(filter, &err) < 0) {
        (void)fprintf(stderr, "%s\n", err.text);
        _exit(100);
    }
    char *argv[] = {(char *)"attack", (char *)name, NULL};
    (void)fexecve(3, argv, environ);
    _exit(100);
}

/* ---- a test for each case ---- */

static void run_case(const struct test_case *test)
{
    if (cage_missing())
        SKIP("%s", cage_missing());
    if (sandbox_landlock_abi() < 6)
        SKIP("no Landlock of ABI 6");
    CHECK_INT(chmod(".", 0777), 0);
    auto_close int abstract = plant_abstract();
    auto_close int path = plant_socket();
    auto_close int tcp = plant_tcp();
    auto_close int secret = open("/var/tmp/secret", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    CHECK(abstract >= 0 && path >= 0 && tcp >= 0 && secret >= 0);
    int shm = shmget(IPC_PRIVATE, 4096, 0600);
    set_number("ATTACK_PID", getpid());
    set_number("ATTACK_SHMID", shm);
    (void)setenv("ATTACK_SECRET", "/var/tmp/secret", 1);
    (void)setenv("ATTACK_PROCESSES", "80", 1);
    (void)setenv("ATTACK_FILES", "128", 1);
    (void)setenv("ATTACK_MEMORY_MIB", "128", 1);
    (void)setenv("ATTACK_TMP_MIB", "16", 1);
    (void)setenv("ATTACK_WORK_MIB", "16", 1);

    struct sandbox_filter filter;
    CHECK_INT(sandbox_filter_compile(0, &filter, NULL), 0);
    pid_t pid = fork();
    if (pid == 0)
        attack(&filter, test->arg);
    sandbox_filter_done(&filter);
    int status;
    CHECK_INT(waitpid(pid, &status, 0), pid);
    (void)shmctl(shm, IPC_RMID, NULL);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) <= 2);
    if (WEXITSTATUS(status) == 2)
        SKIP("does not apply");
    if (WEXITSTATUS(status) == 1 && exception(test->arg))
        SKIP("not stopped here: needs %s", exception(test->arg));
    if (WEXITSTATUS(status) == 1)
        FAIL("%s escaped", (const char *)test->arg);
}

static int n_cases;

TEST(the_program_has_cases)
{
    CHECK(n_cases > 100);
}

void test_collect(void)
{
    cage_enter();
    const char *program = getenv("ATTACK");
    int fds[2];
    if (!program || pipe(fds) < 0)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(fds[1], STDOUT_FILENO);
        (void)execl(program, program, "--list", (char *)NULL);
        _exit(1);
    }
    (void)close(fds[1]);
    FILE *list = fdopen(fds[0], "r");
    char line[64];
    while (list && fgets(line, sizeof(line), list)) {
        line[strcspn(line, "\n")] = '\0';
        struct test_case *test = xnew(struct test_case);
        *test = (struct test_case){.name = xstrdup(line),
                                   .body = run_case,
                                   .timeout_s = CASE_TIMEOUT_S,
                                   .arg = xstrdup(line)};
        test_add(test);
        n_cases++;
    }
    if (list)
        (void)fclose(list);
    (void)waitpid(pid, NULL, 0);
}
