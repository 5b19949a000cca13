/* SPDX-License-Identifier: MIT */
/* Promise 3: state lasts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/own.h"
#include "lib/fixture.h"
#include "lib/test.h"

/* Every kind of state that a shell has. */
static const char everything[] =
    "mkdir -p 'odd dir/\xc3\xa9 $x'; cd 'odd dir/\xc3\xa9 $x'\n"
    "plain='a b  c'; empty=; unset nothing; odd=$'tab\\t nl\\n quote\\' dq\" \\\\ $x `y` \\001 "
    "\\377'\n"
    "export exported='e x'; declare -x also_exported; declare -i int=7; declare -r ro='read only'\n"
    "declare -l lower=ABC; declare -u upper=abc; declare -ix both=3\n"
    "arr=(one 'two 2' '' $'nl\\n' [7]=seven); declare -a empty_arr=(); declare -ai ints=(1 2+3)\n"
    "declare -A map=([key]=value ['odd key']='odd value' [$'n\\nl']=x ['a]b']=c); declare -A "
    "empty_map\n"
    "declare -n ref=plain; declare -r -a ro_arr=(x y)\n"
    "f() { local a=$1; echo \"f $a\"; return 3; }\n"
    "g() { cat <<E\nhere $1\nE\n}\n"
    "h-i.j() { for i in 1 2; do case $i in 1) echo one;; *) :;; esac; done; }\n"
    "function k { [[ $1 =~ ^a+$ ]] && echo \"${BASH_REMATCH[0]}\" || echo 'it'\\''s'; }\n"
    "exported_f() { echo ef; }; export -f exported_f; ro_f() { :; }; readonly -f ro_f\n"
    "traced() { :; }; declare -ft traced\n"
    "alias ll='ls -l' odd_alias='echo '\\''q'\\'' \"d\" $x' nl_alias=$'echo a\\nalias b=c' "
    "trail='echo '\n"
    "set -o pipefail -o noclobber; set -f +B; set -k\n"
    "shopt -s extglob nullglob dotglob globstar; shopt -u sourcepath checkwinsize\n"
    "umask 027; ulimit -S -n 200; ulimit -S -c 0; ulimit -S -t 3600\n"
    "trap 'echo usr1' USR1; trap '' USR2; trap 'echo \"q'\\''q\"' TERM; trap $'echo a\\ntrap -- b' "
    "HUP\n"
    "set -- first 'second arg' '' $'third\\n'\n"
    "OPTIND=3; IFS=,; PS4='> '; HISTSIZE=10; CDPATH=/tmp; GLOBIGNORE=x:y; TZ=UTC\n";

/* All of it, printed so that two dumps can be compared. */
static const char dump[] =
    "\\builtin declare -p | \\command grep -vE '^declare -[^ ]* (BASH|BASHPID|BASH_[A-Z]*|BASHOPTS|"
    "DIRSTACK|EPOCH[A-Z]*|FUNCNAME|GROUPS|HISTCMD|LINENO|PIPESTATUS|PPID|RANDOM|SECONDS|SRANDOM|_|"
    "OLDPWD|COMP_WORDBREAKS)(=|$)'\n"
    "\\builtin declare -f; \\builtin declare -F; \\builtin alias; \\builtin shopt; \\builtin set "
    "+o\n"
    "\\builtin umask; \\builtin ulimit -Sn; \\builtin ulimit -Sc; \\builtin ulimit -St; \\builtin "
    "ulimit -Hn\n"
    "\\builtin trap; \\builtin pwd; \\builtin printf '[%q]' \"$@\"; \\builtin echo $#\n"
    "\\builtin echo \"$OPTIND $IFS $-\"";

static const char *dump_of(struct fx *fx)
{
    const struct command *c = fx_exec(fx, dump);
    CHECK_INT(c->exit_code, 0);
    CHECK_STR(fx_err(fx, c), "");
    return fx_out(fx, c);
}

/* Reports the first line that differs. */
static void check_same(const char *file_a, const char *file_b, const char *what)
{
    const char *a = file_a, *b = file_b;
    while (*a || *b) {
        size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");
        if (n != m || memcmp(a, b, n) != 0)
            FAIL("after '%s' the state differs:\n  was %.*s\n  is  %.*s", what, (int)n, a, (int)m,
                 b);
        a += n + (a[n] == '\n');
        b += m + (b[m] == '\n');
    }
}

