/* SPDX-License-Identifier: MIT */
#include "cli/table.h"

#include "base/buf.h"
#include "lib/test.h"

static const char *const headings[] = {"NAME", "STATE", "TEXT"};

static void check(struct cli_table *t, size_t width, const char *expected)
{
    auto_buf struct buf out = BUF_INIT(4096);
    cli_table_write(t, width, &out);
    CHECK_STR(buf_cstr(&out), expected);
    cli_table_done(t);
}

TEST(columns_are_as_wide_as_their_widest_cell)
{
    struct cli_table t;
    cli_table_init(&t, 3, headings);
    cli_table_add(&t, "a-long-name");
    cli_table_add(&t, "ok");
    cli_table_addf(&t, "%d", 42);
    cli_table_add(&t, "b");
    cli_table_add(&t, "running");
    cli_table_add(&t, NULL);
    check(&t, 0,
          "NAME         STATE    TEXT\n"
          "a-long-name  ok       42\n"
          "b            running  -\n");
}

TEST(characters_are_counted_and_controls_shown)
{
    struct cli_table t;
    cli_table_init(&t, 3, NULL);
    cli_table_add(&t, "größe");
    cli_table_add(&t, "x\033[31m\n");
    cli_table_add(&t, "1");
    cli_table_add(&t, "size");
    cli_table_add(&t, "y");
    cli_table_add(&t, "2");
    check(&t, 0,
          "größe  x?[31m?  1\n"
          "size   y        2\n");
}

TEST(the_last_column_is_cut_to_the_terminal)
{
    struct cli_table t;
    cli_table_init(&t, 3, NULL);
    cli_table_add(&t, "a");
    cli_table_add(&t, "b");
    cli_table_add(&t, "0123456789äöüß");
    check(&t, 18, "a  b  0123456789äö\n");
}

TEST(a_table_may_be_empty)
{
    struct cli_table t;
    cli_table_init(&t, 3, NULL);
    check(&t, 0, "");
}
