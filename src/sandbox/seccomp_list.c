/* SPDX-License-Identifier: MIT */
#include "sandbox/seccomp_list.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "sandbox/seccomp.h"

/* Calls that libseccomp 2.5.4 does not know. */
static const struct {
    const char *name;
    int number;
} newer_calls[] = {
    {"fchmodat2",         452},
    {"lsm_set_self_attr", 460},
    {"open_tree_attr",    467},
};

/* clang-format off */
#define ALL 0xffffffffU
#define IS(arg, val) {.test = SANDBOX_ARG_IS, .n = (arg), .mask = ALL, .value = (val)}
#define IS_IN(arg, bits, val)                                                                      \
    {.test = SANDBOX_ARG_IS, .n = (arg), .mask = (bits), .value = (uint32_t)(val)}
#define HAS_ANY(arg, bits) {.test = SANDBOX_ARG_HAS_ANY, .n = (arg), .mask = (bits)}
#define NOT_IN(arg, bits, list)                                                                    \
    {.test = SANDBOX_ARG_NOT_IN, .n = (arg), .mask = (bits),                                       \
     .set = (list), .n_set = sizeof(list) / sizeof((list)[0])}
/* clang-format on */

enum {
    NEW_NAMESPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                     CLONE_NEWPID | CLONE_NEWNET,
    NEW_TIME = 0x80,      /* CLONE_NEWTIME; to clone(2) it is part of the signal */
    SOCK_TYPE_MASK = 0xf, /* the rest is SOCK_CLOEXEC and SOCK_NONBLOCK */
    FCNTL_SETDELEG = 1024 + 16,
};

/* What the kernel does with the programs that really use personality(2): query, setarch, TSan. */
static const uint32_t personalities[] = {
    PER_LINUX,
    PER_LINUX32,
    UNAME26 | PER_LINUX,
    UNAME26 | PER_LINUX32,
    ADDR_NO_RANDOMIZE,
    ADDR_NO_RANDOMIZE | PER_LINUX32,
    ALL,
};
static const uint32_t families[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};
static const uint32_t families_no_inet[] = {AF_UNIX};
static const uint32_t pair_families[] = {AF_UNIX};
static const uint32_t netlink_protocols[] = {NETLINK_ROUTE};
static const uint32_t inet_types[] = {SOCK_STREAM, SOCK_DGRAM};
static const uint32_t inet_protocols[] = {IPPROTO_IP, IPPROTO_ICMP, IPPROTO_TCP, IPPROTO_UDP,
                                          IPPROTO_ICMPV6};

