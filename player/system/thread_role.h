/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What each thread of the player does. A thread takes its roles when it starts. Code that treats threads differently
 * (placement, the record's CPU times) asks for roles, so it does not depend on which thread of the process does what.
 * All functions are thread-safe and take a mutex: not for signal handlers or interruptible parts of deadline blocks.
 */
#ifndef PLAYER_THREAD_ROLE_H
#define PLAYER_THREAD_ROLE_H

#include <stdint.h>
#include <sys/types.h>

/* Roles are bits, because one thread may have several. */
enum thread_role { ROLE_DECODE = 1, ROLE_PRESENT = 2, ROLE_FEED = 4, ROLES_ALL = 7 };

enum { THREAD_ROLES_MAX = 48, THREAD_ROLES_TEXT_SIZE = 32 };

/*
 * The calling thread has these roles from now on, in place of those that it had. A thread gives up its roles (0) before
 * it ends, because the system uses thread ids again. Returns 0, or -EAGAIN if THREAD_ROLES_MAX threads have roles.
 */
int thread_role_take(unsigned roles);

/*
 * The same for another thread of this process, which cannot do it by itself (helper_threads.h). It must exist. With 0 its
 * CPU time so far goes on counting in thread_role_cpu_ns.
 */
int thread_role_give(pid_t thread, unsigned roles);

/* Returns the roles of a thread of this process; 0: it has none. */
unsigned thread_role_of(pid_t thread);

/* Writes the roles as "decode, present" and returns text; "" for none. */
const char *thread_role_text(unsigned roles, char text[THREAD_ROLES_TEXT_SIZE]);

/* Returns the number of CPUs on which at least one thread with one of these roles may run; 0 if that is not known. */
int thread_role_cpus(unsigned roles);

/*
 * Returns the CPU time in ns that all threads with one of these roles have used since they started, and that of threads
 * whose roles were taken away by thread_role_give.
 */
int64_t thread_role_cpu_ns(unsigned roles);

#endif
