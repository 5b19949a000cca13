/* SPDX-License-Identifier: MIT */
#include "wire/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "json/write.h"
#include "lib/test.h"

static void check_next(struct wire_decoder *d, struct wire_frame want)
{
    struct wire_frame got;
    CHECK_INT(wire_decoder_next(d, &got, NULL), 1);
    CHECK_INT(got.type, want.type);
    CHECK_INT(got.channel, want.channel);
    CHECK_INT(got.cursor, want.cursor);
    CHECK_MEM(got.data, got.len, want.data, want.len);
}

TEST(a_frame_has_this_layout)
{
    auto_buf struct buf b = BUF_INIT(4096);
    CHECK_INT(wire_put_output(&b, WIRE_STDOUT, 0x01020304, 0x1122334455667788, "hi", 2), 0);
    CHECK_MEM(b.data, b.len,
              "\x0f\0\0\0"
              "O\x04\x03\x02\x01\x88\x77\x66\x55\x44\x33\x22\x11hi",
              19);
}

TEST(every_type_comes_back)
{
    auto_buf struct buf b = BUF_INIT(4096);
    CHECK_INT(wire_put(&b, WIRE_JSON, 1, "{}", 2), 0);
    CHECK_INT(wire_put_output(&b, WIRE_STDOUT, 2, 7, "a\0b", 3), 0);
    CHECK_INT(wire_put_output(&b, WIRE_STDERR, UINT32_MAX, UINT64_MAX, NULL, 0), 0);

    AUTO(wire_decoder_done) struct wire_decoder d;
    wire_decoder_init(&d, WIRE_CLIENT);
    CHECK_INT(wire_decoder_feed(&d, b.data, b.len), 0);
    check_next(&d, (struct wire_frame){.type = WIRE_JSON, .channel = 1, .data = "{}", .len = 2});
    check_next(&d, (struct wire_frame){WIRE_STDOUT, 2, 7, "a\0b", 3});
    check_next(&d, (struct wire_frame){WIRE_STDERR, UINT32_MAX, UINT64_MAX, "", 0});
    struct wire_frame none;
    CHECK_INT(wire_decoder_next(&d, &none, NULL), 0);
    CHECK_INT(wire_decoder_pending(&d), 0);
}

TEST(input_goes_to_the_daemon)
{
    auto_buf struct buf b = BUF_INIT(4096);
    CHECK_INT(wire_put(&b, WIRE_INPUT, 3, "\xff", 1), 0);
    CHECK_INT(wire_put(&b, WIRE_INPUT, 3, NULL, 0), 0);
    CHECK_INT(wire_put(&b, WIRE_INPUT_END, 3, NULL, 0), 0);

    AUTO(wire_decoder_done) struct wire_decoder d;
    wire_decoder_init(&d, WIRE_DAEMON);
    CHECK_INT(wire_decoder_feed(&d, b.data, b.len), 0);
    check_next(&d, (struct wire_frame){WIRE_INPUT, 3, 0, "\xff", 1});
    check_next(&d, (struct wire_frame){WIRE_INPUT, 3, 0, "", 0});
    check_next(&d, (struct wire_frame){WIRE_INPUT_END, 3, 0, "", 0});
}

TEST(frames_may_be_cut_anywhere)
{
    auto_buf struct buf b = BUF_INIT(4096);
    for (int i = 0; i < 3; i++)
        CHECK_INT(wire_put_output(&b, WIRE_STDOUT, 5, 100, "0123456789", 10), 0);

    for (size_t cut = 1; cut < b.len; cut++) {
        AUTO(wire_decoder_done) struct wire_decoder d;
        wire_decoder_init(&d, WIRE_CLIENT);
        int n = 0;
        for (size_t at = 0; at < b.len; at += cut) {
            size_t len = b.len - at < cut ? b.len - at : cut;
            CHECK_INT(wire_decoder_feed(&d, b.data + at, len), 0);
            struct wire_frame got;
            for (int rc; (rc = wire_decoder_next(&d, &got, NULL)) != 0; n++) {
                CHECK_INT(rc, 1);
                CHECK_MEM(got.data, got.len, "0123456789", 10);
            }
        }
        CHECK_INT(n, 3);
        CHECK_INT(wire_decoder_pending(&d), 0);
    }
}

TEST(a_large_frame_comes_in_pieces)
{
    size_t len = WIRE_JSON_MAX;
    auto_free char *text = xmalloc(len);
    memset(text, ' ', len);
    auto_buf struct buf b = BUF_INIT(2 * len);
    CHECK_INT(wire_put(&b, WIRE_JSON, 1, text, len), 0);
    CHECK_INT(wire_put(&b, WIRE_JSON, 2, "[]", 2), 0);

    AUTO(wire_decoder_done) struct wire_decoder d;
    wire_decoder_init(&d, WIRE_DAEMON);
    struct wire_frame got;
    size_t n_frames = 0;
    for (size_t at = 0; at < b.len;) {
        char *room;
        size_t n;
        CHECK_INT(wire_decoder_room(&d, &room, &n), 0);
        n = n < b.len - at ? n : b.len - at;
        memcpy(room, b.data + at, n);
        wire_decoder_commit(&d, n);
        at += n;
        while (wire_decoder_next(&d, &got, NULL) == 1)
            n_frames++;
    }
    CHECK_INT(n_frames, 2);
    /* An idle connection must not hold on to what one large request needed. */
    char *room;
    size_t n;
    CHECK_INT(wire_decoder_room(&d, &room, &n), 0);
    CHECK(d.in.cap < (size_t)1024 * 1024);
}

