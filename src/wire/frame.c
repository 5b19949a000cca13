/* SPDX-License-Identifier: MIT */
#include "wire/frame.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"

enum {
    LENGTH_SIZE = 4,
    FIXED_SIZE = WIRE_HEADER_SIZE - LENGTH_SIZE, /* type and channel, which the length counts */
    READ_SIZE = 64 * 1024,
    IN_MAX = WIRE_HEADER_SIZE + WIRE_JSON_MAX + 2 * READ_SIZE,
    KEEP_MAX = 256 * 1024, /* memory that an idle decoder may hold on to */
};

/* What each type may carry, and who may get it. */
static const struct rule {
    enum wire_type type;
    bool to_daemon, to_client;
    size_t min, max;
} rules[] = {
    {WIRE_JSON,      true,  true,  0,                WIRE_JSON_MAX                    },
    {WIRE_STDOUT,    false, true,  WIRE_CURSOR_SIZE, WIRE_CURSOR_SIZE + WIRE_BYTES_MAX},
    {WIRE_STDERR,    false, true,  WIRE_CURSOR_SIZE, WIRE_CURSOR_SIZE + WIRE_BYTES_MAX},
    {WIRE_INPUT,     true,  false, 0,                WIRE_BYTES_MAX                   },
    {WIRE_INPUT_END, true,  false, 0,                0                                },
};

static const struct rule *find_rule(unsigned char type)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (rules[i].type == type)
            return &rules[i];
    return NULL;
}

static uint64_t get_le(const char *p, int n_bytes)
{
    uint64_t value = 0;
    for (int i = n_bytes; i-- > 0;)
        value = value << 8 | (unsigned char)p[i];
    return value;
}

static void put_le(char *p, uint64_t value, int n_bytes)
{
    for (int i = 0; i < n_bytes; i++, value >>= 8)
        p[i] = (char)(value & 0xff);
}

void wire_decoder_init(struct wire_decoder *d, enum wire_side side)
{
    d->side = side;
    d->at = 0;
    buf_init(&d->in, IN_MAX);
}

void wire_decoder_done(struct wire_decoder *d)
{
    buf_done(&d->in);
    d->at = 0;
}

/* Moves what is left to the front, and gives back the memory of a large frame. */
static void compact(struct wire_decoder *d)
{
    if (d->at == 0)
        return;
    if (d->at == d->in.len && d->in.cap > KEEP_MAX)
        buf_done(&d->in);
    else
        buf_consume(&d->in, d->at);
    d->at = 0;
}

int wire_decoder_room(struct wire_decoder *d, char **ret, size_t *ret_len)
{
    compact(d);
    int rc = buf_reserve(&d->in, READ_SIZE, ret);
    if (rc < 0)
        return rc;
    *ret_len = READ_SIZE;
    return 0;
}

void wire_decoder_commit(struct wire_decoder *d, size_t len)
{
    buf_commit(&d->in, len);
}

int wire_decoder_feed(struct wire_decoder *d, const void *p, size_t n)
{
    compact(d);
    return buf_append(&d->in, p, n);
}

/* The most that any frame may be long which this side takes. */
static size_t longest(enum wire_side side)
{
    size_t max = 0;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if ((side == WIRE_DAEMON ? rules[i].to_daemon : rules[i].to_client) && rules[i].max > max)
            max = rules[i].max;
    return FIXED_SIZE + max;
}

/*
 * Judges a frame by what is there of its header, so that nobody waits for bytes that are too many:
 * by its length alone, then by its type.
 */
static int check_length(const struct wire_decoder *d, uint64_t length, struct err *err)
{
    if (length < FIXED_SIZE || length > longest(d->side))
        return err_set(err, ERR_PROTOCOL, "frame of length %llu: expected %d to %zu",
                       (unsigned long long)length, FIXED_SIZE, longest(d->side));
    return 0;
}

static int check_header(const struct wire_decoder *d, uint64_t length, unsigned char type,
                        struct err *err)
{
    const struct rule *rule = find_rule(type);
    if (!rule || !(d->side == WIRE_DAEMON ? rule->to_daemon : rule->to_client))
        return err_set(err, ERR_PROTOCOL, "frame of type 0x%02x: expected %s", type,
                       d->side == WIRE_DAEMON ? "'J', 'I' or 'X'" : "'J', 'O' or 'E'");
    if (length < FIXED_SIZE + rule->min || length > FIXED_SIZE + rule->max)
        return err_set(err, ERR_PROTOCOL, "frame '%c' of length %llu: expected %zu to %zu", type,
                       (unsigned long long)length, FIXED_SIZE + rule->min, FIXED_SIZE + rule->max);
    return 0;
}

