#!/bin/bash
# SPDX-License-Identifier: MIT
# The example programs do what they say, in this process and through the daemon.
set -u
build=$(dirname "$NACRE")
dir=$(mktemp -d /tmp/nacre-examples-XXXXXX)
n=0 failed=0

daemon=

finish() {
    [ -z "$daemon" ] || { kill "$daemon" && wait "$daemon"; } 2>/dev/null
    rm -rf "$dir"
}
trap finish EXIT

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

# Figures differ from run to run.
loop() {
    "$build/examples/agent_loop" "$@" 2>&1 | sed -E 's/, [0-9.]+ ms\]/]/'
}

expected='$ cd /tmp; greeting='\''state stays'\''
[exited, exit code 0, in /tmp]

$ echo "$greeting in $PWD"; ls /no/such/dir
state stays in /tmp
ls: cannot access '\''/no/such/dir'\'': No such file or directory
[exited, exit code 2, in /tmp]

$ for i in 1 2 3; do echo $i; sleep 0.1; done
1
2
3
[exited, exit code 0, in /tmp]

$ echo before; sleep 60; echo never
before
[timed_out, exit code 124, in /tmp]

$ exit 3
[exited, exit code 3, in /tmp]

$ echo "and still: $greeting"
and still: state stays
[exited, exit code 0, in /tmp]
'

echo 1..3
out=$("$build/examples/hello")
[ "$out" = $'hello from /tmp\n(exit code 0)' ]
report $? "hello" "$out"

for way in embedded daemon; do
    if [ $way = daemon ]; then
        [ -x "$NACRED" ] || { echo "ok 3 - agent_loop, daemon # SKIP no daemon is built"; break; }
        "$NACRED" --foreground --socket="$dir/socket" --state-dir="$dir/state" 2>"$dir/log" &
        daemon=$!
        for _ in $(seq 200); do
            [ -S "$dir/socket" ] && break
            sleep 0.05
        done
        out=$(loop "$dir/socket")
    else
        out=$(loop)
    fi
    diff=$(diff <(printf '%s\n' "$expected") <(printf '%s\n' "$out" | head -"$(printf '%s\n' "$expected" | wc -l)"))
    [ -z "$diff" ] && [[ $out == *"HTTP/1.0 200 OK"*"[server: cancelled]"* ]]
    report $? "agent_loop, $way" "$diff
$out"
done
exit $failed
