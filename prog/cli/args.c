/* SPDX-License-Identifier: MIT */
#include "cli/args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/signame.h"
#include "base/suggest.h"

enum { ENV_BYTES_MAX = 8 * 1024 * 1024, NAME_SIZE = 64 };

/* One walk over a command line. */
struct walk {
    char **argv; /* what is still to be read */
    struct cli_args *args;
    struct err *err;
};

/* How an option was written, for messages: "--timeout", "-s". */
static const char *spell(const struct cli_option *o, char buf[NAME_SIZE], bool is_long)
{
    if (is_long || !o->letter)
        (void)snprintf(buf, NAME_SIZE, "--%s", o->name);
    else
        (void)snprintf(buf, NAME_SIZE, "-%c", o->letter);
    return buf;
}

static int set_duration(const struct cli_option *o, int64_t *field, const char *name,
                        const char *value, struct err *err)
{
    if (o->type == CLI_LIMIT && strcmp(value, "none") == 0) {
        *field = -1;
        return 0;
    }
    if (duration_parse(value, field, NULL) < 0 || *field <= 0) {
        *field = 0;
        return err_set(err, ERR_INVALID, "%s wants a duration such as 30s or 1500ms, not '%s'",
                       name, value);
    }
    return 0;
}

static int set_env(struct strv *env, const char *name, const char *value, struct err *err)
{
    const char *eq = strchr(value, '=');
    auto_free char *key = eq ? xstrndup(value, (size_t)(eq - value)) : NULL;
    if (!key || !env_name_is_valid(key))
        return err_set(err, ERR_INVALID, "%s wants NAME=VALUE, not '%s'", name, value);
    if (!env->max)
        strv_init(env, ENV_BYTES_MAX);
    int rc = strv_push(env, value);
    return rc < 0 ? err_set(err, -rc, "%s: environment of over %d bytes", name, ENV_BYTES_MAX) : 0;
}

static int set_value(struct walk *w, const struct cli_option *o, const char *name,
                     const char *value)
{
    void *field = (char *)w->args + o->field;
    uint64_t number = 0;
    int signo = 0;
    switch (o->type) {
    case CLI_FLAG:
        break; /* has no value */
    case CLI_TEXT:
        if (!*value)
            return err_set(w->err, ERR_INVALID, "%s wants %s, not an empty text", name, o->arg);
        *(const char **)field = value;
        return 0;
    case CLI_ENV:
        return set_env(field, name, value, w->err);
    case CLI_DURATION:
    case CLI_LIMIT:
        return set_duration(o, field, name, value, w->err);
    case CLI_CURSOR:
        if (num_parse_u64(value, INT64_MAX, &number) < 0)
            return err_set(w->err, ERR_INVALID, "%s wants a number of bytes, not '%s'", name,
                           value);
        *(uint64_t *)field = number;
        return 0;
    case CLI_PORT:
        if (num_parse_u64(value, UINT16_MAX, &number) < 0 || number == 0)
            return err_set(w->err, ERR_INVALID, "%s wants a port from 1 to 65535, not '%s'", name,
                           value);
        *(uint16_t *)field = (uint16_t)number;
        return 0;
    case CLI_SIGNAL:
        signo = signame_parse(value);
        if (signo <= 0)
            return err_set(w->err, ERR_INVALID,
                           "%s wants a signal such as TERM, SIGHUP or 9, not '%s'", name, value);
        *(int *)field = signo;
        return 0;
    }
    return err_set(w->err, ERR_INVALID, "%s takes no value", name);
}

