/* SPDX-License-Identifier: MIT */
/* Programs that ask: section 3C of the acceptance list, a test per row. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/read.h"
#include "lib/fixture.h"
#include "lib/test.h"

enum { LONG_BEFORE_S = 30 };

/* Asks as sudo, ssh and gpg do: on the terminal, whatever the streams are. */
static const char ask[] = "cat >ask <<'END'\n"
                          "#!/bin/bash\n"
                          "exec 3<>/dev/tty || exit 1\n"
                          "stty -echo <&3\n"
                          "printf 'Password: ' >&3\n"
                          "IFS= read -r password <&3\n"
                          "stty echo <&3\n"
                          "echo \"${#password} bytes\"\n"
                          "END\n"
                          "chmod +x ask\n";

/* A command on a terminal that has printed text and waits in a read. */
static const struct command *on_terminal(struct fx *fx, const char *command, const char *text)
{
    struct fx_opt pty = {.background = true, .pty = true, .yield_ms = 1};
    const struct command *c = fx_exec_opt(fx, command, &pty);
    fx_wait_text(fx, c, CAPTURE_STDOUT, text);
    return c;
}

static bool needs_input(struct fx *fx, const struct command *c)
{
    bool is = false;
    (void)json_bool(json_path_get(fx_result(fx, c->id), "why.needsInput"), &is);
    return is;
}

static bool why_says(struct fx *fx, const struct command *c, const char *text)
{
    const char *why = json_cstr(json_path_get(fx_result(fx, c->id), "why.summary"));
    return why && strstr(why, text);
}

TEST_TIMEOUT(c1_no_terminal_to_ask_on, 60)
{
    struct fx fx;
    fx_open(&fx);
    double from = fx_seconds();
    FX_RUN(&fx, ask, 0, "", "");
    const struct command *c = FX_RUN(&fx, "./ask", 1, "", NULL);
    CHECK(strstr(fx_err(&fx, c), "/dev/tty: No such device or address"));
    FX_RUN(&fx, "tty", 1, "not a tty\n", "");
    FX_RUN(&fx, "ps -o tty= -p $$ -p $BASHPID | sort -u", 0, "?\n", "");
    c = fx_exec_opt(&fx, "./ask", &(struct fx_opt){.background = true});
    CHECK_INT(c->exit_code, 1);
    if (fx_has_program("sudo"))
        (void)fx_exec(&fx, "sudo -k; sudo -S true");
    c = fx_exec(&fx, "python3 -W ignore -c 'import getpass; getpass.getpass()'");
    CHECK(c->state == COMMAND_EXITED && c->exit_code != 0);
    CHECK(fx_seconds() - from < LONG_BEFORE_S);
    fx_close(&fx);
}

TEST(c2_a_prompt_on_a_terminal_is_noticed)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, ask, 0, "", "");
    const struct command *c = on_terminal(&fx, "./ask", "Password: ");
    FX_UNTIL(&fx, needs_input(&fx, c));
    CHECK_STR(fx_field(&fx, c->id, "status"), "running");
    CHECK(why_says(&fx, c, "waits for input from a terminal"));
    fx_input(&fx, c, "s3cret!\n");
    fx_wait(&fx, c);
    CHECK_STR(fx_out(&fx, c), "Password: 7 bytes\r\n");
    CHECK_INT(c->exit_code, 0);
    CHECK_STR(fx_field(&fx, c->id, "why"), "null");

    /* Nobody answers: the end says why. */
    struct fx_opt pty = {.background = true, .pty = true, .timeout_ms = 1500, .grace_ms = 200};
    c = fx_exec_opt(&fx, "./ask", &pty);
    CHECK_INT(c->state, COMMAND_TIMED_OUT);
    CHECK(needs_input(&fx, c));
    fx_close(&fx);
}

TEST(c2_waiting_for_given_input_is_noticed)
{
    struct fx fx;
    fx_open(&fx);
    struct fx_opt open = {.in_open = true};
    for (int i = 0; i < 4; i++) {
        open.background = i & 1;
        const struct command *c = fx_start(&fx, i & 2 ? "cat" : "read -r x", &open);
        FX_UNTIL(&fx, needs_input(&fx, c));
        fx_input_end(&fx, c);
        fx_wait(&fx, c);
    }
    fx_close(&fx);
}

