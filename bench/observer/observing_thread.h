/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sets up the thread that looks at the screen, and measures what it costs. */
#ifndef OBSERVER_OBSERVING_THREAD_H
#define OBSERVER_OBSERVING_THREAD_H

/* Restricts the calling thread, and the threads that it starts later, to this CPU. Returns 0 or a negative errno. */
int observing_thread_place(int cpu);

/*
 * Makes the calling thread wake up in time: its memory stays in RAM, it has no timer slack, and it runs under
 * SCHED_FIFO where that is allowed, else under SCHED_OTHER. One look takes some microseconds. Returns the policy as
 * run.json names it.
 */
const char *observing_thread_hurry(void);

/* Returns the CPU time of this process so far, in s. */
double observing_thread_cpu_s(void);

#endif
