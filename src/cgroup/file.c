/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "cgroup/priv.h"

static int make_path(char *path, const char *dir, const char *file)
{
    int len = snprintf(path, CGROUP_PATH_SIZE, "%s/%s", dir, file);
    return len < 0 || len >= CGROUP_PATH_SIZE ? -ENAMETOOLONG : 0;
}

ssize_t cgroup_file_read(const struct cgroup_tree *tree, const char *dir, const char *file,
                         char *text, size_t size)
{
    char path[CGROUP_PATH_SIZE];
    int rc = make_path(path, dir, file);
    if (rc < 0)
        return rc;
    auto_close int fd = openat(tree->fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t len = io_read_full(fd, text, size - 1);
    if (len >= 0)
        text[len] = '\0';
    return len;
}

int cgroup_file_write(const struct cgroup_tree *tree, const char *dir, const char *file,
                      const char *text)
{
    char path[CGROUP_PATH_SIZE];
    int rc = make_path(path, dir, file);
    if (rc < 0)
        return rc;
    auto_close int fd = openat(tree->fd, path, O_WRONLY | O_CLOEXEC);
    return fd < 0 ? -errno : io_write_all(fd, text, strlen(text));
}

int cgroup_file_printf(const struct cgroup_tree *tree, const char *dir, const char *file,
                       const char *fmt, ...)
{
    char text[128];
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (len < 0 || (size_t)len >= sizeof(text))
        return -EOVERFLOW;
    return cgroup_file_write(tree, dir, file, text);
}

int cgroup_file_u64(const struct cgroup_tree *tree, const char *dir, const char *file,
                    uint64_t *ret)
{
    char text[64];
    ssize_t len = cgroup_file_read(tree, dir, file, text, sizeof(text));
    if (len < 0)
        return (int)len;
    if (strcmp(text, "max\n") == 0) {
        *ret = UINT64_MAX;
        return 0;
    }
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    if (end == text || *end != '\n')
        return -EIO;
    *ret = value;
    return 0;
}

bool cgroup_file_exists(const struct cgroup_tree *tree, const char *dir, const char *file)
{
    char path[CGROUP_PATH_SIZE];
    return make_path(path, dir, file) == 0 && faccessat(tree->fd, path, F_OK, 0) == 0;
}

bool cgroup_text_find(const char *text, const char *key, uint64_t *ret)
{
    size_t len = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, len) == 0 && line[len] == ' ') {
            *ret = strtoull(line + len + 1, NULL, 10);
            return true;
        }
    }
    return false;
}

bool cgroup_text_has(const char *text, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = text; *at;) {
        at += strspn(at, " ,\n");
        size_t n = strcspn(at, " ,\n");
        if (n == len && strncmp(at, word, n) == 0)
            return true;
        at += n;
    }
    return false;
}

/* The names of the directories in dir, each with its NUL; *ret_list is to be freed. */
static int list_dirs(const struct cgroup_tree *tree, const char *dir, char **ret_list,
                     size_t *ret_len)
{
    int fd = openat(tree->fd, dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        int rc = -errno;
        own_close(&fd);
        return rc;
    }
    FILE *out = open_memstream(ret_list, ret_len);
    for (struct dirent *e = readdir(d); e && out; e = readdir(d)) {
        if (e->d_type == DT_DIR && e->d_name[0] != '.')
            (void)fwrite(e->d_name, 1, strlen(e->d_name) + 1, out);
    }
    (void)closedir(d); /* it was only read */
    return out && fclose(out) == 0 ? 0 : -ENOMEM;
}

static int walk(const struct cgroup_tree *tree, const char *dir, cgroup_walk_fn fn, void *ctx,
                unsigned depth)
{
    if (depth > CGROUP_DEPTH_MAX)
        return -ELOOP;
    auto_free char *list = NULL;
    size_t len = 0;
    int rc = list_dirs(tree, dir, &list, &len);
    if (rc < 0)
        return rc;
    for (const char *name = list; name < list + len; name += strlen(name) + 1) {
        char path[CGROUP_PATH_SIZE];
        rc = make_path(path, dir, name);
        if (rc == 0)
            rc = walk(tree, path, fn, ctx, depth + 1);
        if (rc != 0 && rc != -ENOENT) /* it may be removed while we look */
            return rc;
    }
    return fn(tree, dir, ctx);
}

int cgroup_walk(const struct cgroup_tree *tree, const char *dir, cgroup_walk_fn fn, void *ctx)
{
    return walk(tree, dir, fn, ctx, 0);
}
