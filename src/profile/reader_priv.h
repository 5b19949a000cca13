/* SPDX-License-Identifier: MIT */
/* profile/reader_priv - from a YAML tree into a profile. */
#ifndef PROFILE_READER_PRIV_H
#define PROFILE_READER_PRIV_H

#include "profile/field_priv.h"
#include "yaml/read.h"

/* One walk over one file. */
struct reader {
    const char *file;
    struct arena *arena;
    struct err *err;
    struct profile *profile;
    bool seen_layers[PROFILE_N_LAYERS]; /* by this file, in any of the three lists */
    struct profile_list seen_paths;     /* the same */
};

typedef int (*field_read_fn)(struct reader *r, const struct field *f, const struct yaml_node *node);

/* Sets err to "FILE:LINE:COLUMN: NAME: ..." for the node and returns -ERR_INVALID. */
int reader_fail(const struct reader *r, const char *name, const struct yaml_node *node,
                const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* "is a list, expected <what>". */
int reader_fail_type(const struct reader *r, const char *name, const struct yaml_node *node,
                     const char *what);

int reader_fail_memory(const struct reader *r);

/* Sets what the map's members name, over what the profile has. */
int reader_fields(struct reader *r, const char *name, const struct field *fields,
                  const struct yaml_node *map);

/* Refuses what is no map, or has keys that are not in names. */
int reader_check_keys(const struct reader *r, const char *name, const char *const *names,
                      const struct yaml_node *map);

/* "a, b or c" of a NULL-terminated array. */
const char *reader_words(const struct reader *r, const char *const *words);

/* "; did you mean 'x'?" for the nearest of the words, or "". */
const char *reader_nearest(const struct reader *r, const char *word, const char *const *words);

/* Scalars (value.c). */
int read_line(struct reader *r, const struct field *f, const struct yaml_node *node);
int read_choice(struct reader *r, const struct field *f, const struct yaml_node *node);
int read_bool(struct reader *r, const struct field *f, const struct yaml_node *node);
int read_number(struct reader *r, const struct field *f, const struct yaml_node *node);
int read_user(struct reader *r, const struct field *f, const struct yaml_node *node);
int read_umask(struct reader *r, const struct field *f, const struct yaml_node *node);
int read_nice(struct reader *r, const struct field *f, const struct yaml_node *node);
int read_place(struct reader *r, const struct field *f, const struct yaml_node *node);

/* A size, count, percentage or duration within the field's range. */
int read_amount(const struct reader *r, const struct field *f, const struct yaml_node *node,
                uint64_t *ret);

/* A path with the slashes that it needs; -ERR_INVALID, and no message, if it is none. */
int reader_path(const struct reader *r, const char *text, const char **ret);

/* The same of a node, with one. */
int read_path(const struct reader *r, const char *name, const struct yaml_node *node,
              const char **ret);

/* Lists (list.c). */
typedef int (*item_read_fn)(const struct reader *r, const char *name, const struct yaml_node *item,
                            const char **ret);

/* All items of a list, none twice; what: "a list of paths". */
int read_items(const struct reader *r, const char *name, const struct yaml_node *node,
               item_read_fn read, const char *what, struct profile_list *ret);

bool profile_list_has(const struct profile_list *list, const char *item);

int read_layers(struct reader *r, const struct field *f, const struct yaml_node *node);
int read_paths(struct reader *r, const struct field *f, const struct yaml_node *node);
int read_patterns(struct reader *r, const struct field *f, const struct yaml_node *node);
int read_tmpfs(struct reader *r, const struct field *f, const struct yaml_node *node);
int read_syscalls(struct reader *r, const struct field *f, const struct yaml_node *node);
int read_variables(struct reader *r, const struct field *f, const struct yaml_node *node);

/* Rules (rule.c). */
int read_rules(struct reader *r, const struct field *f, const struct yaml_node *node);

#endif
