/* SPDX-License-Identifier: MIT */
/* Integrity of persistent sessions: section 3D of the acceptance list, a test per row. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/own.h"
#include "lib/fixture.h"
#include "lib/test.h"

static void check_next(struct fx *fx)
{
    FX_RUN(fx, "echo next", 0, "next\n", "");
}

TEST(d1_heredoc)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "cat <<'EOF'\nhello\nEOF", 0, "hello\n", "");
    FX_RUN(&fx, "cat <<'EOF'\n  hello $x `y`\n\tEOF\nEOF\n", 0, "  hello $x `y`\n\tEOF\n", "");
    FX_RUN(&fx, "cat <<-EOF\n\t\tone\n\ttwo $((1+2))\n\tEOF", 0, "one\ntwo 3\n", "");
    FX_RUN(&fx, "cat <<A; cat <<B\na\nA\nb\nB\n", 0, "a\nb\n", "");
    check_next(&fx);
    fx_close(&fx);
}

TEST(d2_heredoc_into_a_file)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "cat << 'EOF' > t\nhi\nEOF", 0, "", "");
    FX_RUN(&fx, "cat t", 0, "hi\n", "");
    /* One that never ends gives what bash makes of it. */
    const struct command *c = FX_RUN(&fx, "cat <<EOF\nhi", 0, "hi\n", NULL);
    CHECK(strstr(fx_err(&fx, c), "delimited by end-of-file"));
    check_next(&fx);
    fx_close(&fx);
}

TEST(d4_nothing_lands_in_a_heredoc)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "cat <<'EOF'\nx < /dev/null\nEOF", 0, "x < /dev/null\n", "");
    FX_RUN(&fx, "cat >f <<'EOF'\n#!/bin/sh\nread -r a b\necho \"$a-$b\"\nEOF", 0, "", "");
    FX_RUN(&fx, "md5sum <f", 0, "bc995837f366ea443fa4b61dbbf8baaa  -\n", "");
    fx_close(&fx);
}

TEST(d6_exclamation_marks)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "printf %s ' != ' | od -An -c", 0, "       !   =    \n", "");
    FX_RUN(&fx, "echo \"hi!\" '!!' !x !$ \"!1\"", 0, "hi! !! !x !$ !1\n", "");
    FX_RUN(&fx, "! false", 0, "", "");
    FX_RUN(&fx, "[[ a != b ]] && echo ^a^b", 0, "^a^b\n", "");
    FX_RUN(&fx, "set -o | grep -E '^(history|histexpand)'", 0,
           "histexpand     \toff\nhistory        \toff\n", "");
    fx_close(&fx);
}

static char *heredoc_of(size_t size, size_t *ret_len)
{
    struct buf text = BUF_INIT(COMMAND_TEXT_MAX + 4096);
    (void)buf_append_str(&text, "cat >big <<'EOF'\n");
    static const char line[] = "0123456789 abcdefghijklmnopqrstuvwxyz $x `y` \\ \" '\n";
    while (text.len + sizeof(line) + 5 <= size)
        (void)buf_append_str(&text, line);
    while (text.len + 5 < size)
        (void)buf_append_byte(&text, 'x');
    (void)buf_append_str(&text, "\nEOF\n");
    *ret_len = text.len;
    return buf_take(&text);
}

TEST(d7_long_texts)
{
    static const size_t sizes[] = {8191, 8192, 8193, 65536, 204800, COMMAND_TEXT_MAX};
    struct fx fx;
    fx_open(&fx);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t len;
        auto_free char *text = heredoc_of(sizes[i], &len);
        const struct command *c;
        struct err err = {0};
        CHECK_INT(fx_try(&fx, text, len, NULL, &c, &err), 0);
        fx_wait(&fx, c);
        CHECK_INT(c->exit_code, 0);
        CHECK_STR(fx_err(&fx, c), "");
        const char *content = strchr(text, '\n') + 1;
        const char *file = fx_file(&fx, "big");
        CHECK_MEM(file, strlen(file), content, strlen(content) - 4);
    }
    /* What is too long is refused before anything of it runs. */
    size_t len;
    auto_free char *text = heredoc_of(COMMAND_TEXT_MAX + 1, &len);
    CHECK_INT(len, COMMAND_TEXT_MAX + 1);
    FX_RUN(&fx, "rm big", 0, "", "");
    const struct command *c = NULL;
    struct err err = {0};
    CHECK_INT(fx_try(&fx, text, len, NULL, &c, &err), -ERR_LIMIT);
    CHECK(strstr(err.text, "1048577") && strstr(err.text, "1048576"));
    FX_RUN(&fx, "[ ! -e big ]", 0, "", "");
    fx_close(&fx);
}

