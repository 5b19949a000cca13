/* SPDX-License-Identifier: MIT */
#include "sandbox/seccomp.h"

#include <assert.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"
#include "base/own.h"
#include "sandbox/seccomp_list.h"

/*
 * A program has two parts. The second, which libseccomp makes, tells calls apart quickly. The first
 * says what libseccomp has no words for: "none of these values", and "a call that nobody knew when
 * the list was made". It falls through to the second.
 */

enum {
    ITEMS_MAX = BPF_MAXINSNS,
    X32_BIT = 0x40000000, /* of the number of an x32 call, and of -1 */
};

static void scmp_free(scmp_filter_ctx ctx)
{
    if (ctx)
        seccomp_release(ctx);
}

DEFINE_AUTO(scmp_filter_ctx, scmp_free)

struct program {
    struct sock_filter items[ITEMS_MAX];
    size_t n_items;
};

static bool applies(const struct sandbox_rule *rule, uint32_t flags)
{
    return !(rule->unless & flags) && (!rule->only || rule->only & flags);
}

static bool has_set(const struct sandbox_rule *rule)
{
    for (int i = 0; i < SANDBOX_RULE_ARGS; i++)
        if (rule->args[i].test == SANDBOX_ARG_NOT_IN)
            return true;
    return false;
}

/* ---- the first part ---- */

static void emit(struct program *program, uint16_t code, uint32_t k)
{
    assert(program->n_items < ITEMS_MAX);
    program->items[program->n_items++] = (struct sock_filter){.code = code, .k = k};
}

/* Jumps if A compares with k; over how many items is up to land(). Returns the place of the jump.
 */
static size_t emit_jump(struct program *program, uint16_t test, uint32_t k)
{
    emit(program, (uint16_t)(BPF_JMP | test | BPF_K), k);
    return program->n_items - 1;
}

/* How many items lie between the jump and the end of the program. */
static uint8_t distance(const struct program *program, size_t jump)
{
    size_t n = program->n_items - jump - 1;
    assert(n <= UINT8_MAX);
    return (uint8_t)n;
}

static void load_number(struct program *program)
{
    emit(program, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
}

/* Machines on which the low half comes first; libseccomp knows no other that we build for. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the low half of an argument comes last");

static void load_arg(struct program *program, const struct sandbox_arg *arg)
{
    emit(program, BPF_LD | BPF_W | BPF_ABS,
         (uint32_t)(offsetof(struct seccomp_data, args) + arg->n * sizeof(uint64_t)));
    emit(program, BPF_ALU | BPF_AND | BPF_K, arg->mask);
}

/* The rule refuses one call unless the last argument it tests is in the set. */
static void emit_rule(struct program *program, int number, const struct sandbox_rule *rule)
{
    enum { JUMPS_MAX = 32 };
    size_t misses[2], hits[JUMPS_MAX]; /* jumps out of the rule: if not equal, if equal */
    size_t n_misses = 0, n_hits = 0;
    load_number(program);
    misses[n_misses++] = emit_jump(program, BPF_JEQ, (uint32_t)number);
    for (int i = 0; i < SANDBOX_RULE_ARGS; i++) {
        const struct sandbox_arg *arg = &rule->args[i];
        if (arg->test == SANDBOX_ARG_NONE)
            continue;
        load_arg(program, arg);
        if (arg->test == SANDBOX_ARG_IS)
            misses[n_misses++] = emit_jump(program, BPF_JEQ, arg->value);
        else
            for (size_t v = 0; v < arg->n_set; v++) {
                assert(arg->test == SANDBOX_ARG_NOT_IN && n_hits < JUMPS_MAX);
                hits[n_hits++] = emit_jump(program, BPF_JEQ, arg->set[v]);
            }
    }
    emit(program, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)rule->error);
    while (n_misses--)
        program->items[misses[n_misses]].jf = distance(program, misses[n_misses]);
    while (n_hits--)
        program->items[hits[n_hits]].jt = distance(program, hits[n_hits]);
}

static void emit_sets(struct program *program, uint32_t flags)
{
    for (size_t i = 0; i < sandbox_n_rules; i++) {
        const struct sandbox_rule *rule = &sandbox_rules[i];
        if (!applies(rule, flags) || !has_set(rule))
            continue;
        for (int c = 0; c < SANDBOX_RULE_CALLS && rule->calls[c]; c++) {
            int number = sandbox_call_number(rule->calls[c]);
            if (number >= 0)
                emit_rule(program, number, rule);
        }
    }
}

