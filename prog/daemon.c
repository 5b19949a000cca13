/* SPDX-License-Identifier: MIT */
/*
 * nacred - the daemon: wires the modules, runs the loop, ends cleanly.
 *
 * Without --foreground the program returns when the daemon is ready (status 0), or
 * prints why there is none (status 1): a pipe between the two says so.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/own.h"
#include "base/rundir.h"
#include "base/size.h"
#include "client/client.h"
#include "control/control.h"
#include "ev/ev.h"
#include "native/native.h"
#include "rt/rt.h"
#include "store/store.h"
#include "wire/proto.h"

enum {
    FAILED = 1,
    USAGE = 2,
    PATH_BYTES_MAX = 8192,
    LOCK_WAIT_MS = 8000, /* a daemon that is ending gets so long; less than clients wait for us */
    LOCK_RETRY_MS = 5,
    IDLE_CHECK_MS = 1000,
    IDLE_EXIT_MAX_S = 365 * 24 * 3600,
    POOL_SIZE = 2,   /* shells started ahead */
    FILES_MIN = 128, /* open files: some 40 for the daemon and its pool, 15 for each session */
};

struct options {
    const char *socket, *state_dir, *run_dir;
    const char *idle_exit, *output_max, *results_max;
    bool foreground, version, help;
};

struct daemon {
    char *socket, *state_dir;
    int64_t idle_exit_ms;             /* 0: never */
    uint64_t output_max, results_max; /* 0: the default */
    int socket_lock, state_lock;
    struct rundir run;
    struct ev *ev;
    struct store *store;
    struct native *native;
    const struct session_kind *kinds[2]; /* NULL-terminated; lives as long as rt */
    struct rt *rt;
    struct control *control;
    struct ev_signal term, interrupt;
    struct ev_timer idle;
    uint64_t idle_since_ns; /* 0: not idle */
};

/* ---- options ---- */

static const struct option {
    const char *name, *arg, *help; /* no arg: a flag */
    size_t at;
} option_table[] = {
    {"socket",      "PATH",    "listen there (default: $NACRE_SOCKET, or the run directory)",
     offsetof(struct options,                                                                                                 socket)     },
    {"state-dir",   "DIR",     "keep results and sessions there (default: ~/.local/state/nacre)",
     offsetof(struct options,                                                                                                 state_dir)  },
    {"run-dir",     "DIR",     "short-lived files (default: a directory in memory)",
     offsetof(struct options,                                                                                                 run_dir)    },
    {"idle-exit",   "SECONDS", "end when nothing was connected or ran for so long (default: never)",
     offsetof(struct options,                                                                                                 idle_exit)  },
    {"output-max",  "SIZE",    "bytes of large outputs kept in files, all together (default: 2G)",
     offsetof(struct options,                                                                                                 output_max) },
    {"results-max", "SIZE",    "bytes of results kept, the oldest go first (default: 256M)",
     offsetof(struct options,                                                                                                 results_max)},
    {"foreground",  NULL,      "stay in the foreground and write messages to stderr",
     offsetof(struct options,                                                                                                 foreground) },
    {"version",     NULL,      "print the version",                                                  offsetof(struct options, version)    },
    {"help",        NULL,      "print this help",                                                    offsetof(struct options, help)       },
};
enum { N_OPTIONS = sizeof(option_table) / sizeof(option_table[0]) };

static int usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static int usage(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)fputs("nacred: ", stderr);
    (void)vfprintf(stderr, fmt, args);
    (void)fputs("\nTry 'nacred --help'.\n", stderr);
    va_end(args);
    return -1;
}

static const struct option *find_option(const char *name, size_t len)
{
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (strlen(option_table[i].name) == len && strncmp(option_table[i].name, name, len) == 0)
            return &option_table[i];
    return NULL;
}

