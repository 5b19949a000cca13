#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The verbs of nacre that speak with the daemon."""

import json
import os
import re
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["NACRE_SOURCE"], "tests/lib"))
from nacre import (  # noqa: E402  pylint: disable=wrong-import-position
    ENV,
    NACRE,
    WAIT,
    Skip,
    Terminal,
    check,
    gives,
    nacre,
    processes,
    read_until,
    refuses,
    run_tests,
    start,
    stop_daemon,
    test,
    until,
    work,
)

MISSING = work + "/missing"  # nobody makes it


# ---- sessions of the daemon ----


def session(name, text, *args, **options):
    return nacre("exec", "-s", name, *args, "--", text, **options)


@test
def the_daemon_starts_by_itself_and_keeps_state():
    stop_daemon()
    gives(session("a", "cd /tmp; export A=1; f() { echo f$1; }; umask 027"))
    gives(session("a", "pwd; echo $A; f x; umask"), b"/tmp\n1\nfx\n0027\n")
    gives(session("b", "pwd; echo ${A-none}", cwd=work), (work + "\nnone\n").encode())
    gives(session("a", "exit 3"), b"", 3)
    gives(session("a", "pwd; f y"), b"/tmp\nfy\n")
    gives(session("a", "echo e >&2; kill -9 $$"), b"", 137, None)
    gives(session("a", "f z"), b"fz\n")


@test
def a_session_streams_takes_input_and_is_interrupted():
    data = os.urandom(3_000_000)
    gives(session("a", "cat", "--stdin", stdin=data), data)
    gives(session("a", "cat", stdin=b"x"))
    gives(session("a", "seq 1 300000"), b"".join(b"%d\n" % i for i in range(1, 300001)))
    run = start("exec", "-s", "a", "--", "echo begun; while :; do :; done")
    read_until(run.stdout.fileno(), b"begun\n")
    run.send_signal(signal.SIGINT)
    check(run.wait(WAIT), 130)
    gives(session("a", "f alive"), b"falive\n")
    gives(session("a", "echo part; sleep 60", "--timeout", "500ms"), b"part\n", 124, None)
    gives(session("a", "f alive"), b"falive\n")


@test
def a_reader_of_a_session_that_goes_away_ends_the_command():
    mark = f"52{os.getpid()}"
    read_end, write_end = os.pipe()
    run = start("exec", "-s", "a", "--", f"yes {mark}", stdout=write_end)
    os.close(write_end)
    os.read(read_end, 10)
    os.close(read_end)
    check(run.communicate(timeout=WAIT)[1], b"")
    until(lambda: not processes("yes\0" + mark), "the end of the command")
    gives(session("a", "f alive"), b"falive\n")


@test
def a_session_is_interrupted_although_nobody_reads():
    mark = f"56{os.getpid()}"
    run = start("exec", "-s", "a", "--", f"yes {mark}")
    time.sleep(1)
    run.send_signal(signal.SIGINT)
    until(lambda: not processes("yes\0" + mark), "the end of the command")
    run.send_signal(signal.SIGINT)
    check(run.wait(WAIT), 130)
    gives(session("a", "f alive"), b"falive\n")


@test
def a_session_on_a_terminal():
    t = Terminal("exec", "-s", "a", "--pty", "--", "stty size; f pty; read -r x; echo got-$x; exit 4")
    try:
        t.read_until(b"30 100")
        t.read_until(b"fpty")
        until(t.is_raw, "raw mode")
        t.type(b"hi\r")
        t.read_until(b"got-hi")
        check(t.wait(), 4)
    finally:
        t.close()


