/* SPDX-License-Identifier: MIT */
/* Calls that a payload has no business with. None can do harm: see attack.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attack.h"

enum { OPEN_TREE_ATTR = 467, LSM_SET_SELF_ATTR = 460, NEWER = 600, NO = -1, NO_SUCH = 0x7fffffff };

static enum attack_result join_session_keyring(void)
{
    return attack_refused(syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL));
}

static enum attack_result read_user_keyring(void)
{
    return attack_refused(
        syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 0, 0, 0));
}

static enum attack_result add_key(void)
{
    return attack_refused(
        syscall(SYS_add_key, "user", "nacre-attack", "x", 1UL, KEY_SPEC_PROCESS_KEYRING));
}

static enum attack_result bpf_map(void)
{
    struct {
        uint32_t type, key_size, value_size, max_entries, pad[28];
    } attr = {.type = 2 /* array */, .key_size = 4, .value_size = 4, .max_entries = 1};
    return attack_refused(syscall(SYS_bpf, 0 /* create a map */, &attr, sizeof(attr)));
}

static enum attack_result perf_event(void)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof(attr),
                                   .config = PERF_COUNT_SW_CPU_CLOCK,
                                   .disabled = 1,
                                   .exclude_kernel = 1};
    return attack_refused(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0UL));
}

static enum attack_result io_uring(void)
{
    char params[120] = {0};
    return attack_refused(syscall(SYS_io_uring_setup, 1, params));
}

/* A filter that returns SECCOMP_RET_ALLOW. */
static long install_allow_all(unsigned long flags)
{
    struct {
        uint16_t code;
        uint8_t jt, jf;
        uint32_t k;
    } allow = {.code = 6, .k = 0x7fff0000};
    struct {
        unsigned short len;
        void *items;
    } program = {1, &allow};
    return syscall(SYS_seccomp, 1, flags, &program);
}

static enum attack_result seccomp_listener(void)
{
    return attack_refused(install_allow_all(1UL << 3));
}

/* A filter of its own that claims that all is allowed must not lift the one there is. */
static enum attack_result seccomp_allow_all(void)
{
    if (install_allow_all(0) < 0)
        return ATTACK_BLOCKED;
    return attack_denied(syscall(SYS_unshare, CLONE_NEWUSER));
}

static enum attack_result set_clock(void)
{
    struct timespec now; /* the time it is, should it work */
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return attack_refused(clock_settime(CLOCK_REALTIME, &now));
}

static enum attack_result set_time_of_day(void)
{
    struct timeval now;
    (void)gettimeofday(&now, NULL);
    return attack_refused(settimeofday(&now, NULL));
}

/* The tick that it has. */
static enum attack_result adjust_clock(void)
{
    struct timex timex = {0};
    if (adjtimex(&timex) < 0)
        return ATTACK_BLOCKED;
    timex.modes = ADJ_TICK;
    return attack_refused(adjtimex(&timex));
}

/* Of a session without a terminal. */
static enum attack_result hang_up(void)
{
    return setsid() < 0 ? ATTACK_NOT_APPLICABLE : attack_refused(vhangup());
}

static enum attack_result hang_up_in_child(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit((int)hang_up());
    int status = 0;
    (void)waitpid(pid, &status, 0);
    return (enum attack_result)WEXITSTATUS(status);
}

static enum attack_result enter_own_namespace(void)
{
    int fd = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
    return fd < 0 ? ATTACK_NOT_APPLICABLE : attack_refused(setns(fd, CLONE_NEWUTS));
}

static enum attack_result odd_personality(void)
{
    return attack_refused(personality(READ_IMPLIES_EXEC | MMAP_PAGE_ZERO));
}

static enum attack_result map_page_zero(void)
{
    void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return p == MAP_FAILED ? ATTACK_BLOCKED : ATTACK_ESCAPED;
}

#if defined(__x86_64__)
static enum attack_result x32_call(void)
{
    return attack_refused(syscall(0x40000000 | SYS_getpid));
}

static enum attack_result int80_call(void)
{
    long rc;
    __asm__ volatile("int $0x80" : "=a"(rc) : "a"(20L) : "memory"); /* getpid of i386 */
    return rc > 0 ? ATTACK_ESCAPED : ATTACK_BLOCKED;
}
#else
static enum attack_result x32_call(void)
{
    return ATTACK_NOT_APPLICABLE;
}

static enum attack_result int80_call(void)
{
    return ATTACK_NOT_APPLICABLE;
}
#endif

/* A call that no list knows yet must not be there. */
static enum attack_result newer_call(void)
{
    return syscall(NEWER) < 0 && errno == ENOSYS ? ATTACK_BLOCKED : ATTACK_ESCAPED;
}

