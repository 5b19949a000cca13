/* SPDX-License-Identifier: MIT */
#include "cli/check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/rundir.h"
#include "cli/probe.h"
#include "proc/pty.h"
#include "proc/tree.h"

enum { PATH_BYTES_MAX = 64 * 1024, BASH_MAJOR_MIN = 4 };

static int say(struct cli_check_result *ret, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static int say(struct cli_check_result *ret, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(ret->detail, sizeof(ret->detail), fmt, args); /* a long path is cut */
    va_end(args);
    return 0;
}

/* ---- programs ---- */

/* What `program -c text` prints. */
static int ask_bash(const char *program, const char *text, struct buf *answer, struct err *err)
{
    int pipe_fds[2];
    int rc = io_pipe(pipe_fds);
    if (rc < 0)
        return err_set(err, -rc, "make a pipe");
    auto_close int read_end = pipe_fds[0];
    auto_close int write_end = pipe_fds[1];
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return err_set(err, ENOMEM, "run '%s'", program);
    char *argv[] = {(char[]){"bash"}, (char[]){"-c"}, xstrdup(text), NULL};
    char *envp[] = {NULL};
    pid_t pid = 0;
    rc = posix_spawn_file_actions_adddup2(&actions, write_end, STDOUT_FILENO);
    if (rc == 0)
        rc = posix_spawn(&pid, program, &actions, NULL, argv, envp);
    (void)posix_spawn_file_actions_destroy(&actions);
    free(argv[2]);
    if (rc != 0)
        return err_set(err, rc, "run '%s'", program);
    own_close_fd(&write_end);
    rc = io_read_fd(read_end, answer->max, answer);
    int status;
    (void)waitpid(pid, &status, 0);
    return rc < 0 ? err_set(err, -rc, "read what '%s' says", program) : 0;
}

/* In PATH, then where it usually is: in the order in which sessions look. */
static int find_bash(struct buf *ret, struct err *err)
{
    const char *path = getenv("PATH");
    for (const char *dir = path ? path : ""; *dir;) {
        size_t len = strcspn(dir, ":");
        buf_clear(ret);
        if (buf_append(ret, dir, len) == 0 && buf_append_str(ret, "/bash") == 0 &&
            access(buf_cstr(ret), X_OK) == 0)
            return 0;
        dir += len + (dir[len] == ':');
    }
    buf_clear(ret);
    if (access("/bin/bash", X_OK) == 0)
        return buf_append_str(ret, "/bin/bash");
    return err_set(err, ERR_NOT_FOUND, "no bash in PATH, and no /bin/bash");
}

static int check_bash(struct cli_check_result *ret, struct err *err)
{
    auto_buf struct buf path = BUF_INIT(PATH_BYTES_MAX);
    auto_buf struct buf version = BUF_INIT(256);
    int rc = find_bash(&path, err);
    if (rc == 0)
        rc = ask_bash(buf_cstr(&path), "printf %s \"$BASH_VERSION\"", &version, err);
    if (rc < 0)
        return rc;
    if (strtol(buf_cstr(&version), NULL, 10) < BASH_MAJOR_MIN)
        return err_set(err, ERR_UNSUPPORTED,
                       "'%s' is version '%s', but %d is the oldest that will do", buf_cstr(&path),
                       buf_cstr(&version), BASH_MAJOR_MIN);
    return say(ret, "%s, version %s", buf_cstr(&path), buf_cstr(&version));
}

static int check_spawn(struct cli_check_result *ret, struct err *err)
{
    return cli_probe_spawn(ret->detail, sizeof(ret->detail), err);
}

/* ---- directories ---- */

static const char *name_of_fs(long type)
{
    static const struct {
        long type;
        const char *name;
    } known[] = {
        {0x01021994, "tmpfs"   },
        {0xef53,     "ext4"    },
        {0x58465342, "xfs"     },
        {0x9123683e, "btrfs"   },
        {0x794c7630, "overlay" },
        {0x6969,     "nfs"     },
        {0x65735546, "fuse"    },
        {0x2fc12fc1, "zfs"     },
        {0x858458f6, "ramfs"   },
        {0x73717368, "squashfs"},
        {0xff534d42, "cifs"    },
        {0x01021997, "9p"      },
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].type == type)
            return known[i].name;
    return "another file system";
}

