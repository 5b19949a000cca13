/* SPDX-License-Identifier: MIT */
/* Promise 1: the text is run as given. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/own.h"
#include "lib/fixture.h"
#include "lib/test.h"

static const struct command *run_bytes(struct fx *fx, const char *text, size_t len)
{
    const struct command *c = NULL;
    struct err err = {0};
    if (fx_try(fx, text, len, NULL, &c, &err) < 0)
        FAIL("refused: %s", err.text);
    fx_wait(fx, c);
    return c;
}

/* A text that writes exactly these bytes into a file, by a quoted here-document. */
static void check_heredoc(struct fx *fx, const char *bytes, size_t len)
{
    auto_buf struct buf text = BUF_INIT(COMMAND_TEXT_MAX);
    (void)buf_append_str(&text, "cat >f <<'the end'\n");
    (void)buf_append(&text, bytes, len);
    (void)buf_append_str(&text, "\nthe end\n");
    const struct command *c = run_bytes(fx, text.data, text.len);
    CHECK_INT(c->exit_code, 0);
    CHECK_STR(fx_err(fx, c), "");
    size_t n;
    const char *file = fx_text(fx, fx_exec(fx, "cat f"), CAPTURE_STDOUT, &n);
    CHECK_MEM(file, n - 1, bytes, len);
}

TEST(here_documents_hold_any_bytes)
{
    static const char *const bodies[] = {
        "",
        "\t tabs \t\t and blanks  ",
        "CR\r\nLF\r\n\r\r\n",
        "gr\xc3\xbc\xc3\x9f \xe4\xbd\xa0\xe5\xa5\xbd \xf0\x9f\x90\x9a \xef\xbb\xbf",
        "\xff\xfe\x80\xc3( invalid \xed\xa0\x80",
        "$HOME `id` $(id) \\ \\\\ \\n ! !! !$ ~ * ? [a] {a,b}",
        "'single' \"double\" $'ansi' `back`",
        "#!/bin/sh\n# comment\necho $1\n",
        "the end \n the end\nnot the end",
        "\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e\x0f\x10\x11\x13\x1a\x1b\x1c\x7f",
        "EOF\nEXIT_CODE=0\n} </dev/null\n",
    };
    struct fx fx;
    fx_open(&fx);
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        check_heredoc(&fx, bodies[i], strlen(bodies[i]));
    auto_buf struct buf all = BUF_INIT(1024);
    for (int i = 1; i < 256; i++)
        if (i != '\n')
            (void)buf_append_byte(&all, (char)i);
    check_heredoc(&fx, all.data, all.len);
    fx_close(&fx);
}

/* What bash makes of a file with this text is what we make of it. */
static const char *const texts[] = {
    "echo a",
    "echo a\n",
    "echo a\r\necho b\r\n",
    ("\xef\xbb\xbf"
     "echo a"),
    "echo a \\",
    "echo a \\\n",
    "echo a \\\n\\\n b",
    "echo \\",
    "\\",
    "#",
    "# comment",
    "#!/bin/sh\necho a",
    "",
    " ",
    "\n\n\n",
    "\t\t",
    ";",
    "&",
    "true;",
    "true &",
    "{",
    "echo 'a\nb'",
    "echo \"a\nb\"",
    "echo $'a\\nb'",
    "echo `echo a`",
    "echo $((1 +\n2))",
    "echo \xc3\xa9\xff",
    "x=\xff; echo ${#x}",
    "echo {a..e} {1..3}",
    "echo $0",
    "echo $# $*",
    "echo $LINENO\n\necho $LINENO",
    "echo ${FUNCNAME-none}",
    "f() { echo $FUNCNAME $LINENO; }; f",
    "cat <<A <<B\na\nA\nb\nB",
    "cat <<A; echo after\n$((1+1)) \\$x\nA\n",
    "cat <<'A'",
    "cat <<< word",
    "read -r x; echo \"[$x]\"",
    "[ -t 0 ]; echo $?",
    "echo a >&2",
    "echo a; exit 3",
    "return 3",
    "false",
    "false || true",
    "nosuchcommand",
    "if",
    "fi",
    ")",
    "echo a\n)\necho b",
    "echo $(echo a; echo b)",
    "(exit 4)",
    "set -e; false; echo not",
    "set -u; echo $nosuch; echo not",
    "set -o pipefail; false | true",
    "shopt -s extglob\n[[ aab == +(a)b ]] && echo yes",
    "alias x='echo alias'\nx",
    "local x=1",
    "declare x=1; echo $x",
    "echo $((1/0)); echo after",
    "case a in a) echo A;; esac",
    "select x in a b; do echo $x; done",
    "for i in 1 2; do echo $i; done",
    "while read -r l; do echo \"<$l>\"; done <<E\n1\n2\nE",
    "printf '%s\\n' \"$@\"",
    "echo \"!\"",
    "echo a!b !! !-1",
    "exec 3>&1; echo three >&3",
    "{ echo out; echo err >&2; } 2>&1",
    "echo ~root",
    "time -p true 2>/dev/null",
    "let x=0",
    "((0))",
    "[[ -z '' ]]",
    "echo -n no newline",
    "echo \"a\"'b'c\\d$'e'",
    "echo *nosuch*",
    "echo \"$(cat <<E\nin\nE\n)\"",
    "x=(a 'b c'); echo \"${x[1]}\"",
    "printf 'a\\0b'",
};

