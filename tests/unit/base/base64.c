/* SPDX-License-Identifier: MIT */
#include "base/base64.h"

#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "lib/test.h"

static void check_both(const char *plain, size_t len, const char *padded, const char *url)
{
    auto_buf struct buf b = BUF_INIT(1000);
    CHECK_INT(base64_encode(plain, len, &b), 0);
    CHECK_STR(buf_cstr(&b), padded);
    CHECK_INT(base64_encoded_len(len), strlen(padded));
    buf_clear(&b);
    CHECK_INT(base64url_encode(plain, len, &b), 0);
    CHECK_STR(buf_cstr(&b), url);
    buf_clear(&b);
    CHECK_INT(base64_decode(padded, strlen(padded), &b), 0);
    CHECK_MEM(b.data, b.len, plain, len);
    buf_clear(&b);
    CHECK_INT(base64url_decode(url, strlen(url), &b), 0);
    CHECK_MEM(b.data, b.len, plain, len);
}

TEST(rfc_4648_examples)
{
    check_both("", 0, "", "");
    check_both("f", 1, "Zg==", "Zg");
    check_both("fo", 2, "Zm8=", "Zm8");
    check_both("foo", 3, "Zm9v", "Zm9v");
    check_both("foob", 4, "Zm9vYg==", "Zm9vYg");
    check_both("fooba", 5, "Zm9vYmE=", "Zm9vYmE");
    check_both("foobar", 6, "Zm9vYmFy", "Zm9vYmFy");
    check_both("\xFB\xFF\xFE", 3, "+//+", "-__-");
    check_both("\0\0", 2, "AAA=", "AAA");
}

TEST(every_length_round_trips)
{
    char plain[300];
    for (size_t i = 0; i < sizeof(plain); i++)
        plain[i] = (char)(i * 37 + 11);
    for (size_t len = 0; len <= sizeof(plain); len++) {
        auto_buf struct buf text = BUF_INIT(1000), back = BUF_INIT(300);
        CHECK_INT(base64_encode(plain, len, &text), 0);
        CHECK_INT(base64_decode(text.data, text.len, &back), 0);
        CHECK_MEM(back.data, back.len, plain, len);
    }
}

TEST(decode_is_strict)
{
    static const char *const texts[] = {
        "Z",     "Zg",       "Zg=",   "Zg===",  "Zg==Zg==", "=",    "==",   "====",
        "Zm9v=", "Zm9v====", "Zm 9v", "Zm9v\n", " Zm9v",    "Zm9-", "Zm9_", "Zh==",
        "Zm9=",  "Z===",     "A=A=",  "AA=A",   "Zm9v\x80", "Zm.v",
    };
    auto_buf struct buf b = BUF_INIT(100);
    CHECK_INT(buf_append_str(&b, "kept"), 0);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (base64_decode(texts[i], strlen(texts[i]), &b) != -ERR_INVALID)
            FAIL("'%s' was taken", texts[i]);
        CHECK_STR(buf_cstr(&b), "kept");
    }
    CHECK_INT(base64_decode("Zm\0v", 4, &b), -ERR_INVALID);
}

TEST(decode_url_is_strict)
{
    static const char *const texts[] = {"Zg==", "Zm8=", "Z", "Zm9vZ", "Zm9+", "Zm9/", "Zh", "Zm9"};
    auto_buf struct buf b = BUF_INIT(100);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (base64url_decode(texts[i], strlen(texts[i]), &b) != -ERR_INVALID)
            FAIL("'%s' was taken", texts[i]);
}

TEST(limits)
{
    auto_buf struct buf b = BUF_INIT(7);
    CHECK_INT(base64_encode("foob", 4, &b), -ERR_LIMIT);
    CHECK_INT(b.len, 0);
    CHECK_INT(base64url_encode("fooba", 5, &b), 0);
    CHECK_INT(b.len, 7);
    auto_buf struct buf small = BUF_INIT(2);
    CHECK_INT(base64_decode("Zm9v", 4, &small), -ERR_LIMIT);
    CHECK_INT(base64_decode("Zm8=", 4, &small), 0);
    CHECK(base64_encoded_len(SIZE_MAX) == SIZE_MAX);
    CHECK(base64_encoded_len(SIZE_MAX / 4 * 3 + 1) == SIZE_MAX);
    CHECK_INT(base64_encode("", SIZE_MAX, &b), -ERR_LIMIT);
    CHECK_INT(base64url_encode("", SIZE_MAX - 1, &b), -ERR_LIMIT);
}
