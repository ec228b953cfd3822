#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests that plain Meson (the wrap) and ./dlex (patches/build) apply the same patches in the same order.
cd "$(dirname "$0")/.." || exit 1
listed=$(sed -n 's/^diff_files = //p' subprojects/ffmpeg.wrap | tr -d ' ' | tr ',' '\n')
present=$(cd patches && LC_ALL=C ls ffmpeg/*.patch)
[ "$listed" = "$present" ] && exit 0
printf 'diff_files in subprojects/ffmpeg.wrap:\n%s\nbut patches/ has:\n%s\n' "$listed" "$present"
exit 1
