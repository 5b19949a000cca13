/* SPDX-License-Identifier: MIT */
/*
 * attack CASE     exit status: 0 blocked, 1 escaped, 2 does not apply here, 3 usage
 * attack --all    all cases, a line for each; 1 if any escaped
 * attack --list   their names
 *
 * Refuses to run where nothing confines it.
 */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { USAGE = 3, SECONDS = 20 };

static const struct attack_group *const groups[] = {
    &attack_files, &attack_processes, &attack_kernel, &attack_network, &attack_limits};

static const char *const words[] = {"blocked", "escaped", "n/a"};

enum attack_result attack_refused(long rc)
{
    return rc < 0 ? ATTACK_BLOCKED : ATTACK_ESCAPED;
}

enum attack_result attack_denied(long rc)
{
    static const int denials[] = {EPERM, EACCES, ENOSYS,       EROFS,           ENOENT,
                                  ENXIO, ESRCH,  EAFNOSUPPORT, EPROTONOSUPPORT, ENETUNREACH};
    for (size_t i = 0; rc < 0 && i < sizeof(denials) / sizeof(denials[0]); i++)
        if (errno == denials[i])
            return ATTACK_BLOCKED;
    return ATTACK_ESCAPED;
}

long attack_number(const char *variable)
{
    const char *text = getenv(variable);
    char *end;
    long value = text ? strtol(text, &end, 10) : -1;
    return text && *text && !*end ? value : -1;
}

enum attack_result attack_open(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return ATTACK_BLOCKED;
    (void)close(fd);
    return ATTACK_ESCAPED;
}

enum attack_result attack_in_child(attack_fn fn)
{
    pid_t pid = fork();
    if (pid < 0)
        return ATTACK_NOT_APPLICABLE;
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)setpgid(0, 0);
        (void)alarm(SECONDS);
        _exit((int)fn());
    }
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    (void)kill(-pid, SIGKILL); /* what it left, if it did not get away */
    return WIFEXITED(status) && WEXITSTATUS(status) <= ATTACK_NOT_APPLICABLE
               ? (enum attack_result)WEXITSTATUS(status)
               : ATTACK_BLOCKED;
}

static const struct attack_case *current;

static enum attack_result run_current(void)
{
    const long *a = current->args;
    if (current->run)
        return current->run();
    return attack_denied(syscall(current->number, a[0], a[1], a[2], a[3], a[4], a[5]));
}

static enum attack_result run_case(const struct attack_case *c)
{
    current = c;
    enum attack_result result = attack_in_child(run_current);
    (void)printf("%s: %s\n", c->name, words[result]);
    (void)fflush(stdout);
    return result;
}

/* Something must hold the program: at least a system call filter or no_new_privs. */
static bool is_confined(void)
{
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 || prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2;
}

int main(int argc, char **argv)
{
    const char *what = argc == 2 ? argv[1] : "";
    bool list = strcmp(what, "--list") == 0, all = strcmp(what, "--all") == 0;
    if (!list && !is_confined()) {
        (void)fputs("attack: nothing confines this process; it must run in a sandbox\n", stderr);
        return USAGE;
    }
    const struct rlimit no_core = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &no_core);
    int status = ATTACK_BLOCKED;
    for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++)
        for (size_t i = 0; i < groups[g]->n_cases; i++) {
            const struct attack_case *c = &groups[g]->cases[i];
            if (list)
                (void)printf("%s\n", c->name);
            else if (all)
                status |= run_case(c) == ATTACK_ESCAPED;
            else if (strcmp(c->name, what) == 0)
                return (int)run_case(c);
        }
    if (list || all)
        return status;
    (void)fprintf(stderr, "attack: no case '%s'; --list names them\n", what);
    return USAGE;
}
