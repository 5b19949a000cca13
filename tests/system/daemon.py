# SPDX-License-Identifier: MIT
"""The daemon as its clients see it: commands, streams, readers that come and go, its end."""

import base64
import os
import random
import resource
import signal
import stat
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
from nacred import SCALE, Client, Closed, Daemon, Failed
from nacred import error_of, main, output, processes_with, wait_until


# ---- commands


def test_exec_gives_the_result_object():
    with Daemon() as daemon, daemon.client() as client:
        result = client.exec("echo out; echo err >&2; exit 3", session="a")
        assert result["exitCode"] == 3 and result["status"] == "exited", result
        assert result["stdout"] == "out\n" and result["stderr"] == "err\n", result
        assert result["sessionId"] == "a"
        assert client.call("result", id=result["id"])["exitCode"] == 3


def test_state_lasts_in_a_session():
    with Daemon() as daemon, daemon.client() as client:
        client.exec("cd /usr; export A=1; f() { echo f$A; }", session="a")
        assert client.exec("pwd; f", session="a")["output"] == "/usr\nf1\n"
        assert client.exec("echo ${A-none}", session="b")["output"] == "none\n"


def test_a_one_shot_session_is_closed():
    with Daemon() as daemon, daemon.client() as client:
        result = client.exec("echo hi; sleep 987.125 & disown")
        assert result["output"] == "hi\n", result
        wait_until(lambda: not client.call("sessionList")["sessions"], "the session closes")
        wait_until(lambda: not processes_with("987.125"), "its processes end")


def test_one_shot_goes_on_when_the_client_vanishes():
    with Daemon() as daemon:
        with daemon.client() as client:
            text = "sleep .3; touch " + daemon.dir + "/done"
            channel = client.send("exec", text=text, stream=True)
            started = client.next(channel)[2]
            assert started["event"] == "started", started
        with daemon.client() as other:
            assert other.call("wait", id=started["id"], until="exit")["end"] == "met"
            assert os.path.exists(daemon.dir + "/done")
            wait_until(lambda: not other.call("sessionList")["sessions"], "the session closes")


def test_exec_does_not_create_if_told_so():
    with Daemon() as daemon, daemon.client() as client:
        assert error_of(client.exec, ":", session="a", create=False) == "not_found"
        assert client.call("sessionList")["sessions"] == []


def test_nothing_starts_anew_in_a_session_that_is_closing():
    with Daemon() as daemon, daemon.client() as client:
        for op, fields in (
            ("sessionReset", {}),
            ("sessionRestore", {"name": "n"}),
            ("sessionSnapshot", {"name": "m"}),
            ("sessionFork", {"newSession": "b"}),
            ("sessionExport", {}),
            ("sessionClose", {}),
        ):
            client.exec("x=1", session="a")
            client.call("sessionSnapshot", session="a", name="n")
            closing = client.send("sessionClose", session="a")
            channel = client.send(op, session="a", **fields)
            # By the time it is read the session may be gone altogether.
            assert error_of(client.answer, channel) in ("closed", "not_found"), op
            client.answer(closing)
            assert client.call("sessionList")["sessions"] == [], op


def test_a_refused_exec_leaves_no_session():
    with Daemon() as daemon, daemon.client() as client:
        assert error_of(client.exec, "a\0b", session="a") == "invalid_argument"
        assert error_of(client.exec, "a\0b") == "invalid_argument"
        wait_until(lambda: not client.call("sessionList")["sessions"], "the session closes")


def test_text_may_be_any_bytes():
    text = b"printf '%s' \xff\xfe | od -An -tx1"
    with Daemon() as daemon, daemon.client() as client:
        coded = base64.b64encode(text).decode()
        assert client.call("exec", text64=coded)["output"].split() == ["ff", "fe"]


def test_env_and_cwd_are_for_one_command():
    with Daemon() as daemon, daemon.client() as client:
        run = {"session": "a", "cwd": "/usr", "env": {"X": "a=b c", "Y": ""}}
        assert client.exec('echo "$PWD $X<$Y>"', **run)["output"] == "/usr a=b c<>\n"
        assert client.exec("echo ${X-none}", session="a")["output"] == "none\n"


