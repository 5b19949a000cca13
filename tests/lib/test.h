/* SPDX-License-Identifier: MIT */
/*
 * test - every test in a process of its own, and nothing left behind.
 *
 *     TEST(name)
 *     {
 *         CHECK_INT(add(2, 2), 4);
 *     }
 *
 * A test runs in a forked process that leads its own process group, with a time
 * limit, /dev/null as stdin, and an empty scratch directory (test_dir()) as its
 * working directory. What it prints is shown only when it fails. After the body
 * these are failures too, each named in the report:
 *
 *   - a file descriptor that is open now and was not before, or the reverse;
 *   - a child that was not waited for, a descendant that still runs, a thread;
 *   - a file left in TMPDIR (the scratch directory may be left full);
 *   - an exit() or a signal before the end of the body.
 *
 * Orphans of a test are adopted and reaped by the runner, as init would. The
 * program prints TAP; `program --list` names its tests, `program NAME...` runs
 * some of them.
 */
#ifndef TESTS_LIB_TEST_H
#define TESTS_LIB_TEST_H

#include <stddef.h>
#include <stdint.h>

struct test_case {
    const char *name;
    void (*body)(const struct test_case *test);
    int timeout_s; /* before TEST_TIMEOUT_SCALE */
    int hidden;    /* runs only when named */
    void *arg;     /* for tests that are made at run time */
    struct test_case *next;
};

enum { TEST_TIMEOUT_S = 30 };

#define TEST(name)                  TEST_DEFINE_(name, TEST_TIMEOUT_S, 0)
#define TEST_TIMEOUT(name, seconds) TEST_DEFINE_(name, seconds, 0)
/* Runs only when named: for tests of the tests, and for what a person wants now and then. */
#define TEST_HIDDEN(name, seconds) TEST_DEFINE_(name, seconds, 1)

#define TEST_DEFINE_(id, seconds, is_hidden)                                                       \
    static void test_body_##id(const struct test_case *);                                          \
    static void __attribute__((constructor)) test_add_##id(void)                                   \
    {                                                                                              \
        static struct test_case self = {                                                           \
            .name = #id, .body = test_body_##id, .timeout_s = (seconds), .hidden = (is_hidden)};   \
        test_add(&self);                                                                           \
    }                                                                                              \
    static void test_body_##id(const struct test_case *test_self __attribute__((unused)))

/* The test ends at the first check that fails. */
#define CHECK(cond)                                                                                \
    do {                                                                                           \
        if (!(cond))                                                                               \
            test_fail(__FILE__, __LINE__, "CHECK(%s)", #cond);                                     \
    } while (0)
#define CHECK_INT(a, b) test_check_int(__FILE__, __LINE__, #a, (intmax_t)(a), #b, (intmax_t)(b))
/* Either may be NULL, which equals NULL only. */
#define CHECK_STR(a, b) test_check_str(__FILE__, __LINE__, #a, (a), #b, (b))
/* n bytes at p against m bytes at q. */
#define CHECK_MEM(p, n, q, m)                                                                      \
    test_check_mem(__FILE__, __LINE__, (struct test_bytes){#p, (p), (n)},                          \
                   (struct test_bytes){#q, (q), (m)})
#define FAIL(...) test_fail(__FILE__, __LINE__, __VA_ARGS__)
/* Ends the test; the reason names what is missing, as in SKIP("no Landlock"). */
#define SKIP(...) test_skip(__VA_ARGS__)

/* Runs a script of sh outside of any session: the wait status. */
int test_sh(const char *script);

/* The scratch directory of this test, also $TEST_TMP and the working directory. */
const char *test_dir(void);

/* The environment variable (NACRE_SPAWN, ...); the test fails when it is not set. */
const char *test_env(const char *name);

void test_add(struct test_case *test);

/* A program may define it to add tests with test_add() when it starts. */
void test_collect(void);

_Noreturn void test_fail(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void test_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void test_check_int(const char *file, int line, const char *text_a, intmax_t a, const char *text_b,
                    intmax_t b);
void test_check_str(const char *file, int line, const char *text_a, const char *a,
                    const char *text_b, const char *b);

struct test_bytes {
    const char *text; /* as the test wrote it */
    const void *p;
    size_t n;
};
void test_check_mem(const char *file, int line, struct test_bytes a, struct test_bytes b);

#endif
