/* SPDX-License-Identifier: MIT */
/*
 * Promise 3, facet by facet: what one command sets is shown by another, then again after every way
 * in which a command can end its shell, in a copy from a session file, in a fork, after a restart.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/own.h"
#include "lib/fixture.h"
#include "lib/test.h"

struct facet {
    const char *set, *show, *out;
};

struct ending {
    const char *text;
    enum command_state state;
    int code;
};

static const struct ending endings[] = {
    {"exit 7",                                 COMMAND_EXITED,   7  },
    {"(exit 5); exit",                         COMMAND_EXITED,   5  },
    {"set -e; false; echo not here",           COMMAND_EXITED,   1  },
    {"exec true",                              COMMAND_EXITED,   0  },
    {"exec /nosuch/program",                   COMMAND_EXITED,   127},
    {"kill -9 $$; sleep 600",                  COMMAND_SIGNALED, 137},
    {"f_() { exit 6; }; f_ a b | cat; f_ a b", COMMAND_EXITED,   6  },
};

static void check_shown(struct fx *fx, const struct facet *f, const char *session, const char *when)
{
    const struct command *c = fx_exec_opt(fx, f->show, &(struct fx_opt){.session = session});
    const char *out = fx_out(fx, c);
    if (c->exit_code || strcmp(out, f->out) != 0)
        FAIL("'%s' after %s: exit code %d, expected '%s', not '%s'; stderr: %s", f->show, when,
             c->exit_code, f->out, out, fx_err(fx, c));
}

static void copy_by_file(struct fx *fx, const struct facet *f)
{
    struct err err = {0};
    char id[65];
    auto_buf struct buf file = BUF_INIT((size_t)16 * 1024 * 1024);
    if (rt_session_export(fx->rt, fx->session, &file, &err) < 0)
        FAIL("%s", err.text);
    const struct rt_import import = {.file = file.data, .len = file.len, .new_id = "copy"};
    if (rt_session_import(fx->rt, NULL, &import, id, &err) < 0)
        FAIL("%s", err.text);
    check_shown(fx, f, "copy", "import");
    (void)fx_exec_opt(fx, "exit 3", &(struct fx_opt){.session = "copy"});
    check_shown(fx, f, "copy", "import and exit");
}

static void copy_by_fork(struct fx *fx, const struct facet *f)
{
    struct err err = {0};
    char id[65];
    if (rt_session_fork(fx->rt, NULL, fx->session, "forked", id, &err) < 0)
        FAIL("%s", err.text);
    check_shown(fx, f, "forked", "fork");
}

static void check_lasts(const struct facet *f)
{
    struct fx fx;
    fx_open_with(&fx, &(struct fx_settings){.stored = true});
    const struct command *c = fx_exec(&fx, f->set);
    if (c->exit_code)
        FAIL("'%s': exit code %d, %s", f->set, c->exit_code, fx_err(&fx, c));
    check_shown(&fx, f, NULL, "nothing");
    copy_by_file(&fx, f);
    copy_by_fork(&fx, f);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        const struct ending *e = &endings[i];
        c = fx_exec(&fx, e->text);
        if (c->state != e->state || c->exit_code != e->code)
            FAIL("'%s' with '%s': %s, exit code %d, %s", e->text, f->set,
                 command_state_name(c->state), c->exit_code, fx_err(&fx, c));
        check_shown(&fx, f, NULL, e->text);
    }
    fx_reopen(&fx);
    check_shown(&fx, f, NULL, "a restart");
    fx_close(&fx);
}

static void check_all(const struct facet *facets, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check_lasts(&facets[i]);
}
#define CHECK_ALL(facets) check_all(facets, sizeof(facets) / sizeof((facets)[0]))

TEST_TIMEOUT(directory, 60)
{
    static const struct facet facets[] = {
        {"cd /usr/share",                                    "pwd; echo $PWD",                              "/usr/share\n/usr/share\n"},
        {"mkdir -p real; ln -sfn real link; cd link",        "echo ${PWD##*/}; basename \"$(pwd -P)\"",
         "link\nreal\n"                                                                                                               },
        {"mkdir -p $'a b\\n\\'c\"$x'; cd $'a b\\n\\'c\"$x'", "printf %q \"${PWD##*/}\"",
         "$'a b\\n\\'c\"$x'"                                                                                                          },
        {"cd /usr; cd /tmp",                                 "echo $OLDPWD; cd - >/dev/null; pwd; cd /tmp", "/usr\n/usr\n"            },
        {"readonly PWD; cd /usr || :",                       "pwd -P",                                      "/usr\n"                  },
        {"cd /usr; PWD=/nosuch",                             "pwd -P",                                      "/usr\n"                  },
    };
    CHECK_ALL(facets);
}

