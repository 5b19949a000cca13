# SPDX-License-Identifier: MIT
"""What the check-* tools share: the list of source files, a C tokenizer."""

import os
import re

CODE_DIRS = ("src", "prog", "include", "tests", "tools", "examples")
C_SUFFIXES = (".c", ".h", ".cc", ".hh", ".cpp")
# Data for tests, not code, whatever it is named.
DATA_DIRS = ("corpus", "cases", "oracle", "posix", "__pycache__")


def source_files(root, dirs=CODE_DIRS, suffixes=C_SUFFIXES):
    """Paths relative to root, sorted; suffixes=None means all files."""
    found = []
    for top in dirs:
        for folder, subdirs, names in os.walk(os.path.join(root, top)):
            subdirs[:] = [d for d in subdirs if d not in DATA_DIRS and not d.startswith(".")]
            found += [
                os.path.relpath(os.path.join(folder, name), root)
                for name in names
                if not name.startswith(".") and (suffixes is None or name.endswith(suffixes))
            ]
    return sorted(found)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read()


TOKEN = re.compile(
    r"""
    (?P<comment>  /\*.*?(?:\*/|\Z) | //[^\n]* )
  | (?P<string>   "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' )
  | (?P<name>     [A-Za-z_]\w* )
  | (?P<number>   \.?\d(?:[eEpP][+-]|[\w.])* )
  | (?P<punct>    -> | \S )
    """,
    re.VERBOSE | re.DOTALL,
)


def tokens(text):
    """(line, kind, text) of each token of C; comments and strings are tokens too."""
    line, at = 1, 0
    for match in TOKEN.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        yield line, match.lastgroup, match.group()
