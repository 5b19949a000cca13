/* SPDX-License-Identifier: MIT */
#include "sandbox/spec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "sandbox/proto.h"

enum {
    SPEC_MAGIC = 0x6e737031,
    TARGET_MAX = 65535,
    FLAGS_ALL = SANDBOX_SETSID | SANDBOX_CTTY | SANDBOX_PGRP,
    SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE,
};

/* After it: the targets, then path, cwd, argv and envp, each with its NUL. */
struct spec_head {
    uint32_t magic;
    uint32_t flags;
    int32_t umask;
    uint32_t n_targets;
    uint32_t n_argv;
    uint32_t n_envp;
};

static int check_targets(const int *targets, size_t n, struct err *err)
{
    if (n > SANDBOX_TARGETS_MAX)
        return err_set(err, EINVAL, "%zu descriptors, more than %d", n, SANDBOX_TARGETS_MAX);
    for (size_t i = 0; i < n; i++) {
        if (targets[i] < 0 || targets[i] > TARGET_MAX)
            return err_set(err, EINVAL, "descriptor number %d is not in 0..%d", targets[i],
                           TARGET_MAX);
        for (size_t k = 0; k < i; k++)
            if (targets[k] == targets[i])
                return err_set(err, EINVAL, "descriptor number %d is given twice", targets[i]);
    }
    return 0;
}

static int check_spec(const struct sandbox_spec *spec, struct err *err)
{
    if (spec->flags & ~(uint32_t)FLAGS_ALL)
        return err_set(err, EINVAL, "unknown flags 0x%x", spec->flags);
    if (spec->flags & SANDBOX_CTTY && !(spec->flags & SANDBOX_SETSID))
        return err_set(err, EINVAL, "a controlling terminal needs a session of its own");
    if (spec->umask < -1 || spec->umask > 0777)
        return err_set(err, EINVAL, "umask 0%o", (unsigned)spec->umask);
    if (!spec->argv[0])
        return err_set(err, EINVAL, "no argv[0]");
    if (!*spec->path)
        return err_set(err, EINVAL, "the path of the program is empty");
    return check_targets(spec->targets, spec->n_targets, err);
}

static uint32_t count(const char *const *strings)
{
    uint32_t n = 0;
    while (strings[n])
        n++;
    return n;
}

static int append_string(struct buf *ret, const char *text)
{
    return buf_append(ret, text, strlen(text) + 1);
}

static int append_all(struct buf *ret, const struct spec_head *head,
                      const struct sandbox_spec *spec)
{
    int rc = buf_append(ret, head, sizeof(*head));
    if (rc == 0)
        rc = buf_append(ret, spec->targets, spec->n_targets * sizeof(int));
    if (rc == 0)
        rc = append_string(ret, spec->path);
    if (rc == 0)
        rc = append_string(ret, spec->cwd);
    for (size_t i = 0; rc == 0 && spec->argv[i]; i++)
        rc = append_string(ret, spec->argv[i]);
    for (size_t i = 0; rc == 0 && spec->envp[i]; i++)
        rc = append_string(ret, spec->envp[i]);
    return rc;
}

int sandbox_spec_encode(const struct sandbox_spec *spec, struct buf *ret, struct err *err)
{
    int rc = check_spec(spec, err);
    if (rc < 0)
        return rc;
    struct spec_head head = {.magic = SPEC_MAGIC,
                             .flags = spec->flags,
                             .umask = spec->umask,
                             .n_targets = (uint32_t)spec->n_targets,
                             .n_argv = count(spec->argv),
                             .n_envp = count(spec->envp)};
    rc = append_all(ret, &head, spec);
    if (rc == -ERR_LIMIT)
        return err_set(err, E2BIG, "arguments and environment");
    if (rc < 0)
        return err_set(err, -rc, "gather arguments and environment");
    return 0;
}

/* The string at *at, which then moves behind it; NULL if there is no whole one before end. */
static const char *next_string(const char **at, const char *end)
{
    const char *text = *at;
    const char *nul = memchr(text, '\0', (size_t)(end - text));
    if (!nul)
        return NULL;
    *at = nul + 1;
    return text;
}

static bool read_strings(const char **ret, size_t n, const char **at, const char *end)
{
    for (size_t i = 0; i < n; i++) {
        ret[i] = next_string(at, end);
        if (!ret[i])
            return false;
    }
    ret[n] = NULL;
    return true;
}

static int decode(struct sandbox_block *block, struct err *err)
{
    struct spec_head head;
    const char *at = block->map;
    const char *end = at + block->map_len;
    if (block->map_len < sizeof(head))
        return err_set(err, EPROTO, "request of %zu bytes", block->map_len);
    memcpy(&head, at, sizeof(head));
    at += sizeof(head);

    /* A string takes a byte at least, which bounds what is allocated here. */
    size_t left = (size_t)(end - at);
    if (head.magic != SPEC_MAGIC || head.n_targets > left / sizeof(int) || head.n_argv > left ||
        head.n_envp > left)
        return err_set(err, EPROTO, "request with a wrong head");

    struct sandbox_spec *spec = &block->spec;
    block->targets = xnew_n(int, (size_t)head.n_targets + 1);
    memcpy(block->targets, at, head.n_targets * sizeof(int));
    at += head.n_targets * sizeof(int);
    block->strings = xnew_n(const char *, (size_t)head.n_argv + head.n_envp + 2);
    const char **envp = block->strings + head.n_argv + 1;

    spec->path = next_string(&at, end);
    spec->cwd = spec->path ? next_string(&at, end) : NULL;
    if (!spec->cwd || !read_strings(block->strings, head.n_argv, &at, end) ||
        !read_strings(envp, head.n_envp, &at, end) || at != end)
        return err_set(err, EPROTO, "request with wrong strings");
    spec->argv = block->strings;
    spec->envp = envp;
    spec->targets = block->targets;
    spec->n_targets = head.n_targets;
    spec->flags = head.flags;
    spec->umask = head.umask;
    return check_spec(spec, err);
}

int sandbox_block_map(int memfd, struct sandbox_block *ret_block, struct err *err)
{
    int seals = fcntl(memfd, F_GET_SEALS);
    if (seals < 0 || (seals & SEALS) != SEALS)
        return err_set(err, EPROTO, "request that is not sealed");
    struct stat st;
    if (fstat(memfd, &st) < 0)
        return err_set(err, errno, "look at the request");
    if (st.st_size == 0 || st.st_size > SANDBOX_SPEC_MAX)
        return err_set(err, EPROTO, "request of %lld bytes", (long long)st.st_size);
    struct sandbox_block block = {.map_len = (size_t)st.st_size};
    block.map = mmap(NULL, block.map_len, PROT_READ, MAP_PRIVATE | MAP_POPULATE, memfd, 0);
    if (block.map == MAP_FAILED)
        return err_set(err, errno, "map the request");
    int rc = decode(&block, err);
    if (rc < 0) {
        sandbox_block_done(&block);
        return rc;
    }
    *ret_block = block;
    return 0;
}

void sandbox_block_done(struct sandbox_block *block)
{
    if (block->map)
        (void)munmap(block->map, block->map_len);
    free(block->strings);
    free(block->targets);
    *block = (struct sandbox_block){0};
}
