/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "test_priv.h"

enum { STRING_SHOWN = 2000, ROW = 16, SHOWN = 8 * ROW };

static void report_va(const char *fmt, va_list args) __attribute__((format(printf, 1, 0)));

static void report_va(const char *fmt, va_list args)
{
    struct test_verdict *verdict = test_verdict;
    size_t room = sizeof(verdict->report) - verdict->report_len;

    verdict->failed = true;
    int n = vsnprintf(verdict->report + verdict->report_len, room, fmt, args);
    if (n < 0 || (size_t)n + 1 >= room)
        return; /* the report is full: what is there will do */
    verdict->report_len += (size_t)n;
    verdict->report[verdict->report_len++] = '\n';
}

void test_report(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    report_va(fmt, args);
    va_end(args);
}

void test_fail(const char *file, int line, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    test_report("%s:%d: %s", file, line, text);
    _exit(TEST_EXIT_FAILED);
}

void test_skip(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(test_verdict->reason, sizeof(test_verdict->reason), fmt, args);
    va_end(args);
    test_verdict->skipped = true;
    _exit(TEST_EXIT_FAILED);
}

const char *test_env(const char *name)
{
    const char *value = getenv(name);
    if (!value || !*value)
        test_fail(__FILE__, __LINE__, "the environment variable %s is not set", name);
    return value;
}

void test_check_int(const char *file, int line, const char *text_a, intmax_t a, const char *text_b,
                    intmax_t b)
{
    if (a == b)
        return;
    test_fail(file, line, "%s is %" PRIdMAX ", not %s, which is %" PRIdMAX, text_a, a, text_b, b);
}

/* Appends to the n bytes in buf and returns how many there are now; what does not fit is cut. */
static size_t add(char *buf, size_t size, size_t n, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static size_t add(char *buf, size_t size, size_t n, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int added = vsnprintf(buf + n, size - n, fmt, args);
    va_end(args);
    size_t end = n + (added > 0 ? (size_t)added : 0);
    return end < size ? end : size - 1;
}

/* As C would write it, cut to size. */
static const char *quote(const char *s, char *buf, size_t size)
{
    if (!s)
        return "NULL";
    size_t n = add(buf, size, 0, "\"");
    for (; *s && n + 8 < size; s++) {
        if (*s == '\n')
            n = add(buf, size, n, "\\n");
        else if (*s == '"' || *s == '\\')
            n = add(buf, size, n, "\\%c", *s);
        else if ((unsigned char)*s < 0x20 || *s == 0x7f)
            n = add(buf, size, n, "\\x%02x", (unsigned char)*s);
        else
            n = add(buf, size, n, "%c", *s);
    }
    (void)add(buf, size, n, "%s", *s ? "\"..." : "\"");
    return buf;
}

void test_check_str(const char *file, int line, const char *text_a, const char *a,
                    const char *text_b, const char *b)
{
    if (a == b || (a && b && strcmp(a, b) == 0))
        return;

    char quoted_a[STRING_SHOWN], quoted_b[STRING_SHOWN];
    size_t same = 0;
    while (a && b && a[same] == b[same])
        same++;
    test_report("%s:%d: %s is not %s", file, line, text_a, text_b);
    test_report("    is       %s", quote(a, quoted_a, sizeof(quoted_a)));
    test_report("    expected %s", quote(b, quoted_b, sizeof(quoted_b)));
    if (same > 20)
        test_report("    differs from byte %zu on: %s", same,
                    a && b ? quote(a + same, quoted_a, 200) : "");
    _exit(TEST_EXIT_FAILED);
}

static void report_row(const char *label, struct test_bytes bytes, size_t at)
{
    const unsigned char *p = bytes.p;
    char text[ROW * 4 + 8];
    size_t len = 0;
    for (size_t i = at; i < at + ROW; i++)
        len = i < bytes.n ? add(text, sizeof(text), len, "%02x ", p[i])
                          : add(text, sizeof(text), len, "   ");
    for (size_t i = at; i < at + ROW && i < bytes.n; i++)
        len = add(text, sizeof(text), len, "%c", p[i] >= 0x20 && p[i] < 0x7f ? p[i] : '.');
    test_report("    %s %08zx  %s", label, at, text);
}

void test_check_mem(const char *file, int line, struct test_bytes a, struct test_bytes b)
{
    const char *p = a.p, *q = b.p;
    size_t both = a.n < b.n ? a.n : b.n;
    size_t same = 0;
    while (same < both && p[same] == q[same])
        same++;
    if (same == a.n && same == b.n)
        return;

    test_report("%s:%d: %s (%zu bytes) is not %s (%zu bytes): differs from byte %zu on", file, line,
                a.text, a.n, b.text, b.n, same);
    size_t first = same / ROW * ROW;
    for (size_t at = first; at < first + SHOWN && (at < a.n || at < b.n); at += ROW) {
        bool equal = at + ROW <= both && memcmp(p + at, q + at, ROW) == 0;
        report_row(equal ? " " : "-", a, at);
        if (!equal)
            report_row("+", b, at);
    }
    _exit(TEST_EXIT_FAILED);
}

int test_sh(const char *script)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        (void)execl("/bin/sh", "sh", "-c", script, (char *)NULL);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        FAIL("run '%s': %s", script, strerror(errno));
    return status;
}
