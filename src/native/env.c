/* SPDX-License-Identifier: MIT */
/*
 * The environment that a shell starts with: a few variables of our own process,
 * by name, and defaults that keep programs from asking questions.
 */
#include <stdlib.h>
#include <string.h>

#include "base/strv.h"
#include "native/priv.h"

/* Whatever is not here stays out: keys, tokens, LD_PRELOAD, BASH_ENV, NODE_OPTIONS ... */
static const char *const inherited[] = {
    "HOME", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER", "XDG_RUNTIME_DIR",
};

/* Nobody sees an editor: what would start one fails at once, and git says what to do instead. */
static const char no_git_editor[] =
    "echo 'no editor here: use -m or -F for the message, --no-edit to keep it' >&2; false";

static const struct {
    const char *name, *value;
} defaults[] = {
    {"CI",                  "1"                   },
    {"DEBIAN_FRONTEND",     "noninteractive"      },
    {"EDITOR",              "false"               },
    {"GIT_ASKPASS",         "true"                },
    {"GIT_EDITOR",          no_git_editor         },
    {"GIT_PAGER",           "cat"                 },
    {"GIT_SEQUENCE_EDITOR", "false"               }, /* `rebase -i` must not pass unedited */
    {"GIT_SSH_COMMAND",     "ssh -o BatchMode=yes"},
    {"GIT_TERMINAL_PROMPT", "0"                   },
    {"LANG",                "C.UTF-8"             },
    {"LESS",                "FRX"                 },
    {"MANPAGER",            "cat"                 },
    {"PAGER",               "cat"                 },
    {"SSH_ASKPASS_REQUIRE", "never"               },
    {"SYSTEMD_PAGER",       "cat"                 },
    {"TERM",                "dumb"                },
    {"VISUAL",              "false"               },
};

static const char default_path[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

void native_base_env(struct strv *env)
{
    /* Names are constants and the sizes small: these cannot fail. */
    for (size_t i = 0; i < sizeof(inherited) / sizeof(inherited[0]); i++) {
        const char *value = getenv(inherited[i]);
        if (value)
            (void)strv_set_env(env, inherited[i], value);
    }
    if (!strv_get_env(env, "PATH"))
        (void)strv_set_env(env, "PATH", default_path);
    for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
        (void)strv_set_env(env, defaults[i].name, defaults[i].value);
}

/* As bash does with an environment: these it takes from no one. */
static bool is_own(const char *var)
{
    return strncmp(var, "IFS=", 4) == 0 || strncmp(var, "PWD=", 4) == 0;
}

void native_env_script(const struct strv *env, struct buf *out)
{
    for (size_t i = 0; i < env->n; i++) {
        const char *var = env->items[i], *value = strchr(var, '=') + 1;
        if (is_own(var) || native_runs_between(var))
            continue;
        (void)buf_append_str(out, "\\builtin export ");
        (void)buf_append(out, var, (size_t)(value - var));
        (void)native_quote(out, value, strlen(value));
        (void)buf_append_str(out, " 2>/dev/null\n"); /* a variable of bash's own may be readonly */
    }
}
