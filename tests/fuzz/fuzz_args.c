/* SPDX-License-Identifier: MIT */
/* Each line is a word of the command line of `nacre`. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "cli/args.h"
#include "cli/verbs.h"
#include "fuzz.h"

enum { WORDS_MAX = 32 };

static void require(bool truth)
{
    if (!truth)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_free char *text = xstrndup((const char *)data, size);
    char *words[WORDS_MAX + 1];
    size_t n = 0;
    for (char *p = text; p && n < WORDS_MAX;)
        words[n++] = strsep(&p, "\n");
    words[n] = NULL;

    struct cli_args args = {0};
    struct err err = {0};
    int rc = cli_args_parse(cli_verbs, words, &args, &err);
    require((rc < 0) == (err.code != 0)); /* a refusal has a reason */
    if (rc == 0 && args.verb && !args.help) {
        require(args.n_operands >= (size_t)args.verb->min);
        require(args.timeout_ms >= 0 && args.grace_ms >= 0 && args.yield_ms >= 0);
    }
    cli_args_done(&args);
    return 0;
}
