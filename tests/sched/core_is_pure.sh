#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Checks what the build cannot check: sched/core includes only its own headers, ns.h, and headers of the C library that
# compute; and it calls nothing outside itself but functions that compute.
# Run as: core_is_pure.sh SOURCE_OF_THE_CORE LIBRARY_OF_THE_CORE
set -eu
core=$1 library=$2
fail() { echo "$*" >&2; exit 1; }

[ "$(ls "$core"/*.c | wc -l)" -ge 10 ] || fail "there is no core in $core"
included=$(sed -n 's/^#include <\(.*\)>.*/\1/p' "$core"/*.[ch] | sort -u)
for name in $included; do
    case $name in
    assert.h|errno.h|math.h|stdbool.h|stddef.h|stdint.h|string.h) ;;
    *) fail "the core includes <$name>" ;;
    esac
done
included=$(sed -n 's/^#include "\(.*\)".*/\1/p' "$core"/*.[ch] | sort -u)
for name in $included; do
    [ "$name" = ns.h ] || [ -f "$core/$name" ] || fail "the core includes \"$name\" of another folder"
    case $name in */*) fail "an include of the core names a folder: \"$name\"" ;; esac
done

own=$(nm --defined-only "$library" | awk 'NF == 3 { print $3 }' | sort -u)
echo "$own" | grep -qx period_vote || fail "$library does not define period_vote"
called=$(nm --undefined-only "$library" | awk '$1 == "U" { print $2 }' | sort -u)
for name in $called; do
    case $name in
    mem*|__mem*_chk|strcmp|strcpy|__strcpy_chk|strlen|_GLOBAL_OFFSET_TABLE_) ;;
    fmin|fmax|floor|ceil|hypot|sqrt|exp2|log|sin|cos|sincos|atan2) ;;
    __stack_chk_fail|__asan_*|__ubsan_*|__tsan_*|__assert_fail) ;;
    *) echo "$own" | grep -qx "$name" || fail "the core calls $name" ;;
    esac
done
