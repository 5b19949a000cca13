/* SPDX-License-Identifier: MIT */
/* The functions of a saved state. */
#include <string.h>

#include "base/own.h"
#include "native/state.h"

/* Where the definition of a function begins: "NAME () ", or "function NAME () ", on a line. */
static const char *find_function(const char *p, const char *end, struct span name)
{
    static const char after[] = " () \n", keyword[] = "function ";
    for (const char *at = p; (at = memmem(at, (size_t)(end - at), name.p, name.len)); at++) {
        if (!state_starts_with(at + name.len, (size_t)(end - at) - name.len, after))
            continue;
        const char *line = memrchr(p, '\n', (size_t)(at - p));
        line = line ? line + 1 : p;
        if (line == at ||
            (at - line == sizeof(keyword) - 1 && memcmp(line, keyword, sizeof(keyword) - 1) == 0))
            return line;
    }
    return NULL;
}

/* NAME of "declare -f NAME" */
static struct span function_name(const char *line, size_t len)
{
    const char *flags = memchr(line, ' ', len);
    const char *name = flags ? memchr(flags + 1, ' ', len - (size_t)(flags + 1 - line)) : NULL;
    if (!name)
        return (struct span){line, 0};
    return (struct span){name + 1, len - (size_t)(name + 1 - line)};
}

/*
 * A definition of its own, so that one which bash prints in a way it cannot read (5.2: a heredoc
 * amid && in a list) costs no other. `builtin` is left out, which our own lines could not do
 * without.
 */
static int add_function(struct buf *out, struct span name, struct span text)
{
    static const char keyword[] = "function ";
    if (!text.len || (name.len == 7 && memcmp(name.p, "builtin", 7) == 0))
        return 0;
    auto_buf struct buf whole = BUF_INIT(STATE_MAX);
    /* These would pass for assignments. */
    bool is_odd = memchr(name.p, '=', name.len) || memchr(name.p, '[', name.len);
    int rc = 0;
    if (is_odd && !state_starts_with(text.p, text.len, keyword))
        rc = buf_append_str(&whole, keyword);
    if (rc == 0)
        rc = buf_append(&whole, text.p, text.len);
    if (rc == 0)
        rc = buf_append_str(out, "\\builtin eval -- ");
    if (rc == 0)
        rc = native_quote(out, whole.data, whole.len);
    return rc < 0 ? rc : buf_append_byte(out, '\n');
}

/* bash lists names and definitions in the same order. */
int state_add_functions(struct buf *out, struct span part, struct span flags)
{
    const char *at = part.p, *end = part.p + part.len;
    struct span last = {flags.p, 0};
    int rc = 0;
    for (const char *p = flags.p, *flags_end = flags.p + flags.len; rc == 0 && p < flags_end;) {
        size_t len = state_line_len(p, flags_end, false);
        struct span name = function_name(p, len);
        const char *next = name.len ? find_function(at, end, name) : NULL;
        if (next) {
            rc = add_function(out, last, (struct span){at, (size_t)(next - at)});
            last = name;
            at = next;
        }
        p += len + 1;
    }
    return rc < 0 ? rc : add_function(out, last, (struct span){at, (size_t)(end - at)});
}

/* "declare -fx NAME" says something that the body does not; "declare -f NAME" nothing. */
int state_add_function_flags(struct buf *out, struct span part)
{
    const char *p = part.p, *end = part.p + part.len;
    int rc = 0;
    while (rc == 0 && p < end) {
        size_t len = state_line_len(p, end, false);
        struct span name = function_name(p, len);
        if (name.len && state_starts_with(p, len, "declare -f") && p[10] != ' ') {
            rc = buf_printf(out, "\\builtin %.*s-- ", (int)(name.p - p), p);
            if (rc == 0)
                rc = native_quote(out, name.p, name.len);
            if (rc == 0)
                rc = buf_append_byte(out, '\n');
        }
        p += len + 1;
    }
    return rc;
}