/* clang-format off */
static const struct facet variables[] = {
    {"a=1 b='x y' c= d=$'l\\n\"m\\'\\\\'", "declare -p a b c d",
     "declare -- a=\"1\"\ndeclare -- b=\"x y\"\ndeclare -- c=\"\"\n"
     "declare -- d=$'l\\n\"m\\'\\\\'\n"},
    {"a=$'\\x80\\xff\\x01\\t\\e\\x7f\\r'; b='$HOME `x` $(y) ! # ~ *'", "declare -p a b",
     "declare -- a=$'\\200\\377\\001\\t\\E\\177\\r'\n"
     "declare -- b=\"\\$HOME \\`x\\` \\$(y) ! # ~ *\"\n"},
    {"a=$'\\xc3\\xa9\\xe2\\x82\\xac'; export a", "sh -c 'printf %s \"$a\"'",
     "\xc3\xa9\xe2\x82\xac"},
    {"a=$'1\\ndeclare -x EVIL=1\\n\\\\builtin exit 3\\n2'", "printf '%s|' \"$a\" \"$EVIL\"",
     "1\ndeclare -x EVIL=1\n\\builtin exit 3\n2||"},
    {"declare -i n=5; n=n+2; readonly r='a b'; declare -ir ir=3; export -n a", "n=n+1; declare -p n r ir; n=7",
     "declare -i n=\"8\"\ndeclare -r r=\"a b\"\ndeclare -ir ir=\"3\"\n"},
    {"export E=1; declare -x F; declare -x G=$'1\\n2'; declare -ix H=3", "declare -p E F G H; env | grep -c '^[EFGH]='",
     "declare -x E=\"1\"\ndeclare -x F\ndeclare -x G=$'1\\n2'\ndeclare -ix H=\"3\"\n3\n"},
    {"declare -u U=abc; declare -l L=ABC; declare -c C=abc; declare -t T=1", "U=x L=X; declare -p U L C T",
     "declare -u U=\"X\"\ndeclare -l L=\"x\"\ndeclare -c C=\"Abc\"\ndeclare -t T=\"1\"\n"},
    {"declare -n ref=target none; target=9; declare -rn fixed=target; declare -n el=arr[1]; arr=(x y)",
     "echo $ref $fixed $el; declare -p ref none fixed el",
     "9 9 y\ndeclare -n ref=\"target\"\ndeclare -n none\ndeclare -nr fixed=\"target\"\n"
     "declare -n el=\"arr[1]\"\n"},
    {"a=(1 [5]='x y' [7]=$'\\n'); readonly ra=(1 2); declare -ai ia=(1+1); declare -a ea=(); declare -a na",
     "declare -p a ra ia ea na; echo ${#a[@]} ${a[5]}",
     "declare -a a=([0]=\"1\" [5]=\"x y\" [7]=$'\\n')\ndeclare -ar ra=([0]=\"1\" [1]=\"2\")\n"
     "declare -ai ia=([0]=\"2\")\ndeclare -a ea=()\ndeclare -a na\n3 x y\n"},
    {"declare -A h=(['a b']=1 [\"'\"]=2 [$'\\n']=3 [']']=4 ['$x']=5) e=() n; export h",
     "for k in 'a b' \"'\" $'\\n' ']' '$x'; do echo \"${h[$k]}\"; done; echo ${#h[@]}; declare -p e n",
     "1\n2\n3\n4\n5\n5\ndeclare -A e=()\ndeclare -A n\n"},
    {"declare u; declare -i i; declare -r r", "declare -p u i r; echo ${u-unset}",
     "declare -- u\ndeclare -i i\ndeclare -r r\nunset\n"},
    {"x=gone; unset x HOME TERM", "echo ${x-a} ${HOME-b} ${TERM-c}", "a b c\n"},
    {"set -- 'a b' '' $'c\\nd' \"e'f\" -x '*'", "printf '<%s>' \"$#\" \"$@\"",
     "<6><a b><><c\nd><e'f><-x><*>"},
    {"IFS=$',\\n'; set -- a,b; OPTIND=3", "printf '<%s>' $1 \"$OPTIND\"", "<a><b><3>"},
    {"set -o posix; a=$'1\\n2'; b=(x $'y\\nz')", "printf '<%s>' \"$a\" \"${b[@]}\"", "<1\n2><x><y\nz>"},
};
/* clang-format on */

