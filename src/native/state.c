/* SPDX-License-Identifier: MIT */
/*
 * The saved state of a shell: a bash script that a new shell reads.
 *
 * bash prints the parts (traps, options, variables, functions ...) with a marker
 * between them that no text can know; native_state_build() puts them in an order
 * in which they can be read back, without what cannot be set.
 */
#include "native/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/own.h"

static const char head[] = "# nacre shell state 1\n";

/* The parts in the order in which the save script prints them. */
enum part {
    PART_TRAPS,
    PART_SHOPT,
    PART_VARIABLES,
    PART_FUNCTIONS,
    PART_FUNCTION_FLAGS,
    PART_ARGS,
    PART_ALIASES,
    PART_UMASK,
    PART_OPTIONS,
    PART_END, /* the last marker: nothing was cut off */
    N_PARTS,
};

/* Options of `set -o` that belong to how we run bash, or that would end the shell. */
static const char *const own_options[] = {
    "emacs", "histexpand", "history", "monitor", "noexec", "onecmd", "vi",
};

int native_quote(struct buf *out, const char *text, size_t len)
{
    int rc = buf_append_byte(out, '\'');
    for (size_t i = 0; rc == 0 && i < len;) {
        const char *quote = memchr(text + i, '\'', len - i);
        size_t n = quote ? (size_t)(quote - text) - i : len - i;
        rc = buf_append(out, text + i, n);
        if (rc == 0 && quote)
            rc = buf_append_str(out, "'\\''");
        i += n + (quote ? 1 : 0);
    }
    return rc < 0 ? rc : buf_append_byte(out, '\'');
}

/*
 * Run as `. save "$-" "$@"`. No words that could be aliases, and nothing traced: PS4 may hold
 * commands, and the trace may go to where we print.
 */
void native_save_script(const struct shell *sh, struct buf *out)
{
    static const char *const prints[N_PARTS] = {
        [PART_SHOPT] = "\\builtin shopt -p",
        [PART_VARIABLES] = "\\builtin declare -p",
        [PART_FUNCTIONS] = "\\builtin declare -f",
        [PART_FUNCTION_FLAGS] = "\\builtin declare -F",
        [PART_ARGS] = "\\builtin printf '%q ' \"$@\";\\builtin printf '\\n'",
        [PART_ALIASES] = "\\builtin alias -p",
        [PART_UMASK] = "\\builtin umask -p",
        [PART_OPTIONS] = "\\builtin set +o",
    };
    (void)buf_append_str(out, "\\builtin set +x\n");
    for (int i = PART_SHOPT; i < N_PARTS; i++)
        (void)buf_printf(out, "\\builtin printf '%%s\\n' %s\n%s\n", sh->marker,
                         prints[i] ? prints[i] : "");
    (void)buf_append_str(out, "\\builtin set \"-${1//[!xv]}\"\n");
}

void native_exit_script(const struct shell *sh, struct buf *out)
{
    const char *d = sh->dir;
    (void)buf_printf(out,
                     "\\builtin . %s/save \"$@\" >>%s/bye.state\n"
                     "\\builtin ulimit -Sa >>%s/bye.state\n"
                     "\\builtin printf 'hard\\n' >>%s/bye.state\n"
                     "\\builtin ulimit -Ha >>%s/bye.state\n"
                     "\\builtin printf '%%s\\0' \"${PWD-}\" >|%s/bye.cwd\n"
                     "\\builtin pwd -P >>%s/bye.cwd\n"
                     /* Gives all global variables an attribute, by which local ones are known. */
                     "IFS=$'\\n'\n"
                     "\\builtin declare -gt $(\\builtin compgen -v)\n"
                     "\\builtin printf 'globals\\n' >>%s/bye.state\n"
                     "\\builtin declare -p >>%s/bye.state\n",
                     d, d, d, d, d, d, d, d, d);
}

bool state_starts_with(const char *p, size_t len, const char *start)
{
    size_t n = strlen(start);
    return len >= n && memcmp(p, start, n) == 0;
}

bool state_ends_with(const char *p, size_t len, const char *what)
{
    size_t n = strlen(what);
    return len >= n && memcmp(p + len - n, what, n) == 0;
}

bool state_is_listed(const char *const *names, size_t n, const char *name, size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
            return true;
    return false;
}

/* The length of the line at p, without its newline; a quoted one goes on to its last quote. */
size_t state_line_len(const char *p, const char *end, bool is_quoted)
{
    bool inside = false;
    const char *q = p;
    for (; q < end && (inside || *q != '\n'); q++) {
        if (is_quoted && *q == '\\' && !inside && q + 1 < end)
            q++;
        else if (is_quoted && *q == '\'')
            inside = !inside;
    }
    return (size_t)(q - p);
}

/* The length of the statement at p, without its newline. */
size_t state_statement_len(const char *p, const char *end)
{
    static const char *const quoted[] = {"\\builtin alias ", "\\builtin cd ", "\\builtin eval ",
                                         "\\builtin trap "};
    size_t len = (size_t)(end - p);
    for (size_t i = 0; i < sizeof(quoted) / sizeof(quoted[0]); i++)
        if (state_starts_with(p, len, quoted[i]))
            return state_line_len(p, end, true);
    return state_line_len(p, end, false);
}