@test
def yield_returns_and_says_how_to_go_on():
    run = session("a", "echo first; sleep 1.5; echo second; exit 6", "--yield", "500ms")
    check((run.returncode, run.stdout), (0, b"first\n"), run)
    command = re.search(rb"nacre wait (c_\w+)", run.stderr)[1].decode()
    assert f"nacre logs -f {command}".encode() in run.stderr
    assert f"nacre kill {command}".encode() in run.stderr
    gives(nacre("logs", "-f", command), b"first\nsecond\n")
    gives(nacre("wait", command), None, 6)
    run = session("a", "sleep 1", "--yield", "200ms", "--json")
    result = json.loads(run.stdout)
    check(result["status"], "running")
    gives(nacre("wait", result["id"]), None, 0)
    gives(session("a", "echo quick; exit 2", "--yield", "20s"), b"quick\n", 2)


@test
def background_commands():
    mark = f"53{os.getpid()}"
    run = session("a", f"echo out; echo err >&2; f bg; exec sleep {mark}", "--background")
    check(run.returncode, 0, run)
    command = run.stdout.decode().strip()
    assert re.fullmatch(r"c_\w+", command), run
    gives(nacre("wait", "--log", "fbg", "--timeout", "20s", command), b"fbg\n")
    gives(nacre("wait", "--log-regex", "^f.g$", "--timeout", "20s", command), b"fbg\n")
    gives(nacre("logs", command), b"out\nfbg\n", 0, b"err\n")
    gives(nacre("logs", "--stdout", command), b"out\nfbg\n")
    gives(nacre("logs", "--stderr", command), b"", 0, b"err\n")
    listed = json.loads(nacre("ps", "--json").stdout)
    check([c["id"] for c in listed], [command])
    assert command.encode() in nacre("ps").stdout
    assert command.encode() in nacre("ps", "-s", "a").stdout
    check(json.loads(nacre("ps", "-s", "b", "--json").stdout), [])
    gives(nacre("wait", "--timeout", "300ms", command), b"", 124, None)
    gives(nacre("wait", "--log", "never", "--timeout", "300ms", command), b"", 124, None)
    gives(nacre("kill", command))
    until(lambda: not processes("sleep\0" + mark), "the end of the command")
    check(json.loads(nacre("ps", "--json").stdout), [])
    assert command in [c["id"] for c in json.loads(nacre("ps", "-a", "--json").stdout)]
    result = json.loads(nacre("result", "--json", command).stdout)
    check((result["id"], result["status"], result["stdout"]), (command, "cancelled", "out\nfbg\n"))
    assert b"cancelled" in nacre("result", command).stdout
    run = nacre("kill", command)
    check(run.returncode, 0, run)
    assert b"already ended" in run.stderr, run.stderr


@test
def waiting_for_a_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    if not shutil.which("python3"):
        raise Skip("no python3")
    server = f"import socket; s = socket.create_server(('127.0.0.1', {port})); print('up'); s.accept()"
    run = session("a", f'sleep 0.3; exec python3 -c "{server}"', "--background")
    command = run.stdout.decode().strip()
    gives(nacre("wait", "--port", str(port), "--timeout", "20s", command), b"")
    nacre("wait", command)
    run = nacre("wait", "--port", str(port), "--timeout", "20s", command)
    check(run.returncode, 1, run)
    run = nacre("wait", "--port", str(port), "--json", command)
    check((run.returncode, json.loads(run.stdout)["end"]), (1, "exited"), run)


@test
def input_to_a_command():
    command = session("a", "cat", "--background", "--stdin").stdout.decode().strip()
    gives(nacre("input", command, "typed text"))
    gives(nacre("input", command, stdin=b"\0\xff"))
    gives(nacre("input", "--end", command, "last"))
    gives(nacre("wait", command))
    gives(nacre("logs", command), b"typed text\n\0\xfflast\n")
    refuses(nacre("input", command, "late"), "ended", 125)


