#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nacre exec without a session, and what needs no daemon: exit statuses, errors, signals, terminals."""

import json
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import termios
import time

sys.path.insert(0, os.path.join(os.environ["NACRE_SOURCE"], "tests/lib"))
from nacre import (  # noqa: E402  pylint: disable=wrong-import-position
    ENV,
    NACRE,
    SCALE,
    WAIT,
    Terminal,
    check,
    gives,
    nacre,
    processes,
    read_until,
    refuses,
    run_tests,
    start,
    test,
    until,
    work,
)


# ---- exec without a session ----


@test
def streams_and_exit_codes_are_the_commands():
    gives(nacre("exec", "--", "echo out; echo err >&2; exit 7"), b"out\n", 7, b"err\n")
    gives(nacre("exec", "echo no dashes needed"), b"no dashes needed\n")
    gives(nacre("exec", "--", "true"))
    gives(nacre("exec", "--", ""))
    gives(nacre("exec", "--", "nosuchcommand"), b"", 127, None)
    gives(nacre("exec", "--", "kill -9 $BASHPID"), b"", 137, None)
    gives(nacre("exec", "--", "(kill -TERM $BASHPID)"), b"", 143, None)
    gives(nacre("exec", "--", "("), b"", 2, None)


@test
def bytes_are_kept():
    data = bytes(range(256)) * 4096
    with open(work + "/bytes", "wb") as f:
        f.write(data)
    gives(nacre("exec", "--", f"cat {work}/bytes"), data)
    gives(nacre("exec", "--", f"cat {work}/bytes >&2"), b"", 0, data)
    gives(nacre("exec", "--", "printf 'no newline'"), b"no newline")


@test
def several_words_are_a_program_and_its_arguments():
    words = ["a b", "$HOME", "*", "it's", "", "x\ny", "\\", "-n", "{1,2}", "~", "!"]
    want = b"".join(b"<%s>" % w.encode() for w in words)
    gives(nacre("exec", "--", "printf", "<%s>", *words), want)
    gives(nacre("exec", "--", "A=b", "true"), b"", 127, None)


@test
def the_text_comes_from_a_file_or_standard_input():
    with open(work + "/text", "w", encoding="utf-8") as f:
        f.write("cat <<'EOF'\n  $not 'expanded'\nEOF\nexit 4\n")
    want = b"  $not 'expanded'\n"
    gives(nacre("exec", "-f", work + "/text"), want, 4)
    with open(work + "/text", "rb") as f:
        gives(nacre("exec", "-", stdin=f.read()), want, 4)
    refuses(nacre("exec", "-f", work + "/missing"), "missing", 125)
    refuses(nacre("exec", "-f", work + "/text", "echo"), "there is 'echo' as well")
    refuses(nacre("exec", "-", "--stdin"), "standard input cannot be both")
    refuses(nacre("exec", "-", stdin=b"a\0b"), "NUL", 125)
    big = b"true " + b"#" * (1024 * 1024 - 5)
    gives(nacre("exec", "-", stdin=big))
    refuses(nacre("exec", "-", stdin=big + b"#"), "1048576", 125)


@test
def output_comes_at_once():
    run = start("exec", "--", "printf one; sleep 0.5; printf two >&2; sleep 0.5; echo three; read x")
    begin = time.monotonic()
    read_until(run.stdout.fileno(), b"one")
    first = time.monotonic() - begin
    read_until(run.stderr.fileno(), b"two")
    second = time.monotonic() - begin
    check(run.communicate()[0], b"three\n")
    third = time.monotonic() - begin
    assert first < second - 0.3 and second < third - 0.3, (first, second, third)


