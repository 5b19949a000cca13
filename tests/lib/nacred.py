# SPDX-License-Identifier: MIT
"""A daemon of its own for each test, a plain client, and TAP.

The client is written from the description of the protocol, not from the code, so
that the two can disagree.
"""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import traceback

SCALE = int(os.environ.get("TEST_TIMEOUT_SCALE", "1"))


class Closed(Exception):
    """The daemon has closed the connection."""


class Failed(Exception):
    """The daemon answered with an error: (code, message)."""


class Client:
    def __init__(self, path, hello=True, timeout=20):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(timeout * SCALE)
        self.sock.connect(path)
        self.buffer = b""
        self.channel = 0
        self.kept = []
        if hello:
            self.hello = self.call("hello", protocol=1)

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send_frame(self, kind, channel, payload=b""):
        head = struct.pack("<IBI", 5 + len(payload), ord(kind), channel)
        self.sock.sendall(head + payload)

    def send(self, op, **fields):
        self.channel += 1
        self.send_frame("J", self.channel, json.dumps({"op": op, **fields}).encode())
        return self.channel

    def read_frame(self):
        """(type, channel, payload); output is (cursor, bytes), JSON is parsed."""
        while True:
            if len(self.buffer) >= 4:
                (length,) = struct.unpack_from("<I", self.buffer)
                if len(self.buffer) >= 4 + length:
                    frame, self.buffer = self.buffer[4 : 4 + length], self.buffer[4 + length :]
                    kind, channel, payload = chr(frame[0]), frame[1:5], frame[5:]
                    channel = int.from_bytes(channel, "little")
                    if kind == "J":
                        return kind, channel, json.loads(payload)
                    return kind, channel, (int.from_bytes(payload[:8], "little"), payload[8:])
            try:
                data = self.sock.recv(1 << 20)
            except ConnectionError as error:
                raise Closed from error
            if not data:
                raise Closed
            self.buffer += data

    def next(self, channel=None):
        """The next frame (of that channel; others are kept)."""
        for i, frame in enumerate(self.kept):
            if channel in (None, frame[1]):
                return self.kept.pop(i)
        while True:
            frame = self.read_frame()
            if channel in (None, frame[1]) or frame[1] == 0:
                return frame
            self.kept.append(frame)

    def answer(self, channel, frames=None):
        """The result of a channel; frames that come before it are appended to frames."""
        while True:
            kind, got, payload = self.next(channel)
            if kind == "J" and "error" in payload:
                error = payload["error"]
                raise Failed(error["code"], error["message"])
            if got == channel and kind == "J" and "result" in payload:
                return payload["result"]
            if frames is not None:
                frames.append((kind, payload))

    def call(self, op, **fields):
        return self.answer(self.send(op, **fields))

    def exec(self, text, **fields):
        return self.call("exec", text=text, **fields)


def error_of(call, *args, **fields):
    """The code with which a call fails."""
    try:
        call(*args, **fields)
    except Failed as failed:
        return failed.args[0]
    return None


def output(frames, kinds="OE"):
    return b"".join(payload[1] for kind, payload in frames if kind in kinds)


class Daemon:
    """nacred in the foreground, in a scratch directory."""

    def __init__(self, *options):
        self.scratch = tempfile.TemporaryDirectory(prefix="nacred-test.")
        self.dir = self.scratch.name
        self.socket = self.dir + "/run/nacred.sock"
        self.options = options
        self.process = None
        self.start()

    def start(self):
        with open(self.dir + "/log", "ab") as log:
            command = [os.environ["NACRED"], "--foreground", "--socket", self.socket]
            command += ["--state-dir", self.dir + "/state", *self.options]
            self.process = subprocess.Popen(command, stderr=log, cwd=self.dir)
        deadline = time.monotonic() + 20 * SCALE
        while not self.is_listening():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError("nacred does not start: " + self.log())
            time.sleep(0.002)

    def is_listening(self):
        try:
            Client(self.socket).close()
        except (OSError, Closed):
            return False
        return True

    def log(self):
        with open(self.dir + "/log", encoding="utf-8", errors="replace") as log:
            return log.read()

    def client(self, **options):
        return Client(self.socket, **options)

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(30 * SCALE)

    def kill(self):
        self.stop(signal.SIGKILL)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            status = self.stop() if self.process.poll() is None else self.process.returncode
        except subprocess.TimeoutExpired:
            self.kill()
            status = "a hang"
        log = self.log()
        self.scratch.cleanup()
        if kind is not None and log:
            print("# nacred: " + log.strip()[-4000:].replace("\n", "\n# nacred: "))
        if kind is None and status not in (0, -signal.SIGKILL):
            raise AssertionError(f"nacred ended with {status}: {log}")


def processes_with(text):
    """Processes whose command line holds the text."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if text.encode() in file.read() and int(pid) != os.getpid():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def wait_until(condition, what, seconds=10):
    deadline = time.monotonic() + seconds * SCALE
    while not condition():
        assert time.monotonic() < deadline, f"timed out: {what}"
        time.sleep(0.005)


def main(tests):
    """Runs the functions whose names begin with test_ and prints TAP."""
    names = [name for name in tests if name.startswith("test_")]
    wanted = sys.argv[1:]
    names = [name for name in names if not wanted or name in wanted]
    print(f"1..{len(names)}", flush=True)
    bad = False
    for number, name in enumerate(names, 1):
        try:
            tests[name]()
            print(f"ok {number} - {name[5:]}", flush=True)
        except Exception:  # a test may fail in any way
            bad = True
            print(f"not ok {number} - {name[5:]}")
            print("# " + traceback.format_exc().replace("\n", "\n# "), flush=True)
    sys.exit(bad)
