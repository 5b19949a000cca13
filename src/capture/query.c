/* SPDX-License-Identifier: MIT */
#include "capture/query.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "capture/escape_priv.h"

enum { ENQ = 0x05, ESC = 0x1B };

struct capture_query {
    struct capture_escape escape;
    size_t n;           /* held bytes of the sequence */
    bool pass;          /* it is no query: its bytes go through */
    unsigned char more; /* bytes that the character in the text still wants */
    char held[CAPTURE_QUERY_HELD_MAX];
};

/*
 * Queries among CSI sequences, by final byte. `prefix` are the private markers and
 * `inter` the intermediate byte that it must have; 0 is none, '*' is any or none.
 */
struct csi_query {
    char final, prefix, inter;
    bool (*is_query)(const struct capture_escape *e); /* NULL: always */
};

/* The parameter with this index, or -1. */
static int param(const struct capture_escape *e, unsigned index)
{
    int value = -1;
    for (unsigned i = 0; i < e->n_params; i++) {
        char c = e->params[i];
        if (c == ';' && index-- == 0)
            break;
        if (index == 0 && c >= '0' && c <= '9' && value < 10000)
            value = (value < 0 ? 0 : value) * 10 + (c - '0');
    }
    return value;
}

/* Window reports: positions, sizes, titles. */
static bool is_report(const struct capture_escape *e)
{
    int value = param(e, 0);
    return value == 11 || (value >= 13 && value <= 16) || (value >= 18 && value <= 21);
}

/* XTSMGRAPHICS: read an attribute, or its maximum. */
static bool is_read(const struct capture_escape *e)
{
    int action = param(e, 1);
    return action == 1 || action == 4;
}

static const struct csi_query csi_queries[] = {
    {'S', '?', 0,   is_read  },
    {'c', '*', 0,   NULL     }, /* DA1, DA2, DA3 */
    {'m', '?', 0,   NULL     }, /* XTQMODKEYS */
    {'n', '*', 0,   NULL     }, /* DSR */
    {'p', '*', '$', NULL     }, /* DECRQM */
    {'q', '>', 0,   NULL     }, /* XTVERSION */
    {'t', 0,   0,   is_report}, /* XTWINOPS */
    {'u', '?', 0,   NULL     }, /* keyboard protocol */
    {'u', 0,   '&', NULL     }, /* DECRQUPSS */
    {'v', 0,   '"', NULL     }, /* DECRQDE */
    {'w', 0,   '$', NULL     }, /* DECRQPSR */
    {'x', 0,   0,   NULL     }, /* DECREQTPARM */
    {'y', 0,   '*', NULL     }, /* DECRQCRA */
    {'|', 0,   '#', NULL     }, /* XTREPORTSGR */
};

static bool is_csi_query(const struct capture_escape *e)
{
    char prefix = 0, inter = 0;
    if (e->overflow)
        return false;
    if (e->n_params > 0 && e->params[0] >= '<' && e->params[0] <= '?')
        prefix = e->params[0];
    if (e->n_params > 0 && e->params[e->n_params - 1] < '0')
        inter = e->params[e->n_params - 1];
    for (size_t i = 0; i < sizeof(csi_queries) / sizeof(csi_queries[0]); i++) {
        const struct csi_query *q = &csi_queries[i];
        if (q->final == e->final && (q->prefix == '*' || q->prefix == prefix) && q->inter == inter)
            return !q->is_query || q->is_query(e);
    }
    return false;
}

/* Whether one of the fields of p, which are separated, is exactly this. */
static bool has_field(const char *p, size_t n, char separator, const char *field)
{
    size_t len = strlen(field);
    while (n > 0) {
        const char *end = memchr(p, separator, n);
        size_t part = end ? (size_t)(end - p) : n;
        if (part == len && memcmp(p, field, len) == 0)
            return true;
        if (!end)
            break;
        p += part + 1;
        n -= part + 1;
    }
    return false;
}

/* The content of an OSC: "?" in the place of a value, where the number has values. */
static bool is_osc_query(const char *p, size_t n)
{
    static const int never[] = {0, 1, 2, 7, 8, 9, 133, 633, 777}; /* titles, links, marks */
    int number = 0;
    for (size_t i = 0; i < n && p[i] >= '0' && p[i] <= '9' && number < 10000; i++)
        number = number * 10 + (p[i] - '0');
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
        if (number == never[i])
            return false;
    if (number == 99) /* notifications */
        return memmem(p, n, "p=?", 3) != NULL;
    if (number == 1337)
        return memmem(p, n, ";Report", 7) || memmem(p, n, ";Capabilities", 13);
    return has_field(p, n, ';', "?") || (n > 2 && memcmp(p + n - 2, "=?", 2) == 0);
}

/* The content of a string: without introducer and terminator. */
static bool is_string_query(char kind, const char *p, size_t n)
{
    switch (kind) {
    case ']':
        return is_osc_query(p, n);
    case 'P': /* DECRQSS, XTGETTCAP */
        return n >= 2 && (p[0] == '$' || p[0] == '+') && p[1] == 'q';
    case '_': /* kitty graphics */
        if (n == 0 || p[0] != 'G')
            return false;
        const char *data = memchr(p, ';', n);
        return has_field(p + 1, (data ? (size_t)(data - p) : n) - 1, ',', "a=q");
    default:
        return false;
    }
}

