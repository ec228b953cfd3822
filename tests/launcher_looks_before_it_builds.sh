#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A command of the laboratory looks at its arguments before anything is installed or built. Runs a copy of the launcher whose
# builds only record that they were called. Not covered: the builds, and the packages, which need a fresh machine.
set -u
tree=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { printf '%s\n' "$*"; failures=$((failures + 1)); }

project=$work/project
mkdir -p "$project/subprojects" "$project/bench" "$work/programs" "$work/cache"
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
export CALLS=$work/calls
stand_in "$project/patches/build" <<<'echo "ffmpeg $*" >>"$CALLS"; echo "$DLEX_CACHE"'
stand_in "$work/programs/meson" <<<'echo meson >>"$CALLS"; mkdir -p "${@: -2:1}" && : >"${@: -2:1}/build.ninja"'
stand_in "$work/programs/ninja" <<<'echo ninja >>"$CALLS"'
stand_in "$work/programs/dpkg-query" <<<'echo packages >>"$CALLS"; shift 3; printf "ii  %s \n" "$@"'
stand_in "$python" <<'PYTHON'
case " $* " in
*' --help '*) echo help ;;
*' --nonsense '*) exit 1 ;;
*) [ -n "${DLEX_BENCH_CHECK_ONLY-}" ] || echo "run $3" >>"$CALLS" ;;
esac
PYTHON

# bench STATUS ARGUMENT...: runs `dlex bench ARGUMENT...`, which has to end with this status.
bench() {
    local status=0 wanted=$1
    shift
    : >"$CALLS"
    env -u SUDO_UID PATH="$work/programs:$PATH" DLEX_CACHE="$work/cache" "$project/dlex" bench "$@" >"$work/said" 2>&1 || status=$?
    [ "$status" = "$wanted" ] || fail "bench $*: exit $status, expected $wanted: $(cat "$work/said")"
}

# Only the packages of the Python environment are looked for.
for command in throughput graphs run seek simulate; do
    bench 0 "$command" --help
    [ "$(cat "$CALLS")" = packages ] || fail "bench $command --help also calls: $(cat "$CALLS")"
    bench 1 "$command" --nonsense
    [ "$(cat "$CALLS")" = packages ] || fail "bench $command --nonsense also calls: $(cat "$CALLS")"
done

# A benchmark in C lists its options if it is built.
for command in libdlex storm gates decode; do
    bench 0 "$command" --help
    [ ! -s "$CALLS" ] && grep -q 'when they are built' "$work/said" || fail "bench $command --help: $(cat "$CALLS" "$work/said")"
done
mkdir -p "$project/build/release/bench"
stand_in "$project/build/release/bench/dlex-bench-decode" <<<'echo "options of decode: $*"'
bench 0 decode --help
[ ! -s "$CALLS" ] && [ "$(cat "$work/said")" = 'options of decode: --help' ] || fail "bench decode --help: $(cat "$CALLS" "$work/said")"
rm -r "$project/build"

# The unpatched FFmpeg is there when the programs are configured, and it is built for nothing else.
bench 0 throughput
[ "$(grep -v packages "$CALLS" | head -n1)" = 'ffmpeg pristine' ] && [ "$(tail -n1 "$CALLS")" = 'run throughput' ] ||
    fail "bench throughput calls: $(cat "$CALLS")"
bench 0 graphs
! grep -q '^ffmpeg pristine' "$CALLS" && [ "$(tail -n1 "$CALLS")" = 'run graphs' ] || fail "bench graphs calls: $(cat "$CALLS")"
[ "$failures" = 0 ]
