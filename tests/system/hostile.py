# SPDX-License-Identifier: MIT
"""Clients that break the rules: each gets a clear error or is cut off, and nobody else notices."""

import json
import os
import random
import resource
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
from nacred import SCALE, Client, Closed, Daemon, Failed, error_of, main, wait_until

FIELDS = {
    "hello": ["client"],  # a wrong protocol ends the connection
    "status": [],
    "detach": ["channel"],
    "exec": ["text", "session", "create", "kind", "cwd", "startCwd", "env", "timeoutMs", "graceMs"]
    + ["yieldMs", "stdin", "stdinOpen", "background", "wait", "pty", "rows", "cols", "stream"],
    "input": ["id", "channel", "data", "end", "stream"],
    "inputEnd": ["id", "channel"],
    "resize": ["id", "channel", "rows", "cols"],
    "signal": ["id", "channel", "signal"],
    "stop": ["id", "channel"],
    "result": ["id", "channel"],
    "ps": ["session", "all"],
    "logs": ["id", "channel", "cursor", "follow", "filter", "max"],
    "wait": ["id", "channel", "until", "pattern", "regex", "host", "port", "timeoutMs"],
    "sessionOpen": ["session", "kind", "cwd", "env", "state", "mayExist"],
    "sessionList": [],
    "sessionShow": ["session"],
    "sessionReset": ["session"],
    "sessionFork": ["session", "newSession"],
    "sessionSnapshot": ["session", "name"],
    "sessionRestore": ["session", "name"],
    "sessionExport": ["session"],
    "sessionImport": ["file", "newSession"],
    "sessionClose": ["session"],
}

VALUES = [None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, -(2**63), 1.5, 1e300, "", "x", "a/b"]
VALUES += ["\0", "é\0", "../..", "x" * 70, "x" * 5000, [], ["a"], {}, {"a": 1}, {"": "x"}]
VALUES += [{"A=B": "x"}, {"A": "\0"}, {"A": "x"}, "TERM", "SIGNOPE", "exit", "log", "port"]


def raw(daemon):
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(daemon.socket)
    sock.settimeout(20)
    return sock


def read_all(sock):
    data = b""
    try:
        while piece := sock.recv(65536):
            data += piece
    except ConnectionError:
        pass
    return data


def frame(kind, channel, payload):
    return struct.pack("<IBI", 5 + len(payload), ord(kind), channel) + payload


def request(number, **fields):
    return frame("J", number, json.dumps(fields).encode())


HELLO = request(1, op="hello", protocol=1)


def check_alive(daemon):
    with daemon.client() as client:
        assert client.exec("echo alive", session="alive")["output"] == "alive\n"


def test_what_is_no_frame_ends_the_connection():
    cases = [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\0" * 64,
        b"\xff" * 64,
        struct.pack("<IBI", 0xFFFFFFFF, ord("J"), 1),
        struct.pack("<IBI", 17 << 20, ord("J"), 1),
        struct.pack("<IBI", 4, ord("J"), 1),
        struct.pack("<IBI", 10, ord("O"), 1),
        struct.pack("<IBI", 6, ord("X"), 1),
        struct.pack("<IBI", (256 << 10) + 6, ord("I"), 1),
        frame("J", 0, b'{"op":"ps"}'),
    ]
    with Daemon() as daemon:
        for case in cases:
            for begin in (b"", HELLO):
                sock = raw(daemon)
                sock.sendall(begin + case)
                data = read_all(sock)
                assert b'"error"' in data and b"protocol_error" in data, (case, data)
                sock.close()
        check_alive(daemon)


def test_half_frames_are_left_alone():
    with Daemon() as daemon:
        whole = HELLO + request(2, op="exec", text="echo half", session="a")
        open_sockets = []
        for length in range(len(whole)):
            sock = raw(daemon)
            sock.sendall(whole[:length])
            open_sockets.append(sock)
        check_alive(daemon)
        for sock in open_sockets:
            sock.close()
        check_alive(daemon)


def test_byte_by_byte():
    with Daemon() as daemon, daemon.client() as client:
        data = request(2, op="exec", text="echo slowly", session="a")
        for byte in data:
            client.sock.sendall(bytes([byte]))
        assert client.answer(2)["output"] == "slowly\n"


def test_hello_comes_first():
    with Daemon() as daemon:
        for begin in (request(1, op="ps"), frame("J", 1, b"[]"), frame("J", 1, b"nonsense")):
            sock = raw(daemon)
            sock.sendall(begin)
            assert b'"error"' in read_all(sock)
        for protocol in (0, 2, 2**40):
            sock = raw(daemon)
            sock.sendall(request(1, op="hello", protocol=protocol))
            assert b"unsupported" in read_all(sock)
        check_alive(daemon)