TEST_TIMEOUT(variables_of_every_kind, 120)
{
    CHECK_ALL(variables);
}

/* clang-format off */
static const struct facet functions[] = {
    {"f() { echo \"f $1\"; }; g() ( exit 4 ); h() { f \"$@\"; } 2>/dev/null", "f 1; g || echo $?; h 2", "f 1\n4\nf 2\n"},
    {"f() { cat <<A\n$1 `echo t`\n}\nA\ncat <<'B'\n'$x\nB\n}", "f 1", "1 t\n}\n'$x\n"},
    {"f() { case $1 in a|b) echo ab;; (c) echo c;& *) echo rest;; esac; }", "f a; f c; f z", "ab\nc\nrest\nrest\n"},
    {"f() { for ((i=0; i<2; i++)); do [[ x =~ ^(x|y)$ && a < b ]] && echo $i; done; }", "f", "0\n1\n"},
    {"a-b() { echo 1; }; a.b() { echo 2; }; a:b() { echo 3; }; +() { echo 4; }; \xc3\xa9() { echo 5; }\n"
     "function if { echo 6; }; function a=b { echo 7; }; function -x { echo 8; }; z() { echo 9; }",
     "a-b; a.b; a:b; +; \xc3\xa9; \\if; -x; z; declare -F | grep -c =", "1\n2\n3\n4\n5\n6\n8\n9\n1\n"},
    {"f() { echo f; }; export -f f; g() { echo g; }; readonly -f g; export -f g", "bash -c 'f; g'; (g() { :; }) 2>/dev/null || echo no",
     "f\ng\nno\n"},
    {"shopt -s extglob\neval 'f() { [[ $1 == @(a|b) ]] && echo yes; }'; g() { echo g; }; shopt -u extglob", "shopt -s extglob; f a; g; shopt -u extglob", "yes\ng\n"},
    /* One that bash prints so that nobody can read it takes no other with it. */
    {"a() { echo a; }; b() { [ x ] && cat <<E && return 1; return 2\nq\nE\n}; c() { echo c; }", "a; c", "a\nc\n"},
    {"echo() { builtin echo mine \"$@\"; }; declare() { :; }; eval() { :; }; trap() { :; }", "echo x", "mine x\n"},
};
/* clang-format on */

TEST_TIMEOUT(functions_of_every_kind, 120)
{
    CHECK_ALL(functions);
}

