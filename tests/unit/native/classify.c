/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "lib/test.h"
#include "native/priv.h"

static void check_all(const char *const *texts, bool changes)
{
    for (size_t i = 0; texts[i]; i++)
        if (native_may_change_state(texts[i], strlen(texts[i])) != changes)
            FAIL("'%s' was taken %s", texts[i], changes ? "for harmless" : "for a change");
}

TEST(plain_commands_change_nothing)
{
    static const char *const texts[] = {
        "",
        ":",
        "true",
        "ls -la /tmp",
        "grep -c x file | wc -l",
        "make all && ./run --fast; echo 'done $x ;('",
        "test -f /etc/passwd",
        "[ -f a ] && echo yes",
        "cat file > out",
        "ls /x 2>&1 | tail -1",
        "echo \"hello world\"",
        "echo $HOME",
        "git add -A",
        "printenv\nuname -a",
        NULL,
    };
    check_all(texts, false);
}

TEST(what_may_change_the_state_is_never_taken_for_harmless)
{
    static const char *const texts[] = {
        "cd /tmp",
        "x=1",
        "x=1 y=2 true",
        "export A=1",
        "ls; cd ..",
        "ls && cd ..",
        "ls | cd ..\ncd /",
        "f() { :; }",
        "function f { :; }",
        "alias ll=ls",
        "set -e",
        "shopt -s extglob",
        "umask 077",
        "trap 'x' EXIT",
        ". file",
        "source file",
        "eval x=1",
        "exec 3>file",
        "exit 3",
        "unset x",
        "read x",
        "printf -v x 1",
        "echo ${x:=1}",
        "echo $((x=1))",
        "echo $(cd /)",
        "echo `cd /`",
        "((x++))",
        "for i in 1 2; do :; done",
        "if true; then x=1; fi",
        "{ cd /; }",
        "! cd /",
        "$cmd",
        "\"cd\" /",
        "c'd' /",
        "\\cd /",
        "builtin cd /",
        "command cd /",
        "time cd /",
        "mapfile x",
        "let x=1",
        "declare x",
        "pushd /",
        "wait",
        "sleep 1 &",
        "echo 'open",
        "cat <<E\nx\nE\ncd /",
        "echo \"$(cd /)\"",
        "coproc cat",
        "ulimit -n 10",
        "getopts a x",
        "[[ -f a ]] && cd /",
        "# c\ncd /",
        NULL,
    };
    check_all(texts, true);
}