def test_json_that_makes_no_sense_is_answered():
    deep = b"[" * 100000
    cases = [b"{}", b"[]", b"1", b'"x"', b"{", b"\xff\xff", b'{"op":1}', b'{"op":"nope"}', deep]
    cases += [b'{"op":"ps","x":1}', b'{"op":"ps"} {"op":"ps"}', b'{"op":"ps","op64":"eA=="}']
    with Daemon() as daemon, daemon.client() as client:
        for case in cases:
            client.channel += 1
            client.send_frame("J", client.channel, case)
            code = error_of(client.answer, client.channel)
            expected = ("syntax_error", "invalid_argument", "unsupported", "limit_exceeded")
            assert code in expected, (case[:40], code)
        assert client.exec("echo ok")["output"] == "ok\n"


def test_errors_name_the_field():
    with Daemon() as daemon, daemon.client() as client:
        cases = [
            ({"op": "exec"}, "field 'text' is missing"),
            ({"op": "exec", "text": 1}, "field 'text': expected a string, not number"),
            ({"op": "exec", "text64": "*"}, "field 'text64': not base64"),
            ({"op": "exec", "text": "", "text64": ""}, "'text' and 'text64': expected one of them"),
            ({"op": "exec", "text": "", "timeoutMs": "1"}, "'timeoutMs': expected a number"),
            ({"op": "exec", "text": "", "timeoutMs": 1.5}, "expected an integer"),
            ({"op": "exec", "text": "", "env": []}, "'env': expected an object, not array"),
            ({"op": "exec", "text": "", "bogus": 1}, "'exec' knows no field 'bogus'"),
            ({"op": "exec", "text": "", "cwd": "a\0b"}, "'cwd': expected a text without NUL"),
            ({"op": "signal", "id": "x", "signal": "NOPE"}, "name or number of a signal"),
            ({"op": "stop"}, "'id' and 'channel': expected one of them"),
            ({"op": "stop", "id": "x", "channel": 1}, "'id' and 'channel': expected one of them"),
            ({"op": "stop", "id": "x"}, "no command 'x'"),
            ({"op": "nope"}, "no operation 'nope'"),
        ]
        for fields, text in cases:
            try:
                client.call(**fields)
                raise AssertionError(fields)
            except Failed as failed:
                assert text in failed.args[1], (fields, failed)


def sessions(client):
    return client.call("sessionList")["sessions"]


def state(session):
    return session["state"]


def test_any_value_in_any_field():
    with Daemon() as daemon, daemon.client() as client:
        running = client.exec("sleep 1000", session="s", background=True)["id"]
        for op, names in FIELDS.items():
            for name in names:
                for value in VALUES:
                    fields = {"op": op, "text": ":", "timeoutMs": 1000, "id": running}
                    fields |= {"session": "s", "name": "n", "until": "port", "signal": 18}
                    fields |= {"rows": 1, "cols": 1, "file": "{}", "port": 1}
                    fields = {k: v for k, v in fields.items() if k in ["op", *names]}
                    if op == "hello":
                        fields["protocol"] = 1
                    if name == "channel":
                        fields.pop("id", None)
                    if op in ("exec", "sessionFork", "sessionOpen"):
                        fields["session"] = "other"
                    if op == "wait":
                        fields["timeoutMs"] = 1
                    fields[name] = value
                    client.send(**fields)
        # Whatever is still open is let go of; only that nothing broke is of interest.
        client.send("ps")
        for _ in range(200):
            client.read_frame()
        check_alive(daemon)
        with daemon.client() as other:
            closed = lambda: "closing" not in map(state, sessions(other))
            wait_until(closed, "what closes is closed")


def test_channels():
    with Daemon() as daemon:
        sock = raw(daemon)
        twice = request(2, op="exec", text="sleep 5", session="a")
        sock.sendall(HELLO + twice + twice)
        assert b"in use" in read_all(sock)
        with daemon.client() as client:
            channels = [client.send("exec", text="sleep 60", session="b", background=True, wait=True)]
            channels += [client.send("wait", channel=channels[0], until="exit") for _ in range(1100)]
            codes = [error_of(client.answer, channel) for channel in channels[1024:]]
            assert set(codes) == {"busy"}, codes
        check_alive(daemon)


def test_input_where_none_is_taken():
    with Daemon() as daemon, daemon.client() as client:
        client.send_frame("I", 77, b"nobody")
        client.send_frame("X", 77)
        channel = client.send("exec", text="sleep .2", session="a")
        client.send_frame("I", channel, b"x")
        assert error_of(client.answer, channel) == "protocol_error"
        channel = client.send("exec", text="cat", session="b", stdinOpen=True)
        client.send_frame("X", channel)
        client.send_frame("X", channel)
        client.send_frame("I", channel, b"x")
        try:
            client.answer(channel)
        except Failed as failed:
            assert failed.args[0] == "protocol_error"
        assert client.exec("echo ok", session="b")["output"] == "ok\n"