/* Commands that end the shell, and how they end. */
static const struct {
    const char *text;
    int code;
    int signal;
    const char *out;
} ends[] = {
    {"exit 3",                                            3,   0,  ""     },
    {"echo out; exit 3",                                  3,   0,  "out\n"},
    {"set -e; false; echo not",                           1,   0,  ""     },
    {"exec true",                                         0,   0,  ""     },
    {"exec sh -c 'echo ex; exit 4'",                      4,   0,  "ex\n" },
    {"kill -9 $$",                                        137, 9,  ""     },
    {"echo a; kill -9 $$; echo b",                        137, 9,  "a\n"  },
    {"kill -SEGV $$; sleep 5",                            139, 11, ""     },
    {"exec nosuchprogram_",                               127, 0,  ""     },
    {"eval 'exit 5'",                                     5,   0,  ""     },
    {"f_() { exit 6; }; f_; echo not",                    6,   0,  ""     },
    {"trap 'exit 7' USR2; kill -USR2 $$; :",              7,   0,  ""     },
    {"(exit 8); exit",                                    8,   0,  ""     },
    {"exit 9 & exit 9",                                   9,   0,  ""     },
    {"set -e; (exit 10)",                                 10,  0,  ""     },
    {"readonly r_=1; exit 11",                            11,  0,  ""     },
    {"exit 12 >/dev/null 2>&1 </dev/null",                12,  0,  ""     },
    {"{ echo x; exit 13; } | cat; exit ${PIPESTATUS[0]}", 13,  0,  "x\n"  },
};

static void check_end(struct fx *fx, size_t i)
{
    const struct command *c = fx_exec(fx, ends[i].text);
    enum command_state want = ends[i].signal ? COMMAND_SIGNALED : COMMAND_EXITED;
    if (c->state != want || c->exit_code != ends[i].code || c->signal != ends[i].signal ||
        strcmp(fx_out(fx, c), ends[i].out) != 0)
        FAIL("'%s': %s, exit code %d, signal %d, out '%s'", ends[i].text,
             command_state_name(c->state), c->exit_code, c->signal, fx_out(fx, c));
}

TEST(everything_across_commands)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, everything, 0, "", "");
    const char *before = dump_of(&fx);
    check_same(before, dump_of(&fx), "nothing");
    FX_RUN(&fx, "echo a, /bin/true; (exit 3)", 3, NULL, "");
    check_same(before, dump_of(&fx), "a command");
    fx_close(&fx);
}

TEST_TIMEOUT(everything_across_the_end_of_the_shell, 120)
{
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        /* These change the state by what they are made of. */
        if (strstr(ends[i].text, "set -e") || strstr(ends[i].text, "trap") ||
            strstr(ends[i].text, "f_") || strstr(ends[i].text, "readonly"))
            continue;
        struct fx fx;
        fx_open(&fx);
        FX_RUN(&fx, everything, 0, "", "");
        const char *before = dump_of(&fx);
        check_end(&fx, i);
        const struct command *c = FX_RUN(&fx, ":", 0, "", "");
        CHECK(c->session_restored);
        check_same(before, dump_of(&fx), ends[i].text);
        /* And once more, from a state that was restored. */
        check_end(&fx, i);
        check_same(before, dump_of(&fx), ends[i].text);
        fx_close(&fx);
    }
}

TEST_TIMEOUT(every_end_of_a_shell, 60)
{
    struct fx fx;
    fx_open(&fx);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        FX_RUN(&fx, "kept=$((kept+1))", 0, "", "");
        check_end(&fx, i);
        auto_free char *want = xasprintf("%zu\n", i + 1);
        const struct command *c = FX_RUN(&fx, "set +e; trap - USR2; echo $kept", 0, want, "");
        CHECK(c->session_restored);
        CHECK_STR(fx_field(&fx, c->id, "sessionRestored"), "true");
        CHECK(!FX_RUN(&fx, ":", 0, "", "")->session_restored);
    }
    fx_close(&fx);
}

/* What a text did before it ended its shell is not lost with it. */
TEST(changes_of_the_last_command)
{
    static const char *const changes[] = {"x=new; cd /usr; exit 3", "x=new; cd /usr; set -e; false",
                                          "x=new; cd /usr; kill_=1; (exit 4); exit",
                                          "f() { x=new; cd /usr; exit 2; }; f"};
    struct fx fx;
    fx_open(&fx);
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        FX_RUN(&fx, "x=old; cd /", 0, "", "");
        (void)fx_exec(&fx, changes[i]);
        FX_RUN(&fx, "set +e; echo $x $PWD", 0, "new /usr\n", "");
    }
    fx_close(&fx);
}

