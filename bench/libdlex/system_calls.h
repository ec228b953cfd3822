/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether some code makes a system call, as the kernel sees it. */
#ifndef SYSTEM_CALLS_H
#define SYSTEM_CALLS_H

/*
 * Runs it in a forked child whose first system call but exit_group kills it (a seccomp filter).
 * Returns 0 when it ends, 1 when it was killed so, and a negative number when the child cannot be
 * started or filtered, or ends in another way. Calls that the vDSO answers are none.
 */
int system_calls_made(void (*run)(int repetitions), int repetitions);

#endif
