/* SPDX-License-Identifier: MIT */
/* Where profiles lie, and which there are. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/own.h"
#include "base/path.h"
#include "profile/load_priv.h"
#include "profile/profile.h"

enum { ENTRIES_MAX = 4096 };

DEFINE_AUTO(DIR *, closedir)

int profile_dirs_find(struct arena *arena, struct profile_dirs *ret)
{
    const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    const char **paths = arena_zalloc_n(arena, 2, sizeof(*paths));
    if (!paths)
        return -ERR_LIMIT;
    size_t n = 0;
    if (xdg && *xdg == '/')
        paths[n++] = arena_printf(arena, "%s/nacre/profiles", xdg);
    else if (home && *home == '/')
        paths[n++] = arena_printf(arena, "%s/.config/nacre/profiles", home);
    if (n && !paths[0])
        return -ERR_LIMIT;
    paths[n++] = "/etc/nacre/profiles";
    *ret = (struct profile_dirs){paths, n};
    return 0;
}

struct list {
    struct arena *arena;
    struct profile_entry *entries;
    size_t n;
};

/* Adds a name unless an earlier place has it; false if there is no room. */
static bool add(struct list *l, const char *name, size_t len, const char *source)
{
    for (size_t i = 0; i < l->n; i++)
        if (strlen(l->entries[i].name) == len && memcmp(l->entries[i].name, name, len) == 0)
            return true;
    if (l->n == ENTRIES_MAX)
        return false;
    const char *copy = arena_strndup(l->arena, name, len);
    if (!copy || !source)
        return false;
    l->entries[l->n++] = (struct profile_entry){copy, source};
    return true;
}

static int fail_room(struct err *err)
{
    return err_set(err, ERR_LIMIT, "more than %d profiles", ENTRIES_MAX);
}

/* Names that profile_load() would take, with ".yaml" behind. */
static size_t stem_of(struct arena *arena, const char *file)
{
    size_t len = strlen(file);
    if (len <= 5 || strcmp(file + len - 5, ".yaml") != 0)
        return 0;
    const char *stem = arena_strndup(arena, file, len - 5);
    return stem && path_is_safe_name(stem) ? len - 5 : 0;
}

static int add_dir(struct list *l, const char *path, struct err *err)
{
    AUTO(closedir) DIR *dir = opendir(path);
    if (!dir)
        return errno == ENOENT || errno == ENOTDIR
                   ? 0
                   : err_set(err, errno, "open the profiles in '%s'", path);
    const struct dirent *entry;
    while ((entry = readdir(dir))) {
        size_t len = stem_of(l->arena, entry->d_name);
        if (len &&
            !add(l, entry->d_name, len, arena_printf(l->arena, "%s/%s", path, entry->d_name)))
            return fail_room(err);
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct profile_entry *)a)->name, ((const struct profile_entry *)b)->name);
}

int profile_list(const struct profile_dirs *dirs, struct arena *arena, struct profile_entry **ret,
                 size_t *ret_n, struct err *err)
{
    struct list l = {.arena = arena,
                     .entries = arena_zalloc_n(arena, ENTRIES_MAX, sizeof(*l.entries))};
    if (!l.entries)
        return fail_room(err);
    for (size_t i = 0; dirs && i < dirs->n; i++) {
        int rc = add_dir(&l, dirs->paths[i], err);
        if (rc < 0)
            return rc;
    }
    for (const struct profile_builtin *b = profile_builtins; b->name; b++)
        if (!add(&l, b->name, strlen(b->name), "built-in"))
            return fail_room(err);
    qsort(l.entries, l.n, sizeof(*l.entries), compare);
    *ret = l.entries;
    *ret_n = l.n;
    return 0;
}
