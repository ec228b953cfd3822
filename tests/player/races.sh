#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds the player with ThreadSanitizer and plays clips with every kind of queue.
#
#     races.sh SOURCE BUILD PKG_CONFIG_PATH MEDIA_MAKE
#
# Deadlines are left out without a queue (--drop=deadline --queue=0): ThreadSanitizer does not understand jumps out of signal
# handlers. With a queue, decodes are polled. FFmpeg is not instrumented.
set -eu
source=$1 build=$2/tsan packages=$3 make=$4
clip=$("$make" progressive_cabac) silent=$("$make" video_only)
rm -rf "$build"
trap 'rm -rf "$build"' EXIT
meson setup "-Dpkg_config_path=$packages" -Dforce_fallback_for= --buildtype=debugoptimized -Db_sanitize=thread -Db_lundef=false \
    "$build" "$source" >"$2/tsan.log" 2>&1 || { cat "$2/tsan.log"; exit 1; }
ninja -C "$build" player/dlex-play >"$2/tsan.log" 2>&1 || { tail -30 "$2/tsan.log"; exit 1; }
# FFmpeg's frame threads hand pictures and packets on by atomics, which ThreadSanitizer does not see in code that is not
# instrumented. So memory that FFmpeg allocated or filled in one thread seems to be used by another one too early.
printf 'race:%s\n' is_stopped '^av_malloc' '^av_frame_new_side_data_from_buf$' '^ff_h2645_extract_rbsp$' >"$build/suppressions"
export TSAN_OPTIONS="exitcode=66 report_thread_leaks=0 suppressions=$build/suppressions"

play() {
    "$build/player/dlex-play" --quiet --ao=null --vo=null "$@" </dev/null || {
        status=$?
        echo "dlex-play $*: exit status $status"
        exit 1
    }
}

if ! "$build/player/dlex-play" --version >"$2/tsan.log" 2>&1; then
    echo "programs with ThreadSanitizer do not run here: $(head -1 "$2/tsan.log")"
    exit 77
fi
play --drop=none --threads=1 --length=2 "$clip" "$clip"
play --drop=none --threads=1 --untimed "$clip"
play --drop=none --threads=3 --untimed "$clip" "$silent"
play --drop=vlc --threads=3 --length=2 "$silent"
play --drop=deadline --deadline-rule=paper --deadline-base=0.0005 --threads=3 --untimed "$clip" "$silent"
play --drop=deadline --deadline-rule=plan --threads=1 --length=2 "$clip"
play --drop=none --threads=1 --queue=1 --start=2 --length=1 "$clip" "$silent"
play --drop=heuristic --threads=1 --queue=300ms --length=2 "$clip"
play --drop=vlc --threads=1 --length=2 "$silent"
play --drop=none --queue=0 --length=1 "$clip"
