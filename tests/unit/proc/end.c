/* SPDX-License-Identifier: MIT */
/*
 * The end of boxes: nothing survives, however it has detached itself, whoever of
 * runtime, zygote and supervisor dies first. The runner of the tests counts
 * descendants that still run afterwards as well.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/own.h"
#include "box_util.h"
#include "proc/spawn.h"
#include "proc/tree.h"

enum {
    DEATH_MS = 10000,
    RACE_FORKS = 200000, /* a racer gives up after that many, or that time */
    CROWD = 300,
};

static const int64_t race_ns = 5000000000;

/* --- what is run in the boxes: this program, by ROLE in its environment -------- */

static void ignore_all_signals(void)
{
    sigset_t all;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    for (int signo = 1; signo < NSIG; signo++)
        (void)signal(signo, SIG_IGN);
}

static _Noreturn void sleep_for_ever(void)
{
    for (;;)
        (void)pause();
}

static void say_ready(void)
{
    (void)write(9, "\n", 1);
    (void)close(9);
}

static _Noreturn void be_stubborn(int i)
{
    ignore_all_signals();
    if (i % 4 == 0)
        (void)setsid();
    if (i % 4 == 1)
        (void)setpgid(0, 0);
    if (i % 4 == 2 && fork() > 0) /* detached: its parent ends */
        _exit(0);
    if (i % 4 == 2)
        (void)setsid();
    if (i % 3 == 0)
        (void)prctl(PR_SET_DUMPABLE, 0);
    say_ready();
    if (i % 5 == 0)
        (void)raise(SIGSTOP);
    sleep_for_ever();
}

static _Noreturn void be_crowd(void)
{
    for (int i = 0; i < CROWD; i++)
        if (fork() == 0)
            be_stubborn(i);
    say_ready();
    sleep_for_ever();
}

/* Always another process, whose parent is gone already. */
static _Noreturn void race(void)
{
    int64_t end = clock_mono_ns() + race_ns;
    for (int i = 0; i < RACE_FORKS && clock_mono_ns() < end; i++)
        if (fork() > 0)
            _exit(0);
    _exit(0);
}

static _Noreturn void be_racers(void)
{
    for (int i = 0; i < 4; i++) {
        if (fork() == 0) {
            (void)close(9);
            (void)setsid();
            race();
        }
    }
    say_ready();
    sleep_for_ever();
}

static __attribute__((constructor)) void take_role(void)
{
    const char *role = getenv("ROLE");
    if (!role)
        return;
    if (strcmp(role, "crowd") == 0)
        be_crowd();
    if (strcmp(role, "racers") == 0)
        be_racers();
}

/* --- helpers -------------------------------------------------------------------- */

/* Starts this program in that role, and waits until all of it are ready. */
static pid_t start_role(struct fixture *f, const char *role, uint32_t tag)
{
    char self[4096];
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
    CHECK(len > 0);
    self[len] = '\0';
    char env[64];
    (void)snprintf(env, sizeof(env), "ROLE=%s", role);
    int fds[2];
    CHECK_INT(io_pipe(fds), 0);
    struct proc_fd out[] = {
        {fds[1], 9}
    };
    const char *argv[] = {role, NULL};
    const char *envp[] = {env, "ASAN_OPTIONS=detect_leaks=0", NULL};
    struct proc_spec spec = {
        .path = self, .argv = argv, .envp = envp, .fds = out, .n_fds = 1, .umask = -1};
    pid_t pid = fixture_spawn(f, &spec, tag);
    if (pid == 0)
        FAIL("%s: %s", f->told[tag].step, f->told[tag].err.text);
    (void)close(fds[1]);
    auto_buf struct buf ready = BUF_INIT(OUTPUT_MAX);
    CHECK_INT(io_read_fd(fds[0], OUTPUT_MAX, &ready), 0); /* all have closed their end */
    (void)close(fds[0]);
    return pid;
}

static void list_box(struct fixture *f, struct proc_list *list)
{
    pid_t root = proc_box_pid(f->box);
    CHECK_INT(proc_tree_list(&root, 1, list), 0);
}

