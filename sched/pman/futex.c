/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "futex.h"

#include "ns.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

int futex_wait(const uint32_t *word, uint32_t seen, int64_t until_ns)
{
    const struct timespec until = until_ns == INT64_MAX ? (struct timespec){0} : ns_to_timespec(until_ns < 0 ? 0 : until_ns);
    const long ret = syscall(SYS_futex, word, FUTEX_WAIT_BITSET, seen, until_ns == INT64_MAX ? NULL : &until, NULL,
                             FUTEX_BITSET_MATCH_ANY);
    return ret && errno == EINTR ? -EINTR : 0;
}

void futex_wake(const uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
