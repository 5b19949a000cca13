/* SPDX-License-Identifier: MIT */
#include "sandbox/seccomp.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "lib/test.h"
#include "sandbox/seccomp_list.h"

enum { ANY_FLAGS = 0, N_ARGS = 6 };

/* ---- the program, as the kernel would run it ---- */

#if defined(__x86_64__)
#    define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#    define NATIVE AUDIT_ARCH_AARCH64
#endif

static uint32_t run(const struct sandbox_filter *filter, const struct seccomp_data *data)
{
    uint32_t a = 0;
    for (size_t at = 0; at < filter->n_items; at++) {
        const struct sock_filter *item = &filter->items[at];
        bool jump;
        switch (item->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            CHECK(item->k % 4 == 0 && item->k < sizeof(*data));
            memcpy(&a, (const char *)data + item->k, sizeof(a));
            continue;
        case BPF_ALU | BPF_AND | BPF_K:
            a &= item->k;
            continue;
        case BPF_RET | BPF_K:
            return item->k;
        case BPF_JMP | BPF_JA:
            at += item->k;
            continue;
        case BPF_JMP | BPF_JEQ | BPF_K:
            jump = a == item->k;
            break;
        case BPF_JMP | BPF_JGT | BPF_K:
            jump = a > item->k;
            break;
        case BPF_JMP | BPF_JGE | BPF_K:
            jump = a >= item->k;
            break;
        case BPF_JMP | BPF_JSET | BPF_K:
            jump = a & item->k;
            break;
        default:
            FAIL("item %zu has the code 0x%x", at, item->code);
        }
        at += jump ? item->jt : item->jf;
    }
    FAIL("the program runs past its end");
}

/* 0: allowed, or the errno. */
static int answer_number(const struct sandbox_filter *filter, int number, const uint64_t *args)
{
    struct seccomp_data data = {.nr = number, .arch = NATIVE};
    memcpy(data.args, args, sizeof(data.args));
    uint32_t action = run(filter, &data);
    if (action == SECCOMP_RET_ALLOW)
        return 0;
    CHECK_INT(action & SECCOMP_RET_ACTION_FULL, SECCOMP_RET_ERRNO);
    return (int)(action & SECCOMP_RET_DATA);
}

static struct sandbox_filter compile(uint32_t flags)
{
    struct sandbox_filter filter;
    struct err err = {0};
    if (sandbox_filter_compile(flags, &filter, &err) < 0)
        FAIL("%s", err.text);
    return filter;
}

static bool lifted(const struct sandbox_rule *rule, uint32_t flags)
{
    return rule->unless & flags || (rule->only && !(rule->only & flags));
}

/* An argument for which the test holds. */
static uint64_t offending(const struct sandbox_arg *arg)
{
    if (arg->test == SANDBOX_ARG_IS)
        return arg->value;
    if (arg->test == SANDBOX_ARG_HAS_ANY)
        return arg->mask & -arg->mask;
    for (uint32_t value = 0;; value++) { /* SANDBOX_ARG_NOT_IN */
        bool found = false;
        for (size_t i = 0; i < arg->n_set; i++)
            found |= arg->set[i] == value;
        if (!found)
            return value;
    }
}

/* No other rule names the call: the answer is that of this one. */
static bool names_alone(const struct sandbox_rule *rule, const char *call)
{
    for (size_t i = 0; i < sandbox_n_rules; i++)
        for (int c = 0; c < SANDBOX_RULE_CALLS && sandbox_rules[i].calls[c]; c++)
            if (&sandbox_rules[i] != rule && strcmp(sandbox_rules[i].calls[c], call) == 0)
                return false;
    return true;
}

static void check_call(const struct sandbox_filter *filter, uint32_t flags,
                       const struct sandbox_rule *rule, const char *call, const uint64_t *args)
{
    int number = sandbox_call_number(call);
    if (number < 0)
        return; /* not on this machine */
    int found = answer_number(filter, number, args);
    bool alone = names_alone(rule, call);
    if (lifted(rule, flags) ? alone && found != 0 : found == 0 || (alone && found != rule->error))
        FAIL("flags %u: %s: %d", flags, call, found);
}

