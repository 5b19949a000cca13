/* SPDX-License-Identifier: MIT */
/*
 * Promise 4: no command harms the next.
 *
 * Each text below leaves the shell in some bad way. The command after it must run,
 * say what it has to say, and give its exit code; so must the one after a restart
 * of the shell. A test per text; its name says which.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/own.h"
#include "lib/fixture.h"
#include "lib/test.h"

/* What must work afterwards. */
enum { ALL = 0, NO_PROGRAMS = 1, NO_FILES = 2, ONCE = 4 };

static const struct harm {
    const char *name;
    const char *text;
    unsigned limits;
} harms[] = {
  /* texts that do not end */
    {"open single quote",                  "echo 'abc",                                                                    ALL            },
    {"open double quote",                  "echo \"abc",                                                                   ALL            },
    {"open backquote",                     "echo `abc",                                                                    ALL            },
    {"open substitution",                  "echo $(abc",                                                                   ALL            },
    {"open brace expansion",               "echo ${abc",                                                                   ALL            },
    {"open arithmetic",                    "echo $((1",                                                                    ALL            },
    {"open group",                         "{ echo a",                                                                     ALL            },
    {"open subshell",                      "( echo a",                                                                     ALL            },
    {"open function",                      "f() {",                                                                        ALL            },
    {"open case",                          "case a in",                                                                    ALL            },
    {"open loop",                          "while :; do",                                                                  ALL            },
    {"open condition",                     "[[ a",                                                                         ALL            },
    {"open heredoc",                       "cat <<EOF\na",                                                                 ALL            },
    {"closing brace",                      "}",                                                                            ALL            },
    {"closing all",                        "} ) done fi esac ]] ))",                                                       ALL            },
    {"backslash at the end",               "echo a \\",                                                                    ALL            },
    {"syntax error late",                  "x=1\ny=2\n)\nz=3",                                                             ALL            },
    {"control bytes",                      "\x01\x02\x03\x04\x1a\x7f\xff",                                                 ALL            },
    {"bytes in a variable",                "x=$'\\001\\002\\377\\n'",                                                      ALL            },

 /* variables */
    {"PATH is empty",                      "PATH=",                                                                        NO_PROGRAMS    },
    {"PATH is unset",                      "unset PATH",                                                                   NO_PROGRAMS    },
    {"PATH is readonly and wrong",         "readonly PATH=/nosuch",                                                        NO_PROGRAMS    },
    {"IFS is odd",                         "IFS='/0123456789abcdefghijklmnopqrstuvwxyz '",                                 ALL            },
    {"IFS is readonly",                    "readonly IFS=:",                                                               ALL            },
    {"PWD is unset",                       "unset PWD",                                                                    ALL            },
    {"PWD is readonly and wrong",          "readonly PWD=/nosuch",                                                         ALL            },
    {"PWD is an array",                    "declare -A PWD 2>/dev/null; PWD[x]=y; :",                                      ALL            },
    {"LINENO is readonly",                 "readonly LINENO",                                                              ALL            },
    {"LINENO is unset",                    "unset LINENO",                                                                 ALL            },
    {"HOME is unset",                      "unset HOME; cd /",                                                             ALL            },
    {"POSIXLY_CORRECT is readonly",        "readonly POSIXLY_CORRECT=1; builtin :",                                        ALL            },
    {"POSIXLY_CORRECT is set",             "POSIXLY_CORRECT=1",                                                            ALL            },
    {"BASH_ENV",                           "export BASH_ENV=/nosuch ENV='$(sleep 600)'",                                   ALL            },
    {"PROMPT_COMMAND",                     "PROMPT_COMMAND='echo p; false'",                                               ALL            },
    {"PROMPT_COMMAND ends the shell",      "PROMPT_COMMAND='exit 5'",                                                      ONCE           },
    {"PS1 and its like",
     "PS1='$(echo x >&2; false)' PS2='$(exit 3)' PS4='$(false)' PS0='$(echo 0)'",                                          ALL            },
    {"PS4 with trace",                     "PS4='+$(echo x) '; set -x",                                                    ALL            },
    {"TMOUT",                              "TMOUT=1",                                                                      ALL            },
    {"LANG",                               "export LANG=xx_YY LC_ALL=xx_YY",                                               ALL            },
    {"all is readonly",                    "readonly a b c _ x y PATH HOME IFS OLDPWD SHELL",                              ALL            },
    {"BASH_COMPAT",                        "BASH_COMPAT=3.1 2>/dev/null; :",                                               ALL            },
    {"GLOBIGNORE and FIGNORE",             "GLOBIGNORE='*' FIGNORE=x CDPATH=/:/tmp",                                       ALL            },
    {"LD_PRELOAD",                         "export LD_PRELOAD=/nosuch.so",                                                 ALL            },

 /* options */
    {"set -e",                             "set -e",                                                                       ALL            },
    {"set -u",                             "set -u",                                                                       ALL            },
    {"set -f",                             "set -f",                                                                       ALL            },
    {"set -x",                             "set -x",                                                                       ALL            },
    {"set -v",                             "set -v",                                                                       ALL            },
    {"set -n",                             "set -n",                                                                       ALL            },
    {"set -C",                             "set -C",                                                                       ALL            },
    {"set -a",                             "set -a",                                                                       ALL            },
    {"set -t",                             "set -t",                                                                       ONCE           },
    {"set -k",                             "set -k",                                                                       ALL            },
    {"set -h",                             "set +h",                                                                       ALL            },
    {"set -b",                             "set -b",                                                                       ALL            },
    {"set -p",                             "set -p",                                                                       ALL            },
    {"set -m",                             "set -m",                                                                       ALL            },
    {"set -P",                             "set -P",                                                                       ALL            },
    {"set -H",                             "set -H; set -o history",                                                       ALL            },
    {"set -T",                             "set -T -E",                                                                    ALL            },
    {"set -B",                             "set +B",                                                                       ALL            },
    {"set -o posix",                       "set -o posix",                                                                 ALL            },
    {"set -o pipefail",                    "set -o pipefail",                                                              ALL            },
    {"set -o ignoreeof",                   "set -o ignoreeof",                                                             ALL            },
    {"set -o vi",                          "set -o vi",                                                                    ALL            },
    {"all of set",
     "set -euo pipefail -o noglob -o noclobber -o xtrace -o verbose -o allexport -o keyword",                              ALL            },
    {"shopt oddities",
     "shopt -s nullglob failglob dotglob extglob globstar nocasematch nocaseglob lastpipe "
     "xpg_echo execfail cdable_vars autocd checkjobs huponexit extdebug",                                                  ALL            },
    {"shopt all off",
     "shopt -u $(shopt | cut -f1 | grep -v login_shell\\|restricted) 2>/dev/null; :",                                      ALL            },
    {"shopt all on",
     "shopt -s $(shopt | cut -f1 | grep -v 'login_shell\\|restricted\\|compat\\|syslog') "
     "2>/dev/null; :",                                                                                                     ALL            },
    {"restricted shell",                   "set -r",                                                                       ONCE           },

 /* functions and aliases in the place of builtins */
    {"function builtin",                   "builtin() { :; }",                                                             ALL            },
    {"function builtin that fails",        "builtin() { return 9; }; function builtin { false; }",                         ALL            },
    {"function builtin that ends",         "builtin() { exit 9; }",                                                        ALL            },
    {"function eval",                      "eval() { :; }",                                                                ALL            },
    {"function dot",                       "function . { :; }; function source { :; }",                                    ALL            },
    {"function printf",                    "printf() { :; }",                                                              ALL            },
    {"function echo",                      "echo() { return 7; }; unset -f echo",                                          ALL            },
    {"function cd",                        "cd() { :; }",                                                                  ALL            },
    {"function unset",                     "unset() { :; }",                                                               ALL            },
    {"function command",                   "command() { :; }",                                                             ALL            },
    {"function trap",                      "trap() { :; }; set() { :; }; shopt() { :; }; umask() { :; }",                  ALL            },
    {"function declare",                   "declare() { :; }; typeset() { :; }; export() { :; }; alias() { :; }",
     ALL                                                                                                                                  },
    {"function colon",                     "function : { return 8; }",                                                     ALL            },
    {"function test",                      "function [ { return 8; }; test() { return 8; }",                               ALL            },
    {"function return",                    "return() { :; }; exit() { :; }",                                               ALL            },
    {"all of them",
     "for f in builtin eval . source printf cd unset command trap set shopt umask declare typeset "
     "export alias : return exit read wait kill ulimit; do \\builtin eval \"function $f { return "
     "3; }\"; done",                                                                                                       ALL            },
    {"readonly functions",                 "builtin() { :; }; readonly -f builtin",                                        ALL            },
    {"alias builtin",
     "alias builtin='echo no' eval='echo no' printf='echo no' .='echo no' cd='echo no'",                                   ALL            },
    {"alias of reserved words",
     "alias if='exit 3' case='exit 3' for='exit 3' then='exit 3' '{'='exit 3' '[['='exit 3' "
     "'!'='exit 3'",                                                                                                       ALL            },
    {"alias of all",                       "alias trap='exit 3' :='exit 3' unset='exit 3' set='exit 3' LINENO=0='exit 3'",
     ALL                                                                                                                                  },
    {"enable -n",                          "enable -n printf echo cd",                                                     ALL            },
    {"enable -n builtin",                  "enable -n builtin eval .",                                                     ALL            },
    {"enable -n all",                      "enable -n $(enable | cut -d' ' -f2)",                                          ALL            },
    {"hash",                               "hash -p /nosuch cat; hash -p /nosuch /bin/cat 2>/dev/null; :",                 ALL            },

 /* traps */
    {"trap EXIT",                          "trap 'echo bye; exit 9' EXIT",                                                 ALL            },
    {"trap INT",                           "trap 'echo int' INT",                                                          ALL            },
    {"trap DEBUG",                         "trap 'false' DEBUG",                                                           ALL            },
    {"trap DEBUG with extdebug",           "shopt -s extdebug; trap 'true' DEBUG",                                         ALL            },
    {"trap ERR",                           "trap 'echo err >/dev/null; false' ERR",                                        ALL            },
    {"trap RETURN",                        "trap 'echo r >/dev/null' RETURN; set -T",                                      ALL            },
    {"trap all",                           "for s in {1..31}; do trap '' $s 2>/dev/null; done; :",                         ALL            },
    {"trap all with code",                 "for s in {1..31}; do trap 'false' $s 2>/dev/null; done; :",                    ALL            },
    {"trap CHLD",                          "trap 'echo c >/dev/null' CHLD",                                                ALL            },
    {"trap PIPE",                          "trap '' PIPE",                                                                 ALL            },

 /* descriptors */
    {"closed streams",                     "exec 0<&- 1>&- 2>&-",                                                          ALL            },
    {"streams elsewhere",                  "exec >/dev/full 2>/dev/full </dev/zero",                                       ALL            },
    {"all closed",                         "for f in {3..300}; do eval \"exec $f>&-\"; done",                              ALL            },
    {"all open",                           "for f in {3..60}; do eval \"exec $f</dev/null\"; done",                        ALL            },
    {"reads what is not his",
     "for f in {3..255}; do read -t 0.01 -u $f l 2>/dev/null; done; :",                                                    ALL            },
    {"stdin of the shell",                 "exec </dev/null",                                                              ALL            },
    {"coproc",                             "coproc cat; disown -a",                                                        ALL            },
    {"coproc kept",                        "coproc sleep 600",                                                             ALL            },
    {"exec redirections",                  "exec 5>out5 6<out5 7<>out5; exec 1>&5",                                        ALL            },
    {"process substitution",               "exec 8> >(cat >/dev/null)",                                                    ALL            },

 /* directories and files */
    {"cwd is removed",                     "mkdir gone && cd gone && rmdir ../gone",                                       ALL            },
    {"cwd is replaced",                    "mkdir r && cd r && rmdir ../r && ln -s / ../r",                                ALL            },
    {"cwd with odd name",                  "mkdir -p $'a\\nb' && cd $'a\\nb'",                                             ALL            },
    {"cwd with bytes",                     "mkdir -p $'\\377\\001 \"' && cd $'\\377\\001 \"'",                             ALL            },
    {"cwd is very deep",
     "for i in {1..40}; do mkdir -p dddddddddddddddddddddddddddddddddddddddd && cd "
     "dddddddddddddddddddddddddddddddddddddddd; done",                                                                     ALL            },
    {"umask 777",                          "umask 777",                                                                    ALL            },
    {"run directory is removed",           "rm -rf \"${BASH_SOURCE%/*}\"",                                                 ONCE           },
    {"run directory is emptied",           "rm -f \"${BASH_SOURCE%/*}\"/*",                                                ONCE           },
    {"pipes are replaced",                 "cd \"${BASH_SOURCE%/*}\"; rm -f o e s; mkdir o e s; cd /",                     ONCE           },
    {"files are replaced",
     "cd \"${BASH_SOURCE%/*}\"; rm -f save bye state restore code before; mkdir save bye state; cd "
     "/",                                                                                                                  ALL            },
    {"run directory is not to be written", "chmod 0 \"${BASH_SOURCE%/*}\"",                                                ALL            },

 /* limits */
    {"ulimit -n 10",                       "ulimit -n 10",                                                                 ALL            },
    {"ulimit -n 3",                        "ulimit -n 3",                                                                  ONCE | NO_FILES},
    {"ulimit -f 0",                        "ulimit -f 0",                                                                  ALL            },
    {"ulimit -u 1",                        "ulimit -u 1",                                                                  ALL            },
    {"ulimit -t 1",                        "ulimit -t 1",                                                                  ALL            },
    {"ulimit -v small",                    "ulimit -v 30000",                                                              ALL            },
    {"ulimit -s small",                    "ulimit -s 256",                                                                ALL            },

 /* processes */
    {"stop of the shell",                  "(sleep .05; kill -CONT $$) & kill -STOP $$",                                   ALL            },
    {"disowned",                           "sleep 600 & disown",                                                           ALL            },
    {"a loop in the background",           "while :; do :; done & sleep .05",                                              ALL            },
    {"stopped child",                      "sleep 600 & kill -STOP $!",                                                    ALL            },
    {"wait for nothing",                   "wait; wait -n; fg; bg; jobs; suspend -f & :",                                  ALL            },
    {"stty",                               "stty -echo raw 0</dev/null; stty sane; :",                                     ALL            },
    {"nice",                               "renice 19 $$ >/dev/null",                                                      ALL            },

 /* much of all */
    {"many variables",                     "for i in {1..5000}; do eval v$i=$i; done",                                     ALL            },
    {"many functions",                     "for i in {1..1000}; do eval \"f$i() { echo $i; }\"; done",                     ALL            },
    {"large array",                        "a=({1..100000})",                                                              ALL            },
    {"large variable",                     "v=$(head -c 3000000 /dev/zero | tr '\\0' v)",                                  ALL            },
    {"deep recursion",                     "f() { f; }; f 2>/dev/null",                                                    ONCE           },
    {"endless eval",                       "FUNCNEST=100; f() { f; }; f 2>/dev/null; :",                                   ALL            },
    {"history",                            "set -o history; history -s x; history -c; fc -l 2>/dev/null; :",               ALL            },
    {"exec of a missing program",          "exec /nosuch/program",                                                         ONCE           },
    {"errors in arithmetic",               "((1/0)); let x=; declare -i n=1/0",                                            ALL            },
};
enum { N_HARMS = sizeof(harms) / sizeof(harms[0]) };

