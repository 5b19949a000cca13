# SPDX-License-Identifier: MIT
"""Where nacre cannot do its work, or has died over it: it says so at once, and by the right name."""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
from nacre import ENV, NACRE, Skip, check, gives, nacre, refuses, run_tests, test, work

ODD = b"\xff\xfe"
HIDE_PROC = 'mount -t tmpfs none /proc; exec "$@"'


def session(text, *options, **kwargs):
    return nacre("exec", "-s", "b", *options, "--", text, **kwargs)


def kill_daemon():
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(ENV["NACRE_SOCKET"])
        pid, _, _ = struct.unpack("3i", s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        os.kill(pid, signal.SIGKILL)
        s.settimeout(10)
        try:
            check(s.recv(1), b"")
        except ConnectionResetError:  # it had not accepted us
            pass


@test
def a_helper_that_dies_is_named():
    for program in ("/bin/true", "/bin/cat"):
        env = dict(ENV, NACRE_SPAWN=program)
        run = nacre("exec", "--", "echo hi", env=env)
        check(run.returncode, 125, run)
        assert b"could not be started: nacre-spawn ended" in run.stderr, run.stderr
        result = json.loads(nacre("exec", "--json", "--", "echo hi", env=env).stdout)
        check(result["status"], "spawn_failed")
        assert "nacre-spawn" in result["why"]["summary"], result["why"]


@test
def a_proc_of_others_is_refused():
    for ways, text in (
        (["unshare", "-r", "-p", "-f", "--kill-child"], b"another PID namespace"),
        (["unshare", "-r", "-m", "sh", "-c", HIDE_PROC, "sh"], b"not mounted"),
    ):
        if subprocess.run([*ways, "true"], capture_output=True, check=False).returncode:
            raise Skip("no user namespaces")
        run = subprocess.run(
            [*ways, NACRE, "exec", "--", "sleep 100 & :"], env=dict(ENV), capture_output=True,
            timeout=20, check=False,
        )
        assert text in run.stderr, run
        check(run.returncode, 125, run)


@test
def a_state_directory_in_use_is_said_at_once():
    gives(session(":"))
    start = time.monotonic()
    env = dict(ENV, NACRE_SOCKET=work + "/other.sock")
    text = f"the daemon on '{ENV['NACRE_SOCKET']}' holds"
    refuses(nacre("exec", "-s", "b", "--", ":", env=env), text, 125)
    assert time.monotonic() - start < 5, "it waited for the other daemon"


@test
def ids_that_were_told_survive_the_daemon():
    background = session("echo a; sleep 600", "--background").stdout.decode().strip()
    yielded = session("echo b; sleep 600", "--yield", "300ms", "--json")
    yielded = json.loads(yielded.stdout)["id"]
    done = session("echo c", "--background").stdout.decode().strip()
    gives(nacre("wait", done))
    kill_daemon()
    for name in (background, yielded):
        result = json.loads(nacre("result", "--json", name).stdout)
        check(result["status"], "session_lost")
        check(result["exitCode"], 137)
        assert "died" in result["why"]["summary"], result["why"]
        check(nacre("wait", name).returncode, 125)
    result = json.loads(nacre("result", "--json", done).stdout)
    check((result["status"], result["output"]), ("exited", "c\n"))


@test
def input_for_nobody_is_refused_also_when_empty():
    refuses(nacre("input", "c_nope"), "no command 'c_nope'", 125)
    refuses(nacre("input", "c_nope", stdin=b"x"), "no command 'c_nope'", 125)
    refuses(nacre("input", "--end", "c_nope"), "no command 'c_nope'", 125)


@test
def names_may_be_any_bytes():
    odd = os.fsencode(work) + b"/" + ODD
    os.mkdir(odd)
    hexed = b"printf %s \"$PWD $A $B\" | tail -c 8 | od -An -tx1"
    want = b" ff fe 20 fe ff 20 c3 a9\n"
    for where in ([], ["-s", "b"], ["-s", "new"]):
        env = ["--env", b"A=\xfe\xff", "--env", "B=é"]
        gives(nacre("exec", *where, "--cwd", odd, *env, "--", hexed), want)
    gives(nacre("exec", "-s", "there", "--", "pwd", cwd=odd), odd + b"\n")
    gives(nacre("session", "open", "--cwd", odd, "--env", b"A=\xfe", "opened"), b"opened\n")
    gives(nacre("exec", "-s", "opened", "--", 'echo "$PWD$A"'), odd + b"\xfe\n")
    refuses(nacre("exec", "-s", ODD, "--", ":"), "UTF-8", 125)


if __name__ == "__main__":
    run_tests()
