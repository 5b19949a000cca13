/* SPDX-License-Identifier: MIT */
/* Any bytes as the result object that the library gets from a daemon. */
#include <stdlib.h>

#include "base/err.h"
#include "fuzz.h"
#include "nacre/priv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nacre n = {.refs = 1};
    struct nacre_result *r = NULL;
    struct err err = {0};
    int rc = nacre_result_of_json(&n, (const char *)data, size, &r, &err);
    if ((rc < 0) != (err.code != 0))
        abort(); /* a refusal has a reason */
    if (rc < 0)
        return 0;
    size_t len = 0;
    if (!nacre_result_output(r, &len) || !nacre_result_status_name(r) || !nacre_result_id(r))
        abort();
    nacre_result_free(r);
    return 0;
}
