/* SPDX-License-Identifier: MIT */
/*
 * rt/file - a session as JSON: the file that export writes and import reads, and what the store
 * keeps beside the state. docs/session-file.md describes it.
 *
 * Bytes are kept exactly: what is no UTF-8 stands as base64, in fields of its own.
 */
#ifndef RT_FILE_H
#define RT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/list.h"
#include "base/strv.h"

struct err;
struct json_node;
struct json_w;
struct rt_session;

/* Writes the fields that both forms share: cwd, env, snapshots. */
void rt_file_write_common(const struct rt_session *rs, struct json_w *w);
/* Writes `state`, which may be NULL, and its `encoding`. */
void rt_file_write_state(struct json_w *w, const char *state, size_t len);

/* What was read. Texts live in the arena; NULL where the field is absent or null. */
struct rt_file {
    struct arena arena;
    struct json_node *root;
    const char *id, *kind, *tenant, *cwd;
    int64_t created_ms; /* 0: absent */
    struct strv env;
    char *state; /* owned; a file's only, a row has it in a column of its own */
    size_t state_len;
    struct list snapshots; /* rt_snapshot.link */
};

/*
 * Reads a file, or a row of the store. A field of a wrong type is -ERR_INVALID, named with its
 * place ("snapshots[1].state") and with what was expected. ret is to be ended in either case.
 */
int rt_file_read(struct rt_file *ret, const char *json, size_t len, struct err *err);
int rt_file_read_row(struct rt_file *ret, const char *json, size_t len, struct err *err);
void rt_file_done(struct rt_file *file);

#define auto_rt_file __attribute__((cleanup(rt_file_done)))

#endif
