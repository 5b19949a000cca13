/* SPDX-License-Identifier: MIT */
/*
 * The files of large outputs, all together: how much they take, and which go first.
 *
 * What a store removes along with old results is still counted here until it would be
 * the next to go.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/own.h"
#include "json/write.h"
#include "rt/priv.h"

struct rt_spill {
    char name[COMMAND_ID_MAX];
    uint64_t bytes;
    int64_t age_ns;   /* when it was last changed; only of those that were there at the start */
    struct list link; /* rt.spills */
};

/* What does not look like a command is not ours to remove. */
static const char command_prefix[] = "c_";

/* ---- making room ---- */

void rt_spill_check(const struct rt *rt, const char *id, struct buf *json)
{
    /* A quote within a text is escaped: this is nothing but the field. */
    static const char field[] = "\"spill\":\"";
    char *at = json->len ? memmem(json->data, json->len, field, strlen(field)) : NULL;
    if (!at || (rt->spill_dir >= 0 && faccessat(rt->spill_dir, id, F_OK, 0) == 0))
        return;
    at += strlen(field) - 1;
    const char *end = json->data + json->len, *to = at + 1;
    while (to < end && *to != '"')
        to += *to == '\\' ? 2 : 1;
    if (to >= end)
        return;
    memcpy(at, "null", 4); /* the shortest URI is longer */
    memmove(at + 4, to + 1, (size_t)(end - to - 1));
    buf_truncate(json, json->len - (size_t)(to + 1 - at - 4));
}

/* A result was told once and does not change: what it shows is kept in the place of the files. */
static void keep_shown(struct rt *rt, const char *name)
{
    struct rt_command *rc = map_get(&rt->commands, name);
    if (!rc)
        return;
    struct json_w w;
    if (!rc->fixed.len) {
        buf_init(&rc->fixed, RT_RESULT_MAX);
        json_w_init(&w, &rc->fixed);
        rt_result_write(rc, &w);
        if (json_w_finish(&w) < 0)
            buf_done(&rc->fixed);
    }
    struct capture_log *log = rc->fixed.len ? rt_stored_log(&rc->fixed) : NULL;
    if (!log)
        return;
    capture_log_free(rc->c->log);
    rc->c->log = log;
}

static void remove_oldest(struct rt *rt)
{
    struct rt_spill *spill = list_first(&rt->spills, struct rt_spill, link);
    keep_shown(rt, spill->name);
    (void)capture_log_remove(rt->spill_dir,
                             spill->name); /* what stays is counted at the next start */
    struct rt_command *rc = map_get(&rt->commands, spill->name);
    if (rc)
        rt_spill_check(rt, spill->name, &rc->fixed);
    rt->spill_budget.used -= spill->bytes;
    list_remove(&spill->link);
    free(spill);
}

static void make_room(struct capture_budget *b, uint64_t n)
{
    struct rt *rt = b->ctx;
    while ((b->used > b->max || n > b->max - b->used) && !list_empty(&rt->spills))
        remove_oldest(rt);
}

void rt_spill_add(const struct rt_command *rc)
{
    struct rt *rt = rc->rt;
    const char *name = capture_log_spill_name(rc->c->log);
    if (!name)
        return;
    struct rt_spill *spill = xnew(struct rt_spill);
    memcpy(spill->name, rc->c->id, sizeof(spill->name));
    spill->bytes = capture_log_claimed(rc->c->log);
    list_add_tail(&rt->spills, &spill->link);
}

/* ---- what is there ---- */

/* Adds the bytes of the files in a directory, and when the last of them was changed. */
static void measure(int dirfd, const char *name, struct rt_spill *spill)
{
    int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        own_close(&fd);
        return;
    }
    struct stat st;
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        if (e->d_name[0] == '.' || fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        int64_t at = st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec;
        spill->bytes += (uint64_t)st.st_size;
        spill->age_ns = at > spill->age_ns ? at : spill->age_ns;
    }
    (void)closedir(dir);
}

static int by_age(const void *a, const void *b)
{
    const struct rt_spill *x = *(struct rt_spill *const *)a, *y = *(struct rt_spill *const *)b;
    return (x->age_ns > y->age_ns) - (x->age_ns < y->age_ns);
}

/* All that earlier processes have left. */
static void find_spills(struct rt *rt)
{
    int fd = openat(rt->spill_dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        own_close(&fd);
        return;
    }
    struct rt_spill **found = NULL;
    size_t n = 0;
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        if (strncmp(e->d_name, command_prefix, strlen(command_prefix)) != 0 ||
            strlen(e->d_name) >= COMMAND_ID_MAX)
            continue;
        struct rt_spill *spill = xnew(struct rt_spill);
        memcpy(spill->name, e->d_name, strlen(e->d_name) + 1);
        measure(fd, e->d_name, spill);
        found = xreallocarray(found, n + 1, sizeof(struct rt_spill *));
        found[n++] = spill;
    }
    if (n)
        qsort(found, n, sizeof(struct rt_spill *), by_age);
    for (size_t i = 0; i < n; i++) {
        list_add_tail(&rt->spills, &found[i]->link);
        rt->spill_budget.used += found[i]->bytes;
    }
    free(found);
    (void)closedir(dir);
    make_room(&rt->spill_budget, 0); /* the limit may have been a higher one */
}

int rt_spill_open(struct rt *rt, struct err *err)
{
    rt->spill_budget = (struct capture_budget){
        .max = rt->o.spill_max ? rt->o.spill_max : (uint64_t)RT_SPILL_MIB * 1024 * 1024,
        .make_room = make_room,
        .ctx = rt,
    };
    if (!rt->o.state_dir)
        return 0;
    rt->spill_path = xasprintf("%s/output", rt->o.state_dir);
    int rc = io_mkdir_p(rt->spill_path, 0700, err);
    if (rc < 0)
        return rc;
    rt->spill_dir = open(rt->spill_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (rt->spill_dir < 0)
        return err_set(err, errno, "open '%s'", rt->spill_path);
    find_spills(rt);
    return 0;
}

void rt_spill_close(struct rt *rt)
{
    LIST_FOREACH(link, &rt->spills)
    free(list_entry(link, struct rt_spill, link));
    own_close_fd(&rt->spill_dir);
    free(rt->spill_path);
}