static void check_rule(const struct sandbox_filter *filter, uint32_t flags,
                       const struct sandbox_rule *rule)
{
    uint64_t args[N_ARGS] = {0};
    for (int i = 0; i < SANDBOX_RULE_ARGS && rule->args[i].test != SANDBOX_ARG_NONE; i++)
        args[rule->args[i].n] = offending(&rule->args[i]) | UINT64_C(1) << 40;
    for (int c = 0; c < SANDBOX_RULE_CALLS && rule->calls[c]; c++)
        check_call(filter, flags, rule, rule->calls[c], args);
}

TEST(every_rule_holds_with_every_set_of_flags)
{
    for (uint32_t flags = 0; flags <= SANDBOX_FILTER_FLAGS; flags++) {
        struct sandbox_filter filter = compile(flags);
        for (size_t i = 0; i < sandbox_n_rules; i++)
            check_rule(&filter, flags, &sandbox_rules[i]);
        sandbox_filter_done(&filter);
    }
}

TEST(every_rule_names_calls_and_says_why)
{
    for (size_t i = 0; i < sandbox_n_rules; i++) {
        const struct sandbox_rule *rule = &sandbox_rules[i];
        CHECK(rule->calls[0] && rule->error > 0);
        CHECK(rule->why && rule->why[0]);
        bool known = false;
        for (int c = 0; c < SANDBOX_RULE_CALLS && rule->calls[c]; c++)
            known |= sandbox_call_number(rule->calls[c]) != -1;
        CHECK(known);
    }
}

TEST(unknown_flags_are_refused)
{
    struct sandbox_filter filter;
    struct err err = {0};
    CHECK_INT(sandbox_filter_compile(1U << 31, &filter, &err), -EINVAL);
    CHECK(err.text[0]);
}

TEST(a_zeroed_filter_can_be_released)
{
    struct sandbox_filter filter = {0};
    sandbox_filter_done(&filter);
}

struct probe {
    const char *call;
    uint32_t flags;
    int error; /* 0: allowed */
    uint64_t args[N_ARGS];
};