TEST(d8_long_lines)
{
    static const size_t sizes[] = {1023, 4095, 4096, 5000, 100000, 1000000};
    struct fx fx;
    fx_open(&fx);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        auto_buf struct buf text = BUF_INIT(COMMAND_TEXT_MAX);
        (void)buf_append_str(&text, "x='");
        for (size_t n = 0; n < sizes[i]; n++)
            (void)buf_append_byte(&text, 'y');
        (void)buf_append_str(&text, "'; echo ${#x}");
        const struct command *c;
        struct err err = {0};
        CHECK_INT(fx_try(&fx, text.data, text.len, NULL, &c, &err), 0);
        fx_wait(&fx, c);
        CHECK_INT(c->exit_code, 0);
        CHECK_INT(fx_number(&fx, c), sizes[i]);
    }
    fx_close(&fx);
}

TEST_TIMEOUT(d10_exit_with_a_background_job, 60)
{
    struct fx fx;
    fx_open(&fx);
    fx_mark(&fx);
    double from = fx_seconds();
    const struct command *c = FX_RUN(&fx, "sleep infinity & exit 1", 1, "", "");
    CHECK(fx_seconds() - from < 30);
    CHECK_INT(c->n_survivors, 1);
    CHECK_INT(fx_marked(&fx), 1);
    c = FX_RUN(&fx, "echo next", 0, "next\n", "");
    CHECK(c->session_restored);
    fx_close(&fx);
    CHECK_INT(fx_marked(&fx), 0);
}

TEST(d11_exit)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "cd / && export A='x y'", 0, "", "");
    const struct command *c =
        FX_RUN(&fx, "echo out; echo err >&2; exit 42 || true", 42, "out\n", "err\n");
    CHECK(!c->session_restored);
    CHECK_STR(fx_field(&fx, c->id, "cwd"), "/");
    c = FX_RUN(&fx, "echo \"$A $PWD\"", 0, "x y /\n", "");
    CHECK(c->session_restored);
    CHECK_STR(fx_field(&fx, c->id, "sessionRestored"), "true");
    c = FX_RUN(&fx, "echo $A", 0, "x y\n", "");
    CHECK(!c->session_restored);
    static const char *const ways[] = {
        "exit",          "exit 7", "f() { exit 7; }; f", "eval 'exit 7'", "if :; then exit 7; fi",
        "(exit 7); exit"};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        FX_RUN(&fx, ways[i], i ? 7 : 0, "", "");
        check_next(&fx);
    }
    FX_RUN(&fx, "exit 256", 0, "", "");
    FX_RUN(&fx, "exit -1", 255, "", "");
    FX_RUN(&fx, "(exit 3)", 3, "", "");
    fx_close(&fx);
}

TEST(d12_sticky_options)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "set -euo pipefail", 0, "", "");
    for (int i = 0; i < 3; i++) {
        FX_RUN(&fx, "false", 1, "", "");
        FX_RUN(&fx, "true | false | true", 1, "", "");
        const struct command *c = FX_RUN(&fx, "echo a; false; echo b", 1, "a\n", "");
        CHECK(c->session_restored);
        c = FX_RUN(&fx, "echo $nosuch; echo b", 1, "", NULL);
        CHECK(strstr(fx_err(&fx, c), "nosuch: unbound variable"));
        /* They are part of the state until somebody takes them back. */
        FX_RUN(&fx, "[[ $- == *e*u* ]]; set -o | grep -c 'pipefail.*on'", 0, "1\n", "");
    }
    FX_RUN(&fx, "set +eu; set +o pipefail", 0, "", "");
    FX_RUN(&fx, "false; echo $nosuch; true | false | true", 0, "\n", "");
    fx_close(&fx);
}

