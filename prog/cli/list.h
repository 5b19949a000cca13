/* SPDX-License-Identifier: MIT */
/* cli/list - JSON answers as tables for people. */
#ifndef CLI_LIST_H
#define CLI_LIST_H

struct json_node;

struct cli_list_column {
    const char *heading; /* NULL ends */
    const char *key;
};

/* Prints one row per object of the array; the last column is cut to the terminal. */
void cli_list_rows(const struct json_node *array, const struct cli_list_column *columns);

/* Prints one member per line, without those named in skip (NULL-terminated; may be NULL). */
void cli_list_fields(const struct json_node *object, const char *const *skip);

#endif
