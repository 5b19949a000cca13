/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <linux/sched.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "cgroup/priv.h"
#include "unit/cgroup/util.h"

enum { HOSTILE = 200, HOSTILE_MAX = 3 * HOSTILE, RACERS = 4, NOBODY = 65534 };

TEST(what_there_is_has_a_name_and_what_not_a_reason)
{
    struct world w = {0};
    world_open(&w);
    for (enum cgroup_controller c = 0; c < CGROUP_CONTROLLER_END; c++) {
        if (cgroup_system_version(w.system, c) == CGROUP_NONE)
            CHECK(cgroup_system_why(w.system, c)[0]);
        else
            CHECK(cgroup_controller_name(c, cgroup_system_version(w.system, c)));
    }
    world_close(&w);
}

TEST(names_are_taken_once)
{
    struct world w = {0};
    world_open(&w);
    world_begin(&w);
    struct cgroup *group = make_group(w.instance, &(struct cgroup_options){.name = "g"});
    struct cgroup *other;
    struct err err = {0};
    CHECK_INT(cgroup_create(w.instance, &(struct cgroup_options){.name = "g"}, &other, &err),
              -ERR_EXISTS);
    CHECK_INT(cgroup_create(w.instance, &(struct cgroup_options){.name = "../x"}, &other, &err),
              -ERR_INVALID);
    CHECK_INT(cgroup_instance_open(w.system, w.name, &other, &err), -ERR_EXISTS);
    CHECK_INT(cgroup_instance_open(w.system, "a/b", &other, &err), -ERR_INVALID);
    end_group(group, NULL);
    group = make_group(w.instance, &(struct cgroup_options){.name = "g"});
    end_group(group, NULL);
    world_close(&w);
}

TEST(where_there_is_nothing_it_is_said)
{
    struct world w = {0};
    world_open(&w);
    world_hide_v2(&w);
    for (size_t i = 1; i < w.system->n_trees; i++) {
        (void)unlinkat(w.system->trees[i].fd, "nacre", AT_REMOVEDIR);
        own_close_fd(&w.system->trees[i].fd);
        w.system->trees[i].usable = 0;
    }
    struct cgroup *group;
    struct err err = {0};
    CHECK_INT(cgroup_instance_open(w.system, w.name, &group, &err), -ERR_UNSUPPORTED);
    CHECK(strncmp(err.text, "no control groups: ", 19) == 0 && err.text[19]);
    CHECK_INT(cgroup_system_watch(w.system, &err), -ERR_UNSUPPORTED);
    world_close(&w);
}

static int stay(void)
{
    for (;;)
        (void)pause();
    return 0;
}

TEST(a_process_is_born_in_a_group)
{
    struct world w = {0};
    world_open(&w);
    world_begin(&w);
    struct cgroup *group = make_group(w.instance, &(struct cgroup_options){.name = "g"});
    int fd = cgroup_fd(group, NULL);
    if (fd < 0) {
        end_group(group, NULL);
        world_close(&w);
        SKIP("no version 2 tree");
    }
    CHECK(!cgroup_is_populated(group));
    struct clone_args args = {
        .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (unsigned)fd};
    pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
    CHECK(pid >= 0);
    if (pid == 0)
        _exit(stay());
    CHECK(cgroup_is_populated(group));
    cgroup_kill(group);
    CHECK_INT(WTERMSIG(wait_for(pid)), SIGKILL);
    end_group(group, NULL);
    world_close(&w);
}

/* ---- the end ---- */

/* As much as it takes to get away from whoever looks at process groups, sessions or parents. */
static void be_hostile(int i)
{
    for (int sig = 1; sig < 32; sig++)
        (void)signal(sig, SIG_IGN);
    if (i % 3 == 0 && fork() != 0)
        _exit(0);
    if (i % 2 == 0)
        (void)setsid();
    if (i % 4 == 1)
        (void)prctl(PR_SET_DUMPABLE, 0);
    if (i % 5 == 0)
        (void)raise(SIGSTOP);
    _exit(stay());
}

static void race(void)
{
    for (;;) {
        if (fork() > 0)
            _exit(0);
    }
}

static int start_hostile(void)
{
    int n = is_slow() ? HOSTILE / 10 : HOSTILE;
    for (int i = 0; i < n; i++) {
        if (fork() == 0)
            be_hostile(i);
    }
    for (int i = 0; i < RACERS; i++) {
        if (fork() == 0)
            race();
    }
    return 0;
}

