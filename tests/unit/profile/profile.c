/* SPDX-License-Identifier: MIT */
#include "profile/profile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"
#include "lib/test.h"
#include "yaml/read.h"

static struct arena test_arena;
static const char *paths[] = {"user", "system"};
static const struct profile_dirs dirs = {paths, 2};

static struct arena *arena(void)
{
    if (!test_arena.max) {
        arena_init(&test_arena, 64 << 20);
        CHECK_INT(mkdir("user", 0700), 0);
        CHECK_INT(mkdir("system", 0700), 0);
    }
    return &test_arena;
}

static void put(const char *path, const char *text)
{
    (void)arena();
    CHECK_INT(io_write_file(AT_FDCWD, path, text, strlen(text), 0600, NULL), 0);
}

static struct profile load(const char *name)
{
    struct profile p;
    struct err err = {0};
    if (profile_load(name, &dirs, arena(), &p, &err) < 0)
        FAIL("%s", err.text);
    return p;
}

static int try_parse(const char *text, struct profile *ret, struct err *err)
{
    struct yaml_input input = {"dir/p.yaml", text, strlen(text)};
    return profile_parse(&input, &dirs, arena(), ret, err);
}

static struct profile parse(const char *text)
{
    struct profile p;
    struct err err = {0};
    if (try_parse(text, &p, &err) < 0)
        FAIL("%s", err.text);
    return p;
}

static void refuses(const char *text, const char *message)
{
    struct profile p;
    struct err err = {0};
    if (try_parse(text, &p, &err) >= 0)
        FAIL("'%s' is accepted", text);
    CHECK_STR(err.text, message);
}

static void load_fails(const char *name, int code, const char *message)
{
    struct profile p;
    struct err err = {0};
    CHECK_INT(profile_load(name, &dirs, arena(), &p, &err), -code);
    CHECK_STR(err.text, message);
}

static bool has(struct profile_list list, const char *item)
{
    for (size_t i = 0; i < list.n; i++)
        if (strcmp(list.items[i], item) == 0)
            return true;
    return false;
}

TEST(the_built_in_profiles_are_what_they_are_said_to_be)
{
    struct profile p = load("default");
    CHECK_STR(p.name, "default");
    CHECK_STR(p.source, "built-in");
    CHECK_INT(p.layers[PROFILE_LAYER_MOUNT], PROFILE_REQUIRED);
    CHECK_INT(p.layers[PROFILE_LAYER_NET], PROFILE_REQUIRED);
    CHECK_INT(p.layers[PROFILE_LAYER_SECCOMP], PROFILE_REQUIRED);
    CHECK_INT(p.network.mode, PROFILE_NETWORK_NONE);
    CHECK_INT(p.filesystem.workspace.mode, PROFILE_WORKSPACE_RW);
    CHECK_STR(p.filesystem.workspace.path, ".");
    CHECK_INT(p.filesystem.home, PROFILE_HOME_HIDDEN);
    CHECK(p.limits.session[PROFILE_LIMIT_MEMORY] == 2ull << 30);
    CHECK(p.limits.session[PROFILE_LIMIT_PROCESSES] == 256);
    CHECK(p.limits.session[PROFILE_LIMIT_SWAP] == 0);
    CHECK(p.limits.command[PROFILE_LIMIT_MEMORY] == PROFILE_UNLIMITED);
    static const char *const secrets[] = {
        "~/.ssh",    "~/.aws",   "~/.gnupg", "~/.config/gcloud", "~/.kube",
        "~/.docker", "~/.netrc", "~/.npmrc", "~/.bash_history",  "~/.local/state/nacre",
    };
    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
        CHECK(has(p.filesystem.hidden, secrets[i]));
    CHECK(has(p.filesystem.read_only, "/usr") && has(p.filesystem.read_only, "/lib64"));
    CHECK(!has(p.filesystem.read_only, "/etc") && !has(p.filesystem.read_only, "/etc/shadow"));

    p = load("strict");
    CHECK_INT(p.layers[PROFILE_LAYER_LANDLOCK], PROFILE_REQUIRED);
    CHECK_INT(p.filesystem.workspace.mode, PROFILE_WORKSPACE_OVERLAY);
    CHECK(p.limits.session[PROFILE_LIMIT_CPU] == 50);
    CHECK(p.limits.command[PROFILE_LIMIT_TIME] == 120000);
    CHECK(has(p.filesystem.hidden, "~/.ssh"));

    p = load("open");
    for (size_t i = 0; i < PROFILE_N_LAYERS; i++)
        CHECK_INT(p.layers[i], PROFILE_OFF);
    CHECK_INT(p.network.mode, PROFILE_NETWORK_HOST);
}

