/* SPDX-License-Identifier: MIT */
/* nacre session VERB */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"
#include "base/own.h"
#include "base/utf8.h"
#include "cli/call.h"
#include "cli/list.h"
#include "cli/path.h"
#include "cli/report.h"
#include "cli/verbs.h"
#include "json/read.h"
#include "json/write.h"
#include "wire/field.h"

enum { SESSION_FILE_MAX = 16 * 1024 * 1024 };

/* ---- questions ---- */

/* The first operand, which every verb but open has. */
static void ask_name(const struct cli_args *args, struct json_w *w, const void *ctx)
{
    (void)ctx;
    cli_put_text(w, "session", args->operands[0]);
}

static void ask_name_and_new(const struct cli_args *args, struct json_w *w, const void *ctx)
{
    ask_name(args, w, ctx);
    cli_put_text(w, "newSession", args->operands[1]);
}

static void ask_name_and_snapshot(const struct cli_args *args, struct json_w *w, const void *ctx)
{
    ask_name(args, w, ctx);
    cli_put_text(w, "name", args->operands[1]);
}

static void ask_import(const struct cli_args *args, struct json_w *w, const void *ctx)
{
    const struct buf *file = ctx;
    json_w_kstrn(w, "file", file->data ? file->data : "", file->len);
    cli_put_text(w, "newSession", args->name);
}

static void ask_open(const struct cli_args *args, struct json_w *w, const void *ctx)
{
    cli_put_text(w, "session", args->operands[0]);
    cli_put_text(w, "kind", args->kind);
    wire_field_put_cstr(w, "cwd", ctx);
    wire_field_put_env(w, (const char *const *)args->env.items);
}

/* ---- answers ---- */

static int show_name(const struct cli_args *args, const struct json_node *result)
{
    (void)args;
    const char *name = json_cstr(json_get(result, "session"));
    cli_print("%s\n", name ? name : "");
    return CLI_OK;
}

static int show_session(const struct cli_args *args, const struct json_node *result)
{
    (void)args;
    cli_list_fields(result, NULL);
    return CLI_OK;
}

static int show_sessions(const struct cli_args *args, const struct json_node *result)
{
    (void)args;
    static const struct cli_list_column columns[] = {
        {"NAME",      "id"       },
        {"STATE",     "state"    },
        {"KIND",      "kind"     },
        {"COMMANDS",  "commands" },
        {"CREATED",   "createdAt"},
        {"DIRECTORY", "cwd"      },
        {NULL,        NULL       },
    };
    cli_list_rows(json_get(result, "sessions"), columns);
    return CLI_OK;
}

/* Into what is there and must not be replaced: a device, a pipe, what a link leads to. */
static int write_through(const char *path, const char *p, size_t n, struct err *err)
{
    auto_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set(err, errno, "open '%s'", path);
    int rc = io_write_all(fd, p, n);
    return rc < 0 ? err_set(err, -rc, "write '%s'", path) : 0;
}

static int show_file(const struct cli_args *args, const struct json_node *result)
{
    size_t len = 0;
    const char *file = json_str(json_get(result, "file"), &len);
    if (!args->output) {
        cli_print_bytes(file, len);
        return CLI_OK;
    }
    struct err err;
    struct stat st;
    bool replace = lstat(args->output, &st) < 0 || S_ISREG(st.st_mode);
    int rc = replace ? io_write_file(AT_FDCWD, args->output, file, len, 0600, &err)
                     : write_through(args->output, file, len, &err);
    return rc < 0 ? cli_fail(args, &err) : CLI_OK;
}

/* ---- verbs ---- */

int cli_session_open(const struct cli_args *args)
{
    auto_free char *cwd = NULL;
    struct err err;
    int rc = cli_path_resolve(args->cwd, &cwd, &err);
    if (rc < 0 && args->cwd)
        return cli_fail(args, &err);
    return cli_call(args, &(struct cli_call){
                              .op = "sessionOpen", .ask = ask_open, .ctx = cwd, .show = show_name});
}

int cli_session_list(const struct cli_args *args)
{
    return cli_call(
        args, &(struct cli_call){.op = "sessionList", .show = show_sessions, .member = "sessions"});
}

int cli_session_show(const struct cli_args *args)
{
    return cli_call(args,
                    &(struct cli_call){.op = "sessionShow", .ask = ask_name, .show = show_session});
}

int cli_session_close(const struct cli_args *args)
{
    return cli_call(args, &(struct cli_call){.op = "sessionClose", .ask = ask_name});
}

int cli_session_reset(const struct cli_args *args)
{
    return cli_call(args, &(struct cli_call){.op = "sessionReset", .ask = ask_name});
}

int cli_session_fork(const struct cli_args *args)
{
    return cli_call(
        args, &(struct cli_call){.op = "sessionFork", .ask = ask_name_and_new, .show = show_name});
}

int cli_session_snapshot(const struct cli_args *args)
{
    return cli_call(args,
                    &(struct cli_call){.op = "sessionSnapshot", .ask = ask_name_and_snapshot});
}

int cli_session_restore(const struct cli_args *args)
{
    return cli_call(args, &(struct cli_call){.op = "sessionRestore", .ask = ask_name_and_snapshot});
}

int cli_session_export(const struct cli_args *args)
{
    return cli_call(args,
                    &(struct cli_call){.op = "sessionExport", .ask = ask_name, .show = show_file});
}

int cli_session_import(const struct cli_args *args)
{
    auto_buf struct buf file = BUF_INIT(SESSION_FILE_MAX);
    struct err err;
    const char *path = args->operands[0];
    int rc;
    if (strcmp(path, "-") == 0) {
        rc = io_read_fd(STDIN_FILENO, SESSION_FILE_MAX, &file);
        if (rc < 0)
            (void)err_set(&err, -rc, "read a session from standard input");
    } else {
        rc = io_read_file(AT_FDCWD, path, SESSION_FILE_MAX, &file, &err);
    }
    if (rc == 0 && !utf8_is_valid(file.data, file.len))
        rc = err_set(&err, ERR_INVALID, "'%s' is not a session file: it is no UTF-8", path);
    if (rc < 0)
        return cli_fail(args, &err);
    return cli_call(args,
                    &(struct cli_call){
                        .op = "sessionImport", .ask = ask_import, .ctx = &file, .show = show_name});
}