/* Takes the value from behind "=" or the letter, else from the next word. */
static int take_value(struct walk *w, const struct cli_option *o, const char *name,
                      const char *inline_value)
{
    if (o->type == CLI_FLAG) {
        if (inline_value)
            return err_set(w->err, ERR_INVALID, "%s takes no value", name);
        *(bool *)((char *)w->args + o->field) = true;
        return 0;
    }
    if (inline_value)
        return set_value(w, o, name, inline_value);
    if (!w->argv[0])
        return err_set(w->err, ERR_INVALID, "%s wants a value: %s %s", name, name, o->arg);
    /* It is more likely that the value was forgotten than that it looks like an option. */
    bool is_name = strcmp(o->arg, "NAME") == 0;
    if (strcmp(w->argv[0], "--") == 0 || (is_name && w->argv[0][0] == '-'))
        return err_set(w->err, ERR_INVALID, "%s wants a value, %s, before '%s'", name, o->arg,
                       w->argv[0]);
    return set_value(w, o, name, *w->argv++);
}

static int unknown_option(struct walk *w, const char *word, size_t len)
{
    const struct cli_verb *verb = w->args->verb;
    struct suggest near = {0};
    auto_free char *name = xstrndup(word + 2, len > 2 ? len - 2 : 0);
    for (const struct cli_option *o = verb ? verb->options : NULL; o && o->name; o++)
        suggest_try(&near, name, o->name, strlen(o->name));
    if (near.best)
        return err_set(w->err, ERR_INVALID, "unknown option '%.*s'; did you mean '--%.*s'?",
                       (int)len, word, near.best_len, near.best);
    if (verb && strcmp(verb->name, "exec") == 0)
        return err_set(w->err, ERR_INVALID,
                       "unknown option '%.*s'; if it belongs to the command, put '--' before the "
                       "command",
                       (int)len, word);
    return err_set(w->err, ERR_INVALID, "unknown option '%.*s'", (int)len, word);
}

static int read_long(struct walk *w, const char *word)
{
    const char *eq = strchr(word, '=');
    size_t len = eq ? (size_t)(eq - word) : strlen(word);
    if (strcmp(word, "--help") == 0) {
        w->args->help = true;
        return 0;
    }
    const struct cli_verb *verb = w->args->verb;
    for (const struct cli_option *o = verb ? verb->options : NULL; o && o->name; o++)
        if (strlen(o->name) == len - 2 && strncmp(o->name, word + 2, len - 2) == 0) {
            char name[NAME_SIZE];
            return take_value(w, o, spell(o, name, true), eq ? eq + 1 : NULL);
        }
    return unknown_option(w, word, len);
}

static int read_letters(struct walk *w, const char *word)
{
    const struct cli_verb *verb = w->args->verb;
    for (const char *p = word + 1; *p; p++) {
        const struct cli_option *o = verb ? verb->options : NULL;
        while (o && o->name && o->letter != *p)
            o++;
        if (!o || !o->name) {
            if (*p != 'h')
                return unknown_option(w, (char[]){'-', *p, 0}, 2);
            w->args->help = true;
            continue;
        }
        char name[NAME_SIZE];
        spell(o, name, false);
        if (o->type != CLI_FLAG)
            return take_value(w, o, name, p[1] ? p + 1 : NULL);
        (void)take_value(w, o, name, NULL); /* a flag without a value cannot fail */
    }
    return 0;
}

static void add_operand(struct cli_args *args, char *word)
{
    args->operands[args->n_operands++] = word;
}

static int read_words(struct walk *w)
{
    struct cli_args *args = w->args;
    while (w->argv[0]) {
        char *word = *w->argv++;
        int rc = 0;
        if (strcmp(word, "--") == 0)
            break;
        if (strncmp(word, "--", 2) == 0)
            rc = read_long(w, word);
        else if (word[0] == '-' && word[1])
            rc = read_letters(w, word);
        else
            add_operand(args, word);
        if (rc < 0)
            return rc;
    }
    args->n_plain = args->n_operands;
    while (w->argv[0])
        add_operand(args, *w->argv++);
    return 0;
}

