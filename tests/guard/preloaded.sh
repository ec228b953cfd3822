#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# preloaded.sh GUARD DYNAMIC STATIC: tests that a preloaded guard protects the program that uses libdlex.so, and that it
# prints a warning in the program with libdlex.a inside, which it cannot protect.
set -eu
guard=$1 dynamic=$2 static=$3

for kind in heap stream mutex; do
    said=$(env LD_PRELOAD="$guard" "$dynamic" $kind 1000 2>&1) || true
    if [ "$said" != "1000 aborts" ]; then
        echo "with the guard, the program with the dynamic libdlex printed for $kind: $said" >&2
        exit 1
    fi
done

said=$(env LD_PRELOAD="$guard" "$static" computation 1 2>&1)
case $said in
*"this guard protects nothing"*"1 aborts"*) ;;
*)
    echo "with the guard, the program with the static libdlex printed: $said" >&2
    exit 1
esac