/* Each leaves something in the shell that a harness could stumble over. */
static const char *const hostile[] = {
    "trap 'echo bye' EXIT",
    "trap 'echo dbg >/dev/null' DEBUG",
    "trap 'echo err >/dev/null' ERR",
    "PROMPT_COMMAND='echo prompt; false; sleep 600 &'",
    "PS1='$(echo one)'; PS2='$(echo two)'; PS4='+$(echo four) '",
    "set -x",
    "set -v",
    "set -o posix",
    "unset -f nosuch; unset PWD",
    "readonly x=1 PATH IFS",
    "eval() { :; }",
    "printf() { :; }",
    "cd() { :; }",
    "echo() { command echo no; }; unset -f echo",
    "builtin() { :; }",
    "command() { :; }; trap() { :; }; unset() { :; }; exit() { :; }; set() { :; }",
};

TEST_TIMEOUT(d14_hostile_state, 60)
{
    for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
        struct fx fx;
        fx_open(&fx);
        FX_RUN(&fx, hostile[i], 0, "", "");
        for (int round = 0; round < 2; round++) {
            FX_RUN(&fx, "/bin/echo ok", 0, "ok\n", NULL);
            FX_RUN(&fx, "sh -c 'exit 5'", 5, "", NULL);
            FX_RUN(&fx, "x=y", strstr(hostile[i], "readonly x") ? 1 : 0, "", NULL);
        }
        fx_close(&fx);
    }
}

TEST(d15_no_names_of_ours)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "__x=1; echo $__x", 0, "1\n", "");
    FX_RUN(&fx, "echo $__x; declare -F; alias; trap -p; jobs; echo $#", 0, "1\n0\n", "");
    /* Nothing that a bash started from here would not have as well. */
    FX_RUN(&fx,
           "compgen -v >here; echo 'compgen -v >there' | bash --norc --noprofile -i 2>/dev/null; "
           "sort here >h; sort there >t; comm -23 h t | grep -vxE '__x|PIPESTATUS'",
           1, "", "");
    FX_RUN(&fx, "exit 1", 1, "", "");
    FX_RUN(&fx, "compgen -v | sort >h; comm -23 h t | grep -vxE '__x|PIPESTATUS'", 1, "", "");
    fx_close(&fx);
}

TEST(d18_no_check_before)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "printf 'a b\\nc d\\n' | awk '{print \"\\047\" $2 \"\\047\"}' | sed \"s/'/\\\"/g\"",
           0, "\"b\"\n\"d\"\n", "");
    FX_RUN(&fx, "shopt -s extglob\ncase ab in @(a|b)*) echo yes;; esac", 0, "yes\n", "");
    FX_RUN(&fx, "alias begin='{' finish='}'\nbegin\necho in\nfinish", 0, "in\n", "");
    static const char *const wrong[] = {"echo )",  "if true",   "for", "echo 'a", "echo \"a",
                                        "echo $(", "case x in", "}",   "fi",      "a() {",
                                        "<<",      "&&",        "((1", "[[ a"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const struct command *c = fx_exec(&fx, wrong[i]);
        if (c->state != COMMAND_EXITED || c->exit_code != 2 || !*fx_err(&fx, c))
            FAIL("'%s': %s, %d, '%s'", wrong[i], command_state_name(c->state), c->exit_code,
                 fx_err(&fx, c));
        CHECK_STR(fx_out(&fx, c), "");
        check_next(&fx);
    }
    /* After these bash 5.2 has a corrupted heap, of which later commands would die. */
    static const char *const cut[] = {"x=$(cat <<A", "eval 'echo $('", "if $(", "x=$(\necho a",
                                      "echo $("};
    for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
        FX_RUN(&fx, cut[i], 2, "", NULL);
        for (int n = 0; n < 5; n++)
            FX_RUN(&fx, "f() { echo $(echo a); }; alias b=c; declare -p >/dev/null; f", 0, "a\n",
                   "");
    }
    CHECK(!FX_RUN(&fx, "bash -c 'echo $('; :", 0, "", NULL)->session_restored);
    CHECK(!FX_RUN(&fx, ":", 0, "", "")->session_restored);
    /* What stands before the fault on lines of its own has run, as in a script. */
    FX_RUN(&fx, "echo before\nfi\necho after", 2, "before\n", NULL);
    fx_close(&fx);
}

