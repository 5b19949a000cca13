/* SPDX-License-Identifier: MIT */
#include "profile/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"
#include "cli/report.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "json/write.h"
#include "yaml/read.h"

enum { MEMORY_MAX = 64 * 1024 * 1024, TEXT_MAX = 4 * 1024 * 1024 };

static int print_json(const struct cli_args *args, const struct buf *json, int status)
{
    cli_print_bytes(json->data, json->len);
    cli_print("\n");
    return cli_flush(args, status);
}

/* --- list --------------------------------------------------------------------------- */

static void add_entry(const struct profile_entry *entry, const struct profile_dirs *dirs,
                      struct cli_table *table, struct json_w *w)
{
    auto_arena struct arena arena;
    arena_init(&arena, MEMORY_MAX);
    struct profile profile = {.description = ""};
    struct err err = {0};
    bool good = profile_load(entry->name, dirs, &arena, &profile, &err) == 0;
    json_w_obj(w);
    json_w_kstr(w, "name", entry->name);
    json_w_key(w, "source");
    json_w_str_lossy(w, entry->source, strlen(entry->source));
    json_w_kstr(w, "description", good ? profile.description : NULL);
    json_w_kstr(w, "error", good ? NULL : err.text);
    json_w_obj_end(w);
    cli_table_add(table, entry->name);
    cli_table_add(table, entry->source);
    if (good)
        cli_table_add(table, profile.description);
    else
        cli_table_addf(table, "faulty: %s", err.text);
}

int cli_profile_list(const struct cli_args *args)
{
    static const char *const headings[] = {"NAME", "FROM", "DESCRIPTION"};
    auto_arena struct arena arena;
    arena_init(&arena, MEMORY_MAX);
    struct err err = {0};
    struct profile_dirs dirs;
    struct profile_entry *entries;
    size_t n;
    if (profile_dirs_find(&arena, &dirs) < 0 || profile_list(&dirs, &arena, &entries, &n, &err) < 0)
        return cli_fail(args, &err);

    auto_buf struct buf text = BUF_INIT(TEXT_MAX), json = BUF_INIT(TEXT_MAX);
    struct cli_table table;
    struct json_w w;
    cli_table_init(&table, 3, headings);
    json_w_init(&w, &json);
    json_w_obj(&w);
    json_w_karr(&w, "profiles");
    for (size_t i = 0; i < n; i++)
        add_entry(&entries[i], &dirs, &table, &w);
    json_w_arr_end(&w);
    json_w_obj_end(&w);
    cli_table_write(&table, 0, &text);
    cli_table_done(&table);
    if (args->json)
        return print_json(args, &json, CLI_OK);
    cli_print_bytes(text.data, text.len);
    return cli_flush(args, CLI_OK);
}

/* --- show --------------------------------------------------------------------------- */

/* Recurses as deep as YAML_DEPTH_MAX. */
static void write_node(struct json_w *w, const struct yaml_node *node)
{
    bool truth = false;
    int64_t number = 0;
    const char *text = yaml_text(node, NULL);
    if (yaml_type(node) == YAML_MAP) {
        json_w_obj(w);
        YAML_FOREACH(value, node)
        {
            json_w_key(w, yaml_key(value));
            write_node(w, value);
        }
        json_w_obj_end(w);
    } else if (yaml_type(node) == YAML_LIST) {
        json_w_arr(w);
        YAML_FOREACH(item, node)
        write_node(w, item);
        json_w_arr_end(w);
    } else if (yaml_bool(node, &truth) == 0) {
        json_w_bool(w, truth);
    } else if (yaml_i64(node, &number) == 0 && (text[0] != '0' || text[1] == '\0')) {
        json_w_int(w, number);
    } else {
        json_w_str(w, text); /* 077 is octal, and no number of JSON's */
    }
}