def test_a_new_session_starts_where_it_is_told():
    with Daemon() as daemon, daemon.client() as client:
        assert client.exec("pwd", session="a", startCwd="/usr")["output"] == "/usr\n"
        assert client.exec("pwd", session="a", startCwd="/")["output"] == "/usr\n"
        assert client.exec("pwd", startCwd="/usr")["output"] == "/usr\n"


# ---- streams


def test_output_is_live_and_in_order():
    with Daemon() as daemon, daemon.client() as client:
        text = "echo 1; read x; echo 2 >&2; read x; printf 3"
        channel = client.send("exec", text=text, session="a", stream=True, stdinOpen=True)
        frames = []
        for expected in (("O", (0, b"1\n")), ("E", (2, b"2\n")), ("O", (4, b"3"))):
            while True:
                kind, _, payload = client.next(channel)
                if kind != "J":
                    break
            frames.append((kind, payload))
            assert (kind, payload) == expected, (kind, payload, expected)
            client.send_frame("I", channel, b"\n")
        result = client.answer(channel, frames)
        assert output(frames).decode() == result["output"] == "1\n2\n3"


def test_bytes_are_exact():
    data = random.Random(1).randbytes(700_000)
    with Daemon() as daemon, daemon.client() as client:
        channel = client.send("exec", text="cat", session="a", stream=True, stdinOpen=True)
        frames, sent, room = [], 0, 1 << 20
        while sent < len(data):
            piece = data[sent : sent + 200_000]
            client.send_frame("I", channel, piece)
            sent += len(piece)
        assert sent < room
        client.send_frame("X", channel)
        result = client.answer(channel, frames)
        assert output(frames, "O") == data
        assert result["bytes"]["stdout"] == len(data)
        cursor = 0
        for kind, payload in frames:
            if kind == "O":
                assert payload[0] == cursor
                cursor += len(payload[1])


def test_input_beyond_the_window_waits_for_the_command():
    total = 8 << 20
    with Daemon() as daemon, daemon.client() as client:
        text = f"sleep .3; head -c {total} | sha256sum"
        channel = client.send("exec", text=text, session="a", stdinOpen=True)
        sent = taken = 0
        while sent < total:
            while sent - taken + 65536 > 1 << 20:
                kind, _, payload = client.next(channel)
                assert kind == "J" and payload["event"] in ("started", "input"), payload
                if payload["event"] == "input":
                    assert payload["taken"] > taken, (payload, taken)
                    taken = payload["taken"]
            client.send_frame("I", channel, bytes([sent >> 16 & 255]) * 65536)
            sent += 65536
        client.send_frame("X", channel)
        assert client.answer(channel)["exitCode"] == 0


def test_input_for_a_queued_command():
    with Daemon() as daemon, daemon.client() as client:
        first = client.send("exec", text="sleep .3", session="a")
        run = {"session": "a", "stdinOpen": True, "stdin": "x" * 1000}
        channel = client.send("exec", text="sleep .1; wc -c", **run)
        sent = taken = 0
        while sent < 6 << 20:
            while sent - taken + 65536 > 1 << 20:
                payload = client.next(channel)[2]
                taken = payload.get("taken", taken)
            client.send_frame("I", channel, bytes(65536))
            sent += 65536
        client.send_frame("X", channel)
        assert client.answer(channel)["output"] == f"{1000 + sent}\n"
        assert client.answer(first)["exitCode"] == 0


def test_more_input_than_the_window_is_refused():
    with Daemon() as daemon, daemon.client() as client:
        channel = client.send("exec", text="sleep .5", session="a", stdinOpen=True)
        for _ in range(24):
            client.send_frame("I", channel, bytes(256 * 1024))
        assert error_of(client.answer, channel) == "protocol_error"
        assert client.exec("echo ok", session="a")["output"] == "ok\n"


def test_input_that_nobody_reads_is_dropped():
    with Daemon() as daemon, daemon.client() as client:
        channel = client.send("exec", text="exec <&-; sleep .1", session="a", stdinOpen=True)
        sent = 0
        try:
            while sent < 3 << 20:
                client.send_frame("I", channel, bytes(65536))
                sent += 65536
                time.sleep(0.001)
        except OSError:
            pass
        try:
            assert client.answer(channel)["exitCode"] == 0
        except Failed as failed:
            assert failed.args[0] == "protocol_error"
        assert client.exec("echo ok", session="a")["output"] == "ok\n"


