/* SPDX-License-Identifier: MIT */
/*
 * Filters any bytes whole and in pieces, whose sizes the first bytes say: the result
 * is the same, valid UTF-8, and free of controls. The scan for queries drops bytes
 * but never adds or moves any, wherever the input is cut.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "capture/plain.h"
#include "capture/query.h"
#include "fuzz.h"

enum { N_SIZES = 4 };

static void must(bool truth)
{
    if (!truth)
        abort();
}

static bool same(const struct buf *a, const struct buf *b)
{
    return a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

/* The size of the piece with this number; 0 bytes are pieces too. */
static size_t piece(const uint8_t *sizes, size_t number, size_t left)
{
    size_t n = sizes[number % N_SIZES];
    if (n == 0 && number % N_SIZES == 0)
        n = 1;
    return n < left ? n : left;
}

static void plain(const uint8_t *sizes, const uint8_t *data, size_t size)
{
    auto_buf struct buf whole = BUF_INIT(SIZE_MAX);
    auto_buf struct buf parts = BUF_INIT(SIZE_MAX);
    must(capture_plain_text(data, size, &whole) == 0);
    must(utf8_is_valid(whole.data, whole.len));
    for (size_t i = 0; i < whole.len; i++) {
        unsigned char c = (unsigned char)whole.data[i];
        must((c >= ' ' && c != 0x7F) || c == '\n' || c == '\t');
    }

    AUTO(capture_plain_free) struct capture_plain *filter = capture_plain_new();
    size_t n;
    for (size_t at = 0, i = 0; at < size; at += n, i++) {
        n = piece(sizes, i, size - at);
        must(capture_plain_feed(filter, data + at, n, &parts) == 0);
    }
    must(capture_plain_end(filter, &parts) == 0);
    must(same(&whole, &parts));
}

/* Whether b is what is left of a when bytes are taken out, but for controls, which may move. */
static bool is_left_of(const struct buf *b, const uint8_t *a, size_t size)
{
    size_t at = 0;
    for (size_t i = 0; i < b->len; i++) {
        unsigned char c = (unsigned char)b->data[i];
        if (c < ' ')
            continue;
        while (at < size && a[at] != c)
            at++;
        if (at++ == size)
            return false;
    }
    return true;
}

static void query(const uint8_t *sizes, const uint8_t *data, size_t size)
{
    auto_buf struct buf whole = BUF_INIT(size);
    auto_buf struct buf parts = BUF_INIT(size);
    AUTO(capture_query_free) struct capture_query *scan = capture_query_new();
    must(capture_query_scan(scan, data, size, &whole) == 0);
    must(capture_query_flush(scan, &whole) == 0);
    must(is_left_of(&whole, data, size));

    AUTO(capture_query_free) struct capture_query *again = capture_query_new();
    size_t n;
    for (size_t at = 0, i = 0; at < size; at += n, i++) {
        n = piece(sizes, i, size - at);
        must(capture_query_scan(again, data + at, n, &parts) == 0);
    }
    must(capture_query_flush(again, &parts) == 0);
    must(same(&whole, &parts));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < N_SIZES)
        return 0;
    plain(data, data + N_SIZES, size - N_SIZES);
    query(data, data + N_SIZES, size - N_SIZES);
    return 0;
}
