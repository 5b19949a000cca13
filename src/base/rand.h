/* SPDX-License-Identifier: MIT */
/*
 * base/rand - unguessable bytes and identifiers, from getrandom(2).
 *
 * A kernel that gives no random bytes is a broken invariant: the process aborts.
 */
#ifndef BASE_RAND_H
#define BASE_RAND_H

#include <stddef.h>
#include <stdint.h>

enum { RAND_ID_CHARS = 16, RAND_ID_SIZE = 32 };

void rand_bytes(void *ret, size_t len);

uint64_t rand_u64(void);

/*
 * prefix and 16 characters of [a-z2-7] (80 bits): rand_id(id, sizeof(id), "c_").
 * size must hold both and the NUL; RAND_ID_SIZE does for prefixes up to 15. Returns buf.
 */
char *rand_id(char *buf, size_t size, const char *prefix);

#endif
