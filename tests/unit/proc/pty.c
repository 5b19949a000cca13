/* SPDX-License-Identifier: MIT */
#include "proc/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/err.h"
#include "lib/test.h"

static void check_size(int fd, int rows, int cols)
{
    struct winsize size;
    CHECK_INT(ioctl(fd, TIOCGWINSZ, &size), 0);
    CHECK_INT(size.ws_row, rows);
    CHECK_INT(size.ws_col, cols);
}

TEST(a_terminal_has_its_size_and_carries_bytes)
{
    int master, slave;
    CHECK_INT(proc_pty_open(40, 132, &master, &slave, NULL), 0);
    CHECK_INT(fcntl(master, F_GETFD), FD_CLOEXEC);
    CHECK_INT(fcntl(slave, F_GETFD), FD_CLOEXEC);
    CHECK(isatty(slave));
    check_size(slave, 40, 132);
    CHECK_INT(proc_pty_resize(master, 10, 20, NULL), 0);
    check_size(slave, 10, 20);

    char text[16];
    CHECK_INT(write(master, "in\n", 3), 3);
    CHECK_INT(read(slave, text, sizeof(text)), 3);
    CHECK_INT(read(master, text, sizeof(text)), 4); /* the echo, with its carriage return */
    (void)close(slave);
    CHECK_INT(read(master, text, sizeof(text)), -1);
    CHECK_INT(errno, EIO);
    (void)close(master);

    struct err err = {0};
    CHECK_INT(proc_pty_resize(master, 1, 1, &err), -EBADF);
    CHECK(err.text[0]);
}
