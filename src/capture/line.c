/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "capture/line_priv.h"
#include "capture/plain.h"
#include "capture/width_priv.h"

enum {
    CAP_MIN = 256,
    /* "999 columns to the right" means the edge, wherever that is. */
    EDGE = 999,
    /* Work on columns is done as far as this into a line; no terminal is as wide. */
    COLUMNS_MAX = 4096,
};

#define HIGH_BITS UINT64_C(0x8080808080808080)

void capture_line_clear(struct capture_line *line)
{
    line->len = line->at = line->pad = 0;
    line->half = false;
}

void capture_line_done(struct capture_line *line)
{
    free(line->text);
    *line = (struct capture_line){.text = NULL};
}

static void reserve(struct capture_line *line, size_t len)
{
    assert(len <= CAPTURE_PLAIN_LINE_MAX);
    if (len <= line->cap)
        return;
    size_t cap = line->cap ? line->cap : CAP_MIN;
    while (cap < len)
        cap *= 2;
    line->text = xrealloc(line->text, cap);
    line->cap = cap;
}

/* Bytes of ASCII at p. */
static size_t ascii_len(const char *p, size_t n)
{
    size_t at = 0;
    for (uint64_t word; n - at >= sizeof(word); at += sizeof(word)) {
        memcpy(&word, p + at, sizeof(word));
        if (word & HIGH_BITS)
            break;
    }
    while (at < n && (unsigned char)p[at] < 0x80)
        at++;
    return at;
}

/* Bytes of ASCII before the end of p. */
static size_t ascii_before(const char *p, size_t n)
{
    size_t at = n;
    for (uint64_t word; at >= sizeof(word); at -= sizeof(word)) {
        memcpy(&word, p + at - sizeof(word), sizeof(word));
        if (word & HIGH_BITS)
            break;
    }
    while (at > 0 && (unsigned char)p[at - 1] < 0x80)
        at--;
    return n - at;
}

/* The character at an offset before the end: its bytes, and its columns. */
static size_t char_at(const struct capture_line *line, size_t at, unsigned *ret_width)
{
    if ((unsigned char)line->text[at] < 0x80) {
        *ret_width = 1;
        return 1;
    }
    uint32_t c;
    size_t n = utf8_decode(line->text + at, line->len - at, &c);
    assert(n > 0);
    *ret_width = capture_char_width(c);
    return n;
}

/* Behind what belongs to the character before. */
static size_t skip_marks(const struct capture_line *line, size_t at)
{
    while (at < line->len) {
        unsigned width;
        size_t n = char_at(line, at, &width);
        if (width > 0)
            break;
        at += n;
    }
    return at;
}

/* Puts n bytes, or blanks if p is NULL, where from..to was. */
static void replace(struct capture_line *line, size_t from, size_t to, const char *p, size_t n)
{
    size_t len = line->len - (to - from) + n;
    if (from == to && n == 0)
        return;
    reserve(line, len);
    memmove(line->text + from + n, line->text + to, line->len - to);
    if (p)
        memcpy(line->text + from, p, n);
    else
        memset(line->text + from, ' ', n);
    line->len = len;
}

/* Makes the wide character that the cursor is inside of two blanks. */
static void split_wide(struct capture_line *line)
{
    if (!line->half)
        return;
    unsigned width;
    size_t end = skip_marks(line, line->at + char_at(line, line->at, &width));
    replace(line, line->at, end, NULL, 2);
    line->at++;
    line->half = false;
}

/* The end of as many columns from an offset on; *ret_columns is how many there are. */
static size_t skip_columns(const struct capture_line *line, size_t at, size_t columns,
                           size_t *ret_columns)
{
    size_t got = 0;
    while (at < line->len && got < columns) {
        unsigned width = 0;
        size_t rest = line->len - at;
        size_t n = ascii_len(line->text + at, columns - got < rest ? columns - got : rest);
        got += n;
        if (n == 0)
            n = char_at(line, at, &width);
        at += n;
        got += width;
    }
    *ret_columns = got;
    return skip_marks(line, at);
}

size_t capture_line_append(struct capture_line *line, const char *p, size_t n)
{
    size_t room = CAPTURE_PLAIN_LINE_MAX - line->len;
    if (n > room)
        n = utf8_floor(p, n, room);
    if (n == 0)
        return 0;
    reserve(line, line->len + n);
    memcpy(line->text + line->len, p, n);
    line->len += n;
    line->at = line->len;
    return n;
}

size_t capture_line_replace(struct capture_line *line, const char *p, size_t n)
{
    size_t room = line->len - line->at;
    if (line->half || room == 0)
        return 0;
    n = ascii_len(p, n < room ? n : room);
    n = ascii_len(line->text + line->at, n);
    /* The last character may have marks, which go with it. */
    if (n > 0 && n < room && (unsigned char)line->text[line->at + n] >= 0x80)
        n--;
    memcpy(line->text + line->at, p, n);
    line->at += n;
    return n;
}

/* Writes over what is there. */
static bool overwrite(struct capture_line *line, const char *p, size_t n)
{
    enum { FILL_MAX = 2 };
    if (capture_line_replace(line, p, n) > 0)
        return true;
    if (line->len + n + FILL_MAX > CAPTURE_PLAIN_LINE_MAX)
        return false;
    split_wide(line);
    uint32_t c;
    (void)utf8_decode(p, n, &c); /* valid by contract */
    unsigned width = capture_char_width(c);
    size_t columns = 0, end = line->at;
    if (width > 0)
        end = skip_columns(line, line->at, width, &columns);
    replace(line, line->at, end, p, n);
    line->at += n;
    if (columns > width)
        replace(line, line->at, line->at, NULL, columns - width);
    return true;
}

