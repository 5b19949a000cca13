/* SPDX-License-Identifier: MIT */
/*
 * Which texts cannot change the state of the shell.
 *
 * A saved state costs a third of a millisecond, so it is not taken after texts
 * that are plainly harmless: simple commands joined by | && || ; whose names are
 * literal and are neither builtins that change something nor assignments. All
 * else counts as a change: a mistake in that direction only costs time.
 */
#include <string.h>

#include "native/priv.h"

/* Names that may change the state, or whose arguments are code; sorted. */
static const char *const changing[] = {
    ".",       "alias",   "bg",       "bind",    "break",     "builtin",  "case",     "cd",
    "command", "compgen", "complete", "compopt", "continue",  "coproc",   "declare",  "disown",
    "do",      "done",    "elif",     "else",    "enable",    "esac",     "eval",     "exec",
    "exit",    "export",  "fc",       "fg",      "fi",        "for",      "function", "getopts",
    "hash",    "history", "if",       "in",      "let",       "local",    "logout",   "mapfile",
    "popd",    "printf",  "pushd",    "read",    "readarray", "readonly", "return",   "select",
    "set",     "shift",   "shopt",    "source",  "suspend",   "then",     "time",     "trap",
    "typeset", "ulimit",  "umask",    "unalias", "unset",     "until",    "wait",     "while",
};

static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("_-./,:+@%^", c)) || (unsigned char)c >= 0x80;
}

/* A command's name: literal, and known not to change anything. */
static bool name_is_harmless(const char *word, size_t len)
{
    for (size_t i = 0; i < sizeof(changing) / sizeof(changing[0]); i++)
        if (strncmp(changing[i], word, len) == 0 && changing[i][len] == '\0')
            return false;
    return true;
}

/* Skips '...' or "..." without expansions; NULL if it is neither. */
static const char *skip_quoted(const char *p, const char *end)
{
    const char *close = memchr(p + 1, *p, (size_t)(end - p - 1));
    if (!close)
        return NULL;
    if (*p == '"')
        for (const char *q = p + 1; q < close; q++)
            if (*q == '$' || *q == '`' || *q == '\\')
                return NULL;
    return close + 1;
}

/* Skips $NAME, and redirections of files and descriptors; NULL for all else. */
static const char *skip_plain(const char *p, const char *end)
{
    if (is_word_byte(*p) || (*p != '\0' && strchr("=*?!~[]", *p)))
        return p + 1;
    char next = '\0';
    if (p + 1 < end)
        next = p[1];
    if (*p == '$' && ((next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') || next == '_'))
        return p + 2;
    if (*p == '>' && (next == '>' || next == '&'))
        return p + 2;
    if ((*p == '>' || *p == '<') && (is_word_byte(next) || next == ' '))
        return p + 1;
    return NULL;
}

/* The name of a command at p: what follows it, NULL if it may change the state. */
static const char *skip_name(const char *p, const char *end)
{
    if (*p == '[' && p + 1 < end && p[1] == ' ')
        return p + 1;
    const char *word = p;
    while (p < end && is_word_byte(*p))
        p++;
    /* A name that goes on with anything else (=, $, quotes) is not literal. */
    bool whole = p == end || (*p != '\0' && strchr(" \t\n|;&", *p));
    return p > word && whole && name_is_harmless(word, (size_t)(p - word)) ? p : NULL;
}

bool native_may_change_state(const char *text, size_t len)
{
    const char *p = text, *end = text + len;
    bool at_name = true; /* the next word names a command */
    while (p && p < end) {
        if (*p == ' ' || *p == '\t') {
            p++;
        } else if (*p == '|' || *p == ';' || *p == '\n') {
            p++;
            at_name = true;
        } else if (*p == '&' && p + 1 < end && p[1] == '&') {
            p += 2;
            at_name = true;
        } else if (at_name) {
            p = skip_name(p, end);
            at_name = false;
        } else if (*p == '\'' || *p == '"') {
            p = skip_quoted(p, end);
        } else {
            p = skip_plain(p, end);
        }
    }
    return !p;
}

bool native_may_list_traps(const char *text, size_t len)
{
    const char *p = text, *end = text + len;
    while ((p = memmem(p, (size_t)(end - p), "trap", 4))) {
        p += 4;
        if (p < end && strchr("'\"`", *p)) /* it ends a text for eval; `trap 'x'` sets one */
            return true;
        while (p < end && (*p == ' ' || *p == '\t'))
            p++;
        if (p == end || strchr("\n;&|)}>", *p) || (end - p > 1 && memcmp(p, "-p", 2) == 0))
            return true;
    }
    return false;
}

bool native_may_end_shell(const char *text, size_t len)
{
    static const char *const words[] = {"exit", "exec",   "set",   "errexit",
                                        "kill", "return", "logout"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (memmem(text, len, words[i], strlen(words[i])))
            return true;
    return false;
}
