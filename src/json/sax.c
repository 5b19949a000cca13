/* SPDX-License-Identifier: MIT */
#include "json/sax.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/utf8.h"
#include "json/plain_priv.h"

static const size_t bytes_default = (size_t)64 << 20;
static const size_t bytes_hard_max = INT32_MAX;

struct reader {
    const char *start, *at, *end;
    const struct json_sax *sax;
    void *ctx;
    struct err *err;
    struct buf text; /* a string with escapes, unescaped */
    enum json_surrogate surrogate;
    unsigned depth, max_depth;
    uint64_t is_obj[JSON_DEPTH_HARD_MAX / 64]; /* bit per level; set as levels open */
};

/* --- errors ------------------------------------------------------------------ */

/* The place of a byte as "LINE:COLUMN"; columns count characters. */
static void find_place(const struct reader *r, const char *at, char ret[48])
{
    size_t line = 1;
    const char *line_start = r->start;
    const char *newline;
    while ((newline = memchr(line_start, '\n', (size_t)(at - line_start)))) {
        line++;
        line_start = newline + 1;
    }
    size_t column = utf8_count(line_start, (size_t)(at - line_start)) + 1;
    (void)snprintf(ret, 48, "%zu:%zu", line, column);
}

/* What stands at a place, for messages. */
static void name_byte(const struct reader *r, const char *at, char ret[32])
{
    if (at == r->end) {
        (void)snprintf(ret, 32, "the end of the text");
        return;
    }
    uint32_t c = 0;
    size_t n = utf8_decode(at, (size_t)(r->end - at), &c);
    if (c == 0xFEFF)
        (void)snprintf(ret, 32, "a byte order mark");
    else if (n == 0 || c < 0x20 || c == 0x7f)
        (void)snprintf(ret, 32, "byte 0x%02x", (unsigned char)*at);
    else
        (void)snprintf(ret, 32, "'%.*s'", (int)n, at);
}

/* expected: "a value", "',' or ']'". */
static int fail_expected(struct reader *r, const char *at, const char *expected)
{
    char place[48], found[32];
    find_place(r, at, place);
    name_byte(r, at, found);
    return err_set(r->err, ERR_SYNTAX, "%s: expected %s, not %s", place, expected, found);
}

static int fail_at(struct reader *r, const char *at, int code, const char *what)
{
    char place[48];
    find_place(r, at, place);
    return err_set(r->err, code, "%s: %s", place, what);
}

/* Passes on what a callback returned. */
static int called(struct reader *r, int rc)
{
    if (__builtin_expect(rc >= 0, 1))
        return 0;
    char place[48];
    find_place(r, r->at, place);
    return err_wrap(r->err, rc, "%s", place);
}

/* --- strings ----------------------------------------------------------------- */

/* Four hexadecimal digits at r->at: their value, or -1. */
static int32_t read_hex(const struct reader *r)
{
    int32_t value = 0;
    if (r->end - r->at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        unsigned char c = (unsigned char)r->at[i];
        unsigned char lower = c | 0x20;
        if (c >= '0' && c <= '9')
            value = value << 4 | (c - '0');
        else if (lower >= 'a' && lower <= 'f')
            value = value << 4 | (lower - 'a' + 10);
        else
            return -1;
    }
    return value;
}

/* The second half of a pair, "\uDC00" to "\uDFFF": its value, or -1 and nothing is read. */
static int32_t read_low_half(struct reader *r)
{
    const char *before = r->at;
    if (r->end - r->at < 6 || r->at[0] != '\\' || r->at[1] != 'u')
        return -1;
    r->at += 2;
    int32_t low = read_hex(r);
    if (low < 0xDC00 || low > 0xDFFF) {
        r->at = before;
        return -1;
    }
    r->at += 4;
    return low;
}