/* Values at the edge of a rule. */
static const struct probe probes[] = {
    {"read",        0,                           0,               {0}                                        },
    {"execve",      0,                           0,               {0}                                        },
    {"chown",       0,                           0,               {0}                                        },
    {"clone",       0,                           0,               {CLONE_VM | CLONE_THREAD | CLONE_SIGHAND}  },
    {"clone",       0,                           0,               {SIGCHLD}                                  },
    {"clone",       0,                           EPERM,           {CLONE_NEWUSER | SIGCHLD}                  },
    {"clone",       0,                           EPERM,           {CLONE_NEWUSER | UINT64_C(1) << 32}        },
    {"unshare",     0,                           0,               {CLONE_FS | CLONE_FILES}                   },
    {"unshare",     0,                           EPERM,           {CLONE_FS | CLONE_NEWNS}                   },
    {"unshare",     0,                           EPERM,           {CLONE_NEWTIME}                            },
    {"unshare",     SANDBOX_FILTER_NESTED,       0,               {CLONE_NEWUSER}                            },
    {"ioctl",       0,                           0,               {0, TCGETS}                                },
    {"ioctl",       0,                           EPERM,           {0, TIOCSTI}                               },
    {"ioctl",       0,                           EPERM,           {0, TIOCSTI | UINT64_C(7) << 32}           },
    {"ioctl",       0,                           EPERM,           {0, TIOCLINUX | UINT64_C(1) << 63}         },
    {"ioctl",       0,                           EPERM,           {0, TIOCSETD}                              },
    {"ioctl",       0,                           0,               {0, TIOCSCTTY}                             },
    {"fcntl",       0,                           EPERM,           {0, F_SETLEASE}                            },
    {"fcntl",       0,                           0,               {0, F_GETLEASE}                            },
    {"fcntl",       0,                           0,               {0, F_SETLK}                               },
    {"personality", 0,                           0,               {0}                                        },
    {"personality", 0,                           0,               {0xffffffff}                               },
    {"personality", 0,                           0,               {UINT64_MAX}                               },
    {"personality", 0,                           0,               {ADDR_NO_RANDOMIZE}                        },
    {"personality", 0,                           EPERM,           {READ_IMPLIES_EXEC}                        },
    {"personality", 0,                           EPERM,           {ADDR_NO_RANDOMIZE | MMAP_PAGE_ZERO}       },
    {"seccomp",     0,                           0,               {SECCOMP_SET_MODE_FILTER, 0}               },
    {"seccomp",     0,                           EPERM,           {SECCOMP_SET_MODE_FILTER, 1 << 3 | 1}      },
    {"seccomp",     0,                           0,               {SECCOMP_GET_ACTION_AVAIL, 0}              },
    {"mknodat",     0,                           0,               {0, 0, S_IFIFO | 0600}                     },
    {"mknodat",     0,                           0,               {0, 0, S_IFSOCK | 0600}                    },
    {"mknodat",     0,                           0,               {0, 0, S_IFREG | 0600}                     },
    {"mknodat",     0,                           EPERM,           {0, 0, S_IFCHR | 0600}                     },
    {"mknodat",     0,                           EPERM,           {0, 0, S_IFBLK}                            },
    {"fchmodat",    0,                           0,               {0, 0, 04755}                              },
    {"fchmodat",    SANDBOX_FILTER_NO_SETID,     EPERM,           {0, 0, 04755}                              },
    {"fchmodat",    SANDBOX_FILTER_NO_SETID,     0,               {0, 0, 01777}                              },
    {"fchmodat2",   SANDBOX_FILTER_NO_SETID,     EPERM,           {0, 0, 02755}                              },
    {"openat",      SANDBOX_FILTER_NO_SETID,     EPERM,           {0, 0, O_CREAT, 04755}                     },
    {"openat",      SANDBOX_FILTER_NO_SETID,     0,               {0, 0, O_RDONLY, 04755}                    },
    {"openat",      SANDBOX_FILTER_NO_SETID,     0,               {0, 0, O_CREAT | O_WRONLY, 0755}           },
    {"openat2",     0,                           0,               {0}                                        },
    {"openat2",     SANDBOX_FILTER_NO_SETID,     ENOSYS,          {0}                                        },
    {"socket",      0,                           0,               {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC}      },
    {"socket",      0,                           0,               {AF_INET, SOCK_STREAM | SOCK_NONBLOCK}     },
    {"socket",      0,                           0,               {AF_INET6, SOCK_DGRAM, IPPROTO_UDP}        },
    {"socket",      0,                           0,               {AF_INET, SOCK_DGRAM, IPPROTO_ICMP}        },
    {"socket",      0,                           EPERM,           {AF_INET, SOCK_RAW, IPPROTO_ICMP}          },
    {"socket",      0,                           EPERM,           {AF_INET6, SOCK_RAW | SOCK_CLOEXEC, 58}    },
    {"socket",      0,                           EPERM,           {AF_INET, SOCK_PACKET, 0x300}              },
    {"socket",      0,                           EPROTONOSUPPORT, {AF_INET, SOCK_STREAM, IPPROTO_MPTCP}      },
    {"socket",      0,                           EPROTONOSUPPORT, {AF_INET6, SOCK_STREAM, IPPROTO_SCTP}      },
    {"socket",      0,                           0,               {AF_NETLINK, SOCK_RAW, NETLINK_ROUTE}      },
    {"socket",      0,                           EPROTONOSUPPORT, {AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER}  },
    {"socket",      0,                           EAFNOSUPPORT,    {AF_PACKET, SOCK_DGRAM}                    },
    {"socket",      0,                           EAFNOSUPPORT,    {AF_VSOCK, SOCK_STREAM}                    },
    {"socket",      0,                           EAFNOSUPPORT,    {AF_VSOCK | UINT64_C(1) << 32, SOCK_STREAM}},
    {"socket",      0,                           EAFNOSUPPORT,    {AF_ALG, SOCK_SEQPACKET}                   },
    {"socket",      0,                           EAFNOSUPPORT,    {1U << 31, SOCK_STREAM}                    },
    {"socket",      0,                           0,               {AF_INET | UINT64_C(5) << 32, SOCK_STREAM} },
    {"socket",      SANDBOX_FILTER_NO_INET,      EAFNOSUPPORT,    {AF_INET, SOCK_STREAM}                     },
    {"socket",      SANDBOX_FILTER_NO_INET,      EAFNOSUPPORT,    {AF_NETLINK, SOCK_RAW, NETLINK_ROUTE}      },
    {"socket",      SANDBOX_FILTER_NO_INET,      0,               {AF_UNIX, SOCK_STREAM}                     },
    {"socket",      SANDBOX_FILTER_NO_UNIX,      EPERM,           {AF_UNIX, SOCK_STREAM}                     },
    {"socket",      SANDBOX_FILTER_NO_UNIX,      0,               {AF_INET, SOCK_STREAM}                     },
    {"socketpair",  SANDBOX_FILTER_NO_UNIX,      0,               {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC}      },
    {"socketpair",  SANDBOX_FILTER_NO_UNIX,      0,               {AF_UNIX, SOCK_SEQPACKET}                  },
    {"socketpair",  SANDBOX_FILTER_NO_UNIX,      EPERM,           {AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC}       },
    {"socketpair",  SANDBOX_FILTER_NO_UNIX,      EPERM,           {AF_UNIX, SOCK_RAW}                        },
    {"socketpair",  0,                           0,               {AF_UNIX, SOCK_DGRAM}                      },
    {"socketpair",  0,                           EAFNOSUPPORT,    {30 /* AF_TIPC */, SOCK_STREAM}            },
    {"ptrace",      SANDBOX_FILTER_ALLOW_PTRACE, 0,               {0}                                        },
    {"pidfd_getfd", SANDBOX_FILTER_ALLOW_PTRACE, EPERM,           {0}                                        },
    {"clone3",      0,                           ENOSYS,          {0}                                        },
    {"clone3",      SANDBOX_FILTER_NESTED,       0,               {0}                                        },
};

