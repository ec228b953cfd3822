#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# FFmpeg's swscale does not use the range of 8-bit gray when it makes RGB of it. White of limited range (235) stays 235 of 255,
# although the scale filter is given in_range=limited. The same gray in 16 bits becomes 255.
# Needs Debian 12's ffmpeg, in the version below. Exits with 1 if the behaviour is another one.
set -eu

wanted=5.1.9-0+deb12u1
found=$(ffmpeg -version | sed -n '1s/^ffmpeg version \([^ ]*\).*/\1/p')
echo "ffmpeg $found"
[ "$found" = "$wanted" ] || { echo "this script is about ffmpeg $wanted"; exit 1; }

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
printf '\353%.0s' $(seq 64) >"$dir/gray" # 8x8 samples of 235

# red CHAIN: prints the first sample of the picture in RGB24
red() {
    ffmpeg -v error -f rawvideo -pixel_format gray -video_size 8x8 -i "$dir/gray" -vf "$1,format=rgb24" -f rawvideo - |
        od -An -tu1 -N1 | tr -d ' '
}
of_8=$(red scale=in_range=limited)
of_16=$(red format=gray16,scale=in_range=limited)
echo "white of limited range becomes $of_8 of 255 from 8-bit gray, $of_16 from 16-bit gray"
[ "$of_8/$of_16" = 235/255 ]