@test
def attach_shows_takes_input_and_detaches():
    text = "echo begun; while read -r x; do echo got-$x; [ $x = end ] && exit 5; done; echo ended"
    command = session("a", text, "--pty", "--background").stdout.decode().strip()
    t = Terminal("attach", command)
    try:
        t.read_until(b"begun")
        until(t.is_raw, "raw mode")
        t.type(b"one\r")
        t.read_until(b"got-one")
        t.type(b"\x1d")
        check(t.wait(), 0)
    finally:
        t.close()
    t = Terminal("attach", command)
    try:
        t.read_until(b"got-one")
        t.type(b"end\r")
        t.read_until(b"got-end")
        check(t.wait(), 5)
    finally:
        t.close()
    run = nacre("attach", command)  # it has ended: the log and its status
    check(run.returncode, 5, run)
    assert b"got-one" in run.stdout and b"got-end" in run.stdout, run.stdout
    refuses(nacre("attach", "c_nosuchcommand"), "c_nosuchcommand", 125)


@test
def signals_and_trees():
    run = session("a", "trap 'echo usr1' USR1; echo begun; while :; do sleep 0.05; done", "--background")
    command = run.stdout.decode().strip()
    gives(nacre("wait", "--log", "begun", "--timeout", "20s", command), b"begun\n")
    gives(nacre("kill", "-s", "USR1", command))
    gives(nacre("wait", "--log", "usr1", "--timeout", "20s", command), b"usr1\n")
    gives(nacre("kill", "--tree", command))
    check(json.loads(nacre("result", "--json", command).stdout)["status"], "cancelled")
    refuses(nacre("kill", "c_nosuchcommand"), "'c_nosuchcommand'; 'nacre ps -a' lists", 125)
    mark = f"54{os.getpid()}"
    run = session("a", f"sleep {mark} & echo done", "--json")
    command = json.loads(run.stdout)["id"]
    assert processes("sleep\0" + mark)
    gives(nacre("kill", command))
    until(lambda: not processes("sleep\0" + mark), "the end of what it left behind")


@test
def log_cursors():
    run = session("a", "echo one; sleep 0.1; echo two >&2; sleep 0.1; echo three", "--json")
    command = json.loads(run.stdout)["id"]
    gives(nacre("logs", "--cursor", "4", command), b"three\n", 0, b"two\n")
    refuses(nacre("logs", "--cursor", "1000", command), "cursor", 125)
    pieces = [json.loads(line) for line in nacre("logs", "--json", command).stdout.splitlines()]
    check("".join(p["text"] for p in pieces), "one\ntwo\nthree\n")
    check([p["stream"] for p in pieces], ["stdout", "stderr", "stdout"])
    check(pieces[-1]["cursor"], 14)


@test
def life_of_a_session():
    gives(nacre("session", "open", "s1", "--env", "E=5", "--cwd", "/"), b"s1\n")
    gives(session("s1", "pwd; echo $E; X=kept"), b"/\n5\n")
    refuses(nacre("session", "open", "s1"), "s1", 125)
    refuses(nacre("session", "open", "../x"), "../x", 125)
    made = nacre("session", "open").stdout.decode().strip()
    assert made and made != "s1"
    listed = json.loads(nacre("session", "list", "--json").stdout)
    assert {"s1", made} <= {s["id"] for s in listed}, listed
    table = nacre("session", "list").stdout.decode().splitlines()
    assert any(line.startswith("s1 ") for line in table), table
    check(json.loads(nacre("session", "show", "--json", "s1").stdout)["id"], "s1")
    assert b"s1" in nacre("session", "show", "s1").stdout
    gives(nacre("session", "snapshot", "s1", "before"))
    gives(session("s1", "X=lost; cd /tmp"))
    gives(nacre("session", "fork", "s1", "s2"), b"s2\n")
    gives(session("s2", "echo $X; pwd"), b"lost\n/tmp\n")
    gives(nacre("session", "restore", "s1", "before"))
    gives(session("s1", "echo $X; pwd"), b"kept\n/\n")
    for _ in range(3):  # the shell of the one before may still start
        gives(nacre("session", "restore", "s1", "before"))
    gives(session("s1", "echo $X; pwd"), b"kept\n/\n")
    refuses(nacre("session", "restore", "s1", "nosuch"), "'nacre session show s1' lists", 125)
    gives(nacre("session", "reset", "s1"))
    gives(session("s1", "echo ${X-none}"), b"none\n")
    for name in ("s1", "s2", made):
        gives(nacre("session", "close", name))
    refuses(nacre("session", "close", "s1"), "'s1'; 'nacre session list' lists", 125)
    refuses(nacre("session", "show", "s1"), "s1", 125)


