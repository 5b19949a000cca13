/* SPDX-License-Identifier: MIT */
/*
 * wire/frame - how messages are cut out of the byte stream of a socket.
 *
 *   u32 length   of what follows, little-endian as all numbers here
 *   u8  type     enum wire_type
 *   u32 channel  which conversation; 0 is the connection itself
 *   payload      length - 5 bytes
 *
 * Raw bytes travel as they are. What the messages mean: wire/proto.h.
 */
#ifndef WIRE_FRAME_H
#define WIRE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct err;

enum wire_type {
    WIRE_JSON = 'J',      /* request of a client; event or answer of the daemon */
    WIRE_STDOUT = 'O',    /* u64 cursor of the first byte, then bytes */
    WIRE_STDERR = 'E',    /* the same */
    WIRE_INPUT = 'I',     /* bytes for a standard input */
    WIRE_INPUT_END = 'X', /* no payload: the end of that input */
};

enum {
    WIRE_HEADER_SIZE = 9,
    WIRE_CURSOR_SIZE = 8,
    WIRE_JSON_MAX = 16 * 1024 * 1024, /* a text of 1 MiB may need 6 bytes a byte */
    WIRE_BYTES_MAX = 256 * 1024,      /* without the cursor */
};

/* Who reads: each side takes only what the other may send. */
enum wire_side { WIRE_DAEMON, WIRE_CLIENT };

struct wire_frame {
    enum wire_type type;
    uint32_t channel;
    uint64_t cursor;  /* WIRE_STDOUT, WIRE_STDERR */
    const char *data; /* in the decoder; may be NULL if len is 0 */
    size_t len;
};

/* Bytes that have arrived and are not yet taken. Grows with them, not with announced lengths. */
struct wire_decoder {
    enum wire_side side;
    struct buf in;
    size_t at; /* start of the next frame */
};

void wire_decoder_init(struct wire_decoder *d, enum wire_side side);
void wire_decoder_done(struct wire_decoder *d);

/*
 * Room for *ret_len bytes (at least 1) to read into; wire_decoder_commit() counts those that
 * came. Frames given before become invalid. -ENOMEM.
 */
int wire_decoder_room(struct wire_decoder *d, char **ret, size_t *ret_len);
void wire_decoder_commit(struct wire_decoder *d, size_t len);

/* Copies bytes in: room and commit in one. */
int wire_decoder_feed(struct wire_decoder *d, const void *p, size_t n);

/*
 * The next frame: 1, or 0 if it is not all there yet. Its data is valid until bytes are
 * added. -ERR_PROTOCOL for what can be no frame: the connection is of no use any more.
 */
int wire_decoder_next(struct wire_decoder *d, struct wire_frame *ret, struct err *err);

/* Bytes of an unfinished frame: at the end of a stream a part of one was lost. */
size_t wire_decoder_pending(const struct wire_decoder *d);

/* Writes the header of a frame whose payload (with the cursor, if any) has so many bytes. */
void wire_header(char ret[WIRE_HEADER_SIZE], enum wire_type type, uint32_t channel, size_t len);

/*
 * Append a frame; all or nothing. -ERR_LIMIT if the payload is too long for its type or b
 * is full.
 */
int wire_put(struct buf *b, enum wire_type type, uint32_t channel, const void *p, size_t n);
int wire_put_output(struct buf *b, enum wire_type type, uint32_t channel, uint64_t cursor,
                    const void *p, size_t n);

/*
 * A frame of JSON that is written in place: begin, json_w_... into b, then end, which gets
 * what begin returned and what json_w_finish() said. On failure b is as before begin.
 */
int wire_begin(struct buf *b, uint32_t channel, size_t *ret_start);
int wire_end(struct buf *b, size_t start, int rc);

DEFINE_AUTO_DONE(struct wire_decoder, wire_decoder_done)

#endif