/* The character after "\u"; `escape` is where that began. */
static int read_unicode(struct reader *r, const char *escape, uint32_t *ret)
{
    int32_t c = read_hex(r);
    if (c < 0)
        return fail_at(r, escape, ERR_SYNTAX, "expected four hexadecimal digits after '\\u'");
    r->at += 4;
    *ret = (uint32_t)c;
    if (c < 0xD800 || c > 0xDFFF)
        return 0;

    int32_t low = c < 0xDC00 ? read_low_half(r) : -1;
    if (low >= 0)
        *ret = 0x10000 + ((uint32_t)(c - 0xD800) << 10) + (uint32_t)(low - 0xDC00);
    else if (r->surrogate == JSON_SURROGATE_REPLACE)
        *ret = UTF8_REPLACEMENT;
    else
        return fail_at(r, escape, ERR_SYNTAX,
                       "the escape is half of a surrogate pair, expected both halves");
    return 0;
}

/* The escape at r->at, added to r->text. */
static int read_escape(struct reader *r)
{
    static const char letters[256] = {['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
                                      ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t'};
    const char *escape = r->at++;
    if (r->at == r->end)
        return fail_expected(r, r->at, "an escape");
    char simple = letters[(unsigned char)*r->at];
    if (simple) {
        r->at++;
        return buf_append_byte(&r->text, simple);
    }
    if (*r->at != 'u')
        return fail_expected(r, r->at, "one of \"\\/bfnrtu after '\\'");
    r->at++;

    uint32_t c = 0;
    char encoded[UTF8_CHAR_MAX];
    int rc = read_unicode(r, escape, &c);
    if (rc < 0)
        return rc;
    return buf_append(&r->text, encoded, utf8_encode(c, encoded));
}

/* A run of a string that holds bytes above 0x7f. */
static int check_utf8(struct reader *r, const char *text, size_t len)
{
    size_t valid = utf8_valid_prefix(text, len);
    if (valid == len)
        return 0;
    return fail_at(r, text + valid, ERR_SYNTAX, "expected UTF-8 text");
}

/* The rest of a string with escapes, of which the run before r->at is plain. */
static int read_escaped(struct reader *r, const char *run_start)
{
    buf_clear(&r->text);
    for (;;) {
        int rc = buf_append(&r->text, run_start, (size_t)(r->at - run_start));
        if (rc < 0 || *r->at == '"')
            return rc;
        rc = read_escape(r);
        if (rc < 0)
            return rc;

        bool any_high = false;
        run_start = r->at;
        size_t run = json_plain_run(r->at, (size_t)(r->end - r->at), &any_high);
        if (any_high && (rc = check_utf8(r, run_start, run)) < 0)
            return rc;
        r->at += run;
        if (r->at == r->end || (*r->at != '"' && *r->at != '\\'))
            return fail_expected(r, r->at, "'\"' or a character of the string");
    }
}

/* The string at r->at, and gives it to fn (which may be NULL). */
static int read_string(struct reader *r, int (*fn)(void *, const char *, size_t))
{
    bool any_high = false;
    const char *text = ++r->at;
    size_t len = json_plain_run(text, (size_t)(r->end - text), &any_high);
    int rc;
    if (any_high && (rc = check_utf8(r, text, len)) < 0)
        return rc;
    r->at += len;
    if (r->at == r->end || (unsigned char)*r->at < 0x20)
        return fail_expected(r, r->at, "'\"' or a character of the string");
    if (*r->at == '\\') {
        rc = read_escaped(r, text);
        if (rc < 0)
            return rc;
        text = r->text.data;
        len = r->text.len;
    }
    r->at++;
    return fn ? called(r, fn(r->ctx, text, len)) : 0;
}

/* --- numbers and literals ------------------------------------------------------ */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether the byte at r->at would run together with a number or a word before it. */
static bool runs_on(const struct reader *r)
{
    if (r->at == r->end)
        return false;
    char c = *r->at;
    unsigned lower = (unsigned char)c | 0x20U;
    return is_digit(c) || (lower >= 'a' && lower <= 'z') || c == '.' || c == '-' || c == '+' ||
           c == '_';
}

/* One digit or more. */
static int read_digits(struct reader *r)
{
    const char *start = r->at;
    while (r->at < r->end && is_digit(*r->at))
        r->at++;
    return r->at > start ? 0 : fail_expected(r, start, "a digit");
}

static int read_fraction_and_exponent(struct reader *r)
{
    int rc = 0;
    if (r->at < r->end && *r->at == '.') {
        r->at++;
        rc = read_digits(r);
    }
    if (rc == 0 && r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
        r->at++;
        if (r->at < r->end && (*r->at == '+' || *r->at == '-'))
            r->at++;
        rc = read_digits(r);
    }
    return rc;
}

static int read_number(struct reader *r)
{
    const char *text = r->at;
    r->at += *r->at == '-';
    int rc = 0;
    if (r->at < r->end && *r->at == '0')
        r->at++;
    else
        rc = read_digits(r);
    if (rc == 0 && runs_on(r))
        rc = read_fraction_and_exponent(r);
    if (rc < 0)
        return rc;
    if (runs_on(r))
        return fail_expected(r, r->at, "the end of the number");
    return r->sax->on_number ? called(r, r->sax->on_number(r->ctx, text, (size_t)(r->at - text)))
                             : 0;
}

/* The text must be exactly this word. */
static int read_word(struct reader *r, const char *word)
{
    size_t len = strlen(word);
    const char *start = r->at;
    if ((size_t)(r->end - r->at) < len || memcmp(r->at, word, len) != 0)
        return fail_expected(r, start, "a value");
    r->at += len;
    return runs_on(r) ? fail_expected(r, start, "a value") : 0;
}

static int read_bool(struct reader *r, bool value)
{
    int rc = read_word(r, value ? "true" : "false");
    if (rc < 0)
        return rc;
    return r->sax->on_bool ? called(r, r->sax->on_bool(r->ctx, value)) : 0;
}

static int read_null(struct reader *r)
{
    int rc = read_word(r, "null");
    if (rc < 0)
        return rc;
    return r->sax->on_null ? called(r, r->sax->on_null(r->ctx)) : 0;
}

/* --- containers ------------------------------------------------------------------ */

static void skip_blanks(struct reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t'))
        r->at++;
}

static bool in_obj(const struct reader *r)
{
    unsigned level = r->depth - 1;
    return r->is_obj[level / 64] >> level % 64 & 1;
}

static int open_container(struct reader *r, bool is_obj)
{
    if (r->depth == r->max_depth)
        return fail_at(r, r->at, ERR_LIMIT, "too many nested arrays and objects");
    uint64_t bit = UINT64_C(1) << r->depth % 64;
    uint64_t *word = &r->is_obj[r->depth / 64];
    *word = is_obj ? *word | bit : *word & ~bit;
    r->depth++;
    r->at++;
    int (*fn)(void *) = is_obj ? r->sax->on_obj : r->sax->on_arr;
    return fn ? called(r, fn(r->ctx)) : 0;
}

static int close_container(struct reader *r, bool is_obj)
{
    r->depth--;
    r->at++;
    int (*fn)(void *) = is_obj ? r->sax->on_obj_end : r->sax->on_arr_end;
    return fn ? called(r, fn(r->ctx)) : 0;
}

/* A key and the ':' after it. */
static int read_key(struct reader *r)
{
    skip_blanks(r);
    if (r->at == r->end || *r->at != '"')
        return fail_expected(r, r->at, "a key in quotes");
    int rc = read_string(r, r->sax->on_key);
    if (rc < 0)
        return rc;
    skip_blanks(r);
    if (r->at == r->end || *r->at != ':')
        return fail_expected(r, r->at, "':'");
    r->at++;
    return 0;
}

/*
 * After '[' or '{': 1 if a value follows (its key has been read), 0 if the container
 * ended at once.
 */
static int begin_items(struct reader *r, bool is_obj)
{
    int rc = open_container(r, is_obj);
    if (rc < 0)
        return rc;
    skip_blanks(r);
    if (r->at < r->end && *r->at == (is_obj ? '}' : ']'))
        return close_container(r, is_obj);
    if (is_obj && (r->at == r->end || *r->at != '"'))
        return fail_expected(r, r->at, "a key in quotes or '}'");
    rc = is_obj ? read_key(r) : 0;
    return rc < 0 ? rc : 1;
}

/* After a value: 1 if another follows (its key has been read), 0 if the outermost ended. */
static int end_value(struct reader *r)
{
    while (r->depth) {
        bool is_obj = in_obj(r);
        skip_blanks(r);
        char c = '\0';
        if (r->at < r->end)
            c = *r->at;
        int rc;
        if (c == ',') {
            r->at++;
            rc = is_obj ? read_key(r) : 0;
            return rc < 0 ? rc : 1;
        }
        if (c != (is_obj ? '}' : ']'))
            return fail_expected(r, r->at, is_obj ? "',' or '}'" : "',' or ']'");
        rc = close_container(r, is_obj);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* A scalar, or the beginning of a container: 1 if a value inside it follows. */
static int read_value(struct reader *r)
{
    skip_blanks(r);
    switch (r->at < r->end ? *r->at : '\0') {
    case '{':
        return begin_items(r, true);
    case '[':
        return begin_items(r, false);
    case '"':
        return read_string(r, r->sax->on_string);
    case 't':
        return read_bool(r, true);
    case 'f':
        return read_bool(r, false);
    case 'n':
        return read_null(r);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
        return read_number(r);
    default:
        return fail_expected(r, r->at, "a value");
    }
}

static int read_all(struct reader *r)
{
    int rc;
    do {
        rc = read_value(r);
        if (rc == 0)
            rc = end_value(r);
    } while (rc == 1);
    return rc;
}

/* --- the whole --------------------------------------------------------------------- */

static int begin(struct reader *r, const struct json_source *source,
                 const struct json_limits *limits, struct err *err)
{
    static const struct json_limits none = {.max_bytes = 0};
    const struct json_limits *given = limits ? limits : &none;
    size_t max_bytes = given->max_bytes ? given->max_bytes : bytes_default;
    unsigned max_depth = given->max_depth ? given->max_depth : JSON_DEPTH_DEFAULT;
    if (max_bytes > bytes_hard_max)
        max_bytes = bytes_hard_max;

    err_clear(err);
    r->err = err;
    buf_init(&r->text, source->len);
    if (source->len > max_bytes)
        return err_set(err, ERR_LIMIT, "the text has %zu bytes, at most %zu are read", source->len,
                       max_bytes);
    r->start = source->len ? source->text : "";
    r->at = r->start + source->pos;
    r->end = r->start + source->len;
    r->surrogate = given->surrogate;
    r->depth = 0;
    r->max_depth = max_depth < JSON_DEPTH_HARD_MAX ? max_depth : JSON_DEPTH_HARD_MAX;
    return 0;
}

/* Cleans up and sees to it that a failure has a text. */
static int end(struct reader *r, int rc)
{
    buf_done(&r->text);
    if (rc < 0 && r->err && r->err->code == 0)
        return err_wrap(r->err, rc, "read JSON");
    return rc;
}

int json_sax_parse(const char *text, size_t len, const struct json_limits *limits,
                   const struct json_sax *sax, void *ctx, struct err *err)
{
    struct json_source source = {.text = text, .len = len};
    struct reader r;
    r.sax = sax;
    r.ctx = ctx;
    int rc = begin(&r, &source, limits, err);
    if (rc == 0)
        rc = read_all(&r);
    if (rc == 0) {
        skip_blanks(&r);
        if (r.at < r.end)
            rc = fail_expected(&r, r.at, "the end of the text");
    }
    return end(&r, rc);
}

int json_sax_next(struct json_source *source, const struct json_limits *limits,
                  const struct json_sax *sax, void *ctx, struct err *err)
{
    struct reader r;
    r.sax = sax;
    r.ctx = ctx;
    int rc = begin(&r, source, limits, err);
    if (rc < 0)
        return end(&r, rc);
    skip_blanks(&r);
    bool found = r.at < r.end;
    if (found)
        rc = read_all(&r);
    if (rc == 0)
        source->pos = (size_t)(r.at - r.start);
    return rc < 0 ? end(&r, rc) : end(&r, found);
}
