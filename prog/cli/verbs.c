/* SPDX-License-Identifier: MIT */
#include "cli/verbs.h"

#define FIELD(name) offsetof(struct cli_args, name)

/* clang-format off */
#define OPT_JSON    {"json", 0, CLI_FLAG, FIELD(json), NULL, "print JSON, on one line"}
#define OPT_SESSION {"session", 's', CLI_TEXT, FIELD(session), "NAME", "the session; it is opened if it is not there"}
#define OPT_KIND    {"kind", 0, CLI_TEXT, FIELD(kind), "KIND", "kind of the new session: bash"}
#define OPT_CWD     {"cwd", 0, CLI_TEXT, FIELD(cwd), "DIR", "directory to start in"}
#define OPT_ENV     {"env", 0, CLI_ENV, FIELD(env), "NAME=VALUE", "environment variable; may be repeated"}
#define OPT_PLAIN   {"plain", 0, CLI_FLAG, FIELD(plain), NULL, "without terminal escapes and overwritten lines"}
#define OPT_END     {NULL, 0, CLI_FLAG, 0, NULL, NULL}

static const struct cli_option no_options[] = {OPT_END};
static const struct cli_option json_only[] = {OPT_JSON, OPT_END};

static const struct cli_option exec_options[] = {
    OPT_SESSION,
    {"file", 'f', CLI_TEXT, FIELD(file), "FILE", "read the text of the command from FILE"},
    {"timeout", 0, CLI_LIMIT, FIELD(timeout_ms), "DURATION", "stop it then; 120s is the most, but for --background (none)"},
    {"grace", 0, CLI_DURATION, FIELD(grace_ms), "DURATION", "time between INT, TERM and KILL when stopping"},
    {"yield", 0, CLI_DURATION, FIELD(yield_ms), "DURATION", "return then and let it go on (needs -s)"},
    OPT_CWD,
    OPT_ENV,
    {"stdin", 'i', CLI_FLAG, FIELD(from_stdin), NULL, "pass standard input on; with --background: take 'nacre input'"},
    {"pty", 't', CLI_FLAG, FIELD(pty), NULL, "run it on a terminal"},
    {"background", 0, CLI_FLAG, FIELD(background), NULL, "start it, print its id, return (needs -s)"},
    OPT_JSON,
    OPT_PLAIN,
    OPT_KIND,
    OPT_END,
};

static const struct cli_option open_options[] = {OPT_KIND, OPT_CWD, OPT_ENV, OPT_JSON, OPT_END};

static const struct cli_option export_options[] = {
    {"output", 'o', CLI_TEXT, FIELD(output), "FILE", "write to FILE instead of standard output"},
    OPT_END,
};

static const struct cli_option import_options[] = {
    {"name", 0, CLI_TEXT, FIELD(name), "NAME", "name of the new session; else as in the file"},
    OPT_JSON,
    OPT_END,
};

static const struct cli_option ps_options[] = {
    {"all", 'a', CLI_FLAG, FIELD(all), NULL, "the finished ones too"},
    {"session", 's', CLI_TEXT, FIELD(session), "NAME", "of this session only"},
    OPT_JSON,
    OPT_END,
};

static const struct cli_option logs_options[] = {
    {"follow", 'f', CLI_FLAG, FIELD(follow), NULL, "go on until the command has ended"},
    {"stdout", 0, CLI_FLAG, FIELD(only_stdout), NULL, "standard output only"},
    {"stderr", 0, CLI_FLAG, FIELD(only_stderr), NULL, "standard error only"},
    {"cursor", 0, CLI_CURSOR, FIELD(cursor), "N", "start behind the first N bytes of the log"},
    {"json", 0, CLI_FLAG, FIELD(json), NULL, "print a JSON object per piece, with its cursor"},
    OPT_PLAIN,
    OPT_END,
};

static const struct cli_option input_options[] = {
    {"end", 0, CLI_FLAG, FIELD(end), NULL, "nothing follows: the command reads end of file"},
    OPT_END,
};