static void round_trip(struct profile p)
{
    auto_buf struct buf first = BUF_INIT(1 << 20), second = BUF_INIT(1 << 20);
    CHECK_INT(profile_to_yaml(&p, &first), 0);
    struct profile again = parse(buf_cstr(&first));
    CHECK_INT(profile_to_yaml(&again, &second), 0);
    CHECK_STR(buf_cstr(&first), buf_cstr(&second));
}

static const char full[] =
    "extends: default\n"
    "description: 'all of it: \"quoted\"'\n"
    "layers: {required: [landlock, cgroup-limits], optional: [time], off: [ipc]}\n"
    "filesystem:\n"
    "  read_only: [/srv//data/, \"~\"]\n"
    "  read_write: [/var/cache, /opt]\n"
    "  hidden: [/usr/src]\n"
    "  devices: [/dev/ttyUSB*, /dev/gpiochip0]\n"
    "  tmpfs: {/dev/shm: off, /tmp: 64KiB, ~/.cache: 1.5GiB}\n"
    "  home: private\n"
    "  workspace: {path: ~/work, mode: ro, max_bytes: 1000kB, max_files: 7}\n"
    "network:\n"
    "  mode: allow\n"
    "  allow_private: true\n"
    "  allow:\n"
    "  - domain: \"*.Example.ORG.\"\n"
    "  - {domain: 192.0.2.7, ports: [80, \"8000-8099\"], methods: [GET], paths: [/v1/*]}\n"
    "limits:\n"
    "  session: {memory: 512MiB, swap: unlimited, cpu: 150%, cpu_time: 1h30m, disk: 0}\n"
    "  command: {time: 1.5s, processes: 10, output: 64k, core: 1GiB}\n"
    "user: 1000\n"
    "seccomp: {allow: [ptrace, process_vm_readv]}\n"
    "env: {pass: [LC_*, MY_TOKEN]}\n"
    "umask: 027\n"
    "nice: 19\n";