bool capture_line_put(struct capture_line *line, const char *p, size_t n)
{
    if (line->at < line->len)
        return overwrite(line, p, n);
    if (line->len + line->pad + n > CAPTURE_PLAIN_LINE_MAX)
        return false;
    size_t pad = line->pad;
    line->pad = 0;
    replace(line, line->len, line->len, NULL, pad);
    (void)capture_line_append(line, p, n); /* there is room */
    return true;
}

/* The offset of the character before. */
static size_t before(const struct capture_line *line, size_t at)
{
    do
        at--;
    while (at > 0 && ((unsigned char)line->text[at] & 0xC0) == 0x80);
    return at;
}

static void left_once(struct capture_line *line)
{
    if (line->pad > 0) {
        line->pad--;
        return;
    }
    if (line->half) {
        line->half = false;
        return;
    }
    unsigned width = 0;
    while (line->at > 0 && width == 0) {
        line->at = before(line, line->at);
        (void)char_at(line, line->at, &width); /* for its width */
    }
    line->half = width == 2;
}

static void right_once(struct capture_line *line)
{
    unsigned width;
    size_t n = char_at(line, line->at, &width);
    line->half = width == 2 && !line->half;
    if (!line->half)
        line->at = skip_marks(line, line->at + n);
}

void capture_line_left(struct capture_line *line, size_t columns)
{
    if (columns >= EDGE) {
        line->at = line->pad = 0;
        line->half = false;
        return;
    }
    while (columns > 0 && (line->at > 0 || line->pad > 0 || line->half)) {
        size_t n = 0;
        if (line->at > 0 && line->pad == 0 && !line->half) {
            size_t most = columns < line->at ? columns : line->at;
            n = ascii_before(line->text + line->at - most, most);
            line->at -= n;
        }
        if (n == 0) {
            left_once(line);
            n = 1;
        }
        columns -= n;
    }
}

void capture_line_right(struct capture_line *line, size_t columns)
{
    if (columns >= EDGE) {
        line->at = line->len;
        line->half = false;
        return;
    }
    while (columns > 0) {
        size_t n = 0;
        if (!line->half)
            line->at = skip_marks(line, line->at);
        if (line->at == line->len)
            break;
        if (!line->half) {
            size_t rest = line->len - line->at;
            n = ascii_len(line->text + line->at, columns < rest ? columns : rest);
            line->at += n;
        }
        if (n == 0) {
            right_once(line);
            n = 1;
        }
        columns -= n;
    }
    if (!line->half)
        line->at = skip_marks(line, line->at);
    line->pad += columns;
    if (line->pad > CAPTURE_PLAIN_PAD_MAX)
        line->pad = CAPTURE_PLAIN_PAD_MAX;
}

void capture_line_to_column(struct capture_line *line, size_t column)
{
    line->at = line->pad = 0;
    line->half = false;
    capture_line_right(line, column);
}

/* Columns before the cursor; 0 if that is too far into the line to be of use. */
size_t capture_line_column(const struct capture_line *line)
{
    if (line->at > COLUMNS_MAX)
        return 0;
    size_t columns = 0;
    for (size_t at = 0; at < line->at;) {
        unsigned width = 0;
        size_t n = ascii_len(line->text + at, line->at - at);
        columns += n;
        at += n;
        if (n == 0)
            at += char_at(line, at, &width);
        columns += width;
    }
    return columns + line->half + line->pad;
}

/* Blanks all up to the cursor, its own column too. */
static void erase_to_start(struct capture_line *line)
{
    if (line->at > COLUMNS_MAX)
        return;
    size_t column = capture_line_column(line);
    if (line->at == line->len) {
        size_t pad = column;
        capture_line_clear(line);
        line->pad = pad < CAPTURE_PLAIN_PAD_MAX ? pad : CAPTURE_PLAIN_PAD_MAX;
        return;
    }
    size_t own;
    size_t end = skip_columns(line, line->at, 1, &own);
    replace(line, 0, end, NULL, column - line->half + own);
    line->at = column;
    line->half = false;
}

void capture_line_erase(struct capture_line *line, int mode)
{
    if (mode == CAPTURE_LINE_TO_END) {
        split_wide(line);
        line->len = line->at;
    } else if (mode == CAPTURE_LINE_TO_START) {
        erase_to_start(line);
    } else if (mode == CAPTURE_LINE_ALL) {
        size_t pad = capture_line_column(line);
        capture_line_clear(line);
        line->pad = pad < CAPTURE_PLAIN_PAD_MAX ? pad : CAPTURE_PLAIN_PAD_MAX;
    }
}

void capture_line_blank(struct capture_line *line, size_t columns)
{
    split_wide(line);
    size_t got;
    size_t end = skip_columns(line, line->at, columns < EDGE ? columns : EDGE, &got);
    if (end == line->len)
        line->len = line->at;
    else
        replace(line, line->at, end, NULL, got);
}

void capture_line_delete(struct capture_line *line, size_t columns)
{
    split_wide(line);
    size_t got;
    size_t end = skip_columns(line, line->at, columns < EDGE ? columns : EDGE, &got);
    replace(line, line->at, end, NULL, 0);
}

void capture_line_insert(struct capture_line *line, size_t columns)
{
    if (columns > CAPTURE_PLAIN_PAD_MAX)
        columns = CAPTURE_PLAIN_PAD_MAX;
    split_wide(line);
    if (line->at < line->len && line->len + columns <= CAPTURE_PLAIN_LINE_MAX)
        replace(line, line->at, line->at, NULL, columns);
}
