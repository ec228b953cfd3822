#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# FFmpeg's swscale has no white in RGB of more than 8 bits when the picture is YUV of limited range: white of 10 bits (940) becomes
# 65283 of 65535 in RGB48, and 1020 of 1023 in 10-bit planar RGB, 0.4 % too dark. In full range and in 8 bits it becomes white.
# Needs Debian 12's ffmpeg, in the version below. Exits with 1 if the behaviour is another one.
set -eu

wanted=5.1.9-0+deb12u1
found=$(ffmpeg -version | sed -n '1s/^ffmpeg version \([^ ]*\).*/\1/p')
echo "ffmpeg $found"
[ "$found" = "$wanted" ] || { echo "this script is about ffmpeg $wanted"; exit 1; }

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# white LUMA: writes 8x8 samples of 10 bits without colour
white() { python3 -c "import sys; sys.stdout.buffer.write(b''.join(n.to_bytes(2, 'little') for n in [$1] * 64 + [512] * 128))"; }
# first LUMA RANGE FORMAT BYTES: prints the first sample of the picture in this format
first() {
    white "$1" | ffmpeg -v error -f rawvideo -pixel_format yuv444p10le -video_size 8x8 -i - \
        -vf "scale=in_range=$2:flags=accurate_rnd+bitexact,format=$3" -f rawvideo - >"$dir/rgb"
    od -An -tu"$4" -N"$4" "$dir/rgb" | tr -d ' '
}
limited_16=$(first 940 limited rgb48le 2)
limited_10=$(first 940 limited gbrp10le 2)
limited_8=$(first 940 limited rgb24 1)
full_16=$(first 1023 full rgb48le 2)
echo "white of limited range: $limited_16 of 65535, $limited_10 of 1023, $limited_8 of 255; of full range: $full_16 of 65535"
[ "$limited_16/$limited_10/$limited_8" = 65283/1020/255 ] && [ "$full_16" -gt 65400 ]
