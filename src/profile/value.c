/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/duration.h"
#include "base/err.h"
#include "base/num.h"
#include "base/path.h"
#include "base/size.h"
#include "profile/reader_priv.h"

enum { LINE_MAX_LEN = 200, UMASK_MAX = 0777, NICE_MAX = 19 };

int read_line(struct reader *r, const struct field *f, const struct yaml_node *node)
{
    const char *text = yaml_cstr(node);
    if (!text || strlen(text) > LINE_MAX_LEN || strpbrk(text, "\n\r\033"))
        return text ? reader_fail(r, f->name, node, "expected one line of at most %d bytes",
                                  LINE_MAX_LEN)
                    : reader_fail_type(r, f->name, node, "a text");
    *FIELD_IN(r->profile, f, const char *) = text;
    return 0;
}

int read_choice(struct reader *r, const struct field *f, const struct yaml_node *node)
{
    const char *text = yaml_cstr(node);
    for (int i = 0; text && f->words[i]; i++)
        if (strcmp(f->words[i], text) == 0) {
            *FIELD_IN(r->profile, f, int) = i;
            return 0;
        }
    const char *words = reader_words(r, f->words);
    return text ? reader_fail(r, f->name, node, "'%.60s', expected %s%s", text, words,
                              reader_nearest(r, text, f->words))
                : reader_fail_type(r, f->name, node, words);
}

int read_bool(struct reader *r, const struct field *f, const struct yaml_node *node)
{
    if (yaml_bool(node, FIELD_IN(r->profile, f, bool)) == 0)
        return 0;
    const char *text = yaml_cstr(node);
    return text ? reader_fail(r, f->name, node, "'%.60s', expected true or false", text)
                : reader_fail_type(r, f->name, node, "true or false");
}

/* --- amounts ------------------------------------------------------------------------ */

static const char *example_of(enum field_kind kind)
{
    return kind == FIELD_SIZE       ? "a size such as 512MiB"
           : kind == FIELD_DURATION ? "a time with its unit such as 30s"
           : kind == FIELD_PERCENT  ? "percent of one CPU such as 50"
                                    : "a number";
}

/* A whole number, or for percent one with its sign. */
static int parse_count(const char *text, bool percent, uint64_t *ret)
{
    char digits[24];
    size_t len = strlen(text);
    if (percent && len && text[len - 1] == '%')
        len--;
    if (len >= sizeof(digits))
        return -ERR_INVALID;
    memcpy(digits, text, len);
    digits[len] = '\0';
    return num_parse_u64(digits, UINT64_MAX, ret);
}

static int parse_amount(enum field_kind kind, const struct yaml_node *node, uint64_t *ret)
{
    const char *text = yaml_text(node, NULL);
    int64_t ms = 0;
    int rc;
    switch ((int)kind) {
    case FIELD_SIZE:
        return size_parse(text, ret, NULL);
    case FIELD_DURATION:
        /* Seconds to one, milliseconds to the other: the unit has to be there. */
        if (isdigit((unsigned char)text[strlen(text) - 1]))
            return -ERR_INVALID;
        rc = duration_parse(text, &ms, NULL);
        *ret = (uint64_t)ms;
        return rc;
    default:
        return parse_count(text, kind == FIELD_PERCENT, ret);
    }
}

static const char *format_amount(enum field_kind kind, uint64_t value, char text[DURATION_SIZE])
{
    _Static_assert((int)DURATION_SIZE >= (int)SIZE_TEXT_SIZE, "one buffer for both");
    if (kind == FIELD_SIZE)
        return size_format(value, text);
    if (kind == FIELD_DURATION)
        return duration_format((int64_t)value, text);
    (void)snprintf(text, DURATION_SIZE, "%" PRIu64, value);
    return text;
}

int read_amount(const struct reader *r, const struct field *f, const struct yaml_node *node,
                uint64_t *ret)
{
    const char *text = yaml_text(node, NULL), *example = example_of(f->kind);
    uint64_t value = 0;
    if (!text || *text == '\0')
        return reader_fail_type(r, f->name, node, example);
    if (parse_amount(f->kind, node, &value) < 0)
        return reader_fail(r, f->name, node, "'%.60s', expected %s or unlimited", text, example);
    char low[DURATION_SIZE], high[DURATION_SIZE];
    if (value < f->min || value > f->max)
        return reader_fail(r, f->name, node, "%.60s is out of range, expected %s to %s", text,
                           format_amount(f->kind, f->min, low),
                           format_amount(f->kind, f->max, high));
    *ret = value;
    return 0;
}

