#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# While the first tests run, the launcher builds for the sanitized ones, with the CPU time that is left. Runs a copy of the launcher
# whose builds and tests only record that they were called. Not covered: the builds themselves, which every `./dlex test` makes.
set -u
tree=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { printf '%s\n' "$*"; failures=$((failures + 1)); }

project=$work/project
mkdir -p "$project/tests" "$project/subprojects" "$project/bench" "$work/programs" "$work/cache"
cp -r "$tree/dlex" "$tree/patches" "$project"
cp "$tree/subprojects/ffmpeg.wrap" "$project/subprojects"
cp "$tree/bench/requirements.lock" "$project/bench"
python=$work/cache/venv-$({ cat "$project/bench/requirements.lock"; /usr/bin/python3 --version; } | sha256sum | cut -c1-12)/bin/python
mkdir -p "${python%/*}"

# stand_in FILE: makes a program of standard input.
stand_in() {
    { echo '#!/bin/bash'; cat; } >"$1"
    chmod +x "$1"
}
export CALLS=$work/calls ASAN=$work/asan
stand_in "$project/patches/build" <<<'[ "$1" = --cached ] || echo "$DLEX_CACHE"'
stand_in "$work/programs/dpkg-query" <<<'shift 3; printf "ii  %s \n" "$@"'
stand_in "$python" </dev/null
: >"$project/tests/summary.py"
# The first tests last until the sanitized build has begun; the test fails if it waits for them.
stand_in "$work/programs/meson" <<'MESON'
case $* in
setup*) mkdir -p "${@: -2:1}" && : >"${@: -2:1}/build.ninja" ;;
test*/release*)
    for ((i = 0; i < 300 && !$(grep -c "build asan" "$CALLS"); i++)); do sleep 0.1; done
    echo "end of tests release" >>"$CALLS" ;;
test*/asan*) echo "tests asan" >>"$CALLS" ;;
esac
MESON
stand_in "$work/programs/ninja" <<'NINJA'
case $2 in
*/release) echo "build release" >>"$CALLS" ;;
*/asan)
    echo "build asan, $(chrt -p $$ | sed -n 's/.*policy: //p')" >>"$CALLS"
    [ ! -f "$ASAN" ] || { . "$ASAN"; } ;;
esac
NINJA

run() { # run ARGUMENT...
    : >"$CALLS"
    env -u SUDO_UID PATH="$work/programs:$PATH" DLEX_CACHE="$work/cache" "$project/dlex" test "$@" >"$work/said" 2>&1
}
expect() { # expect WHAT LINES
    [ "$(cat "$CALLS")" = "$2" ] || fail "$1: $(cat "$CALLS" "$work/said")"
}

run || fail "tests: exit $?: $(cat "$work/said")"
expect "both builds" $'build release\nbuild asan, SCHED_IDLE\nend of tests release\nbuild asan, SCHED_OTHER\ntests asan'

# What fails beside the tests is built again, and its error is seen.
echo 'echo "no such header"; exit 1' >"$ASAN"
run
expect "broken build" $'build release\nbuild asan, SCHED_IDLE\nend of tests release\nbuild asan, SCHED_OTHER'
grep -q 'no such header' "$work/said" || fail "broken build: $(cat "$work/said")"

echo : >"$ASAN"
run --asan
expect "only sanitized tests" $'build asan, SCHED_OTHER\ntests asan'

# Who ends the launcher ends this build as well.
echo 'echo $$ >"$ASAN.pid"; sleep 60' >"$ASAN"
: >"$CALLS"
env -u SUDO_UID PATH="$work/programs:$PATH" DLEX_CACHE="$work/cache" "$project/dlex" test >"$work/said" 2>&1 &
launcher=$!
for ((i = 0; i < 300; i++)); do
    [ ! -s "$ASAN.pid" ] || break
    sleep 0.1
done
kill "$launcher"
wait "$launcher" 2>/dev/null
for ((i = 0; i < 100; i++)); do
    kill -0 "$(cat "$ASAN.pid")" 2>/dev/null || break
    sleep 0.1
done
! kill -0 "$(cat "$ASAN.pid")" 2>/dev/null || fail "the build goes on after the launcher has ended"
[ "$failures" = 0 ]
