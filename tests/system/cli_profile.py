#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nacre profile list, show and check, and what the documentation says about profiles."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.environ["NACRE_SOURCE"], "tests/lib"))
from nacre import (  # noqa: E402  pylint: disable=wrong-import-position
    ENV,
    Skip,
    check,
    gives,
    nacre,
    refuses,
    run_tests,
    test,
    work,
)

SOURCE = os.environ["NACRE_SOURCE"]
OWN = work + "/config/nacre/profiles"
ENV["XDG_CONFIG_HOME"] = work + "/config"
os.makedirs(OWN)


def put(name, text, where=OWN):
    path = f"{where}/{name}.yaml"
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, 0o600)
    return path


def load(name):
    run = nacre("profile", "show", "--json", name)
    check(run.returncode, 0, run.stderr)
    return json.loads(run.stdout)


@test
def the_built_in_profiles_are_listed():
    run = nacre("profile", "list")
    lines = run.stdout.decode().splitlines()
    check(lines[0].split(), ["NAME", "FROM", "DESCRIPTION"])
    check([line.split()[:2] for line in lines[1:]],
          [["default", "built-in"], ["open", "built-in"], ["strict", "built-in"]])


@test
def own_profiles_are_listed_with_their_faults():
    path = put("web", "description: mine\n")
    faulty = put("bad", "nise: 1\n")
    run = nacre("profile", "list", "--json")
    found = {p["name"]: p for p in json.loads(run.stdout)["profiles"]}
    check(sorted(found), ["bad", "default", "open", "strict", "web"])
    check(found["web"], {"name": "web", "source": path, "description": "mine", "error": None})
    assert found["bad"]["error"].startswith(faulty + ":1:1: unknown key 'nise'"), found["bad"]
    text = nacre("profile", "list").stdout.decode()
    assert f"faulty: {faulty}:1:1: unknown key 'nise'" in text, text
    os.unlink(faulty)


@test
def a_profile_is_shown_in_full():
    put("web", "network: {mode: allow, allow: [{domain: '*.example.org'}]}\numask: 027\n")
    run = nacre("profile", "show", "web")
    text = run.stdout.decode()
    check(run.returncode, 0, run.stderr)
    for line in (f"# web ({OWN}/web.yaml)", "extends: none", '    - domain: "*.example.org"',
                 '    - "~/.ssh"', "umask: 027"):
        assert line in text.splitlines(), (line, text)
    gives(nacre("profile", "check", "-", stdin=run.stdout), b"-: ok\n")
    put("again", text)
    check(nacre("profile", "show", "again").stdout.split(b"\n", 1)[1], run.stdout.split(b"\n", 1)[1])
    shown = load("web")
    check((shown["name"], shown["source"]), ("web", OWN + "/web.yaml"))
    check(shown["profile"]["network"],
          {"mode": "allow", "allow": [{"domain": "*.example.org", "ports": [443]}],
           "allow_private": False})
    check(shown["profile"]["limits"]["session"]["processes"], 256)
    check(shown["profile"]["umask"], "027")
    check(shown["profile"]["nice"], 0)


@test
def what_cannot_be_shown():
    refuses(nacre("profile", "show", "strickt"),
            "there is no profile 'strickt'; did you mean 'strict'?", 125)
    refuses(nacre("profile", "show", "../x"), "is no name of a profile", 125)
    refuses(nacre("profile", "show"), "NAME", 2)
    os.chmod(put("open-to-all", "{}"), 0o666)
    refuses(nacre("profile", "show", "open-to-all"), "can be written by anybody", 126)
    os.unlink(OWN + "/open-to-all.yaml")