/* 0, or -1 after a message. */
static int parse_options(char **argv, struct options *ret)
{
    for (char **arg = argv + 1; *arg; arg++) {
        const char *name = strncmp(*arg, "--", 2) == 0 ? *arg + 2 : "";
        size_t len = strcspn(name, "=");
        const struct option *o = find_option(name, len);
        if (!o)
            return usage("unknown argument '%s'", *arg);
        char *to = (char *)ret + o->at;
        const char *value = name[len] ? name + len + 1 : NULL;
        if (!o->arg && value)
            return usage("option '--%s' takes no value", o->name);
        if (!o->arg) {
            *(bool *)to = true;
            continue;
        }
        if (!value && arg[1] && strncmp(arg[1], "--", 2) != 0)
            value = *++arg;
        if (!value || !*value)
            return usage("option '--%s' needs a value: %s", o->name, o->arg);
        *(const char **)to = value;
    }
    return 0;
}

static void print_help(void)
{
    (void)fputs("Usage: nacred [OPTION]...\n"
                "Runs commands for nacre's clients, and keeps their sessions and results.\n\n",
                stdout);
    for (size_t i = 0; i < N_OPTIONS; i++) {
        char left[40];
        (void)snprintf(left, sizeof(left), "--%s%s%s", option_table[i].name,
                       option_table[i].arg ? "=" : "",
                       option_table[i].arg ? option_table[i].arg : "");
        (void)printf("  %-21s %s\n", left, option_table[i].help);
    }
}

/* ---- messages ---- */

static void message(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void message(const char *fmt, ...)
{
    char iso[CLOCK_ISO8601_SIZE];
    va_list args;
    va_start(args, fmt);
    (void)fprintf(stderr, "%s nacred: ", clock_iso8601(clock_wall_ms(), iso));
    (void)vfprintf(stderr, fmt, args);
    (void)fputc('\n', stderr);
    va_end(args);
}

/* From here on nobody is at the other end of stderr but the log. */
static int open_log(const struct daemon *d, struct err *err)
{
    auto_free char *path = xasprintf("%s/nacred.log", d->state_dir);
    auto_close int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    auto_close int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd < 0 || null < 0)
        return err_set(err, errno, "open '%s'", path);
    if (dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(fd, 2) < 0)
        return err_set(err, errno, "redirect the standard streams");
    return 0;
}

/* ---- where things are ---- */

static int find_socket(struct daemon *d, const struct options *o, struct err *err)
{
    if (o->socket) {
        if (*o->socket != '/')
            return err_set(err, ERR_INVALID, "socket '%s': expected an absolute path", o->socket);
        d->socket = xstrdup(o->socket);
        return 0;
    }
    auto_buf struct buf path = BUF_INIT(PATH_BYTES_MAX);
    int rc = client_socket_path(&path, err);
    if (rc == 0)
        d->socket = buf_take(&path);
    return rc;
}

static int find_state_dir(struct daemon *d, const struct options *o, struct err *err)
{
    const char *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (o->state_dir)
        d->state_dir = xstrdup(o->state_dir);
    else if (xdg && *xdg == '/')
        d->state_dir = xasprintf("%s/nacre", xdg);
    else if (geteuid() == 0)
        d->state_dir = xstrdup("/var/lib/nacre");
    else if (home && *home == '/')
        d->state_dir = xasprintf("%s/.local/state/nacre", home);
    else
        return err_set(err, ERR_INVALID,
                       "neither XDG_STATE_HOME nor HOME says where to keep results");
    if (*d->state_dir != '/')
        return err_set(err, ERR_INVALID, "state directory '%s': expected an absolute path",
                       d->state_dir);
    return 0;
}

static int read_idle_exit(struct daemon *d, const struct options *o, struct err *err)
{
    int64_t seconds = 0;
    if (o->idle_exit && num_parse_i64(o->idle_exit, 1, IDLE_EXIT_MAX_S, &seconds) < 0)
        return err_set(err, ERR_INVALID, "--idle-exit: expected 1 to %d seconds, not '%s'",
                       IDLE_EXIT_MAX_S, o->idle_exit);
    d->idle_exit_ms = seconds * 1000;
    return 0;
}

