/* SPDX-License-Identifier: MIT */
/* Size, encoding and form of output: section 3F of the acceptance list, a test per row. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/own.h"
#include "capture/plain.h"
#include "capture/query.h"
#include "capture/view.h"
#include "json/read.h"
#include "lib/fixture.h"
#include "lib/test.h"

static size_t own_rss(void)
{
    unsigned long size, resident = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    /* NOLINTNEXTLINE(cert-err34-c): the kernel writes numbers that fit */
    CHECK(f && fscanf(f, "%lu %lu", &size, &resident) == 2);
    (void)fclose(f);
    return resident * 4096;
}

TEST_TIMEOUT(f1_memory_stays_flat, 60)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "yes | head -c 1000000", 0, NULL, "");
    fx_forget(&fx);
    size_t before = own_rss();
    const struct command *c = fx_exec(&fx, "yes | head -c 500000000");
    CHECK_INT(c->exit_code, 0);
    size_t after = own_rss();
    CHECK(after < before + 16UL * 1024 * 1024);
    CHECK_STR(fx_field(&fx, c->id, "bytes.stdout"), "500000000");
    CHECK_STR(fx_field(&fx, c->id, "outputTruncated"), "true");
    fx_close(&fx);
}

TEST_TIMEOUT(f2_files_have_a_cap, 60)
{
    struct fx fx;
    fx_open_with(&fx, &(struct fx_settings){.spills = true});
    const struct command *c = fx_exec(&fx, "echo START; yes | head -c 300000000; echo END");
    CHECK_INT(c->exit_code, 0); /* it was never held up for good */
    CHECK_STR(fx_field(&fx, c->id, "bytes.stdout"), "300000010");
    CHECK_STR(fx_field(&fx, c->id, "outputTruncated"), "true");
    CHECK_STR(fx_field(&fx, c->id, "storageError"), "null");
    const char *uri = fx_field(&fx, c->id, "spill");
    CHECK(strncmp(uri, "file:///", 8) == 0);
    const char *shown = fx_field(&fx, c->id, "stdout");
    CHECK(strncmp(shown, "START\ny\n", 8) == 0);
    CHECK_STR(shown + strlen(shown) - 6, "y\nEND\n");
    CHECK(strstr(shown, "bytes omitted"));
    auto_free char *du = xasprintf("du -sb %s | cut -f1", uri + 7);
    CHECK(fx_number(&fx, fx_exec(&fx, du)) < CAPTURE_SPILL_MAX + CAPTURE_SPILL_MAX / 8);

    /* A command that reads its own log feeds on itself, up to the cap. */
    c = fx_start(&fx, "echo x; yes | head -c 100000; read -r log; tail -n +1 -f $log",
                 &(struct fx_opt){.in_open = true});
    FX_UNTIL(&fx, capture_log_bytes(c->log, CAPTURE_OUTPUT) > 100000);
    auto_free char *line = xasprintf("%s/stdout\n", fx_field(&fx, c->id, "spill") + 7);
    fx_input(&fx, c, line);
    FX_UNTIL(&fx, capture_log_bytes(c->log, CAPTURE_OUTPUT) > 300000);
    fx_stop(&fx, c);
    CHECK_INT(c->state, COMMAND_CANCELLED);
    fx_close(&fx);
}

TEST(f3_head_and_tail_are_kept)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c =
        fx_exec(&fx, "echo START; head -c 20000000 /dev/zero | tr '\\0' A; echo; echo END");
    CHECK_INT(c->exit_code, 0);
    struct capture_view view;
    capture_log_view(c->log, CAPTURE_STDOUT, &view);
    CHECK(view.truncated && view.utf8);
    CHECK_INT(view.total, 20000011);
    CHECK_INT(view.head_len + view.tail_len, 65536);
    CHECK_INT(view.omitted, 20000011 - 65536);
    CHECK_MEM(view.head, 8, "START\nAA", 8);
    CHECK_MEM(view.tail + view.tail_len - 6, 6, "A\nEND\n", 6);
    capture_view_done(&view);
    CHECK_STR(fx_field(&fx, c->id, "omitted.output"), "19934475");
    fx_close(&fx);
}