def test_large_requests():
    with Daemon() as daemon, daemon.client() as client:
        text = "#" * ((1 << 20) - 8) + "\necho ok"
        assert client.exec(text[-(1 << 20) :], session="a")["output"] == "ok\n"
        assert error_of(client.exec, "#" * ((1 << 20) + 1), session="a") == "limit_exceeded"
        client.channel += 1
        payload = b'{"op":"exec","text":"' + b"\\u0001" * ((1 << 20) - 1) + b'"}'
        client.send_frame("J", client.channel, payload)
        assert client.answer(client.channel)["exitCode"] is not None
        client.channel += 1
        client.send_frame("J", client.channel, b"[" + b"1," * (7 << 20) + b"1]")
        code = error_of(client.answer, client.channel)
        assert code in ("limit_exceeded", "invalid_argument"), code
        assert client.exec("echo ok", session="a")["output"] == "ok\n"


def test_requests_without_reading():
    def rss():
        with open(f"/proc/{daemon.process.pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize()

    with Daemon() as daemon:
        with daemon.client() as client:
            client.exec("head -c 60000 /dev/zero | tr '\\0' x", session="a")
            before = rss()
            client.sock.settimeout(1)
            sent = 0
            try:
                while sent < 200_000:
                    client.send("ps", all=True)
                    sent += 1
            except TimeoutError:
                pass
            assert sent < 200_000, "the daemon reads on and on"
            if SCALE == 1:  # an instrumented program keeps what it frees
                assert rss() - before < 32 << 20, (before, rss())
            check_alive(daemon)
        check_alive(daemon)


def test_clients_that_vanish_at_any_moment():
    generator = random.Random(3)
    with Daemon() as daemon:
        for i in range(300):
            sock = raw(daemon)
            data = HELLO
            for channel in range(2, 2 + generator.randrange(1, 6)):
                op = generator.choice(["exec", "exec", "exec", "sessionOpen", "ps", "logs", "wait"])
                fields = {"exec": {"text": "echo a; sleep .01; cat", "stream": True}}
                fields = fields.get(op, {})
                if op == "exec":
                    fields["stdinOpen"] = generator.random() < 0.5
                    fields["background"] = generator.random() < 0.3
                    if generator.random() < 0.7:
                        fields["session"] = f"s{i % 5}"
                    fields["timeoutMs"] = 500
                elif op == "sessionOpen":
                    fields = {"session": f"s{i % 5}", "mayExist": True}
                elif op != "ps":
                    fields = {"channel": 2, "until": "exit"} if op == "wait" else {"channel": 2}
                data += request(channel, op=op, **fields)
                if generator.random() < 0.5:
                    data += frame("I", channel, b"x" * generator.randrange(10000))
            sock.sendall(data[: generator.randrange(len(data))])
            if generator.random() < 0.5:
                time.sleep(generator.random() * 0.02)
            sock.close()
        check_alive(daemon)
        with daemon.client() as client:
            wait_until(lambda: client.call("status")["connections"] == 1, "they are forgotten")
            wait_until(lambda: not client.call("ps")["commands"], "their commands end", 20)
            names = [session["id"] for session in sessions(client)]
            assert not [name for name in names if name.startswith("s-")], names


def test_noise():
    generator = random.Random(11)
    with Daemon() as daemon:
        good = [HELLO] + [
            request(i + 2, op=op, **({"text": "echo x", "session": "a"} if op == "exec" else {}))
            for i, op in enumerate(FIELDS)
        ]
        for _ in range(300):
            data = bytearray(b"".join(generator.sample(good[1:], 8)))
            for _ in range(generator.randrange(1, 10)):
                data[generator.randrange(len(data))] = generator.randrange(256)
            sock = raw(daemon)
            sock.sendall(HELLO + data)
            sock.shutdown(socket.SHUT_WR)
            read_all(sock)
            sock.close()
        check_alive(daemon)


def test_more_clients_than_descriptors():
    with Daemon() as daemon:
        pid = daemon.process.pid
        limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        used = len(os.listdir(f"/proc/{pid}/fd"))
        with daemon.client() as early:
            early.exec(":", session="a")
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + 40, limits[1]))
            socks = [raw(daemon) for _ in range(100)]
            time.sleep(0.3)
            with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
                ticks = sum(map(int, stat.read().rsplit(")", 1)[1].split()[11:13]))
            time.sleep(0.5)
            with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
                spent = sum(map(int, stat.read().rsplit(")", 1)[1].split()[11:13])) - ticks
            assert spent < 20, f"{spent} ticks for nothing"
            assert early.call("ps") == {"commands": []}
            for sock in socks:
                sock.close()
            resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
        wait_until(lambda: error_of(check_alive, daemon) is None, "it takes clients again")


def test_too_many_clients_are_turned_away():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2100:
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        with Daemon() as daemon:
            socks = [raw(daemon) for _ in range(1024)]
            time.sleep(0.2)
            late = raw(daemon)
            assert b"too many clients" in read_all(late)
            for sock in socks:
                sock.close()
            wait_until(lambda: is_served(daemon), "it takes clients again")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def is_served(daemon):
    try:
        Client(daemon.socket).close()
    except (Failed, Closed, OSError):
        return False
    return True


main(globals())
