/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as what bash prints of its state (the marker between the parts is "@@"), and as a
 * saved state. What is built from the former is a state; what is stripped from the latter never
 * grows. The text of a command is classified on the way.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "fuzz.h"
#include "native/priv.h"

static void require(bool truth)
{
    if (!truth)
        abort();
}

static void build(const char *text, size_t len)
{
    const struct state_rest rest = {.marker = "@@", .cwd = "/a'b", .old = text, .old_len = len};
    struct state_facts facts;
    auto_buf struct buf state = BUF_INIT(STATE_MAX);
    if (native_state_build(text, len, &rest, &state, &facts) < 0)
        return;
    if (!memchr(text, '\0', len))
        require(native_state_check(state.data, state.len, NULL) == 0);
}

static void strip(const char *text, size_t len)
{
    struct state_facts facts;
    auto_buf struct buf once = BUF_INIT(STATE_MAX), twice = BUF_INIT(STATE_MAX);
    native_state_facts(text, len, &facts);
    require(native_state_strip(text, len, true, &once) == 0 && once.len <= len);
    require(native_state_strip(buf_cstr(&once), once.len, true, &twice) == 0);
    require(twice.len <= once.len);
    native_state_facts(buf_cstr(&once), once.len, &facts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = size ? (const char *)data : "";
    if (size > STATE_MAX)
        return 0;
    build(text, size);
    strip(text, size);
    (void)native_may_change_state(text, size);
    (void)native_may_end_shell(text, size);
    (void)native_may_list_traps(text, size);
    return 0;
}