/* Makes a directory of ours below dir (which is made too), and takes it away again. */
static int try_dir(const char *dir, struct cli_check_result *ret, struct err *err)
{
    int rc = io_mkdir_p(dir, 0700, err);
    if (rc < 0)
        return rc;
    auto_free char *scratch = xasprintf("%s/check.XXXXXX", dir);
    if (!mkdtemp(scratch))
        return err_set(err, errno, "write to '%s'", dir);
    (void)rmdir(scratch);
    struct statfs fs;
    if (statfs(dir, &fs) < 0)
        return err_set(err, errno, "look at the file system of '%s'", dir);
    return say(ret, "%s is writable, on %s", dir, name_of_fs((long)fs.f_type));
}

static int check_run_dir(struct cli_check_result *ret, struct err *err)
{
    auto_free char *dir = NULL;
    int rc = rundir_find(&dir, err);
    return rc < 0 ? rc : try_dir(dir, ret, err);
}

/* As the daemon finds it. */
static int check_state_dir(struct cli_check_result *ret, struct err *err)
{
    const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    auto_free char *dir = NULL;
    if (base && *base == '/')
        dir = xasprintf("%s/nacre", base);
    else if (geteuid() == 0)
        dir = xstrdup("/var/lib/nacre");
    else if (home && *home == '/')
        dir = xasprintf("%s/.local/state/nacre", home);
    else
        return err_set(err, ERR_NOT_FOUND, "neither XDG_STATE_HOME nor HOME is set");
    return try_dir(dir, ret, err);
}

static int check_fifo(struct cli_check_result *ret, struct err *err)
{
    auto_free char *dir = NULL;
    int rc = rundir_find(&dir, err);
    if (rc < 0)
        return rc;
    auto_free char *path = xasprintf("%s/check.%d", dir, (int)getpid());
    if (mkfifo(path, 0600) < 0)
        return err_set(err, errno, "make a FIFO in '%s'", dir);
    auto_close int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    (void)unlink(path);
    if (fd < 0)
        return err_set(err, errno, "open a FIFO in '%s'", dir);
    return say(ret, "FIFOs work in %s", dir);
}

/* ---- the kernel ---- */

static int check_subreaper(struct cli_check_result *ret, struct err *err)
{
    int now = 0;
    if (prctl(PR_GET_CHILD_SUBREAPER, &now) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        return err_set(err, errno, "become the reaper of orphans");
    (void)prctl(PR_SET_CHILD_SUBREAPER, now);
    return say(ret, "orphans can be adopted");
}

static int check_proc(struct cli_check_result *ret, struct err *err)
{
    int rc = proc_check(err);
    return rc < 0 ? rc : say(ret, "/proc shows the processes");
}

static int check_pidfd(struct cli_check_result *ret, struct err *err)
{
    auto_close int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (fd < 0)
        return err_set(err, errno, "open a pidfd");
    if (syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) < 0)
        return err_set(err, errno, "send a signal through a pidfd");
    return say(ret, "processes can be held by descriptors");
}

static int check_pty(struct cli_check_result *ret, struct err *err)
{
    auto_close int master = -1;
    auto_close int slave = -1;
    int rc = proc_pty_open(24, 80, &master, &slave, err);
    return rc < 0 ? rc : say(ret, "terminals can be opened");
}

static int check_daemon(struct cli_check_result *ret, struct err *err)
{
    return cli_probe_daemon(ret->detail, sizeof(ret->detail), err);
}

/* clang-format off */
const struct cli_check cli_checks[] = {
    {"bash", "install bash (apt-get install bash)", check_bash},
    {"nacre-spawn", "install nacre as a whole, or set NACRE_SPAWN to the path of nacre-spawn", check_spawn},
    {"run dir", "set XDG_RUNTIME_DIR to a directory that only you can write to", check_run_dir},
    {"state dir", "set XDG_STATE_HOME to a directory that you can write to", check_state_dir},
    {"daemon", "see what 'nacre serve --foreground' says; NACRED and NACRE_SOCKET name its program and socket", check_daemon},
    {"proc", "mount proc at /proc in this PID namespace (unshare --mount-proc does it)", check_proc},
    {"subreaper", "Linux 3.4 has this; a seccomp filter may forbid prctl", check_subreaper},
    {"pidfd", "Linux 5.3 has this; a seccomp filter may forbid pidfd_open", check_pidfd},
    {"fifo", "set XDG_RUNTIME_DIR to a directory on tmpfs or another local file system", check_fifo},
    {"pty", "mount devpts at /dev/pts", check_pty},
    {NULL, NULL, NULL},
};
/* clang-format on */

int cli_check_run(const struct cli_check *check, struct cli_check_result *ret)
{
    struct err err = {0};
    *ret = (struct cli_check_result){0};
    int rc = check->run(ret, &err);
    if (rc == 0)
        return 0;
    memcpy(ret->detail, err.text, sizeof(ret->detail));
    ret->hint = check->hint;
    return rc;
}