static int read_size(const char *option, const char *text, uint64_t *ret, struct err *err)
{
    if (!text)
        return 0;
    int rc = size_parse(text, ret, err);
    if (rc < 0)
        return err_wrap(err, rc, "%s", option);
    if (*ret == 0)
        return err_set(err, ERR_INVALID, "%s: expected more than nothing, such as 512M", option);
    return 0;
}

static int read_limits(struct daemon *d, const struct options *o, struct err *err)
{
    int rc = read_idle_exit(d, o, err);
    if (rc == 0)
        rc = read_size("--output-max", o->output_max, &d->output_max, err);
    return rc < 0 ? rc : read_size("--results-max", o->results_max, &d->results_max, err);
}

/* ---- one daemon ---- */

static bool is_answering(const char *socket)
{
    struct client *c = NULL;
    const struct client_options options = {
        .socket = socket, .no_start = true, .timeout_ms = LOCK_WAIT_MS};
    if (client_connect(&options, &c, NULL) < 0)
        return false;
    client_free(c);
    return true;
}

/* The socket of the daemon that holds the lock, as it has written down; "" if it has not. */
static const char *read_holder(int fd, char ret[PATH_BYTES_MAX])
{
    ssize_t n = pread(fd, ret, PATH_BYTES_MAX - 1, 0);
    ret[n > 0 ? n : 0] = '\0';
    return ret;
}

/* Only helps others to say more: that it fails is no harm. */
static void write_holder(int fd, const char *socket)
{
    (void)ftruncate(fd, 0);
    (void)io_write_all(fd, socket, strlen(socket));
}

/* A lock that is held is waited for, unless its daemon is alive and well. */
static int take_lock(const char *path, const char *socket, int *ret_fd, struct err *err)
{
    auto_close int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_set(err, errno, "open '%s'", path);
    for (int waited = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; waited += LOCK_RETRY_MS) {
        char holder[PATH_BYTES_MAX];
        if (errno != EWOULDBLOCK && errno != EINTR)
            return err_set(err, errno, "lock '%s'", path);
        if (is_answering(socket))
            return err_set(err, ERR_EXISTS, "a daemon listens on '%s' already", socket);
        if (*read_holder(fd, holder) == '/' && is_answering(holder))
            return err_set(err, ERR_BUSY, "the daemon on '%.200s' holds '%s'", holder, path);
        if (waited >= LOCK_WAIT_MS)
            return err_set(err, ERR_BUSY, "another daemon holds '%s'", path);
        (void)poll(NULL, 0, LOCK_RETRY_MS);
    }
    write_holder(fd, socket);
    *ret_fd = take_fd(&fd);
    return 0;
}

static int lock_socket(struct daemon *d, struct err *err)
{
    auto_free char *path = xasprintf("%s.lock", d->socket);
    auto_free char *dir = xstrndup(d->socket, (size_t)(strrchr(d->socket, '/') - d->socket) + 1);
    int rc = io_mkdir_p(dir, 0700, err);
    return rc < 0 ? rc : take_lock(path, d->socket, &d->socket_lock, err);
}

static int lock_state(struct daemon *d, struct err *err)
{
    auto_free char *path = xasprintf("%s/lock", d->state_dir);
    int rc = io_mkdir_p(d->state_dir, 0700, err);
    return rc < 0 ? rc : take_lock(path, d->socket, &d->state_lock, err);
}

/* ---- the end ---- */

static void stop(void *ctx)
{
    struct daemon *d = ctx;
    ev_stop(d->ev);
}

static void on_signal(void *ctx, int signo)
{
    message("ends by signal %d", signo);
    stop(ctx);
}

