/* SPDX-License-Identifier: MIT */
/* Files outside the sandbox, and what the kernel shows as files. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack.h"

static enum attack_result secret(void)
{
    const char *path = getenv("ATTACK_SECRET");
    return path ? attack_open(path, O_RDONLY) : ATTACK_NOT_APPLICABLE;
}

static enum attack_result shadow(void)
{
    return attack_open("/etc/shadow", O_RDONLY);
}

/* Past the masks by the root of another process. */
static enum attack_result init_root(void)
{
    return attack_open("/proc/1/root/etc/shadow", O_RDONLY);
}

static enum attack_result outside_root(void)
{
    char path[64];
    long pid = attack_number("ATTACK_PID");
    if (pid < 0)
        return ATTACK_NOT_APPLICABLE;
    (void)snprintf(path, sizeof(path), "/proc/%ld/root/", pid);
    return attack_open(path, O_RDONLY | O_DIRECTORY);
}

static enum attack_result init_memory(void)
{
    return attack_open("/proc/1/mem", O_RDWR);
}

static enum attack_result init_program(void)
{
    return attack_open("/proc/1/exe", O_WRONLY);
}

static enum attack_result init_environment(void)
{
    char byte;
    int fd = open("/proc/1/environ", O_RDONLY | O_CLOEXEC);
    return fd >= 0 && read(fd, &byte, 1) == 1 ? ATTACK_ESCAPED : ATTACK_BLOCKED;
}

static enum attack_result make_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return ATTACK_BLOCKED;
    (void)close(fd);
    (void)unlink(path);
    return ATTACK_ESCAPED;
}

static enum attack_result write_root(void)
{
    return make_file("/nacre-attack");
}

static enum attack_result write_usr(void)
{
    return make_file("/usr/bin/nacre-attack");
}

static enum attack_result write_etc(void)
{
    return make_file("/etc/nacre-attack");
}

static enum attack_result write_passwd(void)
{
    return attack_open("/etc/passwd", O_WRONLY);
}

static enum attack_result write_dev(void)
{
    return make_file("/dev/nacre-attack");
}

/* The classical way out: a root within the root, and a directory left open outside the new one. */
static enum attack_result chroot_escape(void)
{
    (void)mkdir("attack-root", 0700);
    int out = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long rc = chroot("attack-root");
    if (rc == 0 && fchdir(out) == 0)
        for (int i = 0; i < 64; i++)
            (void)chdir("..");
    (void)unlinkat(out, "attack-root", AT_REMOVEDIR);
    return attack_refused(rc);
}

static enum attack_result handle(void)
{
    struct {
        struct file_handle head;
        unsigned char bytes[128];
    } file = {.head.handle_bytes = sizeof(file.bytes)};
    int mount;
    if (name_to_handle_at(AT_FDCWD, "/usr", &file.head, &mount, 0) < 0)
        file.head.handle_type = 1; /* made up: the call must fail for want of permission */
    int dir = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return attack_denied(open_by_handle_at(dir, &file.head, O_RDONLY));
}

static enum attack_result hard_link(void)
{
    long rc = link("/etc/passwd", "attack-link");
    (void)unlink("attack-link");
    return attack_refused(rc);
}

static enum attack_result device(mode_t type, dev_t number)
{
    long rc = mknod("attack-device", type | 0600, number);
    (void)unlink("attack-device");
    return attack_refused(rc);
}

static enum attack_result block_device(void)
{
    return device(S_IFBLK, makedev(254, 0));
}

static enum attack_result memory_device(void)
{
    return device(S_IFCHR, makedev(1, 1));
}

/* To an overlay this is a deleted file, and anyone may make one. */
static enum attack_result whiteout(void)
{
    return device(S_IFCHR, makedev(0, 0));
}

static enum attack_result devices(void)
{
    static const char *const names[] = {
        "/dev/mem",   "/dev/kmem",         "/dev/port",        "/dev/kmsg",  "/dev/kvm",
        "/dev/fuse",  "/dev/net/tun",      "/dev/console",     "/dev/vda",   "/dev/sda",
        "/dev/loop0", "/dev/loop-control", "/dev/userfaultfd", "/dev/vsock", "/dev/btrfs-control",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (attack_open(names[i], O_RDONLY) == ATTACK_ESCAPED)
            return ATTACK_ESCAPED;
    return ATTACK_BLOCKED;
}

/* Opening for writing is enough; nothing is written. */
static enum attack_result switches(const char *const *paths)
{
    for (; *paths; paths++)
        if (attack_open(*paths, O_WRONLY) == ATTACK_ESCAPED) {
            (void)printf("%s can be written\n", *paths);
            return ATTACK_ESCAPED;
        }
    return ATTACK_BLOCKED;
}

static enum attack_result core_pattern(void)
{
    static const char *const paths[] = {"/proc/sys/kernel/core_pattern", NULL};
    return switches(paths);
}

static enum attack_result proc_switches(void)
{
    static const char *const paths[] = {"/proc/sysrq-trigger",
                                        "/proc/sys/kernel/modprobe",
                                        "/proc/sys/kernel/hostname",
                                        "/proc/sys/vm/overcommit_memory",
                                        "/proc/sys/fs/binfmt_misc/register",
                                        "/proc/sys/net/ipv4/ip_forward",
                                        "/proc/sys/user/max_user_namespaces",
                                        "/proc/irq/default_smp_affinity",
                                        "/proc/mtrr",
                                        NULL};
    return switches(paths);
}

static enum attack_result sys_switches(void)
{
    static const char *const paths[] = {"/sys/kernel/uevent_helper", "/sys/power/state",
                                        "/sys/kernel/mm/transparent_hugepage/enabled",
                                        "/sys/kernel/security/lsm", NULL};
    return switches(paths);
}

static enum attack_result cgroup_files(void)
{
    static const char *const paths[] = {"/sys/fs/cgroup/cgroup.procs",
                                        "/sys/fs/cgroup/unified/cgroup.procs",
                                        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
                                        "/sys/fs/cgroup/memory/release_agent",
                                        "/sys/fs/cgroup/pids/cgroup.procs",
                                        "/sys/fs/cgroup/devices/devices.allow",
                                        NULL};
    return switches(paths);
}

static enum attack_result kcore(void)
{
    return attack_open("/proc/kcore", O_RDONLY);
}

/* A line of the file that holds the text. */
static bool contains(const char *path, const char *text)
{
    char line[1024];
    bool found = false;
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof(line), file))
        found = strstr(line, text) != NULL;
    if (file)
        (void)fclose(file);
    return found;
}

