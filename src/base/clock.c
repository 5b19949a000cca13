/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <string.h>
#include <time.h>

enum { MS_PER_DAY = 24 * 60 * 60 * 1000, DAYS_PER_ERA = 146097, DAYS_TO_1970 = 719468 };

static const int64_t first_ms = -62167219200000; /* 0000-01-01T00:00:00.000Z */
static const int64_t last_ms = 253402300799999;  /* 9999-12-31T23:59:59.999Z */

struct date {
    int year, month, day;
};

/*
 * Years are taken to begin in March, so that the leap day comes last; an era is the 400
 * years after which the calendar repeats.
 */
static struct date date_from_days(int64_t days)
{
    days += DAYS_TO_1970;
    int64_t era = (days >= 0 ? days : days - DAYS_PER_ERA + 1) / DAYS_PER_ERA;
    int day_of_era = (int)(days - era * DAYS_PER_ERA);
    int year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int month = (5 * day_of_year + 2) / 153; /* 0 = March */
    return (struct date){
        .year = (int)(era * 400) + year_of_era + (month >= 10),
        .month = month < 10 ? month + 3 : month - 9,
        .day = day_of_year - (153 * month + 2) / 5 + 1,
    };
}

static int64_t days_from_date(struct date date)
{
    int64_t year = date.month <= 2 ? date.year - 1 : date.year;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int year_of_era = (int)(year - era * 400);
    int month = date.month > 2 ? date.month - 3 : date.month + 9;
    int day_of_year = (153 * month + 2) / 5 + date.day - 1;
    int day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * DAYS_PER_ERA + day_of_era - DAYS_TO_1970;
}

static int64_t read_clock(clockid_t clock, int64_t per_second)
{
    struct timespec now;
    if (clock_gettime(clock, &now) < 0)
        return 0; /* not for these two clocks, clock_gettime(2) */
    return (int64_t)now.tv_sec * per_second + now.tv_nsec / (1000000000 / per_second);
}

int64_t clock_mono_ns(void)
{
    return read_clock(CLOCK_MONOTONIC, 1000000000);
}

int64_t clock_wall_ms(void)
{
    return read_clock(CLOCK_REALTIME, 1000);
}

/* Writes n digits and what follows them; returns the place behind. */
static char *put_digits(char *p, int n, int value, char behind)
{
    for (int i = n - 1; i >= 0; i--, value /= 10)
        p[i] = (char)('0' + value % 10);
    p[n] = behind;
    return p + n + 1;
}

char *clock_iso8601(int64_t ms, char buf[CLOCK_ISO8601_SIZE])
{
    if (ms < first_ms)
        ms = first_ms;
    if (ms > last_ms)
        ms = last_ms;
    int64_t days = (ms >= 0 ? ms : ms - MS_PER_DAY + 1) / MS_PER_DAY;
    int rest = (int)(ms - days * MS_PER_DAY);
    struct date date = date_from_days(days);
    char *p = put_digits(buf, 4, date.year, '-');
    p = put_digits(p, 2, date.month, '-');
    p = put_digits(p, 2, date.day, 'T');
    p = put_digits(p, 2, rest / 3600000, ':');
    p = put_digits(p, 2, rest / 60000 % 60, ':');
    p = put_digits(p, 2, rest / 1000 % 60, '.');
    p = put_digits(p, 3, rest % 1000, 'Z');
    *p = '\0';
    return buf;
}

/* Exactly n digits, between min and max; moves *text behind them. */
static bool read_digits(const char **text, int n, int min, int max, int *ret)
{
    int value = 0;
    for (int i = 0; i < n; i++) {
        char c = (*text)[i];
        if (c < '0' || c > '9')
            return false;
        value = value * 10 + (c - '0');
    }
    if (value < min || value > max)
        return false;
    *text += n;
    *ret = value;
    return true;
}

static bool read_char(const char **text, char c)
{
    if (**text != c)
        return false;
    (*text)++;
    return true;
}

static bool read_date(const char **text, int64_t *ret_days)
{
    struct date date;
    if (!read_digits(text, 4, 0, 9999, &date.year) || !read_char(text, '-') ||
        !read_digits(text, 2, 1, 12, &date.month) || !read_char(text, '-') ||
        !read_digits(text, 2, 1, 31, &date.day))
        return false;
    *ret_days = days_from_date(date);
    return date_from_days(*ret_days).day == date.day; /* no 30 February */
}

/* ".123456": milliseconds; nothing is 0. */
static bool read_fraction(const char **text, int *ret_ms)
{
    *ret_ms = 0;
    if (!read_char(text, '.'))
        return true;
    size_t n = strspn(*text, "0123456789");
    if (n == 0 || n > 9)
        return false;
    for (size_t i = 0, unit = 100; i < n; i++, unit /= 10)
        *ret_ms += ((*text)[i] - '0') * (int)unit;
    *text += n;
    return true;
}

/* "Z" or "+hh:mm": minutes east of Greenwich. */
static bool read_zone(const char **text, int *ret_minutes)
{
    *ret_minutes = 0;
    if (read_char(text, 'Z'))
        return true;
    bool west = **text == '-';
    int hours, minutes;
    if ((!west && **text != '+') || !read_char(text, **text) ||
        !read_digits(text, 2, 0, 23, &hours) || !read_char(text, ':') ||
        !read_digits(text, 2, 0, 59, &minutes))
        return false;
    *ret_minutes = (west ? -1 : 1) * (hours * 60 + minutes);
    return true;
}

bool clock_parse_iso8601(const char *text, int64_t *ret_ms)
{
    int64_t days;
    int hour, minute, second, ms, zone;
    if (!read_date(&text, &days) || !read_char(&text, 'T') ||
        !read_digits(&text, 2, 0, 23, &hour) || !read_char(&text, ':') ||
        !read_digits(&text, 2, 0, 59, &minute) || !read_char(&text, ':') ||
        !read_digits(&text, 2, 0, 59, &second) || !read_fraction(&text, &ms) ||
        !read_zone(&text, &zone) || *text != '\0')
        return false;
    *ret_ms = days * MS_PER_DAY + (hour * 60 + minute - zone) * INT64_C(60000) +
              second * INT64_C(1000) + ms;
    return true;
}
