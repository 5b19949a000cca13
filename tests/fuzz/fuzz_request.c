/* SPDX-License-Identifier: MIT */
/* Reads any bytes as a request in which every field is allowed. */
#include "base/arena.h"
#include "base/err.h"
#include "control/priv.h"
#include "fuzz.h"
#include "json/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena struct arena arena;
    arena_init(&arena, (size_t)1024 * 1024);
    struct json_node *root;
    if (json_parse((const char *)data, size, NULL, &arena, &root, NULL) < 0 ||
        json_type(root) != JSON_OBJECT)
        return 0;
    struct request req = {.op = "fuzz"};
    struct err err = {0};
    int rc = request_read(root, FIELD_BIT(N_FIELDS) - 1, 0, &arena, &req, &err);
    return rc < 0 && !err.code ? 1 : 0; /* a refusal has a reason */
}
