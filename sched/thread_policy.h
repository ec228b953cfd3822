/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Scheduling policies of threads: their text form, and the system calls for them. (The C library has sched_setattr(2)
 * only since glibc 2.41.) The player links this statically; the laboratory loads it as libdlex-sched.so.
 */
#ifndef DLEX_THREAD_POLICY_H
#define DLEX_THREAD_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum thread_policy_kind { THREAD_OTHER, THREAD_FIFO, THREAD_RR, THREAD_DEADLINE };

struct thread_policy {
    enum thread_policy_kind kind;
    int priority;       /* for fifo and rr: 1 to 99 */
    /*
     * For deadline: CPU time in each period; the deadline is the period. For other: the slice, after which it is other
     * threads' turn; a thread with a shorter slice runs sooner when it wakes up. Any user may set it. 0: the kernel's
     * own; kernels before Linux 6.12 always use their own.
     */
    int64_t runtime_ns;
    int64_t period_ns;
    /*
     * For deadline: beyond its runtime the thread may use CPU time that nobody has reserved (GRUB), before ordinary threads. Not in the
     * text form.
     */
    bool reclaims;
};

enum { THREAD_POLICY_TEXT_SIZE = 64 };

/* sizeof(struct thread_policy), for callers in other languages, which need no more than memory for one. */
extern const size_t thread_policy_size;

/* Parses "other", "fifo:5", "rr:5" or "deadline:15/40" (in ms, fractions allowed). Returns 0 or -EINVAL. */
int thread_policy_parse(struct thread_policy *policy, const char *text);

/*
 * Writes the policy in the same form and returns text. For a policy that was parsed, the text parses to the same
 * policy.
 */
const char *thread_policy_text(const struct thread_policy *policy, char text[THREAD_POLICY_TEXT_SIZE]);

/*
 * Sets the policy of the thread with this id (0: the calling thread). Threads and processes that it starts under fifo, rr or
 * deadline (SCHED_RESET_ON_FORK) begin under other with the nice value 0 and the kernel's own slice, whatever nice value it has or
 * ordinary policy it had, and keep these; a thread with a reservation could not start any otherwise. Those that it starts under
 * other do not inherit a negative nice value or a slice. Returns 0 or a negative errno: -EPERM (no permission; for deadline also if
 * the thread is limited to a CPU without its own root domain), -EBUSY (deadline: more than can still be reserved), -ESRCH.
 */
int thread_policy_set(pid_t thread, const struct thread_policy *policy);

/*
 * True for the reservation that thread_policy_set and thread_ordinary_set give a sleeping thread for a moment, when they take it out of
 * `deadline`. A thread that has it was left there because the caller was killed in between.
 */
bool thread_policy_is_parting(const struct thread_policy *policy);

/* True if the thread with this id is running, or would run if it had a CPU and a budget. False also if that is not known. */
bool thread_is_runnable(pid_t thread);

/* True if this process has the right to set any policy for any thread (CAP_SYS_NICE); reservations need it. */
bool thread_policy_is_privileged(void);

/*
 * Reads the thread's policy; batch and idle count as other. The slice is the one in force; 0: the kernel does not say.
 * Returns 0 or a negative errno. */
int thread_policy_get(pid_t thread, struct thread_policy *policy);

/*
 * An ordinary policy (other, batch or idle) exactly as the kernel has it, for giving it back after a reservation. The nice value is not in
 * it: a thread keeps that under every policy.
 */
struct thread_ordinary {
    int number;          /* SCHED_OTHER, SCHED_BATCH or SCHED_IDLE */
    bool resets_on_fork; /* threads that it starts do not inherit a negative nice value */
    int64_t slice_ns;    /* of other and batch; 0: the kernel's own */
};

/* Returns 0; -EINVAL if the thread has another policy, such as fifo or deadline; or a negative errno of sched_getattr(2). */
int thread_ordinary_get(pid_t thread, struct thread_ordinary *ordinary);

/*
 * Puts the thread (0: the calling one) under this policy, with its present nice value. Returns 0 or a negative errno. Without
 * CAP_SYS_NICE, resets_on_fork cannot be taken away from a thread that has it; then it stays.
 */
int thread_ordinary_set(pid_t thread, const struct thread_ordinary *ordinary);

#endif