/* clang-format off */
const struct sandbox_rule sandbox_rules[] = {
    /* --- the root, and namespaces ----------------------------------------------------------- */
    {{"mount", "umount", "umount2", "pivot_root"}, EPERM, .unless = SANDBOX_FILTER_NESTED,
     .why = "would take the masks off, or make read-only files writable"},
    {{"open_tree", "open_tree_attr", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick",
      "mount_setattr"}, EPERM, .unless = SANDBOX_FILTER_NESTED,
     .why = "mount(2) in its newer form, and a frequent source of kernel faults"},
    {{"chroot"}, EPERM, .unless = SANDBOX_FILTER_NESTED,
     .why = "with a directory that is open outside the new root it leads out of the old one"},
    {{"unshare"}, EPERM, .unless = SANDBOX_FILTER_NESTED,
     .args = {HAS_ANY(0, NEW_NAMESPACES | NEW_TIME)},
     .why = "in a user namespace of its own a process has all capabilities, and with them the "
            "parts of the kernel that were made for root alone"},
    {{"clone"}, EPERM, .unless = SANDBOX_FILTER_NESTED, .args = {HAS_ANY(0, NEW_NAMESPACES)},
     .why = "as unshare"},
    {{"clone3"}, ENOSYS, .unless = SANDBOX_FILTER_NESTED,
     .why = "its flags are in memory, where a filter cannot see them; C libraries fall back to "
            "clone(2)"},
    {{"setns"}, EPERM, .unless = SANDBOX_FILTER_NESTED,
     .why = "leads into namespaces of others"},
    {{"open_by_handle_at", "name_to_handle_at"}, EPERM,
     .why = "opens files by number, past the root and its masks"},
    {{"mknod"}, EPERM, .args = {IS_IN(1, S_IFMT, S_IFCHR)}, .why = "devices are handed in"},
    {{"mknod"}, EPERM, .args = {IS_IN(1, S_IFMT, S_IFBLK)}, .why = "as above"},
    {{"mknodat"}, EPERM, .args = {IS_IN(2, S_IFMT, S_IFCHR)},
     .why = "anyone may make device 0:0, which to an overlay says that a file was deleted"},
    {{"mknodat"}, EPERM, .args = {IS_IN(2, S_IFMT, S_IFBLK)}, .why = "devices are handed in"},
    {{"sethostname", "setdomainname"}, EPERM, .unless = SANDBOX_FILTER_NESTED,
     .why = "a name for the machine is not a payload's to give"},

    /* --- other processes ---------------------------------------------------------------------- */
    {{"ptrace", "process_vm_readv", "process_vm_writev", "kcmp"}, EPERM,
     .unless = SANDBOX_FILTER_ALLOW_PTRACE,
     .why = "reads and steers other processes of the user, the supervisor among them"},
    {{"pidfd_getfd"}, EPERM, .why = "takes descriptors out of other processes"},
    {{"process_madvise", "migrate_pages", "move_pages"}, EPERM,
     .why = "moves the memory of other processes"},

    /* --- keys, programs in the kernel, queues past the filter ----------------------------------- */
    {{"add_key", "request_key", "keyctl"}, EPERM,
     .why = "keyrings belong to users and sessions, not to namespaces: shared with the outside"},
    {{"bpf"}, EPERM, .why = "programs that run in the kernel"},
    {{"perf_event_open"}, EPERM, .why = "watches kernel and hardware; a large surface"},
    {{"userfaultfd"}, EPERM, .why = "halts the kernel at will, which makes its races exploitable"},
    {{"io_uring_setup", "io_uring_enter", "io_uring_register"}, ENOSYS,
     .why = "makes files and sockets without system calls, so past this filter; programs fall "
            "back to epoll"},
    {{"seccomp"}, EPERM, .args = {IS(0, SECCOMP_SET_MODE_FILTER),
                                  HAS_ANY(1, SECCOMP_FILTER_FLAG_NEW_LISTENER)},
     .why = "answers system calls for others, even to pretend that they succeeded"},
    {{"fanotify_init", "fanotify_mark"}, EPERM,
     .why = "tells of accesses, with handles that lead past the root"},
    {{"lsm_set_self_attr"}, EPERM, .why = "changes labels that confine the payload"},

    /* --- the machine ---------------------------------------------------------------------------- */
    {{"kexec_load", "kexec_file_load", "reboot"}, EPERM, .why = "ends the system"},
    {{"init_module", "finit_module", "delete_module", "create_module", "query_module",
      "get_kernel_syms"}, EPERM, .why = "code in the kernel"},
    {{"clock_settime", "clock_adjtime", "settimeofday", "stime", "adjtimex"}, EPERM,
     .why = "the clock is everybody's"},
    {{"swapon", "swapoff", "acct", "quotactl", "quotactl_fd"}, EPERM,
     .why = "resources of the machine"},
    {{"syslog"}, EPERM, .why = "the kernel's log tells addresses, and of other processes"},
    {{"iopl", "ioperm", "pciconfig_read", "pciconfig_write", "pciconfig_iobase",
      "s390_pci_mmio_read", "s390_pci_mmio_write"}, EPERM, .why = "the hardware itself"},
    {{"vhangup"}, EPERM, .why = "ends other sessions of a terminal"},
    {{"modify_ldt", "vm86", "vm86old", "subpage_prot"}, EPERM,
     .why = "segments for programs of another age, with a history of kernel faults"},
    {{"uselib", "ustat", "sysfs", "_sysctl", "nfsservctl", "lookup_dcookie", "vserver", "bdflush"},
     ENOSYS, .why = "obsolete: no program of today misses them"},
    {{"personality"}, EPERM, .args = {NOT_IN(0, ALL, personalities)},
     .why = "odd ones put code at address 0 and make data executable"},

    /* --- terminals and files --------------------------------------------------------------------- */
    {{"ioctl"}, EPERM, .args = {IS(1, TIOCSTI)},
     .why = "types into the terminal: a command for whoever reads it next, outside"},
    {{"ioctl"}, EPERM, .args = {IS(1, TIOCLINUX)},
     .why = "pastes into a console, as TIOCSTI does"},
    {{"ioctl"}, EPERM, .args = {IS(1, TIOCSETD)},
     .why = "loads line disciplines: drivers that anyone with a terminal could reach"},
    {{"fcntl"}, EPERM, .args = {IS(1, F_SETLEASE)},
     .why = "makes others who open a file wait for its holder, outside as well"},
    {{"fcntl"}, EPERM, .args = {IS(1, FCNTL_SETDELEG)}, .why = "as a lease"},
    {{"chmod", "fchmod", "creat"}, EPERM, .only = SANDBOX_FILTER_NO_SETID,
     .args = {HAS_ANY(1, S_ISUID | S_ISGID)},
     .why = "a file that runs as its owner works outside as well"},
    {{"fchmodat", "fchmodat2", "mknodat"}, EPERM, .only = SANDBOX_FILTER_NO_SETID,
     .args = {HAS_ANY(2, S_ISUID | S_ISGID)}, .why = "as chmod"},
    {{"mknod"}, EPERM, .only = SANDBOX_FILTER_NO_SETID,
     .args = {HAS_ANY(1, S_ISUID | S_ISGID)}, .why = "as chmod"},
    {{"open"}, EPERM, .only = SANDBOX_FILTER_NO_SETID,
     .args = {HAS_ANY(1, O_CREAT), HAS_ANY(2, S_ISUID | S_ISGID)}, .why = "as chmod"},
    {{"openat"}, EPERM, .only = SANDBOX_FILTER_NO_SETID,
     .args = {HAS_ANY(2, O_CREAT), HAS_ANY(3, S_ISUID | S_ISGID)}, .why = "as chmod"},
    {{"openat2"}, ENOSYS, .only = SANDBOX_FILTER_NO_SETID,
     .why = "its mode is in memory, where a filter cannot see it"},

    /* --- sockets ------------------------------------------------------------------------------------ */
    {{"socket"}, EAFNOSUPPORT, .unless = SANDBOX_FILTER_NO_INET,
     .args = {NOT_IN(0, ALL, families)},
     .why = "AF_VSOCK reaches the hypervisor, AF_PACKET the wire, AF_ALG and many more code that "
            "nobody else uses"},
    {{"socket"}, EAFNOSUPPORT, .only = SANDBOX_FILTER_NO_INET,
     .args = {NOT_IN(0, ALL, families_no_inet)},
     .why = "a network that is shared with the outside"},
    {{"socket"}, EPERM, .only = SANDBOX_FILTER_NO_UNIX, .args = {IS(0, AF_UNIX)},
     .why = "sockets of others may lie where the payload can find them"},
    {{"socketpair"}, EPERM, .only = SANDBOX_FILTER_NO_UNIX,
     .args = {IS_IN(1, SOCK_TYPE_MASK, SOCK_DGRAM)},
     .why = "can send to any address although it is connected; so can the next, which is one"},
    {{"socketpair"}, EPERM, .only = SANDBOX_FILTER_NO_UNIX,
     .args = {IS_IN(1, SOCK_TYPE_MASK, SOCK_RAW)}, .why = "AF_UNIX takes it for SOCK_DGRAM"},
    {{"socketpair"}, EAFNOSUPPORT, .args = {NOT_IN(0, ALL, pair_families)},
     .why = "no other family of use has pairs"},
    {{"socket"}, EPROTONOSUPPORT, .args = {IS(0, AF_NETLINK), NOT_IN(2, ALL, netlink_protocols)},
     .why = "getaddrinfo(3) needs NETLINK_ROUTE; the others steer the kernel"},
    {{"socket"}, EPERM, .args = {IS(0, AF_INET), NOT_IN(1, SOCK_TYPE_MASK, inet_types)},
     .why = "SOCK_RAW and SOCK_PACKET (AF_PACKET by another name) make any packet; the rest is "
            "SCTP and DCCP"},
    {{"socket"}, EPERM, .args = {IS(0, AF_INET6), NOT_IN(1, SOCK_TYPE_MASK, inet_types)},
     .why = "as AF_INET"},
    {{"socket"}, EPROTONOSUPPORT, .args = {IS(0, AF_INET), NOT_IN(2, ALL, inet_protocols)},
     .why = "SOCK_STREAM is SCTP, MPTCP and SMC as well, for which Landlock's ports do not count"},
    {{"socket"}, EPROTONOSUPPORT, .args = {IS(0, AF_INET6), NOT_IN(2, ALL, inet_protocols)},
     .why = "as AF_INET"},
};
/* clang-format on */

const size_t sandbox_n_rules = sizeof(sandbox_rules) / sizeof(sandbox_rules[0]);

int sandbox_call_number(const char *name)
{
    for (size_t i = 0; i < sizeof(newer_calls) / sizeof(newer_calls[0]); i++)
        if (strcmp(newer_calls[i].name, name) == 0)
            return newer_calls[i].number;
    return seccomp_syscall_resolve_name(name);
}
