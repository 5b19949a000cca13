/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test_priv.h"

enum {
    OUTPUT_SHOWN = 64 * 1024, /* the end of what a failed test printed */
    ORPHAN_GRACE_MS = 500,    /* for what is already dying when the test ends */
    KILL_LIMIT_MS = 10 * 1000,
};

struct test_verdict *test_verdict;

static struct test_case *first_test, **next_test = &first_test;
static char scratch_root[PATH_MAX / 2], scratch_dir[PATH_MAX], tmp_dir[PATH_MAX];

void test_add(struct test_case *test)
{
    *next_test = test;
    next_test = &test->next;
}

void __attribute__((weak)) test_collect(void)
{
}

const char *test_dir(void)
{
    return scratch_dir;
}

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --- scratch directories ---------------------------------------------------- */

static void make_scratch(void)
{
    const char *base = getenv("TMPDIR");
    (void)snprintf(scratch_root, sizeof(scratch_root), "%s/nacre-XXXXXX",
                   base && *base ? base : "/tmp");
    bool ok = mkdtemp(scratch_root) != NULL;
    (void)snprintf(scratch_dir, sizeof(scratch_dir), "%s/dir", scratch_root);
    (void)snprintf(tmp_dir, sizeof(tmp_dir), "%s/tmp", scratch_root);
    if (!ok || mkdir(scratch_dir, 0755) < 0 || mkdir(tmp_dir, 0755) < 0) {
        perror(scratch_root);
        exit(2);
    }
}

static bool run_tool(const char *const argv[])
{
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        (void)dup2(null, STDOUT_FILENO);
        (void)dup2(null, STDERR_FILENO);
        (void)execvp(argv[0], (char *const *)argv);
        _exit(127);
    }
    int status = -1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status == 0;
}

/* rm knows trees that are deeper than a path may be long; rmdir is quick for the usual case. */
static bool remove_tree(const char *path)
{
    if (rmdir(path) == 0)
        return true;
    const char *const remove[] = {"rm", "-rf", "--one-file-system", "--", path, NULL};
    const char *const open_up[] = {"chmod", "-R", "u+rwX", "--", path, NULL};
    if (run_tool(remove))
        return true;
    (void)run_tool(open_up);
    return run_tool(remove);
}

static void check_tmp_is_empty(void)
{
    DIR *dir = opendir(tmp_dir);
    if (!dir) {
        test_report("TMPDIR is gone: %s", strerror(errno));
        return;
    }
    for (struct dirent *entry; (entry = readdir(dir));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            test_report("left a file in TMPDIR: %s", entry->d_name);
    (void)closedir(dir);
}

static void remove_scratch(void)
{
    if (!remove_tree(scratch_dir) || !remove_tree(tmp_dir) || !remove_tree(scratch_root))
        test_report("cannot remove %s (is something mounted there?)", scratch_root);
}

/* --- the process of a test --------------------------------------------------- */

static void enter_test(int output)
{
    /* A runner that is killed takes the test with it. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)setpgid(0, 0);
    for (int sig = 1; sig < NSIG; sig++)
        (void)signal(sig, SIG_DFL);
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    (void)umask(022);

    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    (void)dup2(null, STDIN_FILENO);
    (void)dup2(output, STDOUT_FILENO);
    (void)dup2(output, STDERR_FILENO);
    (void)close(null);
    (void)close(output);
    (void)setvbuf(stdout, NULL, _IONBF, 0);

    if (chdir(scratch_dir) < 0 || setenv("TEST_TMP", scratch_dir, 1) < 0 ||
        setenv("TMPDIR", tmp_dir, 1) < 0)
        FAIL("cannot enter %s: %s", scratch_dir, strerror(errno));
}

static _Noreturn void run_body(const struct test_case *test, int output)
{
    enter_test(output);
    pid_t self = getpid();
    struct leak_state *before = leak_state_take();

    test->body(test);

    if (getpid() != self) {
        test_report("a forked child returned from the body of the test");
        _exit(TEST_EXIT_FAILED);
    }
    if (!leak_check(before))
        _exit(TEST_EXIT_FAILED);
    test_verdict->finished = true;
    exit(0); /* not _exit: the leak sanitizer looks when exit() is called */
}

/* --- the runner --------------------------------------------------------------- */

static int time_scale(void)
{
    const char *scale = getenv("TEST_TIMEOUT_SCALE");
    int n = scale ? (int)strtol(scale, NULL, 10) : 1;
    return n > 0 ? n : 1;
}

/* Waits until a child may have ended, or until the time; SIGCHLD is blocked. */
static void await_child(int64_t until)
{
    int64_t left = until - now_ms();
    if (left <= 0)
        return;
    struct timespec wait = {.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000};
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGCHLD);
    (void)sigtimedwait(&set, NULL, &wait);
}

/* Reaps what has ended, orphans too. True, with its status, when pid is among it. */
static bool reap(pid_t pid, int *ret_status, bool *ret_none_left)
{
    bool found = false;
    for (;;) {
        int status;
        pid_t ended = waitpid(-1, &status, WNOHANG | __WALL);
        if (ended <= 0) {
            *ret_none_left = ended < 0;
            return found;
        }
        if (ended == pid) {
            *ret_status = status;
            found = true;
        }
    }
}

static void report_running(pid_t child, char state, void *arg)
{
    (void)arg;
    char text[600];
    test_report("    it had a child process %s, state %c", leak_describe(child, text, sizeof(text)),
                state);
}

