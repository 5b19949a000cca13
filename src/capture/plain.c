/* SPDX-License-Identifier: MIT */
/*
 * Two ways through: whole lines of plain text are given straight from the input
 * (next_line), everything else goes byte by byte into a line that can be edited.
 * Both must give the same, wherever the input is cut.
 */
#include "capture/plain.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "capture/escape_priv.h"
#include "capture/line_priv.h"

#define REPLACEMENT "\xEF\xBF\xBD"

enum { ESC = 0x1B, DEL = 0x7F, ST = 0x9C, NUMBER_MAX = 9999 };

/* The last line that was given, and how often it came. */
struct last_line {
    const char *text; /* own, or in the input until the end of the call */
    size_t len;
    char *own;
    size_t own_cap;
    uint64_t n; /* 0: there is none */
};

struct capture_plain {
    struct capture_line line;
    struct capture_escape escape;
    struct last_line last;
    char part[UTF8_CHAR_MAX]; /* the beginning of a character */
    unsigned char n_part;
    bool given;   /* the beginning of the line has been given already */
    bool rewound; /* and the cursor went back there: what comes begins a new line */
    uint64_t row; /* counts lines, to know whether a saved cursor is on this one */
    uint64_t saved_row;
    size_t saved_column;
    struct buf *out;  /* of this call */
    const char *span; /* of the input: given, but not appended yet */
    size_t span_len;
    int rc; /* the first failure */
};

/* ---- giving ---- */

static void add(struct capture_plain *plain, const char *p, size_t n)
{
    if (plain->rc == 0 && n > 0)
        plain->rc = buf_append(plain->out, p, n);
}

static void add_span(struct capture_plain *plain)
{
    add(plain, plain->span, plain->span_len);
    plain->span_len = 0;
}

static void give(struct capture_plain *plain, const char *p, size_t n)
{
    add_span(plain);
    add(plain, p, n);
}

/* Gives bytes of the input; neighbours are appended together. */
static void give_span(struct capture_plain *plain, const char *p, size_t n)
{
    if (plain->span_len > 0 && plain->span + plain->span_len == p) {
        plain->span_len += n;
        return;
    }
    add_span(plain);
    plain->span = p;
    plain->span_len = n;
}

/* Says how many equal lines were left out. */
static void end_run(struct capture_plain *plain)
{
    if (plain->last.n > CAPTURE_PLAIN_SAME_LINES) {
        char text[80];
        uint64_t n = plain->last.n - CAPTURE_PLAIN_SAME_LINES;
        int len = snprintf(text, sizeof(text), "[previous line repeated %" PRIu64 " time%s]\n", n,
                           n == 1 ? "" : "s");
        give(plain, text, (size_t)len);
    }
    plain->last.n = 0;
}

/* Whether a finished line is to be given: not if it is one too many of its kind. */
static bool want_line(struct capture_plain *plain, const char *p, size_t n)
{
    struct last_line *last = &plain->last;
    if (last->n > 0 && last->len == n && memcmp(last->text, p, n) == 0)
        return ++last->n <= CAPTURE_PLAIN_SAME_LINES;
    end_run(plain);
    last->text = p;
    last->len = n;
    last->n = 1;
    return true;
}

/* Copies the last line out of memory that is about to change. */
static void keep_last(struct capture_plain *plain)
{
    struct last_line *last = &plain->last;
    if (last->n == 0 || last->text == last->own)
        return;
    if (last->own_cap < last->len + 1) {
        free(last->own);
        last->own_cap = last->len + 1;
        last->own = xmalloc(last->own_cap);
    }
    memcpy(last->own, last->text, last->len);
    last->text = last->own;
}

static void new_row(struct capture_plain *plain)
{
    capture_line_clear(&plain->line);
    plain->given = plain->rewound = false;
    plain->row++;
}

/* Ends the line as a newline does. */
static void end_line(struct capture_plain *plain)
{
    struct capture_line *line = &plain->line;
    const char *text = line->len ? line->text : "";
    if (plain->given || want_line(plain, text, line->len)) {
        give(plain, text, line->len);
        give(plain, "\n", 1);
    }
    keep_last(plain);
    new_row(plain);
}

/* Gives what there is of the line, which goes on. */
static void give_part(struct capture_plain *plain)
{
    end_run(plain);
    give(plain, plain->line.text, plain->line.len);
    capture_line_clear(&plain->line);
    plain->given = true;
}

/* The cursor goes to another row: what is written there is no part of this line. */
static void leave_row(struct capture_plain *plain)
{
    if (plain->line.len > 0 || plain->given)
        end_line(plain);
    else
        new_row(plain);
}

/* ---- writing ---- */

static void put(struct capture_plain *plain, const char *p, size_t n)
{
    if (plain->rewound)
        end_line(plain);
    while (!capture_line_put(&plain->line, p, n))
        give_part(plain);
}

