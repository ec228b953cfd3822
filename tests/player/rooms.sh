#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Checks what the build cannot check: no file of the player names another room's folder in an include, and the room
# decide/ is pure: it calls nothing outside itself but functions of libc that compute.
# Run as: rooms.sh SOURCE_OF_THE_PLAYER LIBRARY_OF_DECIDE
set -eu
player=$1 decide=$2
fail() { echo "$*" >&2; exit 1; }

# A path in an include is found beside the file, whatever include directories the room has.
found=$(grep -rn '#include ".*/.*"' "$player" --include='*.[ch]') && fail "an include names a folder: $found"
[ "$(grep -rl '#include "' "$player" --include='*.c' | wc -l)" -gt 20 ] || fail "there is no player in $player"

own=$(nm --defined-only "$decide" | awk 'NF == 3 { print $3 }' | sort -u)
echo "$own" | grep -qx decode_policy_decide || fail "$decide does not define decode_policy_decide"
called=$(nm --undefined-only "$decide" | awk '$1 == "U" { print $2 }' | sort -u)
for name in $called; do
    case $name in
    mem*|str*|fmin|fmax|floor|ceil|llround|lround|sqrt|pow|exp|log|__stack_chk_fail|__asan_*|__ubsan_*|__assert_fail|_GLOBAL_OFFSET_TABLE_) ;;
    *) echo "$own" | grep -qx "$name" || fail "decide/ calls $name; only its callers read clocks and devices" ;;
    esac
done
