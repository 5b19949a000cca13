/* SPDX-License-Identifier: MIT */
/*
 * session/stop - time limits and the ladder that ends a command.
 *
 * INT, grace, TERM, grace, KILL, and after a last wait the command is given up
 * as lost. The kind sends each rung to every process of the command; the ladder
 * stops climbing when the kind reports the end.
 */
#ifndef SESSION_STOP_H
#define SESSION_STOP_H

struct command;

/* Starts the time limit of a command that has just been started. */
void session_stop_arm_limit(struct command *c);

#endif