/* clang-format off */
static const struct facet settings[] = {
    {"alias ll='ls -l' q='echo '\\''q'\\' n=$'echo 1\\necho 2' e= -- 2>/dev/null; alias +=-", "alias; q; n",
     "alias +='-'\nalias e=''\nalias ll='ls -l'\nalias n='echo 1\necho 2'\nalias q='echo '\\''q'\\'''\nq\n1\n2\n"},
    {"umask 027", "umask", "0027\n"},
    {"umask 777", "umask", "0777\n"},
    {"set -fC; set -o pipefail", "echo $- | tr -dc fC; set -o | grep -c 'pipefail.*on'; true", "fC1\n"},
    {"set -u; shopt -s nullglob globstar dotglob; shopt -u sourcepath", "shopt -p nullglob globstar dotglob sourcepath | cat; echo $- | tr -dc u",
     "shopt -s nullglob\nshopt -s globstar\nshopt -s dotglob\nshopt -u sourcepath\nu"},
    {"shopt -s extglob", "case ab in @(a|b)*) echo yes;; esac", "yes\n"},
    {"set -o posix", "shopt -o posix | cat", "posix          \ton\n"},
    {"PS4='# '; set -x", "{ set +x; } 2>/dev/null; set -o | grep -c 'xtrace.*off'; set -x; echo y 2>/dev/null", "1\ny\n"},
    {"ulimit -c 0; ulimit -Sn 200; ulimit -Hn 300", "ulimit -c; ulimit -Sn; ulimit -Hn", "0\n200\n300\n"},
    {"trap 'echo usr \"$x\"' USR1; trap '' USR2 PIPE; trap $'a\\nb '\\'q\\' HUP; trap -- '-x' QUIT; trap 'echo int' INT",
     "trap -p USR1 USR2 PIPE HUP QUIT INT; kill -USR1 $$; kill -USR2 $$",
     "trap -- 'echo usr \"$x\"' SIGUSR1\ntrap -- '' SIGUSR2\ntrap -- '' SIGPIPE\n"
     "trap -- 'a\nb '\\''q'\\''' SIGHUP\ntrap -- '-x' SIGQUIT\ntrap -- 'echo int' SIGINT\nusr \n"},
    {"trap 'echo bye' EXIT; trap ': err' ERR; trap ': return' RETURN; trap ': debug' DEBUG", "trap -p EXIT ERR RETURN DEBUG",
     "trap -- 'echo bye' EXIT\ntrap -- ': err' ERR\ntrap -- ': return' RETURN\ntrap -- ': debug' DEBUG\n"},
    {"trap $'x\\n# traps\\n' USR1; f() { echo f; }", "trap -p USR1; f", "trap -- 'x\n# traps\n' SIGUSR1\nf\n"},
    {"set -o posix; trap 'echo usr' USR1", "kill -USR1 $$", "usr\n"},
    {"BASH_XTRACEFD=1 PS4=; set -x; set -- a b; x=5", "{ set +x; } >/dev/null; printf '<%s>' $x \"$@\"; set -x", "<5><a><b>"},
};
/* clang-format on */

TEST_TIMEOUT(aliases_options_limits_traps, 120)
{
    CHECK_ALL(settings);
}

TEST(changes_of_the_very_text_that_ends_the_shell)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "a=(1 2)", 0, "", "");
    FX_RUN(&fx,
           "c=new; f() { local a=inner b=inner; cd /usr; umask 077; alias l=ls; trap ': x' USR1; "
           "ulimit -Sn 100; exit $1; }; f 3 4",
           3, "", "");
    const struct command *c =
        FX_RUN(&fx, "echo ${a[1]} [$b] $c $# $PWD $(umask) $(ulimit -Sn); alias l; trap -p USR1", 0,
               "2 [] new 0 /usr 0077 100\nalias l='ls'\ntrap -- ': x' SIGUSR1\n", "");
    CHECK(c->session_restored);
    CHECK_STR(fx_field(&fx, c->id, "cwd"), "/usr");

    /* What was given to this command alone ends with it. */
    struct fx_opt own = {
        .cwd = "/tmp", .env = (const char *const[]){"a=own", "NEW=own", NULL}
    };
    c = fx_exec_opt(&fx, "echo $a $NEW $PWD; b=2; exit 5", &own);
    CHECK_INT(c->exit_code, 5);
    CHECK_STR(fx_out(&fx, c), "own own /tmp\n");
    FX_RUN(&fx, "echo ${a[@]} [$NEW] $b $PWD", 0, "1 2 [] 2 /usr\n", "");
    fx_close(&fx);
}