#define HERE ((long)"/")

static const struct attack_case cases[] = {
    {"keyring-join",       join_session_keyring, 0,                   {0}                                       },
    {"keyring-user",       read_user_keyring,    0,                   {0}                                       },
    {"keyring-add",        add_key,              0,                   {0}                                       },
    {"keyring-request",    NULL,                 SYS_request_key,     {(long)"user", (long)""}                  },
    {"bpf",                bpf_map,              0,                   {0}                                       },
    {"perf",               perf_event,           0,                   {0}                                       },
    {"userfaultfd",        NULL,                 SYS_userfaultfd,     {1}                                       },
    {"io-uring",           io_uring,             0,                   {0}                                       },
    {"seccomp-listener",   seccomp_listener,     0,                   {0}                                       },
    {"seccomp-allow-all",  seccomp_allow_all,    0,                   {0}                                       },
    {"fanotify",           NULL,                 SYS_fanotify_init,   {0}                                       },
    {"lsm-label",          NULL,                 LSM_SET_SELF_ATTR,   {NO_SUCH}                                 },
    {"kexec",              NULL,                 SYS_kexec_load,      {0, 0, 0, NO_SUCH}                        },
    {"kexec-file",         NULL,                 SYS_kexec_file_load, {NO, NO, 0, 0, NO_SUCH}                   },
    {"reboot",             NULL,                 SYS_reboot,          {0}                                       },
    {"module-init",        NULL,                 SYS_init_module,     {0}                                       },
    {"module-finit",       NULL,                 SYS_finit_module,    {NO}                                      },
    {"module-delete",      NULL,                 SYS_delete_module,   {0}                                       },
    {"clock-set",          set_clock,            0,                   {0}                                       },
    {"clock-adjust",       adjust_clock,         0,                   {0}                                       },
    {"clock-settimeofday", set_time_of_day,      0,                   {0}                                       },
    {"swapon",             NULL,                 SYS_swapon,          {(long)"/nowhere/at"}                     },
    {"swapoff",            NULL,                 SYS_swapoff,         {0}                                       },
    {"acct",               NULL,                 SYS_acct,            {1}                                       },
    {"quotactl",           NULL,                 SYS_quotactl,        {NO_SUCH}                                 },
    {"syslog",             NULL,                 SYS_syslog,          {3, 0, 0}                                 },
    {"vhangup",            hang_up_in_child,     0,                   {0}                                       },
    {"hostname",           NULL,                 SYS_sethostname,     {0, NO_SUCH}                              },
    {"personality",        odd_personality,      0,                   {0}                                       },
    {"page-zero",          map_page_zero,        0,                   {0}                                       },
    {"x32",                x32_call,             0,                   {0}                                       },
    {"int80",              int80_call,           0,                   {0}                                       },
    {"newer-call",         newer_call,           0,                   {0}                                       },
#if defined(__x86_64__)
    {"iopl",               NULL,                 SYS_iopl,            {3}                                       },
    {"ioperm",             NULL,                 SYS_ioperm,          {0, 1, 1}                                 },
    {"modify-ldt",         NULL,                 SYS_modify_ldt,      {0, 0, 0}                                 },
#endif
    {"ns-user",            NULL,                 SYS_unshare,         {CLONE_NEWUSER}                           },
    {"ns-user-net",        NULL,                 SYS_unshare,         {0x50000000}                              },
    {"ns-mount",           NULL,                 SYS_unshare,         {CLONE_NEWNS}                             },
    {"ns-time",            NULL,                 SYS_unshare,         {0x80}                                    },
    {"ns-clone3",          NULL,                 SYS_clone3,          {0, 64}                                   },
    {"ns-setns",           enter_own_namespace,  0,                   {0}                                       },
    {"mount",              NULL,                 SYS_mount,           {0, HERE, (long)"none"}                   },
    {"umount",             NULL,                 SYS_umount2,         {HERE, 4 /* MNT_EXPIRE: never the root */}},
    {"pivot-root",         NULL,                 SYS_pivot_root,      {HERE, HERE}                              },
    {"mount-open-tree",    NULL,                 SYS_open_tree,       {NO, HERE, 1}                             },
    {"mount-tree-attr",    NULL,                 OPEN_TREE_ATTR,      {NO, HERE, 1}                             },
    {"mount-move",         NULL,                 SYS_move_mount,      {NO}                                      },
    {"mount-fsopen",       NULL,                 SYS_fsopen,          {(long)"tmpfs", 0}                        },
    {"mount-setattr",      NULL,                 SYS_mount_setattr,   {NO, HERE, 0, 0, 32}                      },
};

const struct attack_group attack_kernel = {cases, sizeof(cases) / sizeof(cases[0])};
