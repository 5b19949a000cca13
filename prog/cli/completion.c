/* SPDX-License-Identifier: MIT */
#include "cli/completion.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "cli/report.h"
#include "cli/verbs.h"

enum { SCRIPT_MAX = 1024 * 1024 };

/* The table is a constant and so is the script's length: appends to it are not checked. */

typedef void (*verb_fn)(const struct cli_verb *v, const char *word, struct buf *out);

/*
 * Calls fn for each word that can stand in one place: the first words (group NULL; of a group
 * only once), or the second words of a group.
 */
static void each_word(const struct cli_verb *verbs, const char *group, size_t group_len, verb_fn fn,
                      struct buf *out)
{
    char word[64];
    const char *last = "";
    size_t last_len = 0;
    for (const struct cli_verb *v = verbs; v->name; v++) {
        size_t len = strcspn(v->name, " ");
        if (group) {
            if (v->name[len] && len == group_len && strncmp(v->name, group, len) == 0)
                fn(v, v->name + len + 1, out);
            continue;
        }
        if (len == last_len && strncmp(v->name, last, len) == 0)
            continue;
        last = v->name;
        last_len = len;
        (void)snprintf(word, sizeof(word), "%.*s", (int)len, v->name);
        fn(v, word, out);
    }
}

/* Calls fn with each group once; word is its name. */
static void each_group(const struct cli_verb *verbs,
                       void (*fn)(const struct cli_verb *verbs, const char *group, size_t len,
                                  struct buf *out),
                       struct buf *out)
{
    const char *last = "";
    for (const struct cli_verb *v = verbs; v->name; v++) {
        size_t len = strcspn(v->name, " ");
        if (!v->name[len] || strncmp(v->name, last, len + 1) == 0)
            continue;
        last = v->name;
        fn(verbs, v->name, len, out);
    }
}

/* The text inside single quotes of a shell. */
static void add_quoted(const char *text, struct buf *out)
{
    for (; *text; text++)
        if (*text == '\'')
            (void)buf_append_str(out, "'\\''");
        else
            (void)buf_append_byte(out, *text);
}

static const char *summary_of(const struct cli_verb *v)
{
    if (strncmp(v->name, "profile ", strlen("profile ")) == 0)
        return "list, print and check sandbox profiles";
    return strchr(v->name, ' ') ? "open, list, change and move sessions" : v->summary;
}

static bool takes(const struct cli_option *o, const char *arg)
{
    return o->arg && strcmp(o->arg, arg) == 0;
}

/* ---- bash ---- */

static void bash_word(const struct cli_verb *v, const char *word, struct buf *out)
{
    (void)v;
    (void)buf_printf(out, " %s", word);
}

static void bash_group(const struct cli_verb *verbs, const char *group, size_t len, struct buf *out)
{
    (void)buf_printf(out, "    %.*s)\n        if ((COMP_CWORD == 2)); then\n            words='",
                     (int)len, group);
    each_word(verbs, group, len, bash_word, out);
    (void)buf_printf(out, "'\n        else\n            verb+=\" ${COMP_WORDS[2]-}\"\n"
                          "        fi\n        ;;\n");
}

/* The options that take this kind of argument, as a pattern; NULL: any other kind. */
static void bash_values(const struct cli_verb *v, const char *arg, const char *action,
                        struct buf *out)
{
    bool first = true;
    for (const struct cli_option *o = v->options; o->name; o++) {
        if (!o->arg || (arg ? !takes(o, arg) : takes(o, "FILE") || takes(o, "DIR")))
            continue;
        (void)buf_printf(out, "%s--%s", first ? "        " : "|", o->name);
        if (o->letter)
            (void)buf_printf(out, "|-%c", o->letter);
        first = false;
    }
    if (!first)
        (void)buf_printf(out, ") %s ;;\n", action);
}

static void bash_verb(const struct cli_verb *v, struct buf *out)
{
    (void)buf_printf(out, "    '%s')\n        options='", v->name);
    for (const struct cli_option *o = v->options; o->name; o++)
        (void)buf_printf(out, "--%s ", o->name);
    (void)buf_printf(out, "--help'\n        case ${COMP_WORDS[COMP_CWORD - 1]} in\n");
    bash_values(v, "FILE", "how=file", out);
    bash_values(v, "DIR", "how=directory", out);
    bash_values(v, NULL, "return", out);
    (void)buf_printf(out, "        esac\n        ;;\n");
}

