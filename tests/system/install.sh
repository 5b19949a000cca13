#!/bin/bash
# SPDX-License-Identifier: MIT
# What is installed is enough: its header declares what its library exports, and a
# program is built with pkg-config alone and runs.
set -u
build=$(dirname "$NACRE")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
n=0 failed=0

report() { # STATUS NAME [DETAIL]
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $n - $2"
    else
        failed=1
        echo "not ok $n - $2"
        [ -z "${3-}" ] || printf '%s\n' "$3" | sed 's/^/# /'
    fi
}

echo 1..5
out=$(DESTDIR=$root meson install -C "$build" --no-rebuild --quiet 2>&1)
report $? "meson install" "$out"

prefix=$root$(meson introspect "$build" --buildoptions |
    python3 -c 'import json,sys; print([o["value"] for o in json.load(sys.stdin) if o["name"] == "prefix"][0])')
header=$prefix/include/nacre/nacre.h
library=$(find "$prefix" -name libnacre.so | head -1)
pc=$(find "$prefix" -name nacre.pc | head -1)
helper=$(find "$prefix" -name nacre-spawn | head -1)
[ -f "$header" ] && [ -n "$library" ] && [ -n "$pc" ] && [ -x "$helper" ]
report $? "header, library, nacre.pc and helper are in place" "$(find "$root" -type f)"

declared=$(tr '\n' ' ' <"$header" | grep -oE 'NACRE_API [^;]*;' | grep -oE '\bnacre_[a-z0-9_]+ ?\(' |
    tr -d ' (' | sort -u)
exported=$(nm -D --defined-only "$library" | awk '{ print $3 }' | sort -u)
diff=$(diff <(echo "$declared") <(echo "$exported"))
report $? "the library exports what the header declares, and nothing else" "$diff"

if nm -D "$library" | grep -q '__[atu]san_'; then
    echo "ok 4 - a program is built with pkg-config # SKIP sanitizers"
    echo "ok 5 - it runs # SKIP sanitizers"
    exit $failed
fi
export PKG_CONFIG_LIBDIR=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$root
flags=$(pkg-config --cflags --libs nacre)
# shellcheck disable=SC2086
out=$(${CC:-cc} -std=c99 -Wall -Wextra -Werror -o "$root/hello" "$NACRE_SOURCE/examples/hello.c" $flags 2>&1)
report $? "a program is built with pkg-config" "$flags: $out"
out=$(cd / && LD_LIBRARY_PATH=${library%/*} NACRE_SPAWN=$helper "$root/hello" 2>&1)
[ "$out" = $'hello from /tmp\n(exit code 0)' ]
report $? "it runs" "$out"
exit $failed
