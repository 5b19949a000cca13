/* SPDX-License-Identifier: MIT */
/*
 * sandbox/zygote - the process that forks supervisors.
 *
 * It is small and has one thread, so that a fork of it costs little, however
 * large the runtime is. It backs the supervisors up: when one dies, the zygote
 * ends what that one leaves behind; when the runtime is gone, it sees to it that
 * all supervisors come to their end.
 */
#ifndef SANDBOX_ZYGOTE_H
#define SANDBOX_ZYGOTE_H

/*
 * Serves the socket to the runtime. Returns when it has ended and no process is left, with what
 * the program is to exit with. Closes every other descriptor and blocks all signals.
 */
int sandbox_zygote_serve(int sock);

#endif
