/* SPDX-License-Identifier: MIT */
/* yaml/write - texts as YAML reads them. */
#ifndef YAML_WRITE_H
#define YAML_WRITE_H

struct buf;

/*
 * Appends a text (UTF-8) on one line: plain where it stays the same string for every reader
 * of YAML, old ones too (no, 1e3 and 12:30 are quoted), else in double quotes. -ERR_LIMIT.
 */
int yaml_write_str(struct buf *out, const char *text);

#endif
