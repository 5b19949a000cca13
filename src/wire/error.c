/* SPDX-License-Identifier: MIT */
#include "wire/error.h"

#include <errno.h>

#include "base/buf.h"
#include "base/err.h"
#include "json/read.h"
#include "json/write.h"
#include "wire/frame.h"

void wire_write_error(struct json_w *w, const struct err *err)
{
    json_w_obj(w);
    json_w_kobj(w, "error");
    json_w_kstr(w, "code", err_name(err->code));
    json_w_kstr(w, "message", err->text);
    json_w_obj_end(w);
    json_w_obj_end(w);
}

int wire_put_error(struct buf *b, uint32_t channel, const struct err *err)
{
    size_t start;
    int rc = wire_begin(b, channel, &start);
    if (rc < 0)
        return rc;
    struct json_w w;
    json_w_init(&w, b);
    wire_write_error(&w, err);
    return wire_end(b, start, json_w_finish(&w));
}

int wire_read_error(const struct json_node *error, struct err *err)
{
    const char *name = json_cstr(json_get(error, "code"));
    const char *message = json_cstr(json_get(error, "message"));
    int code = name ? err_from_name(name) : 0;
    return err_set(err, code ? code : ERR_INTERNAL, "%s", message ? message : "unknown error");
}