def test_initial_stdin():
    with Daemon() as daemon, daemon.client() as client:
        assert client.exec("cat", stdin="a\0b")["stdout"] == "a\0b"
        coded = base64.b64encode(b"\xff").decode()
        assert client.call("exec", text="od -An -tx1", stdin64=coded)["output"] == " ff\n"
        assert client.exec("cat")["stdout"] == ""


def test_input_through_another_channel():
    with Daemon() as daemon, daemon.client() as client, daemon.client() as other:
        channel = client.send("exec", text="cat", session="a", stream=True, stdinOpen=True)
        command = client.next(channel)[2]["id"]
        other.call("input", id=command, data="one ")
        pipe = other.send("input", id=command, stream=True)
        other.send_frame("I", pipe, b"two ")
        other.send_frame("I", pipe, b"three")
        other.send_frame("X", pipe)
        assert other.answer(pipe) == {}
        assert client.answer(channel)["stdout"] == "one two three"
        assert error_of(other.call, "input", id=command, data="late") == "already_exited"


def test_an_input_channel_ends_with_its_command():
    with Daemon() as daemon, daemon.client() as client:
        channel = client.send("exec", text="read x", session="a", stream=True, stdinOpen=True)
        command = client.next(channel)[2]["id"]
        pipe = client.send("input", id=command, stream=True)
        client.send_frame("I", pipe, b"\n")
        assert client.answer(channel)["exitCode"] == 0
        assert client.answer(pipe) == {}
        client.send_frame("I", pipe, b"late: nobody minds")
        assert client.exec("echo ok", session="a")["output"] == "ok\n"


# ---- background, stopping, waiting


def test_background_answers_at_once():
    with Daemon() as daemon, daemon.client() as client:
        result = client.exec("echo up; sleep 30", session="a", background=True)
        assert result["status"] in ("queued", "running") and result["exitCode"] is None, result
        wait = client.call("wait", id=result["id"], until="log", pattern="up")
        assert wait == {"end": "met", "line": "up"}, wait
        assert [c["id"] for c in client.call("ps")["commands"]] == [result["id"]]
        client.call("stop", id=result["id"])
        client.call("wait", id=result["id"], until="exit")
        assert client.call("result", id=result["id"])["status"] == "cancelled"
        assert client.call("ps")["commands"] == []
        assert len(client.call("ps", all=True, session="a")["commands"]) == 1


def test_a_background_command_can_be_waited_for():
    with Daemon() as daemon, daemon.client() as client:
        result = client.exec("sleep .1; exit 4", session="a", background=True, wait=True)
        assert result["exitCode"] == 4


def test_yield_leaves_the_command_running():
    with Daemon() as daemon, daemon.client() as client:
        result = client.exec("echo a; sleep .5; echo b", session="a", yieldMs=100)
        assert result["status"] == "running" and result["output"] == "a\n", result
        assert client.call("wait", id=result["id"], until="exit")["end"] == "met"
        assert client.call("result", id=result["id"])["output"] == "a\nb\n"
        assert client.exec("echo c", session="a", yieldMs=10000)["output"] == "c\n"


def test_a_terminal():
    with Daemon() as daemon, daemon.client() as client:
        run = {"session": "a", "background": True, "pty": True, "rows": 30, "cols": 100}
        channel = client.send("exec", text="stty size; read x; stty size", stream=True,
                              stdinOpen=True, **run)
        frames = []
        while b"30 100\r\n" not in output(frames):
            kind, _, payload = client.next(channel)
            frames.append((kind, payload))
        client.call("resize", channel=channel, rows=40, cols=120)
        client.send_frame("I", channel, b"\r")
        result = client.answer(channel, frames)
        assert b"40 120\r\n" in output(frames), frames
        assert result["exitCode"] == 0


