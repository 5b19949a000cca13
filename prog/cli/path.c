/* SPDX-License-Identifier: MIT */
#include "cli/path.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/path.h"

enum { PATH_BYTES_MAX = 64 * 1024 };

int cli_path_resolve(const char *dir, char **ret, struct err *err)
{
    auto_free char *here = getcwd(NULL, 0);
    if (!here && (!dir || *dir != '/'))
        return err_set(err, ERR_NOT_FOUND, "the current directory is gone");
    auto_buf struct buf path = BUF_INIT(PATH_BYTES_MAX);
    int rc = path_resolve(here ? here : "/", dir ? dir : ".", &path);
    if (rc < 0)
        return err_set(err, -rc, "directory of over %d bytes", PATH_BYTES_MAX);
    *ret = buf_take(&path);
    return 0;
}