TEST(every_field)
{
    struct profile p = parse(full);
    CHECK_STR(p.name, "p");
    CHECK_STR(p.source, "dir/p.yaml");
    CHECK_STR(p.description, "all of it: \"quoted\"");
    CHECK_INT(p.layers[PROFILE_LAYER_LANDLOCK], PROFILE_REQUIRED);
    CHECK_INT(p.layers[PROFILE_LAYER_TIME], PROFILE_OPTIONAL);
    CHECK_INT(p.layers[PROFILE_LAYER_IPC], PROFILE_OFF);
    CHECK_INT(p.layers[PROFILE_LAYER_MOUNT], PROFILE_REQUIRED); /* inherited */
    const struct profile_filesystem *fs = &p.filesystem;
    CHECK(has(fs->read_only, "/srv/data") && has(fs->read_only, "~") && has(fs->read_only, "/usr"));
    CHECK(has(fs->read_write, "/opt") && !has(fs->read_only, "/opt")); /* it moved */
    CHECK(has(fs->hidden, "/usr/src") && has(fs->hidden, "~/.ssh"));
    CHECK_STR(fs->devices.items[0], "/dev/ttyUSB*");
    CHECK_INT(fs->n_tmpfs, 2);
    CHECK_STR(fs->tmpfs[0].path, "/tmp");
    CHECK_INT(fs->tmpfs[0].max_bytes, 65536);
    CHECK_STR(fs->tmpfs[1].path, "~/.cache");
    CHECK_INT(fs->home, PROFILE_HOME_PRIVATE);
    CHECK_STR(fs->workspace.path, "~/work");
    CHECK_INT(fs->workspace.max_bytes, 1000000);
    CHECK_INT(p.network.n_allow, 2);
    CHECK_STR(p.network.allow[0].domain, "*.example.org");
    CHECK_INT(p.network.allow[0].ports[0].first, 443);
    CHECK_INT(p.network.allow[1].ports[1].last, 8099);
    CHECK_STR(p.network.allow[1].methods[0], "GET");
    CHECK(p.network.allow_private);
    CHECK_INT(p.limits.session[PROFILE_LIMIT_CPU], 150);
    CHECK_INT(p.limits.session[PROFILE_LIMIT_CPU_TIME], 5400000);
    CHECK(p.limits.session[PROFILE_LIMIT_SWAP] == PROFILE_UNLIMITED);
    CHECK_INT(p.limits.session[PROFILE_LIMIT_DISK], 0);
    CHECK_INT(p.limits.command[PROFILE_LIMIT_TIME], 1500);
    CHECK_INT(p.limits.command[PROFILE_LIMIT_OUTPUT], 65536);
    CHECK_STR(p.user, "1000");
    CHECK(has(p.syscalls, "ptrace") && has(p.variables, "MY_TOKEN") && has(p.variables, "HOME"));
    CHECK_INT(p.umask, 027);
    CHECK_INT(p.nice, 19);
}

TEST(printing_and_reading_gives_the_same)
{
    round_trip(load("default"));
    round_trip(load("strict"));
    round_trip(load("open"));
    round_trip(parse(full));
    auto_buf struct buf small = BUF_INIT(100);
    struct profile p = load("default");
    CHECK_INT(buf_append_str(&small, "ab"), 0);
    CHECK_INT(profile_to_yaml(&p, &small), -ERR_LIMIT);
    CHECK_STR(buf_cstr(&small), "ab");
}

TEST(names_of_limits_and_layers)
{
    static const char *const names[] = {"memory",   "swap", "processes",  "cpu",
                                        "cpu_time", "time", "open_files", "file_size",
                                        "core",     "disk", "output"};
    for (int i = 0; i < PROFILE_N_LIMITS; i++)
        CHECK_STR(profile_limit_name((enum profile_limit)i), names[i]);
    CHECK_STR(profile_layer_name(PROFILE_LAYER_USER), "user");
    CHECK_STR(profile_layer_name(PROFILE_LAYER_CGROUP_LIMITS), "cgroup-limits");
}

TEST(extends)
{
    CHECK(has(parse("{}").filesystem.hidden, "~/.ssh")); /* default, unless it says so */
    CHECK(!has(parse("extends: none").filesystem.hidden, "~/.ssh"));
    CHECK_STR(parse("extends: strict").description, "");

    put("user/a.yaml", "extends: b\nnice: 3\n");
    put("system/b.yaml", "extends: strict\nnice: 2\numask: 002\n");
    struct profile p = load("a");
    CHECK_INT(p.nice, 3);
    CHECK_INT(p.umask, 2);
    CHECK_STR(p.source, "user/a.yaml");
    CHECK_INT(p.filesystem.workspace.mode, PROFILE_WORKSPACE_OVERLAY);

    /* One's own default goes on from the next one. */
    put("user/default.yaml", "extends: default\nnice: 4\n");
    put("system/default.yaml", "umask: 007\n");
    p = load("default");
    CHECK_INT(p.nice, 4);
    CHECK_INT(p.umask, 7);
    CHECK(has(p.filesystem.hidden, "~/.ssh"));
    p = load("strict"); /* which extends the same */
    CHECK_INT(p.nice, 5);
    CHECK_INT(p.umask, 077);
}

