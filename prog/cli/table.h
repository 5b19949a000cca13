/* SPDX-License-Identifier: MIT */
/*
 * cli/table - rows with aligned columns, for people.
 *
 * Cells are text from anywhere: control characters are shown as '?', long cells in the last
 * column are cut to the width of the terminal, if there is one.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stddef.h>

#include "base/strv.h"

struct buf;

struct cli_table {
    size_t n_columns;
    struct strv cells; /* row by row */
};

/* headings: n_columns texts, NULL for a table without. */
void cli_table_init(struct cli_table *t, size_t n_columns, const char *const *headings);

/* Adds the next cell; NULL or "" is shown as "-". Past 64 MiB further cells are dropped. */
void cli_table_add(struct cli_table *t, const char *text);
void cli_table_addf(struct cli_table *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* width: columns of the terminal; 0: no cut. */
void cli_table_write(const struct cli_table *t, size_t width, struct buf *out);

void cli_table_done(struct cli_table *t);

#endif
