# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by ./dlex and by the programs in this folder. Defines where dlex keeps what it makes, and how clean --cache
# recognises it.
#
# $DLEX_CACHE may be any folder, also one with the user's own files. So every folder that dlex makes in it contains a mark:
# a file with a fixed sentence and the folder's name (media/workshop.py writes the same file). Only a folder whose mark has
# the folder's name is deleted. A folder without a mark may come from a version without marks. It is deleted if it has
# exactly the name that dlex gave and the contents that dlex put there.
cache=${DLEX_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dlex}
case $cache in /*) ;; *) cache=$PWD/$cache ;; esac
mark_file=.made-by-dlex
mark_sentence='dlex made this folder; ./dlex clean --cache deletes it.'

wrap_value() { sed -n "s/^$1 = //p" "$root/subprojects/ffmpeg.wrap"; }

# accepted_tarball FILE: whether it is a release of FFmpeg that the series is tested on.
accepted_tarball() { grep -q "^$(sha256sum <"$1" | cut -d' ' -f1) " "$root/patches/tarballs"; }

# mark FOLDER [NAME]: writes the mark; NAME is the name to which FOLDER will be renamed.
mark() { printf '%s\n%s\n' "$mark_sentence" "${2-${1##*/}}" >"$1/$mark_file"; }

# marked_folder TEMPLATE: makes a folder as mktemp does, with its mark, and prints its path.
marked_folder() {
    local folder
    folder=$(mktemp -d "$1")
    mark "$folder"
    printf '%s\n' "$folder"
}

is_marked() {
    [ -f "$1/$mark_file" ] && [ ! -L "$1/$mark_file" ] &&
        [ "$(head -c 300 "$1/$mark_file" | tr -d '\0')" = "$mark_sentence"$'\n'"${1##*/}" ]
}

# only_names FOLDER REGEX: whether the names of all entries match.
only_names() { [ -z "$(find "$1" -mindepth 1 -maxdepth 1 -printf '%f\n' | grep -vE "$2")" ]; }

# Whether a version without marks made this folder.
is_unmarked_but_ours() {
    local name=${1##*/}
    if [[ $name =~ ^ffmpeg-(full|asan|pristine)-[0-9a-f]{12}$ ]]; then
        only_names "$1" '^(include|lib|share)$' && grep -qs "^prefix=.*/$name\$" "$1/lib/pkgconfig/libavcodec.pc"
    elif [[ $name =~ ^venv-[0-9a-f]{12}$ ]]; then
        only_names "$1" '^(bin|include|lib|lib64|matplotlib|pyvenv\.cfg|share)$' &&
            grep -qsE '^command = .* -m venv .*/venv\.[A-Za-z0-9]{6}$' "$1/pyvenv.cfg"
    else
        false
    fi
}

# Deletes clips in a folder without a mark. A clip is recognised by the file beside it that contains its checksum.
delete_unmarked_clips() {
    local sum clip name found=false
    for sum in "$cache"/clips/*.sha256; do
        [[ ${sum##*/} =~ ^[a-z0-9_]+-[0-9a-f]{16}\.sha256$ ]] && [ -f "$sum" ] && [ ! -L "$sum" ] || continue
        for clip in "${sum%.sha256}".*; do
            [ "$clip" != "$sum" ] && [ -f "$clip" ] && [ ! -L "$clip" ] || continue
            [ "$(sha256sum <"$clip" | cut -d' ' -f1)" = "$(<"$sum")" ] || continue
            name=${sum##*/}
            rm -f -- "$clip" "$sum"
            found=true
            delete_lock "$cache/clips/${name%-*}.lock"
        done
    done
    if $found; then rmdir --ignore-fail-on-non-empty "$cache/clips"; fi
}

delete_lock() { if [ -f "$1" ] && [ ! -L "$1" ] && [ ! -s "$1" ]; then rm -f -- "$1"; fi; }

# Deletes a folder, but not what is mounted on it or in it. Fails if a part of it stays.
delete_folder() {
    if mountpoint -q -- "$1" 2>/dev/null; then
        printf 'dlex: something is mounted on %s, which therefore stays\n' "$1" >&2
        return 1
    fi
    rm -rf --one-file-system -- "$1"
}

# Deletes from $cache what dlex made there, and nothing else. A link is never followed. Fails if something could not be
# deleted; the rest is deleted all the same.
clean_cache() {
    local folder name tarball status=0
    for folder in "$cache"/* "$cache"/.[!.]*; do
        if [ ! -d "$folder" ] || [ -L "$folder" ]; then continue; fi
        if is_marked "$folder" || is_unmarked_but_ours "$folder"; then delete_folder "$folder" || status=1; fi
    done
    if [ -d "$cache/clips" ] && [ ! -L "$cache/clips" ]; then delete_unmarked_clips; fi
    for name in .lock-ffmpeg-{full,asan,pristine} {demo,experiment}.lock; do delete_lock "$cache/$name"; done
    tarball=$cache/$(wrap_value source_filename)
    if [ -f "$tarball" ] && [ ! -L "$tarball" ] && accepted_tarball "$tarball"; then rm -f -- "$tarball"; fi
    if [ -d "$cache" ]; then rmdir --ignore-fail-on-non-empty "$cache" 2>/dev/null || true; fi
    return $status
}

# Deletes the copies of FFmpeg's source in this tree: Meson's, and the tarball. Other files there stay.
clean_subprojects() {
    local place=$root/subprojects source tarball
    source=$(wrap_value directory)
    delete_folder "$place/${source:?}" || return
    if [ -L "$place/packagecache" ]; then return; fi
    tarball=$place/packagecache/$(wrap_value source_filename)
    if [ -f "$tarball" ] && [ ! -L "$tarball" ] && accepted_tarball "$tarball"; then rm -f -- "$tarball"; fi
    if [ -d "$place/packagecache" ]; then rmdir --ignore-fail-on-non-empty "$place/packagecache"; fi
}
