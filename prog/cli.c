/* SPDX-License-Identifier: MIT */
/* nacre - runs shell commands, here or in the daemon; see docs/man/nacre.1. */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/err.h"
#include "cli/args.h"
#include "cli/report.h"
#include "cli/usage.h"
#include "cli/verbs.h"

DEFINE_AUTO_DONE(struct cli_args, cli_args_done)

static int run(char **argv)
{
    AUTO(cli_args_done) struct cli_args args = {0};
    struct err err;
    if (cli_args_parse(cli_verbs, argv, &args, &err) < 0)
        return cli_usage(&args, "%s", err.text);
    if (args.help)
        return cli_usage_show(&args, cli_verbs);
    if (!args.verb)
        return cli_usage(&args, "a verb is missing; 'nacre help' lists them all");
    return args.verb->run(&args);
}

/*
 * Descriptors 0 to 2 that are closed get /dev/null opened the wrong way round:
 * no file or socket of ours lands there, and using them fails as it does on a
 * closed one.
 */
static void guard_standard_fds(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
    (void)argc;
    guard_standard_fds();
    (void)signal(SIGPIPE, SIG_IGN);
    return run(argv[0] ? argv + 1 : argv);
}
