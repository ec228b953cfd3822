#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Help needs only bash and coreutils. A wrong command gets one sentence and exit code 1. Not covered: set-up and building,
# which need a fresh machine.
cd "$(dirname "$0")/.." || exit 1
failures=0

# expect CODE LINES_ON_STDERR ARGUMENT...
expect() {
    local code=$1 lines=$2 status=0 said
    shift 2
    said=$(./dlex "$@" 2>&1 >/dev/null) || status=$?
    [ "$status" = "$code" ] && [ "$(printf '%s' "$said" | grep -c '')" = "$lines" ] && return
    printf './dlex %s: exit %d, expected %d; said on stderr:\n%s\n' "$*" "$status" "$code" "$said"
    failures=$((failures + 1))
}

expect 0 0 --help
for command in setup build play qoe sched bench demo test clean; do
    expect 0 0 "$command" --help
done
expect 1 1 nonsense
expect 1 1 setup --nonsense
expect 1 1 build --nonsense
expect 1 1 bench nonsense
# Without a command: the same text as that of --help, as an error.
for command in bench sched; do
    expect 1 "$(./dlex "$command" --help | grep -c '')" "$command"
done
long=$(printf '%0100000d' 0)
for command in '' sched bench setup; do
    said=$(./dlex $command "$long" 2>&1) && failures=$((failures + 1))
    [ ${#said} -lt 300 ] || { echo "./dlex $command prints a long argument whole"; failures=$((failures + 1)); }
done
expect 1 1 sched nonsense
expect 0 0 bench latency --help
expect 1 1 bench latency --nonsense
expect 1 1 bench latency --out
expect 1 1 demo --nonsense
expect 1 1 test --nonsense
expect 1 1 clean --nonsense
DLEX_CACHE=/dev/null/cache expect 1 1 bench plan
[ "$failures" = 0 ]
