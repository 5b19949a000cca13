/* SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "base/own.h"
#include "cli/args.h"
#include "cli/report.h"
#include "cli/usage.h"
#include "cli/verbs.h"

int cli_help(const struct cli_args *args)
{
    const char *first = args->operands[0];
    if (!first)
        return cli_usage_show(&(struct cli_args){0}, cli_verbs);
    const char *second = args->operands[1];
    auto_free char *name = second ? xasprintf("%s %s", first, second) : xstrdup(first);
    const struct cli_args wanted = {
        .verb = cli_verb_find(cli_verbs, name),
        .group = cli_verb_is_group(cli_verbs, name) ? name : NULL,
    };
    if (!wanted.verb && !wanted.group)
        return cli_usage(args, "there is no verb '%s'; 'nacre help' lists them all", name);
    return cli_usage_show(&wanted, cli_verbs);
}
