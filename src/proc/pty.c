/* SPDX-License-Identifier: MIT */
#include "proc/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/err.h"
#include "base/own.h"

int proc_pty_open(uint16_t rows, uint16_t cols, int *ret_master, int *ret_slave, struct err *err)
{
    auto_close int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0)
        return err_set(err, errno, "open a terminal");
    if (unlockpt(master) < 0)
        return err_set(err, errno, "unlock a terminal");
    /* By the master, not by a name: right also where another /dev/pts is mounted. */
    auto_close int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0)
        return err_set(err, errno, "open the slave of a terminal");
    int rc = proc_pty_resize(master, rows, cols, err);
    if (rc < 0)
        return rc;
    *ret_master = take_fd(&master);
    *ret_slave = take_fd(&slave);
    return 0;
}

int proc_pty_resize(int master, uint16_t rows, uint16_t cols, struct err *err)
{
    struct winsize size = {.ws_row = rows, .ws_col = cols};
    if (ioctl(master, TIOCSWINSZ, &size) < 0)
        return err_set(err, errno, "set the size of a terminal to %u x %u", rows, cols);
    return 0;
}
