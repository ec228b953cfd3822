/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * By how much the kernel may delay the end of a thread's timed waits (PR_SET_TIMERSLACK of prctl(2)). A kernel such as Linux 6.18
 * sets it to 0 when a thread gets a reservation, and afterwards to the kernel's default, not to what the thread had.
 */
#ifndef SCHED_TIMER_SLACK_H
#define SCHED_TIMER_SLACK_H

#include <stdint.h>
#include <sys/types.h>

/* Returns a thread's timer slack; 0 if it has none or if it cannot be read, as without CAP_SYS_NICE for another process. */
int64_t timer_slack_get(pid_t thread);

/* Gives a thread this timer slack, unless it has it. Does nothing for 0, or if it is not allowed. */
void timer_slack_set(pid_t thread, int64_t slack_ns);

#endif
