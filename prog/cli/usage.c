/* SPDX-License-Identifier: MIT */
#include "cli/usage.h"

#include <string.h>

#include "base/buf.h"
#include "cli/report.h"

enum { HELP_MAX = 64 * 1024 };

/* A full buffer cuts a help text short, nothing else: the results of buf_printf() are unused. */

static int name_width(const struct cli_verb *verbs, const char *group)
{
    size_t width = 0, len = group ? strlen(group) : 0;
    for (const struct cli_verb *v = verbs; v->name; v++)
        if ((!group || strncmp(v->name, group, len) == 0) && strlen(v->name) > width)
            width = strlen(v->name);
    return (int)width;
}

void cli_usage_list(const struct cli_verb *verbs, const char *group, struct buf *out)
{
    size_t len = group ? strlen(group) : 0;
    int width = name_width(verbs, group);
    if (group)
        (void)buf_printf(out, "Usage: nacre %s VERB [OPTION]... [ARG]...\n\n", group);
    else
        (void)buf_printf(out, "Usage: nacre VERB [OPTION]... [ARG]...\n"
                              "Runs shell commands in sessions that keep their state.\n\n");
    for (const struct cli_verb *v = verbs; v->name; v++)
        if (!group || (strncmp(v->name, group, len) == 0 && v->name[len] == ' '))
            (void)buf_printf(out, "  %-*s  %s\n", width, v->name, v->summary);
    (void)buf_printf(out, "\n'nacre help VERB' explains one; nacre(1) has it all.\n");
}

static int option_width(const struct cli_option *options)
{
    size_t width = strlen("help");
    for (const struct cli_option *o = options; o->name; o++) {
        size_t len = strlen(o->name) + (o->arg ? 1 + strlen(o->arg) : 0);
        if (len > width)
            width = len;
    }
    return (int)width;
}

static void add_option(const struct cli_option *o, int width, struct buf *out)
{
    char letter[] = "    ";
    if (o->letter)
        memcpy(letter, (char[]){'-', o->letter, ','}, 3);
    (void)buf_printf(out, "  %s--%s", letter, o->name);
    int used = (int)strlen(o->name);
    if (o->arg) {
        (void)buf_printf(out, " %s", o->arg);
        used += 1 + (int)strlen(o->arg);
    }
    (void)buf_printf(out, "%*s  %s\n", width - used, "", o->help);
}

void cli_usage_verb(const struct cli_verb *verb, struct buf *out)
{
    (void)buf_printf(out, "Usage: nacre %s%s%s%s\n\n", verb->name,
                     verb->options->name ? " [OPTION]..." : "", verb->operands ? " " : "",
                     verb->operands ? verb->operands : "");
    (void)buf_printf(out, "  %s\n", verb->summary);
    if (verb->help)
        (void)buf_printf(out, "\n%s\n", verb->help);

    static const struct cli_option help = {"help", 'h', CLI_FLAG, 0, NULL, "print this"};
    int width = option_width(verb->options);
    (void)buf_printf(out, "\nOptions:\n");
    for (const struct cli_option *o = verb->options; o->name; o++)
        add_option(o, width, out);
    add_option(&help, width, out);
}

int cli_usage_show(const struct cli_args *args, const struct cli_verb *verbs)
{
    auto_buf struct buf text = BUF_INIT(HELP_MAX);
    if (args->verb)
        cli_usage_verb(args->verb, &text);
    else
        cli_usage_list(verbs, args->group, &text);
    cli_print_bytes(text.data, text.len);
    return cli_flush(args, CLI_OK);
}
