/* SPDX-License-Identifier: MIT */
/* Base64 both ways, and UTF-8 boundaries against a plain walk, on any bytes. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/utf8.h"
#include "fuzz.h"

static void require(bool truth)
{
    if (!truth)
        abort();
}

typedef int (*encode_fn)(const void *data, size_t len, struct buf *ret);
typedef int (*decode_fn)(const char *text, size_t len, struct buf *ret);

/* What was encoded decodes to itself; what decodes is the one text it is encoded to. */
static void check_base64(encode_fn encode, decode_fn decode, const char *data, size_t size)
{
    auto_buf struct buf text = BUF_INIT(2 * size + 4), back = BUF_INIT(size);
    require(encode(data, size, &text) == 0);
    require(decode(text.data, text.len, &back) == 0);
    require(back.len == size && (size == 0 || memcmp(back.data, data, size) == 0));

    buf_clear(&text);
    buf_clear(&back);
    if (decode(data, size, &back) == 0) {
        require(encode(back.data, back.len, &text) == 0);
        require(text.len == size && (size == 0 || memcmp(text.data, data, size) == 0));
    }
}

static void check_utf8(const char *text, size_t len)
{
    size_t at = 0, valid = 0, n = 0;
    bool in_prefix = true;
    while (at < len) {
        uint32_t c;
        size_t bytes = utf8_decode(text + at, len - at, &c);
        char again[UTF8_CHAR_MAX];
        require(bytes == 0 || (utf8_encode(c, again) == bytes && !memcmp(again, text + at, bytes)));
        size_t step = bytes ? bytes : 1;
        for (size_t inside = 0; inside < step; inside++) {
            require(utf8_floor(text, len, at + inside) == at);
            require(utf8_ceil(text, len, at + inside) == (inside ? at + step : at));
        }
        in_prefix = in_prefix && bytes;
        valid += in_prefix ? bytes : 0;
        at += step;
        n++;
    }
    require(utf8_valid_prefix(text, len) == valid);
    require(utf8_is_valid(text, len) == (valid == len));
    require(utf8_count(text, len) == n);
    size_t tail = utf8_incomplete_tail(text, len);
    require(tail <= 3 && tail <= len && (tail == 0 || valid <= len - tail));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_base64(base64_encode, base64_decode, (const char *)data, size);
    check_base64(base64url_encode, base64url_decode, (const char *)data, size);
    check_utf8((const char *)data, size);
    return 0;
}