static int check_operands(const struct cli_args *args, struct err *err)
{
    const struct cli_verb *verb = args->verb;
    if (args->help)
        return 0;
    if (args->n_operands < verb->min)
        return err_set(err, ERR_INVALID, "too few arguments: it is 'nacre %s %s'", verb->name,
                       verb->operands);
    if (args->n_operands <= verb->max)
        return 0;
    const char *extra = args->operands[verb->max];
    if (!verb->operands)
        return err_set(err, ERR_INVALID, "takes no argument, but got '%s'", extra);
    return err_set(err, ERR_INVALID, "one argument too many, '%s': it is 'nacre %s %s'", extra,
                   verb->name, verb->operands);
}

static int unknown_verb(const struct cli_verb *verbs, const char *group, const char *word,
                        struct err *err)
{
    struct suggest near = {0};
    size_t skip = group ? strlen(group) + 1 : 0;
    for (const struct cli_verb *v = verbs; v->name; v++)
        if (!group || (strncmp(v->name, group, skip - 1) == 0 && v->name[skip - 1] == ' '))
            suggest_try(&near, word, v->name + skip, strcspn(v->name + skip, " "));
    const char *lead = group ? group : "", *blank = group ? " " : "";
    if (near.best)
        return err_set(err, ERR_INVALID, "unknown verb '%s%s%s'; did you mean '%s%s%.*s'?", lead,
                       blank, word, lead, blank, near.best_len, near.best);
    return err_set(err, ERR_INVALID, "unknown verb '%s%s%s'; 'nacre help' lists them all", lead,
                   blank, word);
}

const struct cli_verb *cli_verb_find(const struct cli_verb *verbs, const char *name)
{
    for (const struct cli_verb *v = verbs; v->name; v++)
        if (strcmp(v->name, name) == 0)
            return v;
    return NULL;
}

bool cli_verb_is_group(const struct cli_verb *verbs, const char *word)
{
    size_t len = strlen(word);
    for (const struct cli_verb *v = verbs; v->name; v++)
        if (strncmp(v->name, word, len) == 0 && v->name[len] == ' ')
            return true;
    return false;
}

/* Finds the verb of one or two words; leaves args->verb NULL when only help is wanted. */
static int read_verb(struct walk *w, const struct cli_verb *verbs)
{
    const char *first = w->argv[0];
    if (!first)
        return 0;
    w->argv++;
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
        w->args->help = true;
        return 0;
    }
    if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0)
        first = "version";
    w->args->verb = cli_verb_find(verbs, first);
    if (w->args->verb)
        return 0;
    if (*first == '-')
        return err_set(w->err, ERR_INVALID, "unknown option '%s'; a verb comes first", first);
    if (!cli_verb_is_group(verbs, first))
        return unknown_verb(verbs, NULL, first, w->err);

    const char *second = w->argv[0];
    w->args->group = first;
    if (!second || strcmp(second, "--help") == 0 || strcmp(second, "-h") == 0) {
        w->args->help = second;
        return 0;
    }
    w->argv++;
    auto_free char *both = xasprintf("%s %s", first, second);
    w->args->verb = cli_verb_find(verbs, both);
    return w->args->verb ? 0 : unknown_verb(verbs, first, second, w->err);
}

int cli_args_parse(const struct cli_verb *verbs, char **argv, struct cli_args *ret, struct err *err)
{
    size_t n = 0;
    while (argv[n])
        n++;
    *ret = (struct cli_args){.operands = xnew_n(char *, n + 1)};

    struct walk w = {.argv = argv, .args = ret, .err = err};
    int rc = read_verb(&w, verbs);
    if (rc < 0 || !ret->verb)
        return rc;
    if (ret->verb->pass) {
        const char *first = w.argv[0];
        ret->help = first && (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0);
        while (w.argv[0])
            add_operand(ret, *w.argv++);
        return 0;
    }
    rc = read_words(&w);
    return rc < 0 ? rc : check_operands(ret, err);
}

void cli_args_done(struct cli_args *args)
{
    free(args->operands);
    strv_done(&args->env);
    *args = (struct cli_args){0};
}