TEST(exit_code_of_the_command_before)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "(exit 7)", 7, "", "");
    FX_RUN(&fx, "echo $?", 0, "7\n", "");
    FX_RUN(&fx, "echo $?", 0, "0\n", "");
    FX_RUN(&fx, "false", 1, "", "");
    FX_RUN(&fx, "x=$?; echo $x", 0, "1\n", "");
    FX_RUN(&fx, "nosuch_", 127, "", NULL);
    FX_RUN(&fx, "[ $? = 127 ] && echo yes", 0, "yes\n", "");
    FX_RUN(&fx, "exit 5", 5, "", "");
    FX_RUN(&fx, "echo $?", 0, "5\n", "");
    fx_close(&fx);
}

static const struct {
    const char *set, *show, *want;
} kinds[] = {
    {"declare -i n=5",                      "n=n+2; echo $n",                   "7\n"                       },
    {"a=(1 'b c')",                         "echo ${#a[@]} \"${a[1]}\"",        "2 b c\n"                   },
    {"declare -A m=([k x]=v)",              "echo \"${m[k x]}\"",               "v\n"                       },
    {"v=x; declare -n r=v",                 "r=y; echo $v",                     "y\n"                       },
    {"readonly q=1",                        "(q=2) 2>/dev/null; echo $? $q",    "1 1\n"                     },
    {"declare -u u",                        "u=abc; echo $u",                   "ABC\n"                     },
    {"e=1; export e",                       "sh -c 'echo $e'",                  "1\n"                       },
    {"export -n HOME",                      "sh -c 'echo ${HOME-unset}'",       "unset\n"                   },
    {"unset HOME",                          "echo ${HOME-unset}",               "unset\n"                   },
    {"ef() { echo ef; }; export -f ef",     "bash -c ef",                       "ef\n"                      },
    {"alias hi='echo hello'",               "hi there",                         "hello there\n"             },
    {"shopt -s nullglob",                   "echo a *nosuch*",                  "a\n"                       },
    {"set -f",                              "echo *",                           "*\n"                       },
    {"set -o posix",                        "[[ -o posix ]] && echo posix",     "posix\n"                   },
    {"umask 077",                           "umask; rm -f f; >f; stat -c %a f", "0077\n600\n"               },
    {"trap 'echo got' USR1",                "kill -USR1 $$; :",                 "got\n"                     },
    {"trap '' INT",                         "trap -p INT",                      "trap -- '' SIGINT\n"       },
    {"set -- a 'b c'",                      "echo $# \"$2\"",                   "2 b c\n"                   },
    {"shift 0; set -- x y z; shift",        "echo $*",                          "y z\n"                     },
    {"ulimit -n 100",                       "ulimit -n",                        "100\n"                     },
    {"IFS=:",                               "x=a:b; echo $x",                   "a b\n"                     },
    {"cd /usr; cd /",                       "cd - ; pwd",                       "/usr\n/usr\n"              },
    {"hash -p /bin/echo zz",                "true; echo",                       "\n"                        },
    {"exec 7>seven; echo x >&7; exec 7>&-", "cat seven",                        "x\n"                       },
    {"TZ=UTC0; export TZ",                  "date -d @0 +%H",                   "00\n"                      },
    {"BASH_COMPAT=4.4",                     "echo $BASH_COMPAT",                "4.4\n"                     },
    {"declare -x only_declared",            "declare -p only_declared",         "declare -x only_declared\n"},
    {"x=$'\\001\\177'",                     "printf %s \"$x\" | od -An -tx1",   " 01 7f\n"                  },
    {"x=$'\\377'",                          "printf %s \"$x\" | od -An -tx1",   " ff\n"                     },
    {"x=$'a\\nb\\n'",                       "printf %s \"$x\" | od -An -tx1",   " 61 0a 62 0a\n"            },
};

TEST_TIMEOUT(each_kind_of_state, 120)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct fx fx;
        fx_open(&fx);
        FX_RUN(&fx, kinds[i].set, 0, "", "");
        FX_RUN(&fx, kinds[i].show, 0, kinds[i].want, "");
        fx_close(&fx);
        fx_open(&fx);
        FX_RUN(&fx, kinds[i].set, 0, "", "");
        FX_RUN(&fx, "exit 1", 1, "", "");
        CHECK_INT(fx_exec(&fx, "kill -9 $$ & wait")->signal, 9);
        FX_RUN(&fx, kinds[i].show, 0, kinds[i].want, "");
        fx_close(&fx);
    }
}

