/* SPDX-License-Identifier: MIT */
#include "cli/completion.h"

#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "cli/usage.h"
#include "cli/verbs.h"
#include "lib/test.h"

enum { SCRIPT_MAX = 256 * 1024 };

TEST(every_script_has_every_verb_and_option)
{
    static const char *const shells[] = {"bash", "fish", "zsh"};
    for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
        auto_buf struct buf script = BUF_INIT(SCRIPT_MAX);
        CHECK_INT(cli_completion_write(cli_verbs, shells[i], &script), 0);
        for (const struct cli_verb *v = cli_verbs; v->name; v++) {
            const char *blank = strchr(v->name, ' ');
            CHECK(strstr(buf_cstr(&script), blank ? blank + 1 : v->name));
            for (const struct cli_option *o = v->options; o->name; o++)
                CHECK(strstr(buf_cstr(&script), o->name));
        }
    }
}

TEST(other_shells_are_refused)
{
    auto_buf struct buf script = BUF_INIT(SCRIPT_MAX);
    CHECK_INT(cli_completion_write(cli_verbs, "tcsh", &script), -ERR_INVALID);
    CHECK_INT(script.len, 0);
}

TEST(a_script_that_does_not_fit_is_none)
{
    auto_buf struct buf script = BUF_INIT(100);
    CHECK_INT(cli_completion_write(cli_verbs, "bash", &script), -ERR_LIMIT);
}

TEST(help_lists_every_verb_and_option)
{
    auto_buf struct buf list = BUF_INIT(SCRIPT_MAX);
    cli_usage_list(cli_verbs, NULL, &list);
    for (const struct cli_verb *v = cli_verbs; v->name; v++) {
        CHECK(strstr(buf_cstr(&list), v->summary));
        auto_buf struct buf help = BUF_INIT(SCRIPT_MAX);
        cli_usage_verb(v, &help);
        for (const struct cli_option *o = v->options; o->name; o++)
            CHECK(strstr(buf_cstr(&help), o->help));
    }
}

TEST(help_fits_a_terminal)
{
    for (const struct cli_verb *v = cli_verbs; v->name; v++) {
        auto_buf struct buf help = BUF_INIT(SCRIPT_MAX);
        cli_usage_verb(v, &help);
        for (const char *line = buf_cstr(&help); *line;) {
            size_t len = strcspn(line, "\n");
            if (len > 90)
                FAIL("nacre %s --help: %zu columns: %.*s", v->name, len, (int)len, line);
            line += len + (line[len] == '\n');
        }
    }
}