@test
def both_streams_into_one_file_keep_their_order():
    run = subprocess.run(
        [NACRE, "exec", "--", "for i in 1 2 3 4 5 6; do echo o$i; echo e$i >&2; sleep 0.02; done"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=ENV, timeout=WAIT, check=False,
    )
    check(run.stdout, b"".join(b"o%d\ne%d\n" % (i, i) for i in range(1, 7)))


@test
def standard_input_is_empty_unless_asked_for():
    gives(nacre("exec", "--", "cat; echo end", stdin=b"not for it"), b"end\n")
    data = bytes([0, 1, 2, 255]) * 500_000
    gives(nacre("exec", "--stdin", "--", "cat", stdin=data), data)
    gives(nacre("exec", "-i", "--", "wc -c", stdin=data), b"2000000\n")
    gives(nacre("exec", "-i", "--", "cat", stdin=b""))
    with open(work + "/bytes", "rb") as f:  # a file is not a pipe
        run = subprocess.run(
            [NACRE, "exec", "-i", "--", "cksum"], stdin=f, capture_output=True, env=ENV,
            timeout=WAIT, check=False,
        )
    want = subprocess.run(["cksum", work + "/bytes"], capture_output=True, check=True).stdout
    check(run.stdout.split()[:2], want.split()[:2])
    run = subprocess.run(
        [NACRE, "exec", "-i", "--", "head -c 5"], input=data, capture_output=True, env=ENV,
        timeout=WAIT, check=False,
    )
    gives(run, data[:5])


@test
def standard_input_that_stays_open_does_not_hold_up_the_end():
    run = start("exec", "--stdin", "--", "echo done", stdin=subprocess.PIPE)
    try:
        check(run.wait(WAIT), 0)
        check(run.stdout.read(), b"done\n")
    finally:
        run.stdin.close()


@test
def input_and_output_are_a_conversation():
    run = start(
        "exec", "--stdin", "--", "while read -r x; do echo got $x; done", stdin=subprocess.PIPE
    )
    for word in (b"one", b"two"):
        os.write(run.stdin.fileno(), word + b"\n")
        read_until(run.stdout.fileno(), b"got " + word + b"\n")
    run.stdin.close()
    check(run.wait(WAIT), 0)


@test
def directory_and_environment():
    gives(nacre("exec", "--cwd", "/", "--", "pwd"), b"/\n")
    os.makedirs(work + "/here/below", exist_ok=True)
    gives(nacre("exec", "--", "pwd", cwd=work + "/here"), (work + "/here\n").encode())
    gives(
        nacre("exec", "--cwd", "below", "--", "pwd", cwd=work + "/here"),
        (work + "/here/below\n").encode(),
    )
    run = nacre("exec", "--env", "A=1 2", "--env=B=", "--", 'echo "$A|${B-unset}"')
    gives(run, b"1 2|\n")
    refuses(nacre("exec", "--env", "1A=x", "--", "true"), "--env wants NAME=VALUE, not '1A=x'")
    run = nacre("exec", "--cwd", "/nonexistent", "--", "true")
    assert run.returncode != 0 and b"/nonexistent" in run.stderr, run


@test
def a_timeout_stops_everything():
    mark = f"47{os.getpid()}"
    begin = time.monotonic()
    run = nacre(
        "exec", "--timeout", "500ms", "--grace", "200ms", "--",
        f"echo begun; setsid sleep {mark} & (trap '' INT TERM; sleep {mark}) & while :; do :; done",
    )
    assert time.monotonic() - begin < 10 * SCALE
    gives(run, b"begun\n", 124, None)
    assert b"time ran out" in run.stderr, run.stderr
    until(lambda: not processes(mark), "no survivors")


@test
def what_is_left_in_the_background_does_not_hold_up_the_end():
    mark = f"48{os.getpid()}"
    begin = time.monotonic()
    gives(nacre("exec", "--", f"sleep {mark} & echo done"), b"done\n", 0, None)
    assert time.monotonic() - begin < 5 * SCALE
    until(lambda: not processes(mark), "no survivors")


@test
def time_limits_come_from_the_environment():
    env = dict(ENV, NACRE_DEFAULT_COMMAND_TIMEOUT_MS="300")
    gives(nacre("exec", "--", "sleep 60", env=env), b"", 124, None)
    env = dict(ENV, NACRE_MAX_COMMAND_TIMEOUT_MS="300")
    run = nacre("exec", "--timeout", "1h", "--", "sleep 60", env=env)
    gives(run, b"", 124, None)
    assert b"time ran out after 0.3 s" in run.stderr and b"--background" in run.stderr, run
    env = dict(ENV, NACRE_MAX_COMMAND_TIMEOUT_MS="soon")
    refuses(nacre("exec", "--", "true", env=env), "NACRE_MAX_COMMAND_TIMEOUT_MS", 125)


@test
def the_json_result():
    run = nacre("exec", "--json", "--", "echo out; echo err >&2; exit 3")
    gives(run, None, 3)
    check(run.stdout.count(b"\n"), 1)
    result = json.loads(run.stdout)
    for key, want in {
        "command": "echo out; echo err >&2; exit 3", "exitCode": 3, "status": "exited",
        "stdout": "out\n", "stderr": "err\n", "outputTruncated": False, "signal": None,
        "timedOut": False, "kind": "bash", "bytes": {"stdout": 4, "stderr": 4},
    }.items():
        check(result[key], want, key)
    run = nacre("exec", "--json", "--timeout", "300ms", "--", "echo part; sleep 60")
    gives(run, None, 124)
    result = json.loads(run.stdout)
    check((result["status"], result["exitCode"], result["stdout"]), ("timed_out", 124, "part\n"))
    run = nacre("exec", "--json", "--", "yes | head -c 1000000")
    result = json.loads(run.stdout)
    check((result["outputTruncated"], result["bytes"]["stdout"]), (True, 1000000))


@test
def plain_output_has_no_escapes():
    run = nacre("exec", "--plain", "--", r"printf '\033[31mred\033[0m\n10%%\r100%%\n'")
    gives(run, b"red\n100%\n")
    run = start("exec", "--plain", "-i", "--", "printf 'name? '; read x; echo", stdin=subprocess.PIPE)
    read_until(run.stdout.fileno(), b"name? ")  # a prompt is shown although the line goes on
    run.stdin.close()
    check(run.wait(WAIT), 0)


@test
def a_lot_of_output_is_complete():
    run = nacre("exec", "--", "seq 1 2000000", timeout=120 * SCALE)
    gives(run, b"".join(b"%d\n" % i for i in range(1, 2000001)))


@test
def a_slow_reader_loses_nothing_and_timers_go_on():
    run = start("exec", "--", "seq 1 1000000; echo end >&2")
    time.sleep(1)
    out, err = run.communicate(timeout=120 * SCALE)
    check(len(out), 6888896)
    check(err, b"end\n")
    begin = time.monotonic()
    run = start("exec", "--timeout", "1s", "--", "yes")
    time.sleep(3)  # nobody reads, yet the time runs out
    out = run.communicate(timeout=WAIT)[0]
    check(run.returncode, 124)
    assert set(out.split(b"\n")) <= {b"y", b""}
    assert time.monotonic() - begin < 20 * SCALE


# ---- signals, closed streams ----


@test
def an_interrupt_stops_the_command():
    for signo in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        mark = f"49{os.getpid()}"
        run = start("exec", "--", f"echo begun; sleep {mark} & while :; do :; done")
        read_until(run.stdout.fileno(), b"begun\n")
        run.send_signal(signo)
        run.communicate(timeout=WAIT)
        check(run.returncode, 128 + signo)
        until(lambda: not processes(mark), "no survivors")


@test
def a_second_interrupt_kills():
    mark = f"50{os.getpid()}"
    run = start("exec", "--grace", "1h", "--", f"trap '' INT TERM; echo begun; exec sleep {mark}")
    read_until(run.stdout.fileno(), b"begun\n")
    until(lambda: processes("sleep\0" + mark), "the command")
    run.send_signal(signal.SIGINT)
    time.sleep(0.3)
    check(run.poll(), None)
    run.send_signal(signal.SIGINT)
    check(run.wait(WAIT), 130)
    until(lambda: not processes("sleep\0" + mark), "no survivors")


@test
def an_interrupt_reaches_the_command_although_nobody_reads():
    mark = f"55{os.getpid()}"
    run = start("exec", "--", f"yes {mark}")
    time.sleep(1)
    run.send_signal(signal.SIGINT)
    until(lambda: not processes("yes\0" + mark), "the end of the command")
    time.sleep(0.3)
    check(run.poll(), None)  # what was printed may still be read, or
    run.send_signal(signal.SIGINT)
    check(run.wait(WAIT), 130)


@test
def an_interrupt_keeps_what_was_printed():
    mark = f"57{os.getpid()}"
    run = start("exec", "--json", "--", f"echo part; sleep {mark}")
    until(lambda: processes("sleep\0" + mark), "the command")
    run.send_signal(signal.SIGINT)
    out = run.communicate(timeout=WAIT)[0]
    check(run.returncode, 130)
    result = json.loads(out)
    check((result["status"], result["stdout"]), ("cancelled", "part\n"))


@test
def ignored_signals_stay_ignored():
    run = start(
        "exec", "--", "echo begun; sleep 1; echo end",
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    read_until(run.stdout.fileno(), b"begun\n")
    run.send_signal(signal.SIGINT)
    check(run.communicate(timeout=WAIT)[0], b"end\n")
    check(run.returncode, 0)


@test
def a_reader_that_goes_away_ends_it_quietly():
    mark = f"51{os.getpid()}"
    for args in (["exec", "--", f"yes {mark}"], ["help", "exec"]):
        read_end, write_end = os.pipe()
        run = start(*args, stdout=write_end)
        os.close(write_end)
        if args[0] == "exec":
            os.read(read_end, 10)
        os.close(read_end)
        err = run.communicate(timeout=WAIT)[1]
        check(err, b"", args)
        assert run.returncode in (-signal.SIGPIPE, 0), run.returncode
    until(lambda: not processes(mark), "no survivors")


@test
def closed_descriptors_are_reported():
    def shell(text):
        return subprocess.run(
            ["bash", "-c", text], capture_output=True, env=ENV, timeout=WAIT, check=False
        )

    run = shell(f"{NACRE} exec -- 'echo x' >&-")
    check(run.returncode, 125, run)
    assert b"standard output" in run.stderr, run.stderr
    run = shell(f"{NACRE} completion bash > /dev/full")  # more than a buffer holds
    assert run.returncode == 125 and b"No space" in run.stderr, run
    run = shell(f"{NACRE} version > /dev/full")
    check(run.returncode, 125, run)
    assert b"No space left" in run.stderr, run.stderr
    run = shell(f"{NACRE} exec -- 'echo x' > /dev/full")
    check(run.returncode, 125, run)
    run = shell(f"{NACRE} exec -- 'echo x; exit 3' 2>&- <&-")
    check((run.returncode, run.stdout), (3, b"x\n"), run)
    run = shell(f"{NACRE} exec -- 'echo x; exit 3' > /dev/null")
    check((run.returncode, run.stdout), (3, b""), run)


@test
def the_flags_of_our_streams_are_left_alone():
    left, right = socket.socketpair()
    with left, right:
        run = subprocess.run(
            [NACRE, "exec", "-i", "--", "echo hello"], stdin=right, stdout=right, env=ENV,
            timeout=WAIT, check=False,
        )
        check(run.returncode, 0)
        check(left.recv(100), b"hello\n")
        assert os.get_blocking(right.fileno())
    read_end, write_end = os.pipe()
    run = subprocess.run(
        [NACRE, "exec", "--", "echo hello"], stdout=write_end, env=ENV, timeout=WAIT, check=False
    )
    assert os.get_blocking(write_end)
    os.close(read_end)
    os.close(write_end)


# ---- terminals ----


@test
def pty_is_a_terminal_of_our_size():
    t = Terminal("exec", "--pty", "--", "tty; stty size; read -r x; stty size; echo <$x>; exit 5".replace("<$x>", "'<'$x'>'"))
    try:
        seen = t.read_until(b"30 100")
        assert b"/dev/pts/" in seen, seen
        until(t.is_raw, "raw mode")
        t.resize(40, 120)
        time.sleep(0.3)
        t.type(b"hi\r")
        t.read_until(b"40 120")
        t.read_until(b"<hi>")
        check(t.wait(), 5)
    finally:
        t.close()


@test
def pty_has_our_kind_of_terminal():
    for args, want in ((), b"screen"), (("--env", "TERM=vt52"), b"vt52"):
        t = Terminal("exec", "--pty", *args, "--", "echo term=$TERM.")
        try:
            t.read_until(b"term=" + want + b".")
            check(t.wait(), 0)
        finally:
            t.close()


@test
def pty_restores_the_terminal():
    for how in ("end", "kill", "term"):
        master, slave = pty.openpty()
        before = termios.tcgetattr(slave)
        run = subprocess.Popen(
            [NACRE, "exec", "--pty", "--", "echo begun; read -r x"], stdin=slave, stdout=slave,
            stderr=slave, env=ENV, start_new_session=True,
        )
        read_until(master, b"begun")
        until(lambda fd=slave: not termios.tcgetattr(fd)[3] & termios.ICANON, "raw mode")
        if how == "end":
            os.write(master, b"x\r")
        else:
            run.send_signal(signal.SIGTERM if how == "term" else signal.SIGQUIT)
        status = run.wait(WAIT)
        check(termios.tcgetattr(slave), before, how)
        if how == "end":
            check(status, 0)
        os.close(master)
        os.close(slave)


@test
def pty_passes_control_keys_to_the_command():
    t = Terminal("exec", "--pty", "--", "trap 'echo interrupted; exit 9' INT; echo begun; while :; do sleep 0.1; done")
    try:
        t.read_until(b"begun")
        until(t.is_raw, "raw mode")
        t.type(b"\x03")
        t.read_until(b"interrupted")
        check(t.wait(), 9)
    finally:
        t.close()


@test
def pty_without_a_terminal_of_our_own():
    run = nacre("exec", "--pty", "--", "stty size; cat", stdin=b"hello\n\x04")
    check(run.returncode, 0, run)
    assert b"24 80\r\n" in run.stdout and run.stdout.endswith(b"hello\r\n"), run.stdout


@test
def control_c_on_a_terminal_stops_a_command_without_one():
    t = Terminal("exec", "--", "echo begun; sleep 60")
    try:
        t.read_until(b"begun")
        t.type(b"\x03")
        check(t.wait(), 130)
    finally:
        t.close()


# ---- bad command lines, help ----


@test
def bad_command_lines_are_explained():
    refuses(nacre(), "nacre: a verb is missing")
    refuses(nacre("exce"), "did you mean 'exec'?")
    refuses(nacre("frobnicate"), "'nacre help' lists them all")
    refuses(nacre("exec"), "a command is missing")
    refuses(
        nacre("exec", "--timeout", "abc", "--", "true"),
        "nacre exec: --timeout wants a duration such as 30s or 1500ms, not 'abc'",
    )
    refuses(nacre("exec", "--tiemout", "1s", "--", "true"), "did you mean '--timeout'?")
    refuses(nacre("exec", "ls", "-l"), "put '--' before the command")
    refuses(nacre("exec", "--json=1", "--", "true"), "--json takes no value")
    refuses(nacre("exec", "-s", "--", "true"), "-s wants a value, NAME, before '--'")
    refuses(nacre("exec", "-s", "--json", "--", "true"), "NAME, before '--json'")
    refuses(nacre("exec", "--timeout", "--", "true"), "DURATION, before '--'")
    refuses(nacre("exec", "--background", "--", "true"), "-s NAME")
    refuses(nacre("exec", "--yield", "1s", "--", "true"), "-s NAME")
    refuses(nacre("exec", "--timeout", "none", "--", "true"), "--timeout none")
    refuses(nacre("exec", "--kind", "zsh", "--", "true"), "zsh", 125)
    refuses(nacre("kill"), "too few arguments")
    refuses(nacre("kill", "-s", "FOO", "c_x"), "-s wants a signal")
    refuses(nacre("session"), "nacre session: a verb is missing")
    refuses(nacre("session", "opne"), "did you mean 'session open'?")
    refuses(nacre("wait", "--port", "99999", "c_x"), "a port from 1 to 65535")
    refuses(nacre("wait", "--port", "80", "--log", "x", "c_x"), "one of")
    refuses(nacre("help", "nope"), "there is no verb 'nope'")
    refuses(nacre("completion", "tcsh"), "bash, zsh or fish")


def verbs():
    listing = nacre("help").stdout.decode()
    return re.findall(r"^  ([a-z]+(?: [a-z]+)?)  ", listing, re.MULTILINE)


@test
def help_is_there_at_every_level():
    check(nacre("--help").stdout, nacre("help").stdout)
    check(nacre("-h").stdout, nacre("help").stdout)
    check(nacre("session", "--help").stdout, nacre("help", "session").stdout)
    assert len(verbs()) > 20, verbs()
    for verb in verbs():
        asked = nacre(*verb.split(), "--help")
        gives(asked, None)
        assert asked.stdout.startswith(b"Usage: nacre " + verb.encode()), asked.stdout
        check(nacre("help", *verb.split()).stdout, asked.stdout)
        check(nacre(*verb.split(), "-h").stdout, asked.stdout)


@test
def version_is_printed():
    run = nacre("version")
    assert re.fullmatch(rb"nacre \d+\.\d+\.\d+\n", run.stdout), run
    check(nacre("--version").stdout, run.stdout)
    check(json.loads(nacre("version", "--json").stdout)["version"], run.stdout.split()[1].decode())


@test
def bash_completes_verbs_options_and_files():
    script = work + "/completion.bash"
    with open(script, "wb") as f:
        f.write(nacre("completion", "bash").stdout)

    def complete(*words):
        text = f'. {script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _nacre; printf "%s\\n" "${{COMPREPLY[@]}}"'
        run = subprocess.run(
            ["bash", "-uc", text, "bash", *words], capture_output=True, cwd=work + "/here",
            timeout=WAIT, check=False,
        )
        check(run.stderr, b"")
        return run.stdout.decode().split()

    check(complete("nacre", "exe"), ["exec"])
    check(complete("nacre", "session", "op"), ["open"])
    check(complete("nacre", "exec", "--time"), ["--timeout"])
    check(complete("nacre", "session", "open", "--c"), ["--cwd"])
    check(complete("nacre", "exec", "--cwd", "be"), ["below"])
    assert "bash" in complete("nacre", "exec", "--", "bas")
    for shell in ("bash", "zsh", "fish"):
        path = shutil.which(shell)
        if path:
            check_script = nacre("completion", shell).stdout
            run = subprocess.run([path, "-n"], input=check_script, capture_output=True, check=False)
            check((run.returncode, run.stderr), (0, b""), shell)


run_tests()
