/* SPDX-License-Identifier: MIT */
/* Processes outside, and privileges. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack.h"

static enum attack_result trace(pid_t pid)
{
    long rc = ptrace(PTRACE_SEIZE, pid, NULL, NULL);
    if (rc == 0)
        (void)ptrace(PTRACE_DETACH, pid, NULL, NULL);
    return attack_refused(rc);
}

static enum attack_result trace_init(void)
{
    return trace(1);
}

static enum attack_result trace_outside(void)
{
    long pid = attack_number("ATTACK_PID");
    return pid < 0 ? ATTACK_NOT_APPLICABLE : trace((pid_t)pid);
}

/* Policy: with the flag for debuggers this is allowed. */
static enum attack_result trace_child(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        (void)pause();
        _exit(0);
    }
    enum attack_result result = trace(pid);
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    return result;
}

static enum attack_result read_memory(pid_t pid)
{
    char bytes[8];
    struct iovec local = {bytes, sizeof(bytes)}, remote = {(void *)0x400000, sizeof(bytes)};
    return attack_denied(process_vm_readv(pid, &local, 1, &remote, 1, 0));
}

static enum attack_result vm_init(void)
{
    return read_memory(1);
}

static enum attack_result vm_outside(void)
{
    long pid = attack_number("ATTACK_PID");
    return pid < 0 ? ATTACK_NOT_APPLICABLE : read_memory((pid_t)pid);
}

static enum attack_result take_descriptor(void)
{
    int pidfd = (int)syscall(SYS_pidfd_open, 1, 0);
    return attack_denied(syscall(SYS_pidfd_getfd, pidfd, 0, 0));
}

static enum attack_result compare(void)
{
    return attack_denied(syscall(SYS_kcmp, 1, getpid(), 0, 0, 0));
}

static enum attack_result signal_outside(void)
{
    long pid = attack_number("ATTACK_PID");
    return pid < 0 ? ATTACK_NOT_APPLICABLE : attack_refused(kill((pid_t)pid, 0));
}

static enum attack_result see_outside(void)
{
    char path[64];
    long pid = attack_number("ATTACK_PID");
    if (pid < 0)
        return ATTACK_NOT_APPLICABLE;
    (void)snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    return attack_open(path, O_RDONLY);
}

/* Only where process 1 is known to be the sandbox's own. Whoever is dead does not answer. */
static enum attack_result kill_init(void)
{
    if (!getenv("ATTACK_PID_NAMESPACE"))
        return ATTACK_NOT_APPLICABLE;
    (void)kill(1, SIGTERM);
    (void)kill(1, SIGKILL);
    (void)kill(1, SIGSTOP);
    return ATTACK_BLOCKED;
}

static enum attack_result session_outside(void)
{
    return getsid(0) == 0 || getpgid(getppid()) == 0 ? ATTACK_ESCAPED : ATTACK_BLOCKED;
}

static enum attack_result shared_memory(void)
{
    long id = attack_number("ATTACK_SHMID");
    if (id < 0)
        return ATTACK_NOT_APPLICABLE;
    void *at = shmat((int)id, NULL, SHM_RDONLY);
    return at == (void *)-1 ? ATTACK_BLOCKED : ATTACK_ESCAPED;
}

static enum attack_result become_root(void)
{
    if (getuid() == 0)
        return ATTACK_NOT_APPLICABLE;
    return attack_refused(setresuid(0, 0, 0));
}

static enum attack_result become_other(void)
{
    return attack_refused(setresuid(12345, 12345, 12345));
}

static enum attack_result drop_groups(void)
{
    return attack_refused(syscall(SYS_setgroups, 0UL, NULL));
}

static enum attack_result has_capabilities(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {0};
    (void)syscall(SYS_capget, &head, data);
    uint32_t any =
        data[0].permitted | data[1].permitted | data[0].inheritable | data[1].inheritable;
    return any ? ATTACK_ESCAPED : ATTACK_BLOCKED;
}

static enum attack_result may_gain_privileges(void)
{
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? ATTACK_BLOCKED : ATTACK_ESCAPED;
}

