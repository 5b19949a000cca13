/* SPDX-License-Identifier: MIT */
#include "base/map.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "lib/test.h"

static int values[4];

TEST(set_get_remove)
{
    auto_map struct map map = MAP_INIT(10);
    CHECK(map_get(&map, "a") == NULL);
    CHECK(map_remove(&map, "a") == NULL);
    CHECK_INT(map_set(&map, "a", &values[0]), 0);
    CHECK_INT(map_set(&map, "b", &values[1]), 0);
    CHECK_INT(map_set(&map, "", &values[2]), 0);
    CHECK(map_get(&map, "a") == &values[0]);
    CHECK(map_get(&map, "") == &values[2]);
    CHECK(map_get(&map, "c") == NULL);
    CHECK_INT(map_count(&map), 3);
    CHECK_INT(map_set(&map, "a", &values[3]), 0);
    CHECK(map_get(&map, "a") == &values[3]);
    CHECK_INT(map_count(&map), 3);
    CHECK(map_remove(&map, "a") == &values[3]);
    CHECK(map_remove(&map, "a") == NULL);
    CHECK(map_get(&map, "a") == NULL);
    CHECK(map_get(&map, "b") == &values[1]);
    CHECK_INT(map_count(&map), 2);
}

TEST(keys_are_copied_and_may_lack_the_nul)
{
    auto_map struct map map = MAP_INIT(10);
    char key[] = "key";
    CHECK_INT(map_set(&map, key, &values[0]), 0);
    key[0] = 'K';
    CHECK(map_get(&map, "key") == &values[0]);
    CHECK(map_get_n(&map, "keyboard", 3) == &values[0]);
    CHECK(map_get_n(&map, "keyboard", 4) == NULL);
}

TEST(limit_counts_keys)
{
    auto_map struct map map;
    map_init(&map, 2);
    CHECK_INT(map_set(&map, "a", values), 0);
    CHECK_INT(map_set(&map, "b", values), 0);
    CHECK_INT(map_set(&map, "c", values), -ERR_LIMIT);
    CHECK_INT(map_set(&map, "a", &values[1]), 0);
    CHECK(map_get(&map, "c") == NULL);
    (void)map_remove(&map, "b");
    CHECK_INT(map_set(&map, "c", values), 0);
    auto_map struct map none = MAP_INIT(0);
    CHECK_INT(map_set(&none, "a", values), -ERR_LIMIT);
}

TEST(walk_is_in_order_and_may_remove)
{
    auto_map struct map map = MAP_INIT(100);
    char key[16];
    for (int i = 0; i < 50; i++) {
        (void)snprintf(key, sizeof(key), "%d", i);
        CHECK_INT(map_set(&map, key, &values[i % 4]), 0);
    }
    size_t cursor = 0;
    const char *at;
    void *value;
    for (int i = 0; map_next(&map, &cursor, &at, &value); i++) {
        (void)snprintf(key, sizeof(key), "%d", i);
        CHECK_STR(at, key);
        CHECK(value == &values[i % 4]);
        if (i % 2)
            CHECK(map_remove(&map, key) == value);
    }
    CHECK_INT(map_count(&map), 25);
    int n = 0;
    for (cursor = 0; map_next(&map, &cursor, NULL, NULL);)
        n++;
    CHECK_INT(n, 25);
    CHECK(map_get(&map, "48") && !map_get(&map, "49"));
}

/* A plain table to compare with. */
static bool model[512];

TEST(many_changes_against_a_model)
{
    auto_map struct map map = MAP_INIT(512);
    uint64_t seed = 12345;
    char key[16];
    size_t n = 0;
    for (int step = 0; step < 60000; step++) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        size_t i = (size_t)(seed >> 33) % 512;
        bool add = (seed >> 45) % 3 || (step / 10000) % 2 == 0;
        (void)snprintf(key, sizeof(key), "k%zu", i);
        if (add) {
            CHECK_INT(map_set(&map, key, &model[i]), 0);
            n += !model[i];
            model[i] = true;
        } else {
            CHECK(map_remove(&map, key) == (model[i] ? &model[i] : NULL));
            n -= model[i];
            model[i] = false;
        }
        CHECK_INT(map_count(&map), n);
    }
    for (size_t i = 0; i < 512; i++) {
        (void)snprintf(key, sizeof(key), "k%zu", i);
        CHECK(map_get(&map, key) == (model[i] ? &model[i] : NULL));
    }
}

TEST(memory_stays_flat_when_keys_come_and_go)
{
    auto_map struct map map = MAP_INIT(100);
    char key[16];
    for (int i = 0; i < 100000; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        CHECK_INT(map_set(&map, key, values), 0);
        (void)snprintf(key, sizeof(key), "k%d", i - 5);
        (void)map_remove(&map, key);
    }
    CHECK_INT(map_count(&map), 5);
    CHECK(map.index_size <= 64);
}

TEST(clear_and_done)
{
    struct map map = MAP_INIT(10);
    map_clear(&map);
    CHECK_INT(map_set(&map, "a", values), 0);
    map_clear(&map);
    CHECK_INT(map_count(&map), 0);
    CHECK(map_get(&map, "a") == NULL);
    CHECK_INT(map_set(&map, "a", values), 0);
    map_done(&map);
    CHECK_INT(map_set(&map, "a", values), 0);
    map_done(&map);
    map_done(NULL);
    struct map zeroed = {0};
    map_done(&zeroed);
}
