/* SPDX-License-Identifier: MIT */
/*
 * capture/line_priv - one line of a terminal, as it is written and overwritten.
 *
 * The text is valid UTF-8 of at most CAPTURE_PLAIN_LINE_MAX bytes. The cursor is
 * between characters, on the second column of a wide one (half), or right of the
 * end (pad). Writing blanks the other half of a wide character it cuts, as
 * terminals do. What takes no column belongs to the character before it.
 */
#ifndef CAPTURE_LINE_PRIV_H
#define CAPTURE_LINE_PRIV_H

#include <stdbool.h>
#include <stddef.h>

struct capture_line {
    char *text;
    size_t len, cap;
    size_t at;  /* cursor: offset in text */
    bool half;  /* the cursor is one column right of `at`, in a wide character */
    size_t pad; /* columns between the end and the cursor; they become blanks when written to */
};

/* Erase modes of CSI K. */
enum { CAPTURE_LINE_TO_END = 0, CAPTURE_LINE_TO_START = 1, CAPTURE_LINE_ALL = 2 };

void capture_line_clear(struct capture_line *line);
void capture_line_done(struct capture_line *line);

/* Whether what is written goes to the end. */
static inline bool capture_line_at_end(const struct capture_line *line)
{
    return line->at == line->len && line->pad == 0;
}

/* Adds text at the end, where the cursor is; as many whole characters as fit: bytes taken. */
size_t capture_line_append(struct capture_line *line, const char *p, size_t n);

/* Writes as much text at the cursor as replaces one byte by one: bytes taken, can be 0. */
size_t capture_line_replace(struct capture_line *line, const char *p, size_t n);

/* Writes one valid character at the cursor; false if the line cannot take it. */
bool capture_line_put(struct capture_line *line, const char *p, size_t n);

/* Moves the cursor; columns that a terminal would not have count as its edge. */
void capture_line_left(struct capture_line *line, size_t columns);
void capture_line_right(struct capture_line *line, size_t columns);
void capture_line_to_column(struct capture_line *line, size_t column);

/* The column of the cursor, from 0. */
size_t capture_line_column(const struct capture_line *line);

void capture_line_erase(struct capture_line *line, int mode);

/* Blanks, removes, inserts columns at the cursor. */
void capture_line_blank(struct capture_line *line, size_t columns);
void capture_line_delete(struct capture_line *line, size_t columns);
void capture_line_insert(struct capture_line *line, size_t columns);

#endif
