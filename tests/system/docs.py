#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The manual page has every verb of `nacre help` with every option, and nothing else."""

import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["NACRE_SOURCE"], "tests/lib"))
from nacre import Skip, check, nacre, run_tests, test  # noqa: E402  pylint: disable=wrong-import-position

MAN = os.path.join(os.environ["NACRE_SOURCE"], "docs/man")


def page(name):
    with open(os.path.join(MAN, name), encoding="utf-8") as f:
        return f.read().replace("\\-", "-")


def verbs():
    """{verb: its options}, from the program."""
    listing = nacre("help").stdout.decode()
    names = re.findall(r"^  ([a-z]+(?: [a-z]+)?)  ", listing, re.MULTILINE)
    found = {}
    for name in names:
        text = nacre("help", *name.split()).stdout.decode()
        options = text[text.index("\nOptions:\n") :]
        found[name] = set(re.findall(r"^  .{4}--([a-z-]+)", options, re.MULTILINE)) - {"help"}
    return found


def sections():
    """{verb: its section of the page}."""
    parts = re.split(r"^\.SS nacre (.*)$", page("nacre.1"), flags=re.MULTILINE)
    found = {}
    for heading, body in zip(parts[1::2], parts[2::2]):
        name = re.match(r"[a-z]+(?: [a-z]+)?(?= |$|\\)", heading)[0]
        if name not in verbs():  # the heading went on: "completion bash|zsh|fish"
            name = name.split()[0]
        found[name] = heading + "\n" + re.split(r"^\.SH ", body, flags=re.MULTILINE)[0]
    return found


@test
def every_verb_has_a_section():
    check(sorted(sections()), sorted(verbs()))


@test
def every_option_is_in_its_section():
    text = sections()
    for verb, options in verbs().items():
        items = set(re.findall(r"--([a-z][a-z-]*)", text[verb]))
        missing = options - items
        assert not missing, f"nacre {verb}: not in nacre.1: {sorted(missing)}"


@test
def every_option_that_is_described_exists():
    known = verbs()
    for verb, text in sections().items():
        items = re.findall(r"^\.TP\n\.B.*?--([a-z-]+)", text, re.MULTILINE)
        strange = set(items) - known[verb]
        assert not strange, f"nacre.1 gives nacre {verb} options that it has not: {sorted(strange)}"


@test
def every_option_of_the_daemon_is_described():
    run = subprocess.run([os.environ["NACRED"], "--help"], capture_output=True, check=True)
    options = set(re.findall(r"^  --([a-z-]+)", run.stdout.decode(), re.MULTILINE))
    described = set(re.findall(r"^\.BR --([a-z-]+)", page("nacred.8"), re.MULTILINE))
    assert options, run.stdout
    check(sorted(described), sorted(options))


@test
def the_environment_is_described():
    text = page("nacre.1")
    for name in (
        "NACRE_SOCKET", "NACRE_DEFAULT_COMMAND_TIMEOUT_MS", "NACRE_MAX_COMMAND_TIMEOUT_MS",
        "NACRE_SPAWN", "NACRED",
    ):
        assert f".B {name}\n" in text, name


@test
def the_pages_are_well_formed():
    groff = shutil.which("groff")
    if not groff:
        raise Skip("no groff")
    for name in sorted(os.listdir(MAN)):
        run = subprocess.run(
            [groff, "-man", "-Tutf8", "-ww", "-z", os.path.join(MAN, name)], capture_output=True,
            check=False,
        )
        check((run.returncode, run.stderr), (0, b""), name)


run_tests()
