/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A reference to a thread of another process that cannot come to mean another thread: an id alone may be given to a new thread
 * when the old one has ended. The kernel changes a policy by id only, so the reference is checked right before each change.
 */
#ifndef SCHED_THREAD_REF_H
#define SCHED_THREAD_REF_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Begins as zero, or by thread_ref_open. */
struct thread_ref {
    pid_t process;
    pid_t thread;
    uint64_t started_ticks; /* since the machine started, in ticks of sysconf(_SC_CLK_TCK) */
    uint64_t process_started_ticks; /* of the process's first thread */
    uint64_t stack;         /* where the stack of the program that the process runs begins, which is random; 0: not known */
    int pidfd;              /* of the thread where the kernel has such (6.9), else of the process; 0: none */
};

/*
 * Refers to a thread that runs now. The caller must close it after success. Returns 0, -ESRCH (there is no such thread in this
 * process), -EMFILE or another negative errno.
 */
int thread_ref_open(struct thread_ref *ref, pid_t process, pid_t thread);

/* Returns 0 if the thread still lives, -ESRCH if it has ended, or -EMFILE, -ENFILE or -ENOMEM if that cannot be found out. */
int thread_ref_check(const struct thread_ref *ref);

/*
 * A thread that calls exec ends all others of its process and takes the id of the first one; its policy stays. Refers to the
 * thread that a process has become in this way since `before` was opened. The caller must close it after success. Returns 0,
 * -ESRCH if the process has ended or still runs the same program, or another error of thread_ref_open.
 */
int thread_ref_open_after_exec(struct thread_ref *after, const struct thread_ref *before);

/* Closes a reference, which may be closed or zero already. Its numbers stay, for messages. */
void thread_ref_close(struct thread_ref *ref);

/*
 * True if this process may change threads of that one: root may change all, anybody else only processes that are wholly their
 * own. The right to change scheduling (CAP_SYS_NICE) alone would reach further, so this is asked in addition. False if there is
 * no such process.
 */
bool thread_ref_may_change(pid_t process);

#endif