TEST(extends_goes_wrong)
{
    put("user/a.yaml", "extends: b\n");
    put("user/b.yaml", "# x\nextends: a\n");
    load_fails("a", ERR_INVALID, "user/b.yaml:2:10: extends: 'a' would extend itself");
    put("user/c.yaml", "extends: c\n");
    load_fails("c", ERR_NOT_FOUND, "user/c.yaml:1:10: extends: there is no profile 'c'");
    put("user/d.yaml", "extends: defualt\n");
    load_fails("d", ERR_NOT_FOUND,
               "user/d.yaml:1:10: extends: there is no profile 'defualt'; did you mean 'default'?");
    put("user/e.yaml", "extends: f\n");
    put("user/f.yaml", "nise: 1\n");
    load_fails(
        "e", ERR_INVALID,
        "user/f.yaml:1:1: unknown key 'nise', expected extends, description, layers, "
        "filesystem, network, limits, user, seccomp, env, umask or nice; did you mean 'nice'?");
    refuses("extends: [a]",
            "dir/p.yaml:1:10: extends: is a list, expected the name of a profile, or none");
    refuses("extends: ../x",
            "dir/p.yaml:1:10: extends: '../x', expected the name of a profile, or none");
    load_fails("../a", ERR_INVALID,
               "'../a' is no name of a profile, expected letters, digits, '.', '_' and '-'");
    load_fails("strickt", ERR_NOT_FOUND, "there is no profile 'strickt'; did you mean 'strict'?");
    char name[32], text[32];
    for (int i = 0; i < 20; i++) {
        (void)snprintf(name, sizeof(name), "user/n%d.yaml", i);
        (void)snprintf(text, sizeof(text), "extends: n%d\n", i + 1);
        put(name, text);
    }
    load_fails("n0", ERR_LIMIT,
               "user/n15.yaml:1:10: extends: more than 16 profiles extend each other");
}

TEST(files_that_are_not_trusted)
{
    put("user/a.yaml", "{}\n");
    CHECK_INT(chmod("user/a.yaml", 0666), 0);
    load_fails("a", ERR_DENIED, "profile 'user/a.yaml' can be written by anybody (chmod o-w)");
    CHECK_INT(mkfifo("user/f.yaml", 0600), 0);
    load_fails("f", ERR_INVALID, "profile 'user/f.yaml' is not a regular file");
    if (geteuid() == 0) {
        put("user/b.yaml", "{}\n");
        CHECK_INT(chown("user/b.yaml", 12345, 0), 0);
        load_fails("b", ERR_DENIED,
                   "profile 'user/b.yaml' belongs to user 12345, expected you or root");
    }
    CHECK_INT(truncate("user/a.yaml", PROFILE_BYTES_MAX + 1), 0);
    CHECK_INT(chmod("user/a.yaml", 0600), 0);
    load_fails("a", ERR_LIMIT, "profile 'user/a.yaml' has more than 262144 bytes");
}

TEST(lists_of_profiles)
{
    put("user/zz.yaml", "{}");
    put("user/default.yaml", "{}");
    put("system/zz.yaml", "{}");
    put("system/mine.yaml", "{}");
    put("system/not.yml", "{}");
    put("system/.hidden.yaml", "{}");
    struct profile_entry *entries;
    size_t n;
    CHECK_INT(profile_list(&dirs, arena(), &entries, &n, NULL), 0);
    static const char *const want[][2] = {
        {"default", "user/default.yaml"},
        {"mine",    "system/mine.yaml" },
        {"open",    "built-in"         },
        {"strict",  "built-in"         },
        {"zz",      "user/zz.yaml"     }
    };
    CHECK_INT(n, 5);
    for (size_t i = 0; i < n; i++) {
        CHECK_STR(entries[i].name, want[i][0]);
        CHECK_STR(entries[i].source, want[i][1]);
    }
    CHECK_INT(profile_list(NULL, arena(), &entries, &n, NULL), 0);
    CHECK_INT(n, 3);

    struct profile_dirs found;
    CHECK_INT(setenv("XDG_CONFIG_HOME", "/x/conf", 1), 0);
    CHECK_INT(profile_dirs_find(arena(), &found), 0);
    CHECK_STR(found.paths[0], "/x/conf/nacre/profiles");
    CHECK_STR(found.paths[1], "/etc/nacre/profiles");
    CHECK_INT(unsetenv("XDG_CONFIG_HOME"), 0);
    CHECK_INT(setenv("HOME", "/x", 1), 0);
    CHECK_INT(profile_dirs_find(arena(), &found), 0);
    CHECK_STR(found.paths[0], "/x/.config/nacre/profiles");
    CHECK_INT(unsetenv("HOME"), 0);
    CHECK_INT(profile_dirs_find(arena(), &found), 0);
    CHECK_INT(found.n, 1);
}

