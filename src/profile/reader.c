/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/suggest.h"
#include "profile/reader_priv.h"

enum { WORDS_MAX = 1024, FIELDS_MAX = 32 };

int reader_fail(const struct reader *r, const char *name, const struct yaml_node *node,
                const char *fmt, ...)
{
    char text[ERR_TEXT_SIZE];
    va_list args;
    va_start(args, fmt);
    if (vsnprintf(text, sizeof(text), fmt, args) < 0)
        text[0] = '\0';
    va_end(args);
    return yaml_err(r->err, ERR_INVALID, r->file, yaml_mark(node), "%s%s%s", name,
                    *name ? ": " : "", text);
}

int reader_fail_type(const struct reader *r, const char *name, const struct yaml_node *node,
                     const char *what)
{
    return reader_fail(r, name, node, "is %s, expected %s", yaml_type_phrase(yaml_type(node)),
                       what);
}

int reader_fail_memory(const struct reader *r)
{
    return err_set(r->err, ERR_LIMIT, "%s: the profile needs more memory than allowed", r->file);
}

const char *reader_words(const struct reader *r, const char *const *words)
{
    auto_buf struct buf text = BUF_INIT(WORDS_MAX);
    for (size_t i = 0; words[i]; i++) {
        const char *joint = i == 0 ? "" : words[i + 1] ? ", " : " or ";
        if (buf_printf(&text, "%s%s", joint, words[i]) < 0)
            break;
    }
    const char *copy = arena_strdup(r->arena, buf_cstr(&text));
    return copy ? copy : "something else";
}

const char *reader_nearest(const struct reader *r, const char *word, const char *const *words)
{
    struct suggest near = {0};
    for (size_t i = 0; words[i]; i++)
        suggest_try(&near, word, words[i], strlen(words[i]));
    if (!near.best)
        return "";
    const char *text = arena_printf(r->arena, "; did you mean '%.*s'?", near.best_len, near.best);
    return text ? text : "";
}

int reader_check_keys(const struct reader *r, const char *name, const char *const *names,
                      const struct yaml_node *map)
{
    if (yaml_type(map) != YAML_MAP)
        return reader_fail_type(r, name, map, "a map");
    YAML_FOREACH(value, map)
    {
        const char *key = yaml_key(value);
        size_t i = 0;
        while (names[i] && strcmp(names[i], key) != 0)
            i++;
        if (names[i])
            continue;
        return yaml_err(r->err, ERR_INVALID, r->file, yaml_key_mark(value),
                        "unknown key '%.60s'%s%s, expected %s%s", key, *name ? " in " : "", name,
                        reader_words(r, names), reader_nearest(r, key, names));
    }
    return 0;
}

/* The loader has dealt with it. */
static int read_extends(struct reader *r, const struct field *f, const struct yaml_node *node)
{
    (void)r, (void)f, (void)node;
    return 0;
}

static int read_group(struct reader *r, const struct field *f, const struct yaml_node *node)
{
    return reader_fields(r, f->name, f->fields, node);
}

static const field_read_fn readers[] = {
    [FIELD_GROUP] = read_group,       [FIELD_EXTENDS] = read_extends,
    [FIELD_LINE] = read_line,         [FIELD_LAYERS] = read_layers,
    [FIELD_PATHS] = read_paths,       [FIELD_PATTERNS] = read_patterns,
    [FIELD_TMPFS] = read_tmpfs,       [FIELD_PLACE] = read_place,
    [FIELD_CHOICE] = read_choice,     [FIELD_BOOL] = read_bool,
    [FIELD_SIZE] = read_number,       [FIELD_COUNT] = read_number,
    [FIELD_PERCENT] = read_number,    [FIELD_DURATION] = read_number,
    [FIELD_RULES] = read_rules,       [FIELD_USER] = read_user,
    [FIELD_SYSCALLS] = read_syscalls, [FIELD_VARIABLES] = read_variables,
    [FIELD_UMASK] = read_umask,       [FIELD_NICE] = read_nice,
};

/* Recurses as deep as the table of fields does: three levels. */
int reader_fields(struct reader *r, const char *name, const struct field *fields,
                  const struct yaml_node *map)
{
    const char *names[FIELDS_MAX];
    size_t n = 0;
    for (; fields[n].name && n < FIELDS_MAX - 1; n++)
        names[n] = fields[n].name;
    names[n] = NULL;

    int rc = reader_check_keys(r, name, names, map);
    for (const struct field *f = fields; f->name && rc == 0; f++) {
        const struct yaml_node *node = yaml_get(map, f->name);
        if (node)
            rc = readers[f->kind](r, f, node);
    }
    return rc;
}
