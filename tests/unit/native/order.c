/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "capture/log.h"
#include "lib/test.h"
#include "native/priv.h"

static void on_output(struct command *c, int stream, const void *p, size_t n, void *ctx)
{
    (void)c;
    struct buf *seen = ctx;
    CHECK_INT(buf_append_byte(seen, stream == CAPTURE_STDERR ? 'E' : 'O'), 0);
    CHECK_INT(buf_append(seen, p, n), 0);
}

/* What a command is given for these runs ("oeo") and bytes. */
static void check_order(const char *runs, const char *out, const char *err, int first,
                        const char *expected)
{
    auto_buf struct buf seen = BUF_INIT(4096);
    struct shell *sh = calloc(1, sizeof(*sh));
    struct command_spec spec = {.text = ""};
    struct command *c = command_new(&spec);
    c->log = capture_log_new(NULL);
    c->on_output = on_output;
    c->ctx = &seen;
    for (const char *r = runs; *r; r++)
        sh->runs[sh->n_runs++] = *r == 'o' ? CAPTURE_STDOUT : CAPTURE_STDERR;
    struct order_bytes bytes[2] = {
        {out, strlen(out)},
        {err, strlen(err)}
    };
    order_emit(sh, c, bytes, first);
    CHECK_STR(buf_cstr(&seen), expected);
    c->on_output = NULL;
    command_unref(c);
    free(sh);
}

TEST(lines_come_in_the_order_of_their_writes)
{
    check_order("oeo", "1\n3\n", "2\n", CAPTURE_STDOUT, "O1\nE2\nO3\n");
    check_order("eo", "b\n", "a\n", CAPTURE_STDOUT, "Ea\nOb\n");
    check_order("oeoe", "1\n3\n", "2\n4\n", CAPTURE_STDERR, "O1\nE2\nO3\nE4\n");
}

TEST(runs_of_bytes_that_were_read_before_are_skipped)
{
    check_order("oeo", "3\n", "2\n", CAPTURE_STDOUT, "E2\nO3\n");
}

TEST(the_last_run_takes_what_remains)
{
    check_order("oe", "1\n2\n3", "x", CAPTURE_STDOUT, "O1\n2\n3Ex");
    check_order("oeo", "1\n2\n3\n", "x\n", CAPTURE_STDOUT, "O1\nEx\nO2\n3\n");
}

TEST(without_events_the_order_is_that_of_the_reads)
{
    check_order("", "1\n", "2\n", CAPTURE_STDOUT, "O1\nE2\n");
    check_order("", "1\n", "2\n", CAPTURE_STDERR, "E2\nO1\n");
    check_order("o", "1\n", "2\n", CAPTURE_STDERR, "O1\nE2\n");
}
