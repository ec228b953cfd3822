#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posix_calls_only.sh NM POSIX_LIBRARY LINUX_LIBRARY: tests that the library with the POSIX notification calls no function
# that only Linux has. The other library does; this shows that the test would notice such a call.
linux_calls='gettid|timer_(create|settime|delete)|syscall|timerfd_.*|signalfd|eventfd|epoll_.*|prctl|tgkill'
calls_of() {
    "$1" -u "$2" | grep -wE "$linux_calls"
}
if calls_of "$1" "$2"; then
    echo "$2 calls these functions, which only Linux has"
    exit 1
fi
calls_of "$1" "$3" > /dev/null || { echo "no such call was found in $3, which has some"; exit 1; }