/* Cuts the output of the save script at its markers; false when a part is missing. */
static bool split(const char *raw, size_t len, const char *marker, struct span parts[N_PARTS])
{
    size_t marker_len = strlen(marker);
    const char *p = raw, *end = raw + len;
    for (int i = 0; i < N_PARTS; i++) {
        const char *next = p;
        if (i == PART_END) {
            parts[i] = (struct span){p, (size_t)(end - p)};
            return true;
        }
        for (;; next++) { /* the marker stands at the start of a line */
            next = memmem(next, (size_t)(end - next), marker, marker_len);
            if (!next)
                return false;
            if ((next == raw || next[-1] == '\n') && next + marker_len < end &&
                next[marker_len] == '\n')
                break;
        }
        parts[i] = (struct span){p, (size_t)(next - p)};
        p = next + marker_len + 1;
    }
    return false;
}

/* `shopt -u compat44` would make a variable BASH_COMPAT, and off is where they start. */
static bool keep_shopt(const char *line, size_t len)
{
    return !state_starts_with(line, len, "shopt -u compat");
}

/* "set -o NAME" */
static bool keep_option(const char *line, size_t len)
{
    if (len < 8)
        return false;
    return !state_is_listed(own_options, sizeof(own_options) / sizeof(own_options[0]), line + 7,
                            len - 7);
}

/* Our own trap on EXIT is not part of the state. */
static bool is_own_trap(const char *line, size_t len)
{
    return state_ends_with(line, len, NATIVE_BYE "' EXIT");
}

/* In POSIX mode bash lists what is not trapped as well. */
static bool keep_trap(const char *line, size_t len)
{
    return !is_own_trap(line, len) && !state_starts_with(line, len, "trap -- - ");
}

/* How a part is read. */
struct part_rule {
    const char *start; /* of each line; another one is none of ours */
    const char *lead;  /* what makes it safe from functions and aliases */
    bool is_quoted;    /* values may hold newlines, between single quotes */
    bool (*keep)(const char *line, size_t len);
};

/* Appends the lines that the rule keeps. */
static int add_lines(struct buf *out, struct span part, const struct part_rule *rule)
{
    const char *p = part.p, *end = part.p + part.len;
    int rc = 0;
    while (rc == 0 && p < end) {
        size_t len = state_line_len(p, end, rule->is_quoted);
        if (state_starts_with(p, len, rule->start) && (!rule->keep || rule->keep(p, len))) {
            rc = buf_append_str(out, rule->lead);
            if (rc == 0)
                rc = buf_append(out, p, len);
            if (rc == 0)
                rc = buf_append_byte(out, '\n');
        }
        p += len + 1;
    }
    return rc;
}

/* "FLAGS arg arg ": the first word is $-. */
static struct span shell_flags(struct span part)
{
    const char *blank = part.len ? memchr(part.p, ' ', part.len) : NULL;
    return (struct span){part.p, blank ? (size_t)(blank - part.p) : 0};
}

/* A function has arguments of its own: then those of before are kept. */
static int add_args(struct buf *out, const struct span part[N_PARTS], const struct state_rest *rest)
{
    static const char set[] = "\\builtin set -- ";
    struct span args = part[PART_ARGS];
    if (state_is_in_function(part[PART_VARIABLES])) {
        const char *end = rest->old + rest->old_len;
        for (const char *p = rest->old; p < end; p += state_statement_len(p, end) + 1)
            if (state_starts_with(p, state_statement_len(p, end), set))
                return buf_append(out, p, state_statement_len(p, end) + 1);
        return 0;
    }
    size_t skip = shell_flags(args).len + 1;
    if (args.len <= skip + 1)
        return 0;
    int rc = buf_append_str(out, set);
    return rc < 0 ? rc : buf_append(out, args.p + skip, args.len - skip);
}

/* The trace was off while bash printed its options. */
static int add_xtrace(struct buf *out, struct span args)
{
    struct span flags = shell_flags(args);
    bool is_on = flags.len && memchr(flags.p, 'x', flags.len);
    return is_on ? buf_append_str(out, "\\builtin set -o xtrace\n") : 0;
}

static int add_cwd(struct buf *out, const char *cwd)
{
    int rc = buf_append_str(out, "\\builtin cd -- ");
    if (rc == 0)
        rc = native_quote(out, cwd, strlen(cwd));
    return rc < 0 ? rc : buf_append_str(out, "\n\\builtin unset -v OLDPWD\n");
}

static bool has(struct span part, const char *text)
{
    return part.len && memmem(part.p, part.len, text, strlen(text));
}

static void read_facts(const struct span part[N_PARTS], struct state_facts *ret_facts)
{
    struct span traps = part[PART_TRAPS];
    *ret_facts = (struct state_facts){
        .has_definitions = part[PART_FUNCTIONS].len || part[PART_ALIASES].len,
        .has_debug_trap = has(traps, "' DEBUG\n") || has(traps, "' RETURN\n"),
        .has_own_exit_trap = has(traps, NATIVE_BYE "' EXIT\n"),
        .has_builtin_function = has(part[PART_FUNCTIONS], "builtin () \n"),
        .reader_variables = state_reader_variables(part[PART_VARIABLES]),
    };
    ret_facts->has_exit_trap = !ret_facts->has_own_exit_trap && has(traps, "' EXIT\n");
}

