/* SPDX-License-Identifier: MIT */
/*
 * base/path - paths as text. Nothing here looks at a file system: ".." is taken
 * lexically, so a result is not safe against symlinks by itself. What goes in may not point
 * into ret; -ERR_LIMIT if ret cannot hold the result.
 */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

enum { PATH_NAME_MAX = 64 };

/* Whether name may be part of a file name of ours: [A-Za-z0-9._-]{1,64}, no leading dot. */
bool path_is_safe_name(const char *name);

/* dir and name with one slash between, or name alone if it is absolute; replaces ret. */
int path_join(const char *dir, const char *name, struct buf *ret);

/*
 * Without empty and "." parts, and with ".." resolved; replaces ret. "/.." is "/";
 * a relative path keeps its leading ".."; the empty path is ".".
 */
int path_normalise(const char *path, struct buf *ret);

/* path_join() and path_normalise() in one; replaces ret. */
int path_resolve(const char *cwd, const char *path, struct buf *ret);

/* Whether the normalised path is root or below it. */
bool path_is_within(const char *root, const char *path);

/* What follows the last slash; points into path. */
const char *path_basename(const char *path);

#endif
