#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posix_calls_only.sh NM POSIX_LIBRARY LINUX_LIBRARY: the library with the POSIX notification calls no function that only
# Linux has. The other library does, which proves that this test can find such calls.
linux_calls='gettid|timer_(create|settime|delete)|syscall|timerfd_.*|signalfd|eventfd|epoll_.*|prctl|tgkill'
calls_of() {
    "$1" -u "$2" | grep -wE "$linux_calls"
}
if calls_of "$1" "$2"; then
    echo "only Linux has these; $2 calls them"
    exit 1
fi
calls_of "$1" "$3" > /dev/null || { echo "no such call was found in $3, where some are"; exit 1; }