static void write_bash(const struct cli_verb *verbs, struct buf *out)
{
    (void)buf_printf(out, "# bash completion for nacre, made by 'nacre completion bash'\n"
                          "_nacre() {\n"
                          "    local cur=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]-}\n"
                          "    local words='' options='' how='' i\n"
                          "    COMPREPLY=()\n"
                          "    if ((COMP_CWORD == 1)); then\n        words='");
    each_word(verbs, NULL, 0, bash_word, out);
    (void)buf_printf(out, "'\n    fi\n    case $verb in\n");
    each_group(verbs, bash_group, out);
    (void)buf_printf(out, "    esac\n"
                          "    if [[ $words ]]; then\n"
                          "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
                          "        return\n"
                          "    fi\n"
                          "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
                          "        if [[ ${COMP_WORDS[i]} == -- ]]; then\n"
                          "            mapfile -t COMPREPLY < <(compgen -cf -- \"$cur\")\n"
                          "            return\n"
                          "        fi\n"
                          "    done\n"
                          "    case $verb in\n");
    for (const struct cli_verb *v = verbs; v->name; v++)
        bash_verb(v, out);
    (void)buf_printf(out,
                     "    esac\n"
                     "    if [[ $how || $cur != -* ]]; then\n"
                     "        mapfile -t COMPREPLY < <(compgen -A \"${how:-file}\" -- \"$cur\")\n"
                     "    else\n"
                     "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
                     "    fi\n"
                     "}\n"
                     "complete -o filenames -F _nacre nacre\n");
}

/* ---- zsh ---- */

static void zsh_word(const struct cli_verb *v, const char *word, struct buf *out)
{
    (void)buf_printf(out, "            '%s:", word);
    add_quoted(strcmp(word, v->name) == 0 || !strchr(v->name, ' ') ? v->summary : summary_of(v),
               out);
    (void)buf_printf(out, "'\n");
}

static void zsh_second_word(const struct cli_verb *v, const char *word, struct buf *out)
{
    (void)buf_printf(out, "                '%s:", word);
    add_quoted(v->summary, out);
    (void)buf_printf(out, "'\n");
}

static void zsh_group(const struct cli_verb *verbs, const char *group, size_t len, struct buf *out)
{
    (void)buf_printf(out, "    (%.*s)\n        if ((CURRENT == 3)); then\n            verbs=(\n",
                     (int)len, group);
    each_word(verbs, group, len, zsh_second_word, out);
    (void)buf_printf(out, "            )\n            _describe verb verbs\n"
                          "            return\n        fi\n"
                          "        verb+=\" $words[3]\"\n"
                          "        shift words\n        ((CURRENT--))\n        ;;\n");
}

static void zsh_option(const struct cli_option *o, struct buf *out)
{
    const char *equals = o->arg ? "=" : "", *plus = o->arg ? "+" : "";
    if (o->letter)
        (void)buf_printf(out, "            {-%c%s,--%s%s}'[", o->letter, plus, o->name, equals);
    else
        (void)buf_printf(out, "            '%s--%s%s[", o->type == CLI_ENV ? "*" : "", o->name,
                         equals);
    add_quoted(o->help, out);
    (void)buf_printf(out, "]");
    if (o->arg)
        (void)buf_printf(out, ":%s:%s", o->arg,
                         takes(o, "FILE")  ? "_files"
                         : takes(o, "DIR") ? "_files -/"
                                           : "");
    (void)buf_printf(out, "' \\\n");
}