/* Kills as the system lets it; options make it have a freezer of version 1 or not. */
static void check_hostile(struct world *w, unsigned account)
{
    world_begin(w);
    /* The racers are bounded, in case the test fails. */
    struct cgroup_options options = {.name = "hostile",
                                     .limits = {.pids = HOSTILE_MAX},
                                     .optional = CGROUP_BIT(CGROUP_PIDS),
                                     .account = account};
    struct cgroup *group = make_group(w->instance, &options);
    CHECK_INT(run_in(group, start_hostile), 0);
    CHECK(cgroup_is_populated(group));
    cgroup_kill(group);
    struct cgroup_usage usage;
    end_group(group, &usage);
    world_close(w);
}

TEST(hostile_processes_end)
{
    struct world w = {0};
    world_open(&w);
    check_hostile(&w, 0);
}

TEST(hostile_processes_end_without_cgroup_kill)
{
    struct world w = {0};
    world_open(&w);
    w.system->has_kill = false;
    check_hostile(&w, 0);
}

TEST(hostile_processes_end_by_the_freezer_of_version_1)
{
    struct world w = {0};
    world_open(&w);
    world_hide_v2(&w);
    world_need(&w, CGROUP_FREEZER);
    check_hostile(&w, 0);
}

TEST(hostile_processes_end_by_passes)
{
    struct world w = {0};
    world_open(&w);
    world_hide_v2(&w);
    world_need(&w, CGROUP_PIDS);
    for (size_t i = 1; i < w.system->n_trees; i++)
        w.system->trees[i].usable &= ~CGROUP_BIT(CGROUP_FREEZER);
    check_hostile(&w, 0);
}

TEST(groups_inside_end_with_the_group)
{
    struct world w = {0};
    world_open(&w);
    world_begin(&w);
    struct cgroup *outer =
        make_group(w.instance, &(struct cgroup_options){.name = "outer", .holds_groups = true});
    struct cgroup *inner = make_group(outer, &(struct cgroup_options){.name = "inner"});
    pid_t pid = start_in(inner, stay);
    CHECK_INT(cgroup_end(outer, NULL, NULL), -ERR_BUSY);
    CHECK(cgroup_wait_ms(outer) <= 2);
    CHECK_INT(WTERMSIG(wait_for(pid)), SIGKILL);
    cgroup_free(inner);
    end_group(outer, NULL);
    world_close(&w);
}

static void note_empty(struct cgroup *group, void *ctx)
{
    (void)group;
    ++*(int *)ctx;
}

TEST(an_empty_group_is_told)
{
    struct world w = {0};
    world_open(&w);
    int fd = cgroup_system_watch(w.system, NULL);
    if (fd < 0) {
        world_close(&w);
        SKIP("no version 2 tree");
    }
    world_begin(&w);
    struct cgroup *group = make_group(w.instance, &(struct cgroup_options){.name = "g"});
    struct cgroup *other = make_group(w.instance, &(struct cgroup_options){.name = "other"});
    int n = 0, n_other = 0;
    CHECK_INT(cgroup_watch(group, note_empty, &n, NULL), 0);
    CHECK_INT(cgroup_watch(other, note_empty, &n_other, NULL), 0);
    pid_t pid = start_in(group, stay);
    CHECK(cgroup_is_populated(group));
    struct pollfd events = {.fd = cgroup_events_fd(group, NULL), .events = POLLPRI};
    (void)cgroup_is_populated(group); /* what was told until now is read */
    cgroup_kill(group);
    CHECK_INT(poll(&events, 1, 10000), 1);
    CHECK(events.revents & POLLPRI);
    while (n == 0) {
        struct pollfd all = {.fd = fd, .events = POLLIN};
        CHECK_INT(poll(&all, 1, 10000), 1);
        cgroup_system_dispatch(w.system);
    }
    CHECK_INT(n_other, 0);
    CHECK_INT(WTERMSIG(wait_for(pid)), SIGKILL);
    end_group(group, NULL);
    end_group(other, NULL);
    world_close(&w);
}

/* ---- what others leave ---- */

static bool is_alive(const char *name, void *ctx)
{
    return strcmp(name, ctx) != 0;
}

