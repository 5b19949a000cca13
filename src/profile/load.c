/* SPDX-License-Identifier: MIT */
/*
 * Finds profiles and puts them on top of what they extend.
 *
 * A place is a number: that of a directory, or behind all of them the built-in profiles. A
 * profile that extends its own name continues at the next place, so its chain ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"
#include "base/path.h"
#include "base/suggest.h"
#include "profile/load_priv.h"
#include "profile/reader_priv.h"

enum { CHAIN_MAX = 16 };

static const struct profile_dirs no_dirs = {NULL, 0};

struct loader {
    const struct profile_dirs *dirs;
    struct arena *arena;
    struct err *err;
    struct {
        const char *name;
        size_t place;
    } chain[CHAIN_MAX]; /* what is being loaded */
    size_t n_chain;
};

/* --- finding ------------------------------------------------------------------------ */

static int fail_memory(struct err *err)
{
    return err_set(err, ERR_LIMIT, "the profiles need more memory than allowed");
}

/* A profile decides what a command may do: nobody else may have written it. */
static int check_owner(int fd, const char *path, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_set(err, errno, "look at profile '%s'", path);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_INVALID, "profile '%s' is not a regular file", path);
    if (st.st_uid != 0 && st.st_uid != geteuid())
        return err_set(err, ERR_DENIED, "profile '%s' belongs to user %u, expected you or root",
                       path, st.st_uid);
    if (st.st_mode & S_IWOTH)
        return err_set(err, ERR_DENIED, "profile '%s' can be written by anybody (chmod o-w)", path);
    return 0;
}

/* The text of a file: 1, or 0 if there is none of that name. */
static int read_file(struct loader *l, const char *dir, const char *name, struct yaml_input *ret)
{
    const char *path = arena_printf(l->arena, "%s/%s.yaml", dir, name);
    if (!path)
        return fail_memory(l->err);
    /* Without O_NONBLOCK a FIFO would keep us waiting. */
    auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    if (fd < 0)
        return err_set(l->err, errno, "open profile '%s'", path);
    int rc = check_owner(fd, path, l->err);
    if (rc < 0)
        return rc;
    auto_buf struct buf text = BUF_INIT(PROFILE_BYTES_MAX);
    rc = io_read_fd(fd, PROFILE_BYTES_MAX, &text);
    if (rc == -ERR_LIMIT)
        return err_set(l->err, ERR_LIMIT, "profile '%s' has more than %d bytes", path,
                       PROFILE_BYTES_MAX);
    if (rc < 0)
        return err_set(l->err, -rc, "read profile '%s'", path);
    const char *copy = arena_strndup(l->arena, buf_cstr(&text), text.len);
    if (!copy)
        return fail_memory(l->err);
    *ret = (struct yaml_input){path, copy, text.len};
    return 1;
}

static const struct profile_builtin *find_builtin(const char *name)
{
    for (const struct profile_builtin *b = profile_builtins; b->name; b++)
        if (strcmp(b->name, name) == 0)
            return b;
    return NULL;
}

/* Looks from *place on and sets it: 1, or 0 if there is none. */
static int find(struct loader *l, const char *name, size_t *place, struct yaml_input *ret)
{
    for (; *place < l->dirs->n; ++*place) {
        int rc = read_file(l, l->dirs->paths[*place], name, ret);
        if (rc != 0)
            return rc;
    }
    const struct profile_builtin *builtin = *place == l->dirs->n ? find_builtin(name) : NULL;
    if (!builtin)
        return 0;
    *ret = (struct yaml_input){"built-in", builtin->text, builtin->len};
    return 1;
}

/* "; did you mean 'x'?" by the names that there are, or "". */
static const char *nearest(struct loader *l, const char *name)
{
    struct profile_entry *entries = NULL;
    size_t n = 0;
    struct suggest near = {0};
    if (profile_list(l->dirs, l->arena, &entries, &n, NULL) < 0)
        return "";
    for (size_t i = 0; i < n; i++)
        if (strcmp(entries[i].name, name) != 0) /* there is one, but not further on */
            suggest_try(&near, name, entries[i].name, strlen(entries[i].name));
    const char *text =
        near.best ? arena_printf(l->arena, "; did you mean '%.*s'?", near.best_len, near.best) : "";
    return text ? text : "";
}

