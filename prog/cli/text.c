/* SPDX-License-Identifier: MIT */
#include "cli/text.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"
#include "cli/quote.h"
#include "session/command.h"

static int too_long(struct err *err)
{
    return err_set(err, ERR_LIMIT,
                   "the text is longer than %d bytes, the maximum; put it into a file and run that",
                   COMMAND_TEXT_MAX);
}

static int from_file(const char *path, struct buf *text, struct err *err)
{
    int rc = io_read_file(AT_FDCWD, path, COMMAND_TEXT_MAX, text, err);
    return rc == -ERR_LIMIT ? too_long(err) : rc;
}

static int from_stdin(const struct cli_args *args, struct buf *text, struct err *err)
{
    if (args->from_stdin)
        return err_set(err, ERR_INVALID,
                       "standard input cannot be both the text ('-') and the command's input "
                       "(--stdin); use -f FILE for the text");
    int rc = io_read_fd(STDIN_FILENO, COMMAND_TEXT_MAX, text);
    if (rc == -ERR_LIMIT)
        return too_long(err);
    return rc < 0 ? err_set(err, -rc, "read the text from standard input") : 0;
}

int cli_text_get(const struct cli_args *args, struct buf *text, struct err *err)
{
    size_t n = args->n_operands;
    if (args->file && n)
        return err_set(err, ERR_INVALID, "the text comes from '%s', but there is '%s' as well",
                       args->file, args->operands[0]);
    if (args->file)
        return from_file(args->file, text, err);
    if (n == 0)
        return err_set(err, ERR_INVALID,
                       "a command is missing; write it as one word: nacre exec -- 'echo hello'");
    if (n == 1 && args->n_plain == 1 && strcmp(args->operands[0], "-") == 0)
        return from_stdin(args, text, err);
    int rc = n == 1 ? buf_append_str(text, args->operands[0])
                    : cli_quote_words((const char *const *)args->operands, n, text);
    return rc < 0 ? too_long(err) : 0;
}
