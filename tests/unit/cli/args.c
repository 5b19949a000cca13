/* SPDX-License-Identifier: MIT */
#include "cli/args.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "lib/test.h"

#define FIELD(name) offsetof(struct cli_args, name)

static const struct cli_option run_options[] = {
    {"json",      'j', CLI_FLAG, FIELD(json), NULL, "json"},
    {"all",   'a', CLI_FLAG, FIELD(all), NULL, "all"},
    {"session",       's', CLI_TEXT, FIELD(session), "NAME", "session"},
    {"timeout",           0, CLI_LIMIT, FIELD(timeout_ms), "DURATION", "timeout"},
    {"grace",      0, CLI_DURATION, FIELD(grace_ms), "DURATION", "grace"},
    {"env", 'e', CLI_ENV, FIELD(env), "NAME=VALUE", "env"},
    {"cursor",      0, CLI_CURSOR, FIELD(cursor), "N", "cursor"},
    {"port",   'p', CLI_PORT, FIELD(port), "N", "port"},
    {"signal",   'S', CLI_SIGNAL, FIELD(signal), "SIGNAL", "signal"},
    {0    },
};
static const struct cli_option none[] = {{0}};

static const struct cli_verb verbs[] = {
    {.name = "run",             .operands = "TEXT...", .max = CLI_MANY, .options = run_options},
    {.name = "box open",          .operands = "NAME [NEW]", .min = 1, .max = 2, .options = none},
    {.name = "box close",                         .options = none},
    {.name = "version",.options = none},
    {.name = "serve",                 .max = CLI_MANY, .pass = true, .options = none},
    {0                        },
};

enum { WORDS_MAX = 32 };

/* A command line and what became of it. */
struct line {
    char text[512];
    char *argv[WORDS_MAX + 1];
    struct cli_args args;
    struct err err;
    int rc;
};

/* Words are split at blanks; '_' stands for a blank within one, '@' for an empty word. */
static struct line *parse(struct line *l, const char *text)
{
    memset(l, 0, sizeof(*l));
    (void)snprintf(l->text, sizeof(l->text), "%s", text);
    size_t n = 0;
    char *rest = l->text;
    for (char *word; n < WORDS_MAX && (word = strtok_r(NULL, " ", &rest));) {
        for (char *p = word; *p; p++)
            if (*p == '_')
                *p = ' ';
        l->argv[n++] = strcmp(word, "@") == 0 ? word + 1 : word;
    }
    l->rc = cli_args_parse(verbs, l->argv, &l->args, &l->err);
    return l;
}

/* The command line is refused with exactly this text. */
static void refuses(const char *text, const char *message)
{
    struct line l;
    parse(&l, text);
    CHECK_INT(l.rc, -ERR_INVALID);
    CHECK_STR(l.err.text, message);
    cli_args_done(&l.args);
}

TEST(options_take_values_in_all_spellings)
{
    static const char *const lines[] = {
        "run -s box --timeout 30s x",     "run --session box --timeout=30s x",
        "run -sbox x --timeout 30s",      "run --timeout 30000 --session=box x",
        "run x -s box --timeout=30000ms", "run --timeout 0.5m -s box -- x",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct line l;
        parse(&l, lines[i]);
        CHECK_INT(l.rc, 0);
        CHECK_STR(l.args.verb->name, "run");
        CHECK_STR(l.args.session, "box");
        CHECK_INT(l.args.timeout_ms, 30000);
        CHECK_INT(l.args.n_operands, 1);
        CHECK_STR(l.args.operands[0], "x");
        cli_args_done(&l.args);
    }
}

TEST(letters_share_a_dash)
{
    struct line l;
    parse(&l, "run -jasbox");
    CHECK_INT(l.rc, 0);
    CHECK(l.args.json && l.args.all);
    CHECK_STR(l.args.session, "box");
    cli_args_done(&l.args);
}

TEST(two_dashes_end_the_options)
{
    struct line l;
    parse(&l, "run -j - -- -a --json --help -- @");
    CHECK_INT(l.rc, 0);
    CHECK(l.args.json && !l.args.all && !l.args.help);
    CHECK_INT(l.args.n_operands, 6);
    CHECK_INT(l.args.n_plain, 1);
    CHECK_STR(l.args.operands[0], "-");
    CHECK_STR(l.args.operands[1], "-a");
    CHECK_STR(l.args.operands[4], "--");
    CHECK_STR(l.args.operands[5], "");
    CHECK(!l.args.operands[6]);
    cli_args_done(&l.args);
}

TEST(every_type_has_its_value)
{
    struct line l;
    parse(&l, "run --timeout none --grace 1500ms -e A=1 --env B=x=y --env C= --cursor 0 -p 65535 "
              "-S sigterm");
    CHECK_INT(l.rc, 0);
    CHECK_INT(l.args.timeout_ms, -1);
    CHECK_INT(l.args.grace_ms, 1500);
    CHECK_INT(l.args.env.n, 3);
    CHECK_STR(l.args.env.items[1], "B=x=y");
    CHECK_STR(l.args.env.items[2], "C=");
    CHECK_INT(l.args.cursor, 0);
    CHECK_INT(l.args.port, 65535);
    CHECK_INT(l.args.signal, 15);
    cli_args_done(&l.args);
}