/*
 * Functions are read with extglob on, which they may have been written with. What may end the new
 * shell comes last, for native_state_strip().
 */
static int put_together(struct buf *out, const struct span part[N_PARTS],
                        const struct state_rest *rest)
{
    static const struct part_rule shopts = {"shopt ", "\\builtin ", false, keep_shopt};
    static const struct part_rule umasks = {"umask ", "\\builtin ", false, NULL};
    static const struct part_rule aliases = {"alias ", "\\builtin ", true, NULL};
    static const struct part_rule options = {"set ", "\\builtin ", false, keep_option};
    static const struct part_rule traps = {"trap -- ", "\\builtin ", true, keep_trap};
    int rc = buf_append_str(out, head);
    if (rc == 0) /* before the variables, one of which is BASH_COMPAT */
        rc = add_lines(out, part[PART_SHOPT], &shopts);
    if (rc == 0 && rest->cwd)
        rc = add_cwd(out, rest->cwd);
    if (rc == 0)
        rc = state_add_variables(out, part[PART_VARIABLES], part[PART_END], rest);
    if (rc == 0)
        rc = state_add_unset(out, part[PART_VARIABLES]);
    if (rc == 0)
        rc = add_args(out, part, rest);
    if (rc == 0)
        rc = add_lines(out, part[PART_UMASK], &umasks);
    if (rc == 0)
        rc = buf_append_str(out, "\\builtin shopt -s extglob\n");
    if (rc == 0)
        rc = state_add_functions(out, part[PART_FUNCTIONS], part[PART_FUNCTION_FLAGS]);
    if (rc == 0)
        rc = state_add_function_flags(out, part[PART_FUNCTION_FLAGS]);
    if (rc == 0 && !has(part[PART_SHOPT], "shopt -s extglob\n"))
        rc = buf_append_str(out, "\\builtin shopt -u extglob\n");
    if (rc == 0)
        rc = add_lines(out, part[PART_ALIASES], &aliases);
    if (rc == 0)
        rc = add_lines(out, part[PART_OPTIONS], &options);
    if (rc == 0)
        rc = add_xtrace(out, part[PART_ARGS]);
    if (rc == 0)
        rc = state_add_limits(out, rest->pid, part[PART_END]);
    return rc < 0 ? rc : add_lines(out, part[PART_TRAPS], &traps);
}

int native_state_build(const char *raw, size_t len, const struct state_rest *rest, struct buf *out,
                       struct state_facts *ret_facts)
{
    struct span part[N_PARTS];
    if (!split(raw, len, rest->marker, part))
        return -ERR_PROTOCOL;
    /* Always there, unless a builtin that prints it was disabled. */
    if (!part[PART_SHOPT].len || !part[PART_VARIABLES].len || !part[PART_OPTIONS].len)
        return -ERR_PROTOCOL;
    read_facts(part, ret_facts);
    return put_together(out, part, rest);
}

void native_state_facts(const char *state, size_t len, struct state_facts *ret_facts)
{
    *ret_facts = (struct state_facts){0};
    const char *end = state + len;
    for (const char *p = state; p < end;) {
        size_t n = state_statement_len(p, end);
        if (state_starts_with(p, n, "\\builtin eval ") ||
            state_starts_with(p, n, "\\builtin alias "))
            ret_facts->has_definitions = true;
        else if (state_starts_with(p, n, "\\builtin trap ")) {
            ret_facts->has_debug_trap |=
                state_ends_with(p, n, "' DEBUG") || state_ends_with(p, n, "' RETURN");
            ret_facts->has_exit_trap |= state_ends_with(p, n, "' EXIT");
        }
        p += n + 1;
    }
}

int native_state_check(const char *state, size_t len, struct err *err)
{
    if (len < sizeof(head) - 1 || memcmp(state, head, sizeof(head) - 1) != 0)
        return err_set(err, ERR_INVALID, "session state: expected it to begin with '%.*s'",
                       (int)sizeof(head) - 2, head);
    if (memchr(state, '\0', len))
        return err_set(err, ERR_INVALID, "session state: holds a NUL byte");
    if (len > STATE_MAX)
        return err_set(err, ERR_LIMIT, "session state of %zu bytes: the maximum is %d", len,
                       STATE_MAX);
    return 0;
}

int native_state_strip(const char *state, size_t len, bool limits_too, struct buf *out)
{
    const char *end = state + len;
    int rc = 0;
    for (const char *p = state; rc == 0 && p < end;) {
        size_t n = state_statement_len(p, end);
        if (!state_starts_with(p, n, "\\builtin trap ") &&
            !(limits_too && state_starts_with(p, n, "\\builtin ulimit ")))
            rc = buf_append(out, p, n + (p + n < end));
        p += n + 1;
    }
    return rc;
}