static size_t count_living(const struct proc_list *list)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n_items; i++) {
        struct proc_info info;
        if (proc_info_read(list->items[i].pid, &info) == 0 &&
            info.starttime == list->items[i].starttime && info.state != 'Z' && info.state != 'X')
            n++;
    }
    return n;
}

static void wait_dead(pid_t pid)
{
    auto_close int pidfd = pidfd_open(pid, 0);
    if (pidfd < 0) {
        CHECK_INT(errno, ESRCH);
        return;
    }
    struct pollfd fd = {.fd = pidfd, .events = POLLIN};
    CHECK_INT(poll(&fd, 1, DEATH_MS), 1);
}

static void wait_all_dead(const struct proc_list *list)
{
    for (size_t i = 0; i < list->n_items; i++) {
        struct proc_info info;
        if (proc_info_read(list->items[i].pid, &info) == 0 &&
            info.starttime == list->items[i].starttime)
            wait_dead(list->items[i].pid);
    }
    CHECK_INT(count_living(list), 0);
}

/* --- tests ---------------------------------------------------------------------- */

TEST(a_crowd_ends_however_it_has_detached_itself)
{
    struct fixture *f = fixture_new();
    (void)start_role(f, "crowd", 0);
    struct proc_list list = {0};
    list_box(f, &list);
    CHECK_INT(list.n_items, CROWD + 1 + CROWD / 4); /* with zombies: parents of the detached */
    int64_t begin = clock_mono_ns();
    fixture_close_box(f);
    int64_t took = clock_mono_ns() - begin;
    CHECK_INT(count_living(&list), 0); /* at once: that is what on_gone says */
    CHECK(!f->lost);
    CHECK(f->told[0].exited);
    CHECK(WIFSIGNALED(f->told[0].exit.status));
    CHECK_INT(WTERMSIG(f->told[0].exit.status), SIGKILL);
    CHECK(took < 5000000000); /* usually 30 ms; machines of the tests may be busy */
    proc_list_done(&list);
    fixture_free(f);
}

TEST(racers_do_not_outrun_the_end)
{
    struct fixture *f = fixture_new();
    (void)start_role(f, "racers", 0);
    int64_t begin = clock_mono_ns();
    fixture_close_box(f);
    CHECK(!f->lost);
    CHECK(clock_mono_ns() - begin < race_ns); /* not because they gave up */
    fixture_free(f);
}

