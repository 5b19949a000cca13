/* SPDX-License-Identifier: MIT */
#include "base/hash.h"

#include <string.h>

#include "lib/test.h"

/*
 * Reference values of SipHash-1-3 for key 00..0f and message 00..(n-1), made with an
 * implementation in another language that gives the published SipHash-2-4 vectors.
 */
TEST(reference_values)
{
    uint64_t key[2];
    unsigned char bytes[64];
    for (unsigned i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)i;
    memcpy(key, bytes, sizeof(key));
    static const struct {
        size_t len;
        uint64_t hash;
    } cases[] = {
        {0,  0xabac0158050fc4dc},
        {1,  0xc9f49bf37d57ca93},
        {7,  0xd3927d989bb11140},
        {8,  0x369095118d299a8e},
        {9,  0x25a48eb36c063de4},
        {15, 0xd320d86d2a519956},
        {16, 0xcc4fdd1a7d908b66},
        {31, 0x2370dd1f8c21d1bc},
        {63, 0x9d199062b7bbb3a8},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CHECK(hash_bytes_keyed(bytes, cases[i].len, key) == cases[i].hash);
}

TEST(process_key_is_drawn_once)
{
    hash_seed();
    uint64_t one = hash_bytes("abc", 3);
    hash_seed();
    CHECK(hash_bytes("abc", 3) == one);
    CHECK(hash_bytes("abd", 3) != one);
    CHECK(hash_bytes("abc", 2) != one);
    CHECK(hash_bytes(NULL, 0) == hash_bytes("", 0));

    static const uint64_t zero_key[2] = {0, 0};
    CHECK(hash_bytes_keyed("abc", 3, zero_key) != one);
}

TEST(length_counts)
{
    static const char zeros[32] = {0};
    uint64_t seen[32];
    for (size_t n = 0; n < 32; n++) {
        seen[n] = hash_bytes(zeros, n);
        for (size_t k = 0; k < n; k++)
            CHECK(seen[k] != seen[n]);
    }
}
