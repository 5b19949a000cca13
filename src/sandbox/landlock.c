/* SPDX-License-Identifier: MIT */
#include "sandbox/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/own.h"

/* What <linux/landlock.h> of 6.1 lacks. */
enum {
    FS_TRUNCATE = 1 << 14,
    FS_IOCTL_DEV = 1 << 15,
    FS_RESOLVE_UNIX = 1 << 16,
    NET_BIND_TCP = 1 << 0,
    NET_CONNECT_TCP = 1 << 1,
    SCOPE_ABSTRACT = 1 << 0,
    SCOPE_SIGNAL = 1 << 1,
    RULE_NET_PORT = 2,
};

struct ruleset_attr {
    uint64_t fs;
    uint64_t net;    /* ABI 4 */
    uint64_t scoped; /* ABI 6 */
};

struct port_attr {
    uint64_t allowed;
    uint64_t port;
};

enum {
    FS_READ = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
    FS_WRITE = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
               LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
               LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
               LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM |
               LANDLOCK_ACCESS_FS_REFER | FS_TRUNCATE,
    FS_MAKE_DEVICE = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK,
    /* Those that mean something for what is no directory; the kernel refuses the others. */
    FS_OF_FILE = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                 LANDLOCK_ACCESS_FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV | FS_RESOLVE_UNIX,
};

static const struct {
    uint32_t access; /* enum sandbox_access */
    uint64_t rights;
} accesses[] = {
    {SANDBOX_ACCESS_READ,    FS_READ                   },
    {SANDBOX_ACCESS_EXEC,    LANDLOCK_ACCESS_FS_EXECUTE},
    {SANDBOX_ACCESS_WRITE,   FS_WRITE                  },
    {SANDBOX_ACCESS_DEVICES, FS_IOCTL_DEV              },
    {SANDBOX_ACCESS_SOCKETS, FS_RESOLVE_UNIX           },
};

enum {
    FS_ALL = FS_READ | LANDLOCK_ACCESS_FS_EXECUTE | FS_WRITE | FS_MAKE_DEVICE | FS_IOCTL_DEV |
             FS_RESOLVE_UNIX
};

/* What came with which ABI, and what its want is called. */
static const struct {
    struct ruleset_attr since;
    int abi;
    uint32_t lack;
} additions[] = {
    {{.fs = FS_ALL},                            1, SANDBOX_LACKS_LANDLOCK},
    {{.fs = LANDLOCK_ACCESS_FS_REFER},          2, SANDBOX_LACKS_REFER   },
    {{.fs = FS_TRUNCATE},                       3, SANDBOX_LACKS_TRUNCATE},
    {{.net = NET_BIND_TCP | NET_CONNECT_TCP},   4, SANDBOX_LACKS_TCP     },
    {{.fs = FS_IOCTL_DEV},                      5, SANDBOX_LACKS_IOCTL   },
    {{.scoped = SCOPE_ABSTRACT | SCOPE_SIGNAL}, 6, SANDBOX_LACKS_SCOPES  },
    {{.fs = FS_RESOLVE_UNIX},                   9, SANDBOX_LACKS_SOCKETS },
};

int sandbox_landlock_abi(void)
{
    long abi =
        syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, LANDLOCK_CREATE_RULESET_VERSION);
    return abi < 0 ? 0 : (int)abi;
}

static struct ruleset_attr wanted(const struct sandbox_landlock_rules *rules)
{
    struct ruleset_attr attr = {0};
    if (rules->files)
        attr.fs = FS_ALL;
    if (rules->tcp)
        attr.net = NET_BIND_TCP | NET_CONNECT_TCP;
    if (rules->scope_abstract)
        attr.scoped |= SCOPE_ABSTRACT;
    if (rules->scope_signals)
        attr.scoped |= SCOPE_SIGNAL;
    return attr;
}

/* Takes out of attr what the ABI does not have; the result says what that was. */
static uint32_t mask_by_abi(struct ruleset_attr *attr, int abi)
{
    uint32_t lacks = 0;
    for (size_t i = 0; i < sizeof(additions) / sizeof(additions[0]); i++) {
        const struct ruleset_attr *since = &additions[i].since;
        if (abi >= additions[i].abi ||
            !((attr->fs & since->fs) | (attr->net & since->net) | (attr->scoped & since->scoped)))
            continue;
        attr->fs &= ~since->fs;
        attr->net &= ~since->net;
        attr->scoped &= ~since->scoped;
        lacks |= additions[i].lack;
    }
    return lacks;
}