int wire_decoder_next(struct wire_decoder *d, struct wire_frame *ret, struct err *err)
{
    size_t left = d->in.len - d->at;
    if (left < LENGTH_SIZE)
        return 0;
    const char *head = d->in.data + d->at;
    uint64_t length = get_le(head, LENGTH_SIZE);
    int rc = check_length(d, length, err);
    if (rc < 0 || left == LENGTH_SIZE)
        return rc;
    unsigned char type = (unsigned char)head[LENGTH_SIZE];
    rc = check_header(d, length, type, err);
    if (rc < 0)
        return rc;
    if (left < LENGTH_SIZE + length)
        return 0;

    *ret = (struct wire_frame){
        .type = (enum wire_type)type,
        .channel = (uint32_t)get_le(head + LENGTH_SIZE + 1, 4),
        .data = head + WIRE_HEADER_SIZE,
        .len = length - FIXED_SIZE,
    };
    if (type == WIRE_STDOUT || type == WIRE_STDERR) {
        ret->cursor = get_le(ret->data, WIRE_CURSOR_SIZE);
        ret->data += WIRE_CURSOR_SIZE;
        ret->len -= WIRE_CURSOR_SIZE;
    }
    d->at += LENGTH_SIZE + length;
    return 1;
}

size_t wire_decoder_pending(const struct wire_decoder *d)
{
    return d->in.len - d->at;
}

void wire_header(char ret[WIRE_HEADER_SIZE], enum wire_type type, uint32_t channel, size_t len)
{
    put_le(ret, FIXED_SIZE + len, LENGTH_SIZE);
    ret[LENGTH_SIZE] = (char)type;
    put_le(ret + LENGTH_SIZE + 1, channel, 4);
}

/* Room for a frame of that payload, its header written. */
static int reserve_frame(struct buf *b, enum wire_type type, uint32_t channel, size_t len,
                         char **ret_payload)
{
    const struct rule *rule = find_rule((unsigned char)type);
    assert(rule && len >= rule->min);
    if (len > rule->max)
        return -ERR_LIMIT;
    char *p;
    int rc = buf_reserve(b, WIRE_HEADER_SIZE + len, &p);
    if (rc < 0)
        return rc;
    wire_header(p, type, channel, len);
    *ret_payload = p + WIRE_HEADER_SIZE;
    return 0;
}

int wire_put(struct buf *b, enum wire_type type, uint32_t channel, const void *p, size_t n)
{
    char *payload;
    int rc = reserve_frame(b, type, channel, n, &payload);
    if (rc < 0)
        return rc;
    if (n)
        memcpy(payload, p, n);
    buf_commit(b, WIRE_HEADER_SIZE + n);
    return 0;
}

int wire_put_output(struct buf *b, enum wire_type type, uint32_t channel, uint64_t cursor,
                    const void *p, size_t n)
{
    char *payload;
    int rc = reserve_frame(b, type, channel, WIRE_CURSOR_SIZE + n, &payload);
    if (rc < 0)
        return rc;
    put_le(payload, cursor, WIRE_CURSOR_SIZE);
    if (n)
        memcpy(payload + WIRE_CURSOR_SIZE, p, n);
    buf_commit(b, WIRE_HEADER_SIZE + WIRE_CURSOR_SIZE + n);
    return 0;
}

int wire_begin(struct buf *b, uint32_t channel, size_t *ret_start)
{
    char header[WIRE_HEADER_SIZE];
    wire_header(header, WIRE_JSON, channel, 0);
    *ret_start = b->len;
    return buf_append(b, header, sizeof(header));
}

int wire_end(struct buf *b, size_t start, int rc)
{
    size_t len = b->len - start;
    if (rc == 0 && len > WIRE_HEADER_SIZE + WIRE_JSON_MAX)
        rc = -ERR_LIMIT;
    if (rc < 0) {
        buf_truncate(b, start);
        return rc;
    }
    put_le(b->data + start, len - LENGTH_SIZE, LENGTH_SIZE);
    return 0;
}
