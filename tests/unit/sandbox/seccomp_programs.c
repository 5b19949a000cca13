/* SPDX-License-Identifier: MIT */
/* What people run goes on to work under the filter. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "lib/test.h"
#include "sandbox/seccomp.h"

/* 77: what the script needs is not installed. */
static void run(uint32_t flags, const char *script)
{
    struct sandbox_filter filter;
    CHECK_INT(sandbox_filter_compile(flags, &filter, NULL), 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        (void)setenv("HOME", test_dir(), 1);
        (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (sandbox_filter_install(&filter, NULL) < 0)
            _exit(125);
        (void)execl("/bin/bash", "bash", "--norc", "-ec", script, (char *)NULL);
        _exit(126);
    }
    sandbox_filter_done(&filter);
    int status;
    CHECK_INT(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        SKIP("not installed: %.40s", script);
    CHECK_INT(status, 0);
}

TEST(a_shell_with_pipes_and_jobs)
{
    run(0, "set -o pipefail; seq 1000 | sort -rn | head -1 >n || :; [ $(cat n) = 1000 ]\n"
           "sleep 0.01 & wait $!; (exit 3) || [ $? = 3 ]\n"
           "mkfifo f; echo hello >f & read -r line <f; [ $line = hello ]; ulimit -a >/dev/null\n"
           "coproc cat; echo x >&${COPROC[1]}; read -r y <&${COPROC[0]}; [ $y = x ]");
}

TEST(job_control_on_a_terminal)
{
    run(0,
        "command -v script >/dev/null || exit 77\n"
        "script -qec 'bash --norc -ic \"set -m; sleep 5 & kill %1; wait; stty -a; tty\"' /dev/null"
        " </dev/null >out; grep -q /dev/pts out");
}

TEST(a_repository)
{
    run(0,
        "command -v git >/dev/null || exit 77\n"
        "git init -q r; cd r; git config user.email a@b; git config user.name a\n"
        "echo x >f; git add f; git commit -qm one; git checkout -qb b; echo y >>f\n"
        "git commit -qam two; git gc -q; git fsck --strict; git log --oneline | wc -l | grep -q 2\n"
        "git clone -q . ../c; git -C ../c status --short");
}

TEST_TIMEOUT(a_program_is_built_and_runs, 60)
{
    run(0, "command -v gcc >/dev/null && command -v make >/dev/null || exit 77\n"
           "cat >m.c <<'END'\n"
           "#include <pthread.h>\n"
           "#include <stdio.h>\n"
           "static void *f(void *p) { return p; }\n"
           "int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0);\n"
           "  FILE *p = popen(\"echo ok\", \"r\"); char s[8]; puts(fgets(s, 8, p)); pclose(p); }\n"
           "END\n"
           "printf 'a: m.o\\n\\tgcc -o a m.o -pthread\\nm.o: m.c\\n\\tgcc -c m.c\\n' >Makefile\n"
           "make -j2; ./a | grep -q ok");
}

TEST_TIMEOUT(python_with_processes_and_sockets, 60)
{
    run(0, "command -v python3 >/dev/null || exit 77\n"
           "cat >t.py <<'END'\n"
           "import asyncio, concurrent.futures as c, multiprocessing as m, os, socket, subprocess\n"
           "import sys, tempfile, threading, time, fcntl, mmap, ssl, sqlite3, ctypes\n"
           "def f(x): return x * x\n"
           "if __name__ == '__main__':\n"
           "    for way in m.get_all_start_methods():\n"
           "        with m.get_context(way).Pool(2) as p: assert p.map(f, [1, 2]) == [1, 4]\n"
           "    with c.ThreadPoolExecutor() as p: assert list(p.map(f, [3])) == [9]\n"
           "    assert subprocess.check_output(['echo', 'x']) == b'x\\n'\n"
           "    q = m.Queue(); q.put(1); assert q.get() == 1; q.close(); q.join_thread()\n"
           "    s = socket.create_server(('127.0.0.1', 0)); k = socket.create_connection("
           "s.getsockname()); k.close(); s.close()\n"
           "    socket.getaddrinfo('localhost', 80)\n"
           "    a, b = socket.socketpair(); a.close(); b.close()\n"
           "    async def g():\n"
           "        p = await asyncio.create_subprocess_exec('true'); assert await p.wait() == 0\n"
           "    asyncio.run(g())\n"
           "    fcntl.flock(open('l', 'w'), fcntl.LOCK_EX); mmap.mmap(-1, 4096).close()\n"
           "    sqlite3.connect('d').execute('create table t (a)')\n"
           "END\n"
           "python3 t.py");
}

TEST_TIMEOUT(a_python_environment, 90)
{
    run(0, "/usr/bin/python3 -c 'import venv' 2>/dev/null || exit 77\n"
           "/usr/bin/python3 -m venv --without-pip v; v/bin/python -c 'import sys; sys.exit(0)'");
}

TEST_TIMEOUT(node_with_processes_and_servers, 60)
{
    run(0, "command -v node >/dev/null || exit 77\n"
           "cat >t.js <<'END'\n"
           "const cp = require('child_process'), http = require('http'), fs = require('fs');\n"
           "const { Worker } = require('worker_threads');\n"
           "if (cp.execSync('echo x').toString() !== 'x\\n') process.exit(1);\n"
           "require('os').networkInterfaces(); fs.watch('.').close();\n"
           "new Worker('1', { eval: true }).on('exit', () => {\n"
           "  const s = http.createServer((q, r) => r.end('ok')).listen(0, '127.0.0.1', () =>\n"
           "    http.get({ port: s.address().port, host: '127.0.0.1' }, (r) => {\n"
           "      r.resume(); r.on('end', () => s.close()); }));\n"
           "});\n"
           "END\n"
           "node t.js; ! command -v npm >/dev/null || npm --version >/dev/null");
}

TEST(archives_keep_their_modes)
{
    run(0, "mkdir d; echo x >d/f; chmod 4755 d/f; chmod 2775 d; tar cf a.tar d; rm -r d\n"
           "tar xpf a.tar; [ \"$(stat -c %a d/f)\" = 4755 ]; cp -a d e; [ -u e/f ]\n"
           "touch -d 2001-01-01 d/f; setfattr -n user.a -v b d/f 2>/dev/null || :");
}

TEST(a_debugger_where_it_is_allowed)
{
    run(SANDBOX_FILTER_ALLOW_PTRACE, "command -v strace >/dev/null || exit 77\n"
                                     "strace -f -o log true; grep -q execve log");
}

TEST(a_sandbox_within_where_it_is_allowed)
{
    run(SANDBOX_FILTER_NESTED, "unshare -Ur true || exit 77; unshare -Urm mount -t tmpfs t /mnt");
}

TEST(local_sockets_where_there_is_no_network)
{
    run(SANDBOX_FILTER_NO_INET,
        "command -v python3 >/dev/null || exit 77\n"
        "python3 -c \"import socket as s; a = s.socket(s.AF_UNIX); a.bind('u'); a.listen()\n"
        "s.socket(s.AF_UNIX).connect('u')\n"
        "try: s.socket(); raise SystemExit(1)\n"
        "except OSError as e: print(e)\"");
}