static enum attack_result raise_limit(void)
{
    struct rlimit limit;
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_max += 1;
    return attack_refused(setrlimit(RLIMIT_NOFILE, &limit));
}

static enum attack_result oom_score(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    return fd >= 0 && write(fd, "-999", 4) == 4 ? ATTACK_ESCAPED : ATTACK_BLOCKED;
}

static enum attack_result niceness(void)
{
    errno = 0;
    int now = getpriority(PRIO_PROCESS, 0);
    return attack_refused(setpriority(PRIO_PROCESS, 0, now - 1));
}

static enum attack_result real_time(void)
{
    struct sched_param param = {.sched_priority = 1};
    return attack_refused(sched_setscheduler(0, SCHED_FIFO, &param));
}

static enum attack_result lock_memory(void)
{
    size_t size = 64U << 20;
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? ATTACK_NOT_APPLICABLE : attack_refused(mlock(at, size));
}

/* On a terminal of its own: whether the call works is what matters. */
static enum attack_result terminal(unsigned long request)
{
    int master, status = 0;
    pid_t pid = forkpty(&master, NULL, NULL, NULL);
    if (pid < 0)
        return ATTACK_NOT_APPLICABLE;
    if (pid == 0)
        _exit((int)attack_denied(syscall(SYS_ioctl, STDIN_FILENO, request, "x")));
    (void)waitpid(pid, &status, 0);
    (void)close(master);
    return WIFEXITED(status) ? (enum attack_result)WEXITSTATUS(status) : ATTACK_BLOCKED;
}

static enum attack_result sti(void)
{
    return terminal(TIOCSTI);
}

static enum attack_result sti_high_bits(void)
{
    return terminal(TIOCSTI | 1UL << 32);
}

static enum attack_result line_discipline(void)
{
    return terminal(TIOCSETD);
}

static enum attack_result outer_terminal(void)
{
    return attack_open("/dev/tty", O_RDWR);
}

/* Making others wait for a file: its holder is asked first. */
static enum attack_result lease(void)
{
    int fd = open("attack-lease", O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return ATTACK_NOT_APPLICABLE;
    long rc = fcntl(fd, F_SETLEASE, F_WRLCK);
    int code = errno;
    (void)unlink("attack-lease");
    errno = code;
    return rc < 0 ? ATTACK_BLOCKED : ATTACK_ESCAPED;
}

static const struct attack_case cases[] = {
    {"ptrace-init",     trace_init,          0, {0}},
    {"ptrace-outside",  trace_outside,       0, {0}},
    {"ptrace-child",    trace_child,         0, {0}},
    {"vm-init",         vm_init,             0, {0}},
    {"vm-outside",      vm_outside,          0, {0}},
    {"pidfd-getfd",     take_descriptor,     0, {0}},
    {"kcmp",            compare,             0, {0}},
    {"signal-outside",  signal_outside,      0, {0}},
    {"signal-init",     kill_init,           0, {0}},
    {"see-outside",     see_outside,         0, {0}},
    {"session-outside", session_outside,     0, {0}},
    {"shm-outside",     shared_memory,       0, {0}},
    {"setuid-root",     become_root,         0, {0}},
    {"setuid-other",    become_other,        0, {0}},
    {"setgroups",       drop_groups,         0, {0}},
    {"capabilities",    has_capabilities,    0, {0}},
    {"new-privileges",  may_gain_privileges, 0, {0}},
    {"rlimit-raise",    raise_limit,         0, {0}},
    {"oom-score",       oom_score,           0, {0}},
    {"nice",            niceness,            0, {0}},
    {"real-time",       real_time,           0, {0}},
    {"mlock",           lock_memory,         0, {0}},
    {"tiocsti",         sti,                 0, {0}},
    {"tiocsti-high",    sti_high_bits,       0, {0}},
    {"tiocsetd",        line_discipline,     0, {0}},
    {"terminal",        outer_terminal,      0, {0}},
    {"lease",           lease,               0, {0}},
};

const struct attack_group attack_processes = {cases, sizeof(cases) / sizeof(cases[0])};
