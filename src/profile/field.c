/* SPDX-License-Identifier: MIT */
#include "profile/field_priv.h"

/* clang-format off */
#define AT(member) .at = offsetof(struct profile, member)
#define LIMIT(of, which) .at = offsetof(struct profile, limits.of) + (which) * sizeof(uint64_t)
/* clang-format on */

#define KIB 1024ull
#define MIB (1024 * KIB)
#define EIB (MIB * MIB * MIB)
/* 292 years, which is what nanoseconds have room for, is no limit; this is one. */
#define YEAR_MS (366ull * 24 * 60 * 60 * 1000)

const char *const profile_layer_names[] = {
    [PROFILE_LAYER_USER] = "user",
    [PROFILE_LAYER_MOUNT] = "mount",
    [PROFILE_LAYER_PID] = "pid",
    [PROFILE_LAYER_IPC] = "ipc",
    [PROFILE_LAYER_UTS] = "uts",
    [PROFILE_LAYER_CGROUP] = "cgroup",
    [PROFILE_LAYER_NET] = "net",
    [PROFILE_LAYER_TIME] = "time",
    [PROFILE_LAYER_CAPS] = "caps",
    [PROFILE_LAYER_NO_NEW_PRIVS] = "no-new-privs",
    [PROFILE_LAYER_LANDLOCK] = "landlock",
    [PROFILE_LAYER_SECCOMP] = "seccomp",
    [PROFILE_LAYER_RLIMITS] = "rlimits",
    [PROFILE_LAYER_CGROUP_LIMITS] = "cgroup-limits",
    [PROFILE_N_LAYERS] = NULL,
};

static const char *const homes[] = {"hidden", "private", "host", NULL};
static const char *const workspaces[] = {"rw", "ro", "overlay", "none", NULL};
static const char *const networks[] = {"none", "allow", "host", NULL};

/* clang-format off */
static const struct field layer_fields[] = {
    {"required", FIELD_LAYERS, AT(layers), .min = PROFILE_REQUIRED},
    {"optional", FIELD_LAYERS, AT(layers), .min = PROFILE_OPTIONAL},
    {"off", FIELD_LAYERS, AT(layers), .min = PROFILE_OFF},
    {.name = NULL},
};

static const struct field workspace_fields[] = {
    {"path", FIELD_PLACE, AT(filesystem.workspace.path)},
    {"mode", FIELD_CHOICE, AT(filesystem.workspace.mode), .words = workspaces},
    {"max_bytes", FIELD_SIZE, AT(filesystem.workspace.max_bytes), .min = 64 * KIB, .max = EIB},
    {"max_files", FIELD_COUNT, AT(filesystem.workspace.max_files), .min = 1, .max = 1000000000},
    {.name = NULL},
};

static const struct field filesystem_fields[] = {
    {"read_only", FIELD_PATHS, AT(filesystem.read_only)},
    {"read_write", FIELD_PATHS, AT(filesystem.read_write)},
    {"hidden", FIELD_PATHS, AT(filesystem.hidden)},
    {"devices", FIELD_PATTERNS, AT(filesystem.devices)},
    {"tmpfs", FIELD_TMPFS, AT(filesystem.tmpfs), .min = 64 * KIB, .max = EIB},
    {"home", FIELD_CHOICE, AT(filesystem.home), .words = homes},
    {"workspace", FIELD_GROUP, .fields = workspace_fields},
    {.name = NULL},
};

static const struct field network_fields[] = {
    {"mode", FIELD_CHOICE, AT(network.mode), .words = networks},
    {"allow", FIELD_RULES, AT(network.allow)},
    {"allow_private", FIELD_BOOL, AT(network.allow_private)},
    {.name = NULL},
};

#define LIMITS(of) { \
    {"memory", FIELD_SIZE, LIMIT(of, PROFILE_LIMIT_MEMORY), .min = MIB, .max = EIB}, \
    {"swap", FIELD_SIZE, LIMIT(of, PROFILE_LIMIT_SWAP), .min = 0, .max = EIB}, \
    {"processes", FIELD_COUNT, LIMIT(of, PROFILE_LIMIT_PROCESSES), .min = 1, .max = 4194304}, \
    {"cpu", FIELD_PERCENT, LIMIT(of, PROFILE_LIMIT_CPU), .min = 1, .max = 100000}, \
    {"cpu_time", FIELD_DURATION, LIMIT(of, PROFILE_LIMIT_CPU_TIME), .min = 10, .max = YEAR_MS}, \
    {"time", FIELD_DURATION, LIMIT(of, PROFILE_LIMIT_TIME), .min = 1, .max = YEAR_MS}, \
    {"open_files", FIELD_COUNT, LIMIT(of, PROFILE_LIMIT_OPEN_FILES), .min = 16, .max = 1073741816}, \
    {"file_size", FIELD_SIZE, LIMIT(of, PROFILE_LIMIT_FILE_SIZE), .min = 0, .max = EIB}, \
    {"core", FIELD_SIZE, LIMIT(of, PROFILE_LIMIT_CORE), .min = 0, .max = EIB}, \
    {"disk", FIELD_SIZE, LIMIT(of, PROFILE_LIMIT_DISK), .min = 0, .max = EIB}, \
    {"output", FIELD_SIZE, LIMIT(of, PROFILE_LIMIT_OUTPUT), .min = 0, .max = EIB}, \
    {.name = NULL}, \
}

static const struct field session_fields[] = LIMITS(session);
static const struct field command_fields[] = LIMITS(command);

_Static_assert(sizeof(session_fields) / sizeof(session_fields[0]) == PROFILE_N_LIMITS + 1,
               "a limit without a field");

static const struct field limit_fields[] = {
    {"session", FIELD_GROUP, .fields = session_fields},
    {"command", FIELD_GROUP, .fields = command_fields},
    {.name = NULL},
};

static const struct field seccomp_fields[] = {
    {"allow", FIELD_SYSCALLS, AT(syscalls)},
    {.name = NULL},
};

static const struct field env_fields[] = {
    {"pass", FIELD_VARIABLES, AT(variables)},
    {.name = NULL},
};

const struct field profile_fields[] = {
    {.name = "extends", .kind = FIELD_EXTENDS},
    {"description", FIELD_LINE, AT(description)},
    {"layers", FIELD_GROUP, .fields = layer_fields},
    {"filesystem", FIELD_GROUP, .fields = filesystem_fields},
    {"network", FIELD_GROUP, .fields = network_fields},
    {"limits", FIELD_GROUP, .fields = limit_fields},
    {"user", FIELD_USER, AT(user)},
    {"seccomp", FIELD_GROUP, .fields = seccomp_fields},
    {"env", FIELD_GROUP, .fields = env_fields},
    {"umask", FIELD_UMASK, AT(umask)},
    {"nice", FIELD_NICE, AT(nice)},
    {.name = NULL},
};
/* clang-format on */

const char *profile_layer_name(enum profile_layer layer)
{
    return profile_layer_names[layer];
}

const char *profile_limit_name(enum profile_limit limit)
{
    return session_fields[limit].name;
}
