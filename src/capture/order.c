/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "capture/log_priv.h"

enum {
    SEGS_MIN = 8,
    ORDER_SHARE = 8, /* of a limit, the part that segments may take at most */
    BITS_IN_WORD = 64,
};

/* ---- bits ---- */

struct capture_bits *capture_bits_new(size_t max)
{
    size_t n_words = (max + BITS_IN_WORD - 1) / BITS_IN_WORD;
    struct capture_bits *bits = xcalloc(1, sizeof(*bits) + n_words * sizeof(bits->words[0]));
    bits->max = n_words * BITS_IN_WORD;
    return bits;
}

/* The bits from..to (not included) of a word, at most all. */
static uint64_t mask_of(size_t from, size_t to)
{
    uint64_t low = to == BITS_IN_WORD ? UINT64_MAX : (UINT64_C(1) << to) - 1;
    return low & ~((UINT64_C(1) << from) - 1);
}

/* Sets or clears a range that does not wrap. */
static void fill_range(struct capture_bits *bits, size_t from, size_t to, bool value)
{
    while (from < to) {
        size_t word = from / BITS_IN_WORD, base = word * BITS_IN_WORD;
        size_t end = to - base < BITS_IN_WORD ? to - base : BITS_IN_WORD;
        uint64_t mask = mask_of(from - base, end);
        if (value)
            bits->words[word] |= mask;
        else
            bits->words[word] &= ~mask;
        from = base + end;
    }
}

/* Set bits of a range that does not wrap. */
static uint64_t count_range(const struct capture_bits *bits, size_t from, size_t to)
{
    uint64_t n = 0;
    while (from < to) {
        size_t word = from / BITS_IN_WORD, base = word * BITS_IN_WORD;
        size_t end = to - base < BITS_IN_WORD ? to - base : BITS_IN_WORD;
        n += (uint64_t)__builtin_popcountll(bits->words[word] & mask_of(from - base, end));
        from = base + end;
    }
    return n;
}

static void bits_fill(struct capture_bits *bits, uint64_t at, size_t n, bool value)
{
    if (n > bits->max) {
        at += n - bits->max;
        n = bits->max;
    }
    size_t from = (size_t)(at % bits->max);
    size_t first = n < bits->max - from ? n : bits->max - from;
    fill_range(bits, from, from + first, value);
    fill_range(bits, 0, n - first, value);
}

/* Set bits of n (at most max) bytes. */
static uint64_t bits_count(const struct capture_bits *bits, uint64_t at, size_t n)
{
    size_t from = (size_t)(at % bits->max);
    size_t first = n < bits->max - from ? n : bits->max - from;
    return count_range(bits, from, from + first) + count_range(bits, 0, n - first);
}

static bool bits_get(const struct capture_bits *bits, uint64_t at)
{
    size_t i = (size_t)(at % bits->max);
    return bits->words[i / BITS_IN_WORD] >> (i % BITS_IN_WORD) & 1;
}

/* How many of n bytes have the same bit as the first. */
static uint64_t bits_same(const struct capture_bits *bits, uint64_t at, uint64_t n)
{
    bool value = bits_get(bits, at);
    uint64_t same = 0;
    while (same < n) {
        size_t i = (size_t)((at + same) % bits->max), bit = i % BITS_IN_WORD;
        uint64_t word = bits->words[i / BITS_IN_WORD];
        uint64_t other = (value ? ~word : word) >> bit;
        if (other)
            return same + (uint64_t)__builtin_ctzll(other) < n
                       ? same + (uint64_t)__builtin_ctzll(other)
                       : n;
        same += BITS_IN_WORD - bit;
    }
    return n;
}

/* ---- noting ---- */

/* Adds a segment where segments are kept; false if there is no room. */
static bool add_seg(struct capture_log *log, const struct capture_seg *seg)
{
    uint64_t size = ((uint64_t)log->n_segs + 1) * CAPTURE_SEG_SIZE;
    if (log->n_segs == 0) {
        log->first = *seg;
    } else if (log->spilled) {
        if (size > log->spill_max / ORDER_SHARE || !capture_spill_add_seg(log, seg))
            return false;
    } else {
        /* While files may still be made, capture_log_append() sees to the limit. */
        if (!log->may_spill && size > log->memory_max / ORDER_SHARE)
            return false;
        if (log->n_segs > log->segs_cap) {
            log->segs_cap = log->segs_cap ? log->segs_cap * 2 : SEGS_MIN;
            log->segs = xreallocarray(log->segs, log->segs_cap, sizeof(*log->segs));
        }
        log->segs[log->n_segs - 1] = *seg;
    }
    log->n_segs++;
    return true;
}

