/* SPDX-License-Identifier: MIT */
#include "capture/text.h"

#include <assert.h>
#include <string.h>

#include "base/utf8.h"

/*
 * Adds bytes of the chunk to the held ones until that is a character, or can never
 * become one: how many of the chunk were used.
 */
static size_t complete(struct capture_utf8 *u, const char *p, size_t n, bool *ret_settled)
{
    size_t used = 0;
    *ret_settled = false;
    while (used < n && !*ret_settled) {
        u->held[u->len] = p[used];
        if (utf8_incomplete_tail(u->held, u->len + 1U) == u->len + 1U) {
            u->len++;
            used++;
            continue;
        }
        /* A byte that does not belong to the character is left where it is. */
        if (utf8_is_valid(u->held, u->len + 1U)) {
            u->len++;
            used++;
        }
        *ret_settled = true;
    }
    return used;
}

/* Moves what is held to where it can be read while the next bytes are held. */
static void give_held(struct capture_utf8 *u, struct capture_text *ret)
{
    memcpy(u->given, u->held, sizeof(u->given));
    *ret = (struct capture_text){
        .bytes = u->given, .len = u->len, .utf8 = utf8_is_valid(u->given, u->len)};
    u->len = 0;
}

int capture_utf8_feed(struct capture_utf8 *u, const void *p, size_t n,
                      struct capture_text ret[CAPTURE_TEXT_PARTS])
{
    assert(u->len < UTF8_CHAR_MAX);
    const char *from = p;
    int n_parts = 0;
    if (u->len > 0) {
        bool settled;
        size_t used = complete(u, from, n, &settled);
        from += used;
        n -= used;
        if (!settled)
            return 0;
        give_held(u, &ret[n_parts++]);
    }

    size_t rest = utf8_incomplete_tail(from, n);
    if (n > rest)
        ret[n_parts++] = (struct capture_text){
            .bytes = from, .len = n - rest, .utf8 = utf8_is_valid(from, n - rest)};
    if (rest > 0)
        memcpy(u->held, from + n - rest, rest);
    u->len = (unsigned char)rest;
    return n_parts;
}

int capture_utf8_flush(struct capture_utf8 *u, struct capture_text *ret)
{
    if (u->len == 0)
        return 0;
    give_held(u, ret);
    return 1;
}