def test_stop_and_signal_by_channel():
    with Daemon() as daemon, daemon.client() as client:
        for op in ({"op": "stop"}, {"op": "signal", "signal": "INT"}):
            channel = client.send("exec", text="sleep 100", session="a", stream=True)
            client.next(channel)
            time.sleep(0.1)
            client.call(**op, channel=channel)
            result = client.answer(channel)
            assert result["exitCode"] == 130 and result["durationMs"] < 5000, result
        assert client.exec("echo ok", session="a")["output"] == "ok\n"
        assert error_of(client.call, "stop", channel=999) == "not_found"


def test_timeout():
    with Daemon() as daemon, daemon.client() as client:
        result = client.exec("echo hi; sleep 100", session="a", timeoutMs=200, graceMs=100)
        assert result["status"] == "timed_out" and result["exitCode"] == 124, result
        assert result["output"] == "hi\n"


def test_waits():
    with Daemon() as daemon, daemon.client() as client:
        run = {"session": "a", "background": True}
        first = client.exec("sleep .1; echo port 8123 is up; sleep 20", **run)["id"]
        wait = client.call("wait", id=first, until="log", pattern="port [0-9]+", regex=True)
        assert wait["line"] == "port 8123 is up"
        wait = client.call("wait", id=first, until="log", pattern="never", timeoutMs=50)
        assert wait == {"end": "timeout"}
        short = client.exec("sleep .1", **run)["id"]
        assert client.call("wait", id=short, until="port", port=1)["end"] == "exited"
        assert error_of(client.call, "wait", id=first, until="moon") == "invalid_argument"
        assert error_of(client.call, "wait", id=first, until="log") == "invalid_argument"
        assert error_of(client.call, "wait", id="c_none", until="exit") == "not_found"


def test_many_in_flight_on_one_connection():
    with Daemon() as daemon, daemon.client() as client:
        slow = client.send("exec", text="sleep .4; echo slow", session="slow")
        channels = [client.send("exec", text=f"echo {i}", session=f"s{i % 4}") for i in range(80)]
        for i, channel in enumerate(channels):
            assert client.answer(channel)["output"] == f"{i}\n"
        assert not [frame for frame in client.kept if frame[1] == slow]
        assert client.answer(slow)["output"] == "slow\n"


def test_commands_of_two_clients_take_turns():
    with Daemon() as daemon, daemon.client() as one, daemon.client() as two:
        first = one.send("exec", text="x=1; sleep .2; echo $x", session="a")
        time.sleep(0.05)
        second = two.send("exec", text="x=2; echo $x", session="a")
        assert two.answer(second)["output"] == "2\n"
        assert one.answer(first)["output"] == "1\n"
        assert one.exec("echo $x", session="a")["output"] == "2\n"


# ---- readers that come and go


def test_a_vanished_client_harms_nothing():
    with Daemon() as daemon:
        with daemon.client() as client:
            text = "for i in 1 2 3 4 5 6; do echo $i; sleep .05; done"
            channel = client.send("exec", text=text, session="a", stream=True)
            command = client.next(channel)[2]["id"]
            first = client.next(channel)[2][1]
        with daemon.client() as other:
            frames = []
            channel = other.send("logs", id=command, cursor=len(first), follow=True)
            end = other.answer(channel, frames)
            assert first + output(frames) == b"1\n2\n3\n4\n5\n6\n"
            assert end == {"cursor": 12, "status": "exited"}, end
            assert other.call("result", id=command)["exitCode"] == 0


def test_detach_ends_a_request_and_not_its_command():
    with Daemon() as daemon, daemon.client() as client:
        channel = client.send("exec", text="sleep .3; echo x", session="a", stream=True)
        command = client.next(channel)[2]["id"]
        client.call("detach", channel=channel)
        assert client.answer(channel) == {"detached": True}
        follow = client.send("logs", id=command, follow=True)
        client.call("detach", channel=follow)
        assert client.answer(follow) == {"detached": True}
        client.call("wait", id=command, until="exit")
        assert client.call("result", id=command)["output"] == "x\n"
        assert error_of(client.call, "detach", channel=follow) == "not_found"