static void on_idle_check(void *ctx)
{
    struct daemon *d = ctx;
    uint64_t now = ev_now_ns(d->ev);
    if (!control_is_idle(d->control))
        d->idle_since_ns = 0;
    else if (!d->idle_since_ns)
        d->idle_since_ns = now;
    else if (now - d->idle_since_ns >= (uint64_t)d->idle_exit_ms * 1000000) {
        message("ends: idle for %lld s", (long long)d->idle_exit_ms / 1000);
        stop(d);
    }
}

/* ---- the parts ---- */

static int open_store(struct daemon *d, struct err *err)
{
    auto_free char *output = xasprintf("%s/output", d->state_dir); /* where the runtime puts it */
    const struct store_options options = {
        .dir = d->state_dir, .output_dir = output, .results_max = d->results_max};
    return store_open(&options, &d->store, err);
}

static int open_runtime(struct daemon *d, struct err *err)
{
    const struct native_options native = {.run_dir = d->run.path, .pool_size = POOL_SIZE};
    int rc = native_new(d->ev, &native, &d->native, err);
    if (rc < 0)
        return rc;
    d->kinds[0] = native_kind(d->native);
    const struct rt_options options = {
        .kinds = d->kinds,
        .store =
            {
                    .put_session = store_put_session,
                    .del_session = store_del_session,
                    .put_command = store_put_command,
                    .get_command = store_get_command,
                    .each_session = store_each_session,
                    .ctx = d->store,
                    },
        .run_dir = d->run.path,
        .state_dir = d->state_dir,
        .spill_max = d->output_max,
    };
    return rt_new(d->ev, &options, &d->rt, err);
}

static int open_control(struct daemon *d, struct err *err)
{
    const struct control_options options = {
        .path = d->socket,
        .version = NACRE_VERSION,
        .state_dir = d->state_dir,
        .notice = store_notice(d->store),
        .on_shutdown = stop,
        .ctx = d,
    };
    return control_open(d->ev, d->rt, &options, &d->control, err);
}

static int watch_signals(struct daemon *d, struct err *err)
{
    int rc = ev_signal_init(d->ev, &d->term, SIGTERM, on_signal, d);
    if (rc == 0)
        rc = ev_signal_init(d->ev, &d->interrupt, SIGINT, on_signal, d);
    if (rc < 0)
        return err_set(err, -rc, "watch for signals");
    ev_timer_init(d->ev, &d->idle, on_idle_check, d);
    if (d->idle_exit_ms)
        ev_timer_repeat(&d->idle, IDLE_CHECK_MS);
    return 0;
}

/*
 * What a daemon needs before it can serve anybody. A soft limit below is raised, by which commands
 * get that much too; without it nothing would start.
 */
static int check_file_limit(struct err *err)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return err_set(err, errno, "ask for the limit of open files");
    if (limit.rlim_max < FILES_MIN)
        return err_set(err, ERR_LIMIT,
                       "the limit of open files (RLIMIT_NOFILE, 'ulimit -n') is %llu: expected at "
                       "least %d",
                       (unsigned long long)limit.rlim_max, FILES_MIN);
    if (limit.rlim_cur >= FILES_MIN)
        return 0;
    limit.rlim_cur = FILES_MIN;
    return setrlimit(RLIMIT_NOFILE, &limit) < 0
               ? err_set(err, errno, "raise the limit of open files to %d", FILES_MIN)
               : 0;
}

/* Many clients, many commands. Not before the zygote is there: commands keep the old limit. */
static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit); /* as far as it may go */
}

static int open_all(struct daemon *d, const struct options *o, struct err *err)
{
    int rc = check_file_limit(err);
    if (rc == 0)
        rc = find_socket(d, o, err);
    if (rc == 0)
        rc = find_state_dir(d, o, err);
    if (rc == 0)
        rc = read_limits(d, o, err);
    if (rc == 0)
        rc = lock_socket(d, err);
    if (rc == 0)
        rc = lock_state(d, err);
    if (rc == 0)
        rc = open_store(d, err);
    if (rc == 0)
        rc = rundir_open(o->run_dir, &d->run, err);
    d->ev = ev_new();
    if (rc == 0 && !d->ev)
        rc = err_set(err, EMFILE, "make an event loop");
    if (rc == 0)
        rc = watch_signals(d, err);
    if (rc == 0)
        rc = open_runtime(d, err);
    raise_file_limit();
    if (rc == 0)
        rc = open_control(d, err);
    return rc;
}

