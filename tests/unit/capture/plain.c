/* SPDX-License-Identifier: MIT */
#include "capture/plain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "lib/test.h"

/* Input and what a reader gets. Each is also fed byte by byte and cut at every place. */
struct record {
    const char *in;
    size_t in_len; /* 0: up to the NUL */
    const char *out;
};

#define BYTES(text) (text), sizeof(text) - 1

static void filter_in_two(const char *in, size_t len, size_t cut, struct buf *ret)
{
    AUTO(capture_plain_free) struct capture_plain *plain = capture_plain_new();
    CHECK_INT(capture_plain_feed(plain, in, cut, ret), 0);
    /* The rest from elsewhere: nothing may point into a chunk that is gone. */
    char *copy = xmemdup(in + cut, len - cut);
    CHECK_INT(capture_plain_feed(plain, copy, len - cut, ret), 0);
    free(copy);
    CHECK_INT(capture_plain_end(plain, ret), 0);
}

static void filter_bytes(const char *in, size_t len, struct buf *ret)
{
    AUTO(capture_plain_free) struct capture_plain *plain = capture_plain_new();
    for (size_t i = 0; i < len; i++) {
        char byte = in[i];
        CHECK_INT(capture_plain_feed(plain, &byte, 1, ret), 0);
    }
    CHECK_INT(capture_plain_end(plain, ret), 0);
}

static void check_record(const struct record *r)
{
    size_t len = r->in_len ? r->in_len : strlen(r->in);
    auto_buf struct buf whole = BUF_INIT(1 << 20);
    CHECK_INT(capture_plain_text(r->in, len, &whole), 0);
    CHECK_STR(buf_cstr(&whole), r->out);
    CHECK(utf8_is_valid(whole.data, whole.len));

    auto_buf struct buf part = BUF_INIT(1 << 20);
    for (size_t cut = 0; cut <= len; cut++) {
        buf_clear(&part);
        filter_in_two(r->in, len, cut, &part);
        CHECK_MEM(part.data, part.len, whole.data, whole.len);
    }
    buf_clear(&part);
    filter_bytes(r->in, len, &part);
    CHECK_MEM(part.data, part.len, whole.data, whole.len);
}

static void check_records(const struct record *records, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check_record(&records[i]);
}

#define CHECK_RECORDS(records) check_records((records), sizeof(records) / sizeof((records)[0]))

TEST(text_is_left_alone)
{
    static const struct record records[] = {
        {"",                                           0, ""                                 },
        {"hello",                                      0, "hello"                            },
        {"hello\nworld\n",                             0, "hello\nworld\n"                   },
        {"\n\n",                                       0, "\n\n"                             },
        {"tab\there\n",                                0, "tab\there\n"                      },
        {"caf\u00e9 \u20ac \U0001f600 \u65e5\u672c\n", 0,
         "caf\u00e9 \u20ac \U0001f600 \u65e5\u672c\n"                                        },
        {"\u00db \u00dd is not CSI or OSC\n",          0, "\u00db \u00dd is not CSI or OSC\n"},
        {"e\u0301 combines\n",                         0, "e\u0301 combines\n"               },
    };
    CHECK_RECORDS(records);
}

TEST(sequences_are_removed)
{
    static const struct record records[] = {
        {"\033[1;31mred\033[0m\n",                              0,                    "red\n"   },
        {"\033[38;2;1;2;3mx\033[38:5:1my\033[m",                0,                    "xy"      },
        {"\033[?25lhidden\033[?25h\n",                          0,                    "hidden\n"},
        {"a\033[2Jb\033[3Jc",                                   0,                    "abc"     },
        {"\033]0;title\007text",                                0,                    "text"    },
        {"\033]2;\u2713 title\033\\text",                       0,                    "text"    },
        {"\033ktitle\033\\text",                                0,                    "text"    },
        {"\033P1$r0m\033\\text",                                0,                    "text"    },
        {"\033Pq#0;2;0;0;0\n#0~~\n\033\\after\n",               0,                    "after\n" },
        {"\033_Gf=24;AAAA\033\\x\033^pm\033\\y\033Xsos\033\\z", 0,                    "xyz"     },
        {"\033OA\033NBx",                                       0,                    "x"       },
        {"\033=\033>\033(B\033)0x\033#8y\033 Fz",               0,                    "xyz"     },
        {"\033Ptmux;\033\033]0;t\007\033\\x",                   0,                    "x"       },
        {"a\007b\016c\017d\177e\005f",                          0,                    "abcdef"  },
        {BYTES("a\0b"),                                         "ab"                },
        {"page\fnext\vlast\n",                                                    0, "page\nnext\nlast\n"          },
        {"\033[3\nm|\n",                                                    0,              "\n|\n"}, /* a control amidst a sequence */
        {"\033[1\030x\033]0;t\032y\n",                                                    0,               "xy\n"          },
        {"\033\033[1mx",                                                    0,                  "x"},
        {"\033[\033[1mx",                                                    0,                  "x"          },
        {"\033[1\u00e9x",                                                    0,            "\u00e9x"},
    };
    CHECK_RECORDS(records);
}