@test
def files_are_checked():
    good = put("good", "extends: strict\n", work)
    bad = put("bad", "network:\n  alow: []\n", work)
    message = (f"{bad}:2:3: unknown key 'alow' in network, expected mode, allow or allow_private; "
               "did you mean 'allow'?\n")
    gives(nacre("profile", "check", good), f"{good}: ok\n".encode())
    gives(nacre("profile", "check", bad, good), f"{message}{good}: ok\n".encode(), 1)
    run = nacre("profile", "check", "--json", good, bad)
    check(run.returncode, 1)
    check(json.loads(run.stdout), {
        "files": [{"file": good, "ok": True, "error": None},
                  {"file": bad, "ok": False, "error": message.strip()}],
        "ok": False,
    })
    gives(nacre("profile", "check", "-", stdin=b"nice: 20\n"),
          b"stdin:1:7: nice: expected a number from 0 to 19\n", 1)
    run = nacre("profile", "check", work + "/none.yaml")
    assert run.returncode == 1 and b"No such file" in run.stdout, run
    refuses(nacre("profile", "check"), "FILE", 2)


@test
def the_files_in_the_source_are_good():
    names = sorted(os.listdir(SOURCE + "/profiles"))
    check(names, ["default.yaml", "open.yaml", "strict.yaml"])
    for name in names:
        path = f"{SOURCE}/profiles/{name}"
        gives(nacre("profile", "check", path), f"{path}: ok\n".encode())


# ---- documentation ----


def keys_of(text):
    """The keys that the program says it knows, from its message about one it does not know."""
    run = nacre("profile", "check", "-", stdin=text.encode())
    match = re.search(r"unknown key 'zzz'[^,]*, expected (.*)$", run.stdout.decode().strip())
    assert match, run.stdout
    return sorted(re.split(r", | or ", match[1]))


def schema():
    with open(SOURCE + "/docs/profile.schema.json", encoding="utf-8") as f:
        return json.load(f)


PLACES = {  # of a map in the schema: a text with an unknown key in it
    (): "zzz: 1",
    ("layers",): "layers: {zzz: 1}",
    ("filesystem",): "filesystem: {zzz: 1}",
    ("filesystem", "workspace"): "filesystem: {workspace: {zzz: 1}}",
    ("network",): "network: {zzz: 1}",
    ("network", "allow"): "network: {mode: allow, allow: [{zzz: 1}]}",
    ("limits",): "limits: {zzz: 1}",
    ("limits", "session"): "limits: {session: {zzz: 1}}",
    ("limits", "command"): "limits: {command: {zzz: 1}}",
    ("seccomp",): "seccomp: {zzz: 1}",
    ("env",): "env: {zzz: 1}",
}


@test
def the_schema_has_every_field():
    whole = schema()
    for place, text in PLACES.items():
        part = whole
        for step in place:
            part = part["properties"][step]
            part = part.get("items", part)
            if "$ref" in part:
                part = whole["$defs"]["limits"]
        check(sorted(part["properties"]), keys_of(text), place)
        check(part["additionalProperties"], False, place)


@test
def the_built_in_profiles_fit_the_schema():
    try:
        import jsonschema  # pylint: disable=import-outside-toplevel
    except ImportError as e:
        raise Skip("no Python module jsonschema") from e
    for name in ("default", "strict", "open"):
        jsonschema.validate(load(name)["profile"], schema())


@test
def the_page_has_every_field():
    with open(SOURCE + "/docs/profiles.md", encoding="utf-8") as f:
        page = f.read()
    for place, text in PLACES.items():
        for key in keys_of(text):
            name = ".".join((*place, key))
            if place[:1] == ("limits",) and len(place) == 2:
                name = key
            if place == ("network", "allow"):
                assert re.search(rf"\b{key}: ", page), name
            elif ".".join((*place, key)) not in ("layers", "filesystem", "network", "limits", "seccomp",
                                                 "env", "filesystem.workspace"):
                assert f"| `{name}` |" in page, name


@test
def the_example_of_the_page_is_good():
    with open(SOURCE + "/docs/profiles.md", encoding="utf-8") as f:
        examples = re.findall(r"```yaml\n(.*?)```", f.read(), re.DOTALL)
    check(len(examples), 2)
    for text in examples:
        gives(nacre("profile", "check", "-", stdin=text.encode()), b"-: ok\n")


run_tests()