static const char repository[] =
    "git init -q r && cd r && git config user.name N && git config user.email e@x\n"
    "for i in {1..200}; do printf 'commit refs/heads/b%d\\ncommitter N <e@x> %d +0000\\n"
    "data 4\\nm%03d\\n' $i $i $i; done | sed 's/^data 4/data 5/' | git fast-import --quiet\n"
    "git checkout -q -b main b200\n";

TEST_TIMEOUT(c3_pagers_do_not_block, 60)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, repository, 0, "", "");
    FX_RUN(&fx, "echo $PAGER $GIT_PAGER $LESS", 0, "cat cat FRX\n", "");
    struct fx_opt pty = {.background = true, .pty = true, .rows = 10, .cols = 80};
    const struct command *c = fx_exec_opt(&fx, "git branch", &pty);
    CHECK_INT(c->exit_code, 0);
    CHECK(strstr(fx_out(&fx, c), "b199") && strstr(fx_out(&fx, c), "b100"));
    c = fx_exec_opt(&fx, "git log --all --format=%s", &pty);
    CHECK_INT(c->exit_code, 0);
    CHECK(strstr(fx_out(&fx, c), "m001") && strstr(fx_out(&fx, c), "m200"));
    /* By hand it pages all the same, and one that is set prevails. */
    c = fx_exec_opt(&fx, "GIT_PAGER='sed s/^/paged:/' git log --format=%s", &pty);
    CHECK(strstr(fx_out(&fx, c), "paged:m200"));
    FX_RUN(&fx, "export PAGER=more; echo $PAGER", 0, "more\n", "");
    FX_RUN(&fx, "exit 1", 1, "", "");
    FX_RUN(&fx, "echo $PAGER", 0, "more\n", "");
    fx_close(&fx);
    fx_open_with(&fx, &(struct fx_settings){
                          .env = (const char *const[]){"PAGER=less", NULL}
    });
    FX_RUN(&fx, "echo $PAGER", 0, "less\n", "");
    fx_close(&fx);
}

TEST_TIMEOUT(c4_session_lives_after_git, 60)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, repository, 0, "", "");
    for (int i = 0; i < 3; i++) {
        const struct command *c =
            FX_RUN(&fx, "git branch | wc -l; git log --all --oneline | wc -l", 0, "201\n200\n", "");
        CHECK(!c->session_restored);
    }
    FX_UNTIL(&fx, fx_zombies() == 0);
    fx_close(&fx);
}

TEST_TIMEOUT(c5_editors_fail_fast, 60)
{
    static const char *const edits[] = {"git commit --amend --allow-empty",
                                        "git commit --allow-empty", "git rebase -i HEAD",
                                        "git tag -a v1",

                                        "EDITOR= VISUAL= git commit --amend --allow-empty"};
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, repository, 0, "", "");
    double from = fx_seconds();
    for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
        for (int pty = 0; pty < 2; pty++) {
            struct fx_opt opt = {.background = pty, .pty = pty};
            const struct command *c = fx_exec_opt(&fx, edits[i], &opt);
            const char *said = fx_text(&fx, c, CAPTURE_OUTPUT, NULL);
            if (c->state != COMMAND_EXITED || c->exit_code == 0 || !strstr(said, "editor"))
                FAIL("'%s': %s, exit code %d: %s", edits[i], command_state_name(c->state),
                     c->exit_code, said);
        }
    }
    CHECK(fx_seconds() - from < LONG_BEFORE_S);
    FX_RUN(&fx, "git log -1 --format=%s", 0, "m200\n", "");
    /* Without a question it works. */
    FX_RUN(&fx, "git commit -q --amend --allow-empty -m new && git log -1 --format=%s", 0, "new\n",
           "");
    FX_RUN(&fx, "git commit -q --amend --no-edit --allow-empty && git log -1 --format=%s", 0,
           "new\n", "");
    fx_close(&fx);
}