def test_logs_by_cursor_filter_and_max():
    with Daemon() as daemon, daemon.client() as client:
        text = "echo out1; sleep .05; echo err1 >&2; sleep .05; echo out2"
        command = client.exec(text, session="a")["id"]

        def logs(**fields):
            frames = []
            end = client.answer(client.send("logs", id=command, **fields), frames)
            return output(frames), end["cursor"]

        assert logs() == (b"out1\nerr1\nout2\n", 15)
        assert logs(cursor=7) == (b"r1\nout2\n", 15)
        assert logs(cursor=15) == (b"", 15)
        assert logs(cursor=15, follow=True) == (b"", 15)
        assert logs(filter="stdout") == (b"out1\nout2\n", 15)
        assert logs(filter="stderr", follow=True) == (b"err1\n", 15)
        assert logs(max=7) == (b"out1\ner", 7)
        assert logs(filter="stdout", max=7) == (b"out1\nou", 12)
        assert error_of(client.call, "logs", id=command, cursor=16) == "invalid_argument"
        assert error_of(client.call, "logs", id=command, filter="both") == "invalid_argument"
        assert error_of(client.call, "logs", id="c_none") == "not_found"


def test_logs_of_what_outlives_a_command():
    with Daemon() as daemon, daemon.client() as client:
        text = "(sleep .3; echo late) & echo now"
        channel = client.send("exec", text=text, session="a", stream=True)
        frames = []
        result = client.answer(channel, frames)
        assert output(frames) == b"now\n"
        frames = []
        client.answer(client.send("logs", id=result["id"], follow=True), frames)
        assert output(frames) == b"now\nlate\n"


def test_a_slow_reader_gets_all_and_holds_nobody_up():
    lines = 400_000
    expected = "".join(f"{i}\n" for i in range(1, lines + 1)).encode()
    with Daemon() as daemon, daemon.client() as client, daemon.client() as other:
        started = time.monotonic()
        channel = client.send("exec", text=f"seq {lines}", session="a", stream=True)
        command = client.next(channel)[2]["id"]
        # Nobody reads, and the command ends all the same.
        assert other.call("wait", id=command, until="exit")["end"] == "met"
        assert other.exec("echo ok", session="a")["output"] == "ok\n"
        assert time.monotonic() - started < 20
        frames = []
        result = client.answer(channel, frames)
        assert output(frames) == expected
        assert result["bytes"]["stdout"] == len(expected)


def test_memory_is_bounded_for_a_reader_that_never_reads():
    def rss():
        with open(f"/proc/{daemon.process.pid}/status", encoding="ascii") as status:
            return int(next(l for l in status if l.startswith("VmRSS")).split()[1]) // 1024

    with Daemon() as daemon, daemon.client() as client, daemon.client() as other:
        before = rss()
        channel = client.send("exec", text="head -c 40000000 /dev/zero", session="a", stream=True)
        command = client.next(channel)[2]["id"]
        other.call("wait", id=command, until="exit")
        for _ in range(300):
            client.send("ps", all=True)
        time.sleep(0.1)
        if SCALE == 1:  # an instrumented program keeps what it frees
            assert rss() - before < 20, (before, rss())


def test_a_gap_is_told():
    size = 90_000_000
    with Daemon() as daemon, daemon.client() as client, daemon.client() as other:
        text = f"head -c {size} /dev/zero"
        channel = client.send("exec", text=text, session="a", stream=True)
        command = client.next(channel)[2]["id"]
        other.call("wait", id=command, until="exit", timeoutMs=100000)
        frames = []
        client.answer(channel, frames)
        cursor, gaps = 0, 0
        for kind, payload in frames:
            if kind == "J":
                assert payload["event"] == "gap" and payload["from"] == cursor, payload
                cursor = payload["to"]
                gaps += 1
            else:
                assert payload[0] == cursor
                cursor += len(payload[1])
        assert cursor == size and gaps == 1, (cursor, gaps)


