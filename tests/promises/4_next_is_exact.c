/* SPDX-License-Identifier: MIT */
/*
 * Promise 4, to the byte: whatever a command does to its shell, the next one has its own streams
 * and code; so has a background command, and one in the shell that takes the place of this one.
 */
#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/own.h"
#include "lib/fixture.h"
#include "lib/test.h"

struct harm {
    const char *text;
    const char *err; /* what the next command has on stderr; NULL: nothing */
};

static const char any[] = "any";

static void check_ok(struct fx *fx, const struct harm *h, const char *when)
{
    struct fx_opt limit = {.timeout_ms = 10000, .grace_ms = 200};
    const struct command *c = fx_exec_opt(fx, "/bin/echo ok \"$kept\"", &limit);
    const char *out = fx_out(fx, c), *err = fx_err(fx, c), *want = h->err ? h->err : "";
    if (c->state != COMMAND_EXITED || c->exit_code || strcmp(out, "ok yes\n") != 0 ||
        (want != any && strcmp(err, want) != 0))
        FAIL("%s '%.300s': %s, exit code %d, '%s', '%s'; %s", when, h->text,
             command_state_name(c->state), c->exit_code, out, err, c->why ? c->why : "");
}

/* Anything may become of the command itself, within its time. */
static void do_harm(struct fx *fx, const struct harm *h)
{
    struct fx_opt limit = {.timeout_ms = 700, .grace_ms = 100};
    const struct command *c = fx_exec_opt(fx, h->text, &limit);
    CHECK(command_state_is_final(c->state));
    check_ok(fx, h, "after");
    check_ok(fx, h, "once more after");
    c = fx_exec_opt(fx, "/bin/sh -c 'exit 5'", NULL);
    if (c->exit_code != 5)
        FAIL("after '%s': exit code %d instead of 5", h->text, c->exit_code);
    struct fx_opt in_background = {.background = true, .timeout_ms = 10000};
    c = fx_exec_opt(fx, "/bin/echo background \"$kept\"; /bin/sh -c \"exit 6\"", &in_background);
    if (c->exit_code != 6 || strcmp(fx_out(fx, c), "background yes\n") != 0)
        FAIL("in the background after '%s': exit code %d, '%s', '%s'", h->text, c->exit_code,
             fx_out(fx, c), fx_err(fx, c));
    (void)fx_exec_opt(fx, "kill -9 $$", &limit);
    check_ok(fx, h, "in a new shell after");
}

static void check_harms(const struct harm *harms, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct fx fx;
        fx_open(&fx);
        FX_RUN(&fx, "kept=yes", 0, "", "");
        do_harm(&fx, &harms[i]);
        fx_close(&fx);
    }
}
#define CHECK_HARMS(harms) check_harms(harms, sizeof(harms) / sizeof((harms)[0]))

