/* SPDX-License-Identifier: MIT */
#include "judge.h"

#include <ctype.h>
#include <string.h>

#include "grammar.h"
#include "lib/test.h"

static const struct excuse {
    unsigned flag;
    const char *reason;
} excuses[] = {
    {GRAMMAR_RACES,       "what it prints, or how it ends, depends on who is faster"      },
    {GRAMMAR_ENDLESS,     "it runs until its time is up"                                  },
    {GRAMMAR_INTERACTIVE, "an interactive bash does it in another way, says its manual"   },
    {GRAMMAR_END,         "a session goes on where bash -c ends, and `return` is allowed" },
    {GRAMMAR_LIMITS,      "a limit binds what the session itself writes as well"          },
    {GRAMMAR_PLACE,       "BASH_SOURCE, FUNCNAME, LINENO and open descriptors show a file"},
};

static const struct excuse excuses_err[] = {
    {GRAMMAR_RACES_ERR, "a job's end, a trace or a broken pipe is told now or later"   },
    {GRAMMAR_DAMAGED,   "where a damaged text is cut into lines decides what is quoted"},
};

static bool has_any(const char *text, size_t len, const char *const *signs)
{
    for (; len && *signs; signs++)
        if (memmem(text, len, *signs, strlen(*signs)))
            return true;
    return false;
}

static const char *find(const struct excuse *list, size_t n, unsigned flags)
{
    for (size_t i = 0; i < n; i++)
        if (flags & list[i].flag)
            return list[i].reason;
    return NULL;
}

const char *judge_excuse(const struct grammar_text *t)
{
    static const char *const traps[] = {"EXIT", "RETURN", "DEBUG", NULL};
    static const char *const joints[] = {"&", "|", NULL};
    bool damaged = t->flags & GRAMMAR_DAMAGED;
    if (damaged && has_any(t->bytes.data, t->bytes.len, traps))
        return "damage may have made a trap of it that is still to come";
    if (damaged && has_any(t->bytes.data, t->bytes.len, joints))
        return "damage may have made two of it that run at once";
    return find(excuses, sizeof(excuses) / sizeof(excuses[0]), t->flags);
}

const char *judge_excuse_err(unsigned flags)
{
    return find(excuses_err, sizeof(excuses_err) / sizeof(excuses_err[0]), flags);
}

bool judge_is_syntax_error(const char *err, size_t len)
{
    static const char *const signs[] = {"syntax error", "unexpected EOF", "unexpected end of file",
                                        "operator expected", NULL};
    return has_any(err, len, signs);
}

const char *judge_excuse_code(int code, int reference)
{
    if (code == 2 || reference == 127)
        return "`.` answers a syntax error with 2, bash -c with 2, 127 or the code before";
    return NULL;
}

const char *judge_excuse_rest(int reference)
{
    if (reference == 127)
        return "after an error inside $( ) an interactive bash drops the line, another one ends";
    return NULL;
}

bool judge_mixes(const char *text, size_t len)
{
    static const char *const signs[] = {"2>", "|&", "&>", ">&", NULL};
    return has_any(text, len, signs);
}

bool judge_lists_shell(const char *out, size_t len)
{
    static const char *const signs[] = {"BASHOPTS=", "SHELLOPTS=", "checkwinsize", NULL};
    return has_any(out, len, signs);
}

bool judge_shows_pids(const char *text, size_t len)
{
    static const char *const signs[] = {"$$", "$!", "PID", "declare -", "env", NULL};
    return has_any(text, len, signs);
}

void judge_drop_numbers(struct buf *text)
{
    size_t kept = 0;
    for (size_t i = 0; i < text->len; i++)
        if (!isdigit((unsigned char)text->data[i]))
            text->data[kept++] = text->data[i];
    buf_truncate(text, kept);
}

static size_t skip_word(const char *p, size_t len, const char *word)
{
    size_t n = strlen(word);
    return len >= n && memcmp(p, word, n) == 0 ? n : 0;
}

/* "line 12: " */
static size_t skip_line_number(const char *p, size_t len)
{
    size_t n = skip_word(p, len, "line ");
    if (!n)
        return 0;
    while (n < len && isdigit((unsigned char)p[n]))
        n++;
    size_t end = skip_word(p + n, len - n, ": ");
    return end ? n + end : 0;
}

/* "/.../command: " */
static size_t skip_file(const char *p, size_t len)
{
    static const char own[] = "/command: ";
    const char *blank = len && *p == '/' ? memchr(p, ' ', len) : NULL;
    size_t n = blank ? (size_t)(blank + 1 - p) : 0;
    if (n < sizeof(own) - 1 || memcmp(p + n - (sizeof(own) - 1), own, sizeof(own) - 1) != 0)
        return 0;
    return n;
}

/* Who speaks: "bash: ", "bash: -c: ", "/.../command: ", "environment: ". */
static size_t skip_speaker(const char *p, size_t len)
{
    size_t n = skip_word(p, len, "bash: ");
    if (!n)
        n = skip_word(p, len, "environment: ");
    if (!n)
        n = skip_word(p, len, "./s: "); /* a script of the grammar */
    if (!n)
        return skip_file(p, len);
    size_t option = skip_word(p + n, len - n, "-c: line ");
    option -= option ? strlen("line ") : 0;
    return n + (option ? option : skip_file(p + n, len - n));
}

void judge_strip_places(const char *text, size_t len, struct buf *out)
{
    for (size_t at = 0; at < len;) {
        size_t n = skip_speaker(text + at, len - at);
        if (!n) {
            CHECK_INT(buf_append_byte(out, text[at++]), 0);
            continue;
        }
        at += n;
        at += skip_line_number(text + at, len - at);
    }
}

void judge_rename(struct buf *text, const char *from, const char *to)
{
    size_t len = strlen(from);
    CHECK_INT(len, strlen(to));
    for (size_t at = 0; at + len <= text->len;) {
        char *found = memmem(text->data + at, text->len - at, from, len);
        if (!found)
            return;
        memcpy(found, to, len);
        at = (size_t)(found - text->data) + len;
    }
}
