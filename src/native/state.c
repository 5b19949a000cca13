/* SPDX-License-Identifier: MIT */
/*
 * The saved state of a shell: a bash script that a new shell reads.
 *
 * bash prints the parts (traps, options, variables, functions ...) with a marker
 * between them that no text can know; native_state_build() puts them in an order
 * in which they can be read back, without what cannot be set.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/err.h"
#include "base/own.h"
#include "native/priv.h"

static const char head[] = "# nacre shell state 1\n";
static const char traps_mark[] = "\n# traps\n";

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

/* Options of `set -o` that belong to how we run bash, or that would end the shell. */
static const char *const own_options[] = {
    "emacs", "histexpand", "history", "monitor", "noexec", "onecmd", "vi",
};

static const struct {
    int resource;
    char option;
    unsigned unit;
} limits[] = {
    {RLIMIT_CORE,       'c', 1024},
    {RLIMIT_DATA,       'd', 1024},
    {RLIMIT_NICE,       'e', 1   },
    {RLIMIT_FSIZE,      'f', 1024},
    {RLIMIT_SIGPENDING, 'i', 1   },
    {RLIMIT_MEMLOCK,    'l', 1024},
    {RLIMIT_NOFILE,     'n', 1   },
    {RLIMIT_MSGQUEUE,   'q', 1   },
    {RLIMIT_RTPRIO,     'r', 1   },
    {RLIMIT_STACK,      's', 1024},
    {RLIMIT_CPU,        't', 1   },
    {RLIMIT_NPROC,      'u', 1   },
    {RLIMIT_AS,         'v', 1024},
    {RLIMIT_LOCKS,      'x', 1   },
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

void native_save_script(const struct shell *sh, struct buf *out)
{
    static const char *const prints[] = {
        [PART_SHOPT] = "\\builtin shopt -p",
        [PART_VARIABLES] = "\\builtin declare -p",
        [PART_FUNCTIONS] = "\\builtin declare -f",
        [PART_FUNCTION_FLAGS] = "\\builtin declare -F",
        [PART_ARGS] = "case $# in 0) ;; *) \\builtin printf '%q ' \"$@\"; \\builtin echo ;; esac",
        [PART_ALIASES] = "\\builtin alias -p",
        [PART_UMASK] = "\\builtin umask -p",
        [PART_OPTIONS] = "\\builtin set +o",
        [PART_END] = ":",
    };
    for (int i = PART_SHOPT; i < N_PARTS; i++)
        (void)buf_printf(out, "\\builtin echo %s\n%s\n", sh->marker, prints[i]);
}

void native_exit_script(const struct shell *sh, struct buf *out)
{
    (void)buf_printf(
        out,
        "{ \\builtin trap -p;\\builtin . %s/save;\\builtin ulimit -Sa;\\builtin echo hard;"
        "\\builtin ulimit -Ha;} >|%s/bye.state 2>/dev/null||\\builtin :\n"
        "\\builtin printf %%s \"${PWD-}\" >|%s/bye.cwd 2>/dev/null||\\builtin :\n",
        sh->dir, sh->dir, sh->dir);
}

struct span {
    const char *p;
    size_t len;
};

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

static bool listed(const char *const *names, size_t n, const char *name, size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
            return true;
    return false;
}

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

static bool keep_variable(const char *line, size_t len)
{
    size_t n;
    const char *name = variable_name(line, len, &n);
    return name &&
           !listed(own_variables, sizeof(own_variables) / sizeof(own_variables[0]), name, n) &&
           unwanted_reader_variable(line, len) < 0;
}

/* `shopt -u compat44` would make a variable BASH_COMPAT, and off is where they start. */
static bool keep_shopt(const char *line, size_t len)
{
    static const char compat[] = "shopt -u compat";
    return len < sizeof(compat) - 1 || memcmp(line, compat, sizeof(compat) - 1) != 0;
}

/* "declare -fx NAME" says something that the body does not; "declare -f NAME" nothing. */
static bool keep_flags(const char *line, size_t len)
{
    return len > 11 && memcmp(line, "declare -f ", 11) != 0;
}

/* "set -o NAME" */
static bool keep_option(const char *line, size_t len)
{
    if (len < 8)
        return false;
    return !listed(own_options, sizeof(own_options) / sizeof(own_options[0]), line + 7, len - 7);
}

/* Our own trap on EXIT is not part of the state. */
static bool is_own_trap(const char *line, size_t len)
{
    static const char own[] = "/bye||\\:' EXIT";
    return len >= sizeof(own) - 1 && memmem(line, len, "'\\builtin . /", 13) &&
           memcmp(line + len - (sizeof(own) - 1), own, sizeof(own) - 1) == 0;
}

static bool keep_trap(const char *line, size_t len)
{
    return !is_own_trap(line, len);
}

/* The length of the line at p, without its newline; a quoted one goes on to its last quote. */
static size_t line_len(const char *p, const char *end, bool is_quoted)
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

/* How a part is read. */
struct part_rule {
    const char *start; /* of each line; another one goes on the line before */
    bool is_quoted;    /* values may hold newlines, between single quotes */
    bool has_arrays;   /* values may be lists in parentheses */
    bool (*keep)(const char *line, size_t len);
};

/* Only after a plain `declare` does bash parse NAME=(...); after \builtin it takes a quoted word.
 */
static int add_array(struct buf *out, const char *line, size_t len)
{
    const char *value = memmem(line, len, "=(", 2);
    if (!value || value != memchr(line, '=', len))
        return buf_append(out, line, len);
    size_t n = (size_t)(value + 1 - line);
    int rc = buf_append(out, line, n);
    return rc < 0 ? rc : native_quote(out, line + n, len - n);
}

/*
 * Appends the lines that the rule keeps, each led by \builtin: functions and aliases of the user
 * cannot change what they do.
 */
static int add_lines(struct buf *out, struct span part, const struct part_rule *rule)
{
    const char *p = part.p, *end = part.p + part.len;
    size_t start_len = strlen(rule->start);
    bool keeping = false;
    int rc = 0;
    while (rc == 0 && p < end) {
        size_t len = line_len(p, end, rule->is_quoted);
        bool first = len >= start_len && memcmp(p, rule->start, start_len) == 0;
        if (first)
            keeping = !rule->keep || rule->keep(p, len);
        if (keeping && first)
            rc = buf_append_str(out, "\\builtin ");
        if (keeping && rc == 0)
            rc = first && rule->has_arrays ? add_array(out, p, len) : buf_append(out, p, len);
        if (keeping && rc == 0)
            rc = buf_append_byte(out, '\n');
        p += len + 1;
    }
    return rc;
}

static int add_unset(struct buf *out, struct span part)
{
    bool found[N_BORN_VARIABLES] = {false};
    const char *end = part.p + part.len;
    for (const char *p = part.p; p < end;) {
        size_t n, len = line_len(p, end, false);
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

/*
 * All functions but one named `builtin`, which our own lines could not do without. Their patterns
 * may be extended ones although that is off by now: is_extended says that it is on.
 */
static int add_functions(struct buf *out, struct span part, bool is_extended)
{
    static const char name[] = "builtin () \n";
    auto_buf struct buf text = BUF_INIT(STATE_MAX);
    const char *p = part.p, *end = part.p + part.len;
    const char *bad = memmem(p, part.len, name, sizeof(name) - 1);
    while (bad && bad != p && bad[-1] != '\n')
        bad = memmem(bad + 1, (size_t)(end - bad - 1), name, sizeof(name) - 1);
    int rc = buf_append(&text, p, bad ? (size_t)(bad - p) : part.len);
    if (rc == 0 && bad) {
        const char *close = memmem(bad, (size_t)(end - bad), "\n}\n", 3);
        if (close)
            rc = buf_append(&text, close + 3, (size_t)(end - close - 3));
    }
    if (rc < 0 || !text.len)
        return rc;
    rc = buf_append_str(out, is_extended ? "\\builtin eval "
                                         : "\\builtin shopt -s extglob\n\\builtin eval ");
    if (rc == 0)
        rc = native_quote(out, text.data, text.len);
    return rc < 0 ? rc : buf_append_str(out, is_extended ? "\n" : "\n\\builtin shopt -u extglob\n");
}

static int add_limit(struct buf *out, char kind, char option, unsigned unit, rlim_t value)
{
    if (value == RLIM_INFINITY)
        return buf_printf(out, "\\builtin ulimit -%c%c unlimited\n", kind, option);
    return buf_printf(out, "\\builtin ulimit -%c%c %llu\n", kind, option,
                      (unsigned long long)value / unit);
}

/* The value of an option in what `ulimit -a` prints: "... (kbytes, -s) 8192". */
static bool read_limit(struct span text, char option, unsigned unit, rlim_t *ret_value)
{
    const char name[] = {'-', option, ')', ' '};
    const char *p = text.len ? memmem(text.p, text.len, name, sizeof(name)) : NULL;
    if (!p)
        return false;
    p += sizeof(name);
    if (*p < '0' || *p > '9')
        *ret_value = RLIM_INFINITY; /* "unlimited" */
    else
        *ret_value = (rlim_t)strtoull(p, NULL, 10) * unit;
    return true;
}

/* The limits of a bash that lives, or of one that printed them before it ended, soft ones first. */
static bool get_limits(size_t i, pid_t pid, struct span printed, struct rlimit *ret)
{
    if (pid > 0)
        return prlimit(pid, (enum __rlimit_resource)limits[i].resource, NULL, ret) == 0;
    static const char hard_mark[] = "\nhard\n";
    const char *hard =
        printed.len ? memmem(printed.p, printed.len, hard_mark, sizeof(hard_mark) - 1) : NULL;
    if (!hard)
        return false;
    struct span part[] = {
        {printed.p, (size_t)(hard - printed.p)              },
        {hard,      (size_t)(printed.p + printed.len - hard)}
    };
    return read_limit(part[0], limits[i].option, limits[i].unit, &ret->rlim_cur) &&
           read_limit(part[1], limits[i].option, limits[i].unit, &ret->rlim_max);
}

/* What differs from our own limits, with which a new shell starts. */
static int add_limits(struct buf *out, pid_t pid, struct span printed)
{
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        struct rlimit has, ours;
        if (!get_limits(i, pid, printed, &has) ||
            prlimit(0, (enum __rlimit_resource)limits[i].resource, NULL, &ours) < 0)
            continue;
        rlim_t unit = limits[i].unit;
        int rc = 0;
        if (has.rlim_cur / unit != ours.rlim_cur / unit)
            rc = add_limit(out, 'S', limits[i].option, limits[i].unit, has.rlim_cur);
        if (rc == 0 && has.rlim_max / unit != ours.rlim_max / unit)
            rc = add_limit(out, 'H', limits[i].option, limits[i].unit, has.rlim_max);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int add_args(struct buf *out, struct span part)
{
    if (part.len <= 1)
        return 0;
    int rc = buf_append_str(out, "\\builtin set -- ");
    return rc < 0 ? rc : buf_append(out, part.p, part.len);
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

static unsigned find_reader_variables(struct span part)
{
    unsigned found = 0;
    const char *end = part.p + part.len;
    for (const char *p = part.p; p < end;) {
        size_t len = line_len(p, end, false);
        int i = len ? unwanted_reader_variable(p, len) : -1;
        if (i >= 0)
            found |= 1u << i;
        p += len + 1;
    }
    return found;
}

static void read_facts(const struct span part[N_PARTS], struct state_facts *ret_facts)
{
    struct span traps = part[PART_TRAPS];
    *ret_facts = (struct state_facts){
        .has_definitions = part[PART_FUNCTIONS].len || part[PART_ALIASES].len,
        .has_debug_trap = has(traps, "' DEBUG\n") || has(traps, "' RETURN\n"),
        .has_own_exit_trap = has(traps, "/bye||\\:' EXIT\n"),
        .has_builtin_function = has(part[PART_FUNCTIONS], "builtin () \n"),
        .reader_variables = find_reader_variables(part[PART_VARIABLES]),
    };
    ret_facts->has_exit_trap = !ret_facts->has_own_exit_trap && has(traps, "' EXIT\n");
}

void native_unset_reader_variables(unsigned which, struct buf *lines)
{
    (void)buf_append_str(lines, "\\builtin unset -v");
    for (int i = 0; i < N_READER_VARIABLES; i++)
        if (which & (1u << i))
            (void)buf_printf(lines, " %s", reader_variables[i].name);
    (void)buf_append_str(lines, " 2>/dev/null\n");
}

int native_state_build(const char *raw, size_t len, const char *marker, const char *cwd, pid_t pid,
                       struct buf *out, struct state_facts *ret_facts)
{
    static const struct part_rule shopts = {"shopt ", false, false, keep_shopt};
    static const struct part_rule variables = {"declare -", false, true, keep_variable};
    static const struct part_rule umasks = {"umask ", false, false, NULL};
    static const struct part_rule flags = {"declare -f", false, false, keep_flags};
    static const struct part_rule aliases = {"alias ", true, false, NULL};
    static const struct part_rule options = {"set ", false, false, keep_option};
    static const struct part_rule traps = {"trap -- ", true, false, keep_trap};
    struct span part[N_PARTS];
    if (!split(raw, len, marker, part))
        return -ERR_PROTOCOL;
    int rc = buf_append_str(out, head);
    if (rc == 0)
        rc = add_lines(out, part[PART_SHOPT], &shopts);
    if (rc == 0 && cwd) /* before the variables, one of which is OLDPWD */
        rc = add_cwd(out, cwd);
    if (rc == 0)
        rc = add_lines(out, part[PART_VARIABLES], &variables);
    if (rc == 0)
        rc = add_unset(out, part[PART_VARIABLES]);
    if (rc == 0)
        rc = add_args(out, part[PART_ARGS]);
    if (rc == 0)
        rc = add_lines(out, part[PART_UMASK], &umasks);
    if (rc == 0)
        rc = add_limits(out, pid, part[PART_END]);
    if (rc == 0)
        rc = add_functions(out, part[PART_FUNCTIONS], has(part[PART_SHOPT], "shopt -s extglob\n"));
    if (rc == 0)
        rc = add_lines(out, part[PART_FUNCTION_FLAGS], &flags);
    if (rc == 0)
        rc = add_lines(out, part[PART_ALIASES], &aliases);
    if (rc == 0)
        rc = add_lines(out, part[PART_OPTIONS], &options);
    if (rc == 0)
        rc = buf_append_str(out, traps_mark);
    if (rc == 0)
        rc = add_lines(out, part[PART_TRAPS], &traps);
    read_facts(part, ret_facts);
    return rc;
}

void native_state_facts(const char *state, size_t len, struct state_facts *ret_facts)
{
    struct span all = {state, len};
    *ret_facts = (struct state_facts){
        .has_definitions = true, /* not looked for */
        .has_debug_trap = has(all, "' DEBUG\n") || has(all, "' RETURN\n"),
        .has_exit_trap = has(all, "' EXIT\n"),
    };
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

int native_state_for_copy(const char *state, size_t len, struct buf *out)
{
    const char *mark = NULL, *p = state;
    while ((p = memmem(p, len - (size_t)(p - state), traps_mark, sizeof(traps_mark) - 1)))
        mark = p++;
    return buf_append(out, state, mark ? (size_t)(mark - state) + 1 : len);
}
