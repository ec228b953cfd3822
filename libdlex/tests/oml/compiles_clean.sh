#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# compiles_clean.sh INCLUDE SOURCES: each program compiles with the usual options of its author, by every installed
# compiler, with all usual warnings as errors.
set -eu
include=$1
shift
tried=0
for compiler in gcc clang; do
    command -v "$compiler" >/dev/null || continue
    for std in gnu99 gnu17; do
        for source in "$@"; do
            "$compiler" -std=$std -O2 -Wall -Wextra -Werror -I"$include" -c -o /dev/null "$source"
            tried=$((tried + 1))
        done
    done
done
echo "$tried compilations"
[ "$tried" -gt 0 ]