static void put_text(struct capture_plain *plain, const char *p, size_t n)
{
    while (n > 0) {
        size_t used = 0;
        if (capture_line_at_end(&plain->line) && !plain->rewound) {
            used = capture_line_append(&plain->line, p, n);
            if (used < n)
                give_part(plain);
        } else {
            if (!plain->rewound)
                used = capture_line_replace(&plain->line, p, n);
            if (used == 0) {
                uint32_t c;
                used = utf8_decode(p, n, &c);
                put(plain, p, used);
            }
        }
        p += used;
        n -= used;
    }
}

static void go_to_column(struct capture_plain *plain, size_t column)
{
    capture_line_to_column(&plain->line, column);
    plain->rewound = plain->given;
}

static void go_left(struct capture_plain *plain, size_t columns)
{
    if (plain->given && capture_line_column(&plain->line) < columns)
        plain->rewound = true;
    capture_line_left(&plain->line, columns);
}

static void save_cursor(struct capture_plain *plain)
{
    plain->saved_row = plain->row;
    plain->saved_column = capture_line_column(&plain->line);
}

static void restore_cursor(struct capture_plain *plain)
{
    if (plain->saved_row == plain->row)
        go_to_column(plain, plain->saved_column);
    else
        leave_row(plain);
}

static void control(struct capture_plain *plain, unsigned char c)
{
    switch (c) {
    case '\n':
    case '\v':
    case '\f':
        end_line(plain);
        break;
    case '\r':
        go_to_column(plain, 0);
        break;
    case '\b':
        go_left(plain, 1);
        break;
    case '\t':
        put(plain, "\t", 1);
        break;
    default: /* the rest shows nothing */
        break;
    }
}

/* ---- sequences ---- */

/* The first parameter of a CSI, at least `least`. False if it has any other form. */
static bool first_number(const struct capture_escape *e, size_t least, size_t *ret)
{
    size_t value = 0;
    unsigned i = 0;
    for (; i < e->n_params && e->params[i] >= '0' && e->params[i] <= '9'; i++)
        if (value < NUMBER_MAX)
            value = value * 10 + (size_t)(e->params[i] - '0');
    *ret = value > least ? value : least;
    return !e->overflow && (i == e->n_params || e->params[i] == ';');
}

static void run_csi(struct capture_plain *plain)
{
    const struct capture_escape *e = &plain->escape;
    struct capture_line *line = &plain->line;
    size_t n;
    if (!first_number(e, e->final == 'K' || e->final == 'J' ? 0 : 1, &n))
        return;
    switch (e->final) {
    case 'C':
    case 'a':
        capture_line_right(line, n);
        break;
    case 'D':
        go_left(plain, n);
        break;
    case 'G':
    case '`':
        go_to_column(plain, n - 1);
        break;
    case 'K':
        if (!plain->rewound)
            capture_line_erase(line, (int)n);
        break;
    case 'J': /* its part in this line; what was given before stays */
        if (n == 0 && !plain->rewound)
            capture_line_erase(line, CAPTURE_LINE_TO_END);
        break;
    case 'P':
        capture_line_delete(line, n);
        break;
    case 'X':
        capture_line_blank(line, n);
        break;
    case '@':
        capture_line_insert(line, n);
        break;
    case 's':
        save_cursor(plain);
        break;
    case 'u':
        restore_cursor(plain);
        break;
    case 'A':
    case 'B':
    case 'E':
    case 'F':
    case 'H':
    case 'd':
    case 'e':
    case 'f':
        leave_row(plain);
        break;
    default: /* colours, modes, queries */
        break;
    }
}

static void run_single(struct capture_plain *plain)
{
    if (plain->escape.n_params > 0) /* a character set, or the like */
        return;
    switch (plain->escape.final) {
    case '7':
        save_cursor(plain);
        break;
    case '8':
        restore_cursor(plain);
        break;
    case 'D':
    case 'E':
        end_line(plain);
        break;
    case 'M':
    case 'c':
        leave_row(plain);
        break;
    default:
        break;
    }
}

/* Takes a byte in a sequence; false if it is to be looked at again. */
static bool escape_byte(struct capture_plain *plain, unsigned char c)
{
    bool csi = plain->escape.state == CAPTURE_ESCAPE_CSI;
    bool single = plain->escape.state == CAPTURE_ESCAPE_ESC ||
                  plain->escape.state == CAPTURE_ESCAPE_INTER ||
                  plain->escape.state == CAPTURE_ESCAPE_STRING_ESC;
    switch (capture_escape_byte(&plain->escape, c)) {
    case CAPTURE_ESCAPE_DONE:
        if (csi)
            run_csi(plain);
        else if (single)
            run_single(plain);
        break;
    case CAPTURE_ESCAPE_CONTROL:
        control(plain, c);
        break;
    case CAPTURE_ESCAPE_BREAK:
        return false;
    case CAPTURE_ESCAPE_MORE:
    case CAPTURE_ESCAPE_CANCEL:
        break;
    }
    return true;
}

/* ---- reading ---- */