TEST(values_at_the_edge_of_a_rule)
{
    for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
        struct sandbox_filter filter = compile(probes[i].flags);
        int number = sandbox_call_number(probes[i].call);
        CHECK(number >= 0);
        int found = answer_number(&filter, number, probes[i].args);
        if (found != probes[i].error)
            FAIL("probe %zu: %s: %d, not %d", i, probes[i].call, found, probes[i].error);
        sandbox_filter_done(&filter);
    }
}

TEST(calls_newer_than_the_list_do_not_exist)
{
    static const uint64_t args[N_ARGS];
    struct sandbox_filter filter = compile(ANY_FLAGS);
    CHECK_INT(answer_number(&filter, SANDBOX_LAST_CALL, args), 0);
    CHECK_INT(answer_number(&filter, SANDBOX_LAST_CALL + 1, args), ENOSYS);
    CHECK_INT(answer_number(&filter, 0x3fffffff, args), ENOSYS);
    sandbox_filter_done(&filter);
}

TEST(foreign_calls_kill)
{
    struct sandbox_filter filter = compile(SANDBOX_FILTER_NESTED);
    struct seccomp_data data = {.nr = 20 /* getpid of i386 */, .arch = AUDIT_ARCH_I386};
    CHECK_INT(run(&filter, &data), SECCOMP_RET_KILL_PROCESS);
    data.arch = AUDIT_ARCH_ARM;
    CHECK_INT(run(&filter, &data), SECCOMP_RET_KILL_PROCESS);
#if defined(__x86_64__)
    data = (struct seccomp_data){.nr = 0x40000000 | SYS_getpid, .arch = AUDIT_ARCH_X86_64};
    CHECK_INT(run(&filter, &data), SECCOMP_RET_KILL_PROCESS);
#endif
    sandbox_filter_done(&filter);
}

