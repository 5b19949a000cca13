/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "cli/report.h"
#include "cli/verbs.h"
#include "client/client.h"

enum { PATH_BYTES_MAX = 64 * 1024 };

int cli_serve(const struct cli_args *args)
{
    auto_buf struct buf path = BUF_INIT(PATH_BYTES_MAX);
    struct err err;
    if (client_find_daemon(&path, &err) < 0)
        return cli_fail(args, &err);
    auto_free char **argv = xnew_n(char *, args->n_operands + 2);
    argv[0] = (char[]){"nacred"};
    memcpy(&argv[1], args->operands, args->n_operands * sizeof(argv[0]));
    (void)execv(buf_cstr(&path), argv);
    (void)err_set(&err, errno, "run '%s'", buf_cstr(&path));
    return cli_fail(args, &err);
}