#define AT "dir/p.yaml:"

static const char *const mistakes[][2] = {
    {"[]",                                                           AT "1:1: is a list, expected a map of fields, as in 'extends: default'"         },
    {"",                                                             AT "1:1: nothing but blanks and comments, expected a document"                  },
    {"layers: [user]",                                               AT "1:9: layers: is a list, expected a map"                                     },
    {"layers: {reqired: []}",
     AT "1:10: unknown key 'reqired' in layers, expected required, optional or off; did you "
        "mean 'required'?"                                                                                                                           },
    {"layers:\n  required: [mnt]",
     AT "2:14: required: unknown layer 'mnt', expected user, mount, pid, ipc, uts, cgroup, net, "
        "time, caps, no-new-privs, landlock, seccomp, rlimits or cgroup-limits"                                                                      },
    {"layers:\n  required: [moutn]",
     AT "2:14: required: unknown layer 'moutn', expected user, mount, pid, ipc, uts, cgroup, "
        "net, time, caps, no-new-privs, landlock, seccomp, rlimits or cgroup-limits; did you "
        "mean 'mount'?"                                                                                                                              },
    {"layers: {required: [net], off: [net]}",
     AT "1:33: off: 'net' is in another list of layers, expected it in one"                                                                          },
    {"layers: {required: [net, net]}",
     AT "1:26: required: 'net' is there already, expected it once"                                                                                   },
    {"layers: {off: [net]}",
     AT " network.mode other than host needs the layer 'net', expected it in layers.required or "
        "layers.optional"                                                                                                                            },
    {"filesystem: {read_only: /usr}",                                AT "1:25: read_only: is a string, expected a list of paths"                     },
    {"filesystem: {read_only: [usr]}",
     AT "1:26: read_only: 'usr', expected a path that begins with '/' or '~/', without '.' and "
        "'..'"                                                                                                                                       },
    {"filesystem: {read_only: [/a/../b]}",
     AT "1:26: read_only: '/a/../b', expected a path that begins with '/' or '~/', without '.' "
        "and '..'"                                                                                                                                   },
    {"filesystem: {hidden: [~]}",
     AT "1:23: hidden: ~ alone is null in YAML, expected it in quotes: \"~\""                                                                        },
    {"filesystem: {hidden: [/a], read_only: [/a/]}",
     AT "1:23: hidden: '/a' is in another list of paths, expected it in one"                                                                         },
    {"filesystem: {devices: [/dev/*/x]}",
     AT "1:24: devices: '/dev/*/x', expected a path below /dev, '*' and '?' in its last part "
        "only"                                                                                                                                       },
    {"filesystem: {devices: [/etc/passwd]}",
     AT "1:24: devices: '/etc/passwd', expected a path below /dev, '*' and '?' in its last part "
        "only"                                                                                                                                       },
    {"filesystem: {tmpfs: {tmp: 1M}}",                               AT "1:22: tmpfs: 'tmp', expected a path such as /tmp"                           },
    {"filesystem: {tmpfs: {/tmp: 1k}}",
     AT "1:28: tmpfs: 1k is out of range, expected 64KiB to 1024PiB"                                                                                 },
    {"filesystem: {home: gone}",                                     AT "1:20: home: 'gone', expected hidden, private or host"                       },
    {"filesystem: {home: hiden}",
     AT "1:20: home: 'hiden', expected hidden, private or host; did you mean 'hidden'?"                                                              },
    {"filesystem: {home: 1}",                                        AT "1:20: home: is an integer, expected hidden, private or host"                },
    {"filesystem: {workspace: {mode: wr}}",
     AT "1:32: mode: 'wr', expected rw, ro, overlay or none; did you mean 'rw'?"                                                                     },
    {"filesystem: {workspace: {path: x}}",
     AT "1:32: path: 'x', expected a path that begins with '/' or '~/', without '.' and '..'"                                                        },
    {"network: {mode: no}",                                          AT "1:17: mode: 'no', expected none, allow or host"                             },
    {"network: {allow_private: yes}",                                AT "1:26: allow_private: 'yes', expected true or false"                         },
    {"network: {allow: [{domain: x}]}",
     AT "1:18: allow: there are rules, expected network.mode to be allow"                                                                            },
    {"network: {mode: allow, allow: [{ports: [1]}]}",
     AT "1:32: allow: a rule without a domain, expected one"                                                                                         },
    {"network: {mode: allow, allow: [{domain: x, port: 1}]}",
     AT "1:44: unknown key 'port' in allow, expected domain, ports, methods or paths; did you "
        "mean 'ports'?"                                                                                                                              },
    {"network: {mode: allow, allow: [{domain: '*x'}]}",
     AT "1:41: domain: '*x': expected '*' only as the whole first label, as in *.example.org"                                                        },
    {"network: {mode: allow, allow: [{domain: x, ports: [0]}]}",
     AT "1:52: ports: '0', expected a port from 1 to 65535, or two as 8000-8099"                                                                     },
    {"network: {mode: allow, allow: [{domain: x, ports: [9-8]}]}",
     AT "1:52: ports: '9-8', expected a port from 1 to 65535, or two as 8000-8099"                                                                   },
    {"network: {mode: allow, allow: [{domain: x, ports: []}]}",
     AT "1:51: ports: expected a list of 1 to 1024 ports"                                                                                            },
    {"network: {mode: allow, allow: [{domain: x, methods: [get]}]}",
     AT "1:54: methods: 'get', expected a method in capital letters, as GET"                                                                         },
    {"network: {mode: allow, allow: [{domain: x, methods: []}]}",
     AT "1:53: methods: is empty, expected some, or the key left out"                                                                                },
    {"network: {mode: allow, allow: [{domain: x, paths: [v1]}]}",
     AT "1:52: paths: 'v1' is no path, expected one as /v1/*, without '..', '//', blanks, a "
        "query or an escaped slash"                                                                                                                  },
    {"limits: {session: {memory: lots}}",
     AT "1:28: memory: 'lots', expected a size such as 512MiB or unlimited"                                                                          },
    {"limits: {session: {memory: 1k}}",
     AT "1:28: memory: 1k is out of range, expected 1MiB to 1024PiB"                                                                                 },
    {"limits: {session: {memory: -1}}",
     AT "1:28: memory: '-1', expected a size such as 512MiB or unlimited"                                                                            },
    {"limits: {session: {memory: [1]}}",
     AT "1:28: memory: is a list, expected a size such as 512MiB"                                                                                    },
    {"limits: {session: {memory: \"\"}}",
     AT "1:28: memory: is a string, expected a size such as 512MiB"                                                                                  },
    {"limits: {session: {processes: 0}}",
     AT "1:31: processes: 0 is out of range, expected 1 to 4194304"                                                                                  },
    {"limits: {session: {cpu: 0%}}",                                 AT "1:25: cpu: 0% is out of range, expected 1 to 100000"                        },
    {"limits: {command: {time: 120}}",
     AT "1:26: time: '120', expected a time with its unit such as 30s or unlimited"                                                                  },
    {"limits: {command: {time: 9999d}}",
     AT "1:26: time: 9999d is out of range, expected 1ms to 366d"                                                                                    },
    {"limits: {memory: 1G}",
     AT "1:10: unknown key 'memory' in limits, expected session or command"                                                                          },
    {"user: 0",                                                      AT "1:7: user: '0', expected a user other than root"                            },
    {"user: root",                                                   AT "1:7: user: 'root', expected a user other than root"                         },
    {"user: a b",                                                    AT "1:7: user: 'a b', expected self, a name, or a number from 1 to 4294967294"  },
    {"user:",                                                        AT "1:6: user: is null, expected self, a name, or a number from 1 to 4294967294"},
    {"seccomp: {allow: [PTRACE]}",
     AT "1:19: allow: 'PTRACE', expected a system call such as ptrace"                                                                               },
    {"env: {pass: [A=B]}",                                           AT "1:14: pass: 'A=B', expected a variable such as HOME or LC_*"                },
    {"env: {pass: ['A*B']}",                                         AT "1:14: pass: 'A*B', expected a variable such as HOME or LC_*"                },
    {"umask: 088",                                                   AT "1:8: umask: '088', expected an octal number as 022, or inherit"             },
    {"umask: 01000",                                                 AT "1:8: umask: '01000', expected an octal number as 022, or inherit"           },
    {"umask: []",                                                    AT "1:8: umask: 'list', expected an octal number as 022, or inherit"            },
    {"nice: -1",                                                     AT "1:7: nice: expected a number from 0 to 19"                                  },
    {"nice: 20",                                                     AT "1:7: nice: expected a number from 0 to 19"                                  },
    {"description: [x]",                                             AT "1:14: description: is a list, expected a text"                              },
    {"description: \"a\\nb\"",                                       AT "1:14: description: expected one line of at most 200 bytes"                  },
    {"nice: 1\nnice: 2",                                             AT "2:1: the key 'nice' is there already, at 1:1, expected it once"             },
    {"<<: {nice: 1}",                                                AT "1:1: merge keys ('<<') are not supported, expected each key written out"    },
};

