/* SPDX-License-Identifier: MIT */
/* The variables of a saved state. */
#include <string.h>

#include "base/own.h"
#include "native/state.h"

/* Variables that bash sets itself, or that cannot be set. */
static const char *const own_variables[] = {
    "BASH",          "BASHOPTS",     "BASHPID",     "BASH_ALIASES",
    "BASH_ARGC",     "BASH_ARGV",    "BASH_ARGV0",  "BASH_CMDS",
    "BASH_COMMAND",  "BASH_LINENO",  "BASH_SOURCE", "BASH_SUBSHELL",
    "BASH_VERSINFO", "BASH_VERSION", "DIRSTACK",    "EPOCHREALTIME",
    "EPOCHSECONDS",  "EUID",         "FUNCNAME",    "GROUPS",
    "HISTCMD",       "LINENO",       "PIPESTATUS",  "PPID",
    "PWD",           "RANDOM",       "SECONDS",     "SHELLOPTS",
    "SRANDOM",       "UID",          "_",
};

/* Variables that bash makes when it starts without them: those that the user has unset go again. */
static const char *const born_variables[] = {
    "HISTFILESIZE", "HISTSIZE", "IFS", "OPTERR", "PATH", "PS4", "SHELL", "SHLVL", "TERM",
};
enum { N_BORN_VARIABLES = sizeof(born_variables) / sizeof(born_variables[0]) };

/*
 * What bash would run each time it reads a line of ours, or that ends it while it waits for one.
 * The prompts are kept as long as they run nothing.
 */
static const struct {
    const char *name;
    bool is_prompt;
} reader_variables[] = {
    {"PROMPT_COMMAND", false},
    {"PS0",            true },
    {"PS1",            true },
    {"PS2",            true },
    {"TMOUT",          false},
};
enum { N_READER_VARIABLES = sizeof(reader_variables) / sizeof(reader_variables[0]) };

/* NAME of "declare -ax NAME=..."; NULL if the line is no such thing. */
static const char *variable_name(const char *line, size_t len, size_t *ret_n)
{
    const char *name = memmem(line, len, " -", 2);
    name = name ? memchr(name + 1, ' ', len - (size_t)(name + 1 - line)) : NULL;
    if (!name)
        return NULL;
    name++;
    size_t n = 0;
    while (name + n < line + len && name[n] != '=')
        n++;
    *ret_n = n;
    return name;
}

/* Which of the reader's variables it is that must not be kept; -1 for all else. */
static int unwanted_reader_variable(const char *line, size_t len)
{
    size_t n;
    const char *name = variable_name(line, len, &n);
    for (int i = 0; name && i < N_READER_VARIABLES; i++) {
        if (strlen(reader_variables[i].name) != n || memcmp(reader_variables[i].name, name, n) != 0)
            continue;
        bool is_whole = line[len - 1] == '"' || !memchr(line, '=', len);
        bool is_plain = is_whole && !memchr(line, '$', len) && !memchr(line, '`', len);
        return reader_variables[i].is_prompt && is_plain ? -1 : i;
    }
    return -1;
}

bool native_runs_between(const char *var)
{
    const char *value = strchr(var, '=');
    for (int i = 0; i < N_READER_VARIABLES; i++) {
        size_t n = strlen(reader_variables[i].name);
        if (n == (size_t)(value - var) && memcmp(reader_variables[i].name, var, n) == 0)
            return !reader_variables[i].is_prompt || strpbrk(value, "$`");
    }
    return false;
}

struct variable {
    struct span flags; /* "ax", or "-" */
    struct span name;
    struct span value; /* with its '='; empty if there is none */
};

static bool parse_variable(const char *line, size_t len, struct variable *ret)
{
    static const char start[] = "declare -";
    size_t n;
    const char *name = state_starts_with(line, len, start) ? variable_name(line, len, &n) : NULL;
    if (!name)
        return false;
    const char *flags = line + sizeof(start) - 1;
    *ret = (struct variable){
        .flags = {flags,    (size_t)(name - 1 - flags)       },
        .name = {name,     n                                },
        .value = {name + n, (size_t)(line + len - (name + n))},
    };
    return true;
}

static bool is_same(struct span a, struct span b)
{
    return a.len == b.len && memcmp(a.p, b.p, a.len) == 0;
}

static bool has_flag(const struct variable *v, const char *any)
{
    for (size_t i = 0; i < v->flags.len; i++)
        if (strchr(any, v->flags.p[i]))
            return true;
    return false;
}

/*
 * An attribute that was added later would change the value, or fail: it is given afterwards.
 * `declare` stands without \builtin, with which bash takes (...) for a syntax error: nothing that
 * could be in its way is defined yet.
 */
static int add_variable(struct buf *out, const struct variable *v)
{
    static const char changing[] = "iulc", late[] = "iulcr";
    if (!v->value.len || !has_flag(v, changing) || has_flag(v, "n"))
        return buf_printf(out, "declare -%.*s %.*s\n", (int)v->flags.len, v->flags.p,
                          (int)(v->name.len + v->value.len), v->name.p);
    char early[16];
    size_t n = 0;
    for (size_t i = 0; i < v->flags.len && n + 1 < sizeof(early); i++)
        if (!strchr(late, v->flags.p[i]))
            early[n++] = v->flags.p[i];
    if (!n)
        early[n++] = '-';
    return buf_printf(out, "declare -%.*s %.*s\ndeclare -%.*s %.*s\n", (int)n, early,
                      (int)(v->name.len + v->value.len), v->name.p, (int)v->flags.len, v->flags.p,
                      (int)v->name.len, v->name.p);
}