TEST_TIMEOUT(c8_signing_is_bounded, 60)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, ask, 0, "", "");
    FX_RUN(&fx, repository, 0, "", "");
    double from = fx_seconds();
    /* No key: at once. */
    const struct command *c =
        FX_RUN(&fx, "GNUPGHOME=$PWD git commit -q -S --allow-empty -m x", 128, "", NULL);
    CHECK(strstr(fx_err(&fx, c), "failed to sign"));
    /* One that asks for a passphrase: there is nobody to ask. */
    FX_RUN(&fx, "git config gpg.program ../ask", 0, "", "");
    FX_RUN(&fx, "git commit -q -S --allow-empty -m x", 128, "", NULL);
    CHECK(fx_seconds() - from < LONG_BEFORE_S);
    /* One that waits for a touch: bounded, typed. */
    FX_RUN(
        &fx,
        "printf '#!/bin/sh\\nsleep 600\\n' >touch; chmod +x touch; git config gpg.program ./touch",
        0, "", "");
    fx_mark(&fx);
    struct fx_opt limit = {.timeout_ms = 1000, .grace_ms = 200};
    c = fx_exec_opt(&fx, "git commit -q -S --allow-empty -m x", &limit);
    CHECK_INT(c->state, COMMAND_TIMED_OUT);
    CHECK(why_says(&fx, c, "sleep"));
    CHECK(!needs_input(&fx, c));
    CHECK_INT(fx_marked(&fx), 0);
    fx_close(&fx);
}

static const char private_server[] =
    "cat >server.py <<'END'\n"
    "import http.server\n"
    "class H(http.server.BaseHTTPRequestHandler):\n"
    "    def do_GET(self):\n"
    "        self.send_response(401)\n"
    "        self.send_header('WWW-Authenticate', 'Basic realm=\"x\"')\n"
    "        self.end_headers()\n"
    "    def log_message(self, *a): pass\n"
    "s = http.server.HTTPServer(('127.0.0.1', 0), H)\n"
    "open('port.new', 'w').write(str(s.server_port))\n"
    "import os; os.rename('port.new', 'port')\n"
    "s.serve_forever()\n"
    "END\n"
    "python3 server.py & until [ -e port ]; do sleep .02; done\n";

TEST_TIMEOUT(c9_credentials_fail_fast, 60)
{
    struct fx fx;
    CHECK_INT(setenv("SSH_ASKPASS", "/bin/cat", 1), 0);
    CHECK_INT(setenv("DISPLAY", ":0", 1), 0);
    CHECK_INT(setenv("GIT_SSH_COMMAND", "ssh -i /secret", 1), 0);
    fx_open(&fx);
    FX_RUN(&fx, "echo $GIT_TERMINAL_PROMPT:$SSH_ASKPASS:$DISPLAY:$GIT_SSH_COMMAND", 0,
           "0:::ssh -o BatchMode=yes\n", "");
    FX_RUN(&fx, private_server, 0, "", "");
    double from = fx_seconds();
    for (int pty = 0; pty < 2; pty++) {
        struct fx_opt opt = {.background = pty, .pty = pty};
        const struct command *c =
            fx_exec_opt(&fx, "git ls-remote http://127.0.0.1:$(cat port)/private.git", &opt);
        CHECK_INT(c->state, COMMAND_EXITED);
        CHECK_INT(c->exit_code, 128);
        CHECK(strstr(fx_text(&fx, c, CAPTURE_OUTPUT, NULL), "fatal: "));
    }
    CHECK(fx_seconds() - from < LONG_BEFORE_S);
    fx_close(&fx);
}

TEST(c10_text_is_no_prompt)
{
    struct fx fx;
    fx_open(&fx);
    const struct command *c =
        on_terminal(&fx, "printf 'collecting ... '; while :; do :; done", "collecting ... ");
    CHECK(!needs_input(&fx, c));
    FX_UNTIL(&fx, why_says(&fx, c, "is running"));
    fx_stop(&fx, c);
    c = on_terminal(&fx, "printf 'Password: '; sleep 600", "Password: ");
    FX_UNTIL(&fx, why_says(&fx, c, "sleep"));
    CHECK(!needs_input(&fx, c));
    fx_stop(&fx, c);
    /* A reader in the middle of a pipeline needs nobody either. */
    c = on_terminal(&fx, "echo go; sleep 600 | cat", "go");
    FX_UNTIL(&fx, why_says(&fx, c, "pipe"));
    CHECK(!needs_input(&fx, c));
    fx_stop(&fx, c);
    /* And a silent one that does wait is noticed without any text. */
    c = fx_start(&fx, "read -r x", &(struct fx_opt){.background = true, .pty = true});
    FX_UNTIL(&fx, needs_input(&fx, c));
    fx_close(&fx);
}

TEST(c12_no_questions)
{
    struct fx fx;
    fx_open(&fx);
    FX_RUN(&fx, "sh -c 'echo $DEBIAN_FRONTEND $CI'", 0, "noninteractive 1\n", "");
    FX_RUN(&fx, "read -r -p 'Continue? [Y/n] ' x || echo no answer", 0, "no answer\n", "");
    fx_close(&fx);
}
