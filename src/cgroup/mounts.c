/* SPDX-License-Identifier: MIT */
/* From /proc/self/mountinfo (proc(5)) and /proc/self/cgroup (cgroups(7)) to trees. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/own.h"
#include "cgroup/priv.h"

enum { N_FIELDS = 5 }; /* of mountinfo: id, parent, device, root, mount point */

/* Undoes the octal escapes of mountinfo in place. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from; to++) {
        if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] && from[3]) {
            *to = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

/* The controllers of version 1 in a list separated by commas. */
static unsigned parse_controllers(const char *list)
{
    unsigned set = 0;
    for (enum cgroup_controller c = 0; c < CGROUP_CONTROLLER_END; c++) {
        if (cgroup_text_has(list, cgroup_controller_name(c, CGROUP_V1)))
            set |= CGROUP_BIT(c);
    }
    return set;
}

/*
 * Our path in a hierarchy: from the line "ID:CONTROLLERS:PATH", where version 2 has no controllers.
 * NULL if it is not told, or lies outside of what the cgroup namespace shows.
 */
static char *find_own(const char *own, unsigned controllers)
{
    for (const char *line = own; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        size_t len = strcspn(line, "\n");
        auto_free char *copy = xstrndup(line, len);
        char *list = strchr(copy, ':');
        char *path = list ? strchr(list + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        bool is_v2 = list[1] == '\0';
        if (controllers ? (parse_controllers(list + 1) & controllers) == 0 : !is_v2)
            continue;
        const char *gone = strstr(path, " (deleted)");
        if (strncmp(path, "/..", 3) == 0 || (gone && gone[10] == '\0'))
            return NULL;
        return xstrdup(path);
    }
    return NULL;
}

/* The directory of our group, if the mount shows it. */
static char *own_dir(const char *mount, const char *root, const char *path)
{
    size_t len = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (!path || strncmp(path, root, len) != 0 || (path[len] != '/' && path[len] != '\0'))
        return NULL;
    const char *rest = path + len;
    return xasprintf("%s%s", mount, strcmp(rest, "/") == 0 ? "" : rest);
}

/* The tree that has one of these controllers (0: that of version 2), or a new one. */
static struct cgroup_tree *tree_for(struct cgroup_system *system, unsigned controllers)
{
    if (controllers == 0)
        return &system->trees[0];
    for (size_t i = 1; i < system->n_trees; i++) {
        if (system->trees[i].controllers & controllers)
            return &system->trees[i];
    }
    return &system->trees[system->n_trees++];
}

static void add_mount(struct cgroup_system *system, const char *const *fields, const char *options,
                      bool is_v2, const char *own)
{
    unsigned controllers = is_v2 ? 0 : parse_controllers(options);
    if (!is_v2 && controllers == 0)
        return; /* a named hierarchy, or controllers that we have no use for */
    struct cgroup_tree *tree = tree_for(system, controllers);
    auto_free char *path = find_own(own, controllers);
    auto_free char *dir = own_dir(fields[4], fields[3], path);
    if (tree->version != CGROUP_NONE && (tree->own || !dir))
        return; /* mounted again; of several, one that shows where we are is better */
    free(tree->mount);
    tree->version = is_v2 ? CGROUP_V2 : CGROUP_V1;
    tree->controllers = controllers;
    tree->mount = xstrdup(fields[4]);
    tree->own = take_ptr(dir);
}

static void parse_line(struct cgroup_system *system, char *line, const char *own)
{
    char *tail = strstr(line, " - ");
    if (!tail)
        return;
    *tail = '\0';
    char *save, *type = strtok_r(tail + 3, " ", &save);
    (void)strtok_r(NULL, " ", &save); /* the source: any text */
    const char *options = strtok_r(NULL, " ", &save);
    bool is_v2 = type && strcmp(type, "cgroup2") == 0;
    if (!type || (!is_v2 && strcmp(type, "cgroup") != 0))
        return;
    char *fields[N_FIELDS];
    char *rest = line;
    for (int i = 0; i < N_FIELDS; i++) {
        fields[i] = strtok_r(rest, " ", &save);
        rest = NULL;
        if (!fields[i])
            return;
        unescape(fields[i]);
    }
    add_mount(system, (const char *const *)fields, options ? options : "", is_v2, own);
}

void cgroup_mounts_parse(struct cgroup_system *system, const char *mountinfo, const char *own)
{
    system->n_trees = 1; /* that of version 2 has its place, even if there is none */
    auto_free char *copy = xstrdup(mountinfo);
    char *save;
    for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        parse_line(system, line, own);
}
