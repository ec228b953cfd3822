#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# storm_under_valgrind.sh STORM: runs a short storm and checks each access to memory. By default valgrind would replace
# the guard's functions; the option makes it replace only those of libc, which the guard calls.
set -eu
command -v valgrind >/dev/null || { echo "valgrind is missing" >&2; exit 77; }
exec valgrind --quiet --soname-synonyms=somalloc=nouserintercepts --leak-check=full --show-leak-kinds=all \
    --errors-for-leak-kinds=all --error-exitcode=9 "$1" --threads=1,3 --aborts=600
