/* SPDX-License-Identifier: MIT */
/*
 * json/sax - reads JSON (RFC 8259, nothing more) and calls back per token.
 *
 * Text must be UTF-8 without a byte order mark. A \u escape that is half of a
 * surrogate pair stands for no character: it is refused, or becomes U+FFFD where the
 * limits say so. Errors read "LINE:COLUMN: expected ..., not ..."; columns count
 * characters from 1.
 */
#ifndef JSON_SAX_H
#define JSON_SAX_H

#include <stdbool.h>
#include <stddef.h>

struct err;

enum { JSON_DEPTH_DEFAULT = 512, JSON_DEPTH_HARD_MAX = 10240 };

/* What to do about a key that comes twice in one object. */
enum json_dup {
    JSON_DUP_LAST, /* the last value counts, at the place of the first */
    JSON_DUP_ERROR
};

/* A half surrogate pair, written as an escape. */
enum json_surrogate { JSON_SURROGATE_ERROR, JSON_SURROGATE_REPLACE };

/* Zero in a number means its default. */
struct json_limits {
    size_t max_bytes;   /* of text; default 64 MiB, never above 2 GiB */
    unsigned max_depth; /* nested containers; default 512, never above 10240 */
    enum json_dup dup;  /* the tree reader's; the SAX reader reports every key */
    enum json_surrogate surrogate;
};

/*
 * The callbacks; each may be NULL. One that returns less than 0 ends the reading with
 * that code. Texts are borrowed for the call and have no NUL behind them; strings and
 * keys are unescaped (and may hold NULs), numbers are as written.
 */
struct json_sax {
    int (*on_null)(void *ctx);
    int (*on_bool)(void *ctx, bool value);
    int (*on_number)(void *ctx, const char *text, size_t len);
    int (*on_string)(void *ctx, const char *text, size_t len);
    int (*on_key)(void *ctx, const char *text, size_t len);
    int (*on_obj)(void *ctx);
    int (*on_obj_end)(void *ctx);
    int (*on_arr)(void *ctx);
    int (*on_arr_end)(void *ctx);
};

/*
 * Reads exactly one value with blanks around it. -ERR_SYNTAX, -ERR_LIMIT, or what a
 * callback returned; limits may be NULL. The place goes before the text that a callback
 * may have set in the same err.
 */
int json_sax_parse(const char *text, size_t len, const struct json_limits *limits,
                   const struct json_sax *sax, void *ctx, struct err *err);

/* Several values one after another. */
struct json_source {
    const char *text;
    size_t len;
    size_t pos; /* where the next value begins; 0 at the start */
};

/*
 * Reads the next value and moves source->pos behind it: 1, or 0 if only blanks are
 * left. Values need a blank between them only where they would run together.
 */
int json_sax_next(struct json_source *source, const struct json_limits *limits,
                  const struct json_sax *sax, void *ctx, struct err *err);

#endif
