/* SPDX-License-Identifier: MIT */
/* capture/width_priv - how many columns of a terminal a character takes. */
#ifndef CAPTURE_WIDTH_PRIV_H
#define CAPTURE_WIDTH_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 0, 1 or 2. Does not depend on the locale. */
unsigned capture_char_width(uint32_t c);

#endif
