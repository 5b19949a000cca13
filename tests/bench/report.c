/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { ROWS_MAX = 64 };

static struct row rows[ROWS_MAX];
static size_t n_rows;

void report_add(const struct row *row)
{
    if (n_rows == ROWS_MAX)
        fail("more than %d rows", ROWS_MAX);
    rows[n_rows++] = *row;
}

void report_progress(const char *what)
{
    (void)fprintf(stderr, "bench: %s\n", what);
}

static double ratio_of(const struct row *r)
{
    return r->floor > 0 ? r->ours / r->floor : 0;
}

static bool is_kept(const struct row *r)
{
    switch (r->limit) {
    case LIMIT_NONE:
        return true;
    case LIMIT_RATIO_MAX:
        return ratio_of(r) <= r->bound;
    case LIMIT_RATIO_MIN:
        return ratio_of(r) >= r->bound;
    case LIMIT_MAX:
        return r->ours <= r->bound;
    case LIMIT_MIN:
        return r->ours >= r->bound;
    }
    return false;
}

static void format_limit(const struct row *r, char *ret, size_t size)
{
    static const char *const forms[] = {
        [LIMIT_NONE] = "",       [LIMIT_RATIO_MAX] = "<= %.2fx", [LIMIT_RATIO_MIN] = ">= %.2fx",
        [LIMIT_MAX] = "<= %.0f", [LIMIT_MIN] = ">= %.0f",
    };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    (void)snprintf(ret, size, forms[r->limit], r->bound);
#pragma GCC diagnostic pop
}

static void print_table(void)
{
    printf("| %-46s | %-34s | %12s | %12s | %7s | %-9s | |\n", "what", "floor or peer", "floor",
           "ours", "ratio", "limit");
    printf("|---|---|--:|--:|--:|---|---|\n");
    for (size_t i = 0; i < n_rows; i++) {
        const struct row *r = &rows[i];
        char limit[32], floor[32] = "", ratio[32] = "", ours[32] = "";
        format_limit(r, limit, sizeof(limit));
        if (r->peer && r->floor > 0)
            (void)snprintf(floor, sizeof(floor), "%.1f %s", r->floor, r->unit);
        if (r->peer && r->floor > 0 && r->ours > 0)
            (void)snprintf(ratio, sizeof(ratio), "%.2f", ratio_of(r));
        if (r->ours > 0 || r->limit != LIMIT_NONE)
            (void)snprintf(ours, sizeof(ours), "%.1f %s", r->ours, r->unit);
        printf("| %-46s | %-34s | %12s | %12s | %7s | %-9s | %s |\n", r->what,
               r->peer ? r->peer : "", floor, ours, ratio, limit,
               r->limit == LIMIT_NONE ? "" : (is_kept(r) ? "ok" : "OVER"));
    }
}

/* Texts of rows are ours and hold nothing that JSON escapes but quotes and backslashes. */
static void print_text(const char *key, const char *text)
{
    printf("\"%s\": \"", key);
    for (const char *p = text; *p; p++) {
        if (*p == '"' || *p == '\\')
            putchar('\\');
        putchar(*p);
    }
    putchar('"');
}

static void print_json(void)
{
    struct utsname host;
    if (uname(&host) < 0)
        fail("uname");
    printf("{");
    print_text("kernel", host.release);
    printf(", \"cpus\": %ld, \"rows\": [", sysconf(_SC_NPROCESSORS_ONLN));
    for (size_t i = 0; i < n_rows; i++) {
        const struct row *r = &rows[i];
        char limit[32];
        format_limit(r, limit, sizeof(limit));
        printf("%s\n  {", i ? "," : "");
        print_text("what", r->what);
        printf(", ");
        print_text("peer", r->peer ? r->peer : "");
        printf(", ");
        print_text("unit", r->unit);
        printf(", \"floor\": %.3f, \"ours\": %.3f, \"ratio\": %.4f, ", r->floor, r->ours,
               ratio_of(r));
        print_text("limit", limit);
        printf(", \"ok\": %s}", is_kept(r) ? "true" : "false");
    }
    printf("\n]}\n");
}

bool report_print(bool json)
{
    bool all = true;
    if (json)
        print_json();
    else
        print_table();
    for (size_t i = 0; i < n_rows; i++)
        all = all && is_kept(&rows[i]);
    return all;
}

double now_us(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

void samples_init(struct samples *s, size_t max)
{
    *s = (struct samples){.us = malloc(max * sizeof(*s->us)), .max = max};
    if (!s->us)
        fail("no memory for %zu samples", max);
}

void samples_add(struct samples *s, double us)
{
    if (s->n < s->max)
        s->us[s->n++] = us;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double samples_quantile(struct samples *s, double q)
{
    if (s->n == 0)
        return 0;
    qsort(s->us, s->n, sizeof(*s->us), compare);
    return s->us[(size_t)(q * (double)(s->n - 1))];
}

void samples_done(struct samples *s)
{
    free(s->us);
    *s = (struct samples){0};
}

_Noreturn void fail(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)fputs("bench: ", stderr);
    (void)vfprintf(stderr, fmt, args);
    (void)fputc('\n', stderr);
    va_end(args);
    exit(2);
}
