#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# preloaded.sh GUARD DYNAMIC STATIC: a preloaded guard protects the program DYNAMIC, which uses libdlex.so. In the program
# STATIC, which contains libdlex.a, it can only warn.
set -eu
guard=$1 dynamic=$2 static=$3

for kind in heap stream mutex; do
    said=$(env LD_PRELOAD="$guard" "$dynamic" $kind 1000 2>&1) || true
    if [ "$said" != "1000 aborts" ]; then
        echo "with the guard, the program whose libdlex is dynamic said of $kind: $said" >&2
        exit 1
    fi
done

said=$(env LD_PRELOAD="$guard" "$static" computation 1 2>&1)
case $said in
*"this guard protects nothing"*"1 aborts"*) ;;
*)
    echo "with the guard, the program whose libdlex is static said: $said" >&2
    exit 1
esac