static const struct cli_option kill_options[] = {
    {"signal", 's', CLI_SIGNAL, FIELD(signal), "SIGNAL", "send only this one, and do not wait"},
    {"tree", 0, CLI_FLAG, FIELD(tree), NULL, "KILL at once, with all that it has started"},
    OPT_JSON,
    OPT_END,
};

static const struct cli_option wait_options[] = {
    {"log", 0, CLI_TEXT, FIELD(log), "TEXT", "until a line of its output holds TEXT"},
    {"log-regex", 0, CLI_TEXT, FIELD(log_regex), "REGEX", "until a line matches REGEX (extended)"},
    {"port", 0, CLI_PORT, FIELD(port), "N", "until something listens on 127.0.0.1:N"},
    {"timeout", 0, CLI_DURATION, FIELD(timeout_ms), "DURATION", "give up then; 60s if not given"},
    OPT_JSON,
    OPT_END,
};
/* clang-format on */

/* clang-format off */
#define EXEC_HELP \
    "One word after -- is a shell text and runs exactly as it is. Several words are a\n" \
    "program and its arguments, each passed on as it stands: nacre exec -- ls 'a b'.\n" \
    "'nacre exec -' reads the text from standard input, -f from a file.\n" \
    "\n" \
    "Without -s the command runs in a session of its own, which ends with it, and no\n" \
    "daemon takes part. With -s it runs in that session of the daemon, which is started\n" \
    "if need be: directory, variables, functions and options are kept.\n" \
    "\n" \
    "Commands of one session run one after another: the time limit counts from when it\n" \
    "is this one's turn. DURATION has a unit (1500ms, 30s, 2m, 1h30m) or is milliseconds.\n" \
    "\n" \
    "The exit status is the command's: 128+N if signal N ended it, 124 if time ran out\n" \
    "(120s unless --timeout says less). 125 is a failure of nacre, 126 a refusal, 2 a\n" \
    "faulty command line. Ctrl-C stops the command and gives 130; a second one kills it."

#define WAIT_HELP \
    "Without a condition it waits for the end and gives the command's exit status. With\n" \
    "one the status is 0 when it is met, 1 when the command ended before, 124 when time\n" \
    "ran out first. DURATION has a unit (1500ms, 30s, 2m) or is milliseconds."

#define KILL_HELP \
    "The command gets INT, after its grace TERM, after that KILL, with everything that\n" \
    "it has started. A session's shell and its other commands live on. For a command\n" \
    "that has ended, what it left behind is killed."

#define ATTACH_HELP \
    "Shows the output from its start and passes standard input on. Ctrl-] detaches (the\n" \
    "command goes on); on a terminal of its own (--pty) all other keys go to the command.\n" \
    "The exit status is the command's, 0 after detaching."

#define SERVE_HELP \
    "Everything after 'serve' goes to nacred, see nacred(8). The other verbs start the\n" \
    "daemon by themselves."

#define SHUTDOWN_HELP \
    "Waits until it is gone. Running and waiting commands are ended, in the background\n" \
    "too. Results and sessions are kept: a session has its directory and variables again\n" \
    "when the daemon is started next. The exit status is 1 if no daemon ran."

#define PROFILE_SHOW_HELP \
    "The whole profile with all that it inherits, as a file that extends none."

#define PROFILE_CHECK_HELP \
    "A line per file: ok, or FILE:LINE:COLUMN, what is wrong, and what was expected. '-' is\n" \
    "standard input. The exit status is 1 if a file is faulty."

#define DOCTOR_HELP \
    "Each line is ok or says what failed, why and how to mend it. The exit status is 1\n" \
    "if something failed."

#define COMPLETION_HELP \
    "    bash:  nacre completion bash > ~/.local/share/bash-completion/completions/nacre\n" \
    "    zsh:   nacre completion zsh > ~/.zfunc/_nacre      (a directory of $fpath)\n" \
    "    fish:  nacre completion fish > ~/.config/fish/completions/nacre.fish"