TEST(a_wrong_value_is_named_with_what_was_expected)
{
    refuses("run --timeout abc", "--timeout wants a duration such as 30s or 1500ms, not 'abc'");
    refuses("run --timeout 0", "--timeout wants a duration such as 30s or 1500ms, not '0'");
    refuses("run --timeout=-5s", "--timeout wants a duration such as 30s or 1500ms, not '-5s'");
    refuses("run --grace none", "--grace wants a duration such as 30s or 1500ms, not 'none'");
    refuses("run --env 1A=x", "--env wants NAME=VALUE, not '1A=x'");
    refuses("run -e A", "-e wants NAME=VALUE, not 'A'");
    refuses("run --env =x", "--env wants NAME=VALUE, not '=x'");
    refuses("run --port 0", "--port wants a port from 1 to 65535, not '0'");
    refuses("run --port 65536", "--port wants a port from 1 to 65535, not '65536'");
    refuses("run --port 80x", "--port wants a port from 1 to 65535, not '80x'");
    refuses("run --cursor -1", "--cursor wants a number of bytes, not '-1'");
    refuses("run --cursor 99999999999999999999",
            "--cursor wants a number of bytes, not '99999999999999999999'");
    refuses("run -S NOPE", "-S wants a signal such as TERM, SIGHUP or 9, not 'NOPE'");
    refuses("run -S 0", "-S wants a signal such as TERM, SIGHUP or 9, not '0'");
    refuses("run --session=", "--session wants NAME, not an empty text");
    refuses("run --session @", "--session wants NAME, not an empty text");
}

TEST(a_value_is_missing_or_too_many)
{
    refuses("run --session", "--session wants a value: --session NAME");
    refuses("run -s", "-s wants a value: -s NAME");
    refuses("run --json=yes", "--json takes no value");
}

TEST(misspelt_options_get_a_suggestion)
{
    refuses("run --sesion x", "unknown option '--sesion'; did you mean '--session'?");
    refuses("run --tiemout=3s", "unknown option '--tiemout'; did you mean '--timeout'?");
    refuses("run --sess x", "unknown option '--sess'; did you mean '--session'?");
    refuses("run --zzz", "unknown option '--zzz'");
    refuses("run -jz", "unknown option '-z'");
    refuses("--json", "unknown option '--json'; a verb comes first");
}

TEST(misspelt_verbs_get_a_suggestion)
{
    refuses("rnu", "unknown verb 'rnu'; did you mean 'run'?");
    refuses("versoin", "unknown verb 'versoin'; did you mean 'version'?");
    refuses("bxo open", "unknown verb 'bxo'; did you mean 'box'?");
    refuses("box opne x", "unknown verb 'box opne'; did you mean 'box open'?");
    refuses("box run", "unknown verb 'box run'; 'nacre help' lists them all");
    refuses("frobnicate", "unknown verb 'frobnicate'; 'nacre help' lists them all");
    refuses("@", "unknown verb ''; 'nacre help' lists them all");
}

TEST(operands_are_counted)
{
    refuses("box open", "too few arguments: it is 'nacre box open NAME [NEW]'");
    refuses("box open a b c", "one argument too many, 'c': it is 'nacre box open NAME [NEW]'");
    refuses("box close a", "takes no argument, but got 'a'");
}

TEST(help_is_known_at_every_level)
{
    static const struct {
        const char *line, *verb, *group;
    } cases[] = {
        {"--help",       NULL,       NULL },
        {"-h",           NULL,       NULL },
        {"box --help",   NULL,       "box"},
        {"box -h",       NULL,       "box"},
        {"run --help",   "run",      NULL },
        {"run -jh",      "run",      NULL },
        {"box open -h",  "box open", "box"},
        {"serve --help", "serve",    NULL },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct line l;
        parse(&l, cases[i].line);
        CHECK_INT(l.rc, 0);
        CHECK(l.args.help);
        CHECK_STR(l.args.verb ? l.args.verb->name : NULL, cases[i].verb);
        CHECK_STR(l.args.group, cases[i].group);
        cli_args_done(&l.args);
    }
}

TEST(no_verb_is_no_error_of_the_parser)
{
    struct line l;
    parse(&l, "");
    CHECK_INT(l.rc, 0);
    CHECK(!l.args.verb && !l.args.help);
    cli_args_done(&l.args);
    parse(&l, "box");
    CHECK_INT(l.rc, 0);
    CHECK(!l.args.verb && !l.args.help);
    CHECK_STR(l.args.group, "box");
    cli_args_done(&l.args);
}

TEST(a_passing_verb_reads_nothing)
{
    struct line l;
    parse(&l, "serve --foreground -x --help -- y");
    CHECK_INT(l.rc, 0);
    CHECK(!l.args.help);
    CHECK_INT(l.args.n_operands, 5);
    CHECK_STR(l.args.operands[3], "--");
    cli_args_done(&l.args);
}

TEST(version_is_an_option_too)
{
    struct line l;
    parse(&l, "--version");
    CHECK_INT(l.rc, 0);
    CHECK_STR(l.args.verb->name, "version");
    cli_args_done(&l.args);
}
