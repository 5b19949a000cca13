/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/mem.h"
#include "base/own.h"
#include "json/read.h"
#include "lib/fixture.h"
#include "lib/test.h"

/* Each of these bytes takes six in JSON. */
TEST_TIMEOUT(the_largest_result_is_stored, 60)
{
    struct fx fx;
    fx_open_with(&fx, &(struct fx_settings){.stored = true});
    size_t len = COMMAND_TEXT_MAX;
    auto_free char *text = xmalloc(len);
    memset(text, 1, len);
    memcpy(text, "head -c65536 /dev/zero | tr '\\0' '\\1' | tee /dev/stderr; : '", 60);
    text[len - 1] = '\'';
    const struct command *c = NULL;
    CHECK_INT(fx_try(&fx, text, len, NULL, &c, NULL), 0);
    fx_wait(&fx, c);
    CHECK_INT(c->exit_code, 0);
    CHECK_STR(fx_field(&fx, c->id, "storageError"), "null");

    auto_free char *id = xstrdup(c->id);
    fx_reopen(&fx);
    size_t got_len = 0;
    const char *got = json_str(json_get(fx_result(&fx, id), "command"), &got_len);
    CHECK_MEM(got, got_len, text, len);
    CHECK_STR(fx_field(&fx, id, "status"), "exited");
    fx_close(&fx);
}
