#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# x264's intra refresh promises pictures that match exactly (recovery point with exact_match_flag 1), but with B pictures, a decoder
# that begins at such a point can give other pictures than one that began earlier, long after the recovery point: here 19 pictures
# differ, until the next refresh is over. Who needs exact pictures begins two refreshes earlier.
# Needs Debian 12's ffmpeg with x264 164, in the versions below. Exits with 1 if the behaviour is another one.
set -eu

wanted=5.1.9-0+deb12u1
found=$(ffmpeg -version | sed -n '1s/^ffmpeg version \([^ ]*\).*/\1/p')
echo "ffmpeg $found"
[ "$found" = "$wanted" ] || { echo "this script is about ffmpeg $wanted"; exit 1; }

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
ffmpeg -v error -f lavfi -i testsrc2=s=128x96:r=25:d=7 -pix_fmt yuv420p -c:v libx264 -threads 1 \
    -x264-params intra-refresh=1:scenecut=0:keyint=30 "$dir/film.mp4"
grep -ao 'x264 - core [0-9]*' "$dir/film.mp4"
# The second key packet has the first recovery point: message 6 of 2 bytes, an Exp-Golomb code of 7 bits, and then the flag.
ffmpeg -v error -i "$dir/film.mp4" -c copy -bsf:v h264_mp4toannexb,trace_headers -f null - -loglevel trace 2>&1 |
    sed -n 's/.*\(recovery_frame_cnt\|exact_match_flag\) .*= \(.*\)/\1 \2/p' | head -2 | tee "$dir/promise"

# sums [OPTION...]: PTS and MD5 of each picture that comes out, when decoding begins there
sums() {
    ffmpeg -v quiet -threads 1 "$@" -i "$dir/film.mp4" -copyts -f framemd5 - | grep -v '^#' | cut -d, -f3,6 | tr -d ' ' | sort
}
sums >"$dir/all"
differ() { sums -noaccurate_seek -ss "$1" >"$dir/some"; comm -13 "$dir/all" "$dir/some" | wc -l; }
first=$(differ 1.3)
given=$(wc -l <"$dir/some")
second=$(differ 2.5)
echo "from the recovery point of 1.2 s: $first of $given pictures that come out differ; from that of 2.4 s: $second"
grep -q 'exact_match_flag 1' "$dir/promise" && [ "$first" = 19 ] && [ "$second" = 0 ]
