/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target on each file of its corpus, FUZZ_CORPUS, and on no bytes. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "lib/test.h"

static void run_bytes(const uint8_t *data, size_t size)
{
    /* A copy of just that size, so that the address sanitizer sees the first byte too far. */
    uint8_t *copy = calloc(size ? size : 1, 1);
    CHECK(copy != NULL);
    if (size)
        memcpy(copy, data, size);
    CHECK_INT(LLVMFuzzerTestOneInput(copy, size), 0);
    free(copy);
}

static void run_file(const struct test_case *test)
{
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s/%s", test_env("FUZZ_CORPUS"), test->name);
    FILE *file = fopen(path, "re");
    if (!file)
        FAIL("open %s: %s", path, strerror(errno));

    char *bytes = NULL;
    size_t size = 0;
    FILE *all = open_memstream(&bytes, &size);
    CHECK(all != NULL);
    char block[64 * 1024];
    for (size_t n; (n = fread(block, 1, sizeof(block), file)) > 0;)
        CHECK(fwrite(block, 1, n, all) == n);
    (void)fclose(file);
    (void)fclose(all);

    run_bytes((const uint8_t *)bytes, size);
    free(bytes);
}

TEST(no_bytes)
{
    run_bytes(NULL, 0);
}

static int is_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

void test_collect(void)
{
    const char *corpus = getenv("FUZZ_CORPUS");
    struct dirent **entries = NULL;
    int n = corpus ? scandir(corpus, &entries, is_file, alphasort) : 0;
    for (int i = 0; i < n; i++) {
        /* Kept until the program ends. */
        struct test_case *test = calloc(1, sizeof(*test));
        char *name = strdup(entries[i]->d_name);
        if (!test || !name)
            abort();
        *test = (struct test_case){.name = name, .body = run_file, .timeout_s = TEST_TIMEOUT_S};
        test_add(test);
        free(entries[i]);
    }
    free(entries);
}