/* Judges a finished sequence of n held bytes, of which the last `end` terminate a string. */
static bool is_query(const struct capture_query *q, enum capture_escape_state state, size_t n,
                     size_t end)
{
    size_t start = q->held[0] == ESC ? 2 : 1;
    switch (state) {
    case CAPTURE_ESCAPE_CSI:
        return is_csi_query(&q->escape);
    case CAPTURE_ESCAPE_ESC:
        return q->escape.final == 'Z'; /* DECID */
    case CAPTURE_ESCAPE_STRING:
    case CAPTURE_ESCAPE_STRING_ESC:
        return is_string_query(q->escape.kind, q->held + start, n - start - end);
    case CAPTURE_ESCAPE_NONE:
    case CAPTURE_ESCAPE_INTER:
    case CAPTURE_ESCAPE_SHIFT:
        break;
    }
    return false;
}

static int release(struct capture_query *q, struct buf *ret)
{
    int rc = buf_append(ret, q->held, q->n);
    q->n = 0;
    return rc;
}

/*
 * Holds a byte of the sequence, or lets it through. An ESC in a string is held even
 * then: it may start a sequence of its own.
 */
static int hold(struct capture_query *q, unsigned char c, struct buf *ret)
{
    int rc = 0;
    if (q->n == sizeof(q->held))
        q->pass = true;
    if (q->pass)
        rc = release(q, ret);
    if (rc < 0)
        return rc;
    if (q->pass && q->escape.state != CAPTURE_ESCAPE_STRING_ESC)
        return buf_append_byte(ret, (char)c);
    q->held[q->n++] = (char)c;
    return 0;
}

static void start(struct capture_query *q, unsigned char c)
{
    q->pass = false;
    q->n = 1;
    q->held[0] = (char)c;
}

/* ESC and another byte in a string: the string ended before the ESC. */
static int end_before_esc(struct capture_query *q, struct buf *ret)
{
    size_t begin = q->held[0] == ESC ? 2 : 1;
    if (q->n == 0) /* the ESC was flushed */
        return 0;
    q->n--;
    if (!q->pass && !is_string_query(q->escape.kind, q->held + begin, q->n - begin)) {
        int rc = release(q, ret);
        if (rc < 0)
            return rc;
    }
    start(q, ESC);
    return 0;
}

/* Takes a byte in a sequence: 1 if it is to be looked at again. */
static int escape_byte(struct capture_query *q, unsigned char c, struct buf *ret)
{
    enum capture_escape_state state = q->escape.state;
    int rc = 0;
    if (state == CAPTURE_ESCAPE_STRING_ESC && c != '\\') {
        rc = end_before_esc(q, ret);
        state = CAPTURE_ESCAPE_ESC;
    }
    enum capture_escape_result result = capture_escape_byte(&q->escape, c);
    if (rc < 0)
        return rc;
    switch (result) {
    case CAPTURE_ESCAPE_CONTROL:
        return c == ENQ ? 0 : buf_append_byte(ret, (char)c);
    case CAPTURE_ESCAPE_BREAK:
        rc = release(q, ret);
        return rc < 0 ? rc : 1;
    case CAPTURE_ESCAPE_MORE:
        return hold(q, c, ret);
    case CAPTURE_ESCAPE_CANCEL:
        rc = hold(q, c, ret);
        return rc < 0 ? rc : release(q, ret);
    case CAPTURE_ESCAPE_DONE:
        break;
    }
    rc = hold(q, c, ret);
    if (rc < 0)
        return rc;
    size_t end = state == CAPTURE_ESCAPE_STRING_ESC ? 2 : 1;
    if (!q->pass && is_query(q, state, q->n, end)) {
        q->n = 0;
        return 0;
    }
    return release(q, ret);
}

/* How many bytes follow the first of a UTF-8 character. */
static unsigned char following(unsigned char c)
{
    if (c < 0xC2 || c > 0xF4)
        return 0;
    return c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
}

/* Bytes of text; the next byte, if any, is ENQ or may start a sequence. */
static size_t text_len(struct capture_query *q, const char *p, size_t n)
{
    size_t at = 0;
    for (; at < n; at++) {
        unsigned char c = (unsigned char)p[at];
        if (c < 0x80) {
            q->more = 0;
            if (c == ESC || c == ENQ)
                break;
        } else if (q->more > 0 && c < 0xC0) {
            q->more--;
        } else {
            q->more = following(c);
            if (c < 0xA0)
                break;
        }
    }
    return at;
}

int capture_query_scan(struct capture_query *query, const void *p, size_t n, struct buf *ret)
{
    const char *from = p, *end = from + n;
    while (from < end) {
        int rc;
        if (query->escape.state != CAPTURE_ESCAPE_NONE) {
            rc = escape_byte(query, (unsigned char)*from, ret);
            if (rc < 0)
                return rc;
            if (rc == 0) {
                from++;
                continue;
            }
        }
        size_t len = text_len(query, from, (size_t)(end - from));
        rc = buf_append(ret, from, len);
        from += len;
        if (rc == 0 && from < end) {
            unsigned char c = (unsigned char)*from++;
            if (capture_escape_start(&query->escape, c))
                start(query, c);
            else if (c != ENQ)
                rc = buf_append_byte(ret, (char)c);
        }
        if (rc < 0)
            return rc;
    }
    return 0;
}

int capture_query_flush(struct capture_query *query, struct buf *ret)
{
    query->pass = true;
    return release(query, ret);
}

struct capture_query *capture_query_new(void)
{
    return xnew(struct capture_query);
}

void capture_query_free(struct capture_query *query)
{
    free(query);
}