static size_t attr_size(int abi)
{
    if (abi < 4)
        return offsetof(struct ruleset_attr, net);
    return abi < 6 ? offsetof(struct ruleset_attr, scoped) : sizeof(struct ruleset_attr);
}

static uint64_t rights_of(uint32_t access)
{
    uint64_t rights = 0;
    for (size_t i = 0; i < sizeof(accesses) / sizeof(accesses[0]); i++)
        if (access & accesses[i].access)
            rights |= accesses[i].rights;
    return rights;
}

static int add_path(int ruleset, const struct sandbox_landlock_path *path, uint64_t handled,
                    struct err *err)
{
    const char *name = path->path ? path->path : "descriptor";
    auto_close int opened = path->path ? openat(path->fd, path->path, O_PATH | O_CLOEXEC) : -1;
    if (path->path && opened < 0) {
        bool missing = errno == ENOENT || errno == ENOTDIR;
        return missing && path->optional ? 0 : err_set(err, errno, "open '%s' for Landlock", name);
    }
    int fd = path->path ? opened : path->fd;
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_set(err, errno, "look at '%s' for Landlock", name);

    uint64_t rights = rights_of(path->access) & handled;
    if (!S_ISDIR(st.st_mode))
        rights &= FS_OF_FILE;
    if (rights == 0)
        return 0; /* a rule that allows nothing is refused */
    struct landlock_path_beneath_attr attr = {.allowed_access = rights, .parent_fd = fd};
    if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &attr, 0) < 0)
        return err_set(err, errno, "allow '%s' to Landlock", name);
    return 0;
}

static int add_port(int ruleset, const struct sandbox_landlock_port *port, struct err *err)
{
    struct port_attr attr = {
        .allowed = (port->bind ? NET_BIND_TCP : 0U) | (port->connect ? NET_CONNECT_TCP : 0U),
        .port = port->port,
    };
    if (attr.allowed && syscall(SYS_landlock_add_rule, ruleset, RULE_NET_PORT, &attr, 0) < 0)
        return err_set(err, errno, "allow TCP port %u to Landlock", port->port);
    return 0;
}

static int add_rules(int ruleset, const struct sandbox_landlock_rules *rules,
                     const struct ruleset_attr *attr, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && attr->fs && i < rules->n_paths; i++)
        rc = add_path(ruleset, &rules->paths[i], attr->fs, err);
    for (size_t i = 0; rc == 0 && attr->net && i < rules->n_ports; i++)
        rc = add_port(ruleset, &rules->ports[i], err);
    return rc;
}

int sandbox_landlock_open(const struct sandbox_landlock_rules *rules, int *ret_fd,
                          uint32_t *ret_lacks, struct err *err)
{
    struct ruleset_attr attr = wanted(rules);
    int abi = sandbox_landlock_abi();
    if (abi == 0) {
        int code = errno;
        if (ret_lacks)
            *ret_lacks = SANDBOX_LACKS_LANDLOCK | mask_by_abi(&attr, 0);
        return err_set(err, code, "Landlock");
    }
    if (rules->max_abi && abi > rules->max_abi)
        abi = rules->max_abi;
    uint32_t lacks = mask_by_abi(&attr, abi);
    if (ret_lacks)
        *ret_lacks = lacks;

    /* The kernel refuses a set that restricts nothing. */
    if (!(attr.fs | attr.net | attr.scoped))
        return err_set(err, EOPNOTSUPP, "Landlock ABI %d has nothing of what is wanted", abi);
    auto_close int fd =
        (int)syscall(SYS_landlock_create_ruleset, &attr, attr_size(abi), 0); /* close-on-exec */
    if (fd < 0)
        return err_set(err, errno, "make a Landlock rule set");
    int rc = add_rules(fd, rules, &attr, err);
    if (rc < 0)
        return rc;
    *ret_fd = take_fd(&fd);
    return 0;
}

int sandbox_landlock_restrict(int fd, struct err *err)
{
    if (syscall(SYS_landlock_restrict_self, fd, 0) < 0)
        return err_set(err, errno, "put Landlock rules on the process");
    return 0;
}
