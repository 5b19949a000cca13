/* SPDX-License-Identifier: MIT */
#include "base/buf.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

enum { CAP_MIN = 64 };

/* Makes room for len more bytes and one behind them. */
static int grow(struct buf *b, size_t len)
{
    if (len > b->max - b->len)
        return -ERR_LIMIT;
    size_t need = b->len + len;
    if (need < b->cap)
        return 0;
    if (need == SIZE_MAX)
        return -ENOMEM;

    size_t cap = b->cap < CAP_MIN ? CAP_MIN : b->cap;
    while (cap <= need)
        cap = cap > SIZE_MAX / 2 ? SIZE_MAX : cap * 2;
    if (cap - 1 > b->max)
        cap = b->max + 1;

    char *data = realloc(b->data, cap);
    if (!data)
        return -ENOMEM;
    b->data = data;
    b->cap = cap;
    return 0;
}

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf)BUF_INIT(max);
}

int buf_append(struct buf *b, const void *data, size_t len)
{
    int rc = grow(b, len);
    if (rc < 0)
        return rc;
    if (len)
        memcpy(b->data + b->len, data, len);
    b->len += len;
    return 0;
}

int buf_append_str(struct buf *b, const char *text)
{
    return buf_append(b, text, strlen(text));
}

int buf_append_byte(struct buf *b, char byte)
{
    int rc = grow(b, 1);
    if (rc < 0)
        return rc;
    b->data[b->len++] = byte;
    return 0;
}

int buf_vprintf(struct buf *b, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    size_t room = b->cap - b->len; /* may be more than max allows: the byte behind */
    int len = vsnprintf(b->data ? b->data + b->len : NULL, b->data ? room : 0, fmt, args);
    int rc = len < 0 ? -errno : grow(b, (size_t)len);
    if (rc == 0 && (size_t)len >= room)
        (void)vsnprintf(b->data + b->len, (size_t)len + 1, fmt, again); /* fits now */
    va_end(again);
    if (rc < 0)
        return rc;
    b->len += (size_t)len;
    return 0;
}

int buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int rc = buf_vprintf(b, fmt, args);
    va_end(args);
    return rc;
}

int buf_reserve(struct buf *b, size_t len, char **ret)
{
    int rc = grow(b, len);
    if (rc < 0)
        return rc;
    *ret = b->data + b->len;
    return 0;
}

void buf_commit(struct buf *b, size_t len)
{
    assert(len == 0 || len < b->cap - b->len);
    b->len += len;
}

void buf_consume(struct buf *b, size_t len)
{
    assert(len <= b->len);
    b->len -= len;
    if (b->len && len)
        memmove(b->data, b->data + len, b->len);
}

void buf_truncate(struct buf *b, size_t len)
{
    assert(len <= b->len);
    b->len = len;
}

void buf_clear(struct buf *b)
{
    b->len = 0;
}

char *buf_take(struct buf *b)
{
    if (!b->data)
        return xstrdup("");
    char *data = b->data;
    data[b->len] = '\0';
    buf_init(b, b->max);
    return data;
}

const char *buf_cstr(struct buf *b)
{
    if (!b->data)
        return "";
    b->data[b->len] = '\0';
    return b->data;
}

void buf_done(struct buf *b)
{
    if (!b)
        return;
    free(b->data);
    buf_init(b, b->max);
}