/* The variable's lines in the state before. */
static int add_old_variable(struct buf *out, struct span name, const struct state_rest *rest)
{
    const char *end = rest->old + rest->old_len;
    int rc = 0;
    for (const char *p = rest->old; rc == 0 && p < end;) {
        size_t len = state_statement_len(p, end);
        struct variable old;
        if (parse_variable(p, len, &old) && is_same(old.name, name))
            rc = buf_append(out, p, len + 1);
        p += len + 1;
    }
    return rc;
}

/* Whether it is a function's own; *globals moves on, since both lists have the same order. */
static bool is_local(const struct variable *v, struct span *globals)
{
    const char *end = globals->p + globals->len;
    if (!v->value.len)
        return false; /* `compgen -v` does not list it */
    for (const char *p = globals->p; p < end;) {
        size_t len = state_line_len(p, end, false);
        struct variable g;
        if (parse_variable(p, len, &g) && is_same(g.name, v->name)) {
            *globals = (struct span){p, (size_t)(end - p)};
            return !has_flag(&g, "tn");
        }
        p += len + 1;
    }
    return false;
}

/* What a shell prints that ends, after its limits. */
static struct span find_globals(struct span end)
{
    static const char mark[] = "\nglobals\n";
    const char *p = end.len ? memmem(end.p, end.len, mark, sizeof(mark) - 1) : NULL;
    if (!p)
        return (struct span){end.p, 0};
    p += sizeof(mark) - 1;
    return (struct span){p, (size_t)(end.p + end.len - p)};
}

static bool is_kept(const char *line, size_t len, const struct variable *v)
{
    return !state_is_listed(own_variables, sizeof(own_variables) / sizeof(own_variables[0]),
                            v->name.p, v->name.len) &&
           unwanted_reader_variable(line, len) < 0;
}

int state_add_variables(struct buf *out, struct span all, struct span printed,
                        const struct state_rest *rest)
{
    struct span globals = find_globals(printed);
    const char *end = all.p + all.len;
    int rc = 0;
    for (const char *p = all.p; rc == 0 && p < end;) {
        size_t len = state_line_len(p, end, false);
        struct variable v;
        if (parse_variable(p, len, &v) && is_kept(p, len, &v))
            rc = is_local(&v, &globals) ? add_old_variable(out, v.name, rest)
                                        : add_variable(out, &v);
        p += len + 1;
    }
    return rc;
}

int state_add_unset(struct buf *out, struct span part)
{
    bool found[N_BORN_VARIABLES] = {false};
    const char *end = part.p + part.len;
    for (const char *p = part.p; p < end;) {
        size_t n, len = state_line_len(p, end, false);
        const char *name = len ? variable_name(p, len, &n) : NULL;
        for (int i = 0; name && i < N_BORN_VARIABLES; i++)
            if (strlen(born_variables[i]) == n && memcmp(born_variables[i], name, n) == 0)
                found[i] = true;
        p += len + 1;
    }
    int rc = 0;
    for (int i = 0; i < N_BORN_VARIABLES && rc == 0; i++)
        if (!found[i])
            rc = buf_printf(out, "\\builtin unset -v %s\n", born_variables[i]);
    return rc;
}

/* Whether the state was printed while a function ran: FUNCNAME=([0]="source" [1]="f" ...). */
bool state_is_in_function(struct span variables)
{
    static const char start[] = "declare -a FUNCNAME=(", value[] = "]=\"";
    const char *end = variables.p + variables.len;
    for (const char *p = variables.p; p < end; p += state_line_len(p, end, false) + 1) {
        size_t len = state_line_len(p, end, false);
        if (!state_starts_with(p, len, start))
            continue;
        for (const char *at = p; (at = memmem(at, (size_t)(p + len - at), value, 3)); at++)
            if (!state_starts_with(at + 3, (size_t)(p + len - at) - 3, "source\"") &&
                !state_starts_with(at + 3, (size_t)(p + len - at) - 3, "main\""))
                return true;
    }
    return false;
}

unsigned state_reader_variables(struct span part)
{
    unsigned found = 0;
    const char *end = part.p + part.len;
    for (const char *p = part.p; p < end;) {
        size_t len = state_line_len(p, end, false);
        int i = len ? unwanted_reader_variable(p, len) : -1;
        if (i >= 0)
            found |= 1u << i;
        p += len + 1;
    }
    return found;
}

void native_unset_reader_variables(unsigned which, struct buf *lines)
{
    (void)buf_append_str(lines, "\\builtin unset -v");
    for (int i = 0; i < N_READER_VARIABLES; i++)
        if (which & (1u << i))
            (void)buf_printf(lines, " %s", reader_variables[i].name);
    (void)buf_append_str(lines, " 2>/dev/null\n");
}
