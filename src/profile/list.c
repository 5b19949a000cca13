/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/strv.h"
#include "profile/reader_priv.h"

bool profile_list_has(const struct profile_list *list, const char *item)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i], item) == 0)
            return true;
    return false;
}

int read_items(const struct reader *r, const char *name, const struct yaml_node *node,
               item_read_fn read, const char *what, struct profile_list *ret)
{
    if (yaml_type(node) != YAML_LIST)
        return reader_fail_type(r, name, node, what);
    if (yaml_len(node) > PROFILE_ITEMS_MAX)
        return reader_fail(r, name, node, "has %zu items, expected at most %d", yaml_len(node),
                           PROFILE_ITEMS_MAX);
    const char **items = arena_zalloc_n(r->arena, yaml_len(node) + 1, sizeof(*items));
    if (!items)
        return reader_fail_memory(r);
    struct profile_list list = {items, 0};
    YAML_FOREACH(item, node)
    {
        int rc = read(r, name, item, &items[list.n]);
        if (rc < 0)
            return rc;
        if (profile_list_has(&list, items[list.n]))
            return reader_fail(r, name, item, "'%.100s' is there already, expected it once",
                               items[list.n]);
        list.n++;
    }
    *ret = list;
    return 0;
}

/* list without what is in `without`, and with what is in `with`. */
static int change_list(const struct reader *r, const char *name, const struct yaml_node *node,
                       struct profile_list *list, const struct profile_list *without,
                       const struct profile_list *with)
{
    const char **items = arena_zalloc_n(r->arena, list->n + with->n + 1, sizeof(*items));
    if (!items)
        return reader_fail_memory(r);
    struct profile_list changed = {items, 0};
    for (size_t i = 0; i < list->n; i++)
        if (!profile_list_has(without, list->items[i]))
            items[changed.n++] = list->items[i];
    for (size_t i = 0; i < with->n; i++)
        if (!profile_list_has(&changed, with->items[i]))
            items[changed.n++] = with->items[i];
    if (changed.n > PROFILE_ITEMS_MAX)
        return reader_fail(r, name, node,
                           "has %zu items with those that are inherited, expected at most %d",
                           changed.n, PROFILE_ITEMS_MAX);
    *list = changed;
    return 0;
}

static const struct profile_list nothing = {NULL, 0};

/* Items add to those of the profile that is extended. */
static int add_items(const struct reader *r, const struct field *f, const struct yaml_node *node,
                     item_read_fn read, const char *what)
{
    struct profile_list items = {0};
    int rc = read_items(r, f->name, node, read, what, &items);
    if (rc < 0)
        return rc;
    return change_list(r, f->name, node, FIELD_IN(r->profile, f, struct profile_list), &nothing,
                       &items);
}

/* --- layers ------------------------------------------------------------------------- */

static int read_word(const struct reader *r, const char *name, const struct yaml_node *item,
                     const char **ret)
{
    const char *text = yaml_cstr(item);
    if (!text)
        return reader_fail_type(r, name, item, "a name");
    *ret = text;
    return 0;
}

int read_layers(struct reader *r, const struct field *f, const struct yaml_node *node)
{
    struct profile_list names = {0};
    int rc = read_items(r, f->name, node, read_word, "a list of layers", &names);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < names.n; i++) {
        size_t layer = 0;
        while (profile_layer_names[layer] &&
               strcmp(profile_layer_names[layer], names.items[i]) != 0)
            layer++;
        if (layer == PROFILE_N_LAYERS)
            return reader_fail(r, f->name, yaml_at(node, i), "unknown layer '%.60s', expected %s%s",
                               names.items[i], reader_words(r, profile_layer_names),
                               reader_nearest(r, names.items[i], profile_layer_names));
        if (r->seen_layers[layer])
            return reader_fail(r, f->name, yaml_at(node, i),
                               "'%s' is in another list of layers, expected it in one",
                               names.items[i]);
        r->seen_layers[layer] = true;
        r->profile->layers[layer] = (enum profile_need)f->min;
    }
    return 0;
}

/* --- files -------------------------------------------------------------------------- */

int read_paths(struct reader *r, const struct field *f, const struct yaml_node *node)
{
    struct profile_list paths = {0};
    int rc = read_items(r, f->name, node, read_path, "a list of paths", &paths);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < paths.n; i++)
        if (profile_list_has(&r->seen_paths, paths.items[i]))
            return reader_fail(r, f->name, yaml_at(node, i),
                               "'%.100s' is in another list of paths, expected it in one",
                               paths.items[i]);
    rc = change_list(r, f->name, node, &r->seen_paths, &nothing, &paths);

    struct profile_filesystem *fs = &r->profile->filesystem;
    struct profile_list *all[] = {&fs->read_only, &fs->read_write, &fs->hidden};
    struct profile_list *mine = FIELD_IN(r->profile, f, struct profile_list);
    for (size_t i = 0; rc == 0 && i < sizeof(all) / sizeof(all[0]); i++)
        rc = change_list(r, f->name, node, all[i], &paths, all[i] == mine ? &paths : &nothing);
    return rc;
}

