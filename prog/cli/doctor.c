/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/buf.h"
#include "cli/check.h"
#include "cli/report.h"
#include "cli/verbs.h"
#include "json/write.h"

enum { REPORT_MAX = 256 * 1024, NAME_WIDTH = 12 };

static void write_json(struct json_w *w, const struct cli_check *check,
                       const struct cli_check_result *result)
{
    json_w_obj(w);
    json_w_kstr(w, "name", check->name);
    json_w_kstr(w, "status", result->hint ? "failed" : "ok");
    json_w_key(w, "detail");
    json_w_str_lossy(w, result->detail, strlen(result->detail));
    json_w_kstr(w, "hint", result->hint);
    json_w_obj_end(w);
}

static void print_line(const struct cli_check *check, const struct cli_check_result *result)
{
    cli_print("%-6s  %-*s  %s\n", result->hint ? "failed" : "ok", NAME_WIDTH, check->name,
              result->detail);
    if (result->hint)
        cli_print("%-6s  %-*s  to mend it: %s\n", "", NAME_WIDTH, "", result->hint);
}

int cli_doctor(const struct cli_args *args)
{
    auto_buf struct buf text = BUF_INIT(REPORT_MAX);
    struct json_w w;
    json_w_init(&w, &text);
    json_w_obj(&w);
    json_w_kstr(&w, "version", NACRE_VERSION);
    json_w_kstr(&w, "isolation", "none");
    json_w_karr(&w, "checks");
    int status = CLI_OK;
    for (const struct cli_check *check = cli_checks; check->name; check++) {
        struct cli_check_result result;
        if (cli_check_run(check, &result) < 0)
            status = CLI_UNMET;
        write_json(&w, check, &result);
        if (!args->json)
            print_line(check, &result);
    }
    json_w_arr_end(&w);
    json_w_kbool(&w, "ok", status == CLI_OK);
    json_w_obj_end(&w);
    if (args->json)
        cli_print("%s\n", buf_cstr(&text));
    else
        cli_print("%-6s  %-*s  none: a command may do what you may\n", "note", NAME_WIDTH,
                  "isolation");
    return cli_flush(args, status);
}
