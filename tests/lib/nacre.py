#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""For tests that run the program nacre: calls, checks, terminals, and a TAP runner."""

import atexit
import fcntl
import os
import pty
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
import traceback

NACRE = os.environ["NACRE"]
SCALE = int(os.environ.get("TEST_TIMEOUT_SCALE", "1"))
WAIT = 30 * SCALE

work = tempfile.mkdtemp(prefix="nacre-cli.")
ENV = dict(os.environ)
for name in ("NACRE_DEFAULT_COMMAND_TIMEOUT_MS", "NACRE_MAX_COMMAND_TIMEOUT_MS", "TMPDIR"):
    ENV.pop(name, None)
ENV.update(
    NACRE_SOCKET=work + "/nacred.sock",
    XDG_STATE_HOME=work + "/state",
    XDG_RUNTIME_DIR=work + "/run",
    HOME=work,
    TERM="screen",
)
os.mkdir(work + "/run", 0o700)
os.mkdir(work + "/state", 0o700)
tests = []


class Skip(Exception):
    pass


def test(fn):
    tests.append(fn)
    return fn


def nacre(*args, stdin=b"", env=None, cwd=None, timeout=WAIT):
    return subprocess.run(
        [NACRE, *args], input=stdin, capture_output=True, env=env or ENV, cwd=cwd, timeout=timeout,
        check=False,
    )


def start(*args, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    return subprocess.Popen([NACRE, *args], env=ENV, **options)


def check(got, want, what=""):
    assert got == want, f"{what}: got {got!r}, wanted {want!r}"


def gives(run, out=b"", status=0, err=b""):
    """The run printed exactly this and ended so; err None: anything."""
    what = f"{run.args[1:]} (stdout {run.stdout[-300:]!r}, stderr {run.stderr[-300:]!r})"
    check(run.returncode, status, what)
    if out is not None:
        check(run.stdout, out, what)
    if err is not None:
        check(run.stderr, err, what)


def refuses(run, text, status=2):
    assert text.encode() in run.stderr, f"{run.args[1:]}: {text!r} is not in {run.stderr!r}"
    check(run.returncode, status, run.args[1:])
    check(run.stdout, b"", run.args[1:])


def until(condition, what):
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"timed out: {what}")


def processes(mark):
    """Pids of the processes whose command line holds the mark, this one excepted."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if mark.encode() in f.read() and int(pid) != os.getpid():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def read_until(fd, mark, timeout=WAIT):
    """What comes from a descriptor up to and with the mark."""
    got = b""
    end = time.monotonic() + timeout
    while not got or mark not in got:
        ready, _, _ = select.select([fd], [], [], max(0, end - time.monotonic()))
        assert ready, f"{mark!r} did not come, only {got!r}"
        try:
            piece = os.read(fd, 65536)
        except OSError:  # a terminal whose last user has gone
            piece = b""
        assert piece, f"the end came before {mark!r}: {got!r}"
        got += piece
    return got


class Terminal:
    """A nacre that runs on a terminal of 30 rows and 100 columns."""

    def __init__(self, *args):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            # The size first: it is read when the program starts.
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
            os.execve(NACRE, [NACRE, *args], ENV)
        self.unread = b""

    def resize(self, rows, cols):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def read_until(self, mark):
        """What came up to and with the mark; what came after it is for the next call."""
        while mark not in self.unread:
            self.unread += read_until(self.fd, b"")
        at = self.unread.index(mark) + len(mark)
        seen, self.unread = self.unread[:at], self.unread[at:]
        return seen

    def type(self, keys):
        os.write(self.fd, keys)

    def is_raw(self):
        return not termios.tcgetattr(self.fd)[3] & termios.ICANON

    def wait(self):
        """The exit status; the terminal must be as it was."""
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            # Output that nobody reads could hold it up.
            if select.select([self.fd], [], [], 0)[0]:
                try:
                    os.read(self.fd, 65536)
                except OSError:
                    pass
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.01)
        raise AssertionError("it does not end")

    def close(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        os.close(self.fd)


def stop_daemon():
    """Ends the daemon of this test's socket, if there is one, by its own operation."""
    try:
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(5)
            s.connect(ENV["NACRE_SOCKET"])
            for channel, body in ((1, b'{"op":"hello","protocol":1}'), (2, b'{"op":"shutdown"}')):
                s.sendall(struct.pack("<IcI", len(body) + 5, b"J", channel) + body)
            while s.recv(65536):
                pass
    except OSError:
        pass


@atexit.register
def clean_up():
    stop_daemon()
    shutil.rmtree(work, ignore_errors=True)


def run_tests():
    wanted = sys.argv[1:]
    chosen = [fn for fn in tests if not wanted or fn.__name__ in wanted]
    print(f"1..{len(chosen)}")
    failed = False
    for number, fn in enumerate(chosen, 1):
        try:
            fn()
            print(f"ok {number} - {fn.__name__}")
        except Skip as reason:
            print(f"ok {number} - {fn.__name__} # SKIP {reason}")
        except Exception:  # pylint: disable=broad-except
            failed = True
            print(f"not ok {number} - {fn.__name__}")
            for line in traceback.format_exc().splitlines():
                print(f"#   {line}")
        sys.stdout.flush()
    sys.exit(failed)

