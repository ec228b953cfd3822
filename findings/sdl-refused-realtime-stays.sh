#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# SDL can ask rtkit for a real-time priority (SDL_LinuxSetThreadPriorityAndPolicy). It first prepares the process, and does not take
# that back when the request fails, here because there is no system bus. RLIMIT_RTTIME of the whole process stays at 100 ms and 200 ms:
# when a thread becomes real-time by other means and computes for so long, SIGXCPU and then SIGKILL end the process. An ordinary user
# cannot raise the hard limit again, nor clear SCHED_RESET_ON_FORK, which the thread keeps. SDL does not try sched_setscheduler(2)
# itself, so root is refused as well.
# Needs Debian 12's libsdl2-2.0-0, in the version below, and python3. Exits with 1 if the behaviour is another one.
set -eu

wanted=2.26.5+dfsg-1
found=$(dpkg-query -W -f '${Version}' libsdl2-2.0-0 2>/dev/null || echo none)
echo "libsdl2-2.0-0 $found"
[ "$found" = "$wanted" ] || { echo "this script is about libsdl2-2.0-0 $wanted"; exit 1; }

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$dir/no-bus
python3 - <<'END'
import ctypes, os, resource

LOW = 0
sdl = ctypes.CDLL("libSDL2-2.0.so.0")
sdl.SDL_LinuxSetThreadPriorityAndPolicy.argtypes = [ctypes.c_int64, ctypes.c_int, ctypes.c_int]

def state():
    policy = os.sched_getscheduler(0)
    return resource.getrlimit(resource.RLIMIT_RTTIME), bool(policy & os.SCHED_RESET_ON_FORK), policy & ~os.SCHED_RESET_ON_FORK

before = state()
result = sdl.SDL_LinuxSetThreadPriorityAndPolicy(os.getpid(), LOW, os.SCHED_RR)
after = state()
print(f"before: RLIMIT_RTTIME {before[0]} us, reset on fork {before[1]}, policy {before[2]}")
print(f"SDL_LinuxSetThreadPriorityAndPolicy(thread, LOW, SCHED_RR) returned {result}")
print(f"after: RLIMIT_RTTIME {after[0]} us, reset on fork {after[1]}, policy {after[2]}")
unlimited = resource.RLIM_INFINITY
raise SystemExit(not (before[:2] == ((unlimited, unlimited), False) and result == -1 and after[:2] == ((100000, 200000), True)
                      and after[2] == before[2]))
END