TEST(f3_cut_between_characters)
{
    struct fx fx;
    fx_open(&fx);
    for (int shift = 0; shift < 3; shift++) {
        auto_free char *text = xasprintf(
            "printf '%.*s'; for i in {1..40000}; do printf '\xe2\x82\xac'; done", shift, "xx");
        const struct command *c = fx_exec(&fx, text);
        CHECK_STR(fx_field(&fx, c->id, "encoding.stdout"), "utf-8");
        CHECK_STR(fx_field(&fx, c->id, "outputTruncated"), "true");
    }
    fx_close(&fx);
}

TEST(f5_a_budget_for_each_stream)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c =
        fx_exec(&fx, "echo first >&2; head -c 10000000 /dev/zero | tr '\\0' A; echo the error >&2");
    CHECK_STR(fx_field(&fx, c->id, "stderr"), "first\nthe error\n");
    CHECK_STR(fx_field(&fx, c->id, "omitted.stderr"), "0");
    CHECK_STR(fx_field(&fx, c->id, "bytes.stdout"), "10000000");
    c = fx_exec(&fx, "echo only; head -c 10000000 /dev/zero | tr '\\0' A >&2; echo line");
    CHECK_STR(fx_field(&fx, c->id, "stdout"), "only\nline\n");
    fx_close(&fx);
}

/* Mounts a small file system there, in a mount namespace of the test's own. */
static void mount_small(const char *path, const char *size)
{
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        FAIL("mkdir %s: %s", path, strerror(errno));
    auto_free char *options = xasprintf("size=%s,mode=700", size);
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("small", path, "tmpfs", 0, options) < 0)
        SKIP("no mount namespace: %s", strerror(errno));
}

TEST(f6_no_room_for_output)
{
    struct fx fx;
    auto_free char *small = xasprintf("%s/small", test_dir());
    mount_small(small, "256k");
    fx_open_with(&fx, &(struct fx_settings){.spills = true, .dir = small});
    const struct command *c =
        fx_exec(&fx, "echo START; yes | head -c 3000000; echo END; echo err >&2; (exit 3)");
    CHECK_INT(c->state, COMMAND_EXITED);
    CHECK_INT(c->exit_code, 3);
    CHECK_STR(fx_field(&fx, c->id, "bytes.stdout"), "3000010");
    CHECK_STR(fx_field(&fx, c->id, "stderr"), "err\n");
    const char *shown = fx_field(&fx, c->id, "stdout");
    CHECK(strncmp(shown, "START\ny\n", 8) == 0);
    CHECK_STR(shown + strlen(shown) - 6, "y\nEND\n");
    CHECK(strstr(fx_field(&fx, c->id, "storageError"), "No space left"));
    fx_close(&fx);
    CHECK_INT(umount(small), 0);
}

/* The directory through which commands and reports go is full. */
TEST(f6_no_room_for_commands)
{
    struct fx fx;
    auto_free char *small = xasprintf("%s/small", test_dir());
    mount_small(small, "256k");
    fx_open_with(&fx, &(struct fx_settings){.dir = small});
    FX_RUN(&fx, "kept=yes", 0, "", "");
    auto_free char *fill = xasprintf("cat /dev/zero >%s/fill 2>/dev/null; echo full", small);
    FX_RUN(&fx, fill, 0, "full\n", "");
    for (int i = 0; i < 3; i++) {
        const struct command *c = fx_exec(&fx, "echo never");
        if (c->state == COMMAND_EXITED && c->exit_code == 0)
            CHECK_STR(fx_out(&fx, c), "never\n");
        else
            CHECK(c->state == COMMAND_SPAWN_FAILED && strstr(c->why, "No space left"));
    }
    auto_free char *file = xasprintf("%s/fill", small);
    CHECK_INT(unlink(file), 0);
    FX_RUN(&fx, "echo ok $kept", 0, "ok yes\n", "");
    fx_close(&fx);
    CHECK_INT(umount(small), 0);
}

