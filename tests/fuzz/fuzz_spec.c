/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the memory file that says how a process is to be started: what the supervisor
 * accepts is encoded again, and accepted as the same.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"
#include "base/own.h"
#include "fuzz.h"
#include "sandbox/spec.h"

enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL };

static void require(bool truth)
{
    if (!truth)
        abort();
}

static int seal(const void *p, size_t n)
{
    int fd = memfd_create("spec", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    require(fd >= 0 && io_write_all(fd, p, n) == 0 && fcntl(fd, F_ADD_SEALS, SEALS) == 0);
    return fd;
}

static void check_same(const struct sandbox_spec *a, const struct sandbox_spec *b)
{
    require(strcmp(a->path, b->path) == 0 && strcmp(a->cwd, b->cwd) == 0);
    require(a->flags == b->flags && a->umask == b->umask && a->n_targets == b->n_targets);
    size_t i = 0;
    for (; a->argv[i] && b->argv[i]; i++)
        require(strcmp(a->argv[i], b->argv[i]) == 0);
    require(!a->argv[i] && !b->argv[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sandbox_block block, again;
    struct err err = {0};
    auto_close int fd = seal(data, size);
    int rc = sandbox_block_map(fd, &block, &err);
    require((rc < 0) == (err.code != 0));
    if (rc < 0)
        return 0;
    auto_buf struct buf bytes = BUF_INIT(SANDBOX_SPEC_MAX);
    if (sandbox_spec_encode(&block.spec, &bytes, NULL) == 0) {
        auto_close int fd_again = seal(bytes.data, bytes.len);
        require(sandbox_block_map(fd_again, &again, NULL) == 0);
        check_same(&block.spec, &again.spec);
        sandbox_block_done(&again);
    }
    sandbox_block_done(&block);
    return 0;
}
