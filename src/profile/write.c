/* SPDX-License-Identifier: MIT */
#include "yaml/write.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/duration.h"
#include "base/err.h"
#include "base/size.h"
#include "profile/field_priv.h"

struct writer {
    struct buf *out;
    const struct profile *profile;
    unsigned indent;
    int rc; /* of the first append that failed */
};

static void put(struct writer *w, const char *text)
{
    if (w->rc == 0)
        w->rc = buf_append_str(w->out, text);
}

static void put_str(struct writer *w, const char *text)
{
    if (w->rc == 0)
        w->rc = yaml_write_str(w->out, text);
}

static void put_number(struct writer *w, uint64_t number)
{
    if (w->rc == 0)
        w->rc = buf_printf(w->out, "%" PRIu64, number);
}

static void begin(struct writer *w, const char *name)
{
    if (w->rc == 0)
        w->rc = buf_printf(w->out, "%*s%s:", (int)w->indent, "", name);
}

/* "name: [a, b]" on one line. */
static void put_flow(struct writer *w, const char *name, const struct profile_list *list)
{
    begin(w, name);
    put(w, " [");
    for (size_t i = 0; i < list->n; i++) {
        put(w, i ? ", " : "");
        put_str(w, list->items[i]);
    }
    put(w, "]\n");
}

/* An item per line. */
static void put_list(struct writer *w, const char *name, const struct profile_list *list)
{
    if (list->n == 0) {
        put_flow(w, name, list);
        return;
    }
    begin(w, name);
    put(w, "\n");
    for (size_t i = 0; w->rc == 0 && i < list->n; i++) {
        w->rc = buf_printf(w->out, "%*s- ", (int)w->indent + 2, "");
        put_str(w, list->items[i]);
        put(w, "\n");
    }
}

static void put_layers(struct writer *w, const struct field *f)
{
    const char *names[PROFILE_N_LAYERS];
    struct profile_list list = {names, 0};
    for (size_t i = 0; i < PROFILE_N_LAYERS; i++)
        if (w->profile->layers[i] == (enum profile_need)f->min)
            names[list.n++] = profile_layer_names[i];
    put_flow(w, f->name, &list);
}

static void put_tmpfs(struct writer *w, const struct field *f)
{
    char size[SIZE_TEXT_SIZE];
    const struct profile_filesystem *fs = &w->profile->filesystem;
    begin(w, f->name);
    put(w, fs->n_tmpfs ? "\n" : " {}\n");
    for (size_t i = 0; w->rc == 0 && i < fs->n_tmpfs; i++) {
        w->rc = buf_printf(w->out, "%*s", (int)w->indent + 2, "");
        put_str(w, fs->tmpfs[i].path);
        put(w, ": ");
        put(w, size_format(fs->tmpfs[i].max_bytes, size));
        put(w, "\n");
    }
}

static void put_amount(struct writer *w, const struct field *f, uint64_t value)
{
    char size[SIZE_TEXT_SIZE], span[DURATION_SIZE];
    begin(w, f->name);
    put(w, " ");
    if (value == PROFILE_UNLIMITED)
        put(w, "unlimited");
    else if (f->kind == FIELD_SIZE)
        put(w, size_format(value, size));
    else if (f->kind == FIELD_DURATION)
        put(w, duration_format((int64_t)value, span));
    else
        put_number(w, value);
    put(w, "\n");
}

static void put_ports(struct writer *w, const struct netrule *rule)
{
    begin(w, "ports");
    put(w, " [");
    for (size_t i = 0; i < rule->n_ports; i++) {
        put(w, i ? ", " : "");
        put_number(w, rule->ports[i].first);
        if (rule->ports[i].last != rule->ports[i].first) {
            put(w, "-");
            put_number(w, rule->ports[i].last);
        }
    }
    put(w, "]\n");
}