void capture_order_note(struct capture_log *log, int s, size_t n)
{
    if (log->order_end == CAPTURE_NO_END) {
        if (log->n_segs > 0 && log->stderr_last == (s == 1))
            return;
        struct capture_seg seg = {.at = capture_total(log), .sub = log->stream[s].total};
        if (s == 1)
            seg.sub |= CAPTURE_SEG_STDERR;
        if (add_seg(log, &seg)) {
            log->stderr_last = s == 1;
            return;
        }
        log->order_end = capture_total(log);
    }
    if (!log->bits)
        log->bits = capture_bits_new(log->tail_max);
    bits_fill(log->bits, capture_total(log), n, s == 1);
}

/* ---- walking ---- */

/* Points *ret at segment i. */
static int get_seg(struct capture_walk *walk, uint32_t i, const struct capture_seg **ret)
{
    const struct capture_log *log = walk->log;
    if (!log->spilled) {
        *ret = i ? &log->segs[i - 1] : &log->first;
        return 0;
    }
    if (i < walk->block_at || i - walk->block_at >= walk->n_block) {
        uint32_t max = sizeof(walk->block) / sizeof(walk->block[0]);
        uint32_t n = log->n_segs - i < max ? log->n_segs - i : max;
        int rc = capture_spill_read_segs(walk->log, i, walk->block, n);
        if (rc < 0)
            return rc;
        walk->block_at = i;
        walk->n_block = (uint32_t)rc;
        if (rc == 0)
            return -EUCLEAN;
    }
    *ret = &walk->block[i - walk->block_at];
    return 0;
}

/* Where the segments end. */
static uint64_t segs_end(const struct capture_log *log)
{
    uint64_t total = capture_total(log);
    return log->order_end < total ? log->order_end : total;
}

int capture_walk_start(struct capture_walk *walk, struct capture_log *log, uint64_t at)
{
    walk->log = log;
    walk->at = at;
    walk->seg = walk->block_at = walk->n_block = 0;
    walk->in_bits = false;
    if (at >= segs_end(log))
        return 0;

    /* The last segment that starts at or before `at`: [low, high) holds it. */
    uint32_t low = 0, high = log->n_segs;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        const struct capture_seg *seg;
        int rc = get_seg(walk, middle, &seg);
        if (rc < 0)
            return rc;
        if (seg->at <= at)
            low = middle;
        else
            high = middle;
    }
    walk->seg = low;
    return 0;
}

static int next_by_seg(struct capture_walk *walk, struct capture_run *ret)
{
    const struct capture_seg *seg;
    uint64_t end = segs_end(walk->log);
    if (walk->seg >= walk->log->n_segs)
        return -EUCLEAN;
    if (walk->seg + 1 < walk->log->n_segs) {
        int rc = get_seg(walk, walk->seg + 1, &seg);
        if (rc < 0)
            return rc;
        end = seg->at;
    }
    int rc = get_seg(walk, walk->seg, &seg);
    if (rc < 0)
        return rc;
    if (seg->at > walk->at || end <= walk->at)
        return -EUCLEAN;

    ret->s = (seg->sub & CAPTURE_SEG_STDERR) != 0;
    ret->sub = (seg->sub & ~CAPTURE_SEG_STDERR) + (walk->at - seg->at);
    ret->len = end - walk->at;
    walk->seg++;
    return 0;
}

/* Finds the place in the streams, from the end backwards. */
static int enter_bits(struct capture_walk *walk)
{
    const struct capture_log *log = walk->log;
    uint64_t total = capture_total(log);
    uint64_t after = bits_count(log->bits, walk->at, (size_t)(total - walk->at));
    if (after > log->stream[1].total || log->stream[1].total - after > walk->at)
        return -EUCLEAN;
    walk->sub[1] = log->stream[1].total - after;
    walk->sub[0] = walk->at - walk->sub[1];
    walk->in_bits = true;
    return 0;
}

static int next_by_bits(struct capture_walk *walk, struct capture_run *ret)
{
    const struct capture_log *log = walk->log;
    uint64_t total = capture_total(log), held = total;
    if (log->bits) {
        held = total > log->bits->max ? total - log->bits->max : 0;
        if (held < log->order_end)
            held = log->order_end;
    }
    if (walk->at < held) {
        *ret = (struct capture_run){.s = -1, .len = held - walk->at};
        return 0;
    }
    if (!walk->in_bits) {
        int rc = enter_bits(walk);
        if (rc < 0)
            return rc;
    }
    ret->s = bits_get(log->bits, walk->at);
    ret->sub = walk->sub[ret->s];
    ret->len = bits_same(log->bits, walk->at, total - walk->at);
    walk->sub[ret->s] += ret->len;
    return 0;
}

int capture_walk_next(struct capture_walk *walk, struct capture_run *ret)
{
    const struct capture_log *log = walk->log;
    assert(walk->at < capture_total(log));
    int rc = walk->at < segs_end(log) ? next_by_seg(walk, ret) : next_by_bits(walk, ret);
    if (rc < 0)
        return rc;
    walk->at += ret->len;

    /* Files and saved logs may hold anything. */
    if (ret->s >= 0) {
        uint64_t total = log->stream[ret->s].total;
        if (ret->sub > total || ret->len > total - ret->sub)
            return -EUCLEAN;
    }
    return 0;
}