/* acceptance F13 */
TEST(links_keep_their_text)
{
    static const struct record records[] = {
        {"see \033]8;;https://example.com/a?b=c\033\\the page\033]8;;\033\\ now\n", 0,
         "see the page now\n"                                                                  },
        {"\033]8;id=1;file:///x\007name\033]8;;\007\n",                             0, "name\n"},
    };
    CHECK_RECORDS(records);
}

/* acceptance F12 */
TEST(queries_are_removed)
{
    static const struct record records[] = {
        {"\033[6n\033]11;?\007",                                                               0, ""  },
        {"\033[c\033[>c\033[=c\033[5n\033]10;?\033\\\033P$qm\033\\\033P+q544e\033\\\033Zok\n", 0,
         "ok\n"                                                                                       },
        {"\033[?u\033[>q\033[?2026$p\033[18t\033_Gi=1,a=q;AAAA\033\\ok",                       0, "ok"},
    };
    CHECK_RECORDS(records);
}

TEST(eight_bit_forms)
{
    static const struct record records[] = {
        {"\x9B"
         "31mred\x9Bm\n",     0, "red\n"         },
        {"\x9D"
         "0;title\x9Ctext\n", 0, "text\n"        },
        {"\x9D"
         "0;title\x07text\n", 0, "text\n"        },
        {"\x90q\x9C"
         "a\x9Ex\x9C"
         "b\x9Fx\x9C"
         "c\x98x\x9C"
         "d\n",               0, "abcd\n"        },
        {"\x8F"
         "Ax\n",              0, "x\n"           },
        {"\xC3\x9B\xC3\x9D\n",         0, "\u00db\u00dd\n"},
        {"a\xC2\x9B"
         "31m\xC2\x85z\n",    0, "a31mz\n"       }, /* encoded controls show nothing */
        {"\x9D"
         "word\nnext\n",      0, "\nnext\n"      },
    };
    CHECK_RECORDS(records);
}

TEST(invalid_bytes_become_replacements)
{
    static const struct record records[] = {
        {BYTES("a\n\0\nb\n\377\376"), "a\n\nb\n\uFFFD\uFFFD"          },
        { "caf\xE9\n",                          0,                    "caf\uFFFD\n"},
        { "\xE2\x82"
         "x\n",                          0,                      "\uFFFDx\n"},
        { "\xE2\x82",                          0,                         "\uFFFD"},
        { "\xF0\x9F\x98",                          0,                         "\uFFFD"},
        { "\xE2\xE2\x82\xAC",                          0,                   "\uFFFD\u20ac"},
        { "\xC0\x80\xED\xA0\x80",                          0, "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD"},
        { "\x80\xBF\n",                          0,                 "\uFFFD\uFFFD\n"},
    };
    CHECK_RECORDS(records);
}

/* acceptance F11 */
TEST(progress_is_folded)
{
    static const struct record records[] = {
        {"10%\r50%\r100%\n",                               0, "100%\n"                  },
        {"one\r\ntwo\r\n",                                 0, "one\ntwo\n"              },
        {"abcdef\rxy\n",                                   0, "xycdef\n"                },
        {"abcdef\rxy\033[K\n",                             0, "xy\n"                    },
        {"abcdef\r\033[Kxy\n",                             0, "xy\n"                    },
        {"abcdef\033[2K\rxy\n",                            0, "xy\n"                    },
        {"abcdef\033[2Kxy\n",                              0, "      xy\n"              },
        {"abcdef\033[3D\033[1Kx\n",                        0, "   xef\n"                },
        {"\033[1Gidle\033[1G\033[0Kdone\n",                0, "done\n"                  },
        {"|\b/\b-\b\\\b \bdone\n",                         0, "done\n"                  },
        {"abc\b\b\bx\n",                                   0, "xbc\n"                   },
        {"abx\b \b\n",                                     0, "ab \n"                   },
        {"b\bbo\bol\bld _\bu_\bn\n",                       0, "bold un\n"               },
        {"\b\b\rx\n",                                      0, "x\n"                     },
        {"a\033[3Cb\n",                                    0, "a   b\n"                 },
        {"a\033[999Cb\n",                                  0, "ab\n"                    },
        {"abcdef\033[999Dxy\n",                            0, "xycdef\n"                },
        {"abcdef\033[3Gx\n",                               0, "abxdef\n"                },
        {"abcdef\r\033[2P\n",                              0, "cdef\n"                  },
        {"abcdef\r\033[2X\n",                              0, "  cdef\n"                },
        {"abcdef\r\033[2@\n",                              0, "  abcdef\n"              },
        {"abc   \r\033[3C\033[K\n",                        0, "abc\n"                   },
        {"\0337abc\0338x\n",                               0, "xbc\n"                   },
        {"ab\033[scd\033[ux\n",                            0, "abxd\n"                  },
        {"Downloading  10%\rDownloading 100%\r\nDone\r\n", 0, "Downloading 100%\nDone\n"},
        {"\033[1D\033[1@\033[1P\033[1X\033[K\033[1Kx\n",   0, "x\n"                     },
        {"last state\rno newline",                         0, "no newline"              },
        {"12345\r",                                        0, "12345"                   },
    };
    CHECK_RECORDS(records);
}