TEST(f8_raw_bytes)
{
    static const char bytes[] = "a\n\0\nb\n\377\376";
    enum { N = sizeof(bytes) - 1 };
    struct fx fx;
    fx_open(&fx);
    const struct command *c =
        fx_exec(&fx, "printf 'a\\n\\0\\nb\\n\\377\\376'; printf '\\0\\200' >&2");
    size_t len;
    const char *out = fx_text(&fx, c, CAPTURE_STDOUT, &len);
    CHECK_MEM(out, len, bytes, N);
    const char *err = fx_text(&fx, c, CAPTURE_STDERR, &len);
    CHECK_MEM(err, len, "\0\x80", 2);
    CHECK_STR(fx_field(&fx, c->id, "encoding.stdout"), "base64");
    auto_buf struct buf decoded = BUF_INIT(1024);
    const char *text = fx_field(&fx, c->id, "stdout");
    CHECK_INT(base64_decode(text, strlen(text), &decoded), 0);
    CHECK_MEM(decoded.data, decoded.len, bytes, N);
    CHECK_STR(fx_field(&fx, c->id, "bytes.stdout"), "8");

    /* NUL alone is text that JSON can hold. */
    c = fx_exec(&fx, "printf 'a\\0b'");
    CHECK_STR(fx_field(&fx, c->id, "encoding.stdout"), "utf-8");
    const char *nul = json_str(json_get(fx_result(&fx, c->id), "stdout"), &len);
    CHECK_MEM(nul, len, "a\0b", 3);
    fx_close(&fx);
}

TEST(f10_locale)
{
    struct fx fx;
    CHECK_INT(setenv("LANG", "de_DE.ISO-8859-1", 1), 0);
    CHECK_INT(setenv("LC_ALL", "C", 1), 0);
    fx_open(&fx);
    FX_RUN(&fx, "echo $LANG:$LC_ALL; locale charmap", 0, "C.UTF-8:\nUTF-8\n", "");
    FX_RUN(&fx, "x='\xc3\xa9'; echo ${#x}", 0, "1\n", "");
    FX_RUN(&fx, "export LC_ALL=C; printf '\\351\\n'; x='\xc3\xa9'; echo ${#x}", 0, "\351\n2\n", "");
    fx_close(&fx);
}

static const char *plain(struct fx *fx, const struct command *c, struct buf *ret)
{
    size_t len;
    const char *raw = fx_text(fx, c, CAPTURE_STDOUT, &len);
    CHECK_INT(capture_plain_text(raw, len, ret), 0);
    return buf_cstr(ret);
}

TEST(f11_colours_and_progress)
{
    struct fx fx;
    fx_open(&fx);
    auto_buf struct buf shown = BUF_INIT((size_t)1024 * 1024);
    const struct command *c =
        fx_exec(&fx, "for i in {1..1000}; do printf '\\r\\033[32m%d%%\\033[0m' $i; done; "
                     "printf '\\n\\033]0;title\\007\\033_apc\\033\\\\done\\n'; for i in {1..50}; "
                     "do echo same; done");
    CHECK_STR(plain(&fx, c, &shown),
              "1000%\ndone\nsame\nsame\nsame\n[previous line repeated 47 times]\n");
    /* The raw one is kept. */
    size_t len;
    const char *raw = fx_text(&fx, c, CAPTURE_STDOUT, &len);
    CHECK(len > 9000 && memmem(raw, len, "\r\033[32m7%\033[0m", 12));
    fx_close(&fx);
}

TEST(f12_terminal_queries)
{
    struct fx fx;
    fx_open(&fx);
    struct fx_opt pty = {.background = true, .pty = true};
    const struct command *c =
        fx_exec_opt(&fx, "stty -opost; printf 'a\\033[6nb\\033]11;?\\007c\\033[31md\\033[c'", &pty);
    fx_wait_quiet(&fx, c);
    size_t len;
    const char *raw = fx_text(&fx, c, CAPTURE_STDOUT, &len);
    CHECK_MEM(raw, len, "a\033[6nb\033]11;?\007c\033[31md\033[c", 23);
    for (size_t cut = 1; cut <= len; cut++) {
        struct capture_query *query = capture_query_new();
        auto_buf struct buf left = BUF_INIT(1024);
        for (size_t at = 0; at < len; at += cut)
            CHECK_INT(capture_query_scan(query, raw + at, len - at < cut ? len - at : cut, &left),
                      0);
        CHECK_INT(capture_query_flush(query, &left), 0);
        CHECK_STR(buf_cstr(&left), "abc\033[31md");
        capture_query_free(query);
    }
    fx_close(&fx);
}