/* The reverse; also of what was only begun. */
static void close_all(struct daemon *d)
{
    control_free(d->control);
    rt_free(d->rt);
    native_free(d->native);
    store_free(d->store);
    rundir_close(&d->run);
    ev_timer_close(&d->idle);
    ev_signal_close(&d->term);
    ev_signal_close(&d->interrupt);
    ev_free(d->ev);
    own_close_fd(&d->state_lock);
    own_close_fd(&d->socket_lock);
    free(d->socket);
    free(d->state_dir);
}

/* ---- the program ---- */

/* What the parent is told: nothing if all is well, else the reason. */
static void tell_parent(int fd, int rc, const struct err *err)
{
    if (fd < 0)
        return;
    if (rc < 0)
        (void)io_write_all(fd, err->text, strlen(err->text)); /* it may have gone */
    else
        (void)io_write_all(fd, "", 1);
    (void)close(fd);
}

static int run(const struct options *o, int parent_fd)
{
    struct daemon d = {.socket_lock = -1, .state_lock = -1, .run = {.lock = -1}};
    struct err err = {0};
    int rc = open_all(&d, o, &err);
    if (rc == 0 && !o->foreground)
        rc = open_log(&d, &err);
    if (rc < 0 && o->foreground)
        message("%s", err.text);
    tell_parent(parent_fd, rc, &err);
    if (rc == 0) {
        message("nacre %s (protocol %d) listens on '%s'", NACRE_VERSION, WIRE_PROTOCOL, d.socket);
        if (store_notice(d.store))
            message("%s", store_notice(d.store));
        ev_run(d.ev);
    }
    close_all(&d);
    return rc < 0 ? FAILED : 0;
}

/* Waits for the child's word. */
static int wait_ready(int fd)
{
    char text[ERR_TEXT_SIZE + 1];
    ssize_t n = io_read_full(fd, text, sizeof(text) - 1);
    if (n == 1 && text[0] == '\0')
        return 0;
    text[n > 0 ? n : 0] = '\0';
    (void)fprintf(stderr, "nacred: %s\n", n > 0 ? text : "ended while it started");
    return FAILED;
}

static int daemonize(const struct options *o)
{
    int fds[2];
    if (io_pipe(fds) < 0) {
        (void)fputs("nacred: cannot make a pipe\n", stderr);
        return FAILED;
    }
    pid_t pid = fork();
    if (pid < 0) {
        (void)fprintf(stderr, "nacred: fork: %s\n", strerror(errno));
        return FAILED;
    }
    if (pid > 0) {
        (void)close(fds[1]);
        return wait_ready(fds[0]);
    }
    (void)close(fds[0]);
    (void)setsid();     /* a child leads no group yet */
    if (chdir("/") < 0) /* a directory that is used cannot be unmounted */
        _exit(FAILED);
    return run(o, fds[1]);
}

/* What the caller has open, and how its signals are set, is not for us and our children. */
static void leave_caller(bool foreground)
{
    (void)close_range(3, ~0U, foreground ? CLOSE_RANGE_CLOEXEC : 0);
    (void)umask(077);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
}

int main(int argc, char **argv)
{
    struct options o = {0};
    if (argc < 1 || parse_options(argv, &o) < 0)
        return USAGE;
    if (o.help)
        print_help();
    else if (o.version)
        (void)printf("nacred %s (protocol %d)\n", NACRE_VERSION, WIRE_PROTOCOL);
    if (o.help || o.version)
        return fflush(stdout) == 0 ? 0 : FAILED;
    leave_caller(o.foreground);
    return o.foreground ? run(&o, -1) : daemonize(&o);
}
