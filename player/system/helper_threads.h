/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads that a library starts within a call, and that cannot take a role themselves: FFmpeg's and libdav1d's codec
 * threads, within avcodec_open2. Both libraries start all of them there; none is started later, also not when the size
 * of the pictures changes.
 *
 *     struct helper_watch watch;
 *     helper_watch_begin(&watch, "codec");
 *     avcodec_open2(...);
 *     helper_watch_end(&watch, &helpers, ROLE_DECODE);
 *     ...
 *     helper_threads_release(&helpers); // before they end
 *
 * What is new in the kernel's list of threads was started within the call. So no other thread of the process may start
 * threads meanwhile: the player opens a decoder before it starts the feeder and the sound of the same file.
 *
 * Placing them explicitly (placement.h) does not depend on what a thread inherits. A policy is not inherited here:
 * thread_policy_set resets it for threads that are started later.
 */
#ifndef PLAYER_HELPER_THREADS_H
#define PLAYER_HELPER_THREADS_H

#include "thread_list.h"

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

enum { HELPER_THREADS_MAX = 32, HELPER_WATCH_MAX = 512 };

/* Plain data. Zero: there are none. */
struct helper_threads {
    int count;
    pid_t threads[HELPER_THREADS_MAX];
};

/* The members belong to the functions below. */
struct helper_watch {
    sigset_t signals;
    char name[THREAD_NAME_SIZE]; /* of the calling thread */
    int count;
    pid_t before[HELPER_WATCH_MAX];
};

/*
 * Begins to watch which threads the calling thread starts. Until the end it blocks all signals, and the threads inherit
 * that: a signal for the program must reach the main thread, which would wait on otherwise.
 *
 * Until the end the calling thread has this name, at most 15 bytes. The threads inherit it, and keep it if they give
 * themselves no name, whenever they do so. (To rename them later could overwrite the name that one just gave itself.)
 */
void helper_watch_begin(struct helper_watch *watch, const char *name);

/*
 * Fills in *helpers with the threads that were started since, up to HELPER_THREADS_MAX, and gives them these roles. If no
 * more threads may have roles, the last ones have none, and a message says so. The calling thread has its signals and its
 * name back.
 */
void helper_watch_end(struct helper_watch *watch, struct helper_threads *helpers, unsigned roles);

/* Takes the roles back, and keeps the CPU time that the threads have used so far. There are none afterwards. */
void helper_threads_release(struct helper_threads *helpers);

/* Returns the CPU time in ns that they have used since they started. Any thread, until they are released. */
int64_t helper_threads_cpu_ns(const struct helper_threads *helpers);

#endif
