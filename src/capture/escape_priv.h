/* SPDX-License-Identifier: MIT */
/*
 * capture/escape_priv - where terminal control sequences begin and end (ECMA-48,
 * with what xterm, screen and kitty add).
 *
 * A caller sees the introducer, calls capture_escape_start(), and then gives each
 * byte to capture_escape_byte() until the sequence is over.
 *
 * A string (OSC, APC, PM, SOS, title) that lacks its end would swallow all that
 * follows, as it does on a terminal. So a newline ends it: none of them holds any.
 * A DCS may hold newlines (images do) unless an 8-bit byte introduced it, which is
 * more often a letter in another encoding.
 */
#ifndef CAPTURE_ESCAPE_PRIV_H
#define CAPTURE_ESCAPE_PRIV_H

#include <stdbool.h>

enum { CAPTURE_ESCAPE_PARAMS_MAX = 32 };

enum capture_escape_state {
    CAPTURE_ESCAPE_NONE,
    CAPTURE_ESCAPE_ESC,   /* after ESC */
    CAPTURE_ESCAPE_INTER, /* after ESC and an intermediate byte */
    CAPTURE_ESCAPE_CSI,
    CAPTURE_ESCAPE_SHIFT, /* after SS2, SS3: one more byte */
    CAPTURE_ESCAPE_STRING,
    CAPTURE_ESCAPE_STRING_ESC, /* after ESC in a string */
};

struct capture_escape {
    enum capture_escape_state state;
    char kind;          /* the byte after ESC: '[' CSI, ']' OSC, 'P' DCS, '_' APC ... */
    char final;         /* of a finished CSI or single escape */
    bool multiline;     /* a string that may hold newlines */
    bool overflow;      /* params are not all there */
    unsigned char more; /* bytes that the UTF-8 character in a string still wants */
    unsigned char n_params;
    char params[CAPTURE_ESCAPE_PARAMS_MAX]; /* parameter and intermediate bytes of a CSI */
};

/* What a byte meant. */
enum capture_escape_result {
    CAPTURE_ESCAPE_MORE,    /* it belongs to the sequence, which goes on */
    CAPTURE_ESCAPE_DONE,    /* it is the last byte of the sequence */
    CAPTURE_ESCAPE_CANCEL,  /* it ends the sequence, which says nothing */
    CAPTURE_ESCAPE_BREAK,   /* it is not part of the sequence, which ended before it */
    CAPTURE_ESCAPE_CONTROL, /* a control that is carried out amidst the sequence */
};

/*
 * Starts at an introducer: ESC, or an 8-bit control (0x80-0x9F) as a byte of its own.
 * False if c introduces nothing.
 */
bool capture_escape_start(struct capture_escape *e, unsigned char c);

/* Takes the next byte; a result other than MORE and CONTROL leaves the state NONE. */
enum capture_escape_result capture_escape_byte(struct capture_escape *e, unsigned char c);

#endif