/* ---- in the kernel ---- */

/* Calls fn in a child under the filter; its wait status. */
static int in_child(uint32_t flags, int (*fn)(const void *arg), const void *arg)
{
    struct sandbox_filter filter = compile(flags);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        _exit(sandbox_filter_install(&filter, NULL) < 0 ? 255 : fn(arg));
    }
    sandbox_filter_done(&filter);
    int status;
    CHECK_INT(waitpid(pid, &status, 0), pid);
    return status;
}

/*
 * None of these does harm where no filter stops it: the arguments are null pointers, impossible
 * descriptors or unknown operations.
 */
static const struct probe attempts[] = {
    {"mount",             0, EPERM,           {0}                                  },
    {"umount2",           0, EPERM,           {0}                                  },
    {"pivot_root",        0, EPERM,           {0}                                  },
    {"open_tree",         0, EPERM,           {UINT64_MAX}                         },
    {"open_tree_attr",    0, EPERM,           {UINT64_MAX}                         },
    {"move_mount",        0, EPERM,           {UINT64_MAX}                         },
    {"fsopen",            0, EPERM,           {0}                                  },
    {"fsconfig",          0, EPERM,           {UINT64_MAX}                         },
    {"fsmount",           0, EPERM,           {UINT64_MAX}                         },
    {"fspick",            0, EPERM,           {UINT64_MAX}                         },
    {"mount_setattr",     0, EPERM,           {UINT64_MAX}                         },
    {"chroot",            0, EPERM,           {0}                                  },
    {"unshare",           0, EPERM,           {CLONE_NEWUSER}                      },
    {"unshare",           0, EPERM,           {CLONE_NEWNET | CLONE_NEWUSER}       },
    {"clone",             0, EPERM,           {CLONE_NEWUSER | CLONE_SIGHAND}      },
    {"clone3",            0, ENOSYS,          {0}                                  },
    {"setns",             0, EPERM,           {UINT64_MAX}                         },
    {"open_by_handle_at", 0, EPERM,           {UINT64_MAX}                         },
    {"name_to_handle_at", 0, EPERM,           {UINT64_MAX}                         },
    {"mknodat",           0, EPERM,           {UINT64_MAX, 0, S_IFCHR}             },
    {"sethostname",       0, EPERM,           {0, UINT32_MAX}                      },
    {"setdomainname",     0, EPERM,           {0, UINT32_MAX}                      },
    {"ptrace",            0, EPERM,           {UINT32_MAX}                         },
    {"process_vm_readv",  0, EPERM,           {0}                                  },
    {"process_vm_writev", 0, EPERM,           {0}                                  },
    {"kcmp",              0, EPERM,           {0}                                  },
    {"pidfd_getfd",       0, EPERM,           {UINT64_MAX}                         },
    {"process_madvise",   0, EPERM,           {UINT64_MAX}                         },
    {"migrate_pages",     0, EPERM,           {0}                                  },
    {"move_pages",        0, EPERM,           {0}                                  },
    {"add_key",           0, EPERM,           {0}                                  },
    {"request_key",       0, EPERM,           {0}                                  },
    {"keyctl",            0, EPERM,           {UINT32_MAX}                         },
    {"bpf",               0, EPERM,           {UINT32_MAX}                         },
    {"perf_event_open",   0, EPERM,           {0}                                  },
    {"userfaultfd",       0, EPERM,           {UINT32_MAX}                         },
    {"io_uring_setup",    0, ENOSYS,          {0}                                  },
    {"io_uring_enter",    0, ENOSYS,          {UINT32_MAX}                         },
    {"io_uring_register", 0, ENOSYS,          {UINT32_MAX}                         },
    {"seccomp",           0, EPERM,           {SECCOMP_SET_MODE_FILTER, 1 << 3}    },
    {"fanotify_init",     0, EPERM,           {UINT32_MAX}                         },
    {"fanotify_mark",     0, EPERM,           {UINT32_MAX}                         },
    {"lsm_set_self_attr", 0, EPERM,           {UINT32_MAX}                         },
    {"kexec_load",        0, EPERM,           {0, 0, 0, UINT32_MAX}                },
    {"kexec_file_load",   0, EPERM,           {UINT32_MAX, 0, 0, 0, UINT32_MAX}    },
    {"reboot",            0, EPERM,           {0}                                  },
    {"init_module",       0, EPERM,           {0}                                  },
    {"finit_module",      0, EPERM,           {UINT32_MAX}                         },
    {"delete_module",     0, EPERM,           {0}                                  },
    {"clock_settime",     0, EPERM,           {UINT32_MAX}                         },
    {"clock_adjtime",     0, EPERM,           {UINT32_MAX}                         },
    {"settimeofday",      0, EPERM,           {1, 1}                               },
    {"adjtimex",          0, EPERM,           {0}                                  },
    {"swapon",            0, EPERM,           {0}                                  },
    {"swapoff",           0, EPERM,           {0}                                  },
    {"acct",              0, EPERM,           {1}                                  },
    {"quotactl",          0, EPERM,           {UINT32_MAX}                         },
    {"quotactl_fd",       0, EPERM,           {UINT32_MAX}                         },
    {"syslog",            0, EPERM,           {UINT32_MAX}                         },
    {"personality",       0, EPERM,           {READ_IMPLIES_EXEC}                  },
    {"socket",            0, EAFNOSUPPORT,    {AF_VSOCK, SOCK_STREAM}              },
    {"socket",            0, EAFNOSUPPORT,    {AF_PACKET, SOCK_RAW}                },
    {"socket",            0, EAFNOSUPPORT,    {AF_ALG, SOCK_SEQPACKET}             },
    {"socket",            0, EAFNOSUPPORT,    {AF_KEY, SOCK_RAW, 2}                },
    {"socket",            0, EPERM,           {AF_INET, SOCK_RAW, IPPROTO_ICMP}    },
    {"socket",            0, EPERM,           {AF_INET, SOCK_PACKET, 0x300}        },
    {"socket",            0, EPROTONOSUPPORT, {AF_INET, SOCK_STREAM, IPPROTO_MPTCP}},
    {"socket",            0, EPROTONOSUPPORT, {AF_NETLINK, SOCK_RAW, NETLINK_AUDIT}},
    {"fcntl",             0, EPERM,           {UINT32_MAX, F_SETLEASE}             },
    {"iopl",              0, EPERM,           {4}                                  },
    {"ioperm",            0, EPERM,           {UINT32_MAX, 1, 1}                   },
    {"modify_ldt",        0, EPERM,           {UINT32_MAX}                         },
    {"ustat",             0, ENOSYS,          {0}                                  },
    {"uselib",            0, ENOSYS,          {0}                                  },
};

