/* SPDX-License-Identifier: MIT */
#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void die_of_hunger(size_t size)
{
    char line[64];
    int len = snprintf(line, sizeof(line), "out of memory: %zu bytes\n", size);
    ssize_t n = write(STDERR_FILENO, line, (size_t)len);
    (void)n; /* nothing is left to be done about it */
    abort();
}

static mem_oom_fn oom_handler = die_of_hunger;

/* Calls the handler; one that returns breaks its contract. */
static _Noreturn void run_out(size_t size)
{
    oom_handler(size);
    abort();
}

mem_oom_fn mem_set_oom_handler(mem_oom_fn handler)
{
    mem_oom_fn before = oom_handler;
    oom_handler = handler ? handler : die_of_hunger;
    return before;
}

void *xmalloc(size_t size)
{
    void *p = malloc(size ? size : 1);
    if (!p)
        run_out(size);
    return p;
}

void *xcalloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);
    if (!p)
        run_out(size && n > SIZE_MAX / size ? SIZE_MAX : n * size);
    return p;
}

void *xrealloc(void *p, size_t size)
{
    void *moved = realloc(p, size ? size : 1);
    if (!moved)
        run_out(size);
    return moved;
}

void *xreallocarray(void *p, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size)
        run_out(SIZE_MAX);
    return xrealloc(p, n * size);
}

void *xmemdup(const void *data, size_t len)
{
    if (len == SIZE_MAX)
        run_out(len);
    char *copy = xmalloc(len + 1);
    if (len)
        memcpy(copy, data, len);
    copy[len] = '\0';
    return copy;
}

char *xstrdup(const char *text)
{
    return xmemdup(text, strlen(text));
}

char *xstrndup(const char *text, size_t len)
{
    return xmemdup(text, strnlen(text, len));
}

char *xvasprintf(const char *fmt, va_list args)
{
    char *text;
    if (vasprintf(&text, fmt, args) < 0)
        run_out(0);
    return text;
}

char *xasprintf(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *text = xvasprintf(fmt, args);
    va_end(args);
    return text;
}