/* --- the chain ---------------------------------------------------------------------- */

static struct profile empty_profile(void)
{
    struct profile p = {.description = "", .umask = -1};
    p.filesystem.home = PROFILE_HOME_HOST;
    p.filesystem.workspace.path = ".";
    p.filesystem.workspace.mode = PROFILE_WORKSPACE_RW;
    p.filesystem.workspace.max_bytes = PROFILE_UNLIMITED;
    p.filesystem.workspace.max_files = PROFILE_UNLIMITED;
    p.network.mode = PROFILE_NETWORK_HOST;
    for (size_t i = 0; i < PROFILE_N_LIMITS; i++)
        p.limits.session[i] = p.limits.command[i] = PROFILE_UNLIMITED;
    return p;
}

static int load_base(struct loader *l, const struct yaml_input *input, const struct yaml_node *root,
                     struct profile *ret);

/* A text on top of what it extends. */
static int load_text(struct loader *l, const struct yaml_input *input, struct profile *ret)
{
    struct yaml_node *root;
    int rc = yaml_parse(input, NULL, l->arena, &root, l->err);
    if (rc < 0)
        return rc;
    struct reader reader = {.file = input->name, .arena = l->arena, .err = l->err, .profile = ret};
    if (yaml_type(root) != YAML_MAP)
        return reader_fail_type(&reader, "", root, "a map of fields, as in 'extends: default'");
    rc = load_base(l, input, root, ret);
    if (rc == 0) {
        ret->description = "";
        rc = reader_fields(&reader, "", profile_fields, root);
    }
    if (rc == 0 && ret->network.mode != PROFILE_NETWORK_ALLOW)
        ret->network.n_allow = 0;
    return rc;
}

static int load_name(struct loader *l, const char *name, size_t place, struct profile *ret)
{
    struct yaml_input input;
    int rc = find(l, name, &place, &input);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return err_set(l->err, ERR_NOT_FOUND, "there is no profile '%s'%s", name, nearest(l, name));
    for (size_t i = 0; i < l->n_chain; i++)
        if (l->chain[i].place == place && strcmp(l->chain[i].name, name) == 0)
            return err_set(l->err, ERR_INVALID, "'%s' would extend itself", name);
    if (l->n_chain == CHAIN_MAX)
        return err_set(l->err, ERR_LIMIT, "more than %d profiles extend each other", CHAIN_MAX);
    l->chain[l->n_chain].name = name;
    l->chain[l->n_chain++].place = place;
    if (strcmp(input.name, "built-in") == 0)
        input.name = arena_printf(l->arena, "built-in %s.yaml", name);
    if (!input.name)
        return fail_memory(l->err);
    rc = load_text(l, &input, ret);
    ret->source = place < l->dirs->n ? input.name : "built-in";
    return rc;
}

/* Recurses at most CHAIN_MAX deep. */
static int load_base(struct loader *l, const struct yaml_input *input, const struct yaml_node *root,
                     struct profile *ret)
{
    const struct yaml_node *node = yaml_get(root, "extends");
    const char *name = node ? yaml_cstr(node) : "default";
    if (!name)
        return yaml_err(l->err, ERR_INVALID, input->name, yaml_mark(node),
                        "extends: is %s, expected the name of a profile, or none",
                        yaml_type_phrase(yaml_type(node)));
    if (strcmp(name, "none") == 0) {
        *ret = empty_profile();
        return 0;
    }
    if (!path_is_safe_name(name))
        return yaml_err(l->err, ERR_INVALID, input->name, yaml_mark(node),
                        "extends: '%.60s', expected the name of a profile, or none", name);
    size_t top = l->n_chain;
    bool own = top && strcmp(l->chain[top - 1].name, name) == 0;
    int rc = load_name(l, name, own ? l->chain[top - 1].place + 1 : 0, ret);
    /* What is wrong with the other file has that one's place; what is wrong with the name, this. */
    if (rc < 0 && l->n_chain == top)
        return err_wrap(l->err, rc, "%s:%u:%u: extends", input->name,
                        node ? yaml_mark(node).line : 1, node ? yaml_mark(node).column : 1);
    return rc;
}

