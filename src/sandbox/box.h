/* SPDX-License-Identifier: MIT */
/*
 * sandbox/box - the supervisor: parent of a box's processes, and the end of them.
 *
 * One small process per box. It starts processes, tells of their end, reaps what
 * they leave behind, and ends them all when it is told to, when the runtime is
 * gone, or when the zygote says that everything ends.
 */
#ifndef SANDBOX_BOX_H
#define SANDBOX_BOX_H

struct sandbox_means;
struct sandbox_plan;
struct sandbox_trees;

/*
 * Finishes what the plan wants and serves the socket until no process of the box is left after its
 * end, then exits. For a process that was just forked into the plan's namespaces, has one thread,
 * all signals blocked and /dev/null as descriptors 0 to 2. end_fd becomes readable when everything
 * ends. trees: the plan's sources if they had to be opened outside, NULL if not.
 */
_Noreturn void sandbox_box_serve(int sock, int end_fd, const struct sandbox_plan *plan,
                                 const struct sandbox_means *means, struct sandbox_trees *trees);

#endif