const struct cli_verb cli_verbs[] = {
    {"exec", "-- TEXT | -- PROGRAM ARG... | -", 0, CLI_MANY, false, exec_options,
     "run a command and stream what it prints", EXEC_HELP, cli_exec},
    {"session open", "[NAME]", 0, 1, false, open_options,
     "open a session and print its name", NULL, cli_session_open},
    {"session list", NULL, 0, 0, false, json_only,
     "list the sessions", NULL, cli_session_list},
    {"session show", "NAME", 1, 1, false, json_only,
     "show one session", NULL, cli_session_show},
    {"session close", "NAME", 1, 1, false, json_only,
     "end a session and all that runs in it", NULL, cli_session_close},
    {"session reset", "NAME", 1, 1, false, json_only,
     "give a session a new shell without its state", NULL, cli_session_reset},
    {"session fork", "NAME [NEW]", 1, 2, false, json_only,
     "open a second session from a copy of the state", NULL, cli_session_fork},
    {"session snapshot", "NAME SNAPSHOT", 2, 2, false, json_only,
     "keep the state of a session under a name", NULL, cli_session_snapshot},
    {"session restore", "NAME SNAPSHOT", 2, 2, false, json_only,
     "bring a kept state back", NULL, cli_session_restore},
    {"session export", "NAME", 1, 1, false, export_options,
     "write a session to a file that opens anywhere", NULL, cli_session_export},
    {"session import", "FILE | -", 1, 1, false, import_options,
     "open a session from such a file", NULL, cli_session_import},
    {"ps", NULL, 0, 0, false, ps_options,
     "list the commands that run", NULL, cli_ps},
    {"logs", "ID", 1, 1, false, logs_options,
     "print what a command has printed", NULL, cli_logs},
    {"input", "ID [TEXT]", 1, 2, false, input_options,
     "give input to a command: TEXT and a newline, or standard input", NULL, cli_input},
    {"kill", "ID...", 1, CLI_MANY, false, kill_options,
     "stop commands", KILL_HELP, cli_kill},
    {"wait", "ID", 1, 1, false, wait_options,
     "wait for the end of a command, a line or a port", WAIT_HELP, cli_wait},
    {"attach", "ID", 1, 1, false, no_options,
     "connect to a running command", ATTACH_HELP, cli_attach},
    {"result", "ID", 1, 1, false, json_only,
     "show the result of a command", NULL, cli_result},
    {"serve", "[ARG]...", 0, CLI_MANY, true, no_options,
     "run the daemon nacred", SERVE_HELP, cli_serve},
    {"shutdown", NULL, 0, 0, false, json_only,
     "end the daemon and all processes of its sessions", SHUTDOWN_HELP, cli_shutdown},
    {"profile list", NULL, 0, 0, false, json_only,
     "list the sandbox profiles", NULL, cli_profile_list},
    {"profile show", "NAME", 1, 1, false, json_only,
     "print a sandbox profile in full", PROFILE_SHOW_HELP, cli_profile_show},
    {"profile check", "FILE... | -", 1, CLI_MANY, false, json_only,
     "check files of sandbox profiles", PROFILE_CHECK_HELP, cli_profile_check},
    {"doctor", NULL, 0, 0, false, json_only,
     "check what nacre needs on this machine", DOCTOR_HELP, cli_doctor},
    {"version", NULL, 0, 0, false, json_only,
     "print the version", NULL, cli_version},
    {"help", "[VERB]...", 0, 2, false, no_options,
     "explain a verb", NULL, cli_help},
    {"completion", "bash|zsh|fish", 1, 1, false, no_options,
     "print a completion script for a shell", COMPLETION_HELP, cli_completion},
    {NULL, NULL, 0, 0, false, NULL, NULL, NULL, NULL},
};
/* clang-format on */
