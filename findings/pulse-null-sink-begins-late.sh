#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A null sink of PulseAudio can rewind, but not for a client that asks for a low latency. While the sink is idle it mixes 2 s of
# silence ahead. A new client's request for 200 ms also becomes the limit of what the sink may take back, before it takes anything
# back; so most of the silence is played first, and the client's sound begins up to 1.8 s late. With norewinds=1 it begins at once.
# Needs Debian 12's pulseaudio and pulseaudio-utils, in the version below. Exits with 1 if the behaviour is another one.
set -eu

wanted=16.1+dfsg1-2+b1
for package in pulseaudio pulseaudio-utils; do
    found=$(dpkg-query -W -f '${Version}' "$package" 2>/dev/null || echo none)
    echo "$package $found"
    [ "$found" = "$wanted" ] || { echo "this script is about $package $wanted"; exit 1; }
done

dir=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; wait; rm -rf "$dir"' EXIT
export HOME=$dir XDG_RUNTIME_DIR=$dir PULSE_RUNTIME_PATH=$dir/run PULSE_STATE_PATH=$dir/state PULSE_COOKIE=$dir/cookie
export PULSE_SERVER=unix:$dir/socket
pulseaudio -n --daemonize=no --system=no --use-pid-file=no --exit-idle-time=-1 --realtime=no --high-priority=no --log-level=error \
    -L "module-null-sink sink_name=rewinds" -L "module-null-sink sink_name=fixed norewinds=1" \
    -L "module-native-protocol-unix socket=$dir/socket auth-anonymous=1" 2>"$dir/log" &
server=$!
for ((i = 0; i < 100; i++)); do [ -S "$dir/socket" ] && break; sleep 0.1; done

# ahead SINK: prints how much the sink has mixed and not played, in us
ahead() { pactl list sinks | sed -n "/Name: $1\$/,/Latency:/s/.*Latency: \([0-9]*\) usec.*/\1/p"; }
# silence_ms SINK: prints how long a client with a latency of 200 ms waits until the server takes its first sample
silence_ms() {
    local begin
    begin=$(date +%s%3N)
    timeout 8 pacat --playback --verbose --device="$1" --latency-msec=200 /dev/zero 2>&1 | while IFS= read -r -d . line; do
        [[ $line != *"Stream started"* ]] || { echo $(($(date +%s%3N) - begin)); break; }
    done
}
while [ "$(ahead rewinds)" -lt 1800000 ]; do sleep 0.05; done # the idle sink mixes every 2 s
echo "the idle sink is $(ahead rewinds) us ahead"
rewinding=$(silence_ms rewinds)
fixed=$(silence_ms fixed)
echo "sound begins after $rewinding ms on a null sink that rewinds, after $fixed ms on one that does not"
[ "$rewinding" -gt 1000 ] && [ "$fixed" -lt 700 ]