TEST(shell_scripts_end_too)
{
    static const char *const scripts[] = {
        "sleep 1000 & echo >&9; wait",
        "setsid sleep 1000 & echo >&9; exit 0",
        "setsid sh -c 'trap \"\" HUP INT TERM; (sleep 1000 & sleep 1000) & sleep 1000' & echo >&9",
        "sh -c 'kill -STOP $$' & echo >&9; kill -STOP $$",
        "nohup sleep 1000 >/dev/null & echo >&9",
        "while :; do sh -c :; done & echo >&9",
        "echo >&9; kill -9 $$",
    };
    struct fixture *f = fixture_new();
    for (uint32_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
        (void)fixture_start_script(f, scripts[i], i);
    struct proc_list list = {0};
    list_box(f, &list);
    CHECK(list.n_items >= 6);
    fixture_close_box(f);
    CHECK_INT(count_living(&list), 0);
    proc_list_done(&list);
    fixture_free(f);
}

TEST(orphans_are_reaped)
{
    struct fixture *f = fixture_new();
    /* Fifty that end after their parents, when the pipe that they read ends. */
    int fds[2];
    CHECK_INT(io_pipe(fds), 0);
    struct proc_fd in[] = {
        {fds[0], 3}
    };
    const char *argv[] = {"sh", "-c", "i=0; while [ $i -lt 50 ]; do (cat <&3 &) ; i=$((i+1)); done",
                          NULL};
    const char *envp[] = {"PATH=/usr/bin:/bin", NULL};
    struct proc_spec spec = {.argv = argv, .envp = envp, .fds = in, .n_fds = 1, .umask = -1};
    CHECK(fixture_spawn(f, &spec, 0) > 0);
    (void)close(fds[0]);
    CHECK_INT(fixture_wait_exit(f, 0), 0);
    struct proc_list list = {0};
    list_box(f, &list);
    CHECK_INT(list.n_items, 50);
    for (size_t i = 0; i < list.n_items; i++)
        CHECK_INT(list.items[i].ppid, proc_box_pid(f->box));
    (void)close(fds[1]);
    wait_all_dead(&list);
    /* What the supervisor does next comes after it has reaped them. */
    spec = (struct proc_spec){.path = "/bin/true", .argv = argv, .umask = -1};
    do {
        CHECK(fixture_spawn(f, &spec, 1) > 0);
        CHECK_INT(fixture_wait_exit(f, 1), 0);
        proc_list_clear(&list);
        list_box(f, &list);
    } while (list.n_items > 0);
    CHECK_INT(f->n_exited, f->n_spawned);
    proc_list_done(&list);
    fixture_free(f);
}

TEST(a_freed_box_ends_too)
{
    struct fixture *f = fixture_new();
    (void)start_role(f, "crowd", 0);
    struct proc_list list = {0};
    list_box(f, &list);
    proc_box_free(f->box);
    f->box = NULL;
    wait_all_dead(&list);
    proc_list_done(&list);
    fixture_free(f);
}

TEST(freeing_the_zygote_waits_for_the_end)
{
    struct fixture *f = fixture_new();
    (void)start_role(f, "crowd", 0);
    struct proc_list list = {0};
    list_box(f, &list);
    proc_box_free(f->box);
    f->box = NULL;
    proc_zygote_free(f->zygote);
    CHECK_INT(count_living(&list), 0);
    ev_free(f->ev);
    free(f);
    proc_list_done(&list);
}

TEST(a_killed_supervisor_leaves_nothing)
{
    struct fixture *f = fixture_new();
    (void)start_role(f, "crowd", 0);
    (void)start_role(f, "racers", 1);
    struct proc_list list = {0};
    list_box(f, &list);
    CHECK(list.n_items > CROWD);
    CHECK_INT(kill(proc_box_pid(f->box), SIGKILL), 0);
    fixture_wait(f, &f->n_gone, 1);
    CHECK(f->lost);
    CHECK_INT(count_living(&list), 0); /* on_gone waited for the zygote's work */
    CHECK_INT(f->n_exited, 0);
    proc_box_free(f->box);
    fixture_open_box(f); /* the zygote is none the worse */
    (void)fixture_start_script(f, "echo >&9", 2);
    proc_list_done(&list);
    fixture_free(f);
}

TEST(other_boxes_live_on_when_a_supervisor_is_killed)
{
    struct fixture *f = fixture_new();
    struct proc_box *first = f->box;
    (void)start_role(f, "crowd", 0);
    struct proc_list crowd = {0};
    list_box(f, &crowd);
    fixture_open_box(f);
    (void)start_role(f, "racers", 1);
    CHECK_INT(kill(proc_box_pid(f->box), SIGKILL), 0);
    fixture_wait(f, &f->n_gone, 1);
    CHECK(!proc_box_is_gone(first));
    CHECK_INT(count_living(&crowd), CROWD + 1);
    proc_box_free(first);
    proc_list_done(&crowd);
    fixture_free(f);
}

TEST(requests_to_a_killed_supervisor_fail)
{
    struct fixture *f = fixture_new();
    (void)fixture_start_script(f, "echo >&9", 0);
    CHECK_INT(kill(proc_box_pid(f->box), SIGSTOP), 0);
    const char *argv[] = {"true", NULL};
    struct proc_spec spec = {.path = "/bin/true", .argv = argv, .umask = -1};
    for (uint32_t tag = 1; tag <= 3; tag++)
        CHECK_INT(proc_box_spawn(f->box, &spec, tag, NULL), 0);
    CHECK_INT(kill(proc_box_pid(f->box), SIGKILL), 0);
    fixture_wait(f, &f->n_gone, 1);
    CHECK_INT(f->n_failed, 3);
    CHECK_STR(f->told[2].step, "open");
    CHECK_INT(f->told[2].err.code, ERR_LOST);
    fixture_free(f);
}

TEST(a_stopped_supervisor_does_not_hold_up_the_close)
{
    struct fixture *f = calloc(1, sizeof(*f));
    CHECK(f);
    f->ev = ev_new();
    CHECK(f->ev);
    ev_set_fake_clock(f->ev);
    sandbox_plan_init(&f->plan);
    CHECK_INT(proc_zygote_new(f->ev, &f->zygote, NULL), 0);
    fixture_open_box(f);
    (void)start_role(f, "crowd", 0);
    struct proc_list list = {0};
    list_box(f, &list);
    CHECK_INT(kill(proc_box_pid(f->box), SIGSTOP), 0);
    proc_box_close(f->box);
    CHECK_INT(f->n_gone, 0);
    ev_advance(f->ev, 5000);
    fixture_wait(f, &f->n_gone, 1);
    CHECK(f->lost);
    CHECK_INT(count_living(&list), 0);
    proc_list_done(&list);
    fixture_free(f);
}

TEST(a_killed_zygote_is_replaced)
{
    struct fixture *f = fixture_new();
    struct proc_box *first = f->box;
    (void)fixture_start_script(f, "echo >&9; exec sleep 1000", 0);
    pid_t zygote = proc_zygote_pid(f->zygote);
    CHECK_INT(kill(zygote, SIGKILL), 0);
    while (proc_zygote_pid(f->zygote) == zygote)
        CHECK(ev_run_once(f->ev, true));
    (void)fixture_start_script(f, "echo >&9", 1); /* the box lives on */
    fixture_open_box(f);
    CHECK(proc_zygote_pid(f->zygote) > 0);
    (void)fixture_start_script(f, "echo >&9", 2);
    fixture_close_box(f);
    CHECK(!f->lost);

    f->box = first; /* and ends as others do */
    pid_t supervisor = proc_box_pid(first);
    fixture_close_box(f);
    CHECK(!f->lost);
    wait_dead(supervisor);
    fixture_free(f);
}

TEST(a_supervisor_killed_after_its_zygote_is_told_at_once)
{
    struct fixture *f = fixture_new();
    (void)fixture_start_script(f, "echo >&9; exec sleep 1000", 0);
    pid_t sleeper = f->told[0].pid;
    CHECK_INT(kill(proc_zygote_pid(f->zygote), SIGKILL), 0);
    CHECK_INT(kill(proc_box_pid(f->box), SIGKILL), 0);
    fixture_wait(f, &f->n_gone, 1);
    CHECK(f->lost);
    wait_dead(sleeper); /* as a direct child it is tied to the supervisor */
    fixture_free(f);
}

/* --- the death of the runtime ------------------------------------------------------ */

struct message {
    pid_t zygote;
    pid_t boxes[2];
};

/* A runtime in a process of its own, with two boxes full of processes. */
static pid_t start_runtime(bool stop_supervisor, struct message *ret)
{
    int fds[2];
    CHECK_INT(io_pipe(fds), 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        struct fixture *f = fixture_new();
        struct message message = {.zygote = proc_zygote_pid(f->zygote)};
        (void)start_role(f, "crowd", 0);
        message.boxes[0] = proc_box_pid(f->box);
        fixture_open_box(f);
        (void)start_role(f, "racers", 1);
        message.boxes[1] = proc_box_pid(f->box);
        if (stop_supervisor)
            (void)kill(message.boxes[0], SIGSTOP);
        (void)io_write_all(fds[1], &message, sizeof(message));
        sleep_for_ever();
    }
    (void)close(fds[1]);
    CHECK_INT(io_read_full(fds[0], ret, sizeof(*ret)), sizeof(*ret));
    (void)close(fds[0]);
    return pid;
}

static void check_runtime_death(bool stop_supervisor)
{
    struct message message;
    pid_t runtime = start_runtime(stop_supervisor, &message);
    struct proc_list list = {0};
    CHECK_INT(proc_tree_list(&message.zygote, 1, &list), 0);
    CHECK(list.n_items > CROWD);
    CHECK_INT(kill(runtime, SIGKILL), 0);
    CHECK_INT(waitpid(runtime, NULL, 0), runtime);
    wait_dead(message.zygote); /* which outlives all others */
    CHECK_INT(count_living(&list), 0);
    proc_list_done(&list);
}

TEST(a_killed_runtime_leaves_nothing)
{
    check_runtime_death(false);
}

TEST(a_killed_runtime_leaves_nothing_under_a_stopped_supervisor)
{
    check_runtime_death(true);
}