/* A text with each word of a list in the place of '@'. */
static void check_words(const char *pattern, const char *words, const char *err)
{
    auto_free char *list = xstrdup(words);
    char *rest = NULL;
    for (char *word = strtok_r(list, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char text[512];
        size_t n = 0;
        for (const char *p = pattern; *p && n < sizeof(text) - 64; p++) {
            if (*p == '@')
                n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", word);
            else
                text[n++] = *p;
        }
        text[n] = '\0';
        struct harm harm = {text, err};
        check_harms(&harm, 1);
    }
}

TEST_TIMEOUT(builtins_taken_away, 60)
{
    check_words("@() { return 9; }", "builtin printf exit . : return local", NULL);
    check_words("enable -n @", "builtin . enable", NULL);
    check_words("alias @='false #'", "builtin trap . { case [[ function", NULL);
    static const struct harm harms[] = {
        {"eval 'buil''tin() { :; }'",             NULL},
        {"shopt -u expand_aliases sourcepath",    NULL},
        {"unset() { :; }; builtin() { exit 1; }", NULL},
    };
    CHECK_HARMS(harms);
}

TEST_TIMEOUT(options, 120)
{
    static const struct harm harms[] = {
        {"set -x",                                        "++ /bin/echo ok yes\n"                        },
        {"set -v",                                        "/bin/echo ok \"$kept\"\n"                     },
        {"set -xv",                                       "/bin/echo ok \"$kept\"\n++ /bin/echo ok yes\n"},
        {"PS4='$(exit 2)+ '; set -x",                     "++ /bin/echo ok yes\n"                        },
        {"PS4='$(echo x >&2; kill -9 $BASHPID)'; set -x", any                                            },
        {"set -r",                                        NULL                                           },
        {"shopt -s extdebug; trap false DEBUG",           NULL                                           },
        {"set -euo pipefail; set -EfCakhBHbPT",           NULL                                           },
        {"set +hBP; set -o ignoreeof -o history",         NULL                                           },
        {"shopt -s checkjobs huponexit; sleep 600 &",     NULL                                           },
        {"shopt -s $(shopt | cut -f1)",                   any                                            },
        {"shopt -u $(shopt | cut -f1)",                   NULL                                           },
    };
    CHECK_HARMS(harms);
    check_words("set -@", "u e n t k T m", NULL);
    check_words("set -o @", "posix history onecmd", NULL);
}

TEST_TIMEOUT(what_runs_between_commands, 120)
{
    check_words("PROMPT_COMMAND='@'", "exit echo ( fi false", NULL);
    static const struct harm harms[] = {
        {"PROMPT_COMMAND='sleep 600'",                                           NULL},
        {"PROMPT_COMMAND=('echo 1' 'exit 2')",                                   NULL},
        {"PROMPT_COMMAND='printf junk; printf junk >&2; read x'",                NULL},
        {"readonly PROMPT_COMMAND='exit 3'",                                     NULL},
        {"PS0='$(exit 3)$(echo junk)' PS1='$(exit 4)' PS2='$(kill -9 $$)'",      NULL},
        {"PS1='$(sleep 600)'",                                                   NULL},
        {"PS1=$'a\\0b\\n\\n'; PS0=$'\\e[2J'",                                    NULL},
        {"trap 'echo debug >/dev/null' DEBUG",                                   NULL},
        {"trap 'exit 3' DEBUG",                                                  NULL},
        {"trap 'echo return' RETURN",                                            any },
        {"trap 'echo bye; sleep 600' EXIT",                                      NULL},
        {"trap 'kill -9 $$' EXIT; exit 1",                                       NULL},
        {"trap '(' USR1 EXIT; kill -USR1 $$",                                    any },
        {"for i in {1..64}; do trap '' $i; done 2>/dev/null",                    NULL},
        {"for i in {1..64}; do trap 'echo got >/dev/null' $i; done 2>/dev/null", NULL},
        {"complete -C false -D; bind 'x: self-insert' 2>/dev/null",              NULL},
    };
    CHECK_HARMS(harms);
}

/* A shell that logs its user out for want of commands. */
TEST(idle_too_long)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "kept=yes; TMOUT=1", 0, "", "");
    double from = fx_seconds();
    FX_UNTIL(&fx, fx_seconds() - from > 1.3);
    check_ok(&fx, &(struct harm){"TMOUT=1", NULL}, "long after");
    fx_close(&fx);
}

TEST_TIMEOUT(descriptors, 60)
{
    static const struct harm harms[] = {
        {"exec 0<&-",                                              NULL},
        {"exec 1>&-",                                              NULL},
        {"exec 2>&-",                                              NULL},
        {"exec 0<&- 1>&- 2>&-",                                    NULL},
        {"for i in {3..255}; do eval \"exec $i>&-\"; done",        NULL},
        {"for i in {0..255}; do eval \"exec $i>&-\"; done",        NULL},
        {"for i in {3..255}; do eval \"exec $i</dev/null\"; done", NULL},
        {"exec 255<&- 10<&- 11>&- 12>&-",                          NULL},
        {"exec >file 2>&1 <file",                                  NULL},
        {"exec >/dev/full",                                        NULL},
        {"exec 1<&0 0>&2 2<&1",                                    NULL},
        {"exec 3>&1 4>&2 5<&0 6<>file",                            NULL},
        {"coproc cat",                                             NULL},
        {"coproc { exec >&- 2>&-; sleep 600; }",                   NULL},
        {"exec 3< <(sleep 600) 4> >(cat)",                         NULL},
        {"cat <&10 >/dev/null",                                    NULL},
        {"while read -r -u 10 line; do :; done",                   NULL},
        {"printf 'echo injected\\n' >/proc/$$/fd/0",               NULL},
    };
    CHECK_HARMS(harms);
}

TEST_TIMEOUT(processes, 60)
{
    static const struct harm harms[] = {
        {"sleep 600 & disown; sleep 600 & sleep 600 & disown -h",        NULL},
        {"set -m; sleep 600 & sleep 600 | sleep 600 & fg %9",            NULL},
        {"set -m; sleep 600 & kill -STOP %1; wait -n",                   NULL},
        {"suspend -f",                                                   NULL},
        {"logout; exit 4",                                               NULL},
        {"exec bash",                                                    NULL},
        {"exec cat",                                                     NULL},
        {"bash -i",                                                      NULL},
        {"return 3",                                                     NULL},
        {"break; continue; shift 99; getopts a b",                       NULL},
        {"kill -STOP $$",                                                NULL},
        {"(sleep .05; kill -9 $$) & wait",                               NULL},
        {"kill -INT $$; kill -QUIT $$; kill -TERM $$; kill -HUP $$",     NULL},
        {"kill -SEGV $$",                                                NULL},
        {"trap - PIPE; kill -PIPE $$",                                   NULL},
        {"f() { f; }; f",                                                NULL},
        {"nice -n 19 true; renice -n 19 $$ >/dev/null; chrt -i -p 0 $$", NULL},
    };
    CHECK_HARMS(harms);
}

