/* SPDX-License-Identifier: MIT */
/*
 * base/err - what went wrong, as a code for programs and a line for people.
 *
 * A fallible function returns 0 (or a positive value) on success and -code on
 * failure. Codes below 1000 are errnos; the project's own start above. The text
 * is stored inline: a struct err lives on the caller's stack, needs no clean-up
 * and works after fork and when memory has run out.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

enum { ERR_TEXT_SIZE = 480 };

enum err_code {
    ERR_SYNTAX = 1001, /* text that does not parse */
    ERR_DENIED,        /* refused by policy */
    ERR_LIMIT,         /* a declared limit was reached */
    ERR_BUSY,          /* in use by somebody else; may work later */
    ERR_NOT_FOUND,     /* no such thing */
    ERR_EXISTS,        /* the name is taken */
    ERR_INVALID,       /* an argument that can never work */
    ERR_TIMEOUT,       /* time ran out */
    ERR_CLOSED,        /* the other side, or the object, has been closed */
    ERR_LOST,          /* the session ended under the command */
    ERR_SPAWN,         /* the program could not be started */
    ERR_PROTOCOL,      /* a peer said something out of order */
    ERR_EXITED,        /* the command has ended already */
    ERR_UNSUPPORTED,   /* this kernel or build cannot do it */
    ERR_STORAGE,       /* a store could not be read or written */
    ERR_INTERNAL,      /* a fault of our own; what errnos are called on the wire */
    ERR_CODE_END       /* one past the last */
};

struct err {
    int code; /* positive; 0 = nothing has been set */
    char text[ERR_TEXT_SIZE];
};

/*
 * Records code (positive) and the text, and returns -code. For an errno the text
 * gets ": " and its description. The text is always valid UTF-8 (bytes that are not become
 * "?"); one that is too long is cut on a character
 * with "...", the reason at its end is kept. err may be NULL.
 */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/*
 * Puts "<fmt>: " before the text and returns rc, which is negative. An err that
 * was never set gets the description of rc as its text.
 */
int err_wrap(struct err *err, int rc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Back to "nothing has been set". */
void err_clear(struct err *err);

/* The wire name of a code of either sign: "not_found"; "internal" for errnos. Never NULL. */
const char *err_name(int code);

/* A short description of a code of either sign, for people. Never NULL. */
const char *err_describe(int code);

/* The code (positive) that goes by this wire name, or 0. */
int err_from_name(const char *name);

#endif
