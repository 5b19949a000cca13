/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "capture/escape_priv.h"

enum {
    BEL = 0x07,
    CAN = 0x18,
    SUB = 0x1A,
    ESC = 0x1B,
    DEL = 0x7F,
    C1_FIRST = 0x80,
    C1_LAST = 0x9F,
    C1_SHIFT = 0x40, /* from an 8-bit control to the byte after ESC */
    ST = 0x9C,
};

/* The byte after ESC of sequences that are longer than these two bytes. */
static bool introduce(struct capture_escape *e, char kind)
{
    switch (kind) {
    case '[':
        e->state = CAPTURE_ESCAPE_CSI;
        break;
    case 'N':
    case 'O':
        e->state = CAPTURE_ESCAPE_SHIFT;
        break;
    case ']':
    case 'P':
    case '_':
    case '^':
    case 'X':
    case 'k': /* the title, in screen and tmux */
        e->state = CAPTURE_ESCAPE_STRING;
        break;
    default:
        return false;
    }
    e->kind = kind;
    return true;
}

bool capture_escape_start(struct capture_escape *e, unsigned char c)
{
    *e = (struct capture_escape){.state = CAPTURE_ESCAPE_ESC};
    if (c == ESC)
        return true;
    if (c >= C1_FIRST && c <= C1_LAST && introduce(e, (char)(c - C1_SHIFT)))
        return true;
    e->state = CAPTURE_ESCAPE_NONE;
    return false;
}

static enum capture_escape_result end_with(struct capture_escape *e,
                                           enum capture_escape_result result)
{
    e->state = CAPTURE_ESCAPE_NONE;
    return result;
}

static void add_param(struct capture_escape *e, unsigned char c)
{
    if (e->n_params < CAPTURE_ESCAPE_PARAMS_MAX)
        e->params[e->n_params++] = (char)c;
    else
        e->overflow = true;
}

/* The byte after ESC. */
static enum capture_escape_result first_byte(struct capture_escape *e, unsigned char c)
{
    if (introduce(e, (char)c)) {
        e->multiline = c == 'P';
        return CAPTURE_ESCAPE_MORE;
    }
    if (c < '0') {
        e->state = CAPTURE_ESCAPE_INTER;
        add_param(e, c);
        return CAPTURE_ESCAPE_MORE;
    }
    e->final = (char)c;
    return end_with(e, CAPTURE_ESCAPE_DONE);
}

/* A byte of a sequence that is no string. */
static enum capture_escape_result short_byte(struct capture_escape *e, unsigned char c)
{
    if (c == CAN || c == SUB)
        return end_with(e, CAPTURE_ESCAPE_CANCEL);
    if (c == ESC || c >= C1_FIRST)
        return end_with(e, CAPTURE_ESCAPE_BREAK);
    if (c < ' ')
        return CAPTURE_ESCAPE_CONTROL;
    if (c == DEL)
        return CAPTURE_ESCAPE_MORE;
    if (e->state == CAPTURE_ESCAPE_ESC)
        return first_byte(e, c);
    if (e->state == CAPTURE_ESCAPE_SHIFT)
        return end_with(e, CAPTURE_ESCAPE_DONE);
    if (c < (e->state == CAPTURE_ESCAPE_CSI ? '@' : '0')) {
        add_param(e, c);
        return CAPTURE_ESCAPE_MORE;
    }
    e->final = (char)c;
    return end_with(e, CAPTURE_ESCAPE_DONE);
}

/* How many bytes follow the first of a UTF-8 character. */
static unsigned char following(unsigned char c)
{
    if (c < 0xC2 || c > 0xF4)
        return 0;
    return c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
}

static enum capture_escape_result string_byte(struct capture_escape *e, unsigned char c)
{
    /* 0x9C ends a string, but not as a part of a character ("\u2713" in a title). */
    if (e->more > 0 && (c & 0xC0) == 0x80) {
        e->more--;
        return CAPTURE_ESCAPE_MORE;
    }
    e->more = following(c);
    if (c == ST || (c == BEL && e->kind != 'P'))
        return end_with(e, CAPTURE_ESCAPE_DONE);
    if (c == CAN || c == SUB)
        return end_with(e, CAPTURE_ESCAPE_CANCEL);
    if (c == '\n' && !e->multiline)
        return end_with(e, CAPTURE_ESCAPE_BREAK);
    if (c == ESC)
        e->state = CAPTURE_ESCAPE_STRING_ESC;
    return CAPTURE_ESCAPE_MORE;
}

enum capture_escape_result capture_escape_byte(struct capture_escape *e, unsigned char c)
{
    switch (e->state) {
    case CAPTURE_ESCAPE_STRING:
        return string_byte(e, c);
    case CAPTURE_ESCAPE_STRING_ESC:
        if (c == '\\')
            return end_with(e, CAPTURE_ESCAPE_DONE);
        /* The string is over, and this is another sequence. */
        *e = (struct capture_escape){.state = CAPTURE_ESCAPE_ESC};
        return short_byte(e, c);
    case CAPTURE_ESCAPE_ESC:
    case CAPTURE_ESCAPE_INTER:
    case CAPTURE_ESCAPE_CSI:
    case CAPTURE_ESCAPE_SHIFT:
        return short_byte(e, c);
    case CAPTURE_ESCAPE_NONE:
        break;
    }
    return CAPTURE_ESCAPE_BREAK;
}
