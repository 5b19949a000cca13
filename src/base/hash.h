/* SPDX-License-Identifier: MIT */
/*
 * base/hash - keyed hash of bytes (SipHash-1-3) for tables.
 *
 * The key is drawn once per process, at first use. A process that is about to lose
 * getrandom(2) to a system call filter calls hash_seed() before.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Draws the process's key if that has not happened yet. */
void hash_seed(void);

/* Hash under the process's key: differs from process to process. */
uint64_t hash_bytes(const void *data, size_t len);

/* Hash under the given key. */
uint64_t hash_bytes_keyed(const void *data, size_t len, const uint64_t key[2]);

#endif