/* Whatever it did: the next command has its own output and exit code. */
static void check_works(struct fx *fx, const struct harm *h, const char *when)
{
    static const char text[] = "\\builtin echo works; (\\builtin exit 5)";
    const struct command *c = fx_exec(fx, text);
    bool forks = !strstr(h->name, "ulimit");
    if (c->state != COMMAND_EXITED || (forks && c->exit_code != 5) ||
        strncmp(fx_out(fx, c), "works\n", 6) != 0)
        FAIL("%s '%s': %s, exit code %d, out '%.200s', err '%.300s', why '%s'", when, h->text,
             command_state_name(c->state), c->exit_code, fx_out(fx, c), fx_err(fx, c),
             c->why ? c->why : "");
    if (h->limits & (NO_PROGRAMS | NO_FILES) || !forks)
        return;
    c = fx_exec(fx, "/bin/cat /dev/null && /bin/echo program");
    if (strstr(h->name, "set -n") == NULL && strcmp(fx_out(fx, c), "program\n") != 0)
        FAIL("%s '%s': no program runs: %s, exit code %d, err '%.300s'", when, h->text,
             command_state_name(c->state), c->exit_code, fx_err(fx, c));
}

static void harm_and_go_on(const struct test_case *test)
{
    const struct harm *h = test->arg;
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "kept=yes", 0, "", "");
    struct fx_opt limit = {.timeout_ms = 20000, .grace_ms = 200};
    double from = fx_seconds();
    const struct command *c = fx_exec_opt(&fx, h->text, &limit);
    if (c->state == COMMAND_TIMED_OUT)
        FAIL("'%s' itself hangs; why: %s", h->text, c->why ? c->why : "?");
    check_works(&fx, h, "after");
    check_works(&fx, h, "again after");
    (void)fx_exec_opt(&fx, "\\builtin exit 3", &limit);
    check_works(&fx, h, "after a restart of");
    /* The state before it is still there. */
    c = fx_exec(&fx, "\\builtin echo \"[$kept]\"");
    if (strncmp(fx_out(&fx, c), "[yes]\n", 6) != 0)
        FAIL("after '%s' the state is gone: '%s' '%s'", h->text, fx_out(&fx, c), fx_err(&fx, c));
    if (fx_seconds() - from > 15)
        FAIL("'%s' costs the next commands %.1f s", h->text, fx_seconds() - from);
    fx_close(&fx);
}

void test_collect(void)
{
    static struct test_case tests[N_HARMS];
    for (size_t i = 0; i < N_HARMS; i++) {
        tests[i] = (struct test_case){.name = harms[i].name,
                                      .body = harm_and_go_on,
                                      .timeout_s = 60,
                                      .arg = (void *)&harms[i]};
        test_add(&tests[i]);
    }
}