static enum attack_result kernel_addresses(void)
{
    char line[256] = "0000000000000000";
    FILE *file = fopen("/proc/kallsyms", "re");
    if (!file)
        return ATTACK_BLOCKED;
    (void)fgets(line, sizeof(line), file);
    (void)fclose(file);
    return strncmp(line, "0000000000000000", 16) == 0 ? ATTACK_BLOCKED : ATTACK_ESCAPED;
}

static enum attack_result keys_shown(void)
{
    return contains("/proc/keys", "keyring") ? ATTACK_ESCAPED : ATTACK_BLOCKED;
}

/* Descriptors beyond 0 to 2 that were inherited. */
static enum attack_result inherited(void)
{
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        return ATTACK_NOT_APPLICABLE;
    enum attack_result result = ATTACK_BLOCKED;
    for (struct dirent *e; (e = readdir(dir));) {
        long fd = strtol(e->d_name, NULL, 10);
        if (fd > 2 && fd != dirfd(dir))
            result = ATTACK_ESCAPED;
    }
    (void)closedir(dir);
    return result;
}

/* A program that lies in no file: policy, where programs come from named places only. */
static enum attack_result exec_memory(void)
{
    static char *const argv[] = {(char *)"true", NULL};
    char bytes[8192];
    int from = open("/bin/true", O_RDONLY | O_CLOEXEC);
    int to = memfd_create("attack", MFD_CLOEXEC);
    if (from < 0 || to < 0)
        return to < 0 ? ATTACK_BLOCKED : ATTACK_NOT_APPLICABLE;
    for (ssize_t n; (n = read(from, bytes, sizeof(bytes))) > 0;)
        if (write(to, bytes, (size_t)n) != n)
            return ATTACK_NOT_APPLICABLE;
    pid_t pid = fork();
    if (pid == 0) {
        (void)fexecve(to, argv, argv + 1);
        _exit(99);
    }
    int status = 0;
    (void)waitpid(pid, &status, 0);
    return pid > 0 && status == 0 ? ATTACK_ESCAPED : ATTACK_BLOCKED;
}

/* Whether a file that belongs to root and is set-user-ID gives anything when it runs. */
static enum attack_result set_user_id(void)
{
    static const char *const programs[] = {"/bin/su", "/usr/bin/passwd", "/bin/mount", NULL};
    for (const char *const *program = programs; *program; program++) {
        struct stat st;
        if (stat(*program, &st) < 0 || !(st.st_mode & S_ISUID) || st.st_uid == getuid())
            continue;
        char path[32];
        pid_t pid = fork();
        if (pid == 0) { /* the ids of a process that waits for its input */
            (void)close(0);
            (void)execl(*program, *program, "--help", (char *)NULL);
            _exit(99);
        }
        (void)snprintf(path, sizeof(path), "/proc/%d", pid);
        bool root = false;
        for (int i = 0; i < 200 && !root; i++)
            root = stat(path, &st) == 0 && st.st_uid == 0 && getuid() != 0;
        (void)waitpid(pid, NULL, 0);
        if (root)
            return ATTACK_ESCAPED;
    }
    return ATTACK_BLOCKED;
}

static const struct attack_case cases[] = {
    {"read-secret",       secret,           0, {0}},
    {"read-shadow",       shadow,           0, {0}},
    {"proc-init-root",    init_root,        0, {0}},
    {"proc-outside-root", outside_root,     0, {0}},
    {"proc-init-mem",     init_memory,      0, {0}},
    {"proc-init-exe",     init_program,     0, {0}},
    {"proc-init-environ", init_environment, 0, {0}},
    {"write-root",        write_root,       0, {0}},
    {"write-usr",         write_usr,        0, {0}},
    {"write-etc",         write_etc,        0, {0}},
    {"write-passwd",      write_passwd,     0, {0}},
    {"write-dev",         write_dev,        0, {0}},
    {"chroot",            chroot_escape,    0, {0}},
    {"handle",            handle,           0, {0}},
    {"hard-link",         hard_link,        0, {0}},
    {"mknod-block",       block_device,     0, {0}},
    {"mknod-memory",      memory_device,    0, {0}},
    {"mknod-whiteout",    whiteout,         0, {0}},
    {"devices",           devices,          0, {0}},
    {"core-pattern",      core_pattern,     0, {0}},
    {"proc-switches",     proc_switches,    0, {0}},
    {"sys-switches",      sys_switches,     0, {0}},
    {"cgroup-files",      cgroup_files,     0, {0}},
    {"proc-kcore",        kcore,            0, {0}},
    {"proc-kallsyms",     kernel_addresses, 0, {0}},
    {"proc-keys",         keys_shown,       0, {0}},
    {"inherited-fds",     inherited,        0, {0}},
    {"exec-memfd",        exec_memory,      0, {0}},
    {"exec-setuid",       set_user_id,      0, {0}},
};

const struct attack_group attack_files = {cases, sizeof(cases) / sizeof(cases[0])};
