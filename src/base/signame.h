/* SPDX-License-Identifier: MIT */
/* base/signame - names of signals. */
#ifndef BASE_SIGNAME_H
#define BASE_SIGNAME_H

enum { SIGNAME_SIZE = 16 };

/*
 * The number of "TERM", "SIGTERM", "term", "15", "RTMIN+2", "SIGRTMAX-1"; 0 to
 * 64. -ERR_INVALID if there is no such signal. "0" and "EXIT" are 0.
 */
int signame_parse(const char *text);

/*
 * "SIGTERM" (long) or "TERM" (short) into buf, which is returned. Real-time signals
 * are RTMIN+n or RTMAX-n as in bash; what has no name is its number.
 */
char *signame_long(int sig, char buf[SIGNAME_SIZE]);
char *signame_short(int sig, char buf[SIGNAME_SIZE]);

#endif