TEST(what_a_runtime_left_is_swept)
{
    struct world w = {0};
    world_open(&w);
    world_begin(&w);
    struct cgroup *group = make_group(w.instance, &(struct cgroup_options){.name = "mine"});
    pid_t mine = start_in(group, stay);

    char name[64];
    (void)snprintf(name, sizeof(name), "test-%d-left", getpid());
    struct cgroup *left;
    CHECK_INT(cgroup_instance_open(w.system, name, &left, NULL), 0);
    struct cgroup_options options = {.name = "s", .holds_groups = true, .account = ~0U >> 26};
    struct cgroup *session = make_group(left, &options);
    options.holds_groups = false;
    struct cgroup *command = make_group(session, &options);
    pid_t theirs = start_in(command, stay);
    cgroup_free(command);
    cgroup_free(session);
    cgroup_free(left);

    CHECK_INT(cgroup_sweep(w.system, is_alive, name, END_MS, NULL), 1);
    CHECK_INT(cgroup_sweep(w.system, is_alive, name, END_MS, NULL), 0);
    CHECK_INT(WTERMSIG(wait_for(theirs)), SIGKILL);
    CHECK_INT(kill(mine, 0), 0);
    CHECK(cgroup_is_populated(group));
    end_group(group, NULL);
    (void)wait_for(mine);
    world_close(&w);
}

TEST(the_last_runtime_takes_the_base_away)
{
    struct world w = {0}, other = {0};
    world_open(&w);
    CHECK_INT(cgroup_system_open(NULL, &other.system, NULL), 0);
    cgroup_system_free(other.system); /* if nobody else runs, it has removed "nacre" */
    world_begin(&w);
    struct cgroup *group = make_group(w.instance, &(struct cgroup_options){.name = "g"});
    pid_t pid = start_in(group, stay);
    cgroup_kill(group);
    (void)wait_for(pid);
    end_group(group, NULL);
    world_close(&w);
}

/* ---- delegation ---- */

static void give_away(const struct cgroup_tree *tree, const char *path)
{
    static const char *const files[] = {"", "/cgroup.procs", "/cgroup.threads",
                                        "/cgroup.subtree_control"};
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        char file[CGROUP_PATH_SIZE];
        (void)snprintf(file, sizeof(file), "%s%s", path, files[i]);
        CHECK_INT(fchownat(tree->fd, file, NOBODY, NOBODY, 0), 0);
    }
}

#define OR_TELL(cond)                                                                              \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            (void)dprintf(2, "line %d: %s; %s\n", __LINE__, #cond, err.text);                      \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

/* What somebody without privileges can do in a group that is his. */
static int use_delegated(void)
{
    struct err err = {0};
    OR_TELL(setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0);
    struct cgroup_system *system;
    OR_TELL(cgroup_system_open(&(struct cgroup_settings){.may_move = true}, &system, &err) == 0);
    struct cgroup_tree *v2 = &system->trees[0];
    err = v2->why;
    OR_TELL(v2->fd >= 0 && strcmp(v2->parent, v2->own) == 0);
    /* To have controllers, it had to move itself. */
    OR_TELL(v2->usable == v2->controllers && !v2->leaf == !v2->controllers);
    struct cgroup *instance, *group;
    OR_TELL(cgroup_instance_open(system, "mine", &instance, &err) == 0);
    struct cgroup_options options = {
        .name = "g",
        .limits = {.pids = 5, .memory_bytes = 64 << 20, .cpu_percent = 50},
        .optional = v2->controllers ? 0 : ~0U
    };
    OR_TELL(cgroup_create(instance, &options, &group, &err) == 0);
    pid_t pid = start_in(group, stay);
    cgroup_kill(group);
    OR_TELL(WTERMSIG(wait_for(pid)) == SIGKILL);
    OR_TELL(cgroup_end_wait(group, END_MS, NULL, &err) == 0);
    OR_TELL(cgroup_end_wait(instance, END_MS, NULL, &err) == 0);
    cgroup_free(group);
    cgroup_free(instance);
    cgroup_system_free(system);
    return 0;
}

TEST(a_user_has_groups_in_what_is_delegated)
{
    struct world w = {0};
    world_open(&w);
    if (w.system->trees[0].fd < 0) {
        world_close(&w);
        SKIP("no version 2 tree");
    }
    world_begin(&w);
    struct cgroup *group = make_group(w.instance, &(struct cgroup_options){.name = "user"});
    give_away(&w.system->trees[0], cgroup_path(group));
    CHECK_INT(run_in(group, use_delegated), 0);
    CHECK(!cgroup_is_populated(group));
    end_group(group, NULL);
    world_close(&w);
}

/* The last one: leaves nothing of tests that failed. */
TEST(nothing_is_left_by_tests)
{
    struct world w = {0};
    world_open(&w);
    world_close(&w);
}
