/* SPDX-License-Identifier: MIT */
#include "base/mem.h"

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own.h"
#include "lib/test.h"

static jmp_buf out;
static size_t size_asked;

static void note_size(size_t size)
{
    size_asked = size;
    longjmp(out, 1);
}

TEST(objects_are_zeroed)
{
    struct pair {
        long a, b;
    };
    auto_free struct pair *one = xnew(struct pair);
    auto_free struct pair *many = xnew_n(struct pair, 100);
    CHECK(one->a == 0 && one->b == 0 && many[99].b == 0);
}

TEST(size_zero_is_an_object_too)
{
    auto_free void *a = xmalloc(0);
    auto_free void *b = xcalloc(0, 8);
    auto_free void *c = xcalloc(8, 0);
    void *d = xrealloc(NULL, 0);
    d = xrealloc(d, 0);
    CHECK(a && b && c && d);
    free(d);
}

TEST(strings_are_copied)
{
    auto_free char *a = xstrdup("abc");
    auto_free char *b = xstrndup("abcdef", 3);
    auto_free char *c = xstrndup("ab", 10);
    auto_free char *d = xmemdup("a\0b", 3);
    auto_free char *e = xmemdup(NULL, 0);
    auto_free char *f = xasprintf("%d-%s", 12, "x");
    CHECK_STR(a, "abc");
    CHECK_STR(b, "abc");
    CHECK_STR(c, "ab");
    CHECK_MEM(d, 4, "a\0b\0", 4);
    CHECK_STR(e, "");
    CHECK_STR(f, "12-x");
}

TEST(realloc_keeps_the_content)
{
    int *numbers = xreallocarray(NULL, 4, sizeof(*numbers));
    for (int i = 0; i < 4; i++)
        numbers[i] = i;
    numbers = xreallocarray(numbers, 4000, sizeof(*numbers));
    CHECK_INT(numbers[3], 3);
    free(numbers);
}

TEST(overflow_of_a_product_is_out_of_memory)
{
    volatile size_t huge = SIZE_MAX; /* unknown to the compiler, which would warn */
    mem_oom_fn before = mem_set_oom_handler(note_size);
    if (setjmp(out) == 0)
        FAIL("got %p", xreallocarray(NULL, huge / 2, 4));
    CHECK(size_asked == SIZE_MAX);
    if (setjmp(out) == 0)
        FAIL("got %p", xmemdup("", huge));
    CHECK(size_asked == SIZE_MAX);
    CHECK(mem_set_oom_handler(before) == note_size);
}

TEST(null_sets_the_default_handler)
{
    mem_oom_fn standard = mem_set_oom_handler(note_size);
    CHECK(mem_set_oom_handler(NULL) == note_size);
    CHECK(mem_set_oom_handler(standard) == standard);
}

TEST(default_handler_says_why_and_aborts)
{
    int fds[2];
    CHECK_INT(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(fds[1], STDERR_FILENO);
        mem_oom_fn handler = mem_set_oom_handler(NULL);
        handler(12345);
        _exit(0);
    }
    (void)close(fds[1]);
    char line[100] = "";
    CHECK(read(fds[0], line, sizeof(line) - 1) > 0);
    (void)close(fds[0]);
    int status;
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    CHECK_STR(line, "out of memory: 12345 bytes\n");
}
