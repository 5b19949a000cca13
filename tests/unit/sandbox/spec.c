/* SPDX-License-Identifier: MIT */
#include "sandbox/spec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"
#include "lib/test.h"

static const char *const argv[] = {"name", "", "two words", NULL};
static const char *const envp[] = {"A=1", "B=", NULL};
static const int targets[] = {0, 1, 2, 7};

static const struct sandbox_spec sample = {.path = "/bin/x",
                                           .cwd = "/tmp",
                                           .argv = argv,
                                           .envp = envp,
                                           .targets = targets,
                                           .n_targets = 4,
                                           .flags = SANDBOX_SETSID | SANDBOX_CTTY,
                                           .umask = 027};

/* Decodes len bytes from a sealed file. */
static int map_bytes(const void *data, size_t len, struct sandbox_block *ret)
{
    int fd = io_memfd("test", data, len);
    CHECK(fd >= 0);
    struct err err = {0};
    int rc = sandbox_block_map(fd, ret, &err);
    CHECK(rc == 0 || err.text[0]);
    (void)close(fd);
    return rc;
}

static void encode(const struct sandbox_spec *spec, struct buf *ret)
{
    CHECK_INT(sandbox_spec_encode(spec, ret, NULL), 0);
}

TEST(a_spec_survives_the_way)
{
    auto_buf struct buf text = BUF_INIT(SANDBOX_SPEC_MAX);
    encode(&sample, &text);
    struct sandbox_block block;
    CHECK_INT(map_bytes(text.data, text.len, &block), 0);
    const struct sandbox_spec *spec = &block.spec;
    CHECK_STR(spec->path, "/bin/x");
    CHECK_STR(spec->cwd, "/tmp");
    for (int i = 0; i < 4; i++) {
        CHECK_STR(spec->argv[i], argv[i]);
        CHECK_INT(spec->targets[i], targets[i]);
    }
    for (int i = 0; i < 3; i++)
        CHECK_STR(spec->envp[i], envp[i]);
    CHECK_INT(spec->n_targets, 4);
    CHECK_INT(spec->flags, SANDBOX_SETSID | SANDBOX_CTTY);
    CHECK_INT(spec->umask, 027);
    sandbox_block_done(&block);
}

TEST(what_is_cut_short_is_refused)
{
    auto_buf struct buf text = BUF_INIT(SANDBOX_SPEC_MAX);
    encode(&sample, &text);
    struct sandbox_block block;
    for (size_t len = 1; len < text.len; len++)
        CHECK_INT(map_bytes(text.data, len, &block), -EPROTO);
    CHECK_INT(buf_append_byte(&text, '\0'), 0); /* and what goes on */
    CHECK_INT(map_bytes(text.data, text.len, &block), -EPROTO);
}

static void flip(struct buf *text, size_t bit)
{
    unsigned char *byte = (unsigned char *)text->data + bit / 8;
    *byte = (unsigned char)(*byte ^ 1U << bit % 8);
}

TEST(no_changed_byte_is_fatal)
{
    auto_buf struct buf text = BUF_INIT(SANDBOX_SPEC_MAX);
    encode(&sample, &text);
    for (size_t bit = 0; bit < 8 * text.len; bit++) {
        struct sandbox_block block;
        flip(&text, bit);
        if (map_bytes(text.data, text.len, &block) == 0) {
            CHECK(block.spec.argv[0]);
            sandbox_block_done(&block);
        }
        flip(&text, bit);
    }
}

TEST(an_unsealed_file_is_refused)
{
    auto_buf struct buf text = BUF_INIT(SANDBOX_SPEC_MAX);
    encode(&sample, &text);
    int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    CHECK_INT(io_write_all(fd, text.data, text.len), 0);
    struct sandbox_block block;
    CHECK_INT(sandbox_block_map(fd, &block, NULL), -EPROTO);
    (void)close(fd);
    CHECK_INT(sandbox_block_map(fd, &block, NULL), -EPROTO);
}

TEST(a_spec_that_makes_no_sense_is_not_encoded)
{
    static const char *const none[] = {NULL};
    static const int twice[] = {3, 3};
    static const int high[] = {70000};
    struct sandbox_spec bad[8];
    for (int i = 0; i < 8; i++)
        bad[i] = sample;
    bad[0].argv = none;
    bad[1].path = "";
    bad[2].targets = twice;
    bad[2].n_targets = 2;
    bad[3].targets = high;
    bad[3].n_targets = 1;
    bad[4].flags = SANDBOX_CTTY;
    bad[5].flags = 1U << 31;
    bad[6].umask = 01000;
    bad[7].umask = -2;
    for (int i = 0; i < 8; i++) {
        auto_buf struct buf text = BUF_INIT(SANDBOX_SPEC_MAX);
        struct err err = {0};
        CHECK_INT(sandbox_spec_encode(&bad[i], &text, &err), -EINVAL);
        CHECK(err.text[0]);
    }
    auto_buf struct buf small = BUF_INIT(20);
    CHECK_INT(sandbox_spec_encode(&sample, &small, NULL), -E2BIG);
}