TEST(f13_links)
{
    struct fx fx;
    fx_open(&fx);
    auto_buf struct buf shown = BUF_INIT(1024);
    const struct command *c =
        fx_exec(&fx, "printf 'see \\033]8;id=1;https://x.example/a?b\\033\\\\the "
                     "page\\033]8;;\\033\\\\ now\\n'");
    CHECK_STR(plain(&fx, c, &shown), "see the page now\n");
    fx_close(&fx);
}

TEST(f14_exit_codes_of_what_cannot_run)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "nosuchcmd", 127, "", "bash: nosuchcmd: command not found\n");
    const struct command *c = FX_RUN(&fx, ">f; ./f", 126, "", NULL);
    CHECK(strstr(fx_err(&fx, c), "./f: Permission denied"));
    c = FX_RUN(&fx, "./nosuch", 127, "", NULL);
    CHECK(strstr(fx_err(&fx, c), "./nosuch: No such file or directory"));
    c = FX_RUN(&fx, "/", 126, "", NULL);
    CHECK(strstr(fx_err(&fx, c), "Is a directory"));
    c = FX_RUN(&fx, "if", 2, "", NULL);
    CHECK(strstr(fx_err(&fx, c), "syntax error"));
    c = fx_exec_opt(&fx, "nosuchcmd", &(struct fx_opt){.background = true});
    CHECK_INT(c->exit_code, 127);
    CHECK(strstr(fx_err(&fx, c), "nosuchcmd: command not found"));
    fx_close(&fx);
}

TEST(f16_a_prompt_comes_at_once)
{
    struct fx fx;
    fx_open(&fx);
    struct fx_opt pty = {.background = true, .pty = true};
    const struct command *c = fx_start(&fx, "printf 'name? '; read -r x; echo \"hi $x\"", &pty);
    fx_wait_text(&fx, c, CAPTURE_STDOUT, "name? ");
    fx_input(&fx, c, "Ann\n");
    fx_wait(&fx, c);
    CHECK_STR(fx_out(&fx, c), "name? Ann\r\nhi Ann\r\n");
    /* The same over pipes. */
    c = fx_start(&fx, "printf 'name? '; read -r x; echo \"hi $x\"",
                 &(struct fx_opt){.in_open = true});
    fx_wait_text(&fx, c, CAPTURE_STDOUT, "name? ");
    fx_input(&fx, c, "Ann\n");
    fx_wait(&fx, c);
    CHECK_STR(fx_out(&fx, c), "name? hi Ann\n");
    fx_close(&fx);
}

struct waited {
    int end;
    char line[64];
};

static void on_wait_end(enum rt_wait_end end, const char *line, size_t len, void *ctx)
{
    struct waited *w = ctx;
    (void)snprintf(w->line, sizeof(w->line), "%.*s", (int)len, line ? line : "");
    w->end = (int)end;
}

static const struct waited *wait_for(struct fx *fx, const struct command *c, const char *pattern)
{
    static struct waited w;
    w = (struct waited){.end = -1};
    struct rt_wait wait = {.id = c->id,
                           .what = pattern ? RT_WAIT_LOG : RT_WAIT_EXIT,
                           .pattern = pattern,
                           .cb = on_wait_end,
                           .ctx = &w};
    struct rt_waiter *waiter;
    CHECK_INT(rt_wait(fx->rt, &wait, &waiter, NULL), 0);
    FX_UNTIL(fx, w.end >= 0);
    return &w;
}

TEST(f19_one_long_wait_in_place_of_polls)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c = fx_start(
        &fx,
        "echo building; read -r x; printf 'rea'; read -r x; echo 'dy on 80'; read -r x; exit 3",
        &(struct fx_opt){.in_open = true, .background = true});
    CHECK_STR(wait_for(&fx, c, "building")->line, "building");
    fx_input(&fx, c, "\n");
    fx_wait_text(&fx, c, CAPTURE_STDOUT, "rea");
    fx_input(&fx, c, "\n");
    CHECK_STR(wait_for(&fx, c, "ready on")->line, "ready on 80");
    CHECK_STR(wait_for(&fx, c, "ready on")->line, "ready on 80"); /* it is there already */
    fx_input(&fx, c, "\n");
    CHECK_INT(wait_for(&fx, c, "never printed")->end, RT_WAIT_EXITED);
    CHECK_INT(wait_for(&fx, c, NULL)->end, RT_WAIT_MET);
    CHECK_INT(c->exit_code, 3);
    fx_close(&fx);
}