TEST(traps_of_every_kind)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(
        &fx,
        "trap 'echo exit' EXIT; trap 'echo int' INT; trap 'echo err' ERR; trap 'echo ret' RETURN",
        0, NULL, "");
    for (int i = 0; i < 2; i++) {
        FX_RUN(&fx, "false", 1, "err\n", "");
        FX_RUN(&fx, "f() { :; }; f", 0, NULL, "");
        FX_RUN(&fx, "kill -INT $$; :", 0, "int\n", NULL);
        FX_RUN(&fx, "exit 3", 3, "exit\n", NULL);
    }
    FX_RUN(&fx, "trap - EXIT INT ERR RETURN; trap -p", 0, NULL, "");
    FX_RUN(&fx, "trap 'echo d' DEBUG", 0, NULL, "");
    FX_RUN(&fx, ":; :", 0, "d\nd\n", "");
    FX_RUN(&fx, "exit 3", 3, "d\n", NULL); /* bash says "exit" as it does at a prompt */
    FX_RUN(&fx, ":", 0, "d\n", "");
    fx_close(&fx);
}

/* A daemon that is started again goes on where it was. */
TEST_TIMEOUT(everything_across_a_restart, 60)
{
    struct fx fx;
    fx_open_with(&fx, &(struct fx_settings){.stored = true});
    FX_RUN(&fx, everything, 0, "", "");
    auto_free char *before = xstrdup(dump_of(&fx));
    for (int i = 0; i < 2; i++) {
        fx_reopen(&fx);
        const struct command *c = FX_RUN(&fx, ":", 0, "", "");
        CHECK(c->session_restored);
        check_same(before, dump_of(&fx), "a restart");
    }
    fx_close(&fx);
}

TEST_TIMEOUT(copies_of_a_state, 60)
{
    struct fx fx;
    char id[65];
    struct err err = {0};
    fx_open(&fx);
    FX_RUN(&fx, everything, 0, "", "");
    const char *before = dump_of(&fx);
    CHECK_INT(rt_session_snapshot(fx.rt, fx.session, "one", &err), 0);
    CHECK_INT(rt_session_fork(fx.rt, NULL, fx.session, "copy", id, &err), 0);
    fx.session = "copy";
    check_same(before, dump_of(&fx), "a fork");
    FX_RUN(&fx, "plain=changed; cd /; umask 0", 0, "", "");
    fx.session = "main";
    check_same(before, dump_of(&fx), "a change of the fork");
    FX_RUN(&fx,
           "plain=changed; cd /; unalias -a; set -- ; trap - TERM; unset -f f; ulimit -S -n 150", 0,
           "", "");
    CHECK_INT(rt_session_restore(fx.rt, fx.session, "one", &err), 0);
    check_same(before, dump_of(&fx), "going back");
    /* A background command starts from a copy, and changes nothing. */
    FX_RUN(&fx, "trap - TERM HUP USR1 USR2", 0, "", "");
    const struct command *c = fx_exec_opt(
        &fx, "g x; echo \"$plain|${arr[7]}|${map[odd key]}|$2|$int\"; umask; pwd; plain=z",
        &(struct fx_opt){.background = true});
    CHECK_STR(fx_err(&fx, c), "");
    CHECK(strstr(fx_out(&fx, c), "here x\na b  c|seven|odd value|second arg|7\n0027\n"));
    FX_RUN(&fx, "echo \"$plain\"", 0, "a b  c\n", "");
    fx_close(&fx);
}

TEST(a_new_session_knows_nothing)
{
    struct fx fx;
    char id[65];
    struct err err = {0};
    fx_open(&fx);
    FX_RUN(&fx, everything, 0, "", "");
    struct rt_session_spec spec = {.id = "fresh", .cwd = test_dir()};
    CHECK_INT(rt_session_open(fx.rt, NULL, &spec, id, &err), 0);
    fx.session = "fresh";
    FX_RUN(&fx, "echo ${plain-unset} $# $(umask); declare -F; alias; trap", 0, "unset 0 0022\n",
           "");
    fx.session = "main";
    CHECK_INT(rt_session_reset(fx.rt, fx.session, &err), 0);
    FX_RUN(&fx, "echo ${plain-unset} $# $(umask); declare -F; alias; trap", 0, "unset 0 0022\n",
           "");
    fx_close(&fx);
}
