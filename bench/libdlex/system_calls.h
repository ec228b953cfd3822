/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds out from the kernel whether some code makes a system call. */
#ifndef SYSTEM_CALLS_H
#define SYSTEM_CALLS_H

/*
 * Runs the function in a forked child. A seccomp filter kills the child at its first system call
 * other than exit_group. Returns 0 when the function ends, 1 when the filter killed the child, and
 * a negative number when the child cannot be started or filtered, or ends in another way. Calls
 * that the vDSO answers are not system calls.
 */
int system_calls_made(void (*run)(int repetitions), int repetitions);

#endif
