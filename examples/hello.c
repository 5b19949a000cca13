/* SPDX-License-Identifier: MIT */
/* The least: cc hello.c $(pkg-config --cflags --libs nacre) */
#include <nacre/nacre.h>
#include <stdio.h>

int main(void)
{
    struct nacre *n;
    struct nacre_session *s;
    struct nacre_result *r;
    if (nacre_open(NULL, &n, NULL) < 0 || nacre_session_open(n, NULL, &s, NULL) < 0)
        return 1;
    if (nacre_exec(s, "cd /tmp && echo \"hello from $PWD\"", NACRE_TEXT, NULL, &r, NULL) < 0)
        return 1;
    printf("%s(exit code %d)\n", nacre_result_output(r, NULL), nacre_result_exit_code(r));
    nacre_result_free(r);
    nacre_session_free(s);
    nacre_close(n);
    return 0;
}
