/* SPDX-License-Identifier: MIT */
#include "cli/table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"

enum { CELLS_BYTES_MAX = 64 * 1024 * 1024, COLUMN_MAX = 40 };

void cli_table_init(struct cli_table *t, size_t n_columns, const char *const *headings)
{
    *t = (struct cli_table){.n_columns = n_columns};
    strv_init(&t->cells, CELLS_BYTES_MAX);
    for (size_t i = 0; headings && i < n_columns; i++)
        cli_table_add(t, headings[i]);
}

void cli_table_add(struct cli_table *t, const char *text)
{
    auto_free char *cell = xstrdup(text && *text ? text : "-");
    for (char *p = cell; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 127)
            *p = '?';
    (void)strv_push(&t->cells, cell); /* past the limit the table ends */
}

void cli_table_addf(struct cli_table *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    auto_free char *text = xvasprintf(fmt, args);
    va_end(args);
    cli_table_add(t, text);
}

static size_t width_of(const char *cell)
{
    return utf8_count(cell, strlen(cell));
}

/* At most max characters of the cell. */
static void add_cut(const char *cell, size_t max, struct buf *out)
{
    size_t len = strlen(cell), at = 0;
    for (size_t n = 0; n < max && at < len; n++)
        at = utf8_ceil(cell, len, at + 1);
    (void)buf_append(out, cell, at);
}

static void add_row(const struct cli_table *t, size_t row, const size_t *widths, size_t width,
                    struct buf *out)
{
    size_t used = 0;
    for (size_t i = 0; i < t->n_columns; i++) {
        const char *cell = t->cells.items[row * t->n_columns + i];
        bool last = i + 1 == t->n_columns;
        if (last && width) {
            add_cut(cell, width > used + 8 ? width - used : 8, out);
            break;
        }
        (void)buf_append_str(out, cell);
        for (size_t n = width_of(cell); !last && n < widths[i] + 2; n++)
            (void)buf_append_byte(out, ' ');
        used += (width_of(cell) > widths[i] ? width_of(cell) : widths[i]) + 2;
    }
    (void)buf_append_byte(out, '\n');
}

void cli_table_write(const struct cli_table *t, size_t width, struct buf *out)
{
    size_t n_rows = t->cells.n / t->n_columns;
    auto_free size_t *widths = xnew_n(size_t, t->n_columns);
    for (size_t i = 0; i < n_rows * t->n_columns; i++) {
        size_t w = width_of(t->cells.items[i]), *widest = &widths[i % t->n_columns];
        if (w > COLUMN_MAX) /* one long name does not push all columns out of sight */
            w = COLUMN_MAX;
        if (w > *widest)
            *widest = w;
    }
    for (size_t row = 0; row < n_rows; row++)
        add_row(t, row, widths, width, out);
}

void cli_table_done(struct cli_table *t)
{
    strv_done(&t->cells);
}
