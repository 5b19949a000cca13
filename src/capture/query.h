/* SPDX-License-Identifier: MIT */
/*
 * capture/query - removes what asks a terminal for an answer.
 *
 * A program on a terminal of ours may ask where the cursor is or what colour the
 * background has. A terminal that shows the output later would answer, and the
 * answer would arrive as typed input. The scan takes such queries out of a raw
 * stream, cut anywhere, and keeps every other byte, colours too.
 *
 * Queries: DSR, DA1-3, DECID, ENQ, DECRQM, DECREQTPARM, DECRQSS, DECRQPSR, DECRQCRA,
 * XTVERSION, XTGETTCAP, XTQMODKEYS, XTSMGRAPHICS (read), window reports, the kitty
 * keyboard and graphics queries, and OSC with a "?" for a value.
 */
#ifndef CAPTURE_QUERY_H
#define CAPTURE_QUERY_H

#include <stddef.h>

#include "base/own.h"

struct buf;
struct capture_query;

enum { CAPTURE_QUERY_HELD_MAX = 4096 }; /* a longer sequence is no query */

struct capture_query *capture_query_new(void);
void capture_query_free(struct capture_query *query);

/* Appends the chunk without queries to ret; an unfinished sequence waits. -ERR_LIMIT. */
int capture_query_scan(struct capture_query *query, const void *p, size_t n, struct buf *ret);

/* Appends what waits, at the end of the stream or when nothing followed for a while. */
int capture_query_flush(struct capture_query *query, struct buf *ret);

DEFINE_AUTO(struct capture_query *, capture_query_free)

#endif
