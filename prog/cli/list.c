/* SPDX-License-Identifier: MIT */
#include "cli/list.h"

#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/report.h"
#include "cli/table.h"
#include "cli/term.h"
#include "json/read.h"
#include "json/write.h"

enum { COLUMNS_MAX = 16, TABLE_MAX = 64 * 1024 * 1024, CELL_MAX = 1024 * 1024 };

static void add_json(struct cli_table *t, const struct json_node *value)
{
    auto_buf struct buf text = BUF_INIT(CELL_MAX);
    struct json_w w;
    json_w_init(&w, &text);
    json_w_node(&w, value);
    cli_table_add(t, buf_cstr(&text));
}

static void add_value(struct cli_table *t, const struct json_node *value)
{
    bool yes = false;
    switch (json_type(value)) {
    case JSON_STRING:
        cli_table_add(t, json_str(value, NULL)); /* up to a NUL, which is none in a table */
        return;
    case JSON_NUMBER:
        cli_table_add(t, json_number_text(value, NULL));
        return;
    case JSON_BOOL:
        (void)json_bool(value, &yes);
        cli_table_add(t, yes ? "yes" : "no");
        return;
    case JSON_ARRAY:
    case JSON_OBJECT:
        if (json_len(value) == 0)
            break;
        add_json(t, value);
        return;
    case JSON_NONE:
    case JSON_NULL:
        break;
    }
    cli_table_add(t, NULL);
}

static void print(struct cli_table *t)
{
    uint16_t rows, columns;
    bool cut = isatty(STDOUT_FILENO) && cli_term_size(&rows, &columns);
    auto_buf struct buf text = BUF_INIT(TABLE_MAX);
    cli_table_write(t, cut ? columns : 0, &text);
    cli_print_bytes(text.data, text.len);
    cli_table_done(t);
}

void cli_list_rows(const struct json_node *array, const struct cli_list_column *columns)
{
    const char *headings[COLUMNS_MAX];
    size_t n = 0;
    for (; columns[n].heading; n++)
        headings[n] = columns[n].heading;
    struct cli_table t;
    cli_table_init(&t, n, headings);
    JSON_FOREACH(row, array)
    {
        for (size_t i = 0; i < n; i++)
            add_value(&t, json_get(row, columns[i].key));
    }
    print(&t);
}

void cli_list_fields(const struct json_node *object, const char *const *skip)
{
    struct cli_table t;
    cli_table_init(&t, 2, NULL);
    JSON_FOREACH(value, object)
    {
        const char *key = json_key(value, NULL);
        const char *const *s = skip;
        while (s && *s && strcmp(*s, key) != 0)
            s++;
        if (s && *s)
            continue;
        cli_table_add(&t, key);
        add_value(&t, value);
    }
    print(&t);
}