TEST(d19_texts_of_all_shapes)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "echo a\necho b", 0, "a\nb\n", "");
    FX_RUN(&fx, "echo a\n\n\necho b\n\n", 0, "a\nb\n", "");
    FX_RUN(&fx, "# c", 0, "", "");
    FX_RUN(&fx, "# c\n# d\n", 0, "", "");
    FX_RUN(&fx, "", 0, "", "");
    FX_RUN(&fx, "   ", 0, "", "");
    FX_RUN(&fx, "\n", 0, "", "");
    FX_RUN(&fx, "\t\n \n", 0, "", "");
    FX_RUN(&fx, "echo \\\\", 0, "\\\n", "");
    FX_RUN(&fx, "echo a \\\nb", 0, "a b\n", "");
    FX_RUN(&fx, "echo a # b", 0, "a\n", "");
    FX_RUN(&fx, "echo a &\nwait", 0, "a\n", "");
    FX_RUN(&fx, "echo a;", 0, "a\n", "");
    FX_RUN(&fx, "{ echo a; }", 0, "a\n", "");
    FX_RUN(&fx, "false\ntrue", 0, "", "");
    FX_RUN(&fx, "true\nfalse", 1, "", "");
    fx_close(&fx);
}

TEST(d20_timeout_keeps_output)
{
    struct fx fx;
    fx_open(&fx);
    struct fx_opt limit = {.timeout_ms = 1500, .grace_ms = 200};
    const struct command *c = fx_exec_opt(&fx, "echo hi; echo ho >&2; sleep 99", &limit);
    CHECK_INT(c->state, COMMAND_TIMED_OUT);
    CHECK_INT(c->exit_code, 124);
    CHECK_STR(fx_out(&fx, c), "hi\n");
    CHECK_STR(fx_err(&fx, c), "ho\n");
    CHECK_STR(fx_field(&fx, c->id, "status"), "timed_out");
    CHECK_STR(fx_field(&fx, c->id, "timedOut"), "true");
    CHECK_STR(fx_field(&fx, c->id, "stdout"), "hi\n");
    fx_close(&fx);
}

/* Each hangs in its own way. */
static const char *const stuck[] = {
    "sleep 600",
    "while :; do :; done",
    "mkfifo -m 600 q 2>/dev/null; cat q",
    "read -r x < <(sleep 600)",
    "trap '' INT TERM; sleep 600",
    "trap '' INT TERM; while :; do :; done",
    "sh -c 'trap \"\" INT TERM HUP; while :; do sleep 1; done'",
    "kill -STOP $$",
    "(kill -STOP $BASHPID)",
    "sleep 600 | sleep 600 | sleep 600",
    "wait_for() { wait_for; }; sleep 600 & wait",
    "exec sleep 600",
    "coproc cat; wait",
};

TEST_TIMEOUT(d21_a_stuck_command_harms_nobody, 120)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "kept=yes", 0, "", "");
    fx_mark(&fx);
    for (size_t i = 0; i < sizeof(stuck) / sizeof(stuck[0]); i++) {
        struct fx_opt limit = {.timeout_ms = 300, .grace_ms = 200};
        const struct command *c = fx_exec_opt(&fx, stuck[i], &limit);
        if (c->state != COMMAND_TIMED_OUT || c->exit_code != 124 || !c->killed)
            FAIL("'%s': %s, exit code %d, killed %d", stuck[i], command_state_name(c->state),
                 c->exit_code, c->killed);
        if (fx_marked(&fx))
            FAIL("'%s': something lives on", stuck[i]);
        FX_RUN(&fx, "echo ok $kept", 0, "ok yes\n", "");
        FX_RUN(&fx, "trap - INT TERM", 0, "", "");
    }
    fx_close(&fx);
}

TEST(d22_the_directory_stays)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c = FX_RUN(&fx, "cd /tmp", 0, "", "");
    CHECK_STR(fx_field(&fx, c->id, "cwd"), "/tmp");
    c = FX_RUN(&fx, "pwd", 0, "/tmp\n", "");
    CHECK_STR(fx_field(&fx, c->id, "cwd"), "/tmp");
    FX_RUN(&fx, "cd /usr; exit 1", 1, "", "");
    c = FX_RUN(&fx, "pwd", 0, "/usr\n", "");
    CHECK_STR(fx_field(&fx, c->id, "cwd"), "/usr");
    c = FX_RUN(&fx, "(cd /); false", 1, "", "");
    CHECK_STR(fx_field(&fx, c->id, "cwd"), "/usr");
    FX_RUN(&fx, "pushd / >/dev/null; popd >/dev/null; cd - >/dev/null; pwd", 0, NULL, "");
    fx_close(&fx);
}

