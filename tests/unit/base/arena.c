/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <stdint.h>
#include <string.h>

#include "lib/test.h"

TEST(pieces_are_aligned_and_apart)
{
    auto_arena struct arena arena;
    arena_init(&arena, 1 << 20);
    char *before = NULL;
    for (size_t size = 0; size < 300; size++) {
        char *piece = arena_alloc(&arena, size);
        CHECK(piece != NULL && piece != before);
        CHECK_INT((uintptr_t)piece % ARENA_ALIGN, 0);
        memset(piece, 0xAA, size);
        before = piece;
    }
}

TEST(zalloc_is_zeroed_also_after_reuse)
{
    auto_arena struct arena arena;
    arena_init(&arena, 4096);
    memset(arena_alloc(&arena, 1000), 0xFF, 1000);
    arena_clear(&arena);
    const char *piece = arena_zalloc(&arena, 1000);
    for (int i = 0; i < 1000; i++)
        CHECK_INT(piece[i], 0);
    const long *longs = arena_zalloc_n(&arena, 10, sizeof(*longs));
    CHECK_INT(longs[9], 0);
    CHECK_INT(*arena_new(&arena, int), 0);
}

TEST(limit_counts_what_is_handed_out)
{
    auto_arena struct arena arena;
    arena_init(&arena, 64);
    CHECK(arena_alloc(&arena, 32));
    CHECK(!arena_alloc(&arena, 33));
    CHECK(arena_alloc(&arena, 16));
    CHECK(arena_alloc(&arena, 1));
    CHECK_INT(arena.used, 64);
    CHECK(!arena_alloc(&arena, 1));
    CHECK(!arena_alloc(&arena, 0));
    arena_clear(&arena);
    CHECK(arena_alloc(&arena, 64));
}

TEST(absurd_sizes_are_refused)
{
    auto_arena struct arena arena;
    arena_init(&arena, SIZE_MAX);
    CHECK(!arena_alloc(&arena, SIZE_MAX));
    CHECK(!arena_alloc(&arena, SIZE_MAX - 8));
    CHECK(!arena_zalloc_n(&arena, SIZE_MAX / 2, 3));
    CHECK(!arena_strndup(&arena, "", SIZE_MAX));
    CHECK(arena_alloc(&arena, 1));
}

TEST(no_room_at_all)
{
    auto_arena struct arena arena;
    arena_init(&arena, 0);
    CHECK(!arena_alloc(&arena, 1));
    CHECK(!arena_strdup(&arena, ""));
    CHECK(!arena_printf(&arena, "x"));
    arena_clear(&arena);
}

TEST(large_pieces_leave_the_current_block_in_use)
{
    auto_arena struct arena arena;
    arena_init(&arena, 64 << 20);
    char *small = arena_alloc(&arena, 16);
    char *large = arena_alloc(&arena, 3 << 20);
    char *next = arena_alloc(&arena, 16);
    CHECK(small && large && next);
    CHECK(next > small && next - small < 4096);
    memset(large, 1, 3 << 20);
}

TEST(large_piece_first)
{
    auto_arena struct arena arena;
    arena_init(&arena, 64 << 20);
    memset(arena_alloc(&arena, 100000), 1, 100000);
    memset(arena_alloc(&arena, 10), 2, 10);
    arena_clear(&arena);
    memset(arena_alloc(&arena, 100000), 3, 100000);
}

TEST(strings)
{
    auto_arena struct arena arena;
    arena_init(&arena, 4096);
    CHECK_STR(arena_strdup(&arena, "abc"), "abc");
    CHECK_MEM(arena_strndup(&arena, "a\0b", 3), 4, "a\0b\0", 4);
    CHECK_STR(arena_strndup(&arena, NULL, 0), "");
    CHECK_STR(arena_printf(&arena, "%s=%d", "k", 42), "k=42");
    CHECK(!arena_printf(&arena, "%5000d", 1));
}

TEST(many_pieces_survive)
{
    auto_arena struct arena arena;
    arena_init(&arena, 16 << 20);
    static char *pieces[20000];
    for (int i = 0; i < 20000; i++)
        pieces[i] = arena_printf(&arena, "piece %d", i);
    CHECK_STR(pieces[0], "piece 0");
    CHECK_STR(pieces[12345], "piece 12345");
    CHECK_STR(pieces[19999], "piece 19999");
}

TEST(done_accepts_zeroed_and_allows_reuse)
{
    struct arena arena = {0};
    arena_done(&arena);
    arena_done(NULL);
    arena_init(&arena, 100);
    CHECK(arena_alloc(&arena, 10));
    arena_done(&arena);
    CHECK_INT(arena.used, 0);
    CHECK(arena_alloc(&arena, 10));
    arena_done(&arena);
}