static int read_device(const struct reader *r, const char *name, const struct yaml_node *item,
                       const char **ret)
{
    const char *path;
    int rc = read_path(r, name, item, &path);
    if (rc < 0)
        return rc;
    const char *wild = strpbrk(path, "*?[");
    if (strncmp(path, "/dev/", 5) != 0 || (wild && (*wild == '[' || strchr(wild, '/'))))
        return reader_fail(
            r, name, item,
            "'%.100s', expected a path below /dev, '*' and '?' in its last part only", path);
    *ret = path;
    return 0;
}

int read_patterns(struct reader *r, const struct field *f, const struct yaml_node *node)
{
    return add_items(r, f, node, read_device, "a list of devices");
}

/* The tmpfs of that path, or the end of the list. */
static size_t find_tmpfs(const struct profile_tmpfs *list, size_t n, const char *path)
{
    size_t i = 0;
    while (i < n && strcmp(list[i].path, path) != 0)
        i++;
    return i;
}

/* One member of the map: a size, or off. */
static int set_tmpfs(const struct reader *r, const struct field *f, const struct yaml_node *node,
                     struct profile_tmpfs *list, size_t *n)
{
    const struct field size = {.name = "tmpfs", .kind = FIELD_SIZE, .min = f->min, .max = f->max};
    const char *path = "", *text = yaml_cstr(node);
    int rc = reader_path(r, yaml_key(node), &path);
    if (rc == -ERR_INVALID || strcmp(path, "/") == 0)
        return yaml_err(r->err, ERR_INVALID, r->file, yaml_key_mark(node),
                        "tmpfs: '%.100s', expected a path such as /tmp", yaml_key(node));
    if (rc < 0)
        return rc;
    size_t i = find_tmpfs(list, *n, path);
    if (text && strcmp(text, "off") == 0) {
        if (i < *n)
            memmove(&list[i], &list[i + 1], (--*n - i) * sizeof(*list));
        return 0;
    }
    uint64_t max_bytes;
    rc = read_amount(r, &size, node, &max_bytes);
    if (rc < 0)
        return rc;
    list[i] = (struct profile_tmpfs){path, max_bytes};
    *n += i == *n;
    return 0;
}

int read_tmpfs(struct reader *r, const struct field *f, const struct yaml_node *node)
{
    struct profile_filesystem *fs = &r->profile->filesystem;
    if (yaml_type(node) != YAML_MAP)
        return reader_fail_type(r, f->name, node, "a map of paths and sizes");
    size_t n = fs->n_tmpfs;
    if (yaml_len(node) + n > PROFILE_ITEMS_MAX)
        return reader_fail(r, f->name, node, "expected at most %d paths", PROFILE_ITEMS_MAX);
    struct profile_tmpfs *list = arena_zalloc_n(r->arena, n + yaml_len(node) + 1, sizeof(*list));
    if (!list)
        return reader_fail_memory(r);
    if (n)
        memcpy(list, fs->tmpfs, n * sizeof(*list));
    YAML_FOREACH(size, node)
    {
        int rc = set_tmpfs(r, f, size, list, &n);
        if (rc < 0)
            return rc;
    }
    fs->tmpfs = list;
    fs->n_tmpfs = n;
    return 0;
}

/* --- names -------------------------------------------------------------------------- */

static int read_syscall(const struct reader *r, const char *name, const struct yaml_node *item,
                        const char **ret)
{
    const char *text = yaml_cstr(item);
    if (!text || *text == '\0' || strlen(text) > 40 ||
        text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_")])
        return reader_fail(r, name, item, "'%.60s', expected a system call such as ptrace",
                           text ? text : yaml_type_name(yaml_type(item)));
    *ret = text;
    return 0;
}

int read_syscalls(struct reader *r, const struct field *f, const struct yaml_node *node)
{
    return add_items(r, f, node, read_syscall, "a list of system calls");
}

/* NAME, NAME* or *. */
static int read_variable(const struct reader *r, const char *name, const struct yaml_node *item,
                         const char **ret)
{
    const char *text = yaml_cstr(item);
    size_t len = text ? strlen(text) : 0;
    bool wild = len && text[len - 1] == '*';
    const char *stem = len ? arena_strndup(r->arena, text, len - wild) : NULL;
    if (!stem || !(env_name_is_valid(stem) || (wild && *stem == '\0')))
        return reader_fail(r, name, item, "'%.60s', expected a variable such as HOME or LC_*",
                           text ? text : yaml_type_name(yaml_type(item)));
    *ret = text;
    return 0;
}

int read_variables(struct reader *r, const struct field *f, const struct yaml_node *node)
{
    return add_items(r, f, node, read_variable, "a list of variables");
}