TEST(d23_definitions_stay)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "export A=1", 0, "", "");
    FX_RUN(&fx, "f() { echo \"f $1\"; }", 0, "", "");
    FX_RUN(&fx, "alias hi='echo hello'", 0, "", "");
    FX_RUN(&fx, "cat >activate <<'END'\nVENV=here\nexport VENV\ndeactivate() { unset VENV; }\nEND",
           0, "", "");
    FX_RUN(&fx, ". ./activate", 0, "", "");
    for (int round = 0; round < 2; round++) {
        FX_RUN(&fx, "sh -c 'echo $A'", 0, "1\n", "");
        FX_RUN(&fx, "f x", 0, "f x\n", "");
        FX_RUN(&fx, "hi", 0, "hello\n", "");
        FX_RUN(&fx, "sh -c 'echo $VENV'", 0, "here\n", "");
        FX_RUN(&fx, "exit 1", 1, "", "");
    }
    FX_RUN(&fx, "deactivate; echo \"[$VENV]\"", 0, "[]\n", "");
    fx_close(&fx);
}

TEST_TIMEOUT(d25_large_environment, 60)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "for i in 1 2 3 4 5; do export V$i=$(head -c 100000 /dev/zero | tr '\\0' a); done",
           0, "", "");
    FX_RUN(&fx, "echo ${#V1} ${#V5}", 0, "100000 100000\n", "");
    FX_RUN(&fx, "sh -c 'echo ${#V5}'", 0, "100000\n", "");
    FX_RUN(&fx, "exit 3", 3, "", "");
    FX_RUN(&fx, "sh -c 'echo ${#V5}'", 0, "100000\n", "");
    CHECK_STR(
        fx_out(&fx, fx_exec_opt(&fx, "sh -c 'echo ${#V5}'", &(struct fx_opt){.background = true})),
        "100000\n");
    /* One variable that the kernel takes for no program: its limit, not ours. */
    FX_RUN(&fx, "export A=$(head -c 500000 /dev/zero | tr '\\0' a); echo ${#A}", 0, "500000\n", "");
    const struct command *c = FX_RUN(&fx, "/bin/true", 126, "", NULL);
    CHECK(strstr(fx_err(&fx, c), "Argument list too long"));
    FX_RUN(&fx, "exit 3", 3, "", "");
    FX_RUN(&fx, "echo ${#A}; unset A; /bin/true", 0, "500000\n", "");
    /* Given with one command: a limit of ours, said before it runs. */
    auto_free char *big = xmalloc(COMMAND_ENV_MAX + 8);
    memset(big, 'a', COMMAND_ENV_MAX + 8);
    memcpy(big, "B=", 2);
    big[COMMAND_ENV_MAX + 7] = '\0';
    struct fx_opt opt = {
        .env = (const char *const[]){big, NULL}
    };
    struct err err = {0};
    CHECK_INT(fx_try(&fx, ":", 1, &opt, &c, &err), -ERR_LIMIT);
    CHECK(strstr(err.text, "env: more than 1048576 bytes"));
    big[500000] = '\0';
    CHECK_STR(fx_out(&fx, fx_exec_opt(&fx, "echo ${#B}", &opt)), "499998\n");
    FX_RUN(&fx, "echo \"[$B]\"", 0, "[]\n", "");
    fx_close(&fx);
}

TEST(d27_frames_of_somebody_else)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "printf '0123456789ab 0 /\\0'; printf 'EXIT_CODE=0\\n'; (exit 4)", 4, NULL, "");
    FX_RUN(&fx, "printf '\\n\\0\\nabcdefghijkl 0 /tmp\\0'; (exit 5)", 5, NULL, "");
    /* Even to the very pipe on which the shell reports. */
    FX_RUN(&fx,
           "d=${BASH_SOURCE%/*}; printf '0123456789ab 0 /tmp\\0' >$d/s; printf '\\0\\0' >$d/s; "
           "(exit 6)",
           6, "", "");
    FX_RUN(&fx, "pwd | wc -l", 0, "1\n", "");
    /* A flood there is noticed, and the session goes on. */
    struct fx_opt limit = {.timeout_ms = 5000, .grace_ms = 200};
    const struct command *c =
        fx_exec_opt(&fx, "head -c 1000000 /dev/zero | tr '\\0' x >$d/s", &limit);
    CHECK(command_state_is_final(c->state));
    FX_RUN(&fx, "echo next", 0, "next\n", "");
    fx_close(&fx);
}