TEST(the_code_of_the_command_before)
{
    static const struct fx_expect steps[] = {
        {"echo $?",                                           0,   "0\n",       ""},
        {"(exit 7)",                                          7,   "",          ""},
        {"echo $?",                                           0,   "7\n",       ""},
        {"echo $?",                                           0,   "0\n",       ""},
        {"exit 9",                                            9,   "",          ""},
        {"echo $?",                                           0,   "9\n",       ""},
        {"nosuchcommand 2>/dev/null",                         127, "",          ""},
        {"[ $? = 127 ] && echo yes",                          0,   "yes\n",     ""},
        {"set -e",                                            0,   "",          ""},
        {"(exit 4); echo not here",                           4,   "",          ""},
        {"echo $?; false || echo on $?",                      0,   "4\non 1\n", ""},
        {"set +e; n=0; trap 'n=$((n+1))' ERR; false",         1,   "",          ""},
        {"code=$? m=$n; trap - ERR; echo $code; [ $m = $n ]", 0,   "1\n",       ""},
        {"(exit 300)",                                        44,  "",          ""},
        {"echo $?",                                           0,   "44\n",      ""},
    };
    struct fx fx;
    fx_open(&fx);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        (void)fx_run(__FILE__, __LINE__, &fx, &steps[i]);
    CHECK_INT(fx_exec(&fx, "kill -9 $$")->exit_code, 137);
    FX_RUN(&fx, "echo $?", 0, "137\n", "");
    (void)fx_exec(&fx, "(exit 3)");
    struct fx_opt own = {
        .env = (const char *const[]){"A=1", NULL},
            .cwd = "/usr"
    };
    const struct command *c = fx_exec_opt(&fx, "echo $? $A $PWD", &own);
    CHECK_STR(fx_out(&fx, c), "3 1 /usr\n");
    (void)fx_exec(&fx, "readonly R=1; (exit 3)");
    own.env = (const char *const[]){"R=2", NULL};
    CHECK_INT(fx_exec_opt(&fx, "echo not here", &own)->exit_code, 1);
    own.cwd = "/nosuch";
    own.env = NULL;
    CHECK_INT(fx_exec_opt(&fx, "echo not here", &own)->exit_code, 1);
    FX_RUN(&fx, "echo $?", 0, "1\n", "");
    fx_close(&fx);
}

/* The directory that the session was in may be gone when its shell has to be started again. */
TEST(a_directory_that_is_gone)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "kept=yes; mkdir gone; cd gone; rmdir ../gone", 0, "", "");
    FX_RUN(&fx, "echo $kept ${PWD##*/}", 0, "yes gone\n", "");
    FX_RUN(&fx, "exit 3", 3, "", "");
    const struct command *c = FX_RUN(&fx, "echo $kept; pwd", 0, "yes\n/\n", "");
    CHECK_STR(fx_field(&fx, c->id, "cwd"), "/");
    fx_close(&fx);
}

TEST(copies_go_their_own_way)
{
    struct fx fx;
    struct err err = {0};
    char id[65];
    fx_open(&fx);
    FX_RUN(&fx, "x=1; cd /usr", 0, "", "");
    CHECK_INT(rt_session_snapshot(fx.rt, fx.session, "before", &err), 0);
    CHECK_INT(rt_session_fork(fx.rt, NULL, fx.session, "b", id, &err), 0);
    struct fx_opt in_b = {.session = "b"};
    CHECK_INT(fx_exec_opt(&fx, "x=2; cd /; exit 1", &in_b)->exit_code, 1);
    FX_RUN(&fx, "echo $x $PWD; x=3", 0, "1 /usr\n", "");
    CHECK_STR(fx_out(&fx, fx_exec_opt(&fx, "echo $x $PWD", &in_b)), "2 /\n");
    FX_RUN(&fx, "cd /tmp; (exit 3)", 3, "", "");
    CHECK_INT(rt_session_restore(fx.rt, fx.session, "before", &err), 0);
    FX_RUN(&fx, "echo $? $x $PWD", 0, "0 1 /usr\n", "");
    /* Background commands start from the state, and change none. */
    const struct command *c =
        fx_exec_opt(&fx, "echo $x $PWD; x=9; cd /; exit 2", &(struct fx_opt){.background = true});
    CHECK_INT(c->exit_code, 2);
    CHECK_STR(fx_out(&fx, c), "1 /usr\n");
    FX_RUN(&fx, "echo $x $PWD", 0, "1 /usr\n", "");
    fx_close(&fx);
}

/* A state that ends the shell which reads it loses that part, and nothing else. */
TEST(a_state_that_kills)
{
    static const char *const deadly[] = {
        "trap 'exit 9' DEBUG",
        "trap 'kill -9 $$' DEBUG",
        "ulimit -v 10000",
        "set -e; trap 'exit 1' ERR",
    };
    for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++) {
        struct fx fx;
        fx_open(&fx);
        FX_RUN(&fx, "kept=(1 2); f() { echo f; }; cd /usr", 0, "", "");
        (void)fx_exec(&fx, deadly[i]);
        (void)fx_exec(&fx, "exit 3");
        FX_RUN(&fx, "echo ${kept[1]} $PWD; f", 0, "2 /usr\nf\n", "");
        fx_close(&fx);
    }
}