static void write_zsh(const struct cli_verb *verbs, struct buf *out)
{
    (void)buf_printf(out, "#compdef nacre\n# zsh completion, made by 'nacre completion zsh'\n"
                          "_nacre() {\n    local -a verbs\n    local verb=$words[2]\n"
                          "    if ((CURRENT == 2)); then\n        verbs=(\n");
    each_word(verbs, NULL, 0, zsh_word, out);
    (void)buf_printf(out, "        )\n        _describe verb verbs\n        return\n    fi\n"
                          "    case $verb in\n");
    each_group(verbs, zsh_group, out);
    (void)buf_printf(out, "    esac\n    shift words\n    ((CURRENT--))\n    case $verb in\n");
    for (const struct cli_verb *v = verbs; v->name; v++) {
        (void)buf_printf(out, "    ('%s')\n        _arguments -s \\\n", v->name);
        for (const struct cli_option *o = v->options; o->name; o++)
            zsh_option(o, out);
        (void)buf_printf(out, "            '--help[print help]' '*: :_files'\n        ;;\n");
    }
    (void)buf_printf(out, "    esac\n}\n_nacre \"$@\"\n");
}

/* ---- fish ---- */

static void fish_word(const struct cli_verb *v, const char *word, struct buf *out)
{
    (void)buf_printf(out, "complete -c nacre -n __fish_use_subcommand -f -a %s -d '", word);
    add_quoted(strcmp(word, v->name) == 0 ? v->summary : summary_of(v), out);
    (void)buf_printf(out, "'\n");
}

static void fish_second_word(const struct cli_verb *v, const char *word, struct buf *out)
{
    (void)buf_printf(out,
                     "complete -c nacre -n '__fish_seen_subcommand_from %.*s; and test (count "
                     "(commandline -opc)) -eq 2' -f -a %s -d '",
                     (int)strcspn(v->name, " "), v->name, word);
    add_quoted(v->summary, out);
    (void)buf_printf(out, "'\n");
}

static void fish_group(const struct cli_verb *verbs, const char *group, size_t len, struct buf *out)
{
    each_word(verbs, group, len, fish_second_word, out);
}

static void fish_option(const struct cli_verb *v, const struct cli_option *o, struct buf *out)
{
    const char *blank = strchr(v->name, ' ');
    (void)buf_printf(out, "complete -c nacre -n '__fish_seen_subcommand_from %.*s",
                     (int)strcspn(v->name, " "), v->name);
    if (blank)
        (void)buf_printf(out, "; and __fish_seen_subcommand_from%s", blank);
    (void)buf_printf(out, "' -l %s", o->name);
    if (o->letter)
        (void)buf_printf(out, " -s %c", o->letter);
    if (o->arg)
        (void)buf_printf(out, "%s", takes(o, "FILE") ? " -r -F" : " -x");
    if (takes(o, "DIR"))
        (void)buf_printf(out, " -a '(__fish_complete_directories)'");
    (void)buf_printf(out, " -d '");
    add_quoted(o->help, out);
    (void)buf_printf(out, "'\n");
}

static void write_fish(const struct cli_verb *verbs, struct buf *out)
{
    (void)buf_printf(out, "# fish completion for nacre, made by 'nacre completion fish'\n");
    each_word(verbs, NULL, 0, fish_word, out);
    each_group(verbs, fish_group, out);
    for (const struct cli_verb *v = verbs; v->name; v++)
        for (const struct cli_option *o = v->options; o->name; o++)
            fish_option(v, o, out);
}

int cli_completion_write(const struct cli_verb *verbs, const char *shell, struct buf *out)
{
    static const struct {
        const char *name;
        void (*write)(const struct cli_verb *verbs, struct buf *out);
    } shells[] = {
        {"bash", write_bash},
        {"fish", write_fish},
        {"zsh",  write_zsh }
    };
    for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
        if (strcmp(shells[i].name, shell) == 0) {
            auto_buf struct buf script = BUF_INIT(SCRIPT_MAX);
            shells[i].write(verbs, &script);
            return buf_append(out, script.data, script.len);
        }
    return -ERR_INVALID;
}

int cli_completion(const struct cli_args *args)
{
    auto_buf struct buf script = BUF_INIT(SCRIPT_MAX);
    if (cli_completion_write(cli_verbs, args->operands[0], &script) < 0)
        return cli_usage(args, "completion is for bash, zsh or fish, not '%s'", args->operands[0]);
    cli_print_bytes(script.data, script.len);
    return cli_flush(args, CLI_OK);
}
