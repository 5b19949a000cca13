/* SPDX-License-Identifier: MIT */
/*
 * json/plain_priv - runs of bytes that stand for themselves in a JSON string: all but
 * '"', '\' and those below 0x20. Sixteen at a time.
 */
#ifndef JSON_PLAIN_PRIV_H
#define JSON_PLAIN_PRIV_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef unsigned char json_plain_block __attribute__((vector_size(16)));

static inline bool json_is_plain(char c)
{
    return (unsigned char)c >= 0x20 && c != '"' && c != '\\';
}

/*
 * Length of the run at text. *any_high becomes true if it holds a byte above 0x7f, and
 * may if one follows soon after.
 */
static inline size_t json_plain_run(const char *text, size_t len, bool *any_high)
{
    size_t at = 0;
    uint64_t high = 0;
    for (; len - at >= sizeof(json_plain_block); at += sizeof(json_plain_block)) {
        json_plain_block block;
        memcpy(&block, text + at, sizeof(block));
        json_plain_block stops =
            (json_plain_block)((block < 0x20) | (block == '"') | (block == '\\'));
        uint64_t stop[2], word[2];
        memcpy(stop, &stops, sizeof(stop));
        memcpy(word, &block, sizeof(word));
        high |= word[0] | word[1];
        if (stop[0] | stop[1]) {
            unsigned bit = stop[0] ? (unsigned)__builtin_ctzll(le64toh(stop[0]))
                                   : 64 + (unsigned)__builtin_ctzll(le64toh(stop[1]));
            *any_high |= (high & 0x8080808080808080) != 0;
            return at + bit / 8;
        }
    }
    for (; at < len && json_is_plain(text[at]); at++)
        high |= (unsigned char)text[at];
    *any_high |= (high & 0x8080808080808080) != 0;
    return at;
}

#endif
