/* SPDX-License-Identifier: MIT */
#include "base/hash.h"

#include <endian.h>
#include <pthread.h>
#include <string.h>

#include "base/rand.h"

static uint64_t process_key[2];
static pthread_once_t key_drawn = PTHREAD_ONCE_INIT;

static void draw_key(void)
{
    rand_bytes(process_key, sizeof(process_key));
}

static uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static void mix(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[0] = rotate(v[0], 32);
    v[2] += v[3];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[2] = rotate(v[2], 32);
}

static uint64_t read_word(const char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof(word));
    return le64toh(word);
}

void hash_seed(void)
{
    (void)pthread_once(&key_drawn, draw_key); /* fails for no valid argument */
}

uint64_t hash_bytes_keyed(const void *data, size_t len, const uint64_t key[2])
{
    uint64_t v[4] = {
        key[0] ^ 0x736f6d6570736575,
        key[1] ^ 0x646f72616e646f6d,
        key[0] ^ 0x6c7967656e657261,
        key[1] ^ 0x7465646279746573,
    };
    const char *at = data;
    for (size_t left = len; left >= 8; left -= 8, at += 8) {
        uint64_t word = read_word(at);
        v[3] ^= word;
        mix(v);
        v[0] ^= word;
    }

    char rest[8] = {0};
    if (len % 8)
        memcpy(rest, at, len % 8);
    uint64_t last = read_word(rest) | (uint64_t)len << 56;
    v[3] ^= last;
    mix(v);
    v[0] ^= last;

    v[2] ^= 0xff;
    mix(v);
    mix(v);
    mix(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t hash_bytes(const void *data, size_t len)
{
    hash_seed();
    return hash_bytes_keyed(data, len, process_key);
}
