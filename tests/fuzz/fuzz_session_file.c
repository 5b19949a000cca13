/* SPDX-License-Identifier: MIT */
/*
 * Reads any bytes as a session file, and as a row of the store. What was accepted is written
 * again, and then read as the same.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "fuzz.h"
#include "json/write.h"
#include "rt/file.h"
#include "rt/priv.h"

static void require(bool truth)
{
    if (!truth)
        abort();
}

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void check_same(const struct rt_file *a, const struct rt_file *b)
{
    require(same(a->cwd, b->cwd) && a->env.n == b->env.n);
    require(!a->state == !b->state && a->state_len == b->state_len);
    require(!a->state || memcmp(a->state, b->state, a->state_len) == 0);
    require(list_count(&a->snapshots) == list_count(&b->snapshots));
}

static void write_again(struct rt_file *f, struct buf *json)
{
    struct json_w w;
    struct rt_session rs = {.cwd = (char *)(uintptr_t)f->cwd, .env = f->env};
    list_init(&rs.snapshots);
    LIST_FOREACH(link, &f->snapshots)
    {
        list_remove(link);
        list_add_tail(&rs.snapshots, link);
    }
    json_w_init(&w, json);
    json_w_obj(&w);
    json_w_kint(&w, "nacreSession", 1);
    rt_file_write_common(&rs, &w);
    rt_file_write_state(&w, f->state, f->state_len);
    json_w_obj_end(&w);
    require(json_w_finish(&w) == 0);
    LIST_FOREACH(link, &rs.snapshots)
    {
        list_remove(link);
        list_add_tail(&f->snapshots, link);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = {0};
    auto_rt_file struct rt_file row;
    (void)rt_file_read_row(&row, (const char *)data, size, NULL);

    auto_rt_file struct rt_file f;
    int rc = rt_file_read(&f, (const char *)data, size, &err);
    require((rc < 0) == (err.code != 0)); /* a refusal has a reason */
    if (rc < 0)
        return 0;
    auto_buf struct buf json = BUF_INIT(RT_FILE_MAX);
    write_again(&f, &json);
    auto_rt_file struct rt_file again;
    require(rt_file_read(&again, json.data, json.len, NULL) == 0);
    check_same(&f, &again);
    return 0;
}