/* What a session is opened with can be as odd as what its commands do. */
TEST_TIMEOUT(an_odd_environment, 60)
{
    static const char *const odd[] = {
        "PATH=",
        "IFS=abc",
        "POSIXLY_CORRECT=1",
        "ENV=/nosuch",
        "BASH_ENV=/nosuch",
        "SHELLOPTS=errexit:nounset:noclobber",
        "BASHOPTS=extdebug:failglob",
        "PS4=$(exit 3)",
        "PROMPT_COMMAND=exit 3",
        "TMOUT=1",
        "HOME=",
        "LC_ALL=nosuch",
        "BASH_XTRACEFD=1",
        "LINENO=x",
        "PWD=/nosuch",
        "SHLVL=999999",
        "FUNCNEST=1",
        "HISTFILE=/nosuch",
        "TERM=",
    };
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        struct fx fx;
        fx_open_with(&fx, &(struct fx_settings){
                              .env = (const char *const[]){odd[i], "kept=yes", NULL}
        });
        struct harm harm = {odd[i], any};
        /* Before there is a saved state, too. */
        struct fx_opt opt = {.background = true, .cwd = "/usr"};
        const struct command *c = fx_exec_opt(&fx, "/bin/echo $kept; pwd", &opt);
        if (strcmp(fx_out(&fx, c), "yes\n/usr\n") != 0)
            FAIL("in the background with %s: '%s', '%s'", odd[i], fx_out(&fx, c), fx_err(&fx, c));
        check_ok(&fx, &harm, "with");
        do_harm(&fx, &harm);
        fx_close(&fx);
    }
}

static void mount_small_disk(const char *dir)
{
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        SKIP("no mount namespace: %s", strerror(errno));
    CHECK_INT(mkdir(dir, 0700), 0);
    if (mount("small", dir, "tmpfs", 0, "size=256k,nr_inodes=64") < 0)
        SKIP("no tmpfs: %s", strerror(errno));
}

TEST(a_full_disk)
{
    struct fx fx;
    auto_free char *dir = xasprintf("%s/small", test_dir());
    auto_free char *fill = xasprintf("%s/fill", dir);
    mount_small_disk(dir);
    fx_open_with(&fx, &(struct fx_settings){.dir = dir});
    FX_RUN(&fx, "kept=yes; f() { echo f; }", 0, "", "");
    auto_free char *text = xasprintf(
        "cat /dev/zero >%s 2>/dev/null; for i in {1..99}; do >%s$i; done 2>/dev/null", fill, fill);
    (void)fx_exec(&fx, text);
    /* A text may not fit any more: then it is refused with the reason, and the next is not. */
    const struct command *c = fx_exec(&fx, "x=1; echo ok $kept");
    if (c->state == COMMAND_SPAWN_FAILED)
        CHECK(strstr(c->why, "No space left on device"));
    else
        CHECK_STR(fx_out(&fx, c), "ok yes\n");
    c = fx_exec(&fx, "head -c 200000 /dev/zero | tr '\\0' x; exit 3");
    CHECK(command_state_is_final(c->state));
    CHECK_INT(unlink(fill), 0);
    for (int i = 1; i < 100; i++) {
        auto_free char *one = xasprintf("%s%d", fill, i);
        (void)unlink(one); /* as far as they could be made */
    }
    FX_RUN(&fx, "echo ok $kept; f; y=2", 0, "ok yes\nf\n", "");
    FX_RUN(&fx, "exit 3", 3, "", "");
    FX_RUN(&fx, "echo ok $kept $y; f", 0, "ok yes 2\nf\n", "");
    fx_close(&fx);
    CHECK_INT(umount2(dir, MNT_DETACH), 0);
}

/* Root may read what nobody may. */
TEST(a_umask_that_shuts_out_its_owner)
{
    struct fx fx;
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct caps[2];
    CHECK_INT(syscall(SYS_capget, &header, caps), 0);
    caps[0].effective &= ~(1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH);
    caps[0].permitted &= ~(1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH);
    CHECK_INT(syscall(SYS_capset, &header, caps), 0);
    CHECK_INT(prctl(PR_SET_SECUREBITS, SECBIT_NOROOT, 0, 0, 0) == 0 || geteuid() != 0, 1);
    fx_open(&fx);
    FX_RUN(&fx, "umask 777; kept=yes", 0, "", "");
    FX_RUN(&fx, "x=1; cd /usr; exit 3", 3, "", "");
    FX_RUN(&fx, "echo $kept $x $PWD; umask", 0, "yes 1 /usr\n0777\n", "");
    struct fx_opt own = {
        .env = (const char *const[]){"x=own", NULL}
    };
    CHECK_STR(fx_out(&fx, fx_exec_opt(&fx, "echo $x", &own)), "own\n");
    FX_RUN(&fx, "echo $x builtin", 0, "1 builtin\n", "");
    fx_close(&fx);
}