int read_number(struct reader *r, const struct field *f, const struct yaml_node *node)
{
    uint64_t *ret = FIELD_IN(r->profile, f, uint64_t);
    const char *text = yaml_cstr(node);
    if (text && strcmp(text, "unlimited") == 0) {
        *ret = PROFILE_UNLIMITED;
        return 0;
    }
    return read_amount(r, f, node, ret);
}

/* --- users, modes ------------------------------------------------------------------- */

static bool is_user_name(const char *text)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char rest[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.-";
    return *text && strchr(first, *text) && text[strspn(text, rest)] == '\0' && strlen(text) <= 32;
}

int read_user(struct reader *r, const struct field *f, const struct yaml_node *node)
{
    const char *text = yaml_text(node, NULL);
    const char *expected = "self, a name, or a number from 1 to 4294967294";
    uint64_t uid = 0;
    if (!text || yaml_type(node) == YAML_NULL)
        return reader_fail_type(r, f->name, node, expected);
    bool number = num_parse_u64(text, UINT32_MAX - 1, &uid) == 0;
    if ((number && uid == 0) || strcmp(text, "root") == 0)
        return reader_fail(r, f->name, node, "'%.60s', expected a user other than root", text);
    if (!number && !is_user_name(text))
        return reader_fail(r, f->name, node, "'%.60s', expected %s", text, expected);
    *FIELD_IN(r->profile, f, const char *) = strcmp(text, "self") == 0 ? NULL : text;
    return 0;
}

/* Octal, as everywhere else, with or without a 0 or 0o before it. */
int read_umask(struct reader *r, const struct field *f, const struct yaml_node *node)
{
    const char *text = yaml_text(node, NULL);
    const char *digits = text;
    if (text && strcmp(text, "inherit") == 0) {
        *FIELD_IN(r->profile, f, int) = -1;
        return 0;
    }
    if (text && strncmp(text, "0o", 2) == 0)
        digits += 2;
    int value = 0;
    for (size_t i = 0; digits && digits[i] >= '0' && digits[i] <= '7' && i < 4; i++)
        value = value * 8 + digits[i] - '0';
    if (!digits || *digits == '\0' || strlen(digits) > 4 || value > UMASK_MAX ||
        digits[strspn(digits, "01234567")])
        return reader_fail(r, f->name, node, "'%.60s', expected an octal number as 022, or inherit",
                           text ? text : yaml_type_name(yaml_type(node)));
    *FIELD_IN(r->profile, f, int) = value;
    return 0;
}

int read_nice(struct reader *r, const struct field *f, const struct yaml_node *node)
{
    int64_t value = 0;
    if (yaml_i64(node, &value) < 0 || value < 0 || value > NICE_MAX)
        return reader_fail(r, f->name, node, "expected a number from 0 to %d", NICE_MAX);
    *FIELD_IN(r->profile, f, unsigned) = (unsigned)value;
    return 0;
}

/* --- paths -------------------------------------------------------------------------- */

/* Whether a part is "." or "..". */
static bool has_dots(const char *path)
{
    for (const char *at = path; *at;) {
        size_t len = strcspn(at, "/");
        if ((len == 1 && at[0] == '.') || (len == 2 && at[0] == '.' && at[1] == '.'))
            return true;
        at += len;
        at += *at == '/';
    }
    return false;
}

int reader_path(const struct reader *r, const char *text, const char **ret)
{
    bool home = text[0] == '~' && (text[1] == '/' || text[1] == '\0');
    if ((*text != '/' && !home) || strlen(text) >= PATH_MAX || has_dots(text))
        return -ERR_INVALID;
    auto_buf struct buf path = BUF_INIT(PATH_MAX);
    if (path_normalise(text, &path) < 0)
        return -ERR_INVALID;
    *ret = arena_strdup(r->arena, buf_cstr(&path));
    return *ret ? 0 : reader_fail_memory(r);
}

int read_path(const struct reader *r, const char *name, const struct yaml_node *node,
              const char **ret)
{
    const char *text = yaml_cstr(node);
    if (yaml_type(node) == YAML_NULL && strcmp(yaml_text(node, NULL), "~") == 0)
        return reader_fail(r, name, node, "~ alone is null in YAML, expected it in quotes: \"~\"");
    if (!text)
        return reader_fail_type(r, name, node, "a path");
    int rc = reader_path(r, text, ret);
    if (rc == -ERR_INVALID)
        return reader_fail(r, name, node,
                           "'%.100s', expected a path that begins with '/' or '~/', without '.' "
                           "and '..'",
                           text);
    return rc;
}

int read_place(struct reader *r, const struct field *f, const struct yaml_node *node)
{
    const char **ret = FIELD_IN(r->profile, f, const char *);
    const char *text = yaml_cstr(node);
    if (!text || strcmp(text, ".") != 0)
        return read_path(r, f->name, node, ret);
    *ret = ".";
    return 0;
}
