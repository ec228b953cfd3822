#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# run_program.sh PROGRAM EXPECTED: the program's output on both streams and the way in which it ends are as expected.
set -u
output=$("$1" 2>&1)
status=$?
if [ $status -gt 128 ]; then
    end="signal $((status - 128))"
else
    end="exit $status"
fi
printf '%s\n%s\n' "$output" "$end" | diff -u "$2" -
