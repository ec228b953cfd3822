#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# With sudo in a user's clone the user builds, and root owns nothing there afterwards. Runs a copy of the launcher with a
# build that only records who built. Not covered: sudo itself, which a fresh machine has to show.
set -u
tree=$(cd "$(dirname "$0")/.." && pwd)
if [ "$(id -u)" != 0 ]; then
    echo "skipped: only root can become another user"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { printf '%s\n' "$*"; failures=$((failures + 1)); }

user=nobody
uid=$(id -u $user) gid=$(id -g $user)
project=$work/project
mkdir -p "$project/build/release/player" "$work/programs"
cp -r "$tree/dlex" "$tree/patches" "$project"
mkdir -p "$project/subprojects" "$project/bench"
cp "$tree/subprojects/ffmpeg.wrap" "$project/subprojects"
cat >"$project/patches/build" <<'BUILD'
#!/bin/bash
echo "$DLEX_CACHE"
BUILD
# Meson and ninja that record who called them, and a player that says so.
cat >"$work/programs/meson" <<'MESON'
#!/bin/bash
mkdir -p "${@: -2:1}" && id -u >"${@: -2:1}/build.ninja"
MESON
cat >"$work/programs/ninja" <<'NINJA'
#!/bin/bash
mkdir -p "$2/player"
printf '#!/bin/bash\nid -u\n' >"$2/player/dlex-play"
chmod +x "$2/player/dlex-play"
id -u >"$2/built_by"
NINJA
cat >"$work/programs/dpkg-query" <<'DPKG'
#!/bin/bash
shift 3
printf 'ii  %s \n' "$@"
DPKG
chmod +x "$work/programs"/* "$project/patches/build"
chown -R "$uid:$gid" "$project"
chmod 755 "$work"

run() { env PATH="$work/programs:$PATH" DLEX_CACHE="$work/cache" "$@"; }

ran_by=$(run SUDO_UID="$uid" SUDO_GID="$gid" "$project/dlex" play film.mkv) || fail "the launcher failed"
[ "$ran_by" = 0 ] || fail "the program ran as user $ran_by"
[ "$(cat "$project/build/release/built_by")" = "$uid" ] || fail "user $(cat "$project/build/release/built_by") built"
others=$(find "$project" "$work/cache" ! -user $user -printf '%P\n')
[ -z "$others" ] || fail "not the user's: $others"

# Root's own clone is built by root, also under sudo.
chown root "$project"
run SUDO_UID="$uid" SUDO_GID="$gid" "$project/dlex" play film.mkv >/dev/null || fail "the launcher failed in root's clone"
[ "$(cat "$project/build/release/built_by")" = 0 ] || fail "root's clone was built by the user"
[ "$failures" = 0 ]