TEST(every_mistake_has_a_place_and_an_expectation)
{
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++)
        refuses(mistakes[i][0], mistakes[i][1]);
}

TEST(octal_and_other_forms)
{
    CHECK_INT(parse("umask: '022'").umask, 022);
    CHECK_INT(parse("umask: 0o22").umask, 022);
    CHECK_INT(parse("umask: 22").umask, 022);
    CHECK_INT(parse("umask: 0").umask, 0);
    CHECK_INT(parse("umask: inherit").umask, -1);
    CHECK(parse("user: self").user == NULL);
    CHECK_STR(parse("user: build-1").user, "build-1");
    CHECK(parse("limits: {session: {memory: unlimited}}").limits.session[PROFILE_LIMIT_MEMORY] ==
          PROFILE_UNLIMITED);
    CHECK_INT(parse("network: {mode: allow, allow: [{domain: x}]}").network.n_allow, 1);
}

TEST(rules_add_up_and_end_with_their_mode)
{
    put("user/base.yaml", "network: {mode: allow, allow: [{domain: x}]}\n");
    CHECK_INT(parse("extends: base\nnetwork: {allow: [{domain: y}]}").network.n_allow, 2);
    struct profile p = parse("extends: base\nnetwork: {mode: none}");
    CHECK_INT(p.network.n_allow, 0);
    CHECK_INT(p.network.mode, PROFILE_NETWORK_NONE);
    round_trip(p);
}

TEST(many_items)
{
    auto_buf struct buf text = BUF_INIT(1 << 20);
    CHECK_INT(buf_append_str(&text, "extends: none\nenv:\n  pass:\n"), 0);
    for (int i = 0; i < PROFILE_ITEMS_MAX; i++)
        CHECK_INT(buf_printf(&text, "  - V%d\n", i), 0);
    CHECK_INT(parse(buf_cstr(&text)).variables.n, PROFILE_ITEMS_MAX);
    CHECK_INT(buf_append_str(&text, "  - X\n"), 0);
    refuses(buf_cstr(&text), AT "4:3: pass: has 1025 items, expected at most 1024");
}
