/* SPDX-License-Identifier: MIT */
/*
 * soak [COMMANDS]: very many commands through one daemon, and what they leave behind.
 *
 * The first half brings the daemon to its usual size; what it has more after the
 * second half has leaked. Ends with a verdict; 1 if anything was left behind.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "report.h"

enum {
    COMMANDS = 20000,
    SESSIONS = 8,
    REOPEN_EVERY = 499,   /* commands, after which one of the sessions is closed and opened */
    GROWTH_MAX_KIB = 512, /* allocators are never quite still */
    PAUSE_US = 300000,    /* what ended last is reaped */
};

/* What agents run: the share of each is its number of rows. */
static const struct {
    const char *text;
    int exit_code;
} texts[] = {
    {":",                                        0  },
    {"true",                                     0  },
    {"echo hello; echo error >&2",               0  },
    {"/bin/true",                                0  },
    {"printf '%s\\n' a b c | sort -r | head -1", 0  },
    {"(exit 7)",                                 7  },
    {"x=$((x + 1)); export LAST=$x; cd /tmp",    0  },
    {"f() { echo \"f $1\"; }; f 1; unset -f f",  0  },
    {"cat <<'END'\nsome text\nEND",              0  },
    {"nosuchcommand",                            127},
    {"head -c 100000 /dev/zero | tr '\\0' x",    0  },
    {"sleep 0.001 & wait",                       0  },
    {"if then",                                  2  },
    {"wc -c",                                    0  },
};
enum { N_TEXTS = sizeof(texts) / sizeof(texts[0]) };

/* Rare, since each costs a new shell or a time limit. */
static void run_rare(struct nacre_session *s, size_t i)
{
    struct nacre_exec_options o = {.size = sizeof(o), .timeout_ms = 20};
    struct nacre_result *r = NULL;
    bool is_exit = i % 2;
    if (nacre_exec(s, is_exit ? "exit 3" : "sleep 9 | cat", NACRE_TEXT, &o, &r, NULL) < 0)
        fail("a rare command does not run");
    int code = nacre_result_exit_code(r);
    if (code != (is_exit ? 3 : 124))
        fail("a rare command ended with %d", code);
    nacre_result_free(r);
}

static void run_usual(struct nacre_session *s, size_t i)
{
    struct nacre_result *r = NULL;
    struct nacre_error *error = NULL;
    if (nacre_exec(s, texts[i % N_TEXTS].text, NACRE_TEXT, NULL, &r, &error) < 0)
        fail("command %zu: %s", i, nacre_error_message(error));
    if (nacre_result_exit_code(r) != texts[i % N_TEXTS].exit_code)
        fail("command %zu, '%s', ended with %d: %s", i, texts[i % N_TEXTS].text,
             nacre_result_exit_code(r), nacre_result_output(r, NULL));
    nacre_result_free(r);
}

/* What the daemon and the processes below it hold. */
struct state {
    double rss_kib;
    size_t fds;
    size_t processes;
    size_t zombies;
};

