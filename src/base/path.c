/* SPDX-License-Identifier: MIT */
#include "base/path.h"

#include <string.h>

#include "base/buf.h"

bool path_is_safe_name(const char *name)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789._-";
    size_t len = strnlen(name, PATH_NAME_MAX + 1);
    return len > 0 && len <= PATH_NAME_MAX && name[0] != '.' && strspn(name, allowed) == len;
}

int path_join(const char *dir, const char *name, struct buf *ret)
{
    buf_clear(ret);
    if (name[0] == '/' || dir[0] == '\0')
        return buf_append_str(ret, name);
    int rc = buf_append_str(ret, dir);
    if (rc == 0 && name[0] != '\0' && ret->data[ret->len - 1] != '/')
        rc = buf_append_byte(ret, '/');
    return rc < 0 ? rc : buf_append_str(ret, name);
}

/* Adds one part to a normalised path; root is 1 if that begins with a slash. */
static int add_part(struct buf *path, size_t root, const char *part, size_t len)
{
    if (path->len > root) {
        int rc = buf_append_byte(path, '/');
        if (rc < 0)
            return rc;
    }
    return buf_append(path, part, len);
}

/* Offset of the last part of a normalised path. */
static size_t last_part(const struct buf *path)
{
    const char *slash = path->len ? memrchr(path->data, '/', path->len) : NULL;
    return slash ? (size_t)(slash - path->data) + 1 : 0;
}

/* Takes ".." into account: drops the last part, or keeps ".." where there is none. */
static int add_parent(struct buf *path, size_t root)
{
    size_t start = last_part(path);
    bool has_none = path->len == root;
    bool is_parent = path->len - start == 2 && memcmp(path->data + start, "..", 2) == 0;
    if (has_none || is_parent)
        return root ? 0 : add_part(path, root, "..", 2);
    buf_truncate(path, start > root ? start - 1 : root);
    return 0;
}

/* Adds the parts of text to a normalised path. */
static int add_parts(struct buf *path, size_t root, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, "/");
        int rc = 0;
        if (len == 2 && text[0] == '.' && text[1] == '.')
            rc = add_parent(path, root);
        else if (len > 0 && !(len == 1 && text[0] == '.'))
            rc = add_part(path, root, text, len);
        if (rc < 0)
            return rc;
        text += len + (text[len] == '/');
    }
    return 0;
}

/* Normalises dir and name, one after the other. */
static int normalise(const char *dir, const char *name, struct buf *ret)
{
    buf_clear(ret);
    size_t root = dir[0] == '/';
    int rc = root ? buf_append_byte(ret, '/') : 0;
    if (rc == 0)
        rc = add_parts(ret, root, dir);
    if (rc == 0)
        rc = add_parts(ret, root, name);
    if (rc == 0 && ret->len == 0)
        rc = buf_append_byte(ret, '.');
    return rc;
}

int path_normalise(const char *path, struct buf *ret)
{
    return normalise(path, "", ret);
}

int path_resolve(const char *cwd, const char *path, struct buf *ret)
{
    if (path[0] == '/')
        return normalise(path, "", ret);
    return normalise(cwd, path, ret);
}

bool path_is_within(const char *root, const char *path)
{
    size_t len = strlen(root);
    while (len > 0 && root[len - 1] == '/')
        len--;
    if (len == 0)
        return path[0] == '/';
    return strncmp(root, path, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

const char *path_basename(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