/* Takes a byte that is part of a character, or of none; false if it is to be looked at again. */
static bool part_byte(struct capture_plain *plain, unsigned char c)
{
    plain->part[plain->n_part] = (char)c;
    size_t n = plain->n_part + 1U;
    uint32_t value;
    if (utf8_decode(plain->part, n, &value) == n) {
        plain->n_part = 0;
        if (value < 0x80 || value > 0x9F) /* controls that became characters show nothing */
            put(plain, plain->part, n);
        return true;
    }
    if (utf8_incomplete_tail(plain->part, n) == n) {
        plain->n_part++;
        return true;
    }
    bool alone = plain->n_part == 0;
    plain->n_part = 0;
    if (alone && (c == ST || capture_escape_start(&plain->escape, c)))
        return true;
    put(plain, REPLACEMENT, sizeof(REPLACEMENT) - 1);
    return alone;
}

static void one_byte(struct capture_plain *plain, unsigned char c)
{
    if (plain->escape.state != CAPTURE_ESCAPE_NONE && escape_byte(plain, c))
        return;
    if ((c >= 0x80 || plain->n_part > 0) && part_byte(plain, c))
        return;
    if (c >= 0x80)
        (void)part_byte(plain, c); /* starts anew: always taken */
    else if (c == ESC)
        (void)capture_escape_start(&plain->escape, c);
    else if (c >= ' ' && c != DEL)
        put(plain, (const char[]){(char)c}, 1);
    else
        control(plain, c);
}

/* Bytes of printable ASCII for sure, by whole words. */
static size_t skip_printable(const char *p, size_t n)
{
    const uint64_t ones = 0x0101010101010101, highs = 0x8080808080808080;
    size_t at = 0;
    for (uint64_t word; n - at >= sizeof(word); at += sizeof(word)) {
        memcpy(&word, p + at, sizeof(word));
        uint64_t below = word - ones * ' ', del = (word ^ ones * DEL) - ones;
        if ((word | below | del) & highs)
            break;
    }
    return at;
}

/* Bytes at p that are text: no controls, nothing but whole characters. */
static size_t text_len(const char *p, size_t n)
{
    size_t at = skip_printable(p, n);
    while (at < n) {
        unsigned char c = (unsigned char)p[at];
        uint32_t value;
        size_t len = 1;
        if (c >= 0x80) {
            len = utf8_decode(p + at, n - at, &value);
            if (len == 0 || value <= 0x9F)
                break;
        } else if ((c < ' ' && c != '\t') || c == DEL) {
            break;
        }
        at += len;
        if (len == 1)
            at += skip_printable(p + at, n - at);
    }
    return at;
}

/* Takes text, with its newline if it is a whole line: bytes taken. */
static size_t next_line(struct capture_plain *plain, const char *p, size_t n)
{
    size_t len = text_len(p, n);
    bool whole = len < n && p[len] == '\n' && len <= CAPTURE_PLAIN_LINE_MAX;
    if (!whole || plain->line.len > 0 || plain->line.pad > 0 || plain->given) {
        put_text(plain, p, len);
        return len;
    }
    if (want_line(plain, p, len))
        give_span(plain, p, len + 1);
    plain->row++;
    return len + 1;
}

int capture_plain_feed(struct capture_plain *plain, const void *p, size_t n, struct buf *ret)
{
    const char *from = p, *end = from + n;
    plain->out = ret;
    while (from < end && plain->rc == 0) {
        if (plain->escape.state == CAPTURE_ESCAPE_NONE && plain->n_part == 0)
            from += next_line(plain, from, (size_t)(end - from));
        if (from < end)
            one_byte(plain, (unsigned char)*from++);
    }
    add_span(plain);
    keep_last(plain);
    return plain->rc;
}

int capture_plain_flush(struct capture_plain *plain, struct buf *ret)
{
    plain->out = ret;
    if (plain->line.len > 0 && !plain->rewound)
        give_part(plain);
    return plain->rc;
}

int capture_plain_end(struct capture_plain *plain, struct buf *ret)
{
    plain->out = ret;
    if (plain->n_part > 0) {
        plain->n_part = 0;
        put(plain, REPLACEMENT, sizeof(REPLACEMENT) - 1);
    }
    end_run(plain);
    give(plain, plain->line.text, plain->line.len);
    new_row(plain);
    plain->escape.state = CAPTURE_ESCAPE_NONE;
    plain->row = plain->saved_row = 0;
    plain->saved_column = 0;
    return plain->rc;
}

struct capture_plain *capture_plain_new(void)
{
    return xnew(struct capture_plain);
}

void capture_plain_free(struct capture_plain *plain)
{
    if (!plain)
        return;
    capture_line_done(&plain->line);
    free(plain->last.own);
    free(plain);
}

int capture_plain_text(const void *p, size_t n, struct buf *ret)
{
    struct capture_plain plain = {.out = NULL};
    int rc = capture_plain_feed(&plain, p, n, ret);
    if (rc == 0)
        rc = capture_plain_end(&plain, ret);
    capture_line_done(&plain.line);
    free(plain.last.own);
    return rc;
}