static int attempt(const void *arg)
{
    const struct probe *probe = arg;
    const uint64_t *a = probe->args;
    long rc = syscall(sandbox_call_number(probe->call), a[0], a[1], a[2], a[3], a[4], a[5]);
    return rc >= 0 ? 0 : errno;
}

TEST(the_kernel_refuses_each_call)
{
    for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
        if (sandbox_call_number(attempts[i].call) < 0)
            continue; /* not on this machine */
        int status = in_child(ANY_FLAGS, attempt, &attempts[i]);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != attempts[i].error)
            FAIL("%s (attempt %zu): status 0x%x, not errno %d", attempts[i].call, i, status,
                 attempts[i].error);
    }
}

static int type_into_terminal(const void *arg)
{
    (void)arg;
    int master, slave;
    if (openpty(&master, &slave, NULL, NULL, NULL) < 0)
        return 100;
    struct winsize size;
    if (ioctl(slave, TIOCGWINSZ, &size) < 0)
        return 101;
    if (syscall(SYS_ioctl, slave, TIOCSTI, "x") == 0 || errno != EPERM)
        return 102;
    if (syscall(SYS_ioctl, slave, TIOCSTI | 1UL << 32, "x") == 0 || errno != EPERM)
        return 103;
    return 0;
}

TEST(nothing_is_typed_into_a_terminal)
{
    CHECK_INT(in_child(ANY_FLAGS, type_into_terminal, NULL), 0);
}

