#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# preloaded.sh GUARD DYNAMIC STATIC: a guard that is preloaded protects the program that uses libdlex.so, and warns
# where it cannot, in the program with a libdlex.a inside.
set -eu
guard=$1 dynamic=$2 static=$3

said=$(env LD_PRELOAD="$guard" "$dynamic" 2000 2>&1)
if [ "$said" != "2001 aborts" ]; then
    echo "with the guard the dynamic program said: $said" >&2
    exit 1
fi

said=$(env LD_PRELOAD="$guard" "$static" 0 2>&1)
case $said in
*"this guard protects nothing"*"1 aborts"*) ;;
*)
    echo "with the guard the static program said: $said" >&2
    exit 1
esac