TEST(wide_characters_take_two_columns)
{
    static const struct record records[] = {
        {"\u65e5\u672c\rab\n",                         0, "ab\u672c\n"              },
        {"\u65e5\u672c\ra\n",                          0, "a \u672c\n"              },
        {"\u65e5\u672c\b\b\b\bx\n",                    0, "x \u672c\n"              },
        {"\u65e5\u672c\b\b\bx\n",                      0, " x\u672c\n"              },
        {"abc\r\u65e5\n",                              0, "\u65e5c\n"               },
        {"e\u0301x\ra\n",                              0, "ax\n"                    },
        {"\u0301\r\033[2Cq\n",                         0, "\u0301  q\n"             },
        {"e\u0301x\r\033[1Cy\n",                       0, "e\u0301y\n"              },
        {"e\u0301x\b\bab\n",                           0, "ab\n"                    },
        {"\u65e5x\r\033[1C\033[K\n",                   0, " \n"                     },
        {"10% \u2588\u2588\r20% \u2588\u2588\u2588\n", 0, "20% \u2588\u2588\u2588\n"},
    };
    CHECK_RECORDS(records);
}

TEST(other_rows_are_other_lines)
{
    static const struct record records[] = {
        {"one\033[5;1Htwo\n",           0, "one\ntwo\n"         },
        {"\033[H\033[2Jtop\n",          0, "top\n"              },
        {"a\n\033[1A\033[2K\rb\n",      0, "a\nb\n"             },
        {"layer: 100%\r\033[3BDone\n",  0, "layer: 100%\nDone\n"},
        {"a\0337\033[24;1Hbar\0338b\n", 0, "a\nbar\nb\n"        },
        {"a\033Eb\033Dc\n",             0, "a\nb\nc\n"          },
    };
    CHECK_RECORDS(records);
}

TEST(equal_lines_are_collapsed)
{
    static const struct record records[] = {
        {"y\ny\ny\n",                         0, "y\ny\ny\n"                                     },
        {"y\ny\ny\ny\n",                      0, "y\ny\ny\n[previous line repeated 1 time]\n"    },
        {"y\ny\ny\ny\ny\nz\n",                0, "y\ny\ny\n[previous line repeated 2 times]\nz\n"},
        {"\n\n\n\n\n\nx",                     0, "\n\n\n[previous line repeated 3 times]\nx"     },
        {"y\ny\ny\ny\ny",                     0, "y\ny\ny\n[previous line repeated 1 time]\ny"   },
        {"a\nb\na\nb\na\nb\na\nb\n",          0, "a\nb\na\nb\na\nb\na\nb\n"                      },
        {"\033[1mx\033[m\nx\n\rx\nq\rx\nx\n", 0, "x\nx\nx\n[previous line repeated 2 times]\n"   },
    };
    CHECK_RECORDS(records);
}

TEST(truncated_sequences_end_cleanly)
{
    static const char *const starts[] = {
        "\033",   "\033[", "\033[1;3", "\033]0;title", "\033P+q",
        "\033_G", "\033(", "\033O",    "\x9B\x31",
    };
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        char in[64];
        (void)snprintf(in, sizeof(in), "x\ny%s", starts[i]);
        check_record(&(struct record){in, 0, "x\ny"});
    }
    /* A string without its end costs its line, not the rest of the output. */
    check_record(&(struct record){"a\033]0;title\nb\n", 0, "a\nb\n"});
}

TEST(end_starts_anew)
{
    AUTO(capture_plain_free) struct capture_plain *plain = capture_plain_new();
    auto_buf struct buf out = BUF_INIT(1000);
    for (int i = 0; i < 2; i++) {
        buf_clear(&out);
        CHECK_INT(capture_plain_feed(plain, "a\na\nb\033[1", 8, &out), 0);
        CHECK_INT(capture_plain_end(plain, &out), 0);
        CHECK_STR(buf_cstr(&out), "a\na\nb");
    }
}