@test
def a_session_moves_in_a_file():
    gives(session("m1", "cd /; V='a b'; g() { echo g-$V; }"))
    gives(nacre("session", "export", "-o", work + "/m1.session", "m1"))
    exported = nacre("session", "export", "m1")
    with open(work + "/m1.session", "rb") as f:
        check(dict(json.load(f), exportedAt=0), dict(json.loads(exported.stdout), exportedAt=0))
    os.mkfifo(work + "/fifo")
    os.symlink("linked", work + "/link")
    with open(work + "/fifo.read", "wb") as out:
        reader = subprocess.Popen(["cat", work + "/fifo"], stdout=out)
    gives(nacre("session", "export", "-o", work + "/fifo", "m1"))
    check(reader.wait(WAIT), 0)
    gives(nacre("session", "export", "-o", work + "/link", "m1"))
    assert os.path.islink(work + "/link") and stat.S_ISFIFO(os.stat(work + "/fifo").st_mode)
    for name in ("fifo.read", "linked"):  # what is no file of its own is written, not replaced
        with open(f"{work}/{name}", "rb") as f:
            check(json.load(f)["id"], "m1")
    refuses(nacre("session", "export", "-o", work, "m1"), "Is a directory", 125)
    refuses(nacre("session", "import", work + "/m1.session"), "--name NAME", 125)
    gives(nacre("session", "import", "--name", "m2", work + "/m1.session"), b"m2\n")
    gives(session("m2", "g; pwd"), b"g-a b\n/\n")
    gives(nacre("session", "close", "m1"))
    gives(nacre("session", "import", "-", stdin=exported.stdout), b"m1\n")
    gives(session("m1", "g"), b"g-a b\n")
    refuses(nacre("session", "import", "-", stdin=b"{}"), "", 125)
    gives(nacre("session", "close", "m1"))
    gives(nacre("session", "close", "m2"))


@test
def bytes_of_the_environment_survive():
    raw = bytes(range(1, 256))
    for options in ((), ("--env", "T=text")):
        gives(nacre("session", "open", "b1", "--env", b"V=" + raw, *options), b"b1\n")
        exported = nacre("session", "export", "b1")  # no state was saved yet
        check(json.loads(exported.stdout)["state"], None)
        gives(nacre("session", "close", "b1"))
        gives(nacre("session", "import", "-", stdin=exported.stdout), b"b1\n")
        gives(session("b1", 'printf %s "$V"'), raw)
        gives(nacre("session", "fork", "b1", "b2"), b"b2\n")
        gives(session("b2", 'printf %s "$V"'), raw)
        gives(session("b1", 'printf %s "$V"', "--env", b"V=\xff"), b"\xff")
        gives(nacre("session", "close", "b1"))
        gives(nacre("session", "close", "b2"))
    gives(nacre("session", "open", "b3", "--env", b"V=" + raw), b"b3\n")
    stop_daemon()
    gives(session("b3", 'printf %s "$V"'), raw)
    gives(nacre("session", "close", "b3"))
    gives(nacre("exec", "--env", b"V=" + raw, "--", 'printf %s "$V"'), raw)


@test
def files_that_are_none_are_refused_by_field():
    good = {"nacreSession": 1, "id": "bad", "state": None}
    for field, value, message in (
        ("state", 5, "state: expected a string or null, not number"),
        ("env", ["A=1", {}], "env[1]: expected a string NAME=value, not object"),
        ("snapshots", [{"name": "s", "state": []}], "snapshots[0]: state: expected a string or null, not array"),
        ("kind", 1, "kind: expected a string"),
    ):
        run = nacre("session", "import", "-", stdin=json.dumps(dict(good, **{field: value})).encode())
        refuses(run, message, 125)
    refuses(nacre("session", "show", "bad"), "bad", 125)


