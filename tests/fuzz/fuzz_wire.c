/* SPDX-License-Identifier: MIT */
/*
 * Decodes any bytes as each side, in pieces whose size the first byte says, and
 * checks that what was accepted is encoded to the same bytes again.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "wire/frame.h"

static void encode(struct buf *b, const struct wire_frame *f)
{
    int rc = f->type == WIRE_STDOUT || f->type == WIRE_STDERR
                 ? wire_put_output(b, f->type, f->channel, f->cursor, f->data, f->len)
                 : wire_put(b, f->type, f->channel, f->data, f->len);
    if (rc < 0)
        abort();
}

static void decode(enum wire_side side, const uint8_t *data, size_t size, size_t piece)
{
    AUTO(wire_decoder_done) struct wire_decoder d;
    wire_decoder_init(&d, side);
    auto_buf struct buf again = BUF_INIT(size);
    int rc = 0;
    for (size_t at = 0; at < size && rc >= 0; at += piece) {
        if (wire_decoder_feed(&d, data + at, size - at < piece ? size - at : piece) < 0)
            abort();
        struct wire_frame frame;
        while ((rc = wire_decoder_next(&d, &frame, NULL)) == 1)
            encode(&again, &frame);
    }
    if (again.len > size || (again.len && memcmp(again.data, data, again.len) != 0))
        abort();
    if (rc >= 0 && again.len + wire_decoder_pending(&d) != size)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    size_t piece = data[0] ? data[0] : 4096;
    decode(WIRE_DAEMON, data + 1, size - 1, piece);
    decode(WIRE_CLIENT, data + 1, size - 1, piece);
    return 0;
}
