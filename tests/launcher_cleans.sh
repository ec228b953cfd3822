#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# ./dlex clean --cache deletes what dlex made, and keeps all files of the user, whatever their names. Runs a copy of the
# launcher, because clean removes the build folder beside it. Not covered: what set-up makes, which needs a fresh machine.
set -u
tree=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
export HOME=$work/home DLEX_CACHE=$work/home

mkdir -p "$work/project" "$HOME"
cp -r "$tree/dlex" "$tree/patches" "$work/project"
mkdir "$work/project/subprojects"
cp "$tree/subprojects/ffmpeg.wrap" "$work/project/subprojects"
root=$work/project
. "$root/patches/cache.sh"

fail() { printf '%s\n' "$*"; failures=$((failures + 1)); }
stays() { [ -e "$1" ] || fail "deleted: ${1#"$work"/}"; }
goes() { [ ! -e "$1" ] || fail "left: ${1#"$work"/}"; }

# holds FILE ...: makes the files and their folders.
holds() {
    local file
    for file in "$@"; do
        mkdir -p "$(dirname "$file")"
        echo text >"$file"
    done
}

# The user's own files, with names like those of dlex.
mine=("$HOME"/build/thesis.tex "$HOME"/build-old/a "$HOME"/clips/holiday.mp4 "$HOME"/venv-work/bin/python
    "$HOME"/ffmpeg/configure "$HOME"/ffmpeg-full-0123456789ab/notes "$HOME"/fetch.d/a "$HOME"/demo.lock
    "$HOME"/venv-0123456789ab/pyvenv.cfg "$HOME"/.lock-of-mine
    "$HOME"/venv-cccccccccccc/src/mine.c "$HOME"/venv-cccccccccccc/pyvenv.cfg "$HOME"/matplotlib/fontlist-v390.json
    "$work"/shared/"$(sed -n 's/^source_filename = //p' "$tree/subprojects/ffmpeg.wrap")"
    "$HOME/clips/film-0123456789abcdef.mp4" "$HOME/clips/film-0123456789abcdef.sha256"
    "$HOME"/copied/text "$work"/elsewhere/text "$root"/subprojects/mine/text)
holds "${mine[@]}"
mark "$HOME" # proves nothing of what is in it
mark "$HOME/copied" venv-aaaaaaaaaaaa
mark "$work/elsewhere" ffmpeg-asan-aaaaaaaaaaaa
ln -s "$work/elsewhere" "$HOME/ffmpeg-asan-aaaaaaaaaaaa"
echo "command = /usr/bin/python3 -m venv /old/home/venv.a1B2c3" >"$HOME/venv-cccccccccccc/pyvenv.cfg"
ln -s "$work/shared" "$root/subprojects/packagecache"
sha256sum <"$work/shared/$(wrap_value source_filename)" | sed 's/-$/any/' >>"$root/patches/tarballs"
mkdir "$HOME/linked"
ln -s "$work/elsewhere/.made-by-dlex" "$HOME/linked/.made-by-dlex"

# Files that dlex makes.
ours=("$HOME"/ffmpeg-asan-0123456789ab/lib/libavcodec.a "$HOME"/venv-aaaaaaaaaaaa/bin/python "$HOME"/build.x1Y2z3/source/a)
holds "${ours[@]}"
for file in "${ours[@]}"; do
    folder=${file#"$HOME/"}
    mark "$HOME/${folder%%/*}"
done
temporary=$(marked_folder "$HOME/fetch.XXXXXX")
: >"$HOME/experiment.lock"

# Files that dlex made before it had marks.
holds "$HOME/ffmpeg-full-aaaaaaaaaaaa/lib/pkgconfig/libavcodec.pc" "$HOME"/venv-bbbbbbbbbbbb/pyvenv.cfg \
    "$HOME/clips/cavlc-aaaaaaaaaaaaaaaa.mp4"
echo "prefix=/old/home/ffmpeg-full-aaaaaaaaaaaa" >"$HOME/ffmpeg-full-aaaaaaaaaaaa/lib/pkgconfig/libavcodec.pc"
echo "command = /usr/bin/python3 -m venv /old/home/venv.a1B2c3" >"$HOME/venv-bbbbbbbbbbbb/pyvenv.cfg"
sha256sum <"$HOME/clips/cavlc-aaaaaaaaaaaaaaaa.mp4" | cut -d' ' -f1 | tr -d '\n' >"$HOME/clips/cavlc-aaaaaaaaaaaaaaaa.sha256"
: >"$HOME/clips/cavlc.lock"
holds "$root/build/release/a" "$root/subprojects/$(wrap_value directory)/configure"

"$root/dlex" clean --cache 2>/dev/null || fail "clean --cache ends with $?"
for file in "${mine[@]}" "$HOME/linked" "$HOME/ffmpeg-asan-aaaaaaaaaaaa"; do stays "$file"; done
for file in "${ours[@]}" "$temporary" "$HOME/experiment.lock" "$HOME"/ffmpeg-full-aaaaaaaaaaaa \
    "$HOME"/venv-bbbbbbbbbbbb "$HOME"/clips/cavlc{-aaaaaaaaaaaaaaaa.mp4,-aaaaaaaaaaaaaaaa.sha256,.lock} \
    "$root/build" "$root/subprojects/$(wrap_value directory)"; do goes "$file"; done

# A folder in which dlex made everything is deleted too. A missing folder is not an error.
rm -rf "$HOME"
mkdir -p "$HOME/clips"
mark "$HOME/clips"
holds "$HOME/clips/a.mp4"
"$root/dlex" clean --cache 2>/dev/null && "$root/dlex" clean --cache 2>/dev/null || fail "clean --cache ends with $?"
goes "$HOME"

# A file system of somebody else stays, and all the rest goes.
if unshare -rm true 2>/dev/null; then
    mkdir -p "$HOME/clips"
    mark "$HOME/clips"
    mark "$work/elsewhere" clips
    holds "$HOME/fetch.a/b" "$root/build/release/a"
    mark "$HOME/fetch.a"
    unshare -rm sh -c 'mount --bind "$1" "$2" && "$3" clean --cache' sh "$work/elsewhere" "$HOME/clips" "$root/dlex" \
        2>"$work/messages" && fail "clean --cache does not report what stays"
    grep -q "remove the rest by hand" "$work/messages" || fail "clean --cache does not say what to do"
    stays "$work/elsewhere/text"
    goes "$HOME/fetch.a"
    goes "$root/build"
fi
[ "$failures" = 0 ]
