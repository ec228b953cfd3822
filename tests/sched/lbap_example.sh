#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The program of seed 004's Figure 3: 20 packets of 1 ms at 50 Hz take 380 ms and leave nearly 19 ms each.
# Run as: lbap_example.sh PACED_PACKETS
set -eu
begun=$(date +%s%N)
said=$("$1" 50 1 20)
lasted_ms=$((($(date +%s%N) - begun) / 1000000))
echo "$said"
[ "$("$1" 50 1 5 0 each | grep -cE '^-?[0-9]+$')" = 5 ]
echo "$said" | grep -qE '^laxity -?[0-9.]+ to 1[89]\.[0-9] ms, [0-9]+ of 20 packets too late$'
[ "$lasted_ms" -ge 375 ]
for wrong in "0 1 20" ""; do
    # shellcheck disable=SC2086 # the words are arguments
    if "$1" $wrong 2>/dev/null; then exit 1; fi
done
