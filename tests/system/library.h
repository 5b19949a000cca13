/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the installed library share. They use its header alone.
 */
#ifndef TESTS_SYSTEM_LIBRARY_H
#define TESTS_SYSTEM_LIBRARY_H

#include <nacre/nacre.h>
#include <string.h>

#include "lib/test.h"

#define OPTIONS(type, ...) (&(const struct type){.size = sizeof(struct type), __VA_ARGS__})

/* The call succeeds; if not, its error is in the report. */
#define OK(call)                                                                                   \
    do {                                                                                           \
        struct nacre_error *error = NULL;                                                          \
        int ok_rc_ = (call);                                                                       \
        if (ok_rc_ < 0)                                                                            \
            FAIL("%s: %d %s", #call, ok_rc_, nacre_error_message(error));                          \
    } while (0)

/* The call fails with this code, and says why. */
#define FAILS(code, call)                                                                          \
    do {                                                                                           \
        struct nacre_error *error = NULL;                                                          \
        CHECK_INT((call), -(code));                                                                \
        CHECK_INT(nacre_error_code(error), (code));                                                \
        CHECK(strlen(nacre_error_message(error)) > 0);                                             \
        nacre_error_free(error);                                                                   \
    } while (0)

static inline struct nacre_session *open_session(struct nacre *n)
{
    struct nacre_session *s = NULL;
    OK(nacre_session_open(n, NULL, &s, &error));
    return s;
}

static inline void end_session(struct nacre_session *s)
{
    OK(nacre_session_close(s, &error));
    nacre_session_free(s);
}

static inline struct nacre_result *run_with(struct nacre_session *s, const char *text,
                                            const struct nacre_exec_options *options)
{
    struct nacre_result *r = NULL;
    OK(nacre_exec(s, text, NACRE_TEXT, options, &r, &error));
    return r;
}

/* Runs a text; its standard output is as expected and its exit code 0. */
static inline void expect(struct nacre_session *s, const char *text, const char *out)
{
    struct nacre_result *r = run_with(s, text, NULL);
    CHECK_STR(nacre_result_stderr(r, NULL), "");
    CHECK_STR(nacre_result_stdout(r, NULL), out);
    CHECK_INT(nacre_result_exit_code(r), 0);
    nacre_result_free(r);
}

#endif