@test
def a_state_that_cannot_be_read_opens_no_session():
    texts = {
        "exit 3": "ended with exit code 3",
        "exec cat": "ended with exit code 0",
        "kill -9 $$": "was ended by signal 9",
        "return": "did not come to its end",
        "x='": "did not come to its end",
        "while :; do :; done": "was not done after 10 s",
        "kill -STOP $$": "was not done after 10 s",
        "cat </dev/zero": "was not done after 10 s",
        f"mkfifo {work}/never; cat {work}/never": "was not done after 10 s",
    }

    def import_state(name, text):
        file = {"nacreSession": 1, "id": name, "state": "# nacre shell state 1\n" + text}
        with open(f"{work}/{name}.session", "w", encoding="utf-8") as out:
            json.dump(file, out)
        return start("session", "import", f"{work}/{name}.session")

    names = {f"bad{i}": text for i, text in enumerate(texts)}
    runs = {name: import_state(name, text) for name, text in names.items()}
    gives(session("beside", "echo served"), b"served\n")
    refuses(nacre("session", "export", "bad6"), "is being imported", 125)
    refuses(nacre("session", "import", work + "/bad6.session"), "exists already", 125)
    gives(nacre("session", "close", "bad6"))
    texts["kill -STOP $$"] = "was closed"
    for name, run in runs.items():
        out, err = run.communicate(timeout=WAIT)
        check((run.returncode, out), (125, b""), (names[name], err))
        assert texts[names[name]].encode() in err, (names[name], err)
        refuses(nacre("session", "show", name), "no session", 125)
    stop_daemon()
    for name in names:  # none was stored
        refuses(nacre("session", "show", name), "no session", 125)
    run = import_state("good", "x=1")
    check(run.communicate(timeout=WAIT), (b"good\n", b""))
    gives(session("good", "echo $x"), b"1\n")
    gives(nacre("session", "close", "good"))
    gives(nacre("session", "close", "beside"))


@test
def a_fork_has_what_is_gone_and_what_is_off():
    text = "unset PATH PS4; shopt -s extglob\nx() { case $1 in +([0-9])) echo n ;; esac; }\nshopt -u extglob"
    gives(nacre("exec", "-s", "odd", "--", text))
    gives(nacre("session", "fork", "odd", "odd2"), b"odd2\n")
    show = "declare -F x; echo ${PATH-none} ${PS4-none}; shopt -q extglob || echo off"
    for name in ("odd", "odd2"):
        gives(nacre("exec", "-s", name, "--", show), b"x\nnone none\noff\n")
        gives(nacre("session", "close", name))


@test
def doctor_says_what_is_well():
    run = nacre("doctor")
    check(run.returncode, 0, run)
    assert b"isolation" in run.stdout and b"none" in run.stdout, run.stdout
    report = json.loads(nacre("doctor", "--json").stdout)
    assert all(c["status"] == "ok" for c in report["checks"]), report
    names = {c["name"] for c in report["checks"]}
    assert {"bash", "nacre-spawn", "daemon", "pidfd", "pty", "fifo", "subreaper"} <= names, names
    run = nacre("doctor", env=dict(ENV, NACRE_SPAWN=MISSING + "/spawn"))
    check(run.returncode, 1, run)
    assert b"failed" in run.stdout and MISSING.encode() + b"/spawn" in run.stdout, run.stdout
    run = nacre("doctor", env=dict(ENV, XDG_STATE_HOME="/proc/nonexistent"))
    check(run.returncode, 1, run)