static size_t count_fds(pid_t pid)
{
    char path[64];
    size_t n = 0;
    (void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    DIR *dir = opendir(path);
    while (dir && readdir(dir))
        n++;
    if (dir)
        (void)closedir(dir);
    return n;
}

/* Parent and state letter of a process; false if it is gone. */
static bool read_stat(const char *pid, pid_t *ret_parent, char *ret_state)
{
    char path[300], text[512];
    (void)snprintf(path, sizeof(path), "/proc/%s/stat", pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    size_t n = fread(text, 1, sizeof(text) - 1, f);
    (void)fclose(f);
    text[n] = '\0';
    const char *after = strrchr(text, ')');
    if (!after || strlen(after) < 5)
        return false;
    *ret_state = after[2];
    *ret_parent = (pid_t)strtol(after + 4, NULL, 10);
    return true;
}

static bool is_below(pid_t pid, pid_t root)
{
    for (int depth = 0; pid > 1 && depth < 32; depth++) {
        char name[16], state;
        if (pid == root)
            return true;
        (void)snprintf(name, sizeof(name), "%d", (int)pid);
        if (!read_stat(name, &pid, &state))
            return false;
    }
    return false;
}

static void count_processes(struct state *state, pid_t root)
{
    DIR *dir = opendir("/proc");
    if (!dir)
        fail("no /proc");
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        pid_t parent;
        char letter;
        if (strspn(e->d_name, "0123456789") != strlen(e->d_name) ||
            !read_stat(e->d_name, &parent, &letter) || !is_below(parent, root))
            continue;
        state->processes++;
        state->zombies += letter == 'Z';
    }
    (void)closedir(dir);
}

static struct state look(const struct stage *stage)
{
    struct state state = {
        .rss_kib = (double)process_kib(stage->daemon_pid, "status", "VmRSS:"),
        .fds = count_fds(stage->daemon_pid),
    };
    count_processes(&state, stage->daemon_pid);
    return state;
}

static void print_state(const char *when, const struct state *s)
{
    printf("%-22s %7.0f KiB, %3zu descriptors, %3zu processes, %zu zombies\n", when, s->rss_kib,
           s->fds, s->processes, s->zombies);
    (void)fflush(stdout);
}

static void run_many(struct stage *stage, struct nacre_session **sessions, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        size_t at = (i / N_TEXTS) % SESSIONS;
        if (i % REOPEN_EVERY == 0) {
            stage_session_end(sessions[at]);
            sessions[at] = stage_session(stage->daemon);
        }
        if (i % 1000 == 500)
            run_rare(sessions[at], i / 1000);
        else
            run_usual(sessions[at], i);
    }
}

static bool is_kept(const char *what, bool kept)
{
    printf("%-40s %s\n", what, kept ? "ok" : "FAILED");
    return kept;
}

static void open_all(struct stage *stage, struct nacre_session **sessions)
{
    for (size_t i = 0; i < SESSIONS; i++)
        sessions[i] = stage_session(stage->daemon);
}

/* What is left when all sessions are closed. */
static struct state close_all(struct stage *stage, struct nacre_session **sessions)
{
    for (size_t i = 0; i < SESSIONS; i++)
        stage_session_end(sessions[i]);
    usleep(PAUSE_US);
    return look(stage);
}

/* The same commands once more must need no more than the first time. */
struct half {
    struct state end, closed;
};

static struct half run_half(struct stage *stage, const char *which, size_t from, size_t to)
{
    struct nacre_session *sessions[SESSIONS];
    struct half half;
    open_all(stage, sessions);
    run_many(stage, sessions, from, to);
    usleep(PAUSE_US);
    half.end = look(stage);
    half.closed = close_all(stage, sessions);
    printf("%s half\n", which);
    print_state("  at its end:", &half.end);
    print_state("  all sessions closed:", &half.closed);
    return half;
}

static bool judge(const struct half *first, const struct half *second)
{
    bool ok = is_kept("no zombies", first->end.zombies + first->closed.zombies +
                                            second->end.zombies + second->closed.zombies ==
                                        0);
    ok &= is_kept("descriptors flat", second->end.fds <= first->end.fds);
    ok &= is_kept("processes flat", second->end.processes <= first->end.processes);
    ok &= is_kept("memory flat", second->end.rss_kib - first->end.rss_kib <= GROWTH_MAX_KIB);
    ok &= is_kept("closed sessions leave no descriptors", second->closed.fds <= first->closed.fds);
    ok &= is_kept("closed sessions leave no processes",
                  second->closed.processes <= first->closed.processes);
    return ok;
}

int main(int argc, char **argv)
{
    size_t commands = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : COMMANDS;
    struct stage stage = {0};
    stage_daemon_start(&stage);
    double from = now_us();
    struct half first = run_half(&stage, "first", 0, commands / 2);
    struct half second = run_half(&stage, "second", commands / 2, commands);
    printf("%zu commands, %.0f per second\n", commands, (double)commands / (now_us() - from) * 1e6);
    stage_daemon_stop(&stage);
    bool ok = judge(&first, &second);
    printf("verdict: %s\n", ok ? "sound" : "something is left behind");
    return ok ? 0 : 1;
}