static int await_test(const struct test_case *test, pid_t pid)
{
    int limit_s = test->timeout_s * time_scale();
    int64_t deadline = now_ms() + limit_s * INT64_C(1000);
    bool none_left, timed_out = false;
    int status = 0;

    while (!reap(pid, &status, &none_left)) {
        if (!timed_out && now_ms() >= deadline) {
            timed_out = true;
            test_report("timed out after %d s", limit_s);
            leak_each_child(pid, report_running, NULL);
            (void)kill(-pid, SIGKILL);
            (void)kill(pid, SIGKILL);
            deadline += KILL_LIMIT_MS;
        }
        await_child(timed_out ? now_ms() + 100 : deadline);
    }
    return status;
}

static void kill_child(pid_t child, char state, void *arg)
{
    bool *first = arg;
    char text[600];
    if (*first && state != 'Z')
        test_report("leaked process %s, state %c", leak_describe(child, text, sizeof(text)), state);
    (void)kill(child, SIGKILL);
}

/* What the test left behind is now a child of the runner. */
static void end_orphans(void)
{
    int64_t grace = now_ms() + ORPHAN_GRACE_MS;
    int64_t limit = grace + KILL_LIMIT_MS;
    bool none_left = false, first = true;
    int status;

    while ((void)reap(0, &status, &none_left), !none_left && now_ms() < grace)
        await_child(now_ms() + 10);
    while (!none_left && now_ms() < limit) {
        leak_each_child(getpid(), kill_child, &first);
        first = false;
        await_child(now_ms() + 10);
        (void)reap(0, &status, &none_left);
    }
    if (!none_left)
        test_report("processes of the test cannot be killed");
}

static void judge(int status)
{
    if (test_verdict->failed || test_verdict->skipped)
        return;
    if (WIFSIGNALED(status))
        test_report("ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (!test_verdict->finished)
        test_report("exit(%d) before the end of the test", WEXITSTATUS(status));
    else if (WEXITSTATUS(status) != 0)
        test_report("exit status %d after the test", WEXITSTATUS(status));
}

static void print_diagnostic(const char *text, size_t len)
{
    bool line_start = true;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (line_start)
            printf("#   ");
        line_start = c == '\n';
        if (c == '\n' || c == '\t' || (c >= 0x20 && c != 0x7f))
            putchar(c);
        else
            printf("\\x%02x", c);
    }
    if (!line_start)
        putchar('\n');
}

static void print_output(int output)
{
    static char text[OUTPUT_SHOWN];
    struct stat stat;
    if (fstat(output, &stat) < 0 || stat.st_size == 0)
        return;
    off_t from = stat.st_size > OUTPUT_SHOWN ? stat.st_size - OUTPUT_SHOWN : 0;
    ssize_t len = pread(output, text, sizeof(text), from);
    printf("#   --- output%s\n", from > 0 ? " (its end)" : "");
    print_diagnostic(text, len > 0 ? (size_t)len : 0);
}

/* Returns whether the test passed or was skipped. */
static bool run_test(const struct test_case *test, int number)
{
    int output = memfd_create("output", MFD_CLOEXEC);
    *test_verdict = (struct test_verdict){0};
    make_scratch();
    (void)fflush(stdout);

    pid_t pid = fork();
    if (pid < 0 || output < 0) {
        perror("cannot start a test");
        exit(2);
    }
    if (pid == 0)
        run_body(test, output);

    int status = await_test(test, pid);
    end_orphans();
    judge(status);
    if (!test_verdict->failed && !test_verdict->skipped)
        check_tmp_is_empty();
    remove_scratch();

    bool ok = !test_verdict->failed;
    printf("%s %d - %s", ok ? "ok" : "not ok", number, test->name);
    if (ok && test_verdict->skipped)
        printf(" # SKIP %s", test_verdict->reason);
    putchar('\n');
    if (!ok) {
        print_diagnostic(test_verdict->report, test_verdict->report_len);
        print_output(output);
    }
    (void)fflush(stdout);
    (void)close(output);
    return ok;
}

static bool is_wanted(const struct test_case *test, char **names)
{
    if (!*names)
        return !test->hidden;
    for (; *names; names++)
        if (strcmp(test->name, *names) == 0)
            return true;
    return false;
}

static const char *find_unknown(char **names)
{
    for (; *names; names++) {
        const struct test_case *test = first_test;
        while (test && strcmp(test->name, *names) != 0)
            test = test->next;
        if (!test)
            return *names;
    }
    return NULL;
}

static void list_tests(void)
{
    for (const struct test_case *test = first_test; test; test = test->next)
        if (!test->hidden)
            puts(test->name);
}

static void prepare_runner(void)
{
    /* What make or a terminal left open is not for the tests. */
    (void)close_range(3, ~0U, 0);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGCHLD, SIG_DFL);

    test_verdict = mmap(NULL, sizeof(*test_verdict), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (test_verdict == MAP_FAILED) {
        perror("mmap");
        exit(2);
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    test_collect();
    if (argv[1] && strcmp(argv[1], "--list") == 0) {
        list_tests();
        return 0;
    }
    const char *unknown = find_unknown(argv + 1);
    if (unknown) {
        fprintf(stderr, "no test is named '%s'; --list shows them\n", unknown);
        return 2;
    }

    prepare_runner();
    int n = 0, n_failed = 0;
    for (const struct test_case *test = first_test; test; test = test->next)
        n += is_wanted(test, argv + 1);
    printf("1..%d\n", n);
    n = 0;
    for (const struct test_case *test = first_test; test; test = test->next)
        if (is_wanted(test, argv + 1))
            n_failed += !run_test(test, ++n);
    return n_failed > 0;
}
