# SPDX-License-Identifier: MIT
"""Commands of before a restart of the daemon: their results are kept, so they are still known."""

import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
from nacred import Daemon, Failed, error_of, main, output


def restart(daemon):
    assert daemon.stop() == 0
    daemon.start()


def logs(client, **fields):
    frames = []
    end = client.answer(client.send("logs", **fields), frames)
    return frames, end


def test_logs():
    with Daemon() as daemon:
        with daemon.client() as client:
            text = "echo out1; echo err1 >&2; echo out2; exit 4"
            command = client.exec(text, session="a")["id"]
        restart(daemon)
        with daemon.client() as client:
            for follow in (False, True):
                frames, end = logs(client, id=command, follow=follow)
                assert output(frames) == b"out1\nerr1\nout2\n", frames
                assert end == {"cursor": 15, "status": "exited"}, end
            assert output(logs(client, id=command, filter="stderr")[0]) == b"err1\n"
            assert output(logs(client, id=command, cursor=7)[0]) == b"r1\nout2\n"
            assert client.call("ps", all=True)["commands"] == []


def test_logs_of_large_output():
    expected = "".join(f"{i}\n" for i in range(1, 100_001)).encode()
    with Daemon() as daemon:
        with daemon.client() as client:
            command = client.exec("seq 100000", session="a")["id"]
        restart(daemon)
        with daemon.client() as client:
            frames, _ = logs(client, id=command, follow=True)
            assert output(frames) == expected
        assert daemon.stop() == 0
        shutil.rmtree(f"{daemon.dir}/state/output/{command}")
        daemon.start()
        with daemon.client() as client:
            frames, end = logs(client, id=command, follow=True)
            assert end["cursor"] == len(expected)
            cursor = 0
            for kind, payload in frames:
                if kind == "J":
                    assert payload["event"] == "gap" and payload["from"] == cursor, payload
                    cursor = payload["to"]
                else:
                    assert payload[0] == cursor
                    cursor += len(payload[1])
                    assert expected[payload[0] : cursor] == payload[1]
            assert cursor == len(expected)
            assert sum(kind == "J" for kind, _ in frames) == 1


def test_what_comes_too_late_is_told_how_it_ended():
    with Daemon() as daemon:
        with daemon.client() as client:
            command = client.exec("exit 4", session="a")["id"]
        restart(daemon)
        with daemon.client() as client:
            for op, fields in (
                ("stop", {}),
                ("signal", {"signal": "TERM"}),
                ("input", {"data": "x"}),
                ("input", {"end": True}),
                ("input", {"stream": True}),
                ("inputEnd", {}),
                ("resize", {"rows": 2, "cols": 2}),
            ):
                try:
                    client.call(op, id=command, **fields)
                    raise AssertionError(op)
                except Failed as failed:
                    code, message = failed.args
                    assert code == "already_exited", (op, code)
                    assert command in message and "exit code 4" in message, (op, message)
            assert error_of(client.call, "stop", id="c_none") == "not_found"


def test_waits():
    with Daemon() as daemon:
        with daemon.client() as client:
            command = client.exec("echo ready", session="a")["id"]
        restart(daemon)
        with daemon.client() as client:
            assert client.call("wait", id=command, until="exit") == {"end": "met"}
            wait = {"id": command, "until": "log"}
            assert client.call("wait", pattern="read", **wait)["end"] == "met"
            assert client.call("wait", pattern="none", **wait) == {"end": "exited"}
            assert client.call("wait", id=command, until="port", port=1)["end"] == "exited"


def test_what_was_lost_with_the_daemon():
    with Daemon() as daemon:
        with daemon.client() as client:
            command = client.exec("echo a; sleep 987.25", session="a", yieldMs=200)["id"]
        daemon.kill()
        daemon.start()
        with daemon.client() as client:
            frames, end = logs(client, id=command, follow=True)
            assert output(frames) == b"a\n" and end["status"] == "session_lost", end
            assert error_of(client.call, "stop", id=command) == "already_exited"
            assert client.call("wait", id=command, until="exit") == {"end": "met"}


def test_output_in_files_is_bounded():
    text = "echo first; printf '%01500000d' 7; echo; echo last"
    with Daemon("--output-max", "2M", "--results-max=1G") as daemon:
        with daemon.client() as client:
            results = [client.exec(text, session="a") for _ in range(3)]
            assert all(r["limit"] is None and r["spill"] for r in results), results
            large = client.exec("printf '%03000000d' 7", session="a")
            assert large["limit"] == "output" and large["exitCode"] == 0, large["limit"]
        restart(daemon)
        with daemon.client() as client:
            for old in results:
                now = client.call("result", id=old["id"])
                assert now["spill"] is None and now["output"] == old["output"]
                frames, end = logs(client, id=old["id"])
                assert end["cursor"] == 1_500_012 and output(frames).endswith(b"7\nlast\n")
        assert not os.path.exists(f"{daemon.dir}/state/output/{results[0]['id']}")


main(globals())