static void check_refused(enum wire_side side, const char *bytes, size_t len, const char *text)
{
    AUTO(wire_decoder_done) struct wire_decoder d;
    wire_decoder_init(&d, side);
    CHECK_INT(wire_decoder_feed(&d, bytes, len), 0);
    struct wire_frame got;
    struct err err = {0};
    CHECK_INT(wire_decoder_next(&d, &got, &err), -ERR_PROTOCOL);
    CHECK_STR(err.text, text);
}

TEST(a_bad_header_is_refused_before_its_payload_is_there)
{
    check_refused(WIRE_DAEMON, "\x06\0\0\0j", 5, "frame of type 0x6a: expected 'J', 'I' or 'X'");
    check_refused(WIRE_DAEMON, "\x06\0\0\0X", 5, "frame 'X' of length 6: expected 5 to 5");
    check_refused(WIRE_DAEMON, "\x06\0\x04\0I", 5,
                  "frame 'I' of length 262150: expected 5 to 262149");
    check_refused(WIRE_CLIENT, "\x0c\0\0\0O", 5, "frame 'O' of length 12: expected 13 to 262157");
}

TEST(a_bad_length_is_refused_before_its_type_is_there)
{
    check_refused(WIRE_DAEMON, "GET / HTTP/1.1\r\n", 16,
                  "frame of length 542393671: expected 5 to 16777221");
    check_refused(WIRE_DAEMON, "\xff\xff\xff\xff", 4,
                  "frame of length 4294967295: expected 5 to 16777221");
    check_refused(WIRE_DAEMON, "\x06\0\0\x01", 4,
                  "frame of length 16777222: expected 5 to 16777221");
    check_refused(WIRE_DAEMON, "\0\0\0\0", 4, "frame of length 0: expected 5 to 16777221");
    check_refused(WIRE_CLIENT, "\x04\0\0\0", 4, "frame of length 4: expected 5 to 16777221");
}

TEST(each_side_takes_only_what_the_other_may_send)
{
    check_refused(WIRE_DAEMON, "\x10\0\0\0O", 5, "frame of type 0x4f: expected 'J', 'I' or 'X'");
    check_refused(WIRE_CLIENT, "\x10\0\0\0I", 5, "frame of type 0x49: expected 'J', 'O' or 'E'");
}

TEST(what_is_too_long_is_not_written)
{
    auto_free char *p = xcalloc(1, (size_t)WIRE_BYTES_MAX + 1);
    auto_buf struct buf b = BUF_INIT((size_t)1024 * 1024);
    CHECK_INT(wire_put(&b, WIRE_INPUT, 1, p, WIRE_BYTES_MAX + 1), -ERR_LIMIT);
    CHECK_INT(wire_put_output(&b, WIRE_STDOUT, 1, 0, p, WIRE_BYTES_MAX + 1), -ERR_LIMIT);
    CHECK_INT(b.len, 0);
    CHECK_INT(wire_put(&b, WIRE_INPUT, 1, p, WIRE_BYTES_MAX), 0);

    auto_buf struct buf small = BUF_INIT(12);
    CHECK_INT(wire_put(&small, WIRE_INPUT, 1, p, 4), -ERR_LIMIT);
    CHECK_INT(small.len, 0);
}

TEST(json_is_written_in_place)
{
    auto_buf struct buf b = BUF_INIT(4096);
    size_t start;
    CHECK_INT(wire_put(&b, WIRE_JSON, 8, "{}", 2), 0);
    CHECK_INT(wire_begin(&b, 9, &start), 0);
    struct json_w w;
    json_w_init(&w, &b);
    json_w_obj(&w);
    json_w_kstr(&w, "op", "ps");
    json_w_obj_end(&w);
    CHECK_INT(wire_end(&b, start, json_w_finish(&w)), 0);

    size_t before = b.len;
    CHECK_INT(wire_begin(&b, 10, &start), 0);
    CHECK_INT(wire_end(&b, start, -ERR_INVALID), -ERR_INVALID);
    CHECK_INT(b.len, before);

    AUTO(wire_decoder_done) struct wire_decoder d;
    wire_decoder_init(&d, WIRE_DAEMON);
    CHECK_INT(wire_decoder_feed(&d, b.data, b.len), 0);
    check_next(&d, (struct wire_frame){WIRE_JSON, 8, 0, "{}", 2});
    check_next(&d, (struct wire_frame){WIRE_JSON, 9, 0, "{\"op\":\"ps\"}", 11});
}
