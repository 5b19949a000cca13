/* SPDX-License-Identifier: MIT */
#include "yaml/write.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"

/* Starts with a letter, '/' or '_' and goes on with harmless characters; no word of YAML's. */
static bool is_plain(const char *text)
{
    static const char *const words[] = {"null", "true", "false", "yes", "no",
                                        "on",   "off",  "y",     "n"};
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t len = strspn(text, letters);
    if (len == 0 && *text != '/' && *text != '_')
        return false;
    for (const char *at = text + len; *at; at++)
        if (!strchr(letters, *at) && !strchr("0123456789/._+-", *at) &&
            !(*at == ' ' && at[1] && at[1] != ' ' && at[1] != '#'))
            return false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcasecmp(text, words[i]) == 0)
            return false;
    return true;
}

static int put_quoted(struct buf *out, unsigned char c)
{
    if (c == '"' || c == '\\')
        return buf_printf(out, "\\%c", c);
    if (c == '\n')
        return buf_append_str(out, "\\n");
    if (c < 0x20 || c == 0x7f)
        return buf_printf(out, "\\x%02x", c);
    return buf_append_byte(out, (char)c);
}

/*
 * Characters that YAML wants escaped, or takes for the end of a line: C1 controls, NEL, LS, PS,
 * a byte order mark, and the last two of the plane, which are none.
 */
static size_t put_special(struct buf *out, const char *text, int *rc)
{
    const unsigned char *at = (const unsigned char *)text;
    if (at[0] == 0xc2 && at[1] < 0xa0) {
        *rc = buf_printf(out, "\\x%02x", at[1]);
        return 2;
    }
    if (at[0] == 0xe2 && at[1] == 0x80 && (at[2] == 0xa8 || at[2] == 0xa9)) {
        *rc = buf_printf(out, "\\u%04x", 0x2000 | (at[2] & 0x3f));
        return 3;
    }
    if (at[0] == 0xef && ((at[1] == 0xbb && at[2] == 0xbf) || (at[1] == 0xbf && at[2] >= 0xbe))) {
        *rc = buf_printf(out, "\\u%04x", 0xf000 | (at[1] & 0x3f) << 6 | (at[2] & 0x3f));
        return 3;
    }
    return 0;
}

int yaml_write_str(struct buf *out, const char *text)
{
    if (is_plain(text))
        return buf_append_str(out, text);
    size_t before = out->len;
    int rc = buf_append_byte(out, '"');
    while (rc == 0 && *text) {
        size_t len = put_special(out, text, &rc);
        if (len == 0) {
            rc = put_quoted(out, (unsigned char)*text);
            len = 1;
        }
        text += len;
    }
    if (rc == 0)
        rc = buf_append_byte(out, '"');
    if (rc < 0)
        buf_truncate(out, before);
    return rc;
}