static void put_rule(struct writer *w, const struct netrule *rule)
{
    if (w->rc == 0)
        w->rc = buf_printf(w->out, "%*s- domain: ", (int)w->indent + 2, "");
    put_str(w, rule->domain);
    put(w, "\n");
    w->indent += 4;
    put_ports(w, rule);
    if (rule->n_methods)
        put_flow(w, "methods", &(struct profile_list){rule->methods, rule->n_methods});
    if (rule->n_paths)
        put_flow(w, "paths", &(struct profile_list){rule->paths, rule->n_paths});
    w->indent -= 4;
}

static void put_rules(struct writer *w, const struct field *f)
{
    size_t n = w->profile->network.n_allow;
    begin(w, f->name);
    put(w, n ? "\n" : " []\n");
    for (size_t i = 0; i < n; i++)
        put_rule(w, &w->profile->network.allow[i]);
}

static void put_text(struct writer *w, const struct field *f, const char *text)
{
    begin(w, f->name);
    put(w, " ");
    put_str(w, text);
    put(w, "\n");
}

/* A number too, which reads the same with and without quotes. */
static void put_user(struct writer *w, const struct field *f)
{
    begin(w, f->name);
    put(w, " ");
    put(w, w->profile->user ? w->profile->user : "self");
    put(w, "\n");
}

static void put_umask(struct writer *w, const struct field *f)
{
    begin(w, f->name);
    if (w->profile->umask < 0)
        put(w, " inherit\n");
    else if (w->rc == 0)
        w->rc = buf_printf(w->out, " %03o\n", (unsigned)w->profile->umask);
}

static void put_fields(struct writer *w, const struct field *fields);

static void put_group(struct writer *w, const struct field *f)
{
    begin(w, f->name);
    put(w, "\n");
    w->indent += 2;
    put_fields(w, f->fields);
    w->indent -= 2;
}

static void put_field(struct writer *w, const struct field *f)
{
    const struct profile *p = w->profile;
    switch (f->kind) {
    case FIELD_GROUP:
        put_group(w, f);
        break;
    case FIELD_EXTENDS:
        put(w, "extends: none\n");
        break;
    case FIELD_LINE:
    case FIELD_PLACE:
        put_text(w, f, *FIELD_IN(p, f, const char *const));
        break;
    case FIELD_LAYERS:
        put_layers(w, f);
        break;
    case FIELD_PATHS:
    case FIELD_PATTERNS:
        put_list(w, f->name, FIELD_IN(p, f, const struct profile_list));
        break;
    case FIELD_SYSCALLS:
    case FIELD_VARIABLES:
        put_flow(w, f->name, FIELD_IN(p, f, const struct profile_list));
        break;
    case FIELD_TMPFS:
        put_tmpfs(w, f);
        break;
    case FIELD_CHOICE:
        begin(w, f->name);
        put(w, " ");
        put(w, f->words[*FIELD_IN(p, f, const int)]);
        put(w, "\n");
        break;
    case FIELD_BOOL:
        begin(w, f->name);
        put(w, *FIELD_IN(p, f, const bool) ? " true\n" : " false\n");
        break;
    case FIELD_SIZE:
    case FIELD_COUNT:
    case FIELD_PERCENT:
    case FIELD_DURATION:
        put_amount(w, f, *FIELD_IN(p, f, const uint64_t));
        break;
    case FIELD_RULES:
        put_rules(w, f);
        break;
    case FIELD_USER:
        put_user(w, f);
        break;
    case FIELD_UMASK:
        put_umask(w, f);
        break;
    case FIELD_NICE:
        put_amount(w, f, p->nice);
        break;
    }
}

/* Recurses as deep as the table does. */
static void put_fields(struct writer *w, const struct field *fields)
{
    for (const struct field *f = fields; f->name; f++)
        put_field(w, f);
}

int profile_to_yaml(const struct profile *profile, struct buf *ret)
{
    struct writer w = {.out = ret, .profile = profile};
    size_t before = ret->len;
    put_fields(&w, profile_fields);
    if (w.rc < 0)
        buf_truncate(ret, before);
    return w.rc;
}