static void emit_first_part(struct program *program, uint32_t flags)
{
    emit(program, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    size_t native = emit_jump(program, BPF_JEQ, seccomp_arch_native());
    emit(program, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    program->items[native].jt = distance(program, native);

    load_number(program);
    size_t foreign = emit_jump(program, BPF_JGE, X32_BIT);
    size_t newer = emit_jump(program, BPF_JGT, SANDBOX_LAST_CALL);
    emit(program, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
    program->items[foreign].jt = distance(program, foreign);
    program->items[newer].jf = distance(program, newer);
    emit_sets(program, flags);
}

/* ---- the second part ---- */

/* Adds the call with the tests from args[i] on; one rule of libseccomp for each bit of HAS_ANY. */
static int add_tests(scmp_filter_ctx ctx, const struct sandbox_rule *rule, int number, int i,
                     struct scmp_arg_cmp *tests)
{
    if (i == SANDBOX_RULE_ARGS || rule->args[i].test == SANDBOX_ARG_NONE)
        return seccomp_rule_add_array(ctx, SCMP_ACT_ERRNO((uint32_t)rule->error), number,
                                      (unsigned)i, tests);

    const struct sandbox_arg *arg = &rule->args[i];
    tests[i] = (struct scmp_arg_cmp){.arg = arg->n, .op = SCMP_CMP_MASKED_EQ};
    if (arg->test == SANDBOX_ARG_IS) {
        tests[i].datum_a = arg->mask;
        tests[i].datum_b = arg->value;
        return add_tests(ctx, rule, number, i + 1, tests);
    }
    for (uint32_t bit = 1; bit; bit <<= 1) {
        if (!(arg->mask & bit))
            continue;
        tests[i].datum_a = tests[i].datum_b = bit;
        int rc = add_tests(ctx, rule, number, i + 1, tests);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int add_rule(scmp_filter_ctx ctx, const struct sandbox_rule *rule, struct err *err)
{
    for (int c = 0; c < SANDBOX_RULE_CALLS && rule->calls[c]; c++) {
        int number = sandbox_call_number(rule->calls[c]);
        if (number < 0)
            continue;
        struct scmp_arg_cmp tests[SANDBOX_RULE_ARGS];
        int rc = add_tests(ctx, rule, number, 0, tests);
        if (rc < 0)
            return err_set(err, -rc, "refuse system call %s", rule->calls[c]);
    }
    return 0;
}

/* libseccomp 2.5 writes to a file only. */
static int export(scmp_filter_ctx ctx, struct program *program, struct err *err)
{
    auto_close int fd = memfd_create("filter", MFD_CLOEXEC);
    if (fd < 0)
        return err_set(err, errno, "create a memory file");
    int rc = seccomp_export_bpf(ctx, fd);
    if (rc < 0)
        return err_set(err, -rc, "write the system call filter");
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_set(err, errno, "read the system call filter");
    size_t size = (size_t)st.st_size;
    if (size > (ITEMS_MAX - program->n_items) * sizeof(struct sock_filter))
        return err_set(err, E2BIG, "system call filter");
    ssize_t n = pread(fd, &program->items[program->n_items], size, 0);
    if (n != (ssize_t)size)
        return err_set(err, n < 0 ? errno : EIO, "read the system call filter");
    program->n_items += size / sizeof(struct sock_filter);
    return 0;
}

static int add_second_part(struct program *program, uint32_t flags, struct err *err)
{
    AUTO(scmp_free) scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
    if (!ctx)
        return err_set(err, ENOMEM, "make a system call filter");
    int rc = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (rc == 0)
        rc = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* a binary tree of calls */
    if (rc < 0)
        return err_set(err, -rc, "make a system call filter");
    for (size_t i = 0; i < sandbox_n_rules; i++) {
        const struct sandbox_rule *rule = &sandbox_rules[i];
        if (!applies(rule, flags) || has_set(rule))
            continue;
        rc = add_rule(ctx, rule, err);
        if (rc < 0)
            return rc;
    }
    return export(ctx, program, err);
}

/* ---- */

int sandbox_filter_compile(uint32_t flags, struct sandbox_filter *ret, struct err *err)
{
    if (flags & ~(uint32_t)SANDBOX_FILTER_FLAGS)
        return err_set(err, EINVAL, "system call filter with flags 0x%x", flags);
    struct program program;
    program.n_items = 0;
    emit_first_part(&program, flags);
    int rc = add_second_part(&program, flags, err);
    if (rc < 0)
        return rc;
    size_t size = program.n_items * sizeof(struct sock_filter);
    struct sock_filter *items = malloc(size);
    if (!items)
        return err_set(err, ENOMEM, "make a system call filter");
    memcpy(items, program.items, size);
    *ret = (struct sandbox_filter){.items = items, .n_items = (unsigned short)program.n_items};
    return 0;
}

int sandbox_filter_install(const struct sandbox_filter *filter, struct err *err)
{
    struct sock_fprog program = {.len = filter->n_items, .filter = filter->items};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
        return err_set(err, errno, "install the system call filter");
    return 0;
}

void sandbox_filter_done(struct sandbox_filter *filter)
{
    free(filter->items);
    *filter = (struct sandbox_filter){0};
}
