/* SPDX-License-Identifier: MIT */
/* Any text as a duration, a size, a number, a signal: what is read is written and read the same. */
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/own.h"
#include "base/signame.h"
#include "base/size.h"
#include "fuzz.h"

static void require(bool truth)
{
    if (!truth)
        abort();
}

static void duration(const char *text)
{
    struct err err = {0};
    char again[DURATION_SIZE];
    int64_t ms, ms_again;
    int rc = duration_parse(text, &ms, &err);
    require((rc < 0) == (err.code != 0));
    if (rc == 0)
        require(duration_parse(duration_format(ms, again), &ms_again, NULL) == 0 && ms == ms_again);
}

static void size_of(const char *text)
{
    struct err err = {0};
    char again[SIZE_TEXT_SIZE];
    uint64_t bytes, bytes_again;
    int rc = size_parse(text, &bytes, &err);
    require((rc < 0) == (err.code != 0));
    if (rc == 0)
        require(size_parse(size_format(bytes, again), &bytes_again, NULL) == 0 &&
                bytes == bytes_again);
}

static void number(const char *text)
{
    int64_t i;
    uint64_t u;
    if (num_parse_i64(text, -1000, 1000, &i) == 0)
        require(i >= -1000 && i <= 1000);
    if (num_parse_u64(text, 1000, &u) == 0)
        require(u <= 1000 && num_parse_i64(text, 0, 1000, &i) == 0 && (uint64_t)i == u);
}

static void signal_name(const char *text)
{
    char name[SIGNAME_SIZE];
    int signo = signame_parse(text);
    if (signo > 0)
        require(signame_parse(signame_long(signo, name)) == signo);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_free char *text = xstrndup((const char *)data, size);
    duration(text);
    size_of(text);
    number(text);
    signal_name(text);
    return 0;
}