static void flush_case(const char *before, const char *after, const char *want)
{
    AUTO(capture_plain_free) struct capture_plain *plain = capture_plain_new();
    auto_buf struct buf out = BUF_INIT(1000);
    CHECK_INT(capture_plain_feed(plain, before, strlen(before), &out), 0);
    CHECK_INT(capture_plain_flush(plain, &out), 0);
    CHECK_INT(capture_plain_feed(plain, after, strlen(after), &out), 0);
    CHECK_INT(capture_plain_end(plain, &out), 0);
    CHECK_STR(buf_cstr(&out), want);
}

TEST(flush_shows_a_prompt)
{
    flush_case("name? ", "joe\n", "name? joe\n");
    flush_case("10%", "\r20%\r30%\n", "10%\n30%\n");
    flush_case("10%", "\r\nnext\n", "10%\nnext\n");
    flush_case("10%", "\r\033[K20%\n", "10%\n20%\n");
    flush_case("ab", "c\b\bx\n", "abc\nx\n");
    flush_case("", "x\n", "x\n");
    flush_case("y\ny\ny\ny\ny\n? ", "y\n", "y\ny\ny\n[previous line repeated 2 times]\n? y\n");
}

/* ---- limits ---- */

TEST(long_lines_come_in_parts)
{
    enum { LEN = 3 * CAPTURE_PLAIN_LINE_MAX + 100 };
    char *in = xmalloc(LEN + 2);
    for (size_t i = 0; i < LEN; i++)
        in[i] = (char)('a' + i % 26);
    in[LEN] = '\n';
    auto_buf struct buf whole = BUF_INIT(SIZE_MAX);
    CHECK_INT(capture_plain_text(in, LEN + 1, &whole), 0);
    CHECK_MEM(whole.data, whole.len, in, LEN + 1);
    in[LEN] = '\r';
    in[LEN + 1] = 'x';
    buf_clear(&whole);
    CHECK_INT(capture_plain_text(in, LEN + 2, &whole), 0);
    for (size_t step = 1; step < LEN; step = step * 7 + 1) {
        AUTO(capture_plain_free) struct capture_plain *plain = capture_plain_new();
        auto_buf struct buf out = BUF_INIT(SIZE_MAX);
        for (size_t at = 0; at < LEN + 2; at += step)
            CHECK_INT(
                capture_plain_feed(plain, in + at, LEN + 2 - at < step ? LEN + 2 - at : step, &out),
                0);
        CHECK_INT(capture_plain_end(plain, &out), 0);
        CHECK_MEM(out.data, out.len, whole.data, whole.len);
    }
    free(in);
}

TEST(output_that_does_not_fit_is_an_error)
{
    auto_buf struct buf small = BUF_INIT(10);
    CHECK_INT(capture_plain_text("0123456789", 10, &small), 0);
    buf_clear(&small);
    CHECK_INT(capture_plain_text("0123456789\n", 11, &small), -ERR_LIMIT);
}

/* Small pieces of terminal output in any mixture, cut anywhere: the same result. */
TEST_TIMEOUT(splitting_changes_nothing, 60)
{
    static const char *const pieces[] = {
        "a",        "word ",   "\n",      "\r",      "\b",      "\t",      "\u00e9", "\u65e5",
        "\u0301",   "\033[K",  "\033[",   "\033[2K", "\033[1K", "\033[3C", "\033[D", "\033[9G",
        "\033]0;",  "\007",    "\033\\",  "\033P",   "\033[1m", "\x9B",    "\xE2",   "\x82",
        "\xFF",     "\033[2P", "\033[2@", "\033[X",  "\0337",   "\0338",   "\033[A", "\033[s",
        "\033[u",   "\f",      "same\n",  "same\n",  "same\n",  "\033",    "1;2",    "\x9C",
        "\xC2\x9B", "\033E",   "\r\n",    "\033[J",
    };
    srand(11);
    for (int round = 0; round < 4000; round++) {
        auto_buf struct buf in = BUF_INIT(4096);
        for (int i = rand() % 60; i >= 0; i--)
            CHECK_INT(
                buf_append_str(&in, pieces[(size_t)rand() % (sizeof(pieces) / sizeof(pieces[0]))]),
                0);
        auto_buf struct buf whole = BUF_INIT(1 << 20);
        auto_buf struct buf part = BUF_INIT(1 << 20);
        CHECK_INT(capture_plain_text(in.data, in.len, &whole), 0);
        CHECK(utf8_is_valid(whole.data, whole.len));
        for (size_t i = 0; i < whole.len; i++)
            CHECK((unsigned char)whole.data[i] >= ' ' || whole.data[i] == '\n' ||
                  whole.data[i] == '\t');
        filter_in_two(in.data, in.len, (size_t)rand() % (in.len + 1), &part);
        CHECK_MEM(part.data, part.len, whole.data, whole.len);
        buf_clear(&part);
        filter_bytes(in.data, in.len, &part);
        CHECK_MEM(part.data, part.len, whole.data, whole.len);
    }
}