def test_readers_at_random_lose_and_double_nothing():
    generator = random.Random(7)
    text = "for ((i = 0; i < 3000; i++)); do echo line $i; ((i % 300)) || sleep .02; done"
    expected = "".join(f"line {i}\n" for i in range(3000)).encode()
    with Daemon() as daemon, daemon.client() as owner:
        command = owner.exec(text, session="a", background=True)["id"]
        got = b""
        for _ in range(1000):
            with daemon.client() as client:
                channel = client.send("logs", id=command, cursor=len(got), follow=True)
                stop_after = generator.randrange(1, 8000)
                begin = len(got)
                over = False
                while len(got) - begin < stop_after and not over:
                    kind, _, payload = client.next(channel)
                    if kind == "O":
                        assert payload[0] == len(got)
                        got += payload[1]
                    over = kind == "J"
                if over:
                    break
        assert got == expected


# ---- sessions


def test_sessions():
    with Daemon() as daemon, daemon.client() as client:
        assert client.call("sessionOpen", session="a", cwd="/usr", env={"E": "1"})["session"] == "a"
        assert error_of(client.call, "sessionOpen", session="a") == "already_exists"
        assert client.call("sessionOpen", session="a", mayExist=True)["session"] == "a"
        assert error_of(client.call, "sessionOpen", session="../x") == "invalid_argument"
        made = client.call("sessionOpen")["session"]
        names = [s["id"] for s in client.call("sessionList")["sessions"]]
        assert sorted(names) == sorted(["a", made])
        assert client.exec("echo $E; X=1", session="a")["output"] == "1\n"
        client.call("sessionSnapshot", session="a", name="one")
        client.exec("X=2; cd /", session="a")
        assert client.call("sessionFork", session="a", newSession="b")["session"] == "b"
        client.call("sessionRestore", session="a", name="one")
        assert client.exec("echo $X; pwd", session="a")["output"] == "1\n/usr\n"
        assert client.exec("echo $X; pwd", session="b")["output"] == "2\n/\n"
        file = client.call("sessionExport", session="b")["file"]
        assert client.call("sessionImport", file=file, newSession="c")["session"] == "c"
        assert client.exec("echo $X", session="c")["output"] == "2\n"
        assert client.call("sessionShow", session="a")["snapshots"] == ["one"]
        client.call("sessionReset", session="a")
        assert client.exec("echo ${X-none}", session="a")["output"] == "none\n"
        assert client.call("sessionClose", session="c") == {}
        assert error_of(client.exec, ":", session="c", create=False) == "not_found"
        for op in ("Show", "Close", "Reset", "Fork", "Export"):
            assert error_of(client.call, "session" + op, session="none") == "not_found", op


def test_closing_a_session_ends_what_runs():
    with Daemon() as daemon, daemon.client() as client:
        channel = client.send("exec", text="sleep 987.25", session="a", stream=True)
        client.next(channel)
        wait_until(lambda: processes_with("987.25"), "it runs")
        assert client.call("sessionClose", session="a") == {}
        result = client.answer(channel)
        assert result["status"] in ("cancelled", "signaled"), result
        assert not processes_with("987.25")


def test_a_closer_may_vanish():
    with Daemon() as daemon, daemon.client() as client:
        client.call("sessionOpen", session="a")
        with daemon.client() as other:
            other.send("sessionClose", session="a")
        wait_until(lambda: not client.call("sessionList")["sessions"], "the session closes")


# ---- the daemon itself


def test_status():
    with Daemon() as daemon, daemon.client() as client:
        client.exec("sleep 20", session="a", background=True)
        status = client.call("status")
        assert status["pid"] == daemon.process.pid and status["protocol"] == 1, status
        assert status["connections"] == 1 and status["channels"] == 1, status
        assert status["sessions"] == 1 and status["commandsRunning"] == 1, status
        assert status["socket"] == daemon.socket and status["notice"] is None, status


def test_files_are_private():
    with Daemon() as daemon:
        assert stat.S_IMODE(os.stat(daemon.socket).st_mode) == 0o600
        assert stat.S_IMODE(os.stat(daemon.dir + "/run").st_mode) == 0o700
        assert stat.S_IMODE(os.stat(daemon.dir + "/state").st_mode) == 0o700
        assert stat.S_IMODE(os.stat(daemon.dir + "/state/nacre.db").st_mode) == 0o600