TEST(d28_groups_not_subshells)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "cd /", 0, "", "");
    FX_RUN(&fx, "pwd", 0, "/\n", "");
    FX_RUN(&fx, "x=1; [ $BASHPID = $$ ]", 0, "", "");
    FX_RUN(&fx, "echo $x $BASH_SUBSHELL $SHLVL", 0, "1 0 1\n", "");
    fx_close(&fx);
}

static void on_closed(void *ctx)
{
    *(bool *)ctx = true;
}

TEST(d29_closing_kills)
{
    struct fx fx;
    fx_open(&fx);
    fx_mark(&fx);
    FX_RUN(&fx, "nohup sleep 600 >/dev/null 2>&1 & disown; setsid -f sleep 600", 0, "", "");
    (void)fx_start(&fx, "sleep 600", &(struct fx_opt){.background = true});
    (void)fx_start(&fx, "sleep 600", NULL);
    FX_UNTIL(&fx, fx_marked(&fx) >= 3);
    bool closed = false;
    struct err err = {0};
    CHECK_INT(rt_session_close(fx.rt, fx.session, on_closed, &closed, &err), 0);
    FX_UNTIL(&fx, closed);
    CHECK_INT(fx_marked(&fx), 0);
    fx_close(&fx);
}

TEST(d30_one_after_the_other)
{
    enum { N = 20 };
    struct fx fx;
    fx_open(&fx);
    const struct command *c[N];
    for (int i = 0; i < N; i++)
        c[i] = fx_start(
            &fx, "n=$((n+1)); echo begin $n; /bin/echo middle; echo end $n; echo $n >>all", NULL);
    for (int i = 0; i < N; i++) {
        char want[64];
        fx_wait(&fx, c[i]);
        (void)snprintf(want, sizeof(want), "begin %d\nmiddle\nend %d\n", i + 1, i + 1);
        CHECK_STR(fx_out(&fx, c[i]), want);
    }
    FX_RUN(&fx, "sort -nc all && wc -l <all", 0, "20\n", "");

    /* The queue has an end, and says so. */
    const struct command *blocker = fx_start(&fx, "sleep 600", NULL), *queued = NULL;
    struct err err = {0};
    int rc = 0, n = 0;
    while (rc == 0 && n++ < 1000)
        rc = fx_try(&fx, ":", 1, NULL, &queued, &err);
    CHECK_INT(rc, -ERR_BUSY);
    CHECK_INT(n, 65);
    CHECK(strstr(err.text, "64 commands waiting"));
    fx_stop(&fx, blocker);
    fx_wait(&fx, queued);
    CHECK_INT(queued->state, COMMAND_EXITED);
    fx_close(&fx);
}

/* What `pkill -f` could hit: the shell, its supervisor, and the program that starts them. */
TEST_TIMEOUT(d32_the_harness_is_hit, 60)
{
    static const char *const hits[] = {
        "kill -TERM $$", "kill -HUP $$",     "kill -TERM $PPID",   "kill -HUP $PPID; sleep 0",
        "kill -KILL $$", "kill -KILL $PPID", "kill -INT $PPID $$",
    };
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "kept=yes", 0, "", "");
    for (size_t i = 0; i < sizeof(hits) / sizeof(hits[0]); i++) {
        struct fx_opt limit = {.timeout_ms = 10000, .grace_ms = 200};
        const struct command *c = fx_exec_opt(&fx, hits[i], &limit);
        if (c->state == COMMAND_TIMED_OUT)
            FAIL("'%s' hangs", hits[i]);
        /* Whoever runs while its supervisor dies is lost, and told so; never more than one. */
        c = fx_exec(&fx, "echo ok $kept");
        if (c->state == COMMAND_SESSION_LOST)
            c = fx_exec(&fx, "echo ok $kept");
        if (c->exit_code || strcmp(fx_out(&fx, c), "ok yes\n") != 0)
            FAIL("after '%s': %s, exit code %d", hits[i], command_state_name(c->state),
                 c->exit_code);
    }
    FX_RUN(&fx, "z=$(ps -o ppid= -p $PPID); kill -KILL $z; :", 0, NULL, NULL);
    FX_UNTIL(&fx, fx_exec(&fx, "[ \"$kept\" = yes ]")->exit_code == 0);
    fx_close(&fx);
}