/* The real bash, as a child, sourcing the same text under the same options. */
static const struct command *run_in_bash(struct fx *fx, const char *text)
{
    FILE *f = fopen("text", "we");
    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
    return fx_exec(fx, "echo '. ./text </dev/null; exit' | bash --norc --noprofile --noediting -i "
                       "2> >(sed '/no job control\\|cannot set terminal/d;s/^bash-5[^#$]*[#$] "
                       "//g;/^exit$/d' >&2; :); "
                       "code=$?; wait $!; (exit $code)");
}

TEST_TIMEOUT(as_bash_runs_a_file, 120)
{
    struct fx fx, oracle;
    fx_open(&oracle);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        fx_open(&fx);
        const struct command *ours = fx_exec(&fx, texts[i]),
                             *theirs = run_in_bash(&oracle, texts[i]);
        size_t n, m;
        const char *out = fx_text(&fx, ours, CAPTURE_STDOUT, &n);
        const char *want = fx_text(&oracle, theirs, CAPTURE_STDOUT, &m);
        if (ours->state != COMMAND_EXITED || ours->exit_code != theirs->exit_code || n != m ||
            memcmp(out, want, n) != 0)
            FAIL("'%s': %s, exit code %d, stdout '%s', stderr '%s'; bash: exit code %d, '%s', '%s'",
                 texts[i], command_state_name(ours->state), ours->exit_code, out, fx_err(&fx, ours),
                 theirs->exit_code, want, fx_err(&oracle, theirs));
        FX_RUN(&fx, "/bin/echo next", 0, "next\n", NULL);
        fx_close(&fx);
    }
    fx_close(&oracle);
}

TEST(messages_are_those_of_bash)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "nosuch", 127, "", "bash: nosuch: command not found\n");
    FX_RUN(&fx, "cd /nosuch", 1, "", "bash: cd: /nosuch: No such file or directory\n");
    const struct command *c = FX_RUN(&fx, "\n\nfi", 2, "", NULL);
    CHECK(strstr(fx_err(&fx, c), "line 3: syntax error near unexpected token `fi'"));
    FX_RUN(&fx, "echo $LINENO\n\necho $LINENO", 0, "1\n3\n", "");
    fx_close(&fx);
}

TEST(the_longest_text)
{
    struct fx fx;
    fx_open(&fx);
    auto_buf struct buf text = BUF_INIT(COMMAND_TEXT_MAX + 1);
    (void)buf_append_str(&text, "x='");
    while (text.len < COMMAND_TEXT_MAX - 13)
        (void)buf_append_byte(&text, "abcdefghij\n $"[text.len % 13]);
    (void)buf_append_str(&text, "'; echo ${#x}");
    CHECK_INT(text.len, COMMAND_TEXT_MAX);
    const struct command *c = run_bytes(&fx, text.data, text.len);
    CHECK_INT(c->exit_code, 0);
    CHECK_INT(fx_number(&fx, c), COMMAND_TEXT_MAX - 13 - 3);

    struct err err = {0};
    (void)buf_append_byte(&text, ' ');
    CHECK_INT(fx_try(&fx, text.data, text.len, NULL, &c, &err), -ERR_LIMIT);
    CHECK_STR(err.text, "command of 1048577 bytes: the maximum is 1048576");
    for (int i = 0; i < 2; i++) {
        struct fx_opt opt = {.background = i};
        CHECK_INT(fx_try(&fx, text.data, text.len, &opt, &c, &err), -ERR_LIMIT);
    }
    fx_close(&fx);
}

TEST(nul_is_refused)
{
    struct fx fx;
    fx_open(&fx);
    static const char text[] = "touch made\0; echo a";
    for (int i = 0; i < 2; i++) {
        struct fx_opt opt = {.background = i};
        const struct command *c = NULL;
        struct err err = {0};
        CHECK_INT(fx_try(&fx, text, sizeof(text) - 1, &opt, &c, &err), -ERR_INVALID);
        CHECK_STR(err.text, "command: NUL byte at offset 10; a shell text cannot hold one");
        CHECK_INT(fx_try(&fx, "\0", 1, &opt, &c, &err), -ERR_INVALID);
    }
    FX_RUN(&fx, "[ ! -e made ]", 0, "", "");
    fx_close(&fx);
}

/* The same bytes in the background, on a terminal, and after the state has got odd. */
TEST(the_text_is_the_same_everywhere)
{
    static const char text[] =
        "printf '%s|' 'a\tb' \"c\rd\" '\xff' \"\xc3\xa9\" '!!' \\\\; : # end";
    static const char want[] = "a\tb|c\rd|\xff|\xc3\xa9|!!|\\|";
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, text, 0, want, "");
    CHECK_STR(fx_out(&fx, fx_exec_opt(&fx, text, &(struct fx_opt){.background = true})), want);
    struct fx_opt pty = {.background = true, .pty = true};
    const struct command *c = fx_exec_opt(&fx, text, &pty);
    fx_wait_quiet(&fx, c);
    CHECK_STR(fx_out(&fx, c), want);
    FX_RUN(&fx, "trap : DEBUG; f() { :; }; alias e=echo", 0, "", "");
    FX_RUN(&fx, text, 0, want, "");
    struct fx_opt own = {
        .cwd = "/", .env = (const char *const[]){"X=y", NULL}
    };
    CHECK_STR(fx_out(&fx, fx_exec_opt(&fx, text, &own)), want);
    fx_close(&fx);
}