@test
def a_daemon_that_cannot_be_had_is_explained():
    stop_daemon()
    env = dict(ENV, NACRED=MISSING + "/nacred")
    refuses(session("x", "true", env=env), MISSING + "/nacred", 125)
    run = session("x", "true", "--json", env=env)
    check(run.returncode, 125, run)
    error = json.loads(run.stdout)["error"]
    assert error["code"] == "not_found" and MISSING + "/nacred" in error["message"], error
    env = dict(ENV, XDG_STATE_HOME="/proc/nonexistent")
    refuses(session("x", "true", env=env), "'nacre doctor' says how to mend it", 125)
    run = session("a b", "true", "--json")
    check((run.returncode, json.loads(run.stdout)["error"]["code"]), (125, "invalid_argument"), run)
    stop_daemon()
    env = dict(ENV, NACRE_SOCKET="/proc/nonexistent/sock")
    refuses(session("x", "true", env=env), "/proc/nonexistent", 125)
    env = dict(ENV, NACRE_SPAWN=MISSING + "/spawn")
    refuses(nacre("exec", "--", "true", env=env), MISSING + "/spawn", 125)


@test
def json_has_an_object_for_every_failure():
    verbs = {
        "exec": ("-s", "x", "--", "true"), "ps": (), "session open": (), "session list": (),
        "session import": ("/dev/null",), "logs": ("c_1",), "kill": ("c_1",), "wait": ("c_1",),
        "result": ("c_1",),
    }
    for verb in ("show", "close", "reset", "fork"):
        verbs["session " + verb] = ("x",)
    for verb in ("snapshot", "restore"):
        verbs["session " + verb] = ("x", "y")
    stop_daemon()
    env = dict(ENV, NACRED=MISSING + "/nacred")
    for verb, operands in verbs.items():
        run = nacre(*verb.split(), "--json", *operands, env=env)
        check((run.returncode, json.loads(run.stdout)["error"]["code"]), (125, "not_found"), run)
        assert MISSING.encode() in run.stderr, run
    run = nacre("shutdown", "--json", env=dict(ENV, NACRE_SOCKET="relative"))
    check(json.loads(run.stdout)["error"]["code"], "invalid_argument", run)


@test
def shutdown_ends_the_daemon_and_what_runs():
    mark = "987.125"
    gives(session("s", f"v=kept; sleep {mark} & disown"))
    command = nacre("exec", "-s", "s", "--background", "--", f"sleep {mark}").stdout.decode().strip()
    until(lambda: len(processes(mark)) >= 2, "they run")
    gives(nacre("shutdown"))
    check(processes(mark), [])
    assert not os.path.exists(ENV["NACRE_SOCKET"])
    run = nacre("shutdown")
    check((run.returncode, run.stdout), (1, b""), run)
    assert b"no daemon listens on" in run.stderr, run
    run = nacre("shutdown", "--json")
    check((run.returncode, run.stdout, run.stderr), (1, b'{"ended":false}\n', b""), run)
    gives(session("s", "echo $v"), b"kept\n")
    check(json.loads(nacre("result", "--json", command).stdout)["status"], "cancelled")
    run = nacre("shutdown", "--json")
    check((run.returncode, json.loads(run.stdout)["ended"]), (0, True), run)
    refuses(nacre("shutdown", "now"), "now", 2)


@test
def a_daemon_with_too_few_files_is_explained():
    def few_files():
        resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))

    stop_daemon()
    begun = time.monotonic()
    run = subprocess.run(
        [NACRE, "exec", "-s", "x", "--", "true"], env=ENV, capture_output=True, timeout=WAIT, check=False,
        preexec_fn=few_files,
    )
    refuses(run, "RLIMIT_NOFILE, 'ulimit -n') is 20: expected at least 128", 125)
    assert time.monotonic() - begun < WAIT / 6, run


@test
def serve_is_the_daemon():
    stop_daemon()
    run = start("serve", "--foreground")
    try:
        until(lambda: os.path.exists(ENV["NACRE_SOCKET"]), "the socket")
        gives(session("a", "echo served"), b"served\n")
        run.terminate()
        check(run.wait(WAIT), 0)
    finally:
        run.kill()
        run.communicate()


run_tests()
