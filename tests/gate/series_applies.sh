#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The series of patches applies, without fuzz, to each accepted release of FFmpeg that is on this machine.
set -eu
root=$1
cache=${DLEX_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dlex}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

apply_to() {
    rm -rf "$work/tree" && mkdir "$work/tree"
    touched=$(sed -n 's,^+++ b/,,p' "$root"/patches/ffmpeg/*.patch | sort -u)
    # shellcheck disable=SC2086 # a list of names without blanks
    tar -xJf "$1" -C "$work/tree" --strip-components=1 --wildcards $(printf '*/%s ' $touched)
    for patch in "$root"/patches/ffmpeg/*.patch; do
        patch -d "$work/tree" -p1 -F0 -s -f <"$patch" || return 1
    done
}

tried=
for tarball in "$root"/subprojects/packagecache/ffmpeg*.tar.xz "$cache"/ffmpeg*.tar.xz; do
    [ -f "$tarball" ] || continue
    hash=$(sha256sum <"$tarball" | cut -d' ' -f1)
    version=$(sed -n "s/^$hash //p" "$root/patches/tarballs")
    case "$version " in ' ') continue ;; esac
    case " $tried" in *" $version "*) continue ;; esac
    apply_to "$tarball" || { echo "the series does not apply to FFmpeg $version"; exit 1; }
    tried="$tried$version "
    echo "applies to FFmpeg $version"
done
[ -n "$tried" ] && exit 0
echo "skipped: no tarball of FFmpeg in subprojects/packagecache or $cache"
exit 77
