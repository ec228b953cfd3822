/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the thread that looks at the screen is set up, and what it cost. */
#ifndef OBSERVER_OBSERVING_THREAD_H
#define OBSERVER_OBSERVING_THREAD_H

/* The calling thread and those it starts later run on this CPU. Returns 0 or a negative errno. */
int observing_thread_place(int cpu);

/*
 * The calling thread wakes up in time: memory stays in RAM, no timer slack, and SCHED_FIFO where that is allowed, else
 * SCHED_OTHER. Its looks take some microseconds. Returns the policy in words, as run.json tells it.
 */
const char *observing_thread_hurry(void);

/* CPU time of this process so far, in s. */
double observing_thread_cpu_s(void);

#endif