#if defined(__x86_64__)
static int call_int80(const void *arg)
{
    (void)arg;
    long rc;
    __asm__ volatile("int $0x80" : "=a"(rc) : "a"(20L) : "memory"); /* getpid of i386 */
    return 0;
}

static int call_x32(const void *arg)
{
    (void)arg;
    (void)syscall(0x40000000 | SYS_getpid);
    return 0;
}

TEST(foreign_calls_end_the_process)
{
    int status = in_child(SANDBOX_FILTER_NESTED, call_x32, NULL);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
    /* A kernel without 32-bit calls sends SIGSEGV. */
    status = in_child(SANDBOX_FILTER_NESTED, call_int80, NULL);
    CHECK(WIFSIGNALED(status) && (WTERMSIG(status) == SIGSYS || WTERMSIG(status) == SIGSEGV));
}
#endif

static int try_to_lift(const void *arg)
{
    struct sandbox_filter nested = *(const struct sandbox_filter *)arg;
    if (sandbox_filter_install(&nested, NULL) < 0)
        return 1;
    struct sock_filter all[] = {
        {.code = BPF_RET | BPF_K, .k = SECCOMP_RET_ALLOW}
    };
    struct sandbox_filter allow = {.items = all, .n_items = 1};
    if (sandbox_filter_install(&allow, NULL) < 0)
        return 2;
    return unshare(CLONE_NEWUSER) < 0 && errno == EPERM ? 0 : 3;
}

TEST(a_second_filter_takes_nothing_back)
{
    struct sandbox_filter nested = compile(SANDBOX_FILTER_NESTED);
    CHECK_INT(in_child(ANY_FLAGS, try_to_lift, &nested), 0);
    sandbox_filter_done(&nested);
}

static int set_bits(const void *arg)
{
    (void)arg;
    int fd = open("file", O_RDWR | O_CREAT | O_CLOEXEC, 0755);
    if (fd < 0)
        return 1;
    if (fchmod(fd, 04755) == 0 || errno != EPERM || chmod("file", 02755) == 0)
        return 2;
    if (open("other", O_RDWR | O_CREAT | O_CLOEXEC, 04755) >= 0)
        return 3;
    return fchmod(fd, 0700) < 0 ? 4 : 0;
}

TEST(no_file_becomes_set_user_id)
{
    CHECK_INT(in_child(SANDBOX_FILTER_NO_SETID, set_bits, NULL), 0);
}

static int use_pair(const void *arg)
{
    (void)arg;
    int fds[2];
    char byte;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0 || write(fds[0], "x", 1) != 1 ||
        read(fds[1], &byte, 1) != 1)
        return 1;
    return socket(AF_UNIX, SOCK_STREAM, 0) < 0 && errno == EPERM ? 0 : 2;
}

TEST(pairs_remain_where_local_sockets_are_refused)
{
    CHECK_INT(in_child(SANDBOX_FILTER_NO_UNIX, use_pair, NULL), 0);
}

TEST(without_no_new_privs_a_user_gets_the_reason)
{
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
        SKIP("no other user");
    struct sandbox_filter filter = compile(ANY_FLAGS);
    struct err err = {0};
    CHECK_INT(sandbox_filter_install(&filter, &err), -EACCES);
    CHECK(err.text[0]);
    sandbox_filter_done(&filter);
}
