/* SPDX-License-Identifier: MIT */
#include "cli/term.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static struct termios cooked;
static volatile sig_atomic_t is_raw;

bool cli_term_size(uint16_t *ret_rows, uint16_t *ret_cols)
{
    static const int fds[] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        struct winsize size;
        if (ioctl(fds[i], TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col) {
            *ret_rows = size.ws_row;
            *ret_cols = size.ws_col;
            return true;
        }
    }
    return false;
}

void cli_term_restore(void)
{
    if (!is_raw)
        return;
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &cooked);
    is_raw = 0;
}

static void on_fatal(int signo)
{
    cli_term_restore();
    (void)raise(signo); /* SA_RESETHAND: the default action follows */
}

static void catch_fatal(void)
{
    static const int fatal[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGQUIT};
    struct sigaction action = {.sa_handler = on_fatal, .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
        (void)sigaction(fatal[i], &action, NULL);
}

bool cli_term_raw(void)
{
    static bool prepared;
    if (!isatty(STDIN_FILENO))
        return false;
    if (!is_raw && tcgetattr(STDIN_FILENO, &cooked) < 0)
        return false;
    struct termios raw = cooked;
    cfmakeraw(&raw);
    if (!prepared) {
        (void)atexit(cli_term_restore);
        catch_fatal();
        prepared = true;
    }
    is_raw = 1;
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    return true;
}
