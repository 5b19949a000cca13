/* SPDX-License-Identifier: MIT */
/*
 * fuzz - what tests/fuzz/fuzz_<what>.c defines. `make fuzz` links it with
 * libFuzzer; other builds link it with replay.c, which runs every file of
 * tests/fuzz/corpus/<what>/ as a test. Any input must return 0, and soon.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
