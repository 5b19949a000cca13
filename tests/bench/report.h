/* SPDX-License-Identifier: MIT */
/*
 * report - the figures of a benchmark run, as a table for people or as JSON.
 *
 * A row compares what nacre takes with a floor: the least that a bare program needs
 * for the same on this machine, measured in turns with ours in the same run. Limits
 * are on the ratio, so that they hold on a slow machine as well.
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdbool.h>
#include <stddef.h>

enum limit {
    LIMIT_NONE,
    LIMIT_RATIO_MAX, /* ours / floor at most */
    LIMIT_RATIO_MIN, /* ours / floor at least */
    LIMIT_MAX,       /* ours at most */
    LIMIT_MIN,       /* ours at least */
};

/* Texts are static. */
struct row {
    const char *what;
    const char *peer; /* what the floor is; NULL: there is none */
    const char *unit;
    double floor;
    double ours;
    enum limit limit;
    double bound;
};

/* Adds a row. */
void report_add(const struct row *row);

/* Says what is being done, on stderr. */
void report_progress(const char *what);

/* Prints all rows; returns whether every limit was kept. */
bool report_print(bool json);

/* ---- samples ---- */

double now_us(void);

struct samples {
    double *us;
    size_t n, max;
};

void samples_init(struct samples *s, size_t max);
void samples_add(struct samples *s, double us);
/* The q-th part (0.5: the median); sorts. 0 if there are none. */
double samples_quantile(struct samples *s, double q);
void samples_done(struct samples *s);

/* Ends the program with a message: a benchmark that cannot run has no figures. */
_Noreturn void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