static int show_json(const struct cli_args *args, const struct profile *profile,
                     const struct buf *yaml, struct arena *arena)
{
    auto_buf struct buf json = BUF_INIT(TEXT_MAX);
    struct yaml_input input = {profile->name, yaml->data, yaml->len};
    struct yaml_node *root;
    struct err err = {0};
    if (yaml_parse(&input, NULL, arena, &root, &err) < 0)
        return cli_fail(args, &err);
    struct json_w w;
    json_w_init(&w, &json);
    json_w_obj(&w);
    json_w_kstr(&w, "name", profile->name);
    json_w_key(&w, "source");
    json_w_str_lossy(&w, profile->source, strlen(profile->source));
    json_w_key(&w, "profile");
    write_node(&w, root);
    json_w_obj_end(&w);
    return print_json(args, &json, CLI_OK);
}

int cli_profile_show(const struct cli_args *args)
{
    auto_arena struct arena arena;
    arena_init(&arena, MEMORY_MAX);
    struct err err = {0};
    struct profile_dirs dirs;
    struct profile profile;
    if (profile_dirs_find(&arena, &dirs) < 0 ||
        profile_load(args->operands[0], &dirs, &arena, &profile, &err) < 0)
        return cli_fail(args, &err);
    auto_buf struct buf yaml = BUF_INIT(TEXT_MAX);
    int rc = profile_to_yaml(&profile, &yaml);
    if (rc < 0) {
        (void)err_set(&err, -rc, "print profile '%s'", profile.name);
        return cli_fail(args, &err);
    }
    if (args->json)
        return show_json(args, &profile, &yaml, &arena);
    cli_print("# %s (%s)\n", profile.name, profile.source);
    cli_print_bytes(yaml.data, yaml.len);
    return cli_flush(args, CLI_OK);
}

/* --- check -------------------------------------------------------------------------- */

static int read_file(const char *path, struct buf *ret, struct err *err)
{
    if (strcmp(path, "-") != 0)
        return io_read_file(AT_FDCWD, path, TEXT_MAX, ret, err);
    int rc = io_read_fd(STDIN_FILENO, TEXT_MAX, ret);
    return rc < 0 ? err_set(err, -rc, "read standard input") : 0;
}

static int check_file(const char *path, const struct profile_dirs *dirs, struct err *err)
{
    auto_arena struct arena arena;
    arena_init(&arena, MEMORY_MAX);
    auto_buf struct buf text = BUF_INIT(TEXT_MAX);
    int rc = read_file(path, &text, err);
    if (rc < 0)
        return rc;
    struct yaml_input input = {strcmp(path, "-") == 0 ? "stdin" : path, buf_cstr(&text), text.len};
    struct profile profile;
    return profile_parse(&input, dirs, &arena, &profile, err);
}

int cli_profile_check(const struct cli_args *args)
{
    auto_arena struct arena arena;
    arena_init(&arena, MEMORY_MAX);
    struct profile_dirs dirs;
    struct err err = {0};
    if (profile_dirs_find(&arena, &dirs) < 0)
        return cli_fail(args, &err);

    auto_buf struct buf json = BUF_INIT(TEXT_MAX);
    struct json_w w;
    json_w_init(&w, &json);
    json_w_obj(&w);
    json_w_karr(&w, "files");
    int status = CLI_OK;
    for (size_t i = 0; i < args->n_operands; i++) {
        const char *path = args->operands[i];
        err_clear(&err);
        bool good = check_file(path, &dirs, &err) == 0;
        if (!good)
            status = CLI_UNMET;
        json_w_obj(&w);
        json_w_key(&w, "file");
        json_w_str_lossy(&w, path, strlen(path));
        json_w_kbool(&w, "ok", good);
        json_w_kstr(&w, "error", good ? NULL : err.text);
        json_w_obj_end(&w);
        if (!args->json && good)
            cli_print("%s: ok\n", path);
        else if (!args->json)
            cli_print("%s\n", err.text);
    }
    json_w_arr_end(&w);
    json_w_kbool(&w, "ok", status == CLI_OK);
    json_w_obj_end(&w);
    return args->json ? print_json(args, &json, status) : cli_flush(args, status);
}
