#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# storm_under_valgrind.sh STORM: a short storm, each access to memory checked. Valgrind would put its own functions in
# the place of the guard's; it is told to take libc's only, which are behind the guard.
set -eu
command -v valgrind >/dev/null || { echo "valgrind is missing" >&2; exit 77; }
exec valgrind --quiet --soname-synonyms=somalloc=nouserintercepts --leak-check=full --show-leak-kinds=all \
    --errors-for-leak-kinds=all --error-exitcode=9 "$1" --threads=1,3 --aborts=600