def test_results_and_sessions_survive_a_restart():
    with Daemon() as daemon:
        with daemon.client() as client:
            done = client.exec("cd /usr; X=7; echo kept", session="a")["id"]
        assert daemon.stop() == 0
        assert not os.path.exists(daemon.socket)
        daemon.start()
        with daemon.client() as client:
            assert client.call("result", id=done)["output"] == "kept\n"
            assert client.call("wait", id=done, until="exit") == {"end": "met"}
            result = client.exec("pwd; echo $X", session="a")
            assert result["output"] == "/usr\n7\n", result


def test_kill_9_keeps_what_was_acknowledged():
    with Daemon() as daemon:
        acknowledged = []

        def run():
            try:
                with daemon.client() as client:
                    while True:
                        result = client.exec(f"echo {len(acknowledged)}", session="a")
                        acknowledged.append((result["id"], result["output"]))
            except (Closed, OSError):
                pass

        thread = threading.Thread(target=run)
        thread.start()
        wait_until(lambda: len(acknowledged) >= 200, "200 commands")
        daemon.kill()
        thread.join()
        daemon.start()
        with daemon.client() as client:
            assert len(acknowledged) >= 200
            for command, text in acknowledged:
                assert client.call("result", id=command)["output"] == text
            assert client.exec("echo on", session="a")["output"] == "on\n"


def test_kill_9_leaves_no_process():
    with Daemon() as daemon:
        with daemon.client() as client:
            client.exec("sleep 987.5 & sleep 987.5 & setsid sleep 987.5 &", session="a")
            client.exec("sleep 987.5", session="a", background=True)
            wait_until(lambda: len(processes_with("987.5")) >= 4, "they run")
        daemon.kill()
        wait_until(lambda: not processes_with("987.5"), "they are gone")


def test_sigterm_ends_all_and_tells_those_who_wait():
    with Daemon() as daemon, daemon.client() as client:
        text = "trap '' TERM INT; sleep 987.75"
        channel = client.send("exec", text=text, session="a", stream=True)
        client.next(channel)
        client.exec("setsid sleep 987.75 & sleep 987.75 &", session="b")
        wait_until(lambda: len(processes_with("987.75")) >= 3, "they run")
        assert daemon.stop() == 0
        assert not processes_with("987.75")
        assert error_of(client.answer, channel) == "closed"


def test_shutdown():
    with Daemon() as daemon, daemon.client() as client:
        assert client.call("shutdown") == {}
        assert daemon.process.wait(20) == 0
        assert not os.path.exists(daemon.socket)


def test_too_few_open_files_are_told_at_once():
    with Daemon() as daemon:
        options = ["--socket", daemon.dir + "/s", "--state-dir", daemon.dir + "/x"]
        for mode in ([], ["--foreground"]):
            begun = time.monotonic()
            done = run_daemon(daemon, *options, *mode, preexec_fn=lambda: few_files(20, 20))
            assert done.returncode == 1 and time.monotonic() - begun < 5 * SCALE, done
            assert "RLIMIT_NOFILE" in done.stderr and "is 20: expected at least 128" in done.stderr, done


def few_files(soft, hard):
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_bad_frame_is_refused_by_its_first_bytes():
    with Daemon() as daemon:
        for length in (0, 4, 16 * 1024 * 1024 + 6, 0xFFFFFFFF):
            with daemon.client() as client:
                client.sock.sendall(struct.pack("<I", length))
                kind, channel, payload = client.next()
                assert (kind, channel) == ("J", 0), (kind, channel)
                error = payload["error"]
                assert error["code"] == "protocol_error", error
                assert f"frame of length {length}: expected 5 to" in error["message"], error


def test_a_key_that_comes_twice_is_refused():
    with Daemon() as daemon, daemon.client() as client:
        for body in ('{"op":"exec","text":"true","text":"false"}', '{"op":"exec","text":"true","env":{"text":"","text":""}}'):
            client.channel += 1
            client.send_frame("J", client.channel, body.encode())
            try:
                client.answer(client.channel)
                raise AssertionError(body)
            except Failed as failed:
                assert failed.args[0] == "syntax_error" and "'text' twice" in failed.args[1], failed
        assert client.exec("echo ok")["output"] == "ok\n"


