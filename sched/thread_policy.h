/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Scheduling policies of threads: their text form, and the kernel's calls for them (sched_setattr(2), which the C library
 * has only since glibc 2.41).
 */
#ifndef DLEX_THREAD_POLICY_H
#define DLEX_THREAD_POLICY_H

#include <stdint.h>
#include <sys/types.h>

enum thread_policy_kind { THREAD_OTHER, THREAD_FIFO, THREAD_RR, THREAD_DEADLINE };

struct thread_policy {
    enum thread_policy_kind kind;
    int priority;       /* of fifo and rr: 1 to 99 */
    int64_t runtime_ns; /* of deadline: so much in each period; the deadline is the period */
    int64_t period_ns;
};

enum { THREAD_POLICY_TEXT_SIZE = 64 };

/* "other", "fifo:5", "rr:5" or "deadline:15/40" (ms, with a fraction if wanted). Returns 0 or -EINVAL. */
int thread_policy_parse(struct thread_policy *policy, const char *text);

/* The same form; of a text that was parsed, the same policy. */
const char *thread_policy_text(const struct thread_policy *policy, char text[THREAD_POLICY_TEXT_SIZE]);

/*
 * Of the thread with this id, 0: the caller. What it starts later is under other, or a reserved thread could start
 * nothing. Returns 0 or a negative errno: -EPERM (no right to it; of deadline also a CPU that has no root domain of its
 * own), -EBUSY (deadline: more than what is left to be reserved), -ESRCH.
 */
int thread_policy_set(pid_t thread, const struct thread_policy *policy);

/* Batch and idle count as other. Returns 0 or a negative errno. */
int thread_policy_get(pid_t thread, struct thread_policy *policy);

#endif
