/* SPDX-License-Identifier: MIT */
/* base/rundir - where short-lived files go: FIFOs, command texts, sockets. */
#ifndef BASE_RUNDIR_H
#define BASE_RUNDIR_H

struct err;

/*
 * A directory of this user alone (0700, owner checked), made if it is missing, on a file system in
 * memory where there is one: $XDG_RUNTIME_DIR/nacre, /run/nacre for root, else
 * /dev/shm/nacre-UID, else /tmp/nacre-UID. On disk a command costs a millisecond more.
 * *ret_path is for the caller to free. -ERR_DENIED if the directory is somebody else's.
 */
int rundir_find(char **ret_path, struct err *err);

/* One runtime's own directory; its lock says that the runtime lives. */
struct rundir {
    char *path;
    int lock; /* a locked descriptor of the directory */
};

/*
 * A new private directory below `base` (NULL: rundir_find()). What runtimes left there that were
 * killed is removed on the way.
 */
int rundir_open(const char *base, struct rundir *ret, struct err *err);

/* Removes it with all it holds. */
void rundir_close(struct rundir *dir);

#endif
