/* SPDX-License-Identifier: MIT */
#include "base/signame.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/num.h"

enum { RT_MIDDLE = 49 }; /* the last that bash names after RTMIN */

/* By number; further names follow with those. */
static const char *const names[] = {
    "EXIT", "HUP",  "INT",  "QUIT", "ILL",    "TRAP",   "ABRT",  "BUS",  "FPE",  "KILL", "USR1",
    "SEGV", "USR2", "PIPE", "ALRM", "TERM",   "STKFLT", "CHLD",  "CONT", "STOP", "TSTP", "TTIN",
    "TTOU", "URG",  "XCPU", "XFSZ", "VTALRM", "PROF",   "WINCH", "IO",   "PWR",  "SYS",
};

static const struct {
    const char *name;
    int sig;
} aliases[] = {
    {"IOT",  SIGABRT},
    {"CLD",  SIGCHLD},
    {"POLL", SIGIO  },
};

enum { N_NAMES = sizeof(names) / sizeof(names[0]) };
_Static_assert(N_NAMES == SIGSYS + 1, "one name per signal");

/* "RTMIN", "RTMIN+3", "RTMAX-2". */
static int parse_realtime(const char *name)
{
    bool from_min = strncasecmp(name, "RTMIN", 5) == 0;
    if (!from_min && strncasecmp(name, "RTMAX", 5) != 0)
        return -ERR_INVALID;
    int base = from_min ? SIGRTMIN : SIGRTMAX;
    if (name[5] == '\0')
        return base;

    int64_t offset;
    if (name[5] != (from_min ? '+' : '-') ||
        num_parse_i64(name + 6, 0, SIGRTMAX - SIGRTMIN, &offset) < 0)
        return -ERR_INVALID;
    return from_min ? base + (int)offset : base - (int)offset;
}

int signame_parse(const char *text)
{
    int64_t number;
    if (num_parse_i64(text, 0, SIGRTMAX, &number) == 0)
        return (int)number;

    const char *name = strncasecmp(text, "SIG", 3) == 0 ? text + 3 : text;
    for (int i = 0; i < N_NAMES; i++)
        if (strcasecmp(names[i], name) == 0)
            return i;
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
        if (strcasecmp(aliases[i].name, name) == 0)
            return aliases[i].sig;
    return parse_realtime(name);
}

static char *format_name(const char *prefix, int sig, char buf[SIGNAME_SIZE])
{
    if (sig == 0)
        (void)snprintf(buf, SIGNAME_SIZE, "EXIT");
    else if (sig > 0 && sig < N_NAMES)
        (void)snprintf(buf, SIGNAME_SIZE, "%s%s", prefix, names[sig]);
    else if (sig == SIGRTMIN || sig == SIGRTMAX)
        (void)snprintf(buf, SIGNAME_SIZE, "%sRTM%s", prefix, sig == SIGRTMIN ? "IN" : "AX");
    else if (sig > SIGRTMIN && sig <= RT_MIDDLE)
        (void)snprintf(buf, SIGNAME_SIZE, "%sRTMIN+%d", prefix, sig - SIGRTMIN);
    else if (sig > RT_MIDDLE && sig < SIGRTMAX)
        (void)snprintf(buf, SIGNAME_SIZE, "%sRTMAX-%d", prefix, SIGRTMAX - sig);
    else
        (void)snprintf(buf, SIGNAME_SIZE, "%d", sig);
    return buf;
}

char *signame_long(int sig, char buf[SIGNAME_SIZE])
{
    return format_name("SIG", sig, buf);
}

char *signame_short(int sig, char buf[SIGNAME_SIZE])
{
    return format_name("", sig, buf);
}