def test_a_stale_socket_is_replaced():
    with Daemon() as daemon:
        daemon.kill()
        assert os.path.exists(daemon.socket)
        old = os.stat(daemon.socket).st_ino
        daemon.start()
        wait_until(lambda: os.stat(daemon.socket).st_ino != old, "a new socket")
        with daemon.client() as client:
            assert client.exec("echo ok")["output"] == "ok\n"


def run_daemon(daemon, *options, **more):
    command = [os.environ["NACRED"], *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **more)


def test_there_is_one_daemon_per_socket_and_state():
    with Daemon() as daemon:
        options = ["--foreground", "--socket", daemon.socket, "--state-dir", daemon.dir + "/other"]
        second = run_daemon(daemon, *options)
        assert second.returncode == 1 and "already" in second.stderr, second
        with daemon.client() as client:
            assert client.exec("echo ok")["output"] == "ok\n"


def test_what_is_wrong_is_said():
    with Daemon() as daemon:
        state = ["--state-dir", daemon.dir + "/x"]
        cases = [
            (["--nonsense"], 2, "unknown argument '--nonsense'"),
            (["x"], 2, "unknown argument 'x'"),
            (["--socket"], 2, "option '--socket' needs a value"),
            (["--help=1"], 2, "option '--help' takes no value"),
            (["--socket", "rel", *state], 1, "expected an absolute path"),
            (["--socket", "/tmp/" + "x" * 200, *state], 1, "longer than"),
            (["--socket", "/tmp/nacred.sock", *state], 1, "only this user may write"),
            (["--socket", daemon.dir + "/s", "--idle-exit", "0", *state], 1, "--idle-exit"),
            (["--socket", daemon.dir + "/log", *state], 1, "is no socket"),
        ]
        for arguments, status, text in cases:
            for mode in ([], ["--foreground"]):
                done = run_daemon(daemon, *arguments, *mode)
                assert done.returncode == status and text in done.stderr, (arguments, done)
        for path in ("/tmp/nacred.sock.lock", daemon.dir + "/log.lock"):
            if os.path.exists(path):
                os.unlink(path)


def test_help_and_version():
    with Daemon() as daemon:
        help_text = run_daemon(daemon, "--help")
        assert help_text.returncode == 0 and "--state-dir=DIR" in help_text.stdout
        assert run_daemon(daemon, "--version").stdout.startswith("nacred ")


def test_idle_exit():
    with Daemon("--idle-exit", "1") as daemon:
        with daemon.client() as client:
            result = client.exec("sleep 2", session="a", background=True)
            assert result["status"] in ("queued", "running"), result
        time.sleep(1.5)
        assert daemon.process.poll() is None
        assert daemon.process.wait(30) == 0


def test_a_corrupt_store_is_no_end():
    with Daemon() as daemon:
        assert daemon.stop() == 0
        with open(daemon.dir + "/state/nacre.db", "r+b") as file:
            file.write(b"\xa5" * 4096)
        daemon.start()
        with daemon.client() as client:
            assert "corrupt" in client.call("status")["notice"]
            assert client.exec("echo ok", session="a")["output"] == "ok\n"
        assert "corrupt" in daemon.log()


# ---- in the background


def test_the_program_returns_when_the_daemon_is_ready():
    with Daemon() as daemon:
        path = daemon.dir + "/second/s"
        read_end, write_end = os.pipe()
        options = ["--socket", path, "--state-dir", daemon.dir + "/second-state"]
        started = run_daemon(daemon, *options, pass_fds=[write_end])
        os.close(write_end)
        assert started.returncode == 0 and started.stdout == started.stderr == "", started
        # Had the daemon kept what its caller had open, this would wait for its end.
        assert os.read(read_end, 1) == b""
        os.close(read_end)
        with Client(path) as client:
            pid = client.hello["pid"]
            assert client.exec("echo ok")["output"] == "ok\n"
            assert os.readlink(f"/proc/{pid}/cwd") == "/"
            assert os.getsid(pid) != os.getsid(0)
            with open(daemon.dir + "/second-state/nacred.log", encoding="utf-8") as log:
                assert "listens" in log.read()
            os.kill(pid, signal.SIGTERM)
            try:
                client.next()
            except Closed:
                pass
        wait_until(lambda: not os.path.exists(f"/proc/{pid}"), "it ends", 20)


main(globals())
