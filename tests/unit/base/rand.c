/* SPDX-License-Identifier: MIT */
#include "base/rand.h"

#include <stdlib.h>
#include <string.h>

#include "lib/test.h"

TEST(bytes_fill_all_of_it)
{
    static unsigned char bytes[100000];
    rand_bytes(bytes, sizeof(bytes));
    int seen[256] = {0};
    for (size_t i = 0; i < sizeof(bytes); i++)
        seen[bytes[i]]++;
    for (int i = 0; i < 256; i++)
        CHECK(seen[i] > 200 && seen[i] < 600); /* 390 are expected; this is 9 sigma away */
    rand_bytes(NULL, 0);
    CHECK(rand_u64() != rand_u64());
}

TEST(id_has_the_form)
{
    char id[RAND_ID_SIZE];
    for (int i = 0; i < 1000; i++) {
        CHECK(rand_id(id, sizeof(id), "c_") == id);
        CHECK_INT(strlen(id), 2 + RAND_ID_CHARS);
        CHECK(memcmp(id, "c_", 2) == 0);
        CHECK_INT(strspn(id + 2, "abcdefghijklmnopqrstuvwxyz234567"), RAND_ID_CHARS);
    }
}

TEST(id_fits_exactly)
{
    char id[RAND_ID_CHARS + 1];
    CHECK_INT(strlen(rand_id(id, sizeof(id), "")), RAND_ID_CHARS);
    char most[RAND_ID_SIZE];
    CHECK_INT(strlen(rand_id(most, sizeof(most), "fifteen_letters")), RAND_ID_SIZE - 1);
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, RAND_ID_CHARS);
}

TEST(ids_differ)
{
    enum { N = 20000 };
    static char ids[N][RAND_ID_CHARS + 1];
    for (int i = 0; i < N; i++)
        rand_id(ids[i], sizeof(ids[i]), "");
    qsort(ids, N, sizeof(ids[0]), compare);
    for (int i = 1; i < N; i++)
        CHECK(compare(ids[i - 1], ids[i]) != 0);
}