/* --- what does not go together ------------------------------------------------------- */

static bool has_any(const uint64_t limits[PROFILE_N_LIMITS])
{
    return limits[PROFILE_LIMIT_MEMORY] != PROFILE_UNLIMITED ||
           limits[PROFILE_LIMIT_PROCESSES] != PROFILE_UNLIMITED ||
           limits[PROFILE_LIMIT_CPU] != PROFILE_UNLIMITED;
}

static int check_whole(const struct profile *p, struct err *err)
{
    const struct profile_filesystem *fs = &p->filesystem;
    const enum profile_need *on = p->layers;
    bool net = on[PROFILE_LAYER_NET], mount = on[PROFILE_LAYER_MOUNT];
    bool files = mount || on[PROFILE_LAYER_LANDLOCK];
    bool limits = on[PROFILE_LAYER_RLIMITS] || on[PROFILE_LAYER_CGROUP_LIMITS];
    /* clang-format off */
    const struct {
        bool wrong;
        const char *what, *layer;
    } checks[] = {
        {!net && p->network.mode != PROFILE_NETWORK_HOST, "network.mode other than host", "net"},
        {!mount && fs->home != PROFILE_HOME_HOST, "filesystem.home other than host", "mount"},
        {!mount && fs->hidden.n, "filesystem.hidden", "mount"},
        {!mount && fs->n_tmpfs, "filesystem.tmpfs", "mount"},
        {!mount && fs->workspace.mode != PROFILE_WORKSPACE_RW, "workspace.mode other than rw", "mount"},
        {!files && fs->read_only.n, "filesystem.read_only", "mount' or 'landlock"},
        {!limits && (has_any(p->limits.session) || has_any(p->limits.command)),
         "a limit of memory, processes or cpu", "rlimits' or 'cgroup-limits"},
        {!on[PROFILE_LAYER_SECCOMP] && p->syscalls.n, "seccomp.allow", "seccomp"},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
        if (checks[i].wrong)
            return err_set(err, ERR_INVALID,
                           "%s: %s needs the layer '%s', expected it in layers.required or "
                           "layers.optional",
                           p->source, checks[i].what, checks[i].layer);
    return 0;
}

static int finish(struct profile *p, const char *name, int rc, struct profile *ret, struct err *err)
{
    p->name = name;
    if (rc == 0)
        rc = check_whole(p, err);
    if (rc == 0)
        *ret = *p;
    return rc;
}

int profile_load(const char *name, const struct profile_dirs *dirs, struct arena *arena,
                 struct profile *ret, struct err *err)
{
    struct loader l = {.dirs = dirs ? dirs : &no_dirs, .arena = arena, .err = err};
    struct profile p = {0};
    if (!path_is_safe_name(name))
        return err_set(
            err, ERR_INVALID,
            "'%.80s' is no name of a profile, expected letters, digits, '.', '_' and '-'", name);
    name = arena_strdup(arena, name);
    if (!name)
        return fail_memory(err);
    return finish(&p, name, load_name(&l, name, 0, &p), ret, err);
}

int profile_parse(const struct yaml_input *input, const struct profile_dirs *dirs,
                  struct arena *arena, struct profile *ret, struct err *err)
{
    struct loader l = {.dirs = dirs ? dirs : &no_dirs, .arena = arena, .err = err};
    struct profile p = {0};
    if (input->len > PROFILE_BYTES_MAX)
        return err_set(err, ERR_LIMIT, "profile '%s' has more than %d bytes", input->name,
                       PROFILE_BYTES_MAX);
    const char *base = path_basename(input->name), *dot = strrchr(base, '.');
    struct yaml_input copy = {arena_strdup(arena, input->name), input->text, input->len};
    const char *name =
        arena_strndup(arena, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
    if (!copy.name || !name)
        return fail_memory(err);
    int rc = load_text(&l, &copy, &p);
    p.source = copy.name;
    return finish(&p, name, rc, ret, err);
}
